"""Which parts touch, and where: found once, used by the search, the network and the tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.boxes import Box, fit_box
from neurok.bodyplan.config import CONTACT, ContactConfig
from neurok.core import Mesh
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import farthest_points, sample_surface

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


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

    config: ContactConfig = CONTACT

    @cached_property
    def box(self) -> Box:
        """The box that fits the part best."""
        return fit_box(np.concatenate([self.points, self.corners]), self.config.turned_box)

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

    def tree(self) -> cKDTree:
        """A search tree over the points."""
        return self._tree

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

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

    gap: float
    """Least distance between the two surfaces."""

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

    config: ContactConfig = CONTACT

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

    def between(self, first: int, second: int) -> Contact | None:
        low, high = min(first, second), max(first, second)
        return next((pair for pair in self.pairs if (pair.first, pair.second) == (low, high)), None)

    def neighbours(self, part: int) -> tuple[int, ...]:
        return tuple(pair.other(part) for pair in self.of(part))


def contact_graph(mesh: Mesh, seed: int = 0, config: ContactConfig = CONTACT) -> ContactGraph:
    """Sample every part and find the pairs that touch; a part that touches nothing touches its nearest neighbour."""
    samples = sample_parts(mesh, seed, config)
    size = mesh.size
    reach = config.reach * size
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
            gaps = [float(present[p].tree().query(present[part].points)[0].min()) for p in others]
            nearest = others[int(np.argmin(gaps))]
            a, b = min(part, nearest), max(part, nearest)
            contact = _contact(a, b, present[a], present[b], config.lone_reach * min(gaps) + reach)
            if contact is not None:
                found[a, b] = contact
    return ContactGraph(samples, tuple(found[key] for key in sorted(found)), reach, size, config)


def _box_neighbours(present: dict[int, PartSamples], reach: float) -> list[tuple[int, int]]:
    """Pairs whose boxes along the world's axes come within reach of each other."""
    parts = np.array(sorted(present))
    low = np.array([present[p].bounds[0] for p in parts]) - 0.5 * reach
    high = np.array([present[p].bounds[1] for p in parts]) + 0.5 * reach
    meets = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    return [(int(parts[i]), int(parts[j])) for i, j in np.argwhere(np.triu(meets, 1))]


def sample_parts(mesh: Mesh, seed: int = 0, config: ContactConfig = CONTACT) -> tuple[PartSamples | None, ...]:
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
        rng = np.random.default_rng([seed, part])
        count = int(np.clip(config.total_points * area / total, config.least_points, config.most_points))
        faces = mesh.faces[chosen]
        drawn = sample_surface(mesh.vertices, faces, count, rng)
        corners = mesh.vertices[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        points = drawn.interpolate(mesh.vertices)
        spacing = float(np.sqrt(area / count))
        corners = mesh.vertices[np.unique(faces)]
        samples.append(PartSamples(points, normals[drawn.face_ids], area, spacing, corners, config))
    return tuple(samples)


def _contact(a: int, b: int, first: PartSamples, second: PartSamples, reach: float) -> Contact | None:
    near_a, hit_a, gap_a = _near(first, second, reach)
    near_b, hit_b, gap_b = _near(second, first, reach)
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
    return Contact(a, b, places, normal, directions, extent, min(gap_a, gap_b), shares)


def _near(a: PartSamples, b: PartSamples, reach: float) -> tuple[Int[np.ndarray, " K"], Int[np.ndarray, " K"], float]:
    """Points of ``a`` within ``reach`` of the surface of ``b``, their neighbours there, and the least distance."""
    patch = b.config.patch * b.spacing
    limit = np.hypot(reach, patch)
    inside = ((a.points > b.bounds[0] - reach) & (a.points < b.bounds[1] + reach)).all(axis=1)
    rows = np.flatnonzero(inside)
    away, hit = b.tree().query(a.points[rows], distance_upper_bound=limit)
    rows, hit, away = rows[np.isfinite(away)], hit[np.isfinite(away)], away[np.isfinite(away)]
    # Between samples the surface goes on: the distance to the tangent plane is the better guess.
    offset = a.points[rows] - b.points[hit]
    height = np.abs(np.einsum("nd,nd->n", offset, b.normals[hit]))
    aside = np.sqrt(np.maximum(away**2 - height**2, 0.0))
    gap = np.where(aside <= patch, height, away)
    close = gap <= reach
    return rows[close], hit[close], float(gap[close].min(initial=np.inf))
