"""Limits from a free range, and how far a part may go before it loses what carries it."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan import hypothesis
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.hypothesis import Hypothesis, clip_limits, slide_limits, turn_limits
from neurok.inference.plan import study
from neurok.modelling.shapes import slab
from solids import door_on_a_box, drawer_in_a_box, of_parts


def moving(kind, axis, origin, lower, upper, **more):
    return Hypothesis(1, 0, kind, np.array(axis, float), np.array(origin, float), lower, upper, 1.0, **more)


@pytest.mark.parametrize(
    ("free", "limits"),
    [
        ((0.0, 3.0), (0.0, np.pi / 2)),  # what meets nothing opens by a right angle
        ((0.2, 1.0), (0.0, 1.0)),  # a little way back is play
        ((0.5, 1.0), (-0.5, 1.0)),
        ((3.1, 3.1), (-np.pi / 2, np.pi / 2)),
    ],
)
def test_turns_stop_where_they_meet_something_or_at_a_right_angle(free, limits):
    assert turn_limits(*free) == pytest.approx(limits)


@pytest.mark.parametrize(
    ("free", "is_button", "limits"),
    [
        ((0.0, 2.0), False, (0.0, 1.6)),  # a drawer of length 2
        ((2.0, 2.0), False, (-1.6, 1.6)),
        ((0.9, 0.3), False, (0.0, 1.6)),  # it scrapes, and goes on
        ((0.0, 0.1), False, (0.0, 0.1)),
        ((2.0, 0.0), True, (0.0, 1.2)),  # a button sinks in, whatever is free
    ],
)
def test_slides_go_by_the_length_of_the_part(free, is_button, limits):
    assert slide_limits(*free, 2.0, is_button) == pytest.approx(limits)


def test_a_joint_may_part_from_its_carrier_by_the_slack():
    mesh = of_parts(pot=[slab((0, 0, 0), (1, 1, 1))], lid=[slab((0, 1, 0), (1, 1.1, 1))])
    contacts = contact_graph(mesh)
    lifted = moving("prismatic", (0, 1, 0), (0, 0, 0), 0.0, 0.5)
    gone = clip_limits(lifted, contacts).upper
    assert gone == pytest.approx(hypothesis.SLACK * contacts.size, abs=0.5 / hypothesis.CONTACT_STEPS)


def test_a_drawer_stops_before_its_back_leaves_the_box():
    contacts = contact_graph(drawer_in_a_box())
    held = clip_limits(moving("prismatic", (0, 0, 1), (0.3, 0.2, 0.2), 0.0, 1.0), contacts)
    assert held.lower == 0.0
    assert 0.36 < held.upper < 0.45  # its back stands at 0.05, the box ends at 0.47
    near = clip_limits(moving("prismatic", (0, 0, 1), (0.3, 0.2, 0.2), 0.0, 0.3), contacts)
    assert near.upper == 0.3


def test_a_lid_that_is_lifted_comes_loose_at_once():
    mesh = of_parts(pot=[slab((0, 0, 0), (1, 1, 1))], lid=[slab((0, 1, 0), (1, 1.1, 1))])
    held = clip_limits(moving("prismatic", (0, 1, 0), (0, 0, 0), 0.0, 0.5), contact_graph(mesh))
    assert 0.0 <= held.upper < 0.05


def test_a_lid_that_a_network_knows_to_be_lifted_is_not_held_down():
    mesh = of_parts(pot=[slab((0, 0, 0), (1, 1, 1))], lid=[slab((0, 1, 0), (1, 1.1, 1))])
    known = replace(moving("prismatic", (0, 1, 0), (0, 0, 0), 0.0, 0.5), source="network and search")
    assert clip_limits(known, contact_graph(mesh)).upper == 0.5


def test_whatever_a_part_does_not_carry_may_hold_it():
    mesh = of_parts(
        frame=[slab((0, 0, 0), (1, 0.1, 1))],
        front=[slab((0, 0.1, 0.9), (0.1, 0.2, 1.0))],
        tray=[slab((0.1, 0.1, 0), (1, 0.2, 1))],
    )
    contacts = contact_graph(mesh)
    slide = replace(moving("prismatic", (0, 0, -1), (0, 0, 0), 0.0, 0.6), part=2, parent=1)
    assert clip_limits(slide, contacts).upper < 0.3
    assert clip_limits(slide, contacts, parents=(-1, 0, 1)).upper == 0.6


def test_a_door_on_its_hinge_keeps_its_limits_and_one_on_a_wrong_axis_does_not():
    contacts = contact_graph(door_on_a_box())
    hinged = moving("revolute", (0, 1, 0), (0.0, 0.0, 0.4), -2.0, 0.0)
    assert clip_limits(hinged, contacts).lower == -2.0
    away = moving("revolute", (0, 1, 0), (-1.0, 0.0, 0.4), -2.0, 0.0)
    assert clip_limits(away, contacts).lower > -0.5


def test_rest_is_always_within_the_limits():
    contacts = contact_graph(drawer_in_a_box())
    held = clip_limits(moving("prismatic", (0, 0, 1), (0.3, 0.2, 0.2), 0.1, 0.2), contacts)
    assert (held.lower, held.upper) == (0.0, 0.2)


def test_a_degree_of_play_is_no_range():
    contacts = contact_graph(door_on_a_box())
    held = clip_limits(moving("revolute", (0, 1, 0), (0.0, 0.0, 0.4), -1.7, 0.02), contacts)
    assert (held.lower, held.upper) == (-1.7, 0.0)


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_joints_without_limits_are_left_alone(kind):
    free = moving(kind, (0, 1, 0), (0, 0, 0), 0.0, 0.0)
    assert clip_limits(free, contact_graph(drawer_in_a_box())) is free


def test_the_slide_of_a_cylindrical_joint_is_held_too():
    contacts = contact_graph(drawer_in_a_box())
    held = clip_limits(moving("cylindrical", (0, 0, 1), (0.3, 0.2, 0.2), -1.0, 1.0, slide=(0.0, 1.0)), contacts)
    assert (held.lower, held.upper) == (-1.0, 1.0)
    assert held.slide[1] < 0.45


def test_parts_without_an_answer_are_roots():
    mesh = drawer_in_a_box()
    found = study(mesh, method="search")
    assert [body.joint is not None for body in found.plan.bodies] == [False, True]
    assert found.search is not None
    assert found.search.mesh is mesh
    assert [joint.parent for joint in found.plan.articulation.joints] == [-1, 0]
