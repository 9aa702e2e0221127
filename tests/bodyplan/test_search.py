"""Joints found by moving parts until they collide or come loose."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from neurok.bodyplan import hypothesis, search, sweep
from neurok.bodyplan.clearance import tour
from neurok.bodyplan.search import search_joints
from neurok.core import Articulation, Joint
from neurok.modelling.shapes import slab
from solids import door_on_a_box, drawer_in_a_box, knob_on_a_block, of_parts


def line_distance(hypothesis, axis, point):
    offset = np.asarray(point) - hypothesis.origin
    return np.linalg.norm(offset - (offset @ axis) * np.asarray(axis))


def test_a_drawer_slides_out_of_its_box():
    mesh = drawer_in_a_box()
    found = search_joints(mesh)
    best = found.best(1)
    assert found.parents == (-1, 0)
    assert best.kind == "prismatic"
    assert best.axis @ (0.0, 0.0, 1.0) > 0.999
    assert best.upper > 0.2
    sideways = [c for c in found.rejected[1] if c.kind == "prismatic" and abs(c.axis[0]) > 0.99]
    assert sideways
    assert all("body" in c.reason for c in sideways)


def test_a_door_turns_about_the_edge_away_from_its_handle():
    best = search_joints(door_on_a_box()).best(1)
    assert best.kind == "revolute"
    assert abs(best.axis[1]) > 0.999
    assert line_distance(best, (0.0, 1.0, 0.0), (0.0, 0.0, 0.41)) < 0.05
    assert best.upper > 1.0


def test_a_knob_turns_about_its_own_axis():
    found = search_joints(knob_on_a_block())
    turning = next(c for c in found.hypotheses[1] if c.kind == "continuous")
    assert abs(turning.axis[2]) > 0.999
    assert line_distance(turning, (0.0, 0.0, 1.0), (0.1, 0.1, 0.2)) < 0.01


@pytest.mark.parametrize("scale", [0.001, 1.0, 1000.0])
def test_the_answer_turns_and_scales_with_the_object(scale):
    mesh = drawer_in_a_box().in_frame(up="z")
    mesh = replace(mesh, vertices=mesh.vertices * scale + 50.0 * scale)
    best = search_joints(mesh).best(1)
    assert best.kind == "prismatic"
    assert best.axis @ (1.0, 0.0, 0.0) > 0.999  # z became x when y became z
    assert best.upper > 0.2 * scale


def test_probabilities_lie_between_zero_and_one_and_hypotheses_are_sorted():
    found = search_joints(drawer_in_a_box())
    every = [*found.hypotheses[1], *found.rejected[1]]
    assert all(0.0 <= c.probability <= 1.0 for c in every)
    for group in (found.hypotheses[1], found.rejected[1]):
        assert all(a.probability >= b.probability for a, b in pairwise(group))
    assert all(c.reason for c in found.rejected[1])
    assert sum(c.kind == "fixed" for c in found.hypotheses[1]) == 1


def test_the_same_mesh_gives_the_same_answer():
    first, second = (search_joints(door_on_a_box()) for _ in range(2))
    assert [c.probability for c in first.hypotheses[1]] == [c.probability for c in second.hypotheses[1]]


def test_a_tour_moves_one_joint_at_a_time_within_its_limits_and_ends_at_rest():
    mesh = drawer_in_a_box()
    both = Articulation(
        mesh, (Joint("revolute", -1, lower=-0.5, upper=1.0), Joint("prismatic", 0, lower=0.0, upper=0.3))
    )
    q = tour(both)
    assert ((q != 0).sum(axis=1) <= 1).all()
    assert np.allclose(q[0], 0)
    assert np.allclose(q[-1], 0)
    assert np.allclose(q.max(axis=0), (1.0, 0.3), atol=0.02)
    assert np.allclose(q.min(axis=0), (-0.5, 0.0), atol=0.02)


@pytest.mark.parametrize("count", [1, 2, 7, 14])
def test_evenly_spaced_pictures_of_a_tour_show_motion(count):
    mesh = of_parts(**{f"block_{k}": [slab((k, 0, 0), (k + 0.5, 1, 1))] for k in range(count)})
    q = tour(Articulation(mesh, tuple(Joint("revolute", -1, lower=0.0, upper=1.0) for _ in range(count))))
    seen = q[np.linspace(0, len(q) - 1, 8).round().astype(int)]
    assert (np.abs(seen).max(axis=1) > 0.3).sum() >= 3


def test_a_part_without_surface_is_fixed_to_the_base():
    mesh = drawer_in_a_box()
    found = search_joints(replace(mesh, part_names=("body", "drawer", "nothing")))
    assert found.best(2).kind == "fixed"
    assert found.best(2).parent == 0


def test_limits_and_angles_are_those_that_are_set(monkeypatch):
    mesh = door_on_a_box()
    usual = search_joints(mesh)
    assert usual.best(1).upper > 0.5
    monkeypatch.setattr(hypothesis, "WIDEST_TURN", 0.5)
    monkeypatch.setattr(hypothesis, "TURN_PLAY", 9.0)
    narrow = search_joints(mesh)
    assert narrow.best(1).upper == 0.5
    assert narrow.best(1).probability == usual.best(1).probability
    monkeypatch.setattr(search, "LEAST_TURN", 4.0)
    strict = search_joints(mesh)
    monkeypatch.undo()
    assert any(c.kind == "revolute" and c.free[1] < 3.1 for c in usual.hypotheses[1])
    assert not any(c.kind == "revolute" and c.free[1] < 3.1 for c in strict.hypotheses[1])
    monkeypatch.setattr(sweep, "ANGLES", (5, 10, 15, 90))
    coarse = search_joints(mesh)
    angles = {round(np.degrees(abs(x))) for c in coarse.hypotheses[1] if c.kind == "revolute" for x in c.free}
    assert 90 in angles
    assert angles <= {0, 5, 10, 15, 90}


def test_an_unlikely_fixed_part_comes_right_behind_the_likeliest_motion_and_a_likely_one_first(monkeypatch):
    mesh = drawer_in_a_box()
    first, *_ = search_joints(mesh).hypotheses[1]
    assert first.kind == "prismatic"
    held = next(c for c in search_joints(mesh).hypotheses[1] if c.kind == "fixed")
    monkeypatch.setattr(search, "SURELY_FIXED", -1.0)
    monkeypatch.setattr(search, "COINCIDENT_PLACE", 0.0)
    fixed = next(c for c in search_joints(mesh).hypotheses[1] if c.kind == "fixed")
    assert held.probability == min(fixed.probability, 0.99 * first.probability)


def test_keys_that_are_alike_move_alike():
    keys = {f"key_{k}": [slab((k + 0.2, 0.5, 0.5), (k + 0.8, 0.8, 1.5))] for k in range(6)}
    found = search_joints(of_parts(plate=[slab((0, 0, 0), (6, 0.5, 2))], **keys))
    best = [found.best(part) for part in range(1, 7)]
    assert len({line.kind for line in best}) == 1
    assert all(np.allclose(np.abs(line.axis), np.abs(best[0].axis)) for line in best)
