"""A part that bends in the picture: by a few bones where they say enough, else by its vertices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.geometry import lie
from neurok.geometry.sampling import farthest_points
from neurok.studio.colors import Color
from neurok.studio.config import StudioConfig

CARRIERS = 4
"""Bones that carry a vertex; browsers take no more."""


@dataclass(frozen=True, eq=False)
class Bones:
    """Rigid bones spread over a surface; each vertex follows the nearest ones, the closer the more."""

    rest: Float[np.ndarray, "V 3"]
    centers: Float[np.ndarray, "B 3"]
    weights: csr_array
    """``(V, B)``, four in a row, with sum one."""

    @staticmethod
    def of(rest: Float[np.ndarray, "V 3"], count: int) -> Bones:
        """Evenly spread over the vertices."""
        centers = rest[farthest_points(rest, min(count, len(rest)))]
        carriers = min(CARRIERS + 1, len(centers))
        gaps, chosen = cKDTree(centers).query(rest, k=carriers)
        # A bone lets go where a fifth would come closer, so that weights never jump between neighbours.
        share = np.maximum(1.0 - gaps[:, :-1] / np.maximum(gaps[:, -1:], 1e-12), 1e-6) ** 2
        share /= share.sum(axis=1, keepdims=True)
        rows = np.repeat(np.arange(len(rest)), carriers - 1)
        shape = (len(rest), len(centers))
        return Bones(rest, centers, csr_array((share.ravel(), (rows, chosen[:, :-1].ravel())), shape=shape))

    def at(self, vertices: Int[np.ndarray, " n"]) -> Bones:
        """The same bones with some of the vertices."""
        return Bones(self.rest[vertices], self.centers, self.weights[vertices])

    def fit(self, now: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "B 4 4"]:
        """Rigid motions of the bones: turns that their vertices agree on best, then places that leave least error."""
        across = self.weights.T
        total = across.sum(axis=1)[:, None]
        before, after = across @ self.rest / total, across @ now / total
        pairs = (self.rest[:, :, None] * now[:, None, :]).reshape(-1, 9)
        spread = (across @ pairs).reshape(-1, 3, 3) - total[..., None] * before[:, :, None] * after[:, None, :]
        turns = lie.nearest_rotation(spread.transpose(0, 2, 1))
        turned = self.apply(lie.compose(turns, np.zeros_like(before)))
        return lie.compose(turns, cho_solve(self._factor, across @ (now - turned)))

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        """Of the normal equations of the places."""
        square = (self.weights.T @ self.weights).toarray()
        return cho_factor(square + 1e-9 * np.trace(square) / len(square) * np.eye(len(square)))

    def apply(self, motions: Float[np.ndarray, "B 4 4"]) -> Float[np.ndarray, "V 3"]:
        """Where the vertices are when the bones have moved."""
        blended = (self.weights @ motions[:, :3].reshape(-1, 12)).reshape(-1, 3, 4)
        return np.einsum("vij,vj->vi", blended[:, :, :3], self.rest) + blended[:, :, 3]


class BendingPart:
    """The nodes of one part, one for each colour, since a bending node has one."""

    def __init__(
        self,
        scene: Any,
        name: str,
        piece: Mesh,
        colors: list[tuple[Mesh, Color]],
        config: StudioConfig,
        share: float = 1.0,
    ) -> None:
        """
        Args:
            scene: Of viser.
            name: Of the nodes, before a number.
            piece: The part at rest as it is shown.
            colors: Its faces by colour: meshes that have all vertices of the part.
            config: Limits.
            share: Of the vertices of its object.
        """
        self.scene, self.name, self.colors, self.config = scene, name, colors, config
        count = max(config.least_bones, round(config.bones * share))
        is_large, is_short = piece.vertex_count > config.sent_vertices, len(colors) * 2 * count <= config.bone_messages
        self.bones = Bones.of(piece.vertices, count) if is_large and is_short else None
        self.nodes: list[Any] = []
        self.shown: Float[np.ndarray, "V 3"] | None = None
        """Where its vertices were shown last."""

        self.used = [np.unique(mesh.faces) for mesh, _ in colors]
        if self.bones is not None:
            some = np.linspace(0, piece.vertex_count - 1, count * config.fitted_vertices).astype(np.int64)
            near = cKDTree(piece.vertices).query(self.bones.centers, k=min(config.near_vertices, piece.vertex_count))[1]
            self.looked_at = np.unique(np.concatenate([some, np.reshape(near, -1)]))
            self.fitted = self.bones.at(self.looked_at)
        self._draw()

    def _draw(self) -> None:
        for k, ((mesh, color), used) in enumerate(zip(self.colors, self.used, strict=True)):
            options: dict[str, Any] = {"color": tuple(round(255 * c) for c in color), "side": "double"}
            name, faces = f"{self.name}_{k}", np.searchsorted(used, mesh.faces)
            if self.bones is None:
                self.nodes.append(self.scene.add_mesh_simple(name, mesh.vertices[used], faces, **options))
                continue
            count = len(self.bones.centers)
            options["bone_wxyzs"] = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
            options["bone_positions"] = self.bones.centers
            options["skin_weights"] = self.bones.weights[used].toarray().astype(np.float32)
            self.nodes.append(self.scene.add_mesh_skinned(name, mesh.vertices[used], faces, **options))

    def move(self, now: Float[np.ndarray, "V 3"]) -> int:
        """Show it bent; how many messages that took. Bones that say too little are given up for good."""
        self.shown = now
        if self.bones is not None:
            seen = now[self.looked_at]
            motions = self.fitted.fit(seen)
            if float(np.abs(self.fitted.apply(motions) - seen).max()) <= self.config.bone_gap:
                return self._move_bones(motions)
            self.remove()
            self.bones = None
            self._draw()
        for node, used in zip(self.nodes, self.used, strict=True):
            node.vertices = now[used].astype(np.float32)
        return len(self.nodes)

    def _move_bones(self, motions: Float[np.ndarray, "B 4 4"]) -> int:
        assert self.bones is not None
        turns = lie.matrix_to_quaternion(motions[:, :3, :3])
        places = lie.apply_each(motions, self.bones.centers)
        sent = 0
        for node in self.nodes:
            for bone, turn, place in zip(node.bones, turns, places, strict=True):
                bone.wxyz, bone.position = turn, place
                sent += 2
        return sent

    def hide(self, hidden: bool) -> None:
        """Whether something else stands in its place."""
        for node in self.nodes:
            node.visible = not hidden

    def remove(self) -> None:
        for node in self.nodes:
            node.remove()
        self.nodes = []
