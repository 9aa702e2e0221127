"""Scenes into one mesh: placed pieces become vertices, parts and surfaces of the object's frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Authored, Mesh, Surface
from neurok.core.mesh import joined_uv_sets
from neurok.errors import FormatError
from neurok.geometry import lie
from neurok.io.surfaces import linear_from_srgb

MAX_VERTICES = 50_000_000
Vertices = Float[np.ndarray, "V 3"]
Faces = Int[np.ndarray, "F 3"]


@dataclass(frozen=True, eq=False)
class PlacedMesh:
    """A mesh that belongs to one part, and where it stands."""

    part: int
    mesh: Mesh
    placement: Float[np.ndarray, "4 4"]
    """From the mesh's frame to the object's, possibly with a scale."""

    surface: Surface | None = None
    """Look that replaces the mesh's own."""

    def on(self, part: int) -> PlacedMesh:
        """The same piece on another part."""
        return replace(self, part=part)


def assemble(pieces: Sequence[PlacedMesh], part_names: Sequence[str], what: str, **fields: Any) -> Mesh:
    """All pieces as one mesh; ``fields`` (up, unit, name) go to the mesh."""
    if not pieces:
        raise FormatError(f"{what} has no geometry: no part of it carries a mesh or a shape.")
    if sum(piece.mesh.vertex_count for piece in pieces) > MAX_VERTICES:
        raise FormatError(f"{what} places more than {MAX_VERTICES} vertices, which is more than can be read.")
    surfaces: dict[Surface, int] = {}
    starts = np.cumsum([0, *(piece.mesh.vertex_count for piece in pieces)])
    vertices = np.concatenate([_placed(piece) for piece in pieces])
    mesh = Mesh(
        vertices,
        np.concatenate([_outward(piece) + start for piece, start in zip(pieces, starts[:-1], strict=True)]),
        uv=_stacked(pieces, "uv", (0.0, 0.0)),
        vertex_colors=_stacked(pieces, "vertex_colors", (1.0, 1.0, 1.0, 1.0)),
        part_ids=np.concatenate([np.full(piece.mesh.vertex_count, piece.part) for piece in pieces]),
        part_names=tuple(part_names),
        face_surfaces=np.concatenate([_surface_ids(piece, surfaces) for piece in pieces]),
        surfaces=tuple(surfaces),
        authored=_authored(pieces, vertices),
        **fields,
    )
    return with_one_sided_twins(mesh)


