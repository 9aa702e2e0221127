"""Convex pieces that keep the hollows of a mesh: what stands in for a part in collisions.

A piece may stand out of the part by a stated share of its size, measured at the cells of a grid. Connected components
that are convex within that error stay whole; the others are cut, closed solids by CoACD, open sheets and solids that it
cannot take (they cut themselves) by planes of our own; pieces that are convex together are joined again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.geometry import topology
from neurok.geometry.convex import (
    MAX_HULL_POINTS,
    Piece,
    Primitive,
    clipped,
    convex_hull,
    fit_primitive,
    hull_planes,
    hull_volume,
)
from neurok.geometry.decimate import decimate
from neurok.geometry.operators import closed_components
from neurok.geometry.voxels import enclosed_grid
from neurok.sandbox import SANDBOX, Ended, Limits

Soup = Float[np.ndarray, "n 3 3"]
"""Triangles by their corners."""


@dataclass(frozen=True)
class DecompositionConfig:
    """How finely convex pieces follow a part."""

    error: float = 0.01
    """How far a piece may stand out of the part, as a share of the part's size (the diagonal of its box). Chosen so
    that a round bucket keeps nine tenths of its hollow."""

    cells: int = 64
    """Grid cells along the longest side, on which the error is measured."""

    places: int = 4000
    """Cells that are asked about one piece; more are thinned out evenly."""

    max_pieces: int = 64
    """Of one part; the worst are cut first, so the rest of the error is where it is smallest."""

    small: float = 0.04
    """Components smaller than this share of the part join a neighbour if the error allows it."""

    max_components: int = 200
    """Beyond so many components of a part the smallest are left out of collisions."""

    max_faces: int = 3000
    """Of a component that has to be cut; more are thinned out first."""

    corners: int = MAX_HULL_POINTS
    """Of one piece."""


DECOMPOSITION = DecompositionConfig()

NEAR, SPACING = 3.0, 0.5
"""Cells this near to the surface have their distance measured, to points so far apart, both in cells."""

COACD = {"mcts_iterations": 20, "mcts_nodes": 10, "mcts_max_depth": 2, "resolution": 500}
"""Its tree search (the default of 150 iterations takes 20 times as long and saves a quarter of the pieces), and the
points with which it measures (2,000 by default)."""

PATIENCE = 60.0
"""Processor time that CoACD may take for one component [s]; tens of times what common parts need."""

FLAT = 1e-3
"""Thickness of what has none, as a share of the part's size."""

CONVEX = 0.999
"""A closed component that fills this share of its hull is convex, and no grid is needed to tell."""


@dataclass(frozen=True, eq=False)
class CollisionSolid:
    """One convex shape of a part, and the primitive that it is, if any."""

    piece: Piece
    primitive: Primitive | None = None

    def moved(self, offset: Float[np.ndarray, "3"]) -> CollisionSolid:
        """The same elsewhere."""
        vertices, faces = self.piece
        return CollisionSolid((vertices + offset, faces), self.primitive and self.primitive.moved(offset))


def collision_solids(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    thickness: float | None = None,
    config: DecompositionConfig = DECOMPOSITION,
) -> list[CollisionSolid]:
    """Convex shapes of a part; nothing where it has no extent.

    Args:
        vertices: Positions, in any unit.
        faces: Those of the part.
        thickness: Of open sheets; by default a thousandth of the part's size.
        config: How finely.
    """
    if len(faces) == 0:
        return []
    used, inverse = np.unique(faces, return_inverse=True)
    points = np.ascontiguousarray(vertices[used], dtype=np.float64)
    return list(_solids(points.tobytes(), inverse.astype(np.int64).tobytes(), thickness, config))


