"""Energies: right gradients, blind to rigid motion, and usable in a simulation."""

from functools import partial

import numpy as np
import pytest
import torch

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.dynamics.energies import Membrane, Quadratic, Springs
from neurok.geometry import lie
from neurok.geometry.topology import unique_edges
from neurok.kinematics import LinearSpace
from neurok.modelling import shapes

NOTHING = World(gravity=(0.0, 0.0, 0.0))


@pytest.fixture
def ball() -> Mesh:
    sphere = shapes.sphere(0.5, 10, 6)
    return Mesh(sphere.vertices, sphere.faces)


def sheet_of(mesh: Mesh) -> Membrane:
    field = MaterialField.uniform(Material(young=1e4, poisson=0.3), mesh.vertex_count)
    return Membrane.of(mesh, field, 0.01)


def edges_of(mesh: Mesh) -> Springs:
    edges = unique_edges(mesh.faces)
    return Springs(edges, np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1), 50.0)


def spring_energy(springs: Springs, x: torch.Tensor) -> torch.Tensor:
    a, b = (x[torch.as_tensor(np.array(springs.edges[:, k]))] for k in range(2))
    stretch = (a - b).norm(dim=-1) - torch.as_tensor(np.array(springs.rest_lengths))
    return 0.5 * (torch.as_tensor(np.array(springs.stiffness)) * stretch**2).sum()


def sheet_energy(sheet: Membrane, x: torch.Tensor) -> torch.Tensor:
    """t A (μ tr E² + λ'/2 (tr E)²) of all triangles."""
    x = x[torch.as_tensor(np.array(sheet.vertices))]
    a, b, c = (x[torch.as_tensor(np.array(sheet.faces[:, i]))] for i in range(3))
    stretch = torch.stack([b - a, c - a], dim=-1) @ torch.as_tensor(np.array(sheet.inverse_frames))
    strain = 0.5 * (stretch.mT @ stretch - torch.eye(2, dtype=x.dtype))
    trace = strain.diagonal(dim1=-2, dim2=-1).sum(-1)
    mu, lam = torch.as_tensor(np.array(sheet.mu)), torch.as_tensor(np.array(sheet.lam))
    return (mu * (strain**2).sum(dim=(-1, -2)) + 0.5 * lam * trace**2).sum()


@pytest.mark.parametrize(("made", "truth"), [(sheet_of, sheet_energy), (edges_of, spring_energy)])
def test_closed_form_gradients_agree_with_automatic_ones(ball, made, truth):
    energy = made(ball)
    x = ball.vertices * [1.1, 0.9, 1.2] + 0.01 * np.random.default_rng(0).normal(size=ball.vertices.shape)
    leaf = torch.tensor(x, requires_grad=True)
    value = truth(energy, leaf)
    (expected,) = torch.autograd.grad(value, leaf)
    mine, gradient = energy.evaluate(x[None, energy.vertices])
    assert abs(mine[0] - float(value.detach())) < 1e-10 * max(1.0, abs(mine[0]))
    np.testing.assert_allclose(gradient[0], expected.numpy()[energy.vertices], atol=1e-9)


@pytest.mark.parametrize("made", [sheet_of, edges_of])
def test_elastic_energies_are_blind_to_rigid_motion(ball, made):
    energy = made(ball)
    moved = lie.apply(lie.rotation_about(np.array([0.0, 0.6, 0.8]), np.array([1.0, 2.0, 3.0]), 2.0), ball.vertices)
    stretched = energy.evaluate(1.1 * moved[None, energy.vertices])[0][0]
    assert energy.evaluate(moved[None, energy.vertices])[0][0] < 1e-12 * stretched


def test_a_stretched_sheet_has_the_energy_of_plane_stress():
    square = Mesh(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    young, poisson, thickness, strain = 1e5, 0.3, 0.02, 1e-4
    field = MaterialField.uniform(Material(young=young, poisson=poisson), 4)
    sheet = Membrane.of(square, field, thickness)
    pulled = square.vertices * [1 + strain, 1 - poisson * strain, 1.0]
    energy = sheet.evaluate(pulled[None])[0][0]
    assert abs(energy / (0.5 * young * strain**2 * thickness) - 1) < 1e-3


class Anchors:
    """Springs of zero length from all vertices to fixed places."""

    def __init__(self, places: np.ndarray) -> None:
        self.places, self.vertices = places, np.arange(len(places))

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return 2.0 * ((x - self.places) ** 2).sum(axis=(1, 2)), 4.0 * (x - self.places)


def anchored(places: np.ndarray, x: torch.Tensor) -> torch.Tensor:
    return 2.0 * ((x - torch.as_tensor(np.array(places))) ** 2).sum()


@pytest.mark.parametrize("as_function", [False, True])
def test_a_breathing_ball_has_the_frequency_of_its_springs(ball, as_function):
    space = LinearSpace(ball, ball.vertices[None])
    masses = np.full(ball.vertex_count, 1.0 / ball.vertex_count)
    energy = partial(anchored, ball.vertices) if as_function else Anchors(ball.vertices)
    body = Body.of(space, Condition(Start(q=[0.1])), masses=masses, energies=[energy], elastic=False)
    rollout = simulate(body, NOTHING, seconds=1)
    rate = np.sqrt(4.0 * ball.vertex_count)
    time = np.arange(rollout.frame_count) * rollout.dt
    # The step is long for this frequency (hω = 0.5), hence the tolerance.
    np.testing.assert_allclose(rollout.q[:, 0], 0.1 * np.cos(rate * time), atol=1e-4)
    assert rollout.report["energy_drift"] < 1e-6


def test_modes_oscillate_each_with_its_own_frequency(ball):
    rng = np.random.default_rng(0)
    fields = np.linalg.qr(rng.normal(size=(3 * ball.vertex_count, 2)))[0].T.reshape(2, -1, 3)
    body = Body.of(
        LinearSpace(ball, fields),
        Condition(Start(q=[0.1, 0.2])),
        masses=np.ones(ball.vertex_count),
        energies=[Quadratic(np.diag([4.0, 9.0]))],
        elastic=False,
    )
    rollout = simulate(body, NOTHING, seconds=2)
    time = np.arange(rollout.frame_count) * rollout.dt
    expected = np.stack([0.1 * np.cos(2 * time), 0.2 * np.cos(3 * time)], axis=1)
    np.testing.assert_allclose(rollout.q, expected, atol=1e-8)
