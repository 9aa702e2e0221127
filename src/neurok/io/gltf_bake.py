"""Placed parts of a scene and their vertex positions over time: nodes, morph targets and skins together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.geometry import lie
from neurok.io.gltf_document import Document
from neurok.io.gltf_geometry import Geometry

Worlds = list[np.ndarray]
"""World-from-node transforms, ``(4, 4)`` or ``(T, 4, 4)``."""

BLOCK_ROWS = 1_000_000
"""Vertices times frames that are placed at once in double precision."""

UNIT_SLACK = 5e-4
"""Vectors this near to unit length are kept as they are: files store rounded numbers."""


@dataclass(frozen=True, eq=False)
class PartSource:
    """A node that shows a mesh."""

    node: int
    name: str
    geometry: Geometry
    morph: Float[np.ndarray, " K"]
    """Morph weights at rest."""

    joints: tuple[int, ...] = ()
    """Nodes of the skin."""

    bind: Float[np.ndarray, "J 4 4"] | None = None
    """Inverse bind matrices."""

    def positions(self, worlds: Worlds, morph: Mapping[int, np.ndarray]) -> Float[np.ndarray, "T V 3"]:
        """World positions of the part's vertices; one frame when nothing about it moves."""
        weights = morph.get(self.node, self.morph[None])
        shape = self.geometry.vertices.astype(np.float64)[None]
        if self.geometry.targets is not None and weights.any():
            targets = self.geometry.targets
            used = min(len(targets), weights.shape[1])
            shape = shape + np.tensordot(weights[:, :used], targets[:used], axes=1)
        if self.joints:
            return self._skinned(shape, self.joint_matrices(worlds))
        world = worlds[self.node]
        if world.ndim == 2 and np.array_equal(world, np.eye(4)):
            return shape
        return lie.apply(world, shape)

    def authored(self, worlds: Worlds) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Normals and tangents at rest in the scene, rows of zeros where none are known; none if there are none."""
        normals, tangents = self.geometry.normals, self.geometry.tangents
        if normals is None or (self.geometry.targets is not None and self.morph.any()):
            return None, None
        if self.joints:
            linear = self.joint_matrices(worlds)[0][:, :3, :3].reshape(-1, 9)
            each = (self.weight_matrix() @ linear).reshape(-1, 3, 3)
        else:
            each = worlds[self.node][:3, :3]
        turned = None
        if tangents is not None:
            turned = np.column_stack([_directions(each, tangents[:, :3]), tangents[:, 3]])
            turned[~turned[:, :3].any(axis=1)] = 0.0
        with np.errstate(all="ignore"):
            upright = np.linalg.pinv(each).swapaxes(-1, -2) if np.abs(np.linalg.det(each)).min() > 0 else each
        return _directions(upright, normals), turned

    def joint_matrices(self, worlds: Worlds) -> Float[np.ndarray, "T J 4 4"]:
        """World-from-mesh transform of each joint."""
        assert self.bind is not None
        moving = [worlds[j] @ self.bind[k] for k, j in enumerate(self.joints)]
        frames = max((len(m) for m in moving if m.ndim == 3), default=1)
        return np.stack([np.broadcast_to(m, (frames, 4, 4)) for m in moving], axis=1)

    def _skinned(
        self, shape: Float[np.ndarray, "S V 3"], matrices: Float[np.ndarray, "T J 4 4"]
    ) -> Float[np.ndarray, "N V 3"]:
        weights = self.weight_matrix()
        frames, joint_count = matrices.shape[:2]
        columns = matrices[:, :, :3].transpose(1, 3, 0, 2).reshape(joint_count, 4, frames * 3)
        count = len(shape[0])
        if len(shape) == 1:
            lifted = np.concatenate([shape[0], np.ones((count, 1))], axis=1)
            out = _times_points(weights, lifted) @ columns.reshape(joint_count * 4, -1)
            return out.reshape(count, frames, 3).transpose(1, 0, 2)
        blended = (weights @ columns.reshape(joint_count, -1)).reshape(count, 4, frames, 3)
        linear = np.einsum("vktc,tvk->tvc", blended[:, :3], np.broadcast_to(shape, (max(frames, len(shape)), count, 3)))
        return linear + blended[:, 3].transpose(1, 0, 2)

    def weight_matrix(self):  # type: ignore[no-untyped-def]
        """Vertices by joints, sparse."""
        from scipy.sparse import csr_matrix

        joints, weights = self.geometry.joints, self.geometry.weights
        assert joints is not None
        assert weights is not None
        rows = np.repeat(np.arange(len(joints)), joints.shape[1])
        keep = weights.reshape(-1) > 0
        entries = (weights.reshape(-1)[keep], (rows[keep], joints.reshape(-1)[keep]))
        return csr_matrix(entries, shape=(len(joints), len(self.joints)))

    def is_mirrored(self, worlds: Worlds) -> bool:
        """The part is turned inside out by a negative scale."""
        matrices = self.joint_matrices(worlds)[0] if self.joints else worlds[self.node][None]
        return float(np.median(np.linalg.det(matrices[:, :3, :3]))) < 0


def _directions(matrices: np.ndarray, vectors: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"]:
    """Unit vectors after one matrix, or one for each; untouched by an identity, zero where they were not unit."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if matrices.ndim == 2 and np.array_equal(matrices, np.eye(3)):
        moved = np.asarray(vectors)
    elif matrices.ndim == 2:
        moved = vectors @ matrices.T
    else:
        moved = np.einsum("vij,vj->vi", matrices, vectors)
    size = np.linalg.norm(moved, axis=1, keepdims=True)
    is_given = np.isfinite(moved).all(axis=1, keepdims=True) & (np.abs(lengths - 1.0) < 0.1) & (size > 1e-12)
    is_unit = np.abs(size - 1.0) < UNIT_SLACK
    return np.where(is_given, np.where(is_unit, moved, moved / np.where(is_given, size, 1.0)), 0.0)


