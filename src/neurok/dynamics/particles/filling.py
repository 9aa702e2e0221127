"""Particles in a mesh: solids by a lattice of points, sheets by even triangles, stiff thin things by shells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import Mesh
from neurok.doctor.anatomy import HalfEdges, check_winding
from neurok.dynamics.body import Body
from neurok.dynamics.masses import sheet_thickness
from neurok.dynamics.particles.constitution import (
    LOOSE,
    POISSON,
    SHEET,
    SHELL,
    SOLID,
    plane_young,
    stiff_sheets,
)
from neurok.dynamics.particles.engine_config import PARTICLES, ParticleEngineConfig
from neurok.dynamics.soft import as_built
from neurok.errors import NeurokError
from neurok.geometry.distance import closest_point
from neurok.geometry.even_triangles import drawn_out, even_triangles
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.topology import degenerate_faces, face_components
from neurok.geometry.voxels import ENCLOSED, enclosed_grid, winding_grid
from neurok.kinematics.lattice import spread_points

PER_SIDE = 2
"""Particles along the side of a cell: eight in all, as is usual."""

FEWEST = 8
"""A piece that gets fewer particles than this is taken for a sheet or shell: nothing smaller keeps its shape."""

EDGE = 0.7
"""Of triangles of sheets [cells]: so that none falls through the grid of contact when it stretches by a half."""

LONGEST_OWN = 1.6
"""A sheet's own triangles are kept if nearly all edges are at most so many times that long, and they are few enough."""

OFF = 0.3
"""New triangles come this close to every vertex [edges], or are tried with half the edge, twice: leaves would lose
their tips, which then bend into the ground."""

SAMPLES = 24
"""Along the longest side of an open piece, where it is asked whether it is nearly closed."""

NEARLY_CLOSED = 0.9
"""An open piece is filled if this share of what it goes half around is well enclosed: small holes, no mouth."""


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


def pieces_of(mesh: Mesh, vertices: Float[np.ndarray, "V 3"]) -> Pieces:
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
        held = _held_volume(vertices, faces[piece == index], *box)
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
) -> float:
    """Volume within an open piece that is nearly closed [m³]; 0 for sheets and vessels."""
    side = float((high - low).max()) / SAMPLES
    if side <= 0.0:
        return 0.0
    shape = tuple(int(n) for n in np.ceil((high - low) / side).astype(np.int64) + 1)
    turns = np.abs(winding_grid(vertices, faces, low - 0.5 * side, side, shape))
    well, half = int((turns > ENCLOSED).sum()), int((turns > 0.5).sum())
    return side**3 * well if half and well >= NEARLY_CLOSED * half else 0.0


@dataclass(frozen=True, eq=False)
class Filling:
    """One object as particles [m, kg], in the order solids, shells, sheets."""

    points: Float[np.ndarray, "P 3"]
    volumes: Float[np.ndarray, " P"]
    densities: Float[np.ndarray, " P"]
    """Mass by volume: of a sheet's vertex its material's."""

    vertex: Int[np.ndarray, " P"]
    """Vertex of the mesh whose material it is of."""

    piece: Int[np.ndarray, " P"]
    fill: Int[np.ndarray, " P"]
    """``SOLID``, ``SHEET`` or ``SHELL``."""

    triangles: Int[np.ndarray, "T 3"]
    """Of sheets, over particles."""

    stretch: Float[np.ndarray, " T"]
    """Stiffness in the plane of each triangle, E t [N/m]."""

    bend: Float[np.ndarray, " T"]
    """E t³ [N m], which is twelve times the stiffness in bending but for Poisson's ratio."""

    poisson: Float[np.ndarray, " T"]
    pieces: Pieces
    spacing: float
    """Of the lattice of solids [m]."""

    @property
    def count(self) -> int:
        return len(self.points)


@dataclass(frozen=True, eq=False)
class _Share:
    """Particles of some pieces."""

    points: np.ndarray
    volumes: np.ndarray
    vertex: np.ndarray
    piece: np.ndarray
    fill: int


