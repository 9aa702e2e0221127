"""What pushes particles between two moments: forces, impulses, wind, and the damping of motion within a body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.dynamics.condition import Force, Impulse, Wind
from neurok.dynamics.particles.binding import BoundScene, Occupant
from neurok.dynamics.particles.engine_config import ParticleEngineConfig
from neurok.geometry.operators import closed_components
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import face_components


@dataclass(frozen=True, eq=False)
class Pushes:
    """Forces and impulses on one object, as shares of its particles."""

    forces: tuple[tuple[Force, Float[np.ndarray, " P"]], ...]
    impulses: tuple[tuple[Impulse, Float[np.ndarray, " P"]], ...]

    @staticmethod
    def of(occupant: Occupant) -> Pushes:
        condition = occupant.body.condition
        share = lambda noun: _share(occupant, noun.vertices)  # noqa: E731
        return Pushes(
            tuple((force, share(force)) for force in condition.forces),
            tuple((impulse, share(impulse)) for impulse in condition.impulses),
        )

    def add(self, out: Float[np.ndarray, "P 3"], time: float, step: float) -> bool:
        """Add what acts from ``time`` on for ``step`` [s]; whether anything did."""
        acted = False
        for force, share in self.forces:
            vector = force.at(time + 0.5 * step)
            if vector.any():
                out += share[:, None] * vector
                acted = True
        for impulse, share in self.impulses:
            if time - 1e-9 <= impulse.time < time + step - 1e-9:
                out += share[:, None] * (impulse.vector / step)
                acted = True
        return acted


def _share(occupant: Occupant, vertices: np.ndarray) -> Float[np.ndarray, " P"]:
    """How much of a force on some vertices each particle feels."""
    rows = occupant.carrier.weights[vertices]
    return np.asarray(rows.sum(axis=0)).reshape(-1) / len(vertices)


@dataclass(frozen=True, eq=False)
class Breeze:
    """Wind on an area-weighted choice of the faces of one object."""

    corners: Any
    """Sparse (3n × P): the corners of the chosen faces on particles."""

    areas: Float[np.ndarray, " n"]
    """What each face stands for [m²]."""

    @staticmethod
    def of(occupant: Occupant, vertices: Float[np.ndarray, "V 3"], most: int) -> Breeze | None:
        """Of what is not loose; ``None`` if all of it is."""
        pieces, filling = occupant.filling.pieces, occupant.filling
        loose = np.zeros(pieces.count, dtype=bool)
        loose[np.unique(filling.piece[occupant.loose])] = True
        faces = pieces.faces[~loose[pieces.piece]]
        if not len(faces):
            return None
        component = face_components(vertices, faces)
        # Of a closed piece only the windward half is exposed at a time; as in the reduced engine.
        half = np.where(closed_components(vertices, faces, component)[component], 0.5, 1.0)
        areas = half * face_areas(vertices, faces)
        if len(faces) > most:
            marks = (np.arange(most) + 0.5) / most * areas.sum()
            chosen = np.searchsorted(np.cumsum(areas), marks).clip(max=len(faces) - 1)
            faces, areas = faces[chosen], np.full(most, areas.sum() / most)
        return Breeze(occupant.carrier.weights[faces.reshape(-1)], areas)

    def add(
        self, out: Float[np.ndarray, "P 3"], x: Float[np.ndarray, "P 3"], v: Float[np.ndarray, "P 3"], wind: Wind
    ) -> None:
        """Add the pressure of moving air on faces where they are now [m, m/s]."""
        corners = np.asarray(self.corners @ x).reshape(-1, 3, 3)
        rates = np.asarray(self.corners @ v).reshape(-1, 3, 3).mean(axis=1)
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)
        along = ((wind.velocity - rates) * normals).sum(axis=1)
        pressure = 0.5 * wind.air_density * wind.drag * self.areas * along * np.abs(along)
        forces = np.repeat(pressure[:, None] * normals / 3.0, 3, axis=0)
        out += np.asarray(self.corners.T @ forces)


LEAST_INERTIA = 1e-10
"""Of the largest moment of inertia; about axes with less, as of one particle or a line, nothing turns."""


def relaxing(
    occupant: Occupant, x: Float[np.ndarray, "P 3"], v: Float[np.ndarray, "P 3"], most: float
) -> Float[np.ndarray, "P 3"] | None:
    """Forces that damp motion within a body and leave its momenta alone; rates are at most ``most`` [1/s].

    The motion that is left alone is the rigid one of the damped particles with the same momenta, weighted by their
    damping: then neither force nor torque is left over.
    """
    rate = np.minimum(occupant.relax, most) * occupant.masses
    which = np.flatnonzero(rate)
    if not len(which):
        return None
    weight, place, speed = rate[which], x[which], v[which]
    total = float(weight.sum())
    centre, drift = weight @ place / total, weight @ speed / total
    arm, relative = place - centre, speed - drift
    inertia = np.einsum("n,nij->ij", weight, _inertia(arm))
    turning = (weight[:, None] * np.cross(arm, relative)).sum(axis=0)
    spin = np.linalg.pinv(inertia, rcond=LEAST_INERTIA, hermitian=True) @ turning
    out = np.zeros_like(x)
    out[which] = -weight[:, None] * (relative - np.cross(spin, arm))
    return out


def _inertia(arm: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3 3"]:
    return (arm**2).sum(axis=1)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None, :]


class Loads:
    """Everything that pushes, on all objects."""

    def __init__(self, scene: BoundScene, wind: Wind | None, config: ParticleEngineConfig) -> None:
        self.scene, self.config = scene, config
        self.pushes = [Pushes.of(occupant) for occupant in scene.occupants]
        self.extra_gravity = np.zeros(3)
        self.set_wind(wind)
        self.relaxes = any(occupant.relax.any() for occupant in scene.occupants)

    def set_wind(self, wind: Wind | None) -> None:
        """Other moving air from now on, or none."""
        self.wind, self.breezes = wind, list[Breeze | None]()
        if wind is not None:
            most = self.config.wind_faces
            occupants = self.scene.occupants
            self.breezes = [Breeze.of(each, each.carrier.start, most) for each in occupants]

    @property
    def are_there(self) -> bool:
        """Whether forces may ever change."""
        pushed = any(each.forces or each.impulses for each in self.pushes)
        return pushed or self.wind is not None or self.relaxes or bool(self.extra_gravity.any())

    def forces(
        self, x: Float[np.ndarray, "P 3"], v: Float[np.ndarray, "P 3"], time: float, step: float
    ) -> Float[np.ndarray, "P 3"] | None:
        """On all particles, for the next ``step`` [s]; ``None`` if nothing acts."""
        out, acts = np.zeros_like(x), False
        blows = self.wind is not None and time <= (math.inf if self.wind.until is None else self.wind.until)
        for index, occupant in enumerate(self.scene.occupants):
            where = occupant.where
            acts |= self.pushes[index].add(out[where], time, step)
            if blows and self.breezes[index] is not None:
                self.breezes[index].add(out[where], x[where], v[where], self.wind)  # type: ignore[union-attr, arg-type]
                acts = True
            damped = relaxing(occupant, x[where], v[where], self.config.relax_phase / step)
            if damped is not None:
                out[where] += damped
                acts = True
        if self.extra_gravity.any():
            out += self.scene.particles.masses[:, None] * self.extra_gravity
            acts = True
        return out if acts else None


def causes(occupants: Sequence[Occupant], wind: Wind | None) -> list[str]:
    """What changes the energy of these objects from outside, in words."""
    conditions = [occupant.body.condition for occupant in occupants]
    found = {
        "pushes": any(condition.forces for condition in conditions),
        "impulses": any(condition.impulses for condition in conditions),
        "drags": any(condition.drags for condition in conditions),
        "wind": wind is not None,
    }
    return [name for name, is_there in found.items() if is_there]
