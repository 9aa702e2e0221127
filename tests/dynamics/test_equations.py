"""The fast mechanics of rigid trees, handles and linear spaces agree with automatic differentiation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders import Decoder
from neurok.catalogue.samples import make_sample
from neurok.dynamics import World
from neurok.dynamics.body import Body
from neurok.dynamics.reduced.build import assemble, bind, mechanics_of
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.geometry import lie
from neurok.kinematics import ArticulatedSpace, LinearSpace

POSE = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.array([0.3, -0.2, 0.5]), 0.7)
FIELD = np.array([0.3, -9.81, 1.0])


def assert_same_mechanics(fast, slow, seed: int) -> None:
    """Everything the integrators ask for, at a random moment."""
    rng = np.random.default_rng(seed)
    q, qdot = 0.5 * rng.normal(size=(2, fast.dim)), rng.normal(size=(2, fast.dim))
    a, b = fast.motion(POSE, q, qdot), slow.motion(POSE, q, qdot)
    scale = max(1.0, float(np.abs(b.mass_matrices()).max())) * 10
    for name in ("momentum", "kinetic", "kinetic_force"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-8 * scale, rtol=1e-8)
    np.testing.assert_allclose(a.mass_matrices(), b.mass_matrices(), atol=1e-8 * scale)
    np.testing.assert_allclose(a.field_force(FIELD), b.field_force(FIELD), atol=1e-8 * scale)
    np.testing.assert_allclose(a.field_energy(FIELD), b.field_energy(FIELD), atol=1e-8 * scale)
    target_a, target_b = a.coast(0.1), b.coast(0.1)
    later = q + 0.1 * qdot
    a, b = fast.motion(POSE, later, qdot), slow.motion(POSE, later, qdot)
    one, other = (mechanics.motion(POSE, later[:1], qdot[:1]) for mechanics in (fast, slow))
    for x, y in zip(one.drawn(target_a, 0.1, FIELD), other.drawn(target_b, 0.1, FIELD), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-8 * scale)
    vertices = np.array([0, 3, 5])
    forces = rng.normal(size=(2, 3, 3))
    mine, theirs = fast.points(vertices), slow.points(vertices)
    np.testing.assert_allclose(mine.positions(a), theirs.positions(b), atol=1e-9)
    np.testing.assert_allclose(mine.velocities(a), theirs.velocities(b), atol=1e-8)
    np.testing.assert_allclose(mine.pull(a, forces), theirs.pull(b, forces), atol=1e-8)
    np.testing.assert_allclose(mine.jacobian(a), theirs.jacobian(b), atol=1e-8)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), parts=st.integers(2, 6), free=st.booleans())
def test_a_rigid_tree_has_the_mechanics_of_its_decoder(random_tree, seed, parts, free):
    space = ArticulatedSpace(random_tree(seed, parts))
    masses = np.random.default_rng(seed).uniform(0.1, 1.0, space.rest.vertex_count)
    fast = mechanics_of(Body.of(space, masses=masses, free=free)) if space.dim else None
    if fast is not None:
        assert_same_mechanics(fast, FeatureMechanics.of(Decoder(space), masses, free), seed)


@pytest.mark.parametrize("free", [False, True])
def test_a_linear_space_has_the_mechanics_of_its_decoder(random_tree, free):
    rest = random_tree(3, 2).mesh
    rng = np.random.default_rng(0)
    space = LinearSpace(rest, rng.normal(size=(3, rest.vertex_count, 3)))
    masses = rng.uniform(0.1, 1.0, rest.vertex_count)
    slow = FeatureMechanics.of(Decoder(space), masses, free)
    assert_same_mechanics(FeatureMechanics.of(space, masses, free), slow, 1)


@pytest.mark.parametrize("free", [False, True])
def test_the_kinetic_force_of_a_tree_is_the_slope_of_its_kinetic_energy(random_tree, free):
    space = ArticulatedSpace(random_tree(11, 6))
    mechanics = mechanics_of(Body.of(space, free=free, thickness=0.1))
    q, qdot = np.random.default_rng(0).normal(size=(2, 1, mechanics.dim)) * [[[0.3]], [[1.0]]]
    moved = q + 1e-5 * np.concatenate([np.eye(mechanics.dim), -np.eye(mechanics.dim)])
    kinetic = mechanics.motion(POSE, moved, np.repeat(qdot, len(moved), axis=0)).kinetic
    expected = (kinetic[: mechanics.dim] - kinetic[mechanics.dim :]) / 2e-5
    found = mechanics.motion(POSE, q, qdot).kinetic_force[0]
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_rebasing_a_free_object_changes_neither_where_it_is_nor_how_it_moves(random_tree):
    space = ArticulatedSpace(random_tree(5, 5))
    mechanics = mechanics_of(Body.of(space, free=True, thickness=0.1))
    rng = np.random.default_rng(2)
    q, qdot = 0.4 * rng.normal(size=mechanics.dim), rng.normal(size=mechanics.dim)
    before = mechanics.motion(POSE, q[None], qdot[None])
    pose, new_q, p = mechanics.rebase(POSE, q, before.momentum[0])
    still = mechanics.motion(pose, new_q[None], np.zeros((1, mechanics.dim)))
    after = mechanics.motion(pose, new_q[None], np.linalg.solve(still.mass_matrices()[0], p)[None])
    points = mechanics.points(np.arange(space.rest.vertex_count))
    np.testing.assert_allclose(points.positions(after), points.positions(before), atol=1e-10)
    np.testing.assert_allclose(points.velocities(after), points.velocities(before), atol=1e-8)
    assert np.abs(new_q[:6]).max() == 0


def test_compiled_rates_of_a_tree_are_those_of_its_equations():
    from neurok.dynamics.reduced.tree_loops import tree_of, tree_rates

    asset = make_sample("lamp")
    bound = bind(Body.of(asset, joint_damping=0.3), World())
    system, _ = assemble([bound])
    rng = np.random.default_rng(3)
    tree = tree_of(bound.mechanics, bound.loads, bound.pose)
    assert tree is not None
    for _ in range(5):
        q, v = rng.normal(size=(2, system.dim))
        p, f, mass = np.empty(system.dim), np.empty(system.dim), np.empty((system.dim, system.dim))
        kinetic, potential, lost = tree_rates(tree, q, v, p, f, mass)
        motions = system.motions((bound.pose,), q[None], v[None])
        momentum, rates = system.rates((bound.pose,), q[None], v[None], np.zeros(1))
        np.testing.assert_allclose(p, momentum[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(f, rates[0], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(mass, system.mass_matrix(motions), rtol=1e-10, atol=1e-13)
        assert kinetic == pytest.approx(motions[0].kinetic[0])
        assert potential == pytest.approx(system.stored(motions, 0.0), rel=1e-9, abs=1e-9)
        assert lost >= 0.0
