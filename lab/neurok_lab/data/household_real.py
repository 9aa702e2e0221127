"""Real household models as assemblies: closed solids, copies found, pieces of scene nodes coloured and placed.

One model in five, by a checksum of its name, is kept aside: it is measured by and never learned from. One in three of
the others is watched: generation does not learn from it, and choices are made by it.
"""

from __future__ import annotations

import csv
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.catalogue.appearance import colour_words, rgb_of
from neurok.catalogue.parts import Appearance, Assembly, Part, Repeat
from neurok.catalogue.vocabulary import PART_NAMES
from neurok.core import Asset, Mesh
from neurok.core.select import Region, regions_of
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.level_set import level_set
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.geometry.topology import face_components
from neurok.io import load
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.forms import CODE, fitted
from neurok.modelling.shapes import Shape

# How triangles without an inside become a solid.
CLOSING_CELLS = 28  # Along each side of the box, whatever its proportions.
CLOSING_WELD = 1e-4
"""Corners nearer than about this share of the longest side are one, where those that are equal do not close."""
CLOSING_GAP = 1.5
"""Cells: openings narrower than twice this are seams and not mouths, so that what lies behind them is inside."""
CLOSING_SAMPLES = 10  # Points on the surface, for each square of a cell: so many that no outside comes in between.
CLOSING_MOST = 150_000  # Points on the surface, of foliage and the like.
CLOSING_SKIN = 0.6  # Cells by which the solid is thicker than the surface on either side: what is open becomes a wall.
CLOSING_COARSE = 0.25  # Cells by which the mesh may be off, so that flat places need few triangles.
CLOSING_THINNEST = 2e-3  # [m] Least side of a box.


def closed_solid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    capped: bool = False,
) -> Shape | None:
    """The solid that some triangles bound: as they are where they close, else what they keep from the outside.

    ``capped`` covers what is open: undersides of cushions and ends of legs, which nobody sees, are often left out. None
    where they have no area.
    """
    near = CLOSING_WELD * float(np.ptp(vertices[faces].reshape(-1, 3), axis=0).max()) if len(faces) else 0.0
    for weld, covered in ((0.0, False), (near, False), *(((near, True),) if capped else ())):
        exact = _as_it_is(vertices, faces, weld, covered)
        if exact is not None:
            return exact
    return filled(vertices, faces)


def covered_holes(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    """A mesh with a fan of triangles over each loop of its border; loops that touch each other stay open."""
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    there = {(int(a), int(b)) for a, b in edges}
    border = [(a, b) for a, b in there if (b, a) not in there]
    follow = dict(border)
    if len(follow) < len(border):
        return vertices, faces
    places, fans = [vertices], [faces]
    while follow:
        loop = [next(iter(follow))]
        while (after := follow.pop(loop[-1], None)) is not None and after != loop[0]:
            loop.append(after)
        if after is None or len(loop) < 3:
            continue
        ring, middle = np.array(loop), sum(map(len, places))
        places.append(vertices[ring].mean(axis=0, keepdims=True))
        fans.append(np.column_stack([np.roll(ring, -1), ring, np.full(len(ring), middle)]))
    return np.concatenate(places), np.concatenate(fans)


def _as_it_is(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], weld: float, covered: bool
) -> Shape | None:
    """The union of the components of a mesh that closes once near vertices are merged and faces there twice are not."""
    import manifold3d

    cells = np.round(vertices / weld) if weld > 0 else vertices
    _, first, index = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    places = vertices[first]
    merged = index.reshape(-1)[faces]
    merged = merged[(merged != np.roll(merged, 1, axis=1)).all(axis=1)]
    merged = merged[np.unique(np.sort(merged, axis=1), axis=0, return_index=True)[1]]
    if not len(merged):
        return None
    if covered:
        places, merged = covered_holes(places, merged)
    mesh = manifold3d.Mesh64(np.ascontiguousarray(places), np.ascontiguousarray(merged.astype(np.uint64)))
    solid = manifold3d.Manifold(mesh)
    if solid.status() != manifold3d.Error.NoError or solid.is_empty():
        return None
    pieces = [piece for piece in solid.decompose() if piece.volume() > 0]
    if not pieces or sum(piece.volume() for piece in pieces) < 0.9 * sum(abs(p.volume()) for p in solid.decompose()):
        return None
    whole = manifold3d.Manifold.batch_boolean(pieces, manifold3d.OpType.Add)
    return None if whole.is_empty() else from_manifold(whole)


