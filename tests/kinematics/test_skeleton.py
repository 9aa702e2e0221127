"""Bones that are found from a surface alone."""

import numpy as np
import pytest

from neurok.core import Mesh
from neurok.geometry import lie
from neurok.geometry.sampling import sample_surface
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.space import decode
from neurok.posing.pose import pose_to_points


def tube(length: float = 3.0, radius: float = 0.15, rings: int = 40, sides: int = 12) -> Mesh:
    """A closed tube along x that gets thinner, so that its ends are not mistaken for each other."""
    turn = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)
    circle = radius * np.stack([np.zeros(sides), np.cos(turn), np.sin(turn)], axis=1)
    body = np.concatenate([(1.5 - x / length) * circle + [x, 0, 0] for x in np.linspace(0.0, length, rings)])
    vertices = np.concatenate([body, [[0.0, 0, 0], [length, 0, 0]]])
    faces = []
    for k in range(rings - 1):
        for s in range(sides):
            a, b = k * sides + s, k * sides + (s + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    last, (first_tip, last_tip) = (rings - 1) * sides, (len(vertices) - 2, len(vertices) - 1)
    faces += [(first_tip, (s + 1) % sides, s) for s in range(sides)]
    faces += [(last_tip, last + s, last + (s + 1) % sides) for s in range(sides)]
    return Mesh(vertices, np.array(faces))


@pytest.fixture(scope="module")
def arm() -> Mesh:
    return tube()


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0)


def test_a_tube_is_a_chain_of_bones_and_rests_at_zero(arm):
    space = skeleton_space(arm)
    assert len(space.bones) >= 4
    assert space.dim == 3 * (len(space.bones) - 1)
    np.testing.assert_allclose(space.weights.sum(axis=1), 1.0)
    assert (space.weights > 0).sum(axis=1).max() <= 4
    np.testing.assert_allclose(decode(space, np.zeros(space.dim)), arm.vertices, atol=1e-12)
    middles = np.sort(space.weights.T @ arm.vertices[:, 0] / space.weights.sum(axis=0))
    assert np.diff(middles).min() > 0.05, "bones follow each other along the tube"


def test_bends_keep_the_volume(arm):
    space = skeleton_space(arm)
    before = volume(arm.vertices, arm.faces)
    for q in space.sample(6, seed=2):
        assert volume(decode(space, q), arm.faces) == pytest.approx(before, rel=0.15)


@pytest.mark.slow
def test_an_arm_that_is_bent_and_carried_away_is_found_again(arm):
    blend = np.clip((arm.vertices[:, 0] - 1.2) / 0.6, 0.0, 1.0)
    knee = np.array([1.5, 0.0, 0.0])
    target = np.stack(
        [
            lie.apply(lie.rotation_about(np.eye(3)[2], knee, 1.0 * b), x[None])[0]
            for b, x in zip(blend, arm.vertices, strict=True)
        ]
    ) + [0.4, 0.3, 0.0]
    points = sample_surface(target, arm.faces, 4000, np.random.default_rng(0)).interpolate(target)
    found = pose_to_points(skeleton_space(arm, loose=True), points)
    away = np.linalg.norm(found.vertices - target, axis=1).mean()
    assert away < 0.25 * np.linalg.norm(arm.vertices - target, axis=1).mean()
