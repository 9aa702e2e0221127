"""Bars found in points: balls in a cylinder, the line of a bent tube, the bars of a frame."""

import numpy as np
import pytest

from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import union
from neurok.modelling.forms import code_of, mesh_of
from neurok.modelling.shapes import Shape, box
from neurok.modelling.sweeps import tube
from neurok_lab.parts.centre_line import (
    FRAME,
    balls,
    evenly,
    frame_lines,
    knots_along,
    nearest_line,
    sharpest,
    single_line,
    slender_share,
    tube_along,
)
from neurok_lab.parts.form_fit import Standing, Target, missed

BENT = np.array(
    [[0.4, -0.5, 0.0], [0.4, 0.45, 0.0], [0.4, 0.5, 0.1], [0.4, 0.5, 0.9], [-0.4, 0.5, 1.0], [-0.4, -0.5, 1.0]]
)


def points_on(shape: Shape, count: int = 1000):
    drawn = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(0))
    return drawn.interpolate(shape.vertices), face_normals(shape.vertices, shape.faces)[drawn.face_ids]


def frame():
    """Two posts and a rail between them."""
    posts = union(box((0.05, 1.0, 0.05), (-0.4, 0.0, 0.0)), box((0.05, 1.0, 0.05), (0.4, 0.0, 0.0)))
    return union(posts, box((0.8, 0.05, 0.05), (0.0, 0.1, 0.0)))


def test_balls_inside_a_round_bar_have_its_radius_and_its_axis():
    rng = np.random.default_rng(0)
    angles, heights = rng.uniform(0.0, 2.0 * np.pi, 3000), rng.uniform(-1.0, 1.0, 3000)
    normals = np.column_stack([np.cos(angles), np.zeros(3000), np.sin(angles)])
    centres, radii = balls(0.1 * normals + heights[:, None] * [0.0, 1.0, 0.0], normals)
    np.testing.assert_allclose(radii, 0.1, rtol=0.02)
    np.testing.assert_allclose(centres[:, [0, 2]], 0.0, atol=0.002)


def test_the_line_of_a_bent_tube_makes_the_tube_again():
    code = code_of("tube", points=BENT, radii=[0.04, 0.04, 0.04], flat=1.0, bend=0.2)
    solid = mesh_of("tube", code, [0.5, 0.6, 0.65])
    points, normals = points_on(solid)
    line, is_closed = single_line(points, normals)
    assert not is_closed
    made = [tube_along(knots, bend, points, 0.325) for knots, bend in knots_along(line, is_closed)]
    stands = [Standing("tube", one, np.eye(3), np.zeros(3), np.ptp(solid.bounds, axis=0)) for one in made]
    miss = [missed(one, Target.of(points, normals)) for one in stands]
    assert min(miss) < 0.3
    assert stands[int(np.argmin(miss))].solid.volume == pytest.approx(solid.volume, rel=0.1)


def test_a_ring_has_a_closed_line():
    angles = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    path = np.column_stack([np.cos(angles), np.zeros(60), np.sin(angles)])
    line, is_closed = single_line(*points_on(tube(path, 0.06, closed=True)))
    assert is_closed
    np.testing.assert_allclose(np.hypot(line[:, 0], line[:, 2]), 1.0, atol=0.03)


def test_a_frame_falls_into_its_posts_and_its_rail_and_a_board_into_nothing():
    points, normals = points_on(frame(), 4000)
    lines = frame_lines(points, normals, 14)
    lengths = [float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()) for line in lines]
    np.testing.assert_allclose(lengths, [1.0, 1.0, 0.8], atol=0.12)
    owners = nearest_line(lines, points)
    is_rail = np.abs(points[:, 0]) < 0.3
    assert (owners[is_rail] == 2).all()
    posts = [owners[side * points[:, 0] > 0.375] for side in (-1.0, 1.0)]
    assert [np.bincount(post, minlength=3).max() / len(post) > 0.95 for post in posts] == [True, True]
    assert {int(np.bincount(post).argmax()) for post in posts} == {0, 1}
    assert slender_share(points, normals) > FRAME
    assert frame_lines(*points_on(box((1.0, 0.05, 0.8)), 4000), 14) == []


def test_a_line_is_cut_where_it_turns_and_a_straight_one_is_not():
    corner = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    line = evenly(corner, 21)
    assert sharpest(line) == 10
    assert sharpest(evenly(corner[:2], 21)) == -1
