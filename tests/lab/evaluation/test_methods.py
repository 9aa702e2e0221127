"""Every peer does its honest best on a case made for it."""

from functools import partial

import numpy as np
import pytest

from neurok.core import Clip, Mesh
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.modelling.shapes import box, join
from neurok_lab.evaluation.cases import Case, Judge
from neurok_lab.evaluation.methods import find_method, fingerprint
from neurok_lab.evaluation.registration import (
    coherent_drift,
    learned,
    make_cells,
    no_motion,
    principal_components,
    rigid_cells_icp,
    rigid_icp,
    true_joints,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_no_motion_is_one_time_no_motion(bent_sheet, rng):
    judge = Judge(bent_sheet, 1000)
    assert judge.score(no_motion(bent_sheet.rest, judge.given, rng)) == judge.no_motion


def test_rigid_icp_finds_a_small_rigid_motion(drawer_case, rng):
    turn = lie.rotation_about(np.array([0.0, 1.0, 0.0]), np.zeros(3), 0.15)
    case = Case("turned", "test", drawer_case.rest, lie.apply(turn, drawer_case.rest.vertices))
    judge = Judge(case, 2000)
    assert judge.score(rigid_icp(case.rest, judge.given, rng)).motion_error < 0.1 * judge.no_motion.motion_error


@pytest.mark.slow
def test_drift_bends_a_sheet(bent_sheet, rng):
    pytest.importorskip("pycpd")
    judge = Judge(bent_sheet, 1500)
    score = judge.score(coherent_drift(bent_sheet.rest, judge.given, rng, count=150, rounds=60))
    assert score.chamfer_l1 < 0.6 * judge.no_motion.chamfer_l1


def test_rigid_cells_bend_a_sheet_without_stretching_it(bent_sheet, rng):
    pytest.importorskip("igl")
    judge = Judge(bent_sheet, 1500)
    score = judge.score(rigid_cells_icp(bent_sheet.rest, judge.given, rng, rounds=20, count=800))
    assert score.chamfer_l1 < 0.6 * judge.no_motion.chamfer_l1
    assert score.edge_error < 0.05


def test_rigid_cells_lift_one_of_two_boxes(rng):
    pytest.importorskip("igl")
    left, right = box((0.4, 0.3, 0.3), (-0.3, 0, 0)), box((0.4, 0.3, 0.3), (0.3, 0, 0))
    both = join([left, right])
    lift = np.where(both.vertices[:, :1] > 0, [[0.0, 0.12, 0.0]], 0.0)
    case = Case("boxes", "test", Mesh(both.vertices, both.faces), both.vertices + lift)
    judge = Judge(case, 1500)
    score = judge.score(rigid_cells_icp(case.rest, judge.given, rng, rounds=25, count=1000))
    assert score.motion_error < 0.4 * judge.no_motion.motion_error


def test_rigid_cells_feel_no_rigid_motion(bent_sheet):
    pytest.importorskip("igl")
    rest = bent_sheet.rest
    cells = make_cells(rest.vertices, rest.faces, np.zeros(rest.face_count, dtype=np.int64))
    turn = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.2, 0.3]), 1.1)
    moved = lie.apply(turn, rest.vertices)
    rotations = cells.rotations(moved)
    np.testing.assert_allclose(cells.laplacian @ moved, cells.right_side(rotations), atol=1e-9)


def test_slopes_of_joints_match_finite_differences(drawer_case):
    driver, q, step = ArticulatedSpace(drawer_case.articulation), np.array([[0.2]]), 1e-6
    values, slopes = driver.shape(q)
    finite = (driver.shape(q + step)[0] - driver.shape(q - step)[0]) / (2 * step)
    np.testing.assert_allclose(slopes[:, 0], finite, atol=1e-8)
    np.testing.assert_allclose(driver.features @ values[0], drawer_case.articulation.pose(q[0]).vertices, atol=1e-12)


def test_the_true_joints_reach_the_target(drawer_case, rng):
    judge = Judge(drawer_case, 2000)
    vertices = true_joints(drawer_case.articulation, drawer_case.rest, judge.given, rng)
    assert judge.score(vertices).motion_error < 0.05 * judge.no_motion.motion_error


def test_principal_components_reach_a_pose_they_span(bent_sheet, rng):
    move = bent_sheet.target - bent_sheet.rest.vertices
    clip = Clip(bent_sheet.rest, bent_sheet.rest.vertices + np.linspace(0, 0.8, 9)[:, None, None] * move)
    judge = Judge(bent_sheet, 2000)
    vertices = principal_components((clip,), bent_sheet.rest, judge.given, rng)
    assert judge.score(vertices).motion_error < 0.1 * judge.no_motion.motion_error


@pytest.fixture(scope="module")
def untrained():
    import torch

    from neurok.learned.deformation.points import PointConfig, PointModel

    torch.manual_seed(0)
    return PointModel(PointConfig(width=16, heads=2, tokens=4, prior_depth=1, decoder_depth=1, query_depth=1))


def test_the_learned_space_runs_and_gives_every_vertex(drawer_case, untrained, rng):
    judge = Judge(drawer_case, 500)
    vertices = learned(untrained, "gram", 4, False, {}, drawer_case.rest, judge.given, rng)
    assert vertices.shape == drawer_case.rest.vertices.shape
    assert np.isfinite(vertices).all()


def test_names_of_learned_variants_are_parsed_and_marked_with_their_weights(untrained):
    asked = []
    entry = find_method("neurok@some/file:paper:8", lambda weights: asked.append(weights) or untrained)
    assert asked == ["some/file"]
    assert isinstance(entry.make(None), partial)
    assert entry.make(None).args[1:4] == ("paper", 8, False)
    assert find_method("neurok:refine", lambda weights: untrained).make(None).args[1:4] == (None, None, True)
    assert entry.key.endswith(fingerprint(untrained))
    assert fingerprint(untrained.double()) == fingerprint(untrained.float())


@pytest.mark.parametrize("name", ["magic", "neurok:cubic", "neurok:gram:8:9", "neurok:0"])
def test_unknown_methods_are_named(name, untrained):
    with pytest.raises(NeurokError, match=r"magic|neurok"):
        find_method(name, lambda weights: untrained)


def test_what_does_not_apply_says_so(bent_sheet):
    assert find_method("oracle-joints").make(bent_sheet) is None
    assert find_method("pca").make(bent_sheet) is None


def test_meshes_of_one_face_do_not_break_the_cells(rng):
    pytest.importorskip("igl")
    mesh = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    case = Case("one", "test", mesh, mesh.vertices + 0.05)
    judge = Judge(case, 200)
    assert np.isfinite(rigid_cells_icp(mesh, judge.given, rng, rounds=5, count=100)).all()
