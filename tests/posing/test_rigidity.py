import numpy as np
import pytest

from neurok.core.mesh import Mesh
from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.sampling import sample_surface
from neurok.posing.components import Components, prefer_rigid, rigid_components
from neurok.posing.registration import HoldOut

BOTH, NEITHER = np.array([True, True]), np.array([False, False])


@pytest.fixture(scope="module")
def bent() -> tuple[Components, np.ndarray, HoldOut]:
    """Two flat strips; in the target the lower one is an arc of the same length and the upper one is as it was."""
    grid = np.array([[a, 0.0, b] for a in np.linspace(-0.5, 0.5, 31) for b in np.linspace(-0.1, 0.1, 5)])
    corners = np.array([i * 5 + j for i in range(30) for j in range(4)])[:, None]
    faces = np.concatenate([corners + [0, 1, 6], corners + [0, 6, 5]])
    mesh = Mesh(np.concatenate([grid, grid + [0.0, 0.3, 0.0]]), np.concatenate([faces, faces + 155]))
    arc = np.stack([np.sin(grid[:, 0]), np.cos(grid[:, 0]) - 1, grid[:, 2]], axis=1)
    wanted = np.concatenate([arc, mesh.vertices[155:]])
    points = sample_surface(wanted, mesh.faces, 4000, np.random.default_rng(1)).interpolate(wanted)
    return Components(mesh), wanted, HoldOut(mesh, points, 1500, 0)


@pytest.fixture(scope="module")
def rough(bent) -> np.ndarray:
    """The truth with a little noise at every vertex."""
    return bent[1] + 0.004 * np.random.default_rng(3).normal(size=bent[1].shape)


def test_what_is_as_good_rigid_comes_out_rigid_and_what_is_bent_does_not(bent, rough):
    components, wanted, held_out = bent
    found = prefer_rigid(components, rough, held_out, BOTH)
    np.testing.assert_array_equal(rigid_components(components, found), [False, True])
    np.testing.assert_array_equal(found[:155], rough[:155])
    rest = components.mesh.vertices[155:]
    np.testing.assert_allclose(apply(fit_rigid(rest, found[155:]), rest), found[155:], atol=1e-9)
    assert np.linalg.norm(found[155:] - wanted[155:], axis=1).mean() < 0.01


def test_what_must_be_rigid_is(bent):
    components, wanted, held_out = bent
    found = prefer_rigid(components, wanted, held_out, NEITHER, BOTH)
    assert rigid_components(components, found).all()


def test_the_tolerance_decides(bent, rough, monkeypatch):
    components, _, held_out = bent
    for tolerance, expected in ((0.0, [False, False]), (np.inf, [True, True])):
        monkeypatch.setattr("neurok.posing.components.TOLERANCE", tolerance)
        found = prefer_rigid(components, rough, held_out, BOTH)
        np.testing.assert_array_equal(rigid_components(components, found), expected)


def test_what_is_not_allowed_stays_as_it_is(bent, rough):
    components, _, held_out = bent
    np.testing.assert_array_equal(prefer_rigid(components, rough, held_out, NEITHER), rough)