def fill(
    body: Body, vertices: Float[np.ndarray, "V 3"], cell: float, config: ParticleEngineConfig = PARTICLES
) -> Filling:
    """Particles of a body whose vertices are where ``vertices`` says [m], for cells of this width [m].

    Raises:
        NeurokError: If the mesh has no area, or is of something loose and holds none.
    """
    if degenerate_faces(vertices, body.mesh.faces).all():
        raise NeurokError(f"'{body.name}' has no face with an area, so it holds no particles; check the mesh.")
    pieces = pieces_of(body.mesh, vertices)
    size = float(np.ptp(vertices[pieces.faces].reshape(-1, 3), axis=0).max())
    solid = _solids(body, vertices, pieces, cell, config)
    if not len(solid.points) and _loose(body, pieces).all():
        name = body.stuff.materials[body.stuff.ids[pieces.faces[0, 0]]].name
        raise NeurokError(
            f"'{body.name}' is of {name}, but its mesh encloses no volume that could be filled; close it, or take "
            "another material."
        )
    left = np.setdiff1d(np.arange(pieces.count), np.unique(solid.piece))
    thickness = _thickness(body, pieces)
    materials = as_built(body).take(pieces.faces[:, 0])
    spans = pieces.extent[pieces.piece]
    slab = np.where(pieces.holds[pieces.piece], 2.0, 1.0) * thickness
    stiff = stiff_sheets(materials, slab, spans)
    share = np.bincount(pieces.piece, weights=stiff, minlength=pieces.count) / np.bincount(pieces.piece)
    shells, sheets = left[share[left] > 0.5], left[share[left] <= 0.5]
    shell = _shells(vertices, pieces, shells, thickness, cell)
    return _joined(body, vertices, pieces, [solid, shell], (sheets, thickness), size, cell, config)


def _loose(body: Body, pieces: Pieces) -> np.ndarray:
    """Pieces that are mostly sand or a fluid."""
    loose = np.isin(body.stuff.kind[pieces.faces[:, 0]], LOOSE)
    return np.bincount(pieces.piece, weights=loose, minlength=pieces.count) > 0.5 * np.bincount(pieces.piece)


def _thickness(body: Body, pieces: Pieces) -> Float[np.ndarray, " F"]:
    """Of the material behind each face [m]: that of sheets, or half the slab that a thin closed piece is."""
    slab = 0.5 * pieces.thickness[pieces.piece]
    return np.where(pieces.holds[pieces.piece], slab, sheet_thickness(body)[pieces.source] * body.mesh.unit)


def _solids(
    body: Body, vertices: Float[np.ndarray, "V 3"], pieces: Pieces, cell: float, config: ParticleEngineConfig
) -> _Share:
    """A lattice of points within thick pieces, and loose ones; what several claim goes to the smallest of them."""
    spacing = cell / PER_SIDE
    mine = pieces.holds[pieces.piece]
    faces, piece = pieces.faces[mine], pieces.piece[mine]
    if not len(faces):
        return _Share(np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64), SOLID)
    used = vertices[faces].reshape(-1, 3)
    low = np.floor(used.min(axis=0) / spacing) * spacing
    shape = tuple(int(n) for n in np.ceil((used.max(axis=0) - low) / spacing).astype(np.int64) + 1)
    inside = enclosed_grid(vertices, faces, pieces.closed[piece], low, spacing, shape)
    owner = _owners(vertices, faces, piece, pieces, low, spacing, shape)
    owner = np.where(inside, owner, -1)
    thick = _depths(owner, pieces.count) * spacing >= config.thin * cell
    place = np.argwhere(owner >= 0)
    points, of = low + (place + 0.5) * spacing, owner[tuple(place.T)]
    counts = np.bincount(of, minlength=pieces.count)
    keep = ((counts >= FEWEST) & (thick | _loose(body, pieces)))[of]
    points, of = points[keep], of[keep]
    volumes = np.full(len(points), spacing**3)
    # The lattice meets the surface anyhow; particles hold what the piece holds, unless others lie in it.
    alone = np.bincount(of, minlength=pieces.count) * spacing**3
    scale = np.where(alone > 0, pieces.volume / np.maximum(alone, 1e-300), 1.0)
    volumes = volumes * np.clip(scale, 0.7, 1.3)[of]
    return _Share(points, volumes, _nearest_vertex(body, vertices, pieces, points, of, cell), of, SOLID)