def with_one_sided_twins(mesh: Mesh) -> Mesh:
    """Surfaces whose faces all have a back of their own are seen from one side only.

    Modelling programs write such pairs for sheets with two looks; drawn from both sides, they would flicker.
    """
    cell = 1e-6 * mesh.size
    if not mesh.surfaces or not cell > 0 or mesh.vertex_count > 2_000_000:  # beyond, the codes below overflow
        return mesh
    places = np.round((mesh.vertices - mesh.bounds[0]) / cell)
    place = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)[mesh.faces]
    first = place.argmin(axis=1)[:, None]
    a, b, c = np.take_along_axis(place, (first + np.arange(3)) % 3, axis=1).T.astype(np.int64)
    count = int(place.max()) + 1
    is_twin = np.isin((a * count + c) * count + b, (a * count + b) * count + c)
    ids = np.zeros(mesh.face_count, dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    total = np.bincount(ids, minlength=len(mesh.surfaces))
    twins = np.bincount(ids, weights=is_twin, minlength=len(mesh.surfaces))
    surfaces = tuple(
        replace(surface, double_sided=surface.double_sided and not twins[i] > 0.9 * total[i])
        for i, surface in enumerate(mesh.surfaces)
    )
    return replace(mesh, surfaces=surfaces)


def _placed(piece: PlacedMesh) -> Vertices:
    with np.errstate(over="ignore", invalid="ignore"):
        return lie.apply(piece.placement, piece.mesh.vertices)


def _outward(piece: PlacedMesh) -> Faces:
    """Faces, turned over where the placement mirrors them."""
    is_mirror = np.linalg.det(piece.placement[:3, :3]) < 0
    return piece.mesh.faces[:, ::-1] if is_mirror else piece.mesh.faces


def _stacked(pieces: Sequence[PlacedMesh], field: str, filler: tuple[float, ...]) -> np.ndarray | None:
    arrays = [getattr(piece.mesh, field) for piece in pieces]
    if all(array is None for array in arrays):
        return None
    return np.concatenate(
        [
            np.tile(filler, (piece.mesh.vertex_count, 1)) if array is None else array
            for piece, array in zip(pieces, arrays, strict=True)
        ]
    )


def _authored(pieces: Sequence[PlacedMesh], vertices: Vertices) -> Authored | None:
    """The pieces' normals, turned as they are placed, and all their sets of texture coordinates."""
    meshes = [piece.mesh for piece in pieces]
    sets = joined_uv_sets([m.authored for m in meshes], [m.uv for m in meshes], [m.vertex_count for m in meshes])
    rows = [_placed_normals(piece) for piece in pieces]
    if all(row is None for row in rows):
        return sets
    normals = [np.zeros((mesh.vertex_count, 3)) if row is None else row for mesh, row in zip(meshes, rows, strict=True)]
    return Authored(vertices, np.concatenate(normals), uv_sets=() if sets is None else sets.uv_sets)


def _placed_normals(piece: PlacedMesh) -> Float[np.ndarray, "V 3"] | None:
    normals, linear = piece.mesh.normals, piece.placement[:3, :3]
    if normals is None or not abs(np.linalg.det(linear)) > 0:
        return None
    placed = normals @ np.linalg.inv(linear)
    size = np.linalg.norm(placed, axis=1, keepdims=True)
    return np.divide(placed, size, out=np.zeros_like(placed), where=size > 1e-12)


def _surface_ids(piece: PlacedMesh, surfaces: dict[Surface, int]) -> Int[np.ndarray, " F"]:
    mesh = piece.mesh
    own = (piece.surface,) if piece.surface is not None else mesh.surfaces or (Surface(),)
    ids = np.array([surfaces.setdefault(surface, len(surfaces)) for surface in own], dtype=np.int64)
    if piece.surface is not None or mesh.face_surfaces is None:
        return np.full(mesh.face_count, ids[0])
    return ids[mesh.face_surfaces]


def box(half: Float[np.ndarray, "3"]) -> Mesh:
    """A box by half its extents, each side with its own vertices."""
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            side = np.insert(signs if sign > 0 else signs[::-1], 0, sign, axis=1)
            sides.append(np.roll(side, axis, axis=1))
    faces = (np.arange(6)[:, None, None] * 4 + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return Mesh(np.concatenate(sides) * half, faces, name="box")


def capsule(radius: float, half_length: float, rounded: bool = True, segments: int = 32) -> Mesh:
    """A capsule along z, or a cylinder (``rounded=False``); no length makes a sphere."""
    if rounded:
        angle = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)
        profile = np.column_stack([np.cos(angle), np.sin(angle)]) * radius
        profile[[0, -1], 0] = 0.0  # exactly, so that the poles close
        if half_length > 0:
            middle = len(angle) // 2
            profile = np.concatenate([profile[: middle + 1] - [0, half_length], profile[middle:] + [0, half_length]])
    else:
        # The rims appear twice so that the edge between lid and wall stays sharp.
        profile = np.array([[0, -1], [1, -1], [1, -1], [1, 1], [1, 1], [0, 1]]) * [radius, half_length]
    return _lathe(profile, segments)


def _lathe(profile: Float[np.ndarray, "K 2"], segments: int) -> Mesh:
    """The surface that (radius, height) pairs sweep about z, outward for a profile that runs upward."""
    turn = 2.0 * np.pi * np.arange(segments) / segments
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    vertices = np.concatenate([np.column_stack([ring * r, np.full(segments, h)]) for r, h in profile])
    here = np.arange(segments)
    quad = np.column_stack([here, np.roll(here, -1), np.roll(here, -1) + segments, here + segments])
    quads = (np.arange(len(profile) - 1)[:, None, None] * segments + quad).reshape(-1, 4)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    solid = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-12 * max(1e-300, float(np.abs(profile).max()) ** 2)
    used, inverse = np.unique(faces[solid], return_inverse=True)
    return Mesh(vertices[used], inverse.reshape(-1, 3), name="shape")


def colored(color: Sequence[float], name: str = "surface") -> Surface:
    """A plain surface of a display colour."""
    red, green, blue, alpha = map(float, linear_from_srgb(np.atleast_2d(color))[0])
    return Surface(name, (red, green, blue, alpha), alpha_mode="BLEND" if alpha < 1.0 else "OPAQUE")
