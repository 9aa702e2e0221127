"""Boxes and axes of parts from their points, and figures of what was made again."""

import numpy as np
import pytest

from neurok.catalogue import draw
from neurok.geometry import lie
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.modelling.forms import hollowed
from neurok.modelling.shapes import Shape, box
from neurok_lab.evaluation.generation_reconstruction import (
    ReconstructionConfig,
    by_parts,
    measure,
    points_of,
    seen_of,
    shape_figures,
    table,
    truth,
)
from neurok_lab.parts.part_autoencoder import PartConfig, PartModel
from neurok_lab.parts.part_fit import PartCloud
from neurok_lab.parts.part_frames import FrameConfig, cloud_in, frames_of, wall_of

CONFIG = ReconstructionConfig(surface=4000, asked=1000, cells=24, points=200)


def points_on(shape: Shape, count: int = 1500):
    drawn = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(0))
    return drawn.interpolate(shape.vertices), face_normals(shape.vertices, shape.faces)[drawn.face_ids]


@pytest.mark.parametrize("axis", [[0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
def test_the_box_of_a_turned_box_is_found(axis):
    turn = lie.axis_angle_matrix(np.array(axis), 0.4)
    points, normals = points_on(box((1.0, 2.0, 0.4)))
    moved, turned = points @ turn.T + [3.0, 2.0, 1.0], normals @ turn.T
    sizes = [cloud_in(one, moved, turned, points, None)[0].size for one in frames_of(moved, turned)]
    best = min(sizes, key=lambda size: float(np.prod(size)))
    np.testing.assert_allclose(np.sort(best), [0.4, 1.0, 2.0], rtol=0.02)


def test_frames_are_rotations_and_the_first_is_none():
    points, normals = points_on(box((1.0, 2.0, 0.4)).turn("z", 30))
    found = frames_of(points, normals)
    np.testing.assert_array_equal(found[0], np.eye(3))
    for turn in found:
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(turn) > 0


def test_a_cloud_in_its_axes_goes_back_to_where_it_was():
    points, normals = points_on(box((1.0, 2.0, 0.4)), 100)
    turn = lie.axis_angle_matrix(np.array([0.0, 0.0, 1.0]), 0.3)
    cloud, place = cloud_in(turn, points, normals, points, None)
    np.testing.assert_allclose(cloud.points @ turn.T + place, points, atol=1e-12)
    np.testing.assert_allclose(cloud.points.max(axis=0), -cloud.points.min(axis=0), atol=1e-12)


def test_the_wall_of_a_hollow_box_is_measured_and_a_full_one_has_none():
    size = np.array([0.4, 0.5, 0.3])
    points, normals = points_on(hollowed(box(size), 0.012, "top"))
    assert wall_of(PartCloud(points, normals, points, size)) == pytest.approx(0.012, rel=0.05)
    points, normals = points_on(box(size))
    assert wall_of(PartCloud(points, normals, points, size)) == 0.0


def test_a_leaning_sheet_is_seen_thin_along_z_and_long_along_y():
    shape = box((0.2, 0.6, 0.02)).turn("x", 60).turn("y", 25)
    points, normals = points_on(shape)
    found = [cloud_in(turn, points, normals, points, None)[0].size for turn in frames_of(points, normals)]
    assert any(np.allclose(size, [0.2, 0.6, 0.02], rtol=0.1) for size in found)


def test_an_object_compared_with_itself_is_perfect_but_for_sampling():
    chair = draw("chair", np.random.default_rng(3))
    seen = seen_of(chair, CONFIG)
    found = measure(chair, seen, truth(chair, seen), CONFIG)
    assert found.law == found.family == found.iou == found.shell_iou == 1.0
    assert found.log_young == found.poisson == found.density == 0.0
    assert found.chamfer < 5e-3
    assert "| IoU [%] | 100.0 |" in table({"itself": found})


def test_figures_of_shifted_boxes_are_the_closed_form():
    iou, _, _, score = shape_figures(box((1.0, 1.0, 1.0)), box((1.0, 1.0, 1.0), (0.5, 0.0, 0.0)), CONFIG)
    assert iou == pytest.approx(1 / 3, abs=0.04)
    assert 0.0 < score < 1.0
    nothing = Shape(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    assert shape_figures(box((1.0, 1.0, 1.0)), nothing, CONFIG) == (0.0, 0.0, 1.0, 0.0)


def test_points_of_a_part_lie_on_its_first_copy():
    chair = draw("chair", np.random.default_rng(3))
    for part in chair.parts[:3]:
        points, normals, _ = points_of(part, 50, 0)
        low, high = part.copies[0].bounds
        assert (points >= low - 1e-6).all()
        assert (points <= high + 1e-6).all()
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


@pytest.mark.slow
def test_an_untrained_network_still_makes_closed_parts_in_the_right_boxes():
    chair = draw("chair", np.random.default_rng(3))
    seen = seen_of(chair, CONFIG)
    model = PartModel(PartConfig(width=16, heads=2, field_width=16, form_width=16))
    answer = by_parts(model, chair, seen, CONFIG, FrameConfig(refine=2, fit=2, first=1, tried=2))
    low, high = chair.bounds
    np.testing.assert_allclose(answer.shape.bounds, [low, high], atol=0.1 * float((high - low).max()))
    assert len(answer.values) == len(seen.points)
