from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core.mesh import Mesh
from neurok.errors import NeurokError
from neurok.geometry.lie import axis_angle_matrix, fit_rigid
from neurok.geometry.sampling import sample_surface
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.posing.pose import PoseConfig, pose_to_points, refine_pose
from neurok.posing.refine import refine


def box(size, at) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
        + [[1, 5, 7], [1, 7, 3]]
    )
    return (corners - 0.5) * size + at, faces


@pytest.fixture(scope="module")
def two_boxes() -> ScrewSpace:
    """A base and a lid beside it; the space lets the lid slide along x alone."""
    base, faces = box(np.array([1.0, 0.3, 0.6]), np.zeros(3))
    lid, _ = box(np.array([0.5, 0.1, 0.4]), np.array([0.0, 0.5, 0.0]))
    mesh = Mesh(np.concatenate([base, lid]), np.concatenate([faces, faces + 8]))
    weights = np.repeat(np.eye(2), 8, axis=0)
    screws = np.zeros((2, 6, 1))
    screws[1, 3, 0] = 0.2
    return ScrewSpace(mesh, weights, np.array([[0.0, 0, 0], [0.0, 0.5, 0]]), screws)


def cloud(mesh: Mesh, vertices: np.ndarray) -> np.ndarray:
    return sample_surface(vertices, mesh.faces, 6000, np.random.default_rng(1)).interpolate(vertices)


def test_a_rigid_part_goes_where_the_space_cannot_take_it_and_stays_rigid(two_boxes):
    mesh = two_boxes.rest
    turn = axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.25)
    wanted = mesh.vertices.copy()
    wanted[8:] = (mesh.vertices[8:] - [0.0, 0.5, 0.0]) @ turn.T + [0.1, 0.55, 0.05]
    points = cloud(mesh, wanted)
    pose = pose_to_points(two_boxes, points)
    found = refine_pose(pose, points)
    before, after = (np.linalg.norm(x - wanted, axis=1).mean() for x in (pose.vertices, found.vertices))
    assert before > 0.02
    assert after < 0.25 * before
    assert found.residual < pose.residual
    for part in (slice(0, 8), slice(8, 16)):
        moved = fit_rigid(mesh.vertices[part], found.vertices[part])
        again = mesh.vertices[part] @ moved[:3, :3].T + moved[:3, 3]
        np.testing.assert_allclose(again, found.vertices[part], atol=1e-9)


def test_a_door_is_proposed_about_an_edge_that_the_space_does_not_know(two_boxes):
    """The lid stands upright at its back edge in the target; the space slides it sideways alone."""
    mesh = two_boxes.rest
    pivot, turn = np.array([0.0, 0.45, -0.2]), axis_angle_matrix(np.array([1.0, 0.0, 0.0]), -np.pi / 2)
    wanted = mesh.vertices.copy()
    wanted[8:] = (mesh.vertices[8:] - pivot) @ turn.T + pivot
    points = cloud(mesh, wanted)
    pose = pose_to_points(two_boxes, points)
    found = refine_pose(pose, points)
    way = np.linalg.norm(wanted - mesh.vertices, axis=1).mean()
    assert np.linalg.norm(pose.vertices - wanted, axis=1).mean() > 0.5 * way
    assert found.residual < 0.5 * pose.residual
    moved = fit_rigid(mesh.vertices[8:], found.vertices[8:])
    np.testing.assert_allclose(mesh.vertices[8:] @ moved[:3, :3].T + moved[:3, 3], found.vertices[8:], atol=1e-9)


def test_a_pose_that_fits_already_is_left_alone(two_boxes):
    wanted = two_boxes.features @ two_boxes.values(np.array([[1.5]]))[0]
    points = cloud(two_boxes.rest, wanted)
    pose = pose_to_points(two_boxes, points)
    np.testing.assert_array_equal(refine(two_boxes, pose.q, points).vertices, pose.vertices)


def strip_space() -> ScrewSpace:
    """A strip along x with a handle at each end, which the space can only shear."""
    x = np.linspace(-0.5, 0.5, 41)
    grid = np.array([[a, 0.0, b] for a in x for b in np.linspace(-0.1, 0.1, 9)])
    quads = [(i * 9 + j, i * 9 + j + 1, i * 9 + j + 10, i * 9 + j + 9) for i in range(40) for j in range(8)]
    mesh = Mesh(grid, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))
    share = np.clip(grid[:, :1] + 0.5, 0.0, 1.0)
    screws = np.zeros((2, 6, 1))
    screws[1, 4, 0] = 0.1
    centers = np.array([[-0.25, 0, 0], [0.25, 0, 0]])
    return ScrewSpace(mesh, np.concatenate([1 - share, share], axis=1), centers, screws)


