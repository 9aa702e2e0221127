"""Chains and trees of springy links, and the surfaces that bend with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Material, Surface
from neurok.modelling import profiles
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.soft.pieces import SoftPiece
from neurok_lab.worlds.soft.scene import BodyMotion, Force, Rods


@dataclass
class StemBuilder:
    """Collects stems link by link; a stem is a polyline of points with one link between each two."""

    parents: list[int] = field(default_factory=list)
    joints: list[np.ndarray] = field(default_factory=list)
    ends: list[np.ndarray] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    stiffness: list[float] = field(default_factory=list)
    damping: list[float] = field(default_factory=list)
    radius: list[float] = field(default_factory=list)

    def add(
        self,
        points: Float[np.ndarray, "K 3"],
        parent: int = -1,
        *,
        radius: float | np.ndarray,
        mass: float | np.ndarray,
        stiffness: float | np.ndarray,
        damping: float | np.ndarray,
    ) -> Int[np.ndarray, " L"]:
        """A chain of links through the points, hung on a link; numbers may be given for each link."""
        count = len(points) - 1
        first = len(self.parents)
        self.parents += [parent, *range(first, first + count - 1)]
        self.joints += list(points[:-1])
        self.ends += list(points[1:])
        for values, given in (
            (self.radius, radius),
            (self.mass, mass),
            (self.stiffness, stiffness),
            (self.damping, damping),
        ):
            values += np.broadcast_to(np.asarray(given, dtype=np.float64), count).tolist()
        return np.arange(first, first + count)

    def build(
        self,
        *,
        carries_weight: bool = True,
        collides: bool = False,
        force: Force | None = None,
        base: BodyMotion | None = None,
        ties: tuple[tuple[int, np.ndarray], ...] = (),
    ) -> Rods:
        names = ("parents", "joints", "ends", "mass", "stiffness", "damping", "radius")
        arrays: dict[str, Any] = {name: np.array(getattr(self, name)) for name in names}
        return Rods(**arrays, carries_weight=carries_weight, collides=collides, force=force, base=base, ties=ties)


def springs(points: np.ndarray, mass: np.ndarray, rate: float, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Joint stiffness and damping that make a stem swing about ``rate`` times a second, stiffer at its root."""
    count = len(points) - 1
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    # The joints of a stem are springs in a row: n of them, each n times stiffer, bend like one at its root.
    inertia = float(mass.sum()) * length**2 / 3
    root = count * inertia * (2 * math.pi * rate) ** 2 / 2.5
    stiffness = root * np.linspace(1.0, 1.0 / (1.0 + 1.5), count) ** 2
    return stiffness, 2 * ratio * stiffness / (2 * math.pi * rate)


def bent(
    vertices: Float[np.ndarray, "V 3"],
    along: Float[np.ndarray, " V"],
    links: Int[np.ndarray, " L"],
    motion: Float[np.ndarray, "T B 4 4"],
    before: int | None = None,
) -> Float[np.ndarray, "T V 3"]:
    """Vertices that follow a chain of links, blended from the middle of one link to the middle of the next.

    Args:
        along: Where each vertex sits on the chain, in links from its root.
        before: The link the chain hangs on, with which its root is blended; its own first link if absent.
    """
    order = np.concatenate([[links[0] if before is None else before], links, links[-1:]])
    place = np.clip(along, 0.0, len(links)) + 0.5
    low = np.minimum(place.astype(int), len(links))
    share = (place - low)[:, None]
    # Linear blending of rigid motions: neighbouring links turn little against each other.
    lifted = np.concatenate([vertices, np.ones((len(vertices), 1))], axis=1)
    out = [
        (1.0 - share) * np.einsum("vij,vj->vi", frame[order[low], :3], lifted)
        + share * np.einsum("vij,vj->vi", frame[order[low + 1], :3], lifted)
        for frame in motion
    ]
    return np.array(out)


def stem_piece(
    part: str,
    points: Float[np.ndarray, "K 3"],
    links: Int[np.ndarray, " L"],
    motion: Float[np.ndarray, "T B 4 4"],
    radii: Float[np.ndarray, " K"],
    surface: Surface,
    material: Material,
    *,
    samples: int = 4,
    segments: int = 8,
    before: int | None = None,
) -> SoftPiece:
    """A round stem through the joints of its chain, smooth and tapering."""
    count = (len(points) - 1) * samples + 1
    path = profiles.smooth_curve(points, count)
    scales = np.interp(np.linspace(0, len(points) - 1, count), np.arange(len(points)), radii)
    shape = tube(path, 1.0, segments, scales=scales)
    along = np.repeat(np.linspace(0.0, len(points) - 1.0, count), segments)
    along = np.concatenate([along, np.full(len(shape.vertices) - len(along), len(points) - 1.0)])
    return SoftPiece(
        part, shape.vertices, shape.faces, surface, material, bent(shape.vertices, along, links, motion, before)
    )
