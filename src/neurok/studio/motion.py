"""Which parts of a moving mesh stay rigid, and how they move: small messages instead of all vertices."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Clip, Mesh, Skin
from neurok.geometry import lie


def part_motions(
    rest: Float[np.ndarray, "V 3"], positions: Float[np.ndarray, "V 3"], groups: list[Int[np.ndarray, " n"]], gap: float
) -> tuple[Float[np.ndarray, "P 4 4"], Bool[np.ndarray, " P"]]:
    """The rigid motion of each group of vertices from rest, and whether no vertex is farther off it than ``gap``."""
    motions, rigid = np.tile(np.eye(4), (len(groups), 1, 1)), np.ones(len(groups), dtype=bool)
    for index, group in enumerate(groups):
        if len(group) == 0:
            continue
        motions[index] = lie.fit_rigid(rest[group], positions[group])
        off = lie.apply(motions[index], rest[group]) - positions[group]
        rigid[index] = float(np.abs(off).max()) <= gap
    return motions, rigid


def groups_of(labels: Int[np.ndarray, " V"], count: int) -> list[Int[np.ndarray, " n"]]:
    """The vertices of each label."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=count))
    return [order[end - size : end] for end, size in zip(ends, np.bincount(labels, minlength=count), strict=True)]


def skinned_clip(mesh: Mesh, positions: Float[np.ndarray, "T V 3"], fps: float, stiff: float) -> Clip:
    """The motion, with its parts as handles where all of them stay rigid."""
    labels = np.zeros(mesh.vertex_count, dtype=np.int64) if mesh.part_ids is None else mesh.part_ids
    groups = groups_of(labels, mesh.part_count)
    found = [part_motions(mesh.vertices, frame, groups, stiff * mesh.size) for frame in positions.astype(np.float64)]
    if not all(rigid.all() for _, rigid in found):
        return Clip(mesh, positions, fps)
    weights = np.zeros((mesh.vertex_count, mesh.part_count), dtype=np.float32)
    weights[np.arange(mesh.vertex_count), labels] = 1.0
    return Clip(mesh, positions, fps, skin=Skin(weights, np.stack([motions for motions, _ in found])))
