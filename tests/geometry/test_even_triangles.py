"""Surfaces as triangles of one size."""

import numpy as np
import pytest

from neurok.geometry.distance import closest_point
from neurok.geometry.even_triangles import drawn_out, even_triangles, split_long_edges
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import unique_edges
from neurok.geometry.transfer import affine_weights
from neurok.modelling.shapes import box, sphere

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 0.3, 0], [0, 0.3, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]])


def lengths(points, faces):
    edges = unique_edges(faces)
    return np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)


def test_long_edges_are_split_without_gaps_and_without_losing_area():
    points, faces = split_long_edges(*SQUARE, 0.07)
    assert lengths(points, faces).max() <= 0.07
    assert face_areas(points, faces).sum() == pytest.approx(0.3)
    uses = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0, return_counts=True)[1]
    border = uses == 1
    edges = unique_edges(faces)
    middle = points[edges[border]].mean(axis=1)
    on_border = (np.abs(middle[:, 0] * (1 - middle[:, 0])) < 1e-9) | (
        np.abs(middle[:, 1] * (0.3 - middle[:, 1])) < 1e-9
    )
    assert on_border.all()  # no open edge within


def test_a_strip_becomes_even_triangles_that_cover_it():
    points, faces = even_triangles(*SQUARE, 0.05)
    assert face_areas(points, faces).sum() > 0.95 * 0.3
    found = lengths(points, faces)
    assert found.min() > 0.4 * 0.05
    assert found.max() < 2.5 * 0.05


def test_every_vertex_is_used_also_of_scraps_and_tips():
    rng = np.random.default_rng(0)
    leaf = np.array([[0, 0, 0], [0.3, 0.01, 0], [0.3, -0.01, 0], [1.0, 0, 0]])
    points, faces = even_triangles(leaf + 1e-4 * rng.normal(size=(4, 3)), np.array([[0, 2, 1], [1, 2, 3]]), 0.08)
    assert np.array_equal(np.unique(faces), np.arange(len(points)))


def test_both_sides_of_a_thin_slab_are_kept_apart():
    slab = box((0.4, 0.004, 0.2))
    points, faces = even_triangles(slab.vertices, slab.faces, 0.04)
    assert face_areas(points, faces).sum() > 0.9 * 2 * 0.08
    assert lengths(points, faces).mean() > 0.02  # it was not cut finer for its thinness


def test_a_closed_surface_stays_closed():
    ball = sphere(0.1, 48, 24)
    points, faces = even_triangles(ball.vertices, ball.faces, 0.03)
    uses = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0, return_counts=True)[1]
    assert (uses == 2).all()
    assert len(points) - len(unique_edges(faces)) + len(faces) == 2  # Euler


def test_moving_least_squares_repeat_every_affine_map():
    rng = np.random.default_rng(1)
    nodes, points = rng.random((60, 3)), 0.2 + 0.6 * rng.random((20, 3))
    near, weights = affine_weights(nodes, points, ridge=1e-10)
    matrix, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    moved = np.einsum("pk,pkd->pd", weights, (nodes @ matrix.T + shift)[near])
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert np.allclose(moved, points @ matrix.T + shift, atol=1e-7)


def test_triangles_are_drawn_out_to_the_tips_that_they_cut():
    kite = np.array([[0, 0, 0], [0.5, 0.2, 0], [1, 0, 0], [0.5, -0.2, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    points, faces = even_triangles(*kite, 0.07)
    moved = drawn_out(points, faces, kite[0], 0.007)
    assert closest_point(kite[0], points, faces).distances.max() > 0.05
    assert closest_point(kite[0], moved, faces).distances.max() <= 0.007
    assert (moved != points).any(axis=1).sum() == 2
    assert face_areas(points, faces).sum() < 0.195
    assert face_areas(moved, faces).sum() == pytest.approx(0.2)


def test_triangles_that_come_close_enough_stay_as_they_are():
    points, faces = even_triangles(*SQUARE, 0.05)
    assert np.array_equal(drawn_out(points, faces, points[faces].mean(axis=1), 1e-6), points)
