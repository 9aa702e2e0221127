"""The handles behind a motion: bones and moving nodes of a glTF file as a skin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.core import Bind, Skin
from neurok.geometry import lie
from neurok.io.gltf_bake import PartSource, Worlds

MAX_HANDLES = 256
SKIN_TOLERANCE = 1e-5
"""Handles rest where they are bound when that gives the rest positions to this fraction of the object's size."""

STRETCH = 1e-4
"""Bones may stretch by this fraction and still count as rigid: files store rounded numbers."""


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
    rig = _Rig(rest)
    for part in parts:
        count = len(part.geometry.vertices)
        if not count:
            continue
        if part.node in morph or part.morph.any():
            return None
        own = _handles(part, rest[rig.filled : rig.filled + count], rest_worlds)
        if own is None:
            return None
        rig.add(own)
    if not rig.nodes or len(rig.nodes) > MAX_HANDLES:
        return None
    offsets = np.stack(rig.offsets)
    moving = np.stack([np.broadcast_to(worlds[node], (frame_count, 4, 4)) for node in rig.nodes], axis=1) @ offsets
    resting = np.stack([rest_worlds[node] for node in rig.nodes]) @ offsets
    if not (_is_rigid(moving) and _is_rigid(resting)):
        return None
    if rig.rests_bound(resting, rest, SKIN_TOLERANCE * size):
        return Skin(rig.weights(), moving @ np.linalg.inv(resting))
    return Skin(rig.weights(), moving, Bind(rig.vertices, resting))


class _Rig:
    """The handles of all parts together; parts that hang on the same node in the same way share one."""

    def __init__(self, rest: Float[np.ndarray, "V 3"]) -> None:
        self.vertices = np.array(rest)
        self.filled = 0
        self.nodes: list[int] = []
        self.offsets: list[np.ndarray] = []
        self._known: dict[tuple[int, bytes], int] = {}
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, part: _Handles) -> None:
        numbers = np.array([self._number(n, o) for n, o in zip(part.nodes, part.offsets, strict=True)])
        self._entries.append((part.rows + self.filled, numbers[part.columns], part.weights))
        stop = self.filled + len(part.vertices)
        self.vertices[self.filled : stop] = part.vertices
        self.filled = stop

    def _number(self, node: int, offset: Float[np.ndarray, "4 4"]) -> int:
        key = (node, np.round(offset, 5).tobytes())
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
            self.offsets.append(offset)
        return self._known[key]

    def weights(self) -> Float[np.ndarray, "V H"]:
        dense = np.zeros((len(self.vertices), len(self.nodes)), dtype=np.float32)
        for rows, columns, values in self._entries:
            np.add.at(dense, (rows, columns), values)
        return dense

    def rests_bound(
        self, resting: Float[np.ndarray, "H 4 4"], rest: Float[np.ndarray, "V 3"], tolerance: float
    ) -> bool:
        """Each handle, on its own, puts its vertices at rest: that pose is as good as the one they were bound in."""
        for rows, columns, _ in self._entries:
            placed = lie.apply_each(resting[columns], self.vertices[rows])
            if np.abs(placed - rest[rows]).max(initial=0.0) > tolerance:
                return False
        return True


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
    """The handles of one part; none if it rests flattened, so that there is no way back from there."""
    # The first joint puts the vertices of a skin into the size and place they have in the scene.
    placed = part.joint_matrices(rest_worlds)[0][0] if part.joints else rest_worlds[part.node]
    if abs(np.linalg.det(placed[:3, :3])) < 1e-12:
        return None
    back = np.linalg.inv(placed)
    if not part.joints:
        count = len(rest)
        return _Handles(rest, (part.node,), back[None], np.arange(count), np.zeros(count, np.int64), np.ones(count))
    assert part.bind is not None
    vertices = lie.apply(placed, part.geometry.vertices)
    weights = part.weight_matrix().tocoo()
    used, columns = np.unique(weights.col, return_inverse=True)
    nodes = tuple(part.joints[joint] for joint in used)
    return _Handles(vertices, nodes, part.bind[used] @ back, weights.row, columns, weights.data)


def _is_rigid(transforms: Float[np.ndarray, "*B 4 4"]) -> bool:
    linear = transforms[..., :3, :3]
    is_orthogonal = np.abs(linear @ np.swapaxes(linear, -1, -2) - np.eye(3)).max() <= STRETCH
    return bool(is_orthogonal and (np.linalg.det(linear) > 0).all())
