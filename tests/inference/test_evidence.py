"""Sources are weighed once: copies together, and without what cannot be driven."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.contacts import contact_graph, find_base
from neurok.bodyplan.feasibility import Feasibility
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.inference.evidence import CALIBRATION, BodyEvidence, driven_evidence, is_same_line
from neurok.modelling.shapes import slab
from solids import door_on_a_box, drawer_in_a_box, of_parts, shell

X, Y, Z = np.eye(3)


def slide(part, axis, probability, origin=(0.3, 0.2, 0.2)):
    return Hypothesis(part, 0, "prismatic", axis, np.array(origin), 0.0, 0.2, probability, source="network and search")


def hinge(part, axis, origin, probability):
    return Hypothesis(part, 0, "revolute", axis, np.array(origin), -1.2, 0.0, probability, source="network and search")


def evidence_of(*lines):
    return BodyEvidence(lines, (1.0, float(np.log(lines[0].probability)), 2.0))


def test_a_blocked_line_gives_its_share_to_those_that_are_free():
    mesh = drawer_in_a_box()
    bodies = Feasibility(mesh, contact_graph(mesh), (-1, 0))
    found = driven_evidence({1: evidence_of(slide(1, X, 0.6), slide(1, Z, 0.3))}, bodies, CALIBRATION)[1]
    assert [tuple(line.axis) for line in found.lines] == [tuple(Z)]
    assert found.lines[0].probability == pytest.approx(0.3 / (1.0 - 0.6))
    assert found.facts == pytest.approx((1.0, np.log(0.75), 2.0))


def test_a_body_of_which_nothing_can_be_driven_is_fixed():
    mesh = drawer_in_a_box()
    bodies = Feasibility(mesh, contact_graph(mesh), (-1, 0))
    found = driven_evidence({1: evidence_of(slide(1, X, 0.9))}, bodies, CALIBRATION)[1]
    assert found.lines == ()
    assert found.probability(CALIBRATION) == 0.0
    assert found.ranked(CALIBRATION) == ()


def two_doors():
    left = [slab((0, 0, 0.401), (0.49, 0.8, 0.42)), slab((0.43, 0.3, 0.42), (0.46, 0.5, 0.46))]
    right = [slab((0.51, 0, 0.401), (1.0, 0.8, 0.42)), slab((0.54, 0.3, 0.42), (0.57, 0.5, 0.46))]
    return of_parts(body=shell((0, 0, 0), (1, 0.8, 0.4)), left=left, right=right)


def test_mirrored_doors_get_the_answer_that_both_like_best():
    """Alone, the right one would fall open as a flap."""
    mesh = two_doors()
    bodies = Feasibility(mesh, contact_graph(mesh), (-1, 0, 0))
    flap = (0.75, 0.0, 0.41)
    told = {
        1: evidence_of(hinge(1, Y, (0.0, 0.4, 0.41), 0.6), hinge(1, -X, (0.25, 0.0, 0.41), 0.1)),
        2: evidence_of(hinge(2, -X, flap, 0.4), hinge(2, -Y, (1.0, 0.4, 0.41), 0.3)),
    }
    found = driven_evidence(told, bodies, CALIBRATION)
    left, right = found[1].lines[0], found[2].lines[0]
    assert is_same_line(left, told[1].lines[0], mesh.size)
    assert is_same_line(right, told[2].lines[1], mesh.size)
    assert left.probability == pytest.approx(right.probability) == pytest.approx(np.sqrt(0.6 * 0.3), rel=1e-6)
    for line, corner in ((left, (0.49, 0.4, 0.41)), (right, (0.51, 0.4, 0.41))):
        angle = line.lower if abs(line.lower) > abs(line.upper) else line.upper
        assert angle * np.cross(line.axis, np.array(corner) - line.origin)[2] > 0  # out of the box


def test_the_base_is_what_is_unlikely_to_move_where_that_is_known():
    mesh = door_on_a_box()
    contacts = contact_graph(mesh)
    assert find_base(contacts, Y) == 0
    assert find_base(contacts, Y, np.array([9.0, -9.0])) == 1
    turned = replace(mesh, part_ids=1 - mesh.part_ids)
    assert find_base(contact_graph(turned), Y, np.array([3.0, -3.0])) == 1
