"""Bodies on joints that bend: exact down any chain, with right derivatives."""

import numpy as np
import pytest
import torch

from decoders import Decoder
from neurok.core import Articulation, Joint, Mesh
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.kinematics import ArticulatedSpace
from neurok.kinematics.mixed import MixedSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.space import KinematicSpace, decode
from neurok.modelling import shapes

BENDS = 2


def chain() -> Articulation:
    """A base, an arm that turns on it, and a plate that slides and turns on the arm."""
    boxes = [shapes.box((0.2, 0.4, 0.2), (0.0, 0.2 + 0.4 * k, 0.0)) for k in range(3)]
    both = shapes.join(boxes)
    mesh = Mesh(both.vertices, both.faces, part_ids=np.repeat(np.arange(3), [len(b.vertices) for b in boxes]))
    joints = (
        Joint(),
        Joint("revolute", 0, (0.0, 0.0, 1.0), (0.0, 0.4, 0.0), -2.0, 2.0, name="shoulder"),
        Joint("cylindrical", 1, (0.0, 1.0, 0.0), (0.05, 0.8, 0.0), -2.0, 2.0, -0.3, 0.3, name="plate"),
    )
    return Articulation(mesh, joints)


def bending(joints: Articulation, seed: int = 0, across: bool = False) -> ScrewSpace:
    """One still handle for what is rigid and two that blend over the last part, or over all parts."""
    rng, mesh = np.random.default_rng(seed), joints.mesh
    weights = np.zeros((mesh.vertex_count, 3))
    soft = np.ones(mesh.vertex_count, dtype=bool) if across else joints.vertex_parts == 2
    weights[~soft, 0] = 1.0
    share = rng.uniform(0.1, 0.9, soft.sum())
    weights[soft, 1], weights[soft, 2] = share, 1.0 - share
    screws = 0.3 * rng.normal(size=(3, 6, BENDS))
    screws[0] = 0.0
    centers = rng.normal(size=(3, 3)) * 0.2 + [0.0, 1.0, 0.0]
    return ScrewSpace(mesh, weights, centers, screws)


@pytest.fixture(params=[False, True], ids=["last part bends", "handles reach across parts"])
def space(request) -> MixedSpace:
    joints = chain()
    return MixedSpace(joints, bending(joints, across=request.param))


Q, V = 0.5 * np.random.default_rng(7).normal(size=(2, 3, 3 + BENDS))


def test_zero_is_the_rest_shape(space):
    np.testing.assert_allclose(decode(space, np.zeros(space.dim)), space.rest.vertices, atol=1e-12)


def test_coordinates_are_the_joint_values_and_then_the_bends(space):
    assert space.dim == 5
    assert space.names == (*space.joints.dof_names, "bend 0", "bend 1")
    np.testing.assert_array_equal(space.limits, np.concatenate([space.joints.limits, space.screws.limits]))
    np.testing.assert_array_equal(space.is_length, [False, False, True, False, False])
    draws = space.sample(50, seed=3)
    np.testing.assert_array_equal(draws[:, :3], ArticulatedSpace(space.joints).sample(50, 3))
    np.testing.assert_array_equal(draws[:, 3:], space.screws.sample(50, 3))


def test_features_times_shape_are_the_decoded_positions(space):
    values, _ = space.shape(Q)
    for k, q in enumerate(Q):
        np.testing.assert_allclose(space.features @ values[k], decode(space, q), atol=1e-12)
    np.testing.assert_allclose(space.features @ space.unity, 1.0)
    np.testing.assert_allclose(space.weights.sum(axis=1), 1.0)


def test_two_joints_carry_a_bent_part_exactly(space):
    """Bend the mesh first; an articulation of the bent mesh then says where the joints take it."""
    for q in Q:
        bent = space.rest.with_vertices(decode(space.screws, q[3:]))
        carried = Articulation(bent, space.joints.joints).pose(q[:3]).vertices
        assert np.abs(carried - decode(ArticulatedSpace(space.joints), q[:3])).max() > 0.01
        np.testing.assert_allclose(decode(space, q), carried, atol=1e-12)


