"""Convex pieces that keep hollows: exact on boxes, within the stated error on round cups, the same in any unit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree

from neurok.geometry import decomposition
from neurok.geometry.convex import convex_hull, fit_primitive, hull_planes, hull_volume, separation
from neurok.geometry.decomposition import DECOMPOSITION, collision_solids
from neurok.geometry.lie import axis_angle_matrix
from neurok.modelling import shapes
from neurok.sandbox import Ended, Sandbox

COARSE = replace(DECOMPOSITION, cells=32)


@pytest.fixture
def no_coacd(monkeypatch):
    """CoACD gives up on everything."""
    decomposition._solids.cache_clear()
    monkeypatch.setattr(decomposition, "_by_coacd", lambda *_: [])
    yield
    decomposition._solids.cache_clear()


def ring(radius, height, count=24):
    turn = np.arange(count) * 2 * np.pi / count
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(count, height)])


def cup(count=12, wall=0.03):
    """A closed round cup of radius 1 and height 1, open towards +z."""
    rings = [ring(1, 0, count), ring(1, 1, count), ring(1 - wall, 1, count), ring(1 - wall, wall, count)]
    vertices = np.concatenate([*rings, [[0, 0, 0], [0, 0, wall]]])
    k, after = np.arange(count), np.roll(np.arange(count), -1)
    faces = []
    for i in range(3):
        a, b = i * count, (i + 1) * count
        faces += [np.column_stack([a + k, a + after, b + after]), np.column_stack([a + k, b + after, b + k])]
    faces.append(np.column_stack([after, k, np.full(count, 4 * count)]))
    faces.append(np.column_stack([3 * count + k, 3 * count + after, np.full(count, 4 * count + 1)]))
    return vertices, np.concatenate(faces)


def held(solids, points):
    return np.any([(points @ (p := hull_planes(s.piece))[0].T < p[1]).all(axis=1) for s in solids], axis=0)


def l_shape():
    """An L of two boxes in one closed surface: volume 3."""
    low = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    vertices = np.concatenate([np.column_stack([low, np.full(6, z)]) for z in (0.0, 1.0)])
    cap = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    k, after = np.arange(6), np.roll(np.arange(6), -1)
    sides = np.concatenate([np.column_stack([k, after, after + 6]), np.column_stack([k, after + 6, k + 6])])
    return vertices, np.concatenate([cap[:, ::-1], cap + 6, sides])


def test_an_l_becomes_two_boxes_of_its_volume(no_coacd):
    solids = collision_solids(*l_shape(), config=COARSE)
    assert len(solids) == 2
    assert all(solid.primitive is not None and solid.primitive.kind == "box" for solid in solids)
    assert sum(hull_volume(solid.piece) for solid in solids) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("use_coacd", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_round_cup_keeps_its_hollow_and_its_wall(use_coacd, request):
    if not use_coacd:
        request.getfixturevalue("no_coacd")
    vertices, faces = cup()
    solids = collision_solids(vertices, faces, config=COARSE)
    rng = np.random.default_rng(0)
    radius, turn = np.sqrt(rng.random(2000)), 2 * np.pi * rng.random(2000)
    deep = np.column_stack([0.88 * radius * np.cos(turn), 0.88 * radius * np.sin(turn), rng.uniform(0.1, 0.95, 2000)])
    assert held(solids, deep).mean() < 0.05
    bottom = np.column_stack([0.9 * radius * np.cos(turn), 0.9 * radius * np.sin(turn), np.full(2000, 0.015)])
    assert held(solids, bottom).mean() > 0.98


def test_an_open_sheet_gets_its_thickness_and_stays_where_it_is():
    vertices, faces = cup()
    outer = faces[(faces < 24).all(axis=1) | (faces == 48).any(axis=1)]
    solids = collision_solids(vertices, outer, thickness=0.04, config=COARSE)
    assert not held(solids, np.array([[0.0, 0.0, 0.5], [0.5, 0.5, 0.5], [-0.8, 0.0, 0.9]])).any()
    assert held(solids, np.array([[0.3, 0.3, 0.01]])).all()


def test_pieces_do_not_depend_on_the_unit():
    vertices, faces = l_shape()
    small = collision_solids(1e-3 * vertices, faces, config=COARSE)
    assert sum(hull_volume(solid.piece) for solid in small) == pytest.approx(3e-9, rel=1e-6)


def test_primitives_are_found_wherever_they_stand():
    turn = axis_angle_matrix(np.array([0.3, 0.9, 0.2]) / np.linalg.norm([0.3, 0.9, 0.2]), 0.7)
    box = shapes.box((1.0, 2.0, 0.3)).vertices @ turn.T + [4, 5, 6]
    found = fit_primitive(convex_hull(box, 0.0))
    assert found.kind == "box"
    assert sorted(found.size) == pytest.approx([0.3, 1.0, 2.0])
    assert found.pose[:3, 3] == pytest.approx([4, 5, 6])
    rod = np.concatenate([ring(0.5, -1), ring(0.5, 1)]) @ turn.T
    found = fit_primitive(convex_hull(rod, 0.0))
    assert found.kind == "cylinder"
    assert found.size == pytest.approx([1.0, 1.0, 2.0], rel=0.01)
    assert abs(found.pose[:3, 2] @ (turn @ [0, 0, 1])) == pytest.approx(1.0)
    points = np.random.default_rng(1).normal(size=(400, 3))
    ball = fit_primitive(convex_hull(0.7 * points / np.linalg.norm(points, axis=1, keepdims=True), 0.0, 1000))
    assert ball.kind == "sphere"
    assert ball.size == pytest.approx([1.4] * 3, rel=0.01)
    assert fit_primitive(convex_hull(np.random.default_rng(2).random((9, 3)), 0.0)) is None


def test_separation_is_the_gap_of_boxes_and_the_depth_where_they_overlap():
    one = convex_hull(shapes.box((1.0, 1.0, 1.0)).vertices, 0.0)
    for shift, gap in ((1.3, 0.3), (0.9, -0.1)):
        far, way = separation(one, (one[0] + [shift, 0.2, 0.0], one[1]))
        assert far == pytest.approx(gap)
        assert way == pytest.approx([1, 0, 0])


def test_the_volume_of_a_hull_is_that_of_qhull():
    points = np.random.default_rng(3).random((40, 3))
    assert hull_volume(convex_hull(points, 0.0)) == pytest.approx(ConvexHull(points).volume)


def test_a_solid_that_ends_coacd_is_cut_by_planes(monkeypatch, no_coacd):
    vertices, faces = cup()
    by_planes = collision_solids(vertices, faces, config=COARSE)
    monkeypatch.undo()
    decomposition._solids.cache_clear()

    def end(*_, **__):
        raise Ended("crash", "its process ended")

    monkeypatch.setattr(decomposition, "SANDBOX", Sandbox())
    monkeypatch.setattr(decomposition.SANDBOX, "call", end)
    assert len(collision_solids(vertices, faces, config=COARSE)) == len(by_planes) > 1


def test_a_thin_board_keeps_its_thickness_and_a_sheet_gets_that_of_its_material():
    board = shapes.box((1.0, 0.002, 1.0))
    (solid,) = collision_solids(board.vertices, board.faces, thickness=0.02)
    assert np.ptp(solid.piece[0], axis=0) == pytest.approx([1.0, 0.002, 1.0])
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]])
    (sheet,) = collision_solids(square, np.array([[0, 1, 2], [0, 2, 3]]), thickness=0.02)
    assert np.ptp(sheet.piece[0], axis=0) == pytest.approx([1.0, 0.02, 1.0])


def test_samples_of_a_triangle_leave_no_gap():
    rng = np.random.default_rng(4)
    triangles = rng.normal(size=(30, 3, 3)) * rng.uniform(0.05, 1.0, (30, 1, 1))
    weights = rng.dirichlet((1, 1, 1), size=500)
    places = np.einsum("sk,fki->fsi", weights, triangles).reshape(-1, 3)
    samples = decomposition._samples(triangles, 0.1)
    assert cKDTree(samples).query(places)[0].max() < 0.1
