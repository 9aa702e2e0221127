import numpy as np
import pytest
import torch

from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.core.mesh import frame_change
from neurok.geometry.lie import axis_angle_matrix, quaternion_to_matrix
from neurok.learned.ensemble import CLOSE, WAYS_UP, find_upright, main_frame
from neurok.learned.joint_network import JointConfig, JointModel


@pytest.fixture(scope="module")
def model() -> JointModel:
    torch.manual_seed(1)
    return JointModel(JointConfig(width=16, heads=2, depth=1, octaves=3)).requires_grad_(False)


def cabinet(turn: np.ndarray) -> Mesh:
    mesh = make_sample("cabinet").articulation.mesh
    return mesh.with_vertices(mesh.vertices @ turn.T)


@pytest.mark.parametrize("seed", range(4))
def test_the_frame_turns_with_the_object(seed):
    turn = quaternion_to_matrix(np.random.default_rng(seed).normal(size=4))
    frame = main_frame(cabinet(turn))
    assert frame is not None
    assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    matches = np.abs(frame @ turn)
    assert np.allclose(np.sort(matches, axis=1), [[0.0, 0.0, 1.0]] * 3, atol=0.02)


def test_a_ball_has_no_frame():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    from scipy.spatial import ConvexHull

    assert main_frame(Mesh(points, ConvexHull(points).simplices)) is None


@pytest.mark.parametrize("degrees", [0.0, 35.0, -80.0])
def test_an_object_that_stands_keeps_its_up(model, degrees):
    mesh = cabinet(axis_angle_matrix(np.array([0.0, 1.0, 0.0]), np.radians(degrees)))
    assert np.array_equal(find_upright(mesh, [model]), frame_change(mesh.up, "y"))


def test_an_object_that_lies_askew_is_put_on_one_of_its_six_sides(model):
    turn = axis_angle_matrix(np.array([0.6, 0.0, 0.8]), 0.7)
    upright = find_upright(cabinet(turn), [model])
    assert np.allclose(upright @ upright.T, np.eye(3), atol=1e-9)
    assert np.abs(turn.T @ upright[1]).max() > CLOSE
    assert len({tuple(way[1]) for way in WAYS_UP}) == 6
    assert all(np.linalg.det(way) == pytest.approx(1.0) for way in WAYS_UP)
