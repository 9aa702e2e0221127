"""How far the coordinates of an elastic space may go together: until the mesh is strained too much somewhere.

Vertices are blends of handles. Where neighbours follow different handles, an edge is torn by what these do differently
at its middle; a vector that is linear in the coordinates. Where handles turn against each other, blends of them shrink;
that is linear in the coordinates too. So the poses that are whole lie where none of some vectors is longer than 1, a
convex set, and an energy beyond its border keeps all coordinates in it together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core.material import STANDARD_GRAVITY
from neurok.geometry.topology import unique_edges
from neurok.kinematics.screws import ScrewSpace


@dataclass(frozen=True, eq=False)
class StrainLimits:
    """Vectors that are linear in the coordinates, none of which should be longer than 1."""

    rows: Float[np.ndarray, "R 3 D"]
    steepness: Float[np.ndarray, " R"]
    """A vector that is longer than 1 by d costs steepness · d³ / 3 [J]."""

    fall: Float[np.ndarray, " R"]
    """How the weight of the object speeds up the length of each vector [1/s²]."""

    def lengths(self, q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B R"]:
        """Of the vectors."""
        return lengths_of(self.rows, q)

    def reach(self) -> Float[np.ndarray, " D"]:
        """How far each coordinate goes alone."""
        longest = self.lengths(np.eye(self.rows.shape[2])).max(axis=1, initial=0.0)
        return 1.0 / np.maximum(longest, 1e-12)

    def beside(self, before: int, after: int) -> StrainLimits:
        """The same with more coordinates before and after."""
        return StrainLimits(np.pad(self.rows, ((0, 0), (0, 0), (before, after))), self.steepness, self.fall)


def lengths_of(rows: Float[np.ndarray, "R 3 D"], q: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B R"]:
    """Of vectors that are linear in the coordinates."""
    return np.linalg.norm((q @ rows.reshape(-1, rows.shape[2]).T).reshape(len(q), -1, 3), axis=2)


# When a mesh is strained too much.
LARGEST_STRAIN = 0.3
"""Change of an edge, as a share of its length, beyond the turn of the handles that it follows; by eye, on a bed, a bag
and a curtain that are thrown."""

LARGEST_TURN = 1.0
"""Of neighbouring handles against each other [rad]: the mean of two turns that differ by this is shorter by an
eighth."""

TORN_SHARE = 0.01  # Share of the edges that may be stretched more: a few bridge gaps whatever moves
MOST_EDGES = 4000  # Edges that are looked at
FEWER_EDGES = 1000  # ... and those of them that are drawn in poses at the border
LONG_EDGE = 1.0
"""Edges that are longer than this many distances of neighbouring handles bend with several of them, which is no
strain."""

LARGEST_SHIFT = np.pi / 2
"""Of a handle [sizes of the object], along its way: a quarter turn about the other end, as of what hangs. It binds
where a coarse mesh shows no strain."""

SHARED_PLACE = 0.05  # Handles are neighbours where a place follows both to at least this share
RANDOM_POSES = 256
"""Random poses of equal energy, for each of which the vector that is the first to be too long is kept."""

SHORTENING = 0.85  # What all poses at the border are multiplied with while one of them tears the mesh for all that
SHORTENINGS = 8  # ... but at most so many times: to a quarter
BORDER_SOFTNESS = 0.03  # By which share a vector is too long where the weight of the object presses against the border


def strain_limits(
    space: ScrewSpace,
    shares: Float[np.ndarray, "N H"],
    stiffness: Float[np.ndarray, " D"],
    rates: Float[np.ndarray, " D"],
    mass: float,
) -> StrainLimits:
    """The limits of a space whose coordinates are vibration modes.

    Args:
        space: How handles move vertices.
        shares: How places all over the object follow the handles, its inside and what lies between vertices included.
        stiffness: Of each coordinate [J].
        rates: Angular frequency of each [rad/s].
        mass: Of the whole object [kg].
    """
    edges, lengths = _some_edges(space)
    stiffness = np.maximum(stiffness, 1e-300)
    random = np.random.default_rng(0).normal(size=(RANDOM_POSES, space.dim)) / np.sqrt(stiffness)
    directions = np.concatenate([random, np.diag(1.0 / np.sqrt(stiffness))])
    first, second = _neighbours(shares)
    apart = np.linalg.norm(space.centers[first] - space.centers[second], axis=1)
    short = lengths <= LONG_EDGE * np.median(apart) if len(apart) else np.zeros(len(edges), dtype=bool)
    torn = _mismatches(space, edges[short]) / (LARGEST_STRAIN * lengths[short, None, None])
    turns = (space.screws[first, :3] - space.screws[second, :3]) / LARGEST_TURN
    shifts = space.screws[:, 3:] / (LARGEST_SHIFT * space.rest.size)
    vectors = np.concatenate([torn[_whole(torn, directions)], turns, shifts])
    found = lengths_of(vectors, directions)
    rows = vectors[np.unique(found.argmax(axis=1))]
    border = directions / np.maximum(lengths_of(rows, directions).max(axis=1, initial=1e-300), 1e-300)[:, None]
    scale = _untorn(space, border, (edges, lengths))
    rows = rows / scale
    # How a vector grows by its own length has an inertia; the weight of the object, at the radius by which it moves,
    # presses it beyond the border by the softness.
    spread = np.einsum("rid,d,rjd->rij", rows, rates**2 / stiffness, rows)
    inertia = 1.0 / np.maximum(np.linalg.eigvalsh(spread)[:, -1], 1e-300)
    fall = STANDARD_GRAVITY * np.sqrt(mass / inertia)
    return StrainLimits(rows, fall * inertia / BORDER_SOFTNESS**2, fall)


def _some_edges(space: ScrewSpace) -> tuple[Int[np.ndarray, "E 2"], Float[np.ndarray, " E"]]:
    """Edges of the mesh, and their lengths; very short ones count as longer."""
    edges = unique_edges(space.rest.faces)
    edges = edges[:: max(1, -(-len(edges) // MOST_EDGES))]
    lengths = np.linalg.norm(np.diff(space.rest.vertices[edges], axis=1)[:, 0], axis=1)
    return edges, np.maximum(lengths, 1e-3 * space.rest.size)


def _mismatches(space: ScrewSpace, edges: Int[np.ndarray, "E 2"]) -> Float[np.ndarray, "E 3 D"]:
    """How far the handles that the ends of an edge follow differ at its middle, at unit coordinates."""
    change = space.weights[edges[:, 1]] - space.weights[edges[:, 0]]
    turns, shifts = space.screws[:, :3], space.screws[:, 3:]
    at_origin = shifts - np.cross(turns, space.centers[:, :, None], axis=1)
    middles = space.rest.vertices[edges].mean(axis=1)
    turned = np.einsum("eh,hid->eid", change, turns)
    return np.cross(turned, middles[:, :, None], axis=1) + np.einsum("eh,hid->eid", change, at_origin)


def _neighbours(shares: Float[np.ndarray, "N H"]) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
    """Pairs of handles that share places."""
    follows = (shares >= SHARED_PLACE).astype(np.float64)
    first, second = np.nonzero(np.triu(follows.T @ follows, 1))
    return first, second


def _whole(torn: Float[np.ndarray, "E 3 D"], directions: Float[np.ndarray, "N D"]) -> Int[np.ndarray, " n"]:
    """Edges without the few that are the most strained in most poses."""
    if not len(torn):
        return np.zeros(0, dtype=np.int64)
    found = lengths_of(torn, directions)
    beyond = (found > np.quantile(found, 1.0 - TORN_SHARE, axis=1, keepdims=True)).mean(axis=0)
    dropped = int(TORN_SHARE * len(torn))
    return np.sort(np.argsort(beyond, kind="stable")[: len(torn) - dropped])


def _untorn(
    space: ScrewSpace,
    border: Float[np.ndarray, "N D"],
    mesh: tuple[Int[np.ndarray, "E 2"], Float[np.ndarray, " E"]],
) -> float:
    """What poses at the border are to be multiplied with, either way, so that none stretches too many edges."""
    edges, lengths = (part[:: max(1, -(-len(part) // FEWER_EDGES))] for part in mesh)
    features = space.features[edges[:, 1]] - space.features[edges[:, 0]]
    left, scale = np.concatenate([border, -border]), 1.0
    for _ in range(SHORTENINGS):
        moved = features @ np.concatenate(space.values(scale * left), axis=1)
        stretch = np.linalg.norm(moved.reshape(len(edges), -1, 3), axis=2).T / lengths
        left = left[np.quantile(stretch, 1.0 - TORN_SHARE, axis=1) > 1.0 + LARGEST_STRAIN]
        if not len(left):
            break
        scale *= SHORTENING
    return scale