def filled(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Shape | None:
    """All that cannot be reached from outside but through seams, and a skin about the triangles."""
    from scipy.ndimage import distance_transform_edt, label
    from scipy.spatial import cKDTree

    corners = vertices[faces]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size = np.maximum(high - low, CLOSING_THINNEST)
    boxed = Shape((vertices - (low + high) / 2) / (size / 2), faces)
    reach = 1.0 + 6.0 / CLOSING_CELLS
    axis = np.linspace(-reach, reach, CLOSING_CELLS + 7)
    cell = axis[1] - axis[0]
    count = int(CLOSING_SAMPLES * face_areas(boxed.vertices, boxed.faces).sum() / cell**2)
    if count == 0:
        return None
    drawn = sample_surface(boxed.vertices, boxed.faces, min(count, CLOSING_MOST), np.random.default_rng(0))
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    away = cKDTree(drawn.interpolate(boxed.vertices)).query(grid.reshape(-1, 3))[0].reshape(grid.shape[:3])
    regions, _ = label(away > CLOSING_GAP * cell)
    is_far = np.asarray(distance_transform_edt(regions != regions[0, 0, 0])) > CLOSING_GAP
    is_enclosed = is_far & (away > CLOSING_SKIN * cell)
    field = np.where(is_enclosed, -away, away) - CLOSING_SKIN * cell
    places, triangles = level_set(field, np.full(3, -reach), np.full(3, reach))
    if not len(triangles):
        return None
    simple = to_manifold(Shape(places, triangles)).simplify(CLOSING_COARSE * cell)
    shape = fitted(from_manifold(simple), size)
    return shape.move(*((low + high) / 2)).outward()


# When parts count as copies; lengths are shares of the longest side of the part.
REPEAT_OFF = 0.02  # Largest difference of sides and of places where a copy should stand ...
REPEAT_AREA = 0.03  # ... of areas, a share, ...
REPEAT_COLOUR = 0.05  # ... and of colours (sRGB, 0..1).
REPEAT_AWAY = 0.006  # Mean distance of the surfaces, beyond what sampling leaves.
REPEAT_POINTS = (200, 1500)  # Drawn on one surface and on the other.
REPEAT_ROW = 3  # Fewest copies of a row or a ring; two are a pair, and mirrored if they can be.


@dataclass(frozen=True, eq=False)
class Single:
    """A closed solid [m] that may be one of several."""

    solid: Shape
    appearance: Appearance
    name: str
    repeat: Repeat = field(default_factory=Repeat)
    """How often it stands there, this one first."""

    @cached_property
    def centre(self) -> Float[np.ndarray, "3"]:
        """Of its box."""
        return self.solid.bounds.mean(axis=0)

    @cached_property
    def middle(self) -> Float[np.ndarray, "3"]:
        """Of its surface, which turns with it."""
        weights = face_areas(self.solid.vertices, self.solid.faces)
        return np.average(self.solid.vertices[self.solid.faces].mean(axis=1), axis=0, weights=weights)

    @cached_property
    def size(self) -> Float[np.ndarray, "3"]:
        return np.ptp(self.solid.bounds, axis=0)

    @property
    def longest(self) -> float:
        return float(self.size.max())

    @cached_property
    def area(self) -> float:
        return float(face_areas(self.solid.vertices, self.solid.faces).sum())

    def points(self, count: int, seed: int) -> Float[np.ndarray, "N 3"]:
        """On its surface, about the middle of it."""
        shape = self.solid
        drawn = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(seed))
        return drawn.interpolate(shape.vertices) - self.middle

    @cached_property
    def few(self) -> Float[np.ndarray, "N 3"]:
        return self.points(REPEAT_POINTS[0], 0)

    @cached_property
    def tree(self):  # type: ignore[no-untyped-def]
        from scipy.spatial import cKDTree

        return cKDTree(self.points(REPEAT_POINTS[1], 1))

    @cached_property
    def spacing(self) -> float:
        """Mean distance of its own points from others of its own."""
        return float(self.tree.query(self.few)[0].mean())


def repeated(found: list[Single]) -> list[Single]:
    """The same solids, of copies only the first, which says where the others stand."""
    left, out = list(found), []
    while left:
        first = left[0]
        alike = [one for one in left[1:] if _is_alike(first, one)]
        start, repeat, used = max(_ways(first, alike), key=lambda way: len(way[2]))
        out.append(replace(start, repeat=repeat))
        left = [one for one in left if all(one is not other for other in used)]
    return out


