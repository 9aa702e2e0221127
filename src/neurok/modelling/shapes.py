"""A small modelling kit: closed solids as plain arrays, y up, to be placed and collected into objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from neurok.geometry import lie
from neurok.modelling import profiles
from neurok.modelling.profiles import Number

AXES = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}
Triple = Sequence[Number] | np.ndarray


@dataclass(frozen=True, eq=False)
class Shape:
    """One or several solids; every verb returns a new shape."""

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    """Counter-clockwise seen from outside."""

    uv: Float[np.ndarray, "V 2"] | None = None

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def volume(self) -> float:
        """Enclosed volume; negative when the faces look inwards."""
        a, b, c = (self.vertices[self.faces[:, i]] for i in range(3))
        return float(np.sum(a * np.cross(b, c))) / 6.0

    def move(self, x: Number = 0, y: Number = 0, z: Number = 0) -> Shape:
        return replace(self, vertices=self.vertices + np.array([x, y, z], dtype=np.float64))

    def turn(self, axis: str | Triple, degrees: Number, about: Triple = (0, 0, 0)) -> Shape:
        """Rotated about a line through ``about``."""
        direction = AXES[axis] if isinstance(axis, str) else np.asarray(axis, dtype=np.float64)
        direction = direction / np.linalg.norm(direction)
        pivot = np.asarray(about, dtype=np.float64)
        return self.transformed(lie.rotation_about(direction, pivot, float(np.radians(degrees))))

    def along(self, axis: str) -> Shape:
        """What stood along y, lying along another axis (a proper rotation)."""
        return {"y": self, "x": self.turn("z", -90), "z": self.turn("x", 90)}[axis]

    def scale(self, x: Number, y: Number | None = None, z: Number | None = None) -> Shape:
        """Stretched about the origin by positive factors."""
        factors = np.array([x, x if y is None else y, x if z is None else z], dtype=np.float64)
        return replace(self, vertices=self.vertices * factors)

    def mirror(self, axis: str) -> Shape:
        """The mirror image across the plane through the origin, still facing outwards."""
        return replace(self, vertices=self.vertices * (1.0 - 2.0 * AXES[axis]), faces=self.faces[:, ::-1].copy())

    def transformed(self, matrix: Float[np.ndarray, "4 4"]) -> Shape:
        return replace(self, vertices=lie.apply(matrix, self.vertices))

    def flipped(self) -> Shape:
        """Inside out."""
        return replace(self, faces=self.faces[:, ::-1].copy())

    def outward(self) -> Shape:
        return self.flipped() if self.volume < 0 else self

    def pictured(self, u: str, v: str) -> Shape:
        """With texture coordinates that span a whole picture over the bounds, along two axes."""
        low, high = self.bounds
        pick = ["xyz".index(u), "xyz".index(v)]
        return replace(self, uv=((self.vertices - low) / (high - low))[:, pick])


def join(shapes: Iterable[Shape]) -> Shape:
    """Several shapes side by side as one, each still its own component."""
    shapes = list(shapes)
    starts = np.cumsum([0] + [len(s.vertices) for s in shapes])
    uv = None
    if any(s.uv is not None for s in shapes):
        uv = np.concatenate([np.zeros((len(s.vertices), 2)) if s.uv is None else s.uv for s in shapes])
    faces = [s.faces + start for s, start in zip(shapes, starts, strict=False)]
    return Shape(np.concatenate([s.vertices for s in shapes]), np.concatenate(faces), uv)


def box(size: Triple, center: Triple = (0, 0, 0), chamfer: Number = 0) -> Shape:
    """A box, its edges cut at 45 degrees when ``chamfer`` is positive."""
    half = np.asarray(size, dtype=np.float64) / 2
    if chamfer <= 0:
        signs, faces = _BOX
        vertices = signs * half
    else:
        chamfer = min(float(chamfer), 0.45 * float(half.min()))
        signs, keep, faces = _CHAMFERED_BOX
        vertices = signs * (half - chamfer * (1 - keep))
    return Shape(vertices + np.asarray(center, dtype=np.float64), faces)


def slab(low: Triple, high: Triple, chamfer: Number = 0) -> Shape:
    """A box given by two opposite corners."""
    a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    return box(np.abs(b - a), (a + b) / 2, chamfer)


def loft(rings: npt.ArrayLike, closed: bool = False) -> Shape:
    """The solid between consecutive loops of equally many points; ends are capped unless it is ``closed`` in itself."""
    r = np.asarray(rings, dtype=np.float64)
    count, around = r.shape[:2]
    rows = np.arange(count if closed else count - 1)[:, None]
    i = np.arange(around)[None]
    j = (i + 1) % around
    next_row = (rows + 1) % count
    a, b, c, d = rows * around + i, rows * around + j, next_row * around + j, next_row * around + i
    faces = [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    if not closed:
        faces += [cap_faces(r[0])[:, ::-1], cap_faces(r[-1]) + (count - 1) * around]
    return Shape(r.reshape(-1, 3), np.concatenate(faces)).outward()


def cap_faces(loop: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, "F 3"]:
    """Triangles that fill a nearly plane loop, turning as the loop does."""
    center = loop.mean(axis=0)
    area = np.cross(loop - center, np.roll(loop, -1, axis=0) - center)
    normal = area.sum(axis=0)
    if (area @ normal > 0).all() and _is_convex(loop, normal):
        # A strip instead of a fan: no vertex gets a star of slivers.
        n = len(loop)
        order = np.empty(n, dtype=np.int64)
        order[0::2] = np.arange((n + 1) // 2)
        order[1::2] = n - 1 - np.arange(n // 2)
        strip = np.stack([order[:-2], order[1:-1], order[2:]], -1)
        strip[0::2] = strip[0::2][:, [0, 2, 1]]
        return strip
    side = np.linalg.svd(loop - center, full_matrices=False)[2]
    plane = np.stack([side[0], np.cross(normal / np.linalg.norm(normal), side[0])])
    return triangulate([(loop - center) @ plane.T])


def triangulate(outlines: Sequence[Float[np.ndarray, "_ 2"]]) -> Int[np.ndarray, "F 3"]:
    """Triangles of a polygon; further outlines are holes. Indices run through all outlines in order."""
    import manifold3d

    loops = [o if profiles.is_ccw(o) == (k == 0) else o[::-1] for k, o in enumerate(outlines)]
    faces = np.asarray(manifold3d.triangulate([np.ascontiguousarray(o) for o in loops], 1e-9, True), dtype=np.int64)
    index, start = [], 0
    for k, o in enumerate(outlines):
        run = np.arange(len(o)) + start
        index.append(run if profiles.is_ccw(o) == (k == 0) else run[::-1])
        start += len(o)
    return np.concatenate(index)[faces]


def lathe(profile: npt.ArrayLike, segments: int = 32, closed: bool = False, ellipse: Number = 1) -> Shape:
    """A profile of (radius, height) pairs turned about y; points of radius 0 become poles.

    An open profile is capped at its ends; a ``closed`` one is a loop and gives a ring. ``ellipse`` stretches z.
    """
    p = np.asarray(profile, dtype=np.float64)
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    direction = np.column_stack([np.cos(angle), np.zeros(segments), np.sin(angle) * ellipse])
    rings = p[:, None, :1] * direction + np.array([0.0, 1.0, 0.0]) * p[:, None, 1:]
    poles = [0 if p[0, 0] <= 1e-12 else None, len(p) - 1 if p[-1, 0] <= 1e-12 else None]
    if closed or poles == [None, None]:
        return loft(rings, closed)
    return _with_poles(rings, poles[0] is not None, poles[1] is not None)


def _with_poles(rings: Float[np.ndarray, "N M 3"], first: bool, last: bool) -> Shape:
    inner = rings[int(first) : len(rings) - int(last)]
    count, around = inner.shape[:2]
    body = loft(inner, closed=False) if count > 1 else None
    side = 2 * (count - 1) * around
    faces = [np.zeros((0, 3), dtype=np.int64)] if body is None else [body.faces[:side]]
    flip = body is not None and not np.array_equal(body.faces[0], [0, 1, around + 1])
    vertices = [inner.reshape(-1, 3)]
    i = np.arange(around)
    j = (i + 1) % around
    top = (count - 1) * around
    ends = [(first, rings[0, 0], np.stack([j, i], -1)), (last, rings[-1, 0], np.stack([i + top, j + top], -1))]
    for k, (is_pole, point, edge) in enumerate(ends):
        if is_pole:
            apex = sum(len(v) for v in vertices)
            fan = np.column_stack([edge, np.full(around, apex)])
            vertices.append(point[None])
        else:
            loop = inner[-k]
            fan = cap_faces(loop)[:, ::-1] if k == 0 else cap_faces(loop) + top
        faces.append(fan[:, ::-1] if flip else fan)
    return Shape(np.concatenate(vertices), np.concatenate(faces)).outward()


def cylinder(
    radius: Number, height: Number, segments: int = 24, top: Number | None = None, chamfer: Number = 0
) -> Shape:
    """A cylinder or (``top`` radius given) truncated cone along y about the origin, optionally with cut edges."""
    top = radius if top is None else top
    half = height / 2
    if chamfer > 0:
        c = min(float(chamfer), 0.4 * height, 0.45 * max(radius, top))
        rows = [(radius - c, -half), (radius, -half + c), (top, half - c), (top - c, half)]
    else:
        rows = [(radius, -half), (top, half)]
    return lathe([(max(r, 0.0), y) for r, y in rows], segments)


def sphere(radius: Number, segments: int = 24, rings: int = 12) -> Shape:
    angle = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
    profile = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    profile[[0, -1], 0] = 0.0
    return lathe(profile, segments)


def capsule(radius: Number, length: Number, segments: int = 16, rings: int = 4) -> Shape:
    """A cylinder of ``length`` along y with half-spheres on its ends."""
    low = profiles.arc(radius, -90, 0, rings, (0.0, -length / 2))
    high = profiles.arc(radius, 0, 90, rings, (0.0, length / 2))
    profile = np.concatenate([low, high])
    profile[[0, -1], 0] = 0.0
    return lathe(profile, segments)


def torus(radius: Number, thickness: Number, segments: int = 32, around: int = 10) -> Shape:
    """A ring about y; ``thickness`` is the radius of its tube."""
    return lathe(profiles.circle(thickness, around) + np.array([float(radius), 0.0]), segments, closed=True)


def extrude(
    outline: Float[np.ndarray, "N 2"],
    height: Number,
    holes: Sequence[Float[np.ndarray, "_ 2"]] = (),
    bevel: Number = 0,
) -> Shape:
    """An outline in the (x, z) plane as a plate from y = 0 to ``height``; ``bevel`` cuts its outer edges."""
    flat = [outline if profiles.is_ccw(outline) else outline[::-1], *holes]
    bevel = min(float(bevel), 0.45 * float(height))
    levels = [(0.0, bevel), (bevel, 0.0), (height - bevel, 0.0), (float(height), bevel)]
    levels = levels if bevel > 0 else [(0.0, 0.0), (float(height), 0.0)]
    rings = [[_at_height(profiles.inset(flat[0], cut), y) for y, cut in levels]]
    if not holes:
        return loft(rings[0])
    rings += [[_at_height(loop, y) for y, _ in levels[:: len(levels) - 1]] for loop in flat[1:]]
    vertices, faces, first, last, start = [], [], [], [], 0
    for k, rows in enumerate(rings):
        side, around, height = loft(rows), len(flat[k]), len(rows) - 1
        walls = side.faces[: 2 * height * around]
        vertices.append(side.vertices)
        faces.append((walls if k == 0 else walls[:, ::-1]) + start)
        first.append(np.arange(start, start + around))
        last.append(first[-1] + height * around)
        start += len(side.vertices)
    lid = triangulate([profiles.inset(flat[0], bevel) if bevel > 0 else flat[0], *flat[1:]])
    faces += [np.concatenate(first)[lid], np.concatenate(last)[lid[:, ::-1]]]
    return Shape(np.concatenate(vertices), np.concatenate(faces)).outward()


def _at_height(outline: Float[np.ndarray, "N 2"], y: float) -> Float[np.ndarray, "N 3"]:
    return np.column_stack([outline[:, 0], np.full(len(outline), y), outline[:, 1]])


def hull(points: npt.ArrayLike) -> Shape:
    """The convex hull of points."""
    from scipy.spatial import ConvexHull

    p = np.asarray(points, dtype=np.float64)
    found = ConvexHull(p)
    used, faces = np.unique(found.simplices, return_inverse=True)
    vertices, faces = p[used], faces.reshape(-1, 3).astype(np.int64)
    normal = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    inward = np.sum(normal * found.equations[:, :3], axis=1) < 0
    faces[inward] = faces[inward][:, ::-1]
    return Shape(vertices, faces)


def _is_convex(loop: Float[np.ndarray, "N 3"], normal: Float[np.ndarray, "3"]) -> bool:
    step = np.roll(loop, -1, axis=0) - loop
    return bool((np.cross(step, np.roll(step, -1, axis=0)) @ normal > -1e-12 * (normal @ normal)).all())


def _box_template() -> tuple[np.ndarray, np.ndarray]:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    return signs, _convex_faces(signs)


def _chamfered_template() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    signs = np.repeat(_BOX[0], 3, axis=0)
    keep = np.tile(np.eye(3), (8, 1))
    return signs, keep, _convex_faces(signs * (1.0 - 0.2 * (1.0 - keep)))


def _convex_faces(points: np.ndarray) -> np.ndarray:
    shape = hull(points)
    assert len(shape.vertices) == len(points)
    return shape.faces


_BOX = _box_template()
_CHAMFERED_BOX = _chamfered_template()
