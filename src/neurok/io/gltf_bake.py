"""Placed parts of a scene and their vertex positions over time: nodes, morph targets and skins together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core import Bind, Skin
from neurok.io.gltf_document import Document
from neurok.io.gltf_geometry import Geometry

Worlds = list[np.ndarray]
"""World-from-node transforms, ``(4, 4)`` or ``(T, 4, 4)``."""

MAX_HANDLES = 256
SKIN_TOLERANCE = 1e-5
"""Handles rest where they are bound when that gives the rest positions to this fraction of the object's size."""

STRETCH = 1e-4
"""Bones may stretch by this fraction and still count as rigid: files store rounded numbers."""


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
        return shape @ np.swapaxes(world[..., :3, :3], -1, -2) + world[..., None, :3, 3]

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
        out[:, start:stop] = part.positions(worlds, morph)
        start = stop
    return out


@dataclass(frozen=True, eq=False)
class _Handles:
    """How one part hangs on nodes: its vertices where the nodes took hold of them, and who carries whom."""

    vertices: Float[np.ndarray, "V 3"]
    nodes: tuple[int, ...]
    offsets: Float[np.ndarray, "H 4 4"]
    """From the space of the vertices to that of each node."""

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray


def _handles(part: PartSource, rest: Float[np.ndarray, "V 3"], rest_worlds: Worlds) -> _Handles | None:
    if not part.joints:
        count = len(rest)
        offset = _inverse(rest_worlds[part.node][None])
        return (
            offset
            if offset is None
            else _Handles(rest, (part.node,), offset, np.arange(count), np.zeros(count, np.int64), np.ones(count))
        )
    assert part.bind is not None
    # The first joint puts the vertices into the size and place they have in the scene.
    placed = part.joint_matrices(rest_worlds)[0][0]
    back = _inverse(placed[None])
    if back is None:
        return None
    vertices = part.geometry.vertices @ placed[:3, :3].T + placed[:3, 3]
    weights = part.weight_matrix().tocoo()
    used, columns = np.unique(weights.col, return_inverse=True)
    nodes = tuple(part.joints[joint] for joint in used)
    return _Handles(vertices, nodes, part.bind[used] @ back[0], weights.row, columns, weights.data)


def _inverse(matrices: Float[np.ndarray, "N 4 4"]) -> Float[np.ndarray, "N 4 4"] | None:
    is_flat = np.abs(np.linalg.det(matrices[:, :3, :3])) < 1e-12
    return None if is_flat.any() else np.linalg.inv(matrices)


def find_skin(
    parts: list[PartSource],
    rest: Float[np.ndarray, "V 3"],
    rest_worlds: Worlds,
    worlds: Worlds,
    frame_count: int,
    morph: Mapping[int, np.ndarray],
    size: float,
) -> Skin | None:
    """Bones and nodes as rigid handles that give the baked positions; none for morphing or stretching objects."""
    known: dict[tuple[int, bytes], int] = {}
    nodes: list[int] = []
    offsets: list[np.ndarray] = []
    bound = np.array(rest)
    entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    start = 0
    for part in parts:
        count = len(part.geometry.vertices)
        if not count:
            continue
        own = (
            None if part.node in morph or part.morph.any() else _handles(part, rest[start : start + count], rest_worlds)
        )
        if own is None:
            return None
        number = np.empty(len(own.nodes), np.int64)
        for k, (node, offset) in enumerate(zip(own.nodes, own.offsets, strict=True)):
            key = (node, np.round(offset, 5).tobytes())
            if key not in known:
                known[key] = len(nodes)
                nodes.append(node)
                offsets.append(offset)
            number[k] = known[key]
        bound[start : start + count] = own.vertices
        entries.append((own.rows + start, number[own.columns], own.weights))
        start += count
    if not nodes or len(nodes) > MAX_HANDLES:
        return None
    moving = np.stack([np.broadcast_to(worlds[n], (frame_count, 4, 4)) @ o for n, o in zip(nodes, offsets)], axis=1)
    resting = np.stack([rest_worlds[n] @ o for n, o in zip(nodes, offsets)])
    if not (_is_rigid(moving) and _is_rigid(resting)):
        return None
    dense = np.zeros((len(rest), len(nodes)), dtype=np.float32)
    for rows, columns, values in entries:
        np.add.at(dense, (rows, columns), values)
    if _rests_bound(entries, bound, resting, rest, size):
        return Skin(dense, moving @ np.linalg.inv(resting))
    return Skin(dense, moving, Bind(bound, resting))


def _is_rigid(transforms: Float[np.ndarray, "*B 4 4"]) -> bool:
    linear = transforms[..., :3, :3]
    is_orthogonal = np.abs(linear @ np.swapaxes(linear, -1, -2) - np.eye(3)).max() <= STRETCH
    return bool(is_orthogonal and (np.linalg.det(linear) > 0).all())


def _rests_bound(
    entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    bound: Float[np.ndarray, "V 3"],
    resting: Float[np.ndarray, "H 4 4"],
    rest: Float[np.ndarray, "V 3"],
    size: float,
) -> bool:
    """Each handle, on its own, puts its vertices at rest: the rest pose is as good as the one they were bound in."""
    for rows, columns, _ in entries:
        alone = resting[columns]
        placed = np.einsum("nij,nj->ni", alone[:, :3, :3], bound[rows]) + alone[:, :3, 3]
        if np.abs(placed - rest[rows]).max(initial=0.0) > SKIN_TOLERANCE * size:
            return False
    return True