Way = tuple[Single, Repeat, list[Single]]
"""Which is the first, how it is repeated, and all that this makes."""


def _is_alike(one: Single, other: Single) -> bool:
    looks_same = one.appearance.material == other.appearance.material and one.name == other.name
    colour = float(np.abs(np.subtract(one.appearance.rgb, other.appearance.rgb)).max())
    return looks_same and colour < REPEAT_COLOUR and abs(one.area - other.area) < REPEAT_AREA * one.area


def _ways(first: Single, alike: list[Single]) -> list[Way]:
    """Once, and all repeats that begin with it, those that are preferred first."""
    ways: list[Way] = [(first, Repeat(), [first])]
    signs = {"x": (-1.0, 1.0, 1.0), "z": (1.0, 1.0, -1.0), "xz": (-1.0, 1.0, -1.0), "": (1.0, 1.0, 1.0)}
    same = {name: [one for one in alike if _covers(first, one, np.diag(sign))] for name, sign in signs.items()}
    near = REPEAT_OFF * first.longest
    for x in (one for one in same["x"] if _within(first, one, (1, 2), near)):
        ways.append((first, Repeat("x", pivot=_pivot(first, x)), [first, x]))
    for z in (one for one in same["z"] if _within(first, one, (0, 1), near)):
        ways.append((first, Repeat("z", pivot=_pivot(first, z)), [first, z]))
    for xz in (one for one in same["xz"] if _within(first, one, (1,), near)):
        corner = [next((o for o in same[k] if _within(o, xz, (1, a), near) and _within(o, first, (1, b), near)), None)
                  for k, a, b in (("x", 0, 2), ("z", 2, 0))]  # fmt: skip
        if corner[0] is not None and corner[1] is not None and len({id(o) for o in (*corner, xz)}) == 3:
            ways.append((first, Repeat("xz", pivot=_pivot(first, xz)), [first, corner[0], corner[1], xz]))
    apart = [one for one in same[""] if not _within(first, one, (0, 1, 2), near)]  # a shorter step leads nowhere
    ways += [way for other in apart if len((way := _row(first, other, same[""], near))[2]) >= REPEAT_ROW]
    ways += [way for way in [_ring(first, alike)] if way is not None]
    if len(ways) == 1 and same[""]:
        other = same[""][0]
        ways.append((first, Repeat(count=2, step=other.middle - first.middle), [first, other]))
    return ways


def _covers(one: Single, other: Single, turn: Float[np.ndarray, "3 3"]) -> bool:
    """Whether a solid, turned or mirrored about its middle, lies on another about its own."""
    if np.abs(np.abs(turn) @ one.size - other.size).max() > REPEAT_OFF * one.longest and _is_signed(turn):
        return False
    moved = one.few @ turn.T
    away = other.tree.query(moved)[0]
    return bool(away.mean() < 1.3 * other.spacing + REPEAT_AWAY * one.longest)


def _is_signed(turn: np.ndarray) -> bool:
    return bool(np.isin(np.abs(turn), (0.0, 1.0)).all())


def _within(one: Single, other: Single, axes: tuple[int, ...], near: float) -> bool:
    return all(abs(one.middle[k] - other.middle[k]) < near for k in axes)


def _pivot(one: Single, other: Single) -> tuple[float, float]:
    middle = (one.middle + other.middle) / 2.0
    return float(middle[0]), float(middle[2])


def _row(first: Single, second: Single, same: list[Single], near: float) -> Way:
    """All that stand at equal steps from the first, before and behind it."""
    step, chain = second.middle - first.middle, [first]
    for sign in (1.0, -1.0):
        place = first.middle + sign * step
        while (found := next((o for o in same if np.abs(o.middle - place).max() < near), None)) is not None:
            chain = [*chain, found] if sign > 0 else [found, *chain]
            place = found.middle + sign * step
    mean = (chain[-1].middle - chain[0].middle) / max(len(chain) - 1, 1)
    return chain[0], Repeat(count=len(chain), step=mean), chain