def test_without_bends_it_is_the_space_of_its_joints_and_without_turns_that_of_its_screws(space):
    still = np.zeros(3)
    for q in Q:
        jointed = decode(ArticulatedSpace(space.joints), q[:3])
        np.testing.assert_allclose(decode(space, np.concatenate([q[:3], np.zeros(BENDS)])), jointed, atol=1e-12)
        bent = decode(space.screws, q[3:])
        np.testing.assert_allclose(decode(space, np.concatenate([still, q[3:]])), bent, atol=1e-12)


def test_derivatives_agree_with_finite_differences_and_their_rates_too(space):
    step = 1e-6
    slopes, rates = space.shape(Q)[1], space.shape_rate(Q, V)
    numeric = (space.shape(Q + step * V)[0] - space.shape(Q - step * V)[0]) / (2 * step)
    np.testing.assert_allclose(np.einsum("bd,bdkc->bkc", V, slopes), numeric, atol=1e-8)
    change = (space.shape(Q + step * V)[1] - space.shape(Q - step * V)[1]) / (2 * step)
    assert np.abs(change).max() > 0.1
    np.testing.assert_allclose(rates, change, atol=1e-8)


def test_derivatives_agree_with_automatic_ones(space):
    slopes, rates = space.shape(Q)[1], space.shape_rate(Q, V)
    for k in range(len(Q)):
        at, going = torch.from_numpy(Q[k]), torch.from_numpy(V[k])
        jacobian, change = torch.func.jvp(torch.func.jacfwd(Decoder(space).decode), (at,), (going,))
        np.testing.assert_allclose(np.moveaxis(space.features @ slopes[k], 0, -1), jacobian, atol=1e-10)
        np.testing.assert_allclose(np.moveaxis(space.features @ rates[k], 0, -1), change, atol=1e-10)


@pytest.mark.parametrize("free", [False, True])
def test_its_mechanics_are_those_of_all_its_vertices(space, free):
    """Kinetic energy from vertex velocities, and the force that belongs to it."""
    masses = np.random.default_rng(2).random(space.rest.vertex_count)
    mechanics = FeatureMechanics.of(space, masses, free)
    q, qdot = 0.4 * np.random.default_rng(3).normal(size=(2, 1, mechanics.dim))
    at = np.eye(4)
    step = 1e-5
    ahead, behind = (mechanics.positions(at, (q + sign * step * qdot)[0]) for sign in (1, -1))
    moving = (ahead - behind) / (2 * step)
    energy = 0.5 * float((masses[:, None] * moving**2).sum())
    assert mechanics.motion(at, q, qdot).kinetic[0] == pytest.approx(energy, rel=1e-7)
    moved = q + step * np.concatenate([np.eye(mechanics.dim), -np.eye(mechanics.dim)])
    kinetic = mechanics.motion(at, moved, np.repeat(qdot, len(moved), axis=0)).kinetic
    slope = (kinetic[: mechanics.dim] - kinetic[mechanics.dim :]) / (2 * step)
    np.testing.assert_allclose(mechanics.motion(at, q, qdot).kinetic_force[0], slope, atol=1e-6)


def test_a_run_keeps_its_energy():
    joints = chain()
    space = MixedSpace(joints, bending(joints))
    start = Condition(Start(qdot=np.array([1.0, -1.0, 0.2, 1.0, -0.5])))
    rollout = simulate(Body.of(space, start), World(gravity=np.zeros(3)), seconds=0.2, fps=60, dt=1 / 120)
    assert rollout.status == "ok"
    assert np.ptp(rollout.q, axis=0).min() > 1e-4, "joints and bends all move"
    assert rollout.report["energy_drift"] < 5e-3


def test_elasticity_acts_on_what_bends_alone(space):
    """Vertices of handles that blend; those of a part that follows one handle are rigid."""
    screws = space.screws
    blended = (screws.weights > 0.01).sum(axis=1) > 1
    np.testing.assert_array_equal(screws.bends, blended)
    np.testing.assert_array_equal(space.bends, blended)


def test_a_component_that_follows_one_handle_does_not_bend():
    joints = chain()
    rigid = ScrewSpace(joints.mesh, np.eye(3)[joints.vertex_parts], np.zeros((3, 3)), np.ones((3, 6, 1)))
    assert not rigid.bends.any()
    assert isinstance(MixedSpace(joints, rigid), KinematicSpace)
