"""Limits within which a part keeps hold of what carries it."""

import numpy as np
import pytest

from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.limits import clip_limits
from neurok.inference.articulate import find_joints, joined
from neurok.modelling.shapes import slab
from solids import door_on_a_box, drawer_in_a_box, of_parts


def moving(kind, axis, origin, lower, upper, **more):
    return Hypothesis(1, 0, kind, np.array(axis, float), np.array(origin, float), lower, upper, 1.0, **more)


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
    answers, search = find_joints(mesh, "search")
    assert [answer.part for answer in answers] == [1]
    assert search.mesh is mesh
    assert [joint.parent for joint in joined(mesh, answers).joints] == [-1, 0]
