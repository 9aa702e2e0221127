"""Parts of a mesh as points and boxes, which of them touch and where, and which carries which.

Lengths are shares of the object: of the diagonal of its bounding box. *By eye*: set on a handful of objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import ConvexHull, QhullError, cKDTree

from neurok.core import Mesh
from neurok.core.articulation import carried
from neurok.geometry.lie import across
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import farthest_points, sample_surface

Answer = TypeVar("Answer")

REACH = 0.01  # Parts closer than this touch [share of the object]. By eye.
# Smaller parts are knobs, buttons and details [share of the object]. By eye; the ranking is fitted with it.
SMALL_PART = 0.12
LEAST_POINTS = 256  # Samples of a part at least, so that small ones have a shape too. By eye.
MOST_POINTS = 3000  # Samples of a part at most: what a search in under a second affords.
TOTAL_POINTS = 16_000  # Samples of the object, shared by area. What a search in under a second affords.
PATCH = 1.5  # A sample stands for its tangent plane as far as this [spacings of the samples]. By eye.
LONE_REACH = 1.5  # A part that touches nothing touches its nearest neighbour within this [least gaps]. By eye.
TURNED_BOX = 0.9  # A turned box must be smaller than this share of the one along the world's axes to be taken. By eye.

# The base of a tree of parts; checked on training objects.
WEAK_CONTACT = 0.3  # Cost of a contact without surface beside one of the largest surface, whose cost is 1.
BASE_SIZE = 0.5  # What the size of a part [share of the object] says for the base, beside its share of the area.
BASE_DEGREE = 0.7  # What the share of parts it touches says for the base.
# What the log-odds of moving say against it; with it the root is right for 85 of 88 objects, without it for 79.
BASE_MOVES = 0.25
BASE_SUREST = 9.0  # Log-odds are cut off here.
BASE_STANDS = 0.4  # What standing on the ground says for the base ...
BASE_FALL = 20.0  # ... and how fast that falls with the height [1 / share of the object]: to nothing at a twentieth.


@dataclass(frozen=True, eq=False)
class Box:
    """An oriented box: three axes, the centre, and half the length along each axis."""

    center: Float[np.ndarray, "3"]
    axes: Float[np.ndarray, "3 3"]
    """Unit vectors as rows, right-handed."""

    half: Float[np.ndarray, "3"]

    @property
    def size(self) -> float:
        """Length of the diagonal."""
        return 2.0 * float(np.linalg.norm(self.half))


def fit_box(points: Float[np.ndarray, "N 3"], gain: float = TURNED_BOX) -> Box:
    """The smallest box among those that stand on a world axis or a principal axis of the points.

    One along the axes of the world is kept unless another has less than the share ``gain`` of its volume.
    """
    points, filled = _outermost(points)
    best = _box_along(points, np.eye(3))
    least = gain * _volume(best)
    if filled >= 8.0 * least:  # no box is smaller than what it holds
        return best
    centered = points - points.mean(axis=0)
    principal = np.linalg.eigh(centered.T @ centered)[1].T
    for stand in (*np.eye(3), *principal):
        box = _box_along(points, _turned_frame(points, stand))
        if _volume(box) < least:
            best, least = box, _volume(box)
    return best


def snap_axis(axis: Float[np.ndarray, "3"], cosine: float) -> Float[np.ndarray, "3"]:
    """The nearest axis of the world when it is closer than a cosine, the axis itself otherwise."""
    largest = int(np.argmax(np.abs(axis)))
    if abs(axis[largest]) < cosine:
        return axis
    return np.eye(3)[largest] * np.sign(axis[largest])


def _outermost(points: Float[np.ndarray, "N 3"]) -> tuple[Float[np.ndarray, "M 3"], float]:
    """The corners of the convex hull, for no other point matters to a box, and its volume."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return points, 0.0
    return points[hull.vertices], float(hull.volume)


def _box_along(points: Float[np.ndarray, "N 3"], axes: Float[np.ndarray, "3 3"]) -> Box:
    along = points @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    return Box((0.5 * (low + high)) @ axes, axes, 0.5 * (high - low))


