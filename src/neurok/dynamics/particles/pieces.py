"""A mesh in pieces: which hold a volume, which are sheets, and how thick they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import Mesh
from neurok.doctor.anatomy import HalfEdges
from neurok.doctor.anatomy import check_winding
from neurok.geometry.operators import closed_components
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import degenerate_faces, face_components
from neurok.geometry.voxels import ENCLOSED, winding_grid


@dataclass(frozen=True)
class PieceConfig:
    """When a piece of a mesh holds a volume."""

    samples: int = 24
    """Along the longest side of an open piece, where it is asked whether it is nearly closed."""

    nearly_closed: float = 0.9
    """An open piece is filled if this share of what it goes half around is well enclosed: small holes, no mouth."""

    thin: float = 2.0
    """Pieces in which no ball of so many cells fits are sheets."""


PIECES = PieceConfig()


@dataclass(frozen=True, eq=False)
class Pieces:
    """Connected pieces of a mesh; each lies within one part."""

    faces: Int[np.ndarray, "F 3"]
    """All faces with area, turned so that closed pieces look outwards."""

    source: Int[np.ndarray, " F"]
    """Number of each in the mesh."""

    piece: Int[np.ndarray, " F"]
    """Piece of each face."""

    holds: Bool[np.ndarray, " C"]
    """Whether a piece encloses a volume."""

    closed: Bool[np.ndarray, " C"]
    volume: Float[np.ndarray, " C"]
    """[m³]; zero where none is held."""

    area: Float[np.ndarray, " C"]
    """[m²]."""

    extent: Float[np.ndarray, " C"]
    """Longest side of its box [m]."""

    part: Int[np.ndarray, " C"]
    """Part of the mesh that it is of."""

    @property
    def count(self) -> int:
        return len(self.holds)

    @property
    def thickness(self) -> Float[np.ndarray, " C"]:
        """Of what holds a volume, as if it were a slab [m]."""
        return np.where(self.holds, 2.0 * self.volume / np.maximum(self.area, 1e-300), 0.0)


def pieces_of(mesh: Mesh, vertices: Float[np.ndarray, "V 3"], config: PieceConfig = PIECES) -> Pieces:
    """The pieces of a mesh whose vertices are where ``vertices`` says [m]."""
    source = np.flatnonzero(~degenerate_faces(vertices, mesh.faces))
    faces, part = mesh.faces[source], mesh.face_parts[source]
    piece = face_components(vertices, faces, part)
    count = int(piece.max(initial=-1)) + 1
    closed = closed_components(vertices, faces, piece)
    place = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)
    flip = check_winding(vertices, faces, HalfEdges.of(place[faces], piece)).flip
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    piece = _with_cavities(vertices, faces, piece, closed)
    count = int(piece.max(initial=-1)) + 1
    closed = closed_components(vertices, faces, piece)
    low, high, volume = _measured(vertices, faces, piece, count)
    extent = (high - low).max(axis=1, initial=0.0)
    holds = closed.copy()
    for index in np.flatnonzero(~closed):
        box = low[index], high[index]
        held = _held_volume(vertices, faces[piece == index], *box, config)
        holds[index], volume[index] = held > 0.0, held
    holds &= np.abs(volume) > 1e-9 * extent**3
    first = np.zeros(count, dtype=np.int64)
    first[piece[::-1]] = part[::-1]
    area = np.bincount(piece, weights=face_areas(vertices, faces), minlength=count)
    return Pieces(faces, source, piece, holds, closed, np.where(holds, volume, 0.0), area, extent, first)


def _measured(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], piece: Int[np.ndarray, " F"], count: int
) -> tuple[Float[np.ndarray, "C 3"], Float[np.ndarray, "C 3"], Float[np.ndarray, " C"]]:
    """Boxes and signed volumes."""
    corners = vertices[faces]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, piece, corners.min(axis=1))
    np.maximum.at(high, piece, corners.max(axis=1))
    local = corners - 0.5 * (low + high)[piece][:, None]
    return low, high, np.bincount(piece, weights=np.linalg.det(local) / 6.0, minlength=count)


def _with_cavities(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    piece: Int[np.ndarray, " F"],
    closed: Bool[np.ndarray, " C"],
) -> Int[np.ndarray, " F"]:
    """Closed pieces that look inwards are the inner wall of what is around them, and go with it."""
    low, high, volume = _measured(vertices, faces, piece, len(closed))
    owner = np.arange(len(closed))
    for index in np.flatnonzero(closed & (volume < 0)):
        around = closed & (volume > 0) & (low <= low[index]).all(axis=1) & (high >= high[index]).all(axis=1)
        if around.any():
            owner[index] = np.flatnonzero(around)[volume[around].argmin()]
    return np.unique(owner[piece], return_inverse=True)[1].reshape(-1)


def _held_volume(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    low: Float[np.ndarray, "3"],
    high: Float[np.ndarray, "3"],
    config: PieceConfig,
) -> float:
    """Volume within an open piece that is nearly closed [m³]; 0 for sheets and vessels."""
    side = float((high - low).max()) / config.samples
    if side <= 0.0:
        return 0.0
    shape = tuple(int(n) for n in np.ceil((high - low) / side).astype(np.int64) + 1)
    turns = np.abs(winding_grid(vertices, faces, low - 0.5 * side, side, shape))
    well, half = int((turns > ENCLOSED).sum()), int((turns > 0.5).sum())
    return side**3 * well if half and well >= config.nearly_closed * half else 0.0
