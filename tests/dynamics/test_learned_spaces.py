"""Spaces of handles on twists, as a network makes them, but with screws by hand: no weights are needed."""

import numpy as np
import pytest

from neurok.core import Mesh
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.dynamics.reduced.build import assemble, bind
from neurok.dynamics.reduced.collocation import GaussStepper
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.kinematics import KinematicSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.space import ShapeMotion
from neurok.modelling import shapes

POSE = np.array([[0.6, 0.0, 0.8, 0.3], [0.0, 1.0, 0.0, -0.2], [-0.8, 0.0, 0.6, 0.5], [0.0, 0.0, 0.0, 1.0]])


def made_space(seed: int = 0, handles: int = 4, dim: int = 3) -> ScrewSpace:
    """A box whose vertices follow a few handles, blended."""
    rng = np.random.default_rng(seed)
    box = shapes.box((0.4, 0.6, 0.3), (0.0, 0.3, 0.0))
    mesh = Mesh(box.vertices, box.faces)
    weights = rng.random((mesh.vertex_count, handles)) ** 4
    weights[: mesh.vertex_count // 2, 1:] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    centers, screws = 0.3 * rng.normal(size=(handles, 3)), rng.normal(size=(handles, 6, dim))
    screws[:, 3:] *= 0.1
    return ScrewSpace(mesh, weights, centers, 0.3 * screws)


class Plain(KinematicSpace):
    """The same space without its short way from forces to coordinates."""

    def __init__(self, space: ScrewSpace) -> None:
        self.rest, self.dim = space.rest, space.dim
        self.shape, self.shape_rate = space.shape, space.shape_rate


@pytest.mark.parametrize("free", [False, True])
def test_the_short_way_from_forces_to_coordinates_is_the_long_one(free):
    space = made_space()
    rng = np.random.default_rng(1)
    masses = rng.random(space.rest.vertex_count)
    fast = FeatureMechanics.of(space, masses, free)
    slow = FeatureMechanics(Plain(space), fast.features, fast.gram, fast.first, fast.unity, fast.base, fast.weights)
    assert isinstance(slow.motion(POSE, *np.zeros((2, 1, slow.dim))).inner, ShapeMotion)
    q, qdot = 0.5 * rng.normal(size=(2, 2, fast.dim))
    a, b = fast.motion(POSE, q, qdot), slow.motion(POSE, q, qdot)
    for name in ("y", "rate", "slopes", "momentum", "kinetic", "kinetic_force"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-11)
    np.testing.assert_allclose(a.field_force(POSE[0, :3]), b.field_force(POSE[0, :3]), atol=1e-11)
    np.testing.assert_allclose(fast.positions(POSE, q[0]), fast.features @ a.y[0], atol=1e-12)


@pytest.mark.parametrize("free", [False, True])
def test_the_kinetic_force_is_the_derivative_of_the_kinetic_energy(free):
    space = made_space(2)
    mechanics = FeatureMechanics.of(space, np.ones(space.rest.vertex_count), free)
    q, qdot = 0.4 * np.random.default_rng(3).normal(size=(2, 1, mechanics.dim))
    moved = q + 1e-5 * np.concatenate([np.eye(mechanics.dim), -np.eye(mechanics.dim)])
    kinetic = mechanics.motion(POSE, moved, np.repeat(qdot, len(moved), axis=0)).kinetic
    slope = (kinetic[: mechanics.dim] - kinetic[mechanics.dim :]) / 2e-5
    np.testing.assert_allclose(mechanics.motion(POSE, q, qdot).kinetic_force[0], slope, atol=1e-7)


class Limited(ScrewSpace):
    """A space whose coordinates have limits."""

    @property
    def limits(self) -> np.ndarray:
        return np.tile([-3.0, 3.0], (self.dim, 1))

    @property
    def limit_softness(self) -> float:
        return 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_energy_stays_while_a_space_bounces_off_its_limits(seed):
    made = made_space(seed)
    space = Limited(made.rest, made.weights, made.centers, made.screws)
    rollout = simulate(
        Body.of(space, Condition(Start(qdot=np.full(3, 3.0))), elastic=False), seconds=2.0, fps=60, dt=1 / 60
    )
    low, high = space.limits.T
    assert ((rollout.q < low) | (rollout.q > high)).any()
    assert rollout.report["energy_drift"] < 5e-3


def test_newtons_matrix_needs_no_differences_by_rates_where_no_load_feels_them():
    system, state = assemble([bind(Body.of(made_space(5), Condition(Start(q=[0.3, -0.2, 0.1]))), World())])
    stepper, rates = GaussStepper(system), np.array([[1.0, -2.0, 0.5]] * 3)
    short = stepper._find_slopes(state, 1 / 60, rates)
    system.__dict__["feels_rates"] = True
    whole_matrix = stepper._find_slopes(state, 1 / 60, rates)
    for name in ("p_v", "p_q", "f_v", "f_q"):
        mine, theirs = getattr(short, name), getattr(whole_matrix, name)
        np.testing.assert_allclose(mine, theirs, atol=1e-4 * np.abs(theirs).max())


def test_shares_of_the_time_add_up_to_no_more_than_all_of_it():
    report = simulate(Body.of(made_space(), Condition(Start(qdot=np.ones(3)))), seconds=0.2, fps=60).report
    shares = [value for name, value in report.items() if name.startswith("time_")]
    assert {"time_kinematics", "time_newton_matrix", "time_other"} <= set(report)
    assert sum(shares) == pytest.approx(1.0, abs=1e-6)


def test_two_runs_of_a_learned_space_are_equal_to_the_last_bit():
    runs = [simulate(Body.of(made_space(4), Condition(Start(qdot=np.ones(3)))), seconds=0.5, fps=60) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].positions, runs[1].positions)
    np.testing.assert_array_equal(runs[0].qdot, runs[1].qdot)