def lengths(vertices: np.ndarray) -> np.ndarray:
    """Of the edges along the strip, over those at rest."""
    return np.linalg.norm(np.diff(vertices.reshape(41, 9, 3), axis=0), axis=2) / 0.025


@pytest.mark.slow
def test_what_bends_follows_a_bent_target_and_keeps_its_lengths():
    """An arc of the same length."""
    space = strip_space()
    grid = space.rest.vertices
    angle = grid[:, 0] * 1.2
    wanted = np.stack([np.sin(angle) / 1.2, (np.cos(angle) - 1) / 1.2, grid[:, 2]], axis=1)
    points = cloud(space.rest, wanted)
    pose = pose_to_points(space, points)
    found = refine_pose(pose, points)
    before, after = (np.linalg.norm(v - wanted, axis=1).mean() for v in (pose.vertices, found.vertices))
    assert after < 0.15 * before
    assert np.abs(lengths(found.vertices) - 1.0).max() < 0.1
    assert np.abs(lengths(found.vertices) - 1.0).mean() < 0.012


@pytest.mark.slow
def test_what_may_bend_but_is_only_turned_comes_out_rigid():
    space = strip_space()
    turn = axis_angle_matrix(np.array([0.0, 0.0, 1.0]), 0.4)
    wanted = space.rest.vertices @ turn.T
    points = cloud(space.rest, wanted)
    found = refine_pose(pose_to_points(space, points), points).vertices
    moved = fit_rigid(space.rest.vertices, found)
    np.testing.assert_allclose(space.rest.vertices @ moved[:3, :3].T + moved[:3, 3], found, atol=1e-9)
    assert np.linalg.norm(found - wanted, axis=1).mean() < 0.01


@pytest.mark.slow
def test_parts_that_the_space_holds_to_be_one_body_come_apart_where_the_target_does():
    """Base and lid follow one handle that cannot move; the lid has slid."""
    base, faces = box(np.array([1.0, 0.3, 0.6]), np.zeros(3))
    lid, _ = box(np.array([0.5, 0.1, 0.4]), np.array([0.0, 0.25, 0.0]))
    mesh = Mesh(np.concatenate([base, lid]), np.concatenate([faces, faces + 8]))
    space = ScrewSpace(mesh, np.ones((16, 1)), np.zeros((1, 3)), np.zeros((1, 6, 1)))
    wanted = mesh.vertices + np.repeat([[0.0, 0, 0], [0.15, 0, 0]], 8, axis=0)
    found = refine(space, np.zeros(1), cloud(mesh, wanted)).vertices
    assert np.linalg.norm(found - wanted, axis=1).mean() < 0.02
    for part in (slice(0, 8), slice(8, 16)):
        moved = fit_rigid(mesh.vertices[part], found[part])
        np.testing.assert_allclose(mesh.vertices[part] @ moved[:3, :3].T + moved[:3, 3], found[part], atol=1e-9)


@pytest.mark.slow
def test_a_simpler_pose_is_kept_if_nothing_fits_clearly_better(two_boxes):
    wanted = two_boxes.rest.vertices + np.repeat([[0.0, 0, 0], [0.1, 0.1, 0]], 8, axis=0)
    points = cloud(two_boxes.rest, wanted)
    near, far = wanted + [1e-4, 0.0, 0.0], two_boxes.rest.vertices
    kept = refine(two_boxes, np.zeros(1), points, simpler=[near]).vertices
    np.testing.assert_array_equal(kept, near)
    left = refine(two_boxes, np.zeros(1), points, simpler=[far]).vertices
    np.testing.assert_array_equal(left, refine(two_boxes, np.zeros(1), points).vertices)


def test_the_same_seed_gives_the_same_vertices_bit_for_bit(two_boxes):
    points = cloud(two_boxes.rest, two_boxes.rest.vertices + np.repeat([[0.0, 0, 0], [0.1, 0.1, 0]], 8, axis=0))
    first, second = (refine(two_boxes, np.zeros(1), points, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.vertices, second.vertices)
    assert first.residual == second.residual


def test_joints_are_not_refined():
    asset = make_sample("cabinet")
    space = ArticulatedSpace(asset.articulation)
    points = cloud(asset.mesh, asset.mesh.vertices)
    pose = pose_to_points(space, points, config=PoseConfig(starts=1))
    with pytest.raises(NeurokError, match="Only poses on bones"):
        refine_pose(replace(pose), points)
