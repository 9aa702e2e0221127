"""A joint is written only if its part can be driven along it, outwards, far enough, without coming loose."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.feasibility import LEAST_RANGE_SLIDE, LEAST_RANGE_TURN, Feasibility
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.sweep import Mover
from neurok.modelling.shapes import slab
from solids import door_on_a_box, drawer_in_a_box, of_parts, shell


def line(kind, axis, origin, lower, upper, part=1):
    axis, origin = np.array(axis, dtype=float), np.array(origin, dtype=float)
    return Hypothesis(part, 0, kind, axis, origin, lower, upper, 1.0, source="network and search")


def bodies_of(mesh, parents=(-1, 0)):
    return Feasibility(mesh, contact_graph(mesh), parents)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0)])
def test_a_drawer_does_not_slide_through_its_walls(axis):
    found = bodies_of(drawer_in_a_box()).check(line("prismatic", axis, (0.3, 0.2, 0.2), -0.3, 0.3))
    assert "collides with body" in found.reason


@pytest.mark.parametrize(("axis", "sign"), [((0, 0, 1), 1.0), ((0, 0, -1), -1.0)])
@pytest.mark.parametrize("limits", [(0.0, 0.3), (-0.3, 0.0), (-0.2, 0.1)])
def test_a_drawer_comes_out_at_the_front_whatever_its_limits_said(axis, sign, limits):
    found = bodies_of(drawer_in_a_box()).check(line("prismatic", axis, (0.3, 0.2, 0.2), *limits))
    assert not found.reason
    ends = sorted(sign * end for end in (found.lower, found.upper))
    assert ends == pytest.approx([0.0, 0.3], abs=1e-9)


def test_a_drawer_that_pokes_through_its_back_wall_comes_out_all_the_same():
    back = [slab((0.02, 0.02, 0.07), (0.58, 0.38, 0.071))]  # a sheet 2 cm before the back of the drawer
    front = slab((0.023, 0.023, 0.46), (0.577, 0.377, 0.48))
    drawer = [*shell((0.023, 0.023, 0.05), (0.577, 0.377, 0.46), 0.015), front]
    mesh = of_parts(body=[*shell((0, 0, 0), (0.6, 0.4, 0.47)), *back], drawer=drawer)
    found = bodies_of(mesh).check(line("prismatic", (0, 0, 1), (0.3, 0.2, 0.2), 0.0, 0.3))
    assert not found.reason
    assert (found.lower, found.upper) == pytest.approx((0.0, 0.3))
    sideways = bodies_of(mesh).check(line("prismatic", (1, 0, 0), (0.3, 0.2, 0.2), 0.0, 0.3))
    assert sideways.reason


@pytest.mark.parametrize("limits", [(0.0, 1.2), (-1.2, 0.0), (-0.6, 0.6)])
def test_a_door_swings_out_of_its_box(limits):
    """About +y through its left edge the right edge moves towards -z, into the box."""
    found = bodies_of(door_on_a_box()).check(line("revolute", (0, 1, 0), (0.0, 0.4, 0.41), *limits))
    assert (found.lower, found.upper) == pytest.approx((-1.2, 0.0))


def test_what_would_come_loose_at_once_is_no_joint():
    mesh = of_parts(post=[slab((0, 0, 0), (0.1, 1, 0.1))], flag=[slab((0.101, 0.8, 0), (0.6, 1, 0.02))])
    far = line("revolute", (0, 1, 0), (3.0, 0.9, 0.0), -1.5, 1.5)
    assert bodies_of(mesh).check(far).reason


def test_short_ranges_are_widened_to_what_is_worth_a_joint_where_that_is_free():
    bodies = bodies_of(door_on_a_box())
    found = bodies.check(line("revolute", (0, 1, 0), (0.0, 0.4, 0.41), -0.01, 0.0))
    assert found.upper - found.lower == pytest.approx(LEAST_RANGE_TURN)
    slide = bodies_of(drawer_in_a_box()).check(line("prismatic", (0, 0, 1), (0.3, 0.2, 0.2), 0.0, 0.001))
    assert slide.upper - slide.lower == pytest.approx(LEAST_RANGE_SLIDE * drawer_in_a_box().size)


def test_a_rack_slides_out_behind_a_door_that_is_open():
    rack = [slab((0.03, 0.3, 0.021), (0.47, 0.32, 0.399))]
    door = [slab((0, 0, 0.401), (0.5, 0.8, 0.42))]
    mesh = of_parts(body=shell((0, 0, 0), (0.5, 0.8, 0.4)), rack=rack, door=door)
    bodies, slide = bodies_of(mesh, (-1, 0, 0)), line("prismatic", (0, 0, 1), (0.25, 0.31, 0.2), 0.0, 0.25)
    assert bodies.check(slide).reason
    assert bodies.check(slide, absent=(2,)).upper == pytest.approx(0.25)


def test_a_knob_that_meets_nothing_turns_on_and_one_with_a_stop_gets_limits():
    knob = [slab((0.2, 0.1, 0.1), (0.3, 0.3, 0.15))]
    free = of_parts(block=[slab((0, 0, 0), (0.5, 0.4, 0.099))], knob=knob)
    turn = line("continuous", (0, 0, 1), (0.25, 0.2, 0.1), -np.pi, np.pi)
    assert bodies_of(free).check(turn).kind == "continuous"
    stop = [slab((0.32, 0.0, 0.099), (0.5, 0.4, 0.15))]
    held = bodies_of(of_parts(block=[slab((0, 0, 0), (0.5, 0.4, 0.099)), *stop], knob=knob)).check(turn)
    assert held.kind == "revolute"
    assert -np.pi < held.lower < 0.0 < held.upper < np.pi


def test_openness_is_one_out_of_a_box_and_nothing_into_it():
    mesh = door_on_a_box()
    mover = Mover(mesh, contact_graph(mesh), (1,))
    seen = mover.openness(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), np.zeros((2, 3)), turning=False)
    assert seen[0] == pytest.approx([1.0, 0.0], abs=0.1)
    assert seen[1] == pytest.approx(seen[0][::-1])


def test_the_check_is_the_same_however_the_object_is_turned():
    mesh = door_on_a_box()
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    turned = replace(mesh, vertices=mesh.vertices @ turn.T)
    axis, origin = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.4, 0.41])
    first = bodies_of(mesh).check(line("revolute", axis, origin, -1.2, 0.0))
    second = bodies_of(turned).check(line("revolute", turn @ axis, turn @ origin, -1.2, 0.0))
    assert (first.lower, first.upper) == pytest.approx((second.lower, second.upper), abs=0.06)
