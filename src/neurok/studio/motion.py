"""How a part moves in the picture: as a whole, by a few bones, or by its vertices in a few colours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from neurok.core import Clip, Mesh, Skin, Surface
from neurok.core.surface import to_linear
from neurok.geometry import lie
from neurok.geometry.sampling import farthest_points
from neurok.io.surfaces import srgb_from_linear
from neurok.rendering.palette import CLAY
from neurok.studio.config import StudioConfig

Color = tuple[float, float, float]
"""sRGB, 0..1."""

CORNERS = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [2, 2, 2]]) / 6.0
"""Where a texture is looked at within a face, in shares of its corners."""


def by_color(mesh: Mesh, most: int) -> list[tuple[Mesh, Color]]:
    """The same vertices with the faces of one colour each, in so many colours at most."""
    colors = face_colors(mesh)
    labels = _groups(colors, most)
    out = []
    for label in np.unique(labels):
        mine = labels == label
        red, green, blue = colors[mine].mean(axis=0).tolist()
        out.append((replace(mesh, faces=mesh.faces[mine], surfaces=(), face_surfaces=None), (red, green, blue)))
    return out


def mean_color(mesh: Mesh) -> Color:
    """Of all faces, the larger the more."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) + 1e-12 * mesh.size**2
    red, green, blue = np.average(face_colors(mesh), axis=0, weights=area).tolist()
    return red, green, blue


def face_colors(mesh: Mesh) -> Float[np.ndarray, "F 3"]:
    """What each face shows on average: colour of its surface, texture and colours of its vertices."""
    linear = np.ones((mesh.face_count, 3))
    if mesh.vertex_colors is not None:
        linear *= mesh.vertex_colors[mesh.faces, :3].mean(axis=1)
    which: Int[np.ndarray, " F"] = (
        np.zeros(mesh.face_count, dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    )
    surfaces = mesh.surfaces or ((CLAY,) if mesh.vertex_colors is None else (Surface(base_color=(1.0,) * 4),))
    for index in np.unique(which):
        mine = which == index
        linear[mine] *= surfaces[index].base_color[:3]
        texture = surfaces[index].texture
        if texture is None or mesh.uv is None or not texture.is_decodable:
            continue
        pixels = texture.pixels()
        height, width = pixels.shape[:2]
        u, v = np.moveaxis(np.einsum("sc,fcd->fsd", CORNERS, mesh.uv[mesh.faces[mine]]), -1, 0)
        column = np.floor(u % 1.0 * width).astype(np.int64).clip(0, width - 1)
        row = np.floor((1.0 - v) % 1.0 * height).astype(np.int64).clip(0, height - 1)
        linear[mine] *= to_linear(pixels[row, column, :3] / 255.0).mean(axis=1)
    opaque = np.concatenate([np.clip(linear, 0.0, 1.0), np.ones((len(linear), 1))], axis=1)
    return np.asarray(srgb_from_linear(opaque)[:, :3])


def _groups(colors: Float[np.ndarray, "F 3"], most: int) -> Int[np.ndarray, " F"]:
    """Like colours have one label."""
    from PIL import Image

    bytes_ = np.round(255 * colors).astype(np.uint8)
    different, labels = np.unique(bytes_, axis=0, return_inverse=True)
    if len(different) <= most:
        return np.asarray(labels).reshape(-1)
    picture = Image.fromarray(bytes_[None])
    return np.asarray(picture.quantize(most, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))[0].astype(np.int64)


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
