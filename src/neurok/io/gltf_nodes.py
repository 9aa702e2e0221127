"""The node tree of a glTF file and where its nodes stand, at rest or over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.geometry import rigid
from neurok.io.gltf_document import Document, Record, numbers

Poses = Mapping[int, Mapping[str, np.ndarray]]
"""Animated ``translation``, ``rotation`` (x, y, z, w) and ``scale`` by node, each ``(T, n)``."""


@dataclass(frozen=True)
class Tree:
    """Who hangs on whom."""

    parents: dict[int, int]
    order: tuple[int, ...]
    """All nodes, parents first."""

    visible: tuple[int, ...]
    """Nodes of the scene, depth first, as the file lists them."""


def node_tree(doc: Document) -> Tree:
    """The tree of the file's nodes; a node with two parents or one that is its own ancestor is an error."""
    nodes = doc.items("nodes")
    children = [_children(doc, node) for node in nodes]
    parents: dict[int, int] = {}
    for index, below in enumerate(children):
        for child in below:
            if child in parents:
                raise doc.error(f"node {child} has two parents")
            parents[child] = index
    roots = [i for i in range(len(nodes)) if i not in parents]
    order = _depth_first(roots, children)
    if len(order) != len(nodes):
        raise doc.error("its nodes form a cycle")
    return Tree(parents, tuple(order), tuple(_depth_first(_scene_roots(doc, roots), children)))


def _children(doc: Document, node: Record) -> list[int]:
    below = node.get("children", [])
    for child in below:
        doc.item("nodes", child)
    return list(below)


def _scene_roots(doc: Document, roots: list[int]) -> list[int]:
    if not doc.items("scenes"):
        return roots
    listed = doc.item("scenes", doc.json.get("scene", 0)).get("nodes", [])
    for index in listed:
        doc.item("nodes", index)
    return list(dict.fromkeys(listed))


def _depth_first(roots: list[int], children: list[list[int]]) -> list[int]:
    order: dict[int, None] = {}
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node not in order:
            order[node] = None
            stack.extend(reversed(children[node]))
    return list(order)


def world_matrices(doc: Document, tree: Tree, poses: Poses | None = None) -> list[np.ndarray]:
    """World-from-node transform of every node: ``(4, 4)``, or ``(T, 4, 4)`` where an animation moves it."""
    poses = poses or {}
    nodes = doc.items("nodes")
    worlds: list[np.ndarray] = [np.eye(4)] * len(nodes)
    for index in tree.order:
        local = local_matrix(nodes[index], poses.get(index, {}))
        worlds[index] = worlds[tree.parents[index]] @ local if index in tree.parents else local
    return worlds


def local_matrix(node: Record, pose: Mapping[str, np.ndarray]) -> Float[np.ndarray, "*T 4 4"]:
    """Parent-from-node transform; an animated node follows its translation, rotation and scale."""
    if "matrix" in node and not pose:
        return numbers(node, "matrix", tuple(np.eye(4).reshape(-1))).reshape(4, 4).T
    moved = pose.get("translation", numbers(node, "translation", (0.0, 0.0, 0.0)))
    turned = pose.get("rotation", numbers(node, "rotation", (0.0, 0.0, 0.0, 1.0)))
    scaled = pose.get("scale", numbers(node, "scale", (1.0, 1.0, 1.0)))
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    turned = np.where(length > 1e-12, turned, np.array([0.0, 0.0, 0.0, 1.0]))
    linear = rigid.quaternion_to_matrix(np.roll(turned, 1, axis=-1)) * scaled[..., None, :]
    shape = np.broadcast_shapes(linear.shape[:-2], moved.shape[:-1])
    return rigid.compose(np.broadcast_to(linear, (*shape, 3, 3)), np.broadcast_to(moved, (*shape, 3)))
