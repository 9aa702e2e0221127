from dataclasses import replace

import numpy as np
import pytest

from neurok.core.mesh import Mesh
from neurok.geometry.sampling import sample_surface
from neurok.posing.components import Components
from neurok.posing.nonrigid import DeformationProxy, NonRigidConfig, OrientedPoints, register_nonrigid
from neurok.posing.refine import FROM_POSE

FEW = NonRigidConfig(30, data_weight=(0.002, 0.2), outlier_distance=(0.5, 0.05), samples=800, separation=0.03)


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


def proxy_of(mesh: Mesh) -> DeformationProxy:
    return DeformationProxy(Components(mesh))


def cloud(mesh: Mesh, vertices: np.ndarray, seed: int = 1) -> np.ndarray:
    return sample_surface(vertices, mesh.faces, 4000, np.random.default_rng(seed)).interpolate(vertices)


@pytest.fixture(scope="module")
def bent() -> tuple[Mesh, np.ndarray, np.ndarray]:
    mesh = strips()
    wanted = arc(mesh.vertices)
    return mesh, wanted, cloud(mesh, wanted)


def test_a_bent_strip_is_reached_from_rest_with_its_lengths_and_what_is_rigid_stays(bent):
    mesh, wanted, points = bent
    found = register_nonrigid(proxy_of(mesh), mesh.vertices, np.array([False, True]), OrientedPoints(points), FEW)
    np.testing.assert_array_equal(found[155:], mesh.vertices[155:])
    assert np.linalg.norm(found - wanted, axis=1)[:155].mean() < 0.01
    lengths = np.linalg.norm(np.diff(found[:155].reshape(31, 5, 3), axis=0), axis=2)
    assert np.abs(lengths * 30 - 1.0).mean() < 0.02


def test_an_exact_start_hardly_moves(bent):
    mesh, wanted, points = bent
    found = register_nonrigid(proxy_of(mesh), wanted, np.array([False, True]), OrientedPoints(points), FROM_POSE)
    assert np.linalg.norm(found - wanted, axis=1).max() < 0.01


def test_size_does_not_matter(bent):
    mesh, _, points = bent
    few, soft = replace(FEW, rounds=8), np.array([False, False])
    found = register_nonrigid(proxy_of(mesh), mesh.vertices, soft, OrientedPoints(points), few)
    large = Mesh(4.0 * mesh.vertices, mesh.faces)
    again = register_nonrigid(proxy_of(large), large.vertices, soft, OrientedPoints(4.0 * points), few)
    np.testing.assert_allclose(again, 4.0 * found, atol=1e-9)


def test_normals_of_a_flat_cloud_stand_on_it():
    flat = np.random.default_rng(0).random((400, 3)) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(
        np.abs(OrientedPoints(flat).normals), np.broadcast_to([0.0, 1.0, 0.0], (400, 3)), atol=1e-9
    )