def _volume(box: Box) -> float:
    """An eighth of the volume with a little padding, so that flat boxes compare by their area."""
    return float(np.prod(box.half + 1e-3 * box.half.max()))


def _turned_frame(points: Float[np.ndarray, "N 3"], stand: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """The frame with ``stand`` as one axis whose rectangle around the shadow of the points is the smallest."""
    plane = np.stack(across(stand))
    flat = points @ plane.T
    try:
        corners = flat[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        return np.stack([plane[0], plane[1], stand])
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.unique(np.round(np.arctan2(edges[:, 1], edges[:, 0]) % (np.pi / 2), 4))
    u = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    v = np.stack([-u[:, 1], u[:, 0]], axis=1)
    area = np.ptp(corners @ u.T, axis=0) * np.ptp(corners @ v.T, axis=0)
    k = int(np.argmin(area))
    return np.stack([u[k] @ plane, v[k] @ plane, stand])


@dataclass(frozen=True, eq=False)
class PartSamples:
    """What everybody needs to know of one part: points of its surface, its area, its box."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    """As the faces wind; files that wind carelessly give either sign."""

    area: float
    spacing: float
    """Typical distance of neighbouring points."""

    corners: Float[np.ndarray, "M 3"]
    """Vertices of the part."""

    @cached_property
    def box(self) -> Box:
        """The box that fits the part best."""
        return fit_box(np.concatenate([self.points, self.corners]))

    @cached_property
    def center(self) -> Float[np.ndarray, "3"]:
        """Centre of the surface."""
        return self.points.mean(axis=0)

    @cached_property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        return np.stack([self.points.min(axis=0), self.points.max(axis=0)])

    def spread(self, count: int) -> Float[np.ndarray, "K 3"]:
        """At most so many of the points, far from each other."""
        return self.points[farthest_points(self.points, min(count, len(self.points)))]

    @cached_property
    def tree(self) -> cKDTree:
        """A search tree over the points."""
        return cKDTree(self.points)


@dataclass(frozen=True, eq=False)
class Contact:
    """Where two parts touch."""

    first: int
    second: int
    points: Float[np.ndarray, "K 3"]
    """Places halfway between the two surfaces."""

    normal: Float[np.ndarray, "3"]
    """Mean direction across the contact, from the first part towards the second as far as that is known."""

    directions: Float[np.ndarray, "3 3"]
    """Principal directions of the places as rows, the longest first."""

    extent: Float[np.ndarray, "3"]
    """Length of the region along each of them."""

    shares: tuple[float, float]
    """Share of each part's surface that takes part."""

    @cached_property
    def center(self) -> Float[np.ndarray, "3"]:
        return self.points.mean(axis=0)

    @cached_property
    def ends(self) -> Float[np.ndarray, "2 3"]:
        """Middles of the first and the last tenth of the region along its longest direction."""
        along = (self.points - self.center) @ self.directions[0]
        near = 0.1 * max(float(np.ptp(along)), 1e-300)
        low, high = along <= along.min() + near, along >= along.max() - near
        return np.stack([self.points[low].mean(axis=0), self.points[high].mean(axis=0)])

    def other(self, part: int) -> int:
        return self.second if part == self.first else self.first

    def share_of(self, part: int) -> float:
        return self.shares[0] if part == self.first else self.shares[1]


@dataclass(frozen=True, eq=False)
class ContactGraph:
    """The samples of all parts (``None`` for one without surface) and every pair that touches."""

    samples: tuple[PartSamples | None, ...]
    pairs: tuple[Contact, ...]
    reach: float
    """Distance below which parts touch, in mesh units."""

    size: float
    """Diagonal of the object."""

    def of(self, part: int) -> tuple[Contact, ...]:
        """The contacts of one part."""
        return self._by_part.get(part, ())

    @cached_property
    def _by_part(self) -> dict[int, tuple[Contact, ...]]:
        found: dict[int, list[Contact]] = {}
        for pair in self.pairs:
            found.setdefault(pair.first, []).append(pair)
            found.setdefault(pair.second, []).append(pair)
        return {part: tuple(pairs) for part, pairs in found.items()}

    @cached_property
    def boxes(self) -> tuple[Int[np.ndarray, " P"], Float[np.ndarray, "P 3 3"], Float[np.ndarray, "P 3"]]:
        """Parts that have a surface, in order; axes and half lengths of their boxes."""
        present = [(part, one.box) for part, one in enumerate(self.samples) if one is not None]
        axes, half = np.stack([box.axes for _, box in present]), np.stack([box.half for _, box in present])
        return np.array([part for part, _ in present]), axes, half

    def neighbours(self, part: int) -> tuple[int, ...]:
        return tuple(pair.other(part) for pair in self.of(part))


def once_per_mesh(find: Callable[[Mesh], Answer]) -> Callable[[Mesh], Answer]:
    """A function of a mesh that is asked once for each mesh that lives: meshes never change."""
    known: WeakKeyDictionary[Mesh, Answer] = WeakKeyDictionary()

    @wraps(find)
    def found(mesh: Mesh) -> Answer:
        if mesh not in known:
            known[mesh] = find(mesh)
        return known[mesh]

    return found


@once_per_mesh
def contact_graph(mesh: Mesh) -> ContactGraph:
    """Sample every part and find the pairs that touch; a part that touches nothing touches its nearest neighbour."""
    samples = sample_parts(mesh)
    size = mesh.size
    reach = REACH * size
    present = {p: one for p, one in enumerate(samples) if one is not None}
    found: dict[tuple[int, int], Contact] = {}
    for a, b in _box_neighbours(present, reach):
        contact = _contact(a, b, present[a], present[b], reach)
        if contact is not None:
            found[a, b] = contact
    touching = {part for pair in found for part in pair}
    for part in present:
        if part not in touching and len(present) > 1:
            others = [p for p in present if p != part]
            gaps = [float(present[p].tree.query(present[part].points)[0].min()) for p in others]
            nearest = others[int(np.argmin(gaps))]
            a, b = min(part, nearest), max(part, nearest)
            contact = _contact(a, b, present[a], present[b], LONE_REACH * min(gaps) + reach)
            if contact is not None:
                found[a, b] = contact
    return ContactGraph(samples, tuple(found[key] for key in sorted(found)), reach, size)


def _box_neighbours(present: dict[int, PartSamples], reach: float) -> list[tuple[int, int]]:
    """Pairs whose boxes along the world's axes come within reach of each other."""
    parts = np.array(sorted(present))
    low = np.array([present[p].bounds[0] for p in parts]) - 0.5 * reach
    high = np.array([present[p].bounds[1] for p in parts]) + 0.5 * reach
    meets = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    return [(int(parts[i]), int(parts[j])) for i, j in np.argwhere(np.triu(meets, 1))]


def sample_parts(mesh: Mesh) -> tuple[PartSamples | None, ...]:
    """Points of every part, by area but with a least number for small parts; the corners of the mesh count too."""
    areas = face_areas(mesh.vertices, mesh.faces)
    labels = mesh.face_parts
    total = max(float(areas.sum()), 1e-300)
    samples: list[PartSamples | None] = []
    for part in range(mesh.part_count):
        chosen = np.flatnonzero(labels == part)
        area = float(areas[chosen].sum())
        if len(chosen) == 0 or not area > 0:
            samples.append(None)
            continue
        rng = np.random.default_rng([0, part])
        count = int(np.clip(TOTAL_POINTS * area / total, LEAST_POINTS, MOST_POINTS))
        faces = mesh.faces[chosen]
        drawn = sample_surface(mesh.vertices, faces, count, rng)
        corners = mesh.vertices[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        points = drawn.interpolate(mesh.vertices)
        spacing = float(np.sqrt(area / count))
        corners = mesh.vertices[np.unique(faces)]
        samples.append(PartSamples(points, normals[drawn.face_ids], area, spacing, corners))
    return tuple(samples)


def _contact(a: int, b: int, first: PartSamples, second: PartSamples, reach: float) -> Contact | None:
    near_a, hit_a = _near(first, second, reach)
    near_b, hit_b = _near(second, first, reach)
    if len(near_a) + len(near_b) == 0:
        return None
    places = np.concatenate(
        [0.5 * (first.points[near_a] + second.points[hit_a]), 0.5 * (second.points[near_b] + first.points[hit_b])]
    )
    sides = np.concatenate([second.normals[hit_a], second.normals[near_b], first.normals[near_a], first.normals[hit_b]])
    normal = np.linalg.eigh(sides.T @ sides)[1][:, -1]
    if (second.center - first.center) @ normal < 0:
        normal = -normal
    middle = places.mean(axis=0)
    directions = np.linalg.eigh((places - middle).T @ (places - middle))[1].T[::-1]
    extent = np.ptp((places - middle) @ directions.T, axis=0)
    shares = (len(near_a) / len(first.points), len(near_b) / len(second.points))
    return Contact(a, b, places, normal, directions, extent, shares)


def _near(a: PartSamples, b: PartSamples, reach: float) -> tuple[Int[np.ndarray, " K"], Int[np.ndarray, " K"]]:
    """Points of ``a`` within ``reach`` of the surface of ``b``, and their neighbours there."""
    patch = PATCH * b.spacing
    limit = np.hypot(reach, patch)
    inside = ((a.points > b.bounds[0] - reach) & (a.points < b.bounds[1] + reach)).all(axis=1)
    rows = np.flatnonzero(inside)
    away, hit = b.tree.query(a.points[rows], distance_upper_bound=limit)
    rows, hit, away = rows[np.isfinite(away)], hit[np.isfinite(away)], away[np.isfinite(away)]
    # Between samples the surface goes on: the distance to the tangent plane is the better guess.
    offset = a.points[rows] - b.points[hit]
    height = np.abs(np.einsum("nd,nd->n", offset, b.normals[hit]))
    aside = np.sqrt(np.maximum(away**2 - height**2, 0.0))
    gap = np.where(aside <= patch, height, away)
    close = gap <= reach
    return rows[close], hit[close]


def find_tree(contacts: ContactGraph, up: Float[np.ndarray, "3"], base: int | None = None) -> tuple[int, ...]:
    """The parent of each part, -1 for the base, which is found unless it is known; what touches nothing hangs on it."""
    root = find_base(contacts, up) if base is None else base
    cost = np.zeros((len(contacts.samples),) * 2)
    for pair in contacts.pairs:
        for part, other in ((pair.first, pair.second), (pair.second, pair.first)):
            # Weak contacts are long ways: a knob on a door is nearer to the door than to the frame it grazes.
            strongest = max(contact.share_of(other) for contact in contacts.of(other))
            weakness = 1.0 - pair.share_of(other) / strongest if strongest > 0 else 1.0
            cost[part, other] = 1.0 + WEAK_CONTACT * weakness
    parents = dijkstra(cost, indices=root, return_predecessors=True)[1]
    return tuple(-1 if part == root else root if above < 0 else int(above) for part, above in enumerate(parents))


def find_base(contacts: ContactGraph, up: Float[np.ndarray, "3"], moves: Float[np.ndarray, " P"] | None = None) -> int:
    """The part that stays: large, in contact with many, standing on the ground, and unlikely to move by ``moves``, the
    log-odds that each part does, if they are known."""
    merits = np.full(len(contacts.samples), -np.inf)
    present = [(p, samples) for p, samples in enumerate(contacts.samples) if samples is not None]
    if not present:
        return 0
    total = sum(samples.area for _, samples in present)
    lows = {p: float((samples.points @ up).min()) for p, samples in present}
    ground = min(lows.values())
    for p, samples in present:
        degree = len(contacts.of(p)) / max(1, len(present) - 1)
        stands = max(0.0, 1.0 - BASE_FALL * (lows[p] - ground) / contacts.size)
        merits[p] = samples.area / total + BASE_SIZE * samples.box.size / contacts.size
        merits[p] = merits[p] + BASE_DEGREE * degree + BASE_STANDS * stands
    if moves is not None:
        merits -= BASE_MOVES * np.clip(moves, -BASE_SUREST, BASE_SUREST)
    return int(np.argmax(merits))


def subtree(parents: tuple[int, ...], part: int) -> tuple[int, ...]:
    """The part and everything it carries."""
    return tuple(carried(list(parents), part))
