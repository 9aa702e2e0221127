"""Measures by closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Mesh
from neurok.modelling.shapes import box, sphere
from neurok_lab.evaluation.cases import (
    Case,
    Judge,
    boxed_articulation,
    is_closed,
    random_states,
    solid_faces,
    state_ranges,
)
from neurok_lab.evaluation.methods import summarise


def shifted_box(shift: float) -> Case:
    shape = box((1.0, 1.0, 1.0))
    mesh = Mesh(shape.vertices, shape.faces, name="box")
    return Case("box", "test", mesh, shape.vertices + [shift, 0.0, 0.0])


def test_the_truth_scores_the_sampling_floor_and_no_error(drawer_case):
    judge = Judge(drawer_case, 2000)
    score = judge.score(drawer_case.target)
    assert score == judge.floor
    assert score.iou == 1.0
    assert score.motion_error == score.edge_error == 0.0
    assert score.chamfer_l1 < 0.7 * judge.no_motion.chamfer_l1


def test_the_sampling_floor_falls_with_the_square_root_of_the_points(bent_sheet):
    few, many = Judge(bent_sheet, 1000).floor.chamfer_l1, Judge(bent_sheet, 4000).floor.chamfer_l1
    assert many == pytest.approx(few / 2, rel=0.1)


def test_two_boxes_a_quarter_apart_share_three_fifths():
    # 0.75 of each is shared, so 0.75 / 1.25; cells along the longest side, 1.25, leave an error of one cell.
    judge = Judge(shifted_box(0.25), 500)
    assert judge.no_motion.iou == pytest.approx(0.6, abs=0.03)


def test_points_that_miss_by_a_shift_have_that_motion_error():
    judge = Judge(shifted_box(0.25), 500)
    assert judge.no_motion.motion_error == pytest.approx(0.25)
    assert judge.no_motion.edge_error == pytest.approx(0.0, abs=1e-12)


def test_edges_of_a_shape_scaled_by_a_tenth_are_a_tenth_off():
    case = shifted_box(0.0)
    assert Judge(case, 500).score(1.1 * case.rest.vertices).edge_error == pytest.approx(0.1)


def test_what_a_method_sees_is_not_what_scores_it(drawer_case):
    judge = Judge(drawer_case, 500)
    shared = set(map(tuple, judge.given)) & set(map(tuple, judge._truth))
    assert not shared


def test_doubled_and_inverted_faces_enclose_the_same_solid():
    shape = sphere(0.5)
    doubled = np.concatenate([shape.faces[:, ::-1], shape.faces])
    mixed = shape.faces.copy()
    mixed[::3] = mixed[::3, ::-1]
    for faces in (shape.faces, shape.faces[:, ::-1], doubled, mixed):
        corners = shape.vertices[solid_faces(shape.vertices, faces)]
        volume = np.einsum("fd,fd->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume == pytest.approx(np.pi / 6, rel=0.05)


def test_a_box_is_closed_and_one_without_a_face_is_not():
    shape = box((1.0, 2.0, 0.5))
    assert is_closed(shape.vertices, shape.faces)
    assert not is_closed(shape.vertices, shape.faces[1:])


def test_a_boxed_articulation_moves_like_the_original(drawer):
    small = boxed_articulation(drawer)
    low, high = drawer.mesh.bounds
    center, size = (low + high) / 2, (high - low).max()
    moved = (drawer.pose(np.array([0.5])).vertices - center) / size
    np.testing.assert_allclose(small.pose(np.array([0.5 / size])).vertices, moved, atol=1e-12)


def test_random_states_keep_the_limits_and_turn_freely_without(drawer):
    assert (state_ranges(drawer) == [[0.3, 0.6]]).all()
    values = random_states(drawer, 200, np.random.default_rng(0))
    assert values.min() >= 0.3
    assert values.max() <= 0.6
    wheel = replace(drawer, joints=(drawer.joints[0], replace(drawer.joints[1], kind="continuous")))
    np.testing.assert_allclose(state_ranges(wheel), [[-np.pi, np.pi]])


def test_a_case_hides_the_parts_and_depends_on_the_name_alone(drawer, drawer_case):
    from neurok.core import Asset
    from neurok_lab.evaluation.cases import case_of

    assert drawer_case.rest.part_ids is None
    again = case_of(Asset(drawer.mesh, articulation=drawer), "Drawer_1", "articulated")
    other = case_of(Asset(drawer.mesh, articulation=drawer), "Drawer_2", "articulated")
    assert np.array_equal(again.target, drawer_case.target)
    assert not np.array_equal(other.target, drawer_case.target)


def test_means_and_medians_of_fractions_differ_as_they_should():
    base = {"group": "g", "method": "m", "status": "ok", "chamfer_l2": 0.0, "iou": 1.0, "seconds": 1.0}
    base |= {"motion_error": 0.1, "displacement": 0.4, "edge_error": 0.0, "floor_l1": 0.1}
    rows = [
        {**base, "chamfer_l1": 0.2, "no_motion_l1": 0.2},
        {**base, "chamfer_l1": 0.2, "no_motion_l1": 0.4},
        {**base, "chamfer_l1": 0.2, "no_motion_l1": 1.0, "status": "failed"},
    ]
    (summary,) = summarise([*rows, {"group": "g", "method": "m", "status": "absent"}])
    assert summary["objects"] == 3
    assert summary["failed"] == 1
    assert summary["fraction"] == pytest.approx(0.6 / 1.6)
    assert summary["median_fraction"] == pytest.approx(0.5)
    assert summary["above_floor"] == pytest.approx(0.3 / 1.3)
    assert summary["motion_error"] == pytest.approx(0.25)
