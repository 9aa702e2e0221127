"""One forward kinematics: trees of joints against a plain recursion, finite differences and the torch twin."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from decoders import joint_nodes
from neurok.geometry import lie
from neurok.geometry.joint_tree import AT_REST, BASE_DOF, JointTree

POSE = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.array([0.3, -0.2, 0.5]), 0.7)


def random_tree(seed: int, count: int) -> JointTree:
    """Turns, slides and rigid links in any order; a node may come before the one that carries it."""
    rng = np.random.default_rng(seed)
    axes, origins = rng.normal(size=(2, count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    kind = rng.integers(5, size=count)[:, None, None]
    generators = np.where(kind > 1, lie.turn_generator(axes, origins), np.where(kind, lie.slide_generator(axes), 0.0))
    shuffled = rng.permutation(count)
    parents = np.zeros(count, dtype=np.int64)
    for place, joint in enumerate(shuffled):
        parents[joint] = rng.choice([0, *(shuffled[:place] + 1)])
    return JointTree(parents, generators)


def by_recursion(tree: JointTree, base: np.ndarray, q: np.ndarray) -> np.ndarray:
    def node(k: int) -> np.ndarray:
        return base if k == 0 else node(tree.parents[k - 1]) @ expm(q[k - 1] * tree.generators[k - 1])

    return np.stack([node(k) for k in range(tree.joint_count + 1)])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(0, 9))
def test_nodes_are_those_of_a_plain_recursion(seed, count):
    tree, q = random_tree(seed, count), np.random.default_rng(seed).normal(size=(3, count))
    for pose in (AT_REST, POSE):
        expected = np.stack([by_recursion(tree, pose, row) for row in q])
        np.testing.assert_allclose(tree.nodes(pose, q), expected, atol=1e-11)
        np.testing.assert_allclose(tree.transforms(pose, q)[0], expected, atol=1e-11)
    free = replace(tree, free=True, center=np.array([0.1, 0.2, -0.3]))
    wide = np.concatenate([np.random.default_rng(seed).normal(size=(3, BASE_DOF)), q], axis=1)
    nodes = free.nodes(POSE, wide)
    np.testing.assert_allclose(
        nodes, [by_recursion(tree, n[0], row) for n, row in zip(nodes, q, strict=True)], atol=1e-11
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 9))
def test_the_torch_twin_moves_nodes_alike(seed, count):
    tree, q = random_tree(seed, count), np.random.default_rng(seed).normal(size=(2, count))
    found = joint_nodes(tree, torch.from_numpy(q))
    np.testing.assert_allclose(found, tree.nodes(AT_REST, q), atol=1e-13)
    np.testing.assert_array_equal(joint_nodes(tree, torch.from_numpy(q[1])), found[1])


def test_nothing_moves_at_rest_without_any_round_off():
    for seed in range(20):
        tree = random_tree(seed, 8)
        expected = np.broadcast_to(np.eye(4), (1, 9, 4, 4))
        np.testing.assert_array_equal(tree.nodes(AT_REST, np.zeros((1, 8))), expected)
        np.testing.assert_array_equal(joint_nodes(tree, torch.zeros(1, 8).double()), expected)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_screws_carry_the_nodes_they_move_and_change_by_commutators(seed, free):
    tree = replace(random_tree(seed, 6), free=free, center=np.array([0.1, 0.2, -0.3]))
    rng, step = np.random.default_rng(seed), 1e-6
    q, qdot = 0.3 * rng.normal(size=(2, 1, tree.dim))
    nodes, screws = tree.transforms(POSE, q)
    for k in range(tree.dim):
        aside = step * (np.arange(tree.dim) == k)
        slope = (tree.nodes(POSE, q + aside) - tree.nodes(POSE, q - aside)) / (2 * step)
        expected = tree.ancestors[:, k, None, None] * (screws[0, k] @ nodes[0])
        np.testing.assert_allclose(slope[0], expected, atol=1e-8)
    velocity = tree.velocities(screws, qdot)
    ahead, behind = (tree.transforms(POSE, q + s * step * qdot) for s in (1, -1))
    np.testing.assert_allclose(velocity @ nodes, (ahead[0] - behind[0]) / (2 * step), atol=1e-8)
    own = np.einsum("de,beij,be->bdij", tree.chains, screws, qdot)
    np.testing.assert_allclose(lie.commutator(own, screws), (ahead[1] - behind[1]) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(own[:, tree.base_dim :], velocity[:, 1:], atol=1e-12)


def test_a_cycle_is_a_mistake():
    with pytest.raises(AssertionError, match="cycle"):
        JointTree(np.array([2, 1]), np.zeros((2, 4, 4)))
