"""Forms fitted to points, and solids cut into pieces: known solids are found again."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.geometry import lie
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import to_manifold, union
from neurok.modelling.forms import Hollow, code_of, mesh_of
from neurok.modelling.shapes import box
from neurok_lab.parts.form_fit import Standing, Target, fit_form, missed
from neurok_lab.parts.part_cutting import cut

SIZE = np.array([0.3, 0.5, 0.2])
BLOCK = code_of("block", widths=np.full(5, 0.6), depths=np.full(5, 0.4), corner=0.1, edges=[0.1, 0.1])
SPREAD, MIDDLE = np.full(24, 0.2), np.zeros(24)


def target_of(stands, count=700):
    solid = stands.solid
    drawn = sample_surface(solid.vertices, solid.faces, count, np.random.default_rng(1))
    points, normals = drawn.interpolate(solid.vertices), face_normals(solid.vertices, solid.faces)[drawn.face_ids]
    return Target.of(points @ stands.turn.T + stands.centre, normals @ stands.turn.T, 600)


def test_a_form_misses_nothing_of_itself_and_all_of_what_is_elsewhere():
    stands = Standing("block", BLOCK, np.eye(3), np.zeros(3), SIZE)
    target = target_of(stands)
    assert missed(stands, target) < 0.1
    assert missed(replace(stands, centre=np.array([2.0, 2.0, 2.0])), target) > 1.9


def test_a_block_that_was_moved_turned_and_stretched_is_found_again():
    turn = lie.axis_angle_matrix(np.array([0.0, 0.6, 0.8]), 0.5)
    true = Standing("block", BLOCK, turn, np.array([1.0, 2.0, 3.0]), SIZE)
    off = lie.axis_angle_matrix(np.array([1.0, 0.0, 0.0]), 0.08) @ turn
    start = Standing("block", BLOCK, off, true.centre + 0.01, SIZE * [1.1, 0.95, 1.08])
    target = target_of(true)
    found, miss = fit_form(start, target, SPREAD, MIDDLE, 10)
    assert miss < 0.1 < missed(start, target)
    np.testing.assert_allclose(found.centre, true.centre, atol=0.003)
    np.testing.assert_allclose(found.solid.bounds, true.solid.bounds, atol=0.004)


def test_the_profile_of_a_hollow_turned_solid_is_found_by_its_outside():
    knots = np.array([[0.5 + 0.06 * k, -1.0 + 2.0 * k / 7, 1.0] for k in range(8)])
    size = np.array([2 * 0.92, 2.0, 2 * 0.92]) * 0.1
    true = Standing("lathe", code_of("lathe", knots=knots), np.eye(3), np.zeros(3), size, Hollow(0.008, "top"))
    wrong = knots.copy()
    wrong[2:6, 0] -= 0.12
    start = replace(true, code=code_of("lathe", knots=wrong))
    found, miss = fit_form(start, target_of(true, 1200), SPREAD, MIDDLE, 8)
    assert miss < 0.15
    assert start.outer.volume < 0.9 * true.outer.volume
    assert found.outer.volume == pytest.approx(true.outer.volume, rel=0.03)


def test_a_fluted_ring_is_found_by_a_fluted_form_and_not_by_a_smooth_one():
    knots = np.array([[0.98, -0.12 + 0.24 * k / 7, 0.5] for k in range(8)])
    size = np.array([0.18, 0.02, 0.2])
    true = Standing(
        "lathe", code_of("lathe", knots=knots), np.eye(3), np.zeros(3), size, Hollow(0.005, "through"), "fluted"
    )
    start = replace(true, hollow=None, size=size * [1.03, 1.0, 0.98])
    target = target_of(true)
    fitted, smooth = (fit_form(replace(start, relief=r), target, SPREAD, MIDDLE, 4)[0] for r in ("fluted", "smooth"))
    hollow = [missed(replace(one, hollow=true.hollow), target) for one in (fitted, smooth)]
    assert hollow[0] < 0.25 < 0.4 < hollow[1]


def test_an_l_is_cut_into_its_two_boxes_and_a_box_is_left_whole():
    ell = union(box((1.0, 0.2, 0.4)), box((0.2, 1.0, 0.4), (-0.4, 0.4, 0.0)))
    pieces = cut(ell, 4, 19)
    volumes = [to_manifold(piece).volume() for piece in pieces]
    hulls = [to_manifold(piece).hull().volume() for piece in pieces]
    np.testing.assert_allclose(volumes, hulls, rtol=0.1)
    assert len(pieces) == 2
    assert sum(volumes) == pytest.approx(to_manifold(ell).volume(), rel=0.02)
    assert len(cut(box((1.0, 2.0, 3.0)))) == 1


def test_the_solid_of_a_standing_form_is_that_of_its_numbers():
    hollow = Hollow(0.02, "top")
    stands = Standing("block", BLOCK, np.eye(3), np.zeros(3), SIZE, hollow)
    np.testing.assert_array_equal(stands.solid.vertices, mesh_of("block", BLOCK, SIZE, hollow).vertices)
