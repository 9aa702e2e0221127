"""Energies: right gradients, blind to rigid motion, and usable in a simulation."""

import numpy as np
import pytest
import torch

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.dynamics.energies import Anchors, Membrane, Quadratic, Springs, elastic_stretch
from neurok.geometry import lie
from neurok.kinematics import LinearSpace
from neurok.modelling import shapes

NOTHING = World(gravity=(0.0, 0.0, 0.0))


@pytest.fixture
def ball() -> Mesh:
    sphere = shapes.sphere(0.5, 10, 6)
    return Mesh(sphere.vertices, sphere.faces)


def energies_of(mesh: Mesh) -> list:
    field = MaterialField.uniform(Material(young=1e4, poisson=0.3), mesh.vertex_count)
    return [
        elastic_stretch(mesh, 50.0),
        Membrane.of(mesh, field, 0.01),
        Springs(np.array([[0, 5], [2, 9]]), np.array([0.1, 0.2]), 30.0),
        Anchors(np.array([1, 4]), np.zeros((2, 3)), 20.0),
    ]


@pytest.mark.parametrize("index", range(4))
def test_closed_form_gradients_agree_with_automatic_ones(ball, index):
    energy = energies_of(ball)[index]
    x = ball.vertices * [1.1, 0.9, 1.2] + 0.01 * np.random.default_rng(0).normal(size=ball.vertices.shape)
    leaf = torch.tensor(x, requires_grad=True)
    value = energy(leaf)
    (expected,) = torch.autograd.grad(value, leaf)
    mine, gradient = energy.evaluate(x[None, energy.vertices])
    assert abs(mine[0] - float(value.detach())) < 1e-10 * max(1.0, abs(mine[0]))
    np.testing.assert_allclose(gradient[0], expected.numpy()[energy.vertices], atol=1e-9)


@pytest.mark.parametrize("index", [0, 1])
def test_elastic_energies_are_blind_to_rigid_motion(ball, index):
    energy = energies_of(ball)[index]
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


@pytest.mark.parametrize("as_function", [False, True])
def test_a_breathing_ball_has_the_frequency_of_its_springs(ball, as_function):
    space = LinearSpace(ball, ball.vertices[None])
    masses = np.full(ball.vertex_count, 1.0 / ball.vertex_count)
    springs = Anchors(np.arange(ball.vertex_count), ball.vertices, 4.0)
    energy = (lambda x: springs(x)) if as_function else springs
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
