from dataclasses import replace

import numpy as np
import pytest

from neurok.core.mesh import Mesh
from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.sampling import sample_surface
from neurok.posing.nonrigid import FROM_POSE, FROM_REST, Cloud, Skin, moved_rigidly, polished, stiffened
from neurok.posing.validation import Judge

FEW = replace(FROM_REST, samples=800, ties=0.03)


def strips() -> Mesh:
    """Two flat strips along x, one above the other."""
    grid = np.array([[a, 0.0, b] for a in np.linspace(-0.5, 0.5, 31) for b in np.linspace(-0.1, 0.1, 5)])
    corners = np.array([i * 5 + j for i in range(30) for j in range(4)])[:, None]
    faces = np.concatenate([corners + [0, 1, 6], corners + [0, 6, 5]])
    return Mesh(np.concatenate([grid, grid + [0.0, 0.3, 0.0]]), np.concatenate([faces, faces + 155]))


def arc(points: np.ndarray) -> np.ndarray:
    """The lower strip bent, its lengths kept; the upper one as it was."""
    angle = points[:, 0]
    bent = np.stack([np.sin(angle), np.cos(angle) - 1, points[:, 2]], axis=1)
    return np.where(np.arange(len(points))[:, None] < 155, bent, points)


def cloud(mesh: Mesh, vertices: np.ndarray, seed: int = 1) -> np.ndarray:
    return sample_surface(vertices, mesh.faces, 4000, np.random.default_rng(seed)).interpolate(vertices)


@pytest.fixture(scope="module")
def bent() -> tuple[Mesh, np.ndarray, np.ndarray]:
    mesh = strips()
    wanted = arc(mesh.vertices)
    return mesh, wanted, cloud(mesh, wanted)


def test_a_bent_strip_is_reached_from_rest_with_its_lengths_and_what_is_rigid_stays(bent):
    mesh, wanted, points = bent
    found = polished(Skin(mesh), mesh.vertices, np.array([False, True]), Cloud(points), FEW)
    np.testing.assert_array_equal(found[155:], mesh.vertices[155:])
    assert np.linalg.norm(found - wanted, axis=1)[:155].mean() < 0.01
    lengths = np.linalg.norm(np.diff(found[:155].reshape(31, 5, 3), axis=0), axis=2)
    assert np.abs(lengths * 30 - 1.0).mean() < 0.02


def test_an_exact_start_hardly_moves(bent):
    mesh, wanted, points = bent
    found = polished(Skin(mesh), wanted, np.array([False, True]), Cloud(points), FROM_POSE)
    assert np.linalg.norm(found - wanted, axis=1).max() < 0.01


def test_size_does_not_matter(bent):
    mesh, _, points = bent
    few, soft = replace(FEW, rounds=8), np.array([False, False])
    found = polished(Skin(mesh), mesh.vertices, soft, Cloud(points), few)
    large = Mesh(4.0 * mesh.vertices, mesh.faces)
    again = polished(Skin(large), large.vertices, soft, Cloud(4.0 * points), few)
    np.testing.assert_allclose(again, 4.0 * found, atol=1e-9)


def test_what_is_as_good_rigid_comes_out_rigid_and_what_is_bent_does_not(bent):
    mesh, wanted, points = bent
    rng, skin = np.random.default_rng(3), Skin(mesh)
    rough = wanted + 0.004 * rng.normal(size=wanted.shape)
    found = stiffened(skin, rough, Judge(mesh, points, 1500, 0), np.array([True, True]))
    np.testing.assert_array_equal(moved_rigidly(skin, found), [False, True])
    np.testing.assert_array_equal(found[:155], rough[:155])
    moved = fit_rigid(mesh.vertices[155:], found[155:])
    np.testing.assert_allclose(apply(moved, mesh.vertices[155:]), found[155:], atol=1e-9)
    assert np.linalg.norm(found[155:] - wanted[155:], axis=1).mean() < 0.01


def test_what_must_be_rigid_is(bent):
    mesh, wanted, points = bent
    skin = Skin(mesh)
    found = stiffened(skin, wanted, Judge(mesh, points, 1500, 0), np.array([False, False]), np.array([True, True]))
    assert moved_rigidly(skin, found).all()


def test_normals_of_a_flat_cloud_stand_on_it():
    flat = np.random.default_rng(0).random((400, 3)) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(np.abs(Cloud(flat).normals), np.broadcast_to([0.0, 1.0, 0.0], (400, 3)), atol=1e-9)