def _ring(first: Single, alike: list[Single]) -> Way | None:
    """All that are alike, if they stand at equal angles around a vertical."""
    ring = [first, *(one for one in alike if _within(first, one, (1,), REPEAT_OFF * first.longest))]
    count = len(ring)
    if count < REPEAT_ROW:
        return None
    flat = np.array([one.middle[[0, 2]] for one in ring])
    pivot = flat.mean(axis=0)
    radius = np.linalg.norm(flat - pivot, axis=1)
    angles = np.sort(np.arctan2(*(flat - pivot).T[::-1]))
    gaps = np.diff([*angles, angles[0] + 2.0 * np.pi])
    if np.ptp(radius) > REPEAT_OFF * first.longest or np.ptp(gaps) > 0.1:
        return None
    angle = 2.0 * np.pi / count
    turn = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), angle)
    place = turn @ np.array([flat[0, 0] - pivot[0], 0.0, flat[0, 1] - pivot[1]])
    target = min(ring, key=lambda one: float(np.linalg.norm(one.middle[[0, 2]] - pivot - place[[0, 2]])))
    if target is first or not _covers(first, target, turn):
        return None
    return first, Repeat(count=count, turn=angle, pivot=(float(pivot[0]), float(pivot[1]))), ring


KEPT_ASIDE = 5
"""One model in so many."""

WATCHED = 3
"""One of the others in so many."""

VESSELS = ("bag", "hat", "plant", "vase")
"""Categories whose openings are meant."""

CATEGORY = {"potted plant": "plant"}
"""Our names of categories that the library calls otherwise."""


# How a region is cut into parts.
PART_APART = 0.02  # Components nearer than this share of the object's size are one part ...
PART_PIECES = 6  # ... and no more than so many of a region are parts of their own: the smaller ones join the nearest.
PART_SMALLEST = 0.012  # Parts whose longest side is a smaller share of the object's are left out.
PART_PARTS = 16  # Of an object, at most; the largest.


@dataclass(frozen=True)
class RealModel:
    """A file of the library."""

    path: Path
    category: str
    is_kept_aside: bool

    @property
    def is_watched(self) -> bool:
        """Whether generation does not learn from it, so that choices can be made by it."""
        return not self.is_kept_aside and zlib.crc32(self.path.stem.encode()) % WATCHED == 0

    @property
    def is_learned(self) -> bool:
        """Whether generation may learn from it."""
        return not self.is_kept_aside and not self.is_watched


def real_models(folder: Path) -> list[RealModel]:
    """All models of a folder with a ``categories.csv``, as Sweet Home 3D's was sorted.

    Raises:
        NeurokError: If there is no such list.
    """
    table = folder / "categories.csv"
    if not table.exists():
        raise NeurokError(f"There is no '{table}'; name the folder of the sorted furniture library.")
    with table.open(encoding="utf-8") as lines:
        rows = [(row["file"], row["category"]) for row in csv.DictReader(lines)]
    return [RealModel(folder / file, CATEGORY.get(kind, kind), is_kept_aside(file)) for file, kind in rows]


def is_kept_aside(file: str) -> bool:
    """Whether a model, named by its path within the library, must not be learned from."""
    return int(hashlib.sha256(file.encode()).hexdigest(), 16) % KEPT_ASIDE == 0


def real_assembly(thing: Asset | Path, category: str, stuff: Mapping[str, str]) -> Assembly:
    """A model as a list of implicit parts, the largest first, copies as one; each meets the nearest one before it.

    Args:
        thing: The model, or where it lies.
        category: What it is.
        stuff: A material of the library for each region of its mesh, by name.
    """
    mesh = (thing if isinstance(thing, Asset) else load(thing)).mesh
    found: list[Single] = []
    for region in regions_of(mesh):
        finish, name = look_of(mesh, region, stuff[region.name]), name_of(region)
        for faces in pieces_of(mesh, region):
            places = np.asarray(mesh.vertices, dtype=np.float64)
            solid = closed_solid(places, mesh.faces[faces], capped=category not in VESSELS)
            if solid is not None and np.ptp(solid.bounds, axis=0).max() > PART_SMALLEST * mesh.size:
                found.append(Single(solid, finish, name))
    if not found:
        raise NeurokError(f"'{mesh.name}' has no part with a surface.")
    found.sort(key=lambda one: -float(np.prod(one.size)))
    return Assembly(category, tuple(_placed(repeated(found)[:PART_PARTS])), name=mesh.name)


def pieces_of(mesh: Mesh, region: Region) -> list[Int[np.ndarray, " f"]]:
    """Faces of the parts of a region: connected components, those next to each other as one."""
    faces = mesh.faces[region.faces]
    label = face_components(np.asarray(mesh.vertices, dtype=np.float64), faces)
    count = int(label.max()) + 1
    corners = np.asarray(mesh.vertices, dtype=np.float64)[faces]
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, label, corners.min(axis=1))
    np.maximum.at(high, label, corners.max(axis=1))
    group = _grouped(low, high, PART_APART * mesh.size, PART_PIECES)
    return [region.faces[group[label] == each] for each in np.unique(group)]