def _owners(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    piece: Int[np.ndarray, " F"],
    pieces: Pieces,
    low: Float[np.ndarray, "3"],
    spacing: float,
    shape: tuple[int, ...],
) -> Int[np.ndarray, "X Y Z"]:
    """The smallest piece around each place of a lattice; -1 where there is none."""
    names = np.unique(piece)
    if len(names) == 1:
        return np.full(shape, int(names[0]))
    owner = np.full(shape, -1)
    for index in names[np.argsort(-pieces.volume[names], kind="stable")]:
        own = faces[piece == index]
        corners = vertices[own].reshape(-1, 3)
        first = np.maximum(np.floor((corners.min(axis=0) - low) / spacing).astype(np.int64), 0)
        last = np.minimum(np.ceil((corners.max(axis=0) - low) / spacing).astype(np.int64), np.array(shape))
        box = tuple(int(n) for n in last - first)
        turns = np.abs(winding_grid(vertices, own, low + first * spacing, spacing, box))
        view = owner[tuple(slice(int(a), int(b)) for a, b in zip(first, last, strict=True))]
        view[turns > 0.5] = index
    return owner


def _depths(owner: Int[np.ndarray, "X Y Z"], count: int) -> Float[np.ndarray, " C"]:
    """Width of the largest ball in each piece [places of the lattice]."""
    from scipy.ndimage import distance_transform_edt, find_objects

    out = np.zeros(count)
    for index, box in enumerate(find_objects(owner + 1, max_label=count)):
        if box is not None:
            mine = np.pad(owner[box] == index, 1)
            out[index] = 2.0 * float(distance_transform_edt(mine).max()) - 1.0
    return out


def _nearest_vertex(
    body: Body,
    vertices: Float[np.ndarray, "V 3"],
    pieces: Pieces,
    points: Float[np.ndarray, "P 3"],
    of: Int[np.ndarray, " P"],
    cell: float,
) -> Int[np.ndarray, " P"]:
    """The vertex of its piece whose material a point has: a corner of the nearest face."""
    from scipy.spatial import cKDTree

    materials, out = body.stuff, np.zeros(len(points), dtype=np.int64)
    for index in np.unique(of):
        faces, mine = pieces.faces[pieces.piece == index], of == index
        out[mine] = faces[0, 0]
        if materials.values or len(np.unique(materials.ids[faces])) > 1:
            spread, source = spread_points(vertices / (3.0 * cell), faces)
            out[mine] = faces[source[cKDTree(3.0 * cell * spread).query(points[mine])[1]], 0]
    return out


def _shells(
    vertices: Float[np.ndarray, "V 3"],
    pieces: Pieces,
    chosen: Int[np.ndarray, " n"],
    thickness: Float[np.ndarray, " F"],
    cell: float,
) -> _Share:
    """Points on the surface of stiff thin pieces, about one for each half cell that it passes."""
    spacing = cell / PER_SIDE
    mine = np.flatnonzero(np.isin(pieces.piece, chosen))
    if not len(mine):
        return _Share(np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64), SHELL)
    faces = pieces.faces[mine]
    spread, source = spread_points(vertices / (3.0 * spacing), faces)
    spread = 3.0 * spacing * spread
    areas = (face_areas(vertices, faces) / np.bincount(source, minlength=len(faces)))[source]
    of = pieces.piece[mine][source]
    place = np.floor((spread - spread.min(axis=0)) / spacing).astype(np.int64)
    shape = (pieces.count, *(place.max(axis=0) + 1).tolist())
    keys = np.ravel_multi_index((of, *place.T), shape)
    first, group = np.unique(keys, return_index=True, return_inverse=True)[1:]
    group = group.reshape(-1)
    total = np.bincount(group, weights=areas)
    points = np.stack([np.bincount(group, weights=areas * spread[:, k]) for k in range(3)], axis=1) / total[:, None]
    volumes = np.bincount(group, weights=areas * thickness[mine][source])
    return _Share(points, volumes, faces[source[first], 0], of[first], SHELL)