def _times_points(weights, lifted: Float[np.ndarray, "V 4"]):  # type: ignore[no-untyped-def]
    """Weights times homogeneous points, sparse: what multiplies the stacked rows of all joint matrices."""
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(lifted)), np.diff(weights.indptr))
    data = (weights.data[:, None] * lifted[rows]).reshape(-1)
    indices = (weights.indices[:, None] * 4 + np.arange(4)).reshape(-1)
    return csr_matrix((data, indices, weights.indptr * 4), shape=(len(lifted), weights.shape[1] * 4))


def part_source(doc: Document, node_index: int, name: str, geometry: Geometry) -> PartSource:
    """A node with its mesh, morph weights and skin."""
    node = doc.item("nodes", node_index)
    count = 0 if geometry.targets is None else len(geometry.targets)
    default = doc.item("meshes", node["mesh"]).get("weights", [0.0] * count) if "mesh" in node else [0.0] * count
    morph = np.zeros(count)
    stored = np.asarray(node.get("weights", default), dtype=np.float64)[:count]
    morph[: len(stored)] = stored
    if "skin" not in node or geometry.joints is None or not geometry.joints.size:
        return PartSource(node_index, name, geometry, morph)
    skin = doc.item("skins", node["skin"])
    joints = tuple(skin["joints"])
    for joint in joints:
        doc.item("nodes", joint)
    weights = geometry.weights
    if weights is None or geometry.joints[weights > 0].max(initial=0) >= len(joints):
        raise doc.error(f"the mesh '{name}' names joints outside 0..{len(joints) - 1}")
    bind = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    if "inverseBindMatrices" in skin:
        stored = doc.array(skin["inverseBindMatrices"])
        if stored.shape[1] != 16 or len(stored) < len(joints):
            raise doc.error(f"a skin has {len(stored)} bind matrices for {len(joints)} joints")
        bind = stored[: len(joints)].astype(np.float64).reshape(-1, 4, 4).swapaxes(1, 2)
    return PartSource(node_index, name, geometry, morph, joints, bind)


def bake(
    parts: list[PartSource], worlds: Worlds, frame_count: int, morph: Mapping[int, np.ndarray]
) -> Float[np.ndarray, "T V 3"]:
    """Positions of all parts in every frame, in single precision."""
    out = np.empty((frame_count, sum(len(p.geometry.vertices) for p in parts), 3), dtype=np.float32)
    start = 0
    for part in parts:
        stop = start + len(part.geometry.vertices)
        room = max(1, BLOCK_ROWS // max(1, stop - start))
        for first in range(0, frame_count, room):
            block = slice(first, first + room)
            there = [world[block] if world.ndim == 3 else world for world in worlds]
            out[block, start:stop] = part.positions(there, {node: weights[block] for node, weights in morph.items()})
        start = stop
    return out