def _grouped(
    low: Float[np.ndarray, "N 3"], high: Float[np.ndarray, "N 3"], apart: float, most: int
) -> Int[np.ndarray, " N"]:
    """Boxes joined while they overlap much or are too many; each group is named by one of its members."""
    group = np.arange(len(low))
    low, high = low.copy(), high.copy()
    alive = list(np.argsort(-np.prod(high - low + apart, axis=1)))
    for place in range(len(alive) - 1, 0, -1):
        one, others = alive[place], np.array(alive[:place])
        gap = np.maximum(np.maximum(low[others] - high[one], low[one] - high[others]), 0.0)
        shared = np.minimum(high[others], high[one]) - np.maximum(low[others], low[one])
        away = np.linalg.norm(gap, axis=1)
        is_within = (shared > -0.1 * apart).all(axis=1) & (np.prod(np.maximum(shared, apart), axis=1)
                    > 0.3 * np.prod(np.maximum(high[one] - low[one], apart)))  # fmt: skip
        if not is_within.any() and place < most:
            continue
        other = others[np.argmin(np.where(is_within, away, away + 1e3 * (1.0 if is_within.any() else 0.0)))]
        group[group == one] = other
        low[other], high[other] = np.minimum(low[other], low[one]), np.maximum(high[other], high[one])
        alive.pop(place)
    return group


def look_of(mesh: Mesh, region: Region, stuff: str) -> Appearance:
    """The mean colour of a region on a screen, and the nearest colour word; its material as given."""
    rgb = tuple(float(x) for x in mean_colour(mesh, region))
    words = list(colour_words())
    word = words[int(np.argmin([np.linalg.norm(np.subtract(rgb_of(w), rgb)) for w in words]))]
    return Appearance(colour_words()[word], word, rgb, stuff)  # type: ignore[arg-type]


def mean_colour(mesh: Mesh, region: Region) -> Float[np.ndarray, "3"]:
    """sRGB, 0..1: the texture at the region's corners, or its base colour."""
    if region.surface is None:
        return np.full(3, 0.8)
    linear = np.array(region.surface.base_color[:3], dtype=np.float64)
    used = np.unique(mesh.faces[region.faces])
    if region.surface.texture is not None:
        pixels = region.surface.texture.pixels()[:, :, :3]
        if mesh.uv is not None:
            size = np.array(pixels.shape[1::-1])
            column, row = np.floor((np.asarray(mesh.uv)[used] % 1.0) * size).astype(int).T % size[:, None]
            seen = pixels[row, column] / 255.0
        else:
            seen = pixels.reshape(-1, 3) / 255.0
        linear = linear * np.mean(seen**2.2, axis=0)
    if mesh.vertex_colors is not None:
        linear = linear * np.asarray(mesh.vertex_colors)[used, :3].mean(axis=0)
    return np.clip(linear, 0.0, 1.0) ** (1 / 2.2)


def name_of(region: Region) -> str:
    """The first word for a part that the region's name holds, else ``body``."""
    text = region.name.lower()
    return next((name for name in sorted(PART_NAMES, key=len, reverse=True) if name in text), "body")


def _placed(found: list[Single]) -> list[Part]:
    parts: list[Part] = []
    for one in found:
        low, high = one.solid.bounds
        parent, meets = _nearest(parts, low, high)
        shape = Shape(one.solid.vertices - one.centre, one.solid.faces)
        parts.append(
            Part(
                one.name,
                "body",
                "implicit",
                np.zeros(CODE),
                one.size,
                one.centre,
                np.eye(3),
                one.appearance,
                repeat=one.repeat,
                parent=parent,
                meets=meets,
                mesh=shape,
            )
        )
    return parts


def _nearest(parts: list[Part], low: np.ndarray, high: np.ndarray) -> tuple[int, np.ndarray]:
    """The part whose box is nearest to a box, and where they meet."""
    if not parts:
        return -1, (low + high) / 2
    lows, highs = (np.array([part.centre + sign * part.size / 2 for part in parts]) for sign in (-1.0, 1.0))
    gap = np.linalg.norm(np.maximum(np.maximum(lows - high, low - highs), 0.0), axis=1)
    best = int(np.argmin(gap))
    return best, (np.maximum(low, lows[best]) + np.minimum(high, highs[best])) / 2
