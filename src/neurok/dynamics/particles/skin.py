"""How far the stuff of an object reaches beyond the middles of its particles: contact is with the drawn surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.dynamics.particles.carrying import Carrier
from neurok.dynamics.particles.filling import Filling
from neurok.dynamics.particles.state import SoftSkin
from neurok.dynamics.particles.stuff import SOLID
from neurok.geometry.distance import closest_point


@dataclass(frozen=True)
class SkinConfig:
    """Which particles are told how far their surface is."""

    outer: float = 1.2
    """Those at most so far behind it [spacings]. A lattice leaves at most one on a side that lies along it, and a
    little more below a round one."""

    neighbours: float = 1.8
    """Particles with places free within this distance may be such [spacings]: 26 places of a lattice are nearer."""

    place: float = 0.25
    """Vertices in one place of this width are one [spacings]."""

    off: float = 0.5
    """Triangles of sheets reach this share of the way to vertices that lie off them: what is drawn neither sinks in nor
    hovers by more than the other half."""


SKIN = SkinConfig()


def soft_skin(
    filling: Filling,
    carrier: Carrier,
    soft: Bool[np.ndarray, " P"],
    faces: Int[np.ndarray, "F 3"],
    config: SkinConfig = SKIN,
) -> SoftSkin:
    """Vertices of solids that bend, at most one in each small place."""
    from scipy.sparse import csr_matrix

    used = np.setdiff1d(np.unique(faces), carrier.sheet)
    rows = csr_matrix(carrier.weights)[used]
    leader = np.asarray(rows.argmax(axis=1)).reshape(-1)
    mine = (carrier.rigid[used] < 0) & soft[leader]
    place = np.floor(carrier.start[used[mine]] / (config.place * filling.spacing)).astype(np.int64)
    chosen = np.flatnonzero(mine)[np.sort(np.unique(place, axis=0, return_index=True)[1])]
    return SoftSkin(rows[chosen], leader[chosen])


def radii(
    filling: Filling, carrier: Carrier, loose: Bool[np.ndarray, " P"], config: SkinConfig = SKIN
) -> Float[np.ndarray, " P"]:
    """How far each particle reaches [m].

    Sheets and shells lie on the surface. Loose stuff has none that lasts, and fills its own place.
    """
    out = np.zeros(filling.count)
    solid = filling.fill == SOLID
    out[solid] = 0.5 * np.cbrt(filling.volumes[solid])
    outer, away = _behind(filling, carrier, np.flatnonzero(solid & ~loose), config)
    out[outer] = away
    far = config.off * np.linalg.norm(carrier.offset, axis=1)
    np.maximum.at(out, carrier.triangle.reshape(-1), np.repeat(far, 3))
    return out


def _behind(
    filling: Filling, carrier: Carrier, solid: Int[np.ndarray, " n"], config: SkinConfig
) -> tuple[Int[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The outermost particles of solids, and how far their surface is: the lattice meets it anyhow."""
    from scipy.spatial import cKDTree

    if not len(solid):
        return solid, np.zeros(0)
    points, pieces = filling.points[solid], filling.pieces
    around = cKDTree(points).query_ball_point(points, config.neighbours * filling.spacing, return_length=True)
    outer = solid[np.asarray(around) < 27]
    if not len(outer):
        return outer, np.zeros(0)
    found = closest_point(
        filling.points[outer], carrier.start, pieces.faces, filling.piece[outer], pieces.piece
    ).distances
    near = found <= config.outer * filling.spacing
    return outer[near], found[near]
