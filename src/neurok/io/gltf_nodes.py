"""The node tree of a glTF file and where its nodes stand, at rest or over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core.finish import numbers
from neurok.geometry import lie
from neurok.io.gltf_document import Document, Record

Poses = Mapping[int, Mapping[str, np.ndarray]]
"""Animated ``translation``, ``rotation`` (x, y, z, w) and ``scale`` by node, each ``(T, n)``."""

REST = (("translation", (0.0, 0.0, 0.0)), ("rotation", (0.0, 0.0, 0.0, 1.0)), ("scale", (1.0, 1.0, 1.0)))
"""What a node is by default."""


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
    shown = [[] if _is_hidden(node) else below for node, below in zip(nodes, children, strict=True)]
    visible = (i for i in _depth_first(_scene_roots(doc, roots), shown) if not _is_hidden(nodes[i]))
    return Tree(parents, tuple(order), tuple(visible))


def _is_hidden(node: Record) -> bool:
    """Whether a node, and all below it, is invisible at rest (KHR_node_visibility)."""
    return node.get("extensions", {}).get("KHR_node_visibility", {}).get("visible") is False


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


def local_matrices(doc: Document) -> list[np.ndarray]:
    """Parent-from-node transform of every node as the file stores it."""
    nodes = doc.items("nodes")
    if not nodes:
        return []
    placed = transform_matrices(*(np.stack([numbers(node, key, rest) for node in nodes]) for key, rest in REST))
    identity = tuple(np.eye(4).reshape(-1))
    return [
        numbers(node, "matrix", identity).reshape(4, 4).T if "matrix" in node else placed[index]
        for index, node in enumerate(nodes)
    ]


def posed_matrices(doc: Document, rest: list[np.ndarray], poses: Poses, frame_count: int) -> list[np.ndarray]:
    """The same over time: ``(T, 4, 4)`` for animated nodes; what their tracks leave out stays as stored."""
    if not poses:
        return rest
    nodes = doc.items("nodes")
    values = []
    for key, default in REST:
        rows = [poses[index].get(key, numbers(nodes[index], key, default)) for index in poses]
        values.append(np.stack([np.broadcast_to(row, (frame_count, len(default))) for row in rows]))
    posed = list(rest)
    for index, matrices in zip(poses, transform_matrices(*values), strict=True):
        posed[index] = matrices
    return posed


def world_matrices(tree: Tree, locals_: list[np.ndarray]) -> list[np.ndarray]:
    """World-from-node transform of every node: ``(T, 4, 4)`` where it or an ancestor moves, else ``(4, 4)``."""
    worlds = list(locals_)
    for index in tree.order:
        if index in tree.parents:
            worlds[index] = worlds[tree.parents[index]] @ worlds[index]
    return worlds


def transform_matrices(
    moved: Float[np.ndarray, "*T 3"], turned: Float[np.ndarray, "*T 4"], scaled: Float[np.ndarray, "*T 3"]
) -> Float[np.ndarray, "*T 4 4"]:
    """Translation, rotation (x, y, z, w) and scale as matrices; a quaternion of zeros turns nothing."""
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    turned = np.where(length > 1e-12, turned, np.array([0.0, 0.0, 0.0, 1.0]))
    return lie.compose(lie.quaternion_to_matrix(np.roll(turned, 1, axis=-1)) * scaled[..., None, :], moved)
