"""Inside and outside: closed forms on boxes and cups, and agreement of points with cells."""

import numpy as np
import pytest

from neurok.geometry.voxels import inside_closed, inside_grid, winding_numbers
from neurok.modelling import shapes


def test_points_of_a_box_are_inside_whichever_way_it_is_wound():
    box = shapes.box((2.0, 1.0, 3.0))
    points = np.random.default_rng(0).uniform(-2, 2, (500, 3))
    low, high = box.vertices.min(axis=0), box.vertices.max(axis=0)
    truth = ((points > low) & (points < high)).all(axis=1)
    assert np.array_equal(inside_closed(points, box.vertices, box.faces), truth)
    assert np.array_equal(inside_closed(points, box.vertices, box.faces[:, ::-1]), truth)
    assert winding_numbers(points, box.vertices, box.faces) == pytest.approx(truth.astype(float), abs=1e-9)


def test_a_square_seen_from_above_its_middle_turns_by_a_known_share():
    """The solid angle of a square of side 2 at height h over its middle is 4 atan(1 / (h sqrt(h^2 + 2)))."""
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    heights = np.array([0.1, 0.5, 1.0, 4.0])
    points = np.column_stack([np.zeros((4, 2)), -heights])
    angle = 4.0 * np.arctan(1.0 / (heights * np.sqrt(heights**2 + 2.0)))
    turns = winding_numbers(points, corners, np.array([[0, 1, 2], [0, 2, 3]]))
    assert turns == pytest.approx(angle / (4.0 * np.pi))


def test_points_and_cells_agree():
    ball = shapes.torus(0.8, 0.3)
    low, cell, shape = np.array([-1.2] * 3), 0.15, (16, 16, 16)
    centers = low + (np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1) + 0.5) * cell
    by_points = inside_closed(centers.reshape(-1, 3), ball.vertices, ball.faces).reshape(shape)
    assert np.array_equal(by_points, inside_grid(ball.vertices, ball.faces, low, cell, shape))