def _joined(
    body: Body,
    vertices: Float[np.ndarray, "V 3"],
    pieces: Pieces,
    shares: list[_Share],
    sheets: tuple[Int[np.ndarray, " n"], Float[np.ndarray, " F"]],
    size: float,
    cell: float,
    config: ParticleEngineConfig,
) -> Filling:
    from scipy.spatial import cKDTree

    chosen, thickness = sheets
    before = sum(len(share.points) for share in shares)
    mine = np.flatnonzero(np.isin(pieces.piece, chosen))
    points, triangles, face = _sheet_mesh(vertices, pieces.faces[mine], EDGE * cell, config.most_own)
    face = mine[face]
    areas, behind = face_areas(points, triangles), thickness[face]
    # New triangles cut corners; each piece keeps its area.
    now = np.bincount(pieces.piece[face], weights=areas, minlength=pieces.count)
    areas = areas * (pieces.area / np.maximum(now, 1e-300))[pieces.piece[face]]
    corner_volumes = np.bincount(triangles.reshape(-1), np.repeat(areas * behind / 3.0, 3), minlength=len(points))
    vertex = np.zeros(len(points), dtype=np.int64)
    if len(points):
        own = np.unique(pieces.faces[mine])
        vertex = own[cKDTree(vertices[own]).query(points)[1]]
    materials = body.stuff.take(pieces.faces[face, 0])
    plane, bending = plane_young(materials, size, config.stretch), as_built(body).young[pieces.faces[face, 0]]
    # A thin slab is two sheets, half as thick each, that bend as the whole slab does.
    slab = np.where(pieces.holds[pieces.piece[face]], 4.0, 1.0)
    own_piece = np.zeros(len(points), dtype=np.int64)
    own_piece[triangles.reshape(-1)] = np.repeat(pieces.piece[face], 3)
    sheet = _Share(points, np.maximum(corner_volumes, 1e-300), vertex, own_piece, SHEET)
    everything = [*shares, sheet]
    vertex = np.concatenate([share.vertex for share in everything])
    return Filling(
        np.concatenate([share.points for share in everything]),
        np.concatenate([share.volumes for share in everything]),
        body.stuff.density[vertex],
        vertex,
        np.concatenate([share.piece for share in everything]),
        np.concatenate([np.full(len(share.points), share.fill) for share in everything]),
        triangles + before,
        plane * behind,
        bending * behind**3 * slab,
        np.clip(materials.poisson, -0.9, POISSON),
        pieces,
        cell / PER_SIDE,
    )


def _sheet_mesh(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], edge: float, most_own: float
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "T 3"], Int[np.ndarray, " T"]]:
    """Triangles of about one size, coincident vertices joined, and the face that each comes from."""
    if not len(faces):
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64)
    used, index = np.unique(faces, return_inverse=True)
    points, place = np.unique(vertices[used], axis=0, return_inverse=True)
    local = place.reshape(-1)[index.reshape(-1, 3)]
    whole = np.flatnonzero((np.diff(np.sort(local, axis=1), axis=1) > 0).all(axis=1))
    whole = whole[np.unique(np.sort(local[whole], axis=1), axis=0, return_index=True)[1]]
    sheet = face_components(points, local[whole], weld=False)
    out: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for name in range(int(sheet.max(initial=-1)) + 1):
        mine = np.sort(whole[sheet == name])
        out.append(_even(points, local[mine], mine, edge, most_own))
    starts = np.cumsum([0, *(len(each[0]) for each in out)])
    return (
        np.concatenate([each[0] for each in out]),
        np.concatenate([each[1] + start for each, start in zip(out, starts, strict=False)]),
        np.concatenate([each[2] for each in out]),
    )


def _even(
    points: Float[np.ndarray, "W 3"],
    local: Int[np.ndarray, "F 3"],
    names: Int[np.ndarray, " F"],
    edge: float,
    most_own: float,
) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, "T 3"], Int[np.ndarray, " T"]]:
    """One connected sheet: its own triangles where they have about the wanted size, new ones otherwise."""
    from scipy.spatial import cKDTree

    used, index = np.unique(local, return_inverse=True)
    corners, triangles = points[used], index.reshape(-1, 3)
    lengths = np.linalg.norm(corners[triangles] - corners[np.roll(triangles, 1, axis=1)], axis=2)
    wanted = float(face_areas(corners, triangles).sum()) / (np.sqrt(3.0) / 4.0 * edge**2)
    if np.quantile(lengths, 0.98) <= LONGEST_OWN * edge and len(triangles) <= most_own * max(wanted, 8.0):
        return corners, triangles, names
    for tries in range(3):
        new, even = even_triangles(corners, triangles, edge / 2**tries)
        drawn = drawn_out(new, even, corners, 0.5 * OFF * edge)
        far = [float(closest_point(corners, one, even).distances.max()) for one in (new, drawn)]
        new = drawn if far[1] < far[0] else new
        if min(far) <= OFF * edge:
            break
    spread, source = spread_points(corners / (3.0 * edge), triangles)
    return new, even, names[source[cKDTree(3.0 * edge * spread).query(new[even].mean(axis=1))[1]]]