@lru_cache(maxsize=64)
def _solids(
    points: bytes, corners: bytes, thickness: float | None, config: DecompositionConfig
) -> tuple[CollisionSolid, ...]:
    """Answers are kept, since one object is often written in several formats."""
    vertices, faces = np.frombuffer(points).reshape(-1, 3), np.frombuffer(corners, dtype=np.int64).reshape(-1, 3)
    used = np.unique(faces)
    size = float(np.linalg.norm(np.ptp(vertices[used], axis=0)))
    if size <= 0.0:
        return ()
    space = FreeSpace(vertices, faces, size, FLAT * size if thickness is None else min(thickness, 0.05 * size), config)
    whole, rough = _components(space, faces)
    cut: list[Piece] = []
    for mine, closed in rough:
        cut += _cut_component(space, mine, closed, max(1, config.max_pieces - len(cut)))
    kept = [solid for solid in whole if solid.primitive is not None]
    loose = [solid.piece for solid in whole if not any(solid is one for one in kept)]
    joined = _join(space, [*cut, *loose])
    return *kept, *(CollisionSolid(piece, fit_primitive(piece)) for piece in joined)


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """The free space around a part: places that no piece should hold, and how far each is from the part."""

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    size: float
    thickness: float
    config: DecompositionConfig

    @property
    def error(self) -> float:
        return self.config.error * self.size

    @cached_property
    def grid(self) -> tuple[Float[np.ndarray, "3"], float, Float[np.ndarray, "X Y Z"]]:
        """Lowest corner and side of the cells, and how far each is from the part; 0 in it and at its surface.

        What nothing can reach from outside, as the space between two walls, counts as part of it.
        """
        from scipy.ndimage import distance_transform_edt
        from scipy.spatial import cKDTree

        corners = self.vertices[self.faces]
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        cell = float((high - low).max()) / self.config.cells
        shape = tuple(int(n) for n in np.maximum(np.ceil((high - low) / cell), 1))
        component = topology.face_components(self.vertices, self.faces)
        closed = closed_components(self.vertices, self.faces, component)[component]
        filled = enclosed_grid(self.vertices, self.faces, closed, low, cell, shape)
        samples = _samples(corners, SPACING * cell)
        filled[tuple(np.clip((samples - low) // cell, 0, np.array(shape) - 1).astype(np.int64).T)] = True
        filled = ~_reached(~filled)
        steps = distance_transform_edt(~filled)
        distance = np.maximum(steps - 0.5, 0.0) * cell
        # Near the surface, which lies anywhere in the last cell that it fills, the distance is measured.
        near = np.argwhere((steps > 0) & (steps < NEAR))
        distance[tuple(near.T)] = cKDTree(samples).query(low + (near + 0.5) * cell)[0]
        return low, cell, distance

    @cached_property
    def distance(self) -> Float[np.ndarray, " N"]:
        """Of each place from the part."""
        return self.grid[2].reshape(-1)

    def places(self, held: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n 3"]:
        """Centres of some cells."""
        low, cell, values = self.grid
        return low + (np.stack(np.unravel_index(held, values.shape), axis=1) + 0.5) * cell

    def inside(
        self, piece: Piece, among: Int[np.ndarray, " n"] | None = None, deeper: float = 0.0, limit: int | None = None
    ) -> Int[np.ndarray, " m"]:
        """Free places that a piece holds, or some of them, spread evenly: at most ``limit`` of its box are asked."""
        low, cell, values = self.grid
        if among is None:
            first = np.maximum(np.floor((piece[0].min(axis=0) - low) / cell).astype(np.int64), 0)
            last = np.ceil((piece[0].max(axis=0) - low) / cell).astype(np.int64)
            box = tuple(slice(int(a), max(int(b), int(a))) for a, b in zip(first, last, strict=True))
            where = np.argwhere(values[box] > deeper) + first
            among = np.ravel_multi_index(tuple(where.T), values.shape) if len(where) else np.zeros(0, dtype=np.int64)
        places = self.places(among)
        near = ((places > piece[0].min(axis=0)) & (places < piece[0].max(axis=0))).all(axis=1)
        among, places = among[near], places[near]
        if limit is not None and len(among) > limit:
            some = np.linspace(0, len(among) - 1, limit).astype(np.int64)
            among, places = among[some], places[some]
        if not len(among):
            return among
        normals, heights = hull_planes(piece)
        return among[(places @ normals.T < heights).all(axis=1)]

    def keeps(self, piece: Piece) -> bool:
        """Whether a piece stands out of the part by no more than the error."""
        return not len(self.inside(piece, deeper=self.error, limit=self.config.places))

    def depth(self, held: Int[np.ndarray, " n"]) -> float:
        """How far the deepest of some places lies from the part."""
        return float(self.distance[held].max(initial=0.0))

    def hull(self, points: Float[np.ndarray, "n 3"], is_sheet: bool = False) -> Piece | None:
        """The hull of some points; a sheet gets its thickness, what is solid has its own."""
        least = self.thickness if is_sheet else min(self.thickness, FLAT * self.size)
        return convex_hull(points, least, self.config.corners)


def _reached(free: Bool[np.ndarray, "X Y Z"]) -> Bool[np.ndarray, "X Y Z"]:
    """Free cells that are connected to the space around the grid."""
    from scipy.ndimage import label

    areas, _ = label(np.pad(free, 1, constant_values=True))
    return np.asarray(areas == areas[0, 0, 0])[1:-1, 1:-1, 1:-1]


@dataclass(eq=False)
class _Cut:
    """A piece on its way: its triangles, its hull and the free places that this holds."""

    soup: Soup
    piece: Piece
    held: Int[np.ndarray, " m"]
    depth: float
    excess: float
    """Sum of the distances of what it holds."""


def _components(
    space: FreeSpace, faces: Int[np.ndarray, "F 3"]
) -> tuple[list[CollisionSolid], list[tuple[np.ndarray, bool]]]:
    """Connected components that are convex within the error, as solids; and the faces of the others."""
    component = topology.face_components(space.vertices, faces)
    closed = closed_components(space.vertices, faces, component)
    order = np.argsort(component, kind="stable")
    groups = np.split(faces[order], np.flatnonzero(np.diff(component[order])) + 1)
    sizes = np.array([np.linalg.norm(np.ptp(space.vertices[np.unique(group)], axis=0)) for group in groups])
    whole: list[CollisionSolid] = []
    rough: list[tuple[np.ndarray, bool]] = []
    for k in np.argsort(-sizes, kind="stable")[: space.config.max_components]:
        piece = space.hull(space.vertices[np.unique(groups[k])], is_sheet=not closed[k])
        if piece is None:
            continue
        convex = closed[k] and _volume(space.vertices[groups[k]]) > CONVEX * hull_volume(piece)
        if convex or sizes[k] <= space.error or space.keeps(piece):
            # Small ones may still be joined, and are asked what they are afterwards.
            whole.append(
                CollisionSolid(piece, fit_primitive(piece) if sizes[k] > space.config.small * space.size else None)
            )
        else:
            rough.append((groups[k], bool(closed[k])))
    return whole, rough


def _volume(soup: Soup) -> float:
    """What closed triangles enclose."""
    return float(abs(np.linalg.det(soup - soup.mean(axis=(0, 1))).sum()) / 6.0)


def _cut_component(space: FreeSpace, faces: Int[np.ndarray, "F 3"], closed: bool, limit: int) -> list[Piece]:
    """Convex pieces of one component."""
    used, inverse = np.unique(faces, return_inverse=True)
    vertices, faces = space.vertices[used], inverse.reshape(-1, 3)
    if len(faces) > space.config.max_faces:
        vertices, faces, _ = decimate(vertices, faces, space.config.max_faces)
    pieces = _by_coacd(space, vertices, faces, limit) if closed else []
    return pieces or _by_planes(space, vertices[faces], limit)


def _by_coacd(space: FreeSpace, vertices: np.ndarray, faces: np.ndarray, limit: int) -> list[Piece]:
    """Nothing where CoACD dies of the mesh."""
    # CoACD measures concavity where the longest half side is 1.
    threshold = float(np.clip(2.0 * space.error / np.ptp(vertices, axis=0).max(), 0.01, 1.0))
    try:
        found = SANDBOX.call(
            "neurok.geometry.decomposition:run_coacd",
            vertices,
            faces,
            limits=Limits(cpu=PATIENCE),
            preload=("coacd",),
            threshold=threshold,
            max_convex_hull=limit,
            preprocess_mode="off",
            seed=0,
            **COACD,
        )
    except Ended:
        return []
    hulls = [space.hull(points) for points in found if len(points) > 3]
    return [piece for piece in hulls if piece is not None]


def run_coacd(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], **options: Any) -> list[np.ndarray]:
    """Corners of the convex pieces of a closed solid, in the sandbox: meshes that cut themselves can end it."""
    import coacd

    coacd.set_log_level("off")
    found = coacd.run_coacd(coacd.Mesh(vertices, faces), **options)
    return [np.asarray(points, dtype=np.float64) for points, _ in found]


def _by_planes(space: FreeSpace, soup: Soup, limit: int) -> list[Piece]:
    """Cut the piece that holds most free space by the plane that leaves least, until all are within the error."""
    first = _measured(space, soup, None)
    if first is None:
        return []
    done: list[_Cut] = []
    open_ones = [first]
    while open_ones:
        worst = max(range(len(open_ones)), key=lambda k: open_ones[k].excess)
        piece = open_ones.pop(worst)
        if piece.depth <= space.error or len(done) + len(open_ones) + 2 > limit:
            done.append(piece)
            continue
        halves = _best_cut(space, piece)
        if halves is None:
            done.append(piece)
            continue
        # Cuts are chosen by some of the places; what is kept is measured anew.
        again = (_measured(space, half.soup, None) for half in halves)
        open_ones += [half for half in again if half is not None]
    return [piece.piece for piece in done]


def _best_cut(space: FreeSpace, whole: _Cut) -> list[_Cut] | None:
    places = space.places(whole.held)
    points = whole.soup.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    deep = places[space.distance[whole.held] > 0.5 * space.error]
    best: list[_Cut] | None = None
    for axis in range(3):
        if high[axis] - low[axis] < 2.0 * space.thickness:
            continue
        mine = deep[:, axis] if len(deep) else places[:, axis]
        wishes = [0.5 * (low[axis] + high[axis]), mine.mean(), mine.min(), mine.max()]
        # Walls end where corners are: a cut near one goes through it, and those are tried first.
        known = np.unique(points[:, axis])
        nearest = [float(known[np.abs(known - wish).argmin()]) for wish in wishes]
        snapped = [n if abs(n - w) <= space.grid[1] or k > 1 else w for k, (n, w) in enumerate(zip(nearest, wishes))]
        least = 1e-3 * (high[axis] - low[axis])
        for height in sorted(set(snapped), key=lambda h: (h not in nearest, h)):
            if not low[axis] + least < height < high[axis] - least:
                continue
            sides = [
                _measured(space, clipped(whole.soup, side * np.eye(3)[axis], side * height), whole.held)
                for side in (-1, 1)
            ]
            found = [side for side in sides if side is not None]
            if len(found) == 2 and (best is None or sum(s.excess for s in found) < sum(s.excess for s in best)):
                best = found
    return best


def _measured(space: FreeSpace, soup: Soup, among: Int[np.ndarray, " m"] | None) -> _Cut | None:
    if not len(soup):
        return None
    piece = space.hull(soup.reshape(-1, 3), is_sheet=True)
    if piece is None:
        return None
    held = space.inside(piece, among, limit=space.config.places)
    return _Cut(soup, piece, held, space.depth(held), float(space.distance[held].sum()))


def _join(space: FreeSpace, pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces with neighbours joined, the smallest first, as long as the error allows it."""
    alive = dict(enumerate(pieces))
    volumes = {k: hull_volume(piece) for k, piece in alive.items()}
    tried: set[tuple[int, int]] = set()
    fresh = len(pieces)
    queue = sorted(alive, key=lambda k: volumes[k])
    while queue:
        k = queue.pop(0)
        if k not in alive:
            continue
        for other in _neighbours(alive, k, space.error):
            pair = (min(k, other), max(k, other))
            if pair in tried:
                continue
            tried.add(pair)
            both = space.hull(np.concatenate([alive[k][0], alive[other][0]]))
            if both is None or not space.keeps(both):
                continue
            del alive[k], alive[other]
            alive[fresh], volumes[fresh] = both, hull_volume(both)
            queue.append(fresh)
            fresh += 1
            break
    return list(alive.values())


def _neighbours(alive: dict[int, Piece], k: int, reach: float) -> list[int]:
    """Pieces whose box comes near that of another, the nearest middle first."""
    low, high = alive[k][0].min(axis=0) - reach, alive[k][0].max(axis=0) + reach
    middle = alive[k][0].mean(axis=0)
    near = [
        (float(np.linalg.norm(piece[0].mean(axis=0) - middle)), other)
        for other, piece in alive.items()
        if other != k and (piece[0].min(axis=0) < high).all() and (piece[0].max(axis=0) > low).all()
    ]
    return [other for _, other in sorted(near)]


def _samples(triangles: Soup, spacing: float) -> Float[np.ndarray, "N 3"]:
    """Points on triangles at most ``spacing`` apart: rows parallel to the longest side, each divided evenly."""
    lengths = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
    turn = (lengths.argmax(axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(triangles, turn[:, :, None], axis=1), 1, 0)
    longest = lengths.max(axis=1)
    heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(longest, 1e-300)
    across, along = (np.clip(np.ceil(width / spacing), 1, 400).astype(np.int64) for width in (heights, longest))
    out = []
    for rows, columns in np.unique(np.stack([across, along], axis=1), axis=0):
        mine = (across == rows) & (along == columns)
        up, over = np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1), indexing="ij")
        weights = np.stack([(1 - up) * (1 - over), (1 - up) * over, up], axis=-1).reshape(-1, 3)
        corners = np.stack([a[mine], b[mine], c[mine]], axis=1)
        out.append(np.einsum("sk,fki->fsi", weights, corners).reshape(-1, 3))
    return np.concatenate(out)
