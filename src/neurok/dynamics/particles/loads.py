"""What acts on particles between two moments: forces, impulses, wind, damping within a body; pins, drags and grabs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.material import STANDARD_GRAVITY
from neurok.dynamics.condition import Drag, Force, Impulse, Wind, check_positive
from neurok.dynamics.particles.binding import BoundScene, Occupant
from neurok.dynamics.particles.solver import Solver
from neurok.geometry.operators import closed_components, face_areas
from neurok.geometry.topology import face_components

HELD = 0.75
"""Particles this close to a held vertex are held [cells]."""

GRAB_SAG = 0.02
"""By how much the springs of a grab that names no stiffness give way under the object's weight [sizes]; as in the
reduced engine. Pins and drags that name none hold hard."""

BASE = 1.0
"""Layer at the bottom that is held where an object stands fixed and nothing is pinned [cells]."""

SPRING_PHASE = 0.3
"""Largest ω dt of a spring on the particles it holds: beyond, explicit steps would ring."""

RELAX_PHASE = 0.2
"""Largest share of the motion within a body that one ``load_step`` may take."""

WIND_FACES = 400
"""Faces of one object that feel the wind: an area-weighted choice, as in the reduced engine, but finer."""


def wind_faces(occupant: Occupant) -> tuple[Any, Float[np.ndarray, " n"]] | None:
    """An area-weighted choice of the faces of one object that are not loose; ``None`` if all are.

    Their corners on particles, sparse (3n × P), and what each face stands for [m²].
    """
    pieces, filling, vertices = occupant.filling.pieces, occupant.filling, occupant.surface.start
    loose = np.zeros(pieces.count, dtype=bool)
    loose[np.unique(filling.piece[occupant.loose])] = True
    faces = pieces.faces[~loose[pieces.piece]]
    if not len(faces):
        return None
    component = face_components(vertices, faces)
    # Of a closed piece only the windward half is exposed at a time; as in the reduced engine.
    half = np.where(closed_components(vertices, faces, component)[component], 0.5, 1.0)
    areas = half * face_areas(vertices, faces)
    if len(faces) > WIND_FACES:
        marks = (np.arange(WIND_FACES) + 0.5) / WIND_FACES * areas.sum()
        chosen = np.searchsorted(np.cumsum(areas), marks).clip(max=len(faces) - 1)
        faces, areas = faces[chosen], np.full(WIND_FACES, areas.sum() / WIND_FACES)
    return occupant.surface.weights[faces.reshape(-1)], areas


def wind_forces(
    faces: Any, areas: Float[np.ndarray, " n"], x: Float[np.ndarray, "P 3"], v: Float[np.ndarray, "P 3"], wind: Wind
) -> Float[np.ndarray, "P 3"]:
    """Of the pressure of moving air on faces, on the particles that are at ``x`` and go with ``v`` [m, m/s]."""
    corners = np.asarray(faces @ x).reshape(-1, 3, 3)
    rates = np.asarray(faces @ v).reshape(-1, 3, 3).mean(axis=1)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)
    along = ((wind.velocity - rates) * normals).sum(axis=1)
    pressure = 0.5 * wind.air_density * wind.drag * areas * along * np.abs(along)
    return np.asarray(faces.T @ np.repeat(pressure[:, None] * normals / 3.0, 3, axis=0))


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

    def __init__(self, scene: BoundScene, wind: Wind | None) -> None:
        self.scene = scene
        self.shares: list[tuple[slice, Force | Impulse, np.ndarray]] = []
        """What acts on vertices, on which particles, and how much of it each of these feels."""
        for occupant in scene.occupants:
            nouns: list[Force | Impulse] = [*occupant.body.condition.forces, *occupant.body.condition.impulses]
            for acting in nouns:
                felt = occupant.surface.weights[acting.vertices].sum(axis=0)
                self.shares.append((occupant.where, acting, np.asarray(felt).reshape(-1, 1) / len(acting.vertices)))
        self.extra_gravity = np.zeros(3)
        self.set_wind(wind)
        self.relaxes = any(occupant.relax.any() for occupant in scene.occupants)

    def set_wind(self, wind: Wind | None) -> None:
        """Other moving air from now on, or none."""
        self.wind = wind
        self.faces = [None if wind is None else wind_faces(occupant) for occupant in self.scene.occupants]

    @property
    def are_there(self) -> bool:
        """Whether forces may ever change."""
        return bool(self.shares or self.wind is not None or self.relaxes or self.extra_gravity.any())

    def forces(
        self, x: Float[np.ndarray, "P 3"], v: Float[np.ndarray, "P 3"], time: float, step: float
    ) -> Float[np.ndarray, "P 3"] | None:
        """On all particles, for the next ``step`` [s]; ``None`` if nothing acts."""
        out, acts = np.zeros_like(x), False
        for where, acting, share in self.shares:
            if isinstance(acting, Force):
                vector = acting.at(time + 0.5 * step)
            else:
                vector = acting.vector / step * (time - 1e-9 <= acting.time < time + step - 1e-9)
            if vector.any():
                out[where] += share * vector
                acts = True
        wind = self.wind if self.wind is None or self.wind.until is None or time <= self.wind.until else None
        for occupant, faces in zip(self.scene.occupants, self.faces, strict=True):
            where = occupant.where
            if wind is not None and faces is not None:
                out[where] += wind_forces(*faces, x[where], v[where], wind)
                acts = True
            damped = relaxing(occupant, x[where], v[where], RELAX_PHASE / step)
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


@dataclass(eq=False)
class Constraint:
    """Some particles that are held or led."""

    indices: Int[np.ndarray, " n"]
    """Among those of all objects."""

    places: Float[np.ndarray, "n 3"]
    """Where they were when they were seized [m]."""

    stiffness: float | None
    """Of all springs together [N/m]; ``None`` holds hard."""

    mass: float
    """Of what the springs move [kg]."""

    shift: Callable[[float], Float[np.ndarray, "3"]] | None = None
    """By how much they shall have moved at a time [m]; ``None`` where they never move."""

    end: float = math.inf

    def goals(self, time: float) -> Float[np.ndarray, "n 3"]:
        """Where the particles shall be [m]."""
        return self.places if self.shift is None else self.places + self.shift(time)


def constraints_of(scene: BoundScene) -> list[Constraint]:
    """Pins, drags and fixed bases of all objects."""
    out = []
    for occupant in scene.occupants:
        condition, mass = occupant.body.condition, float(occupant.masses.sum())
        for pin in condition.pins:
            mine = held_particles(scene, occupant, pin.vertices)
            out.append(Constraint(mine, scene.particles.positions[mine], pin.stiffness, mass))
        for drag in condition.drags:
            mine = held_particles(scene, occupant, drag.vertices)
            way = _way(drag, occupant.surface.start[drag.vertices].mean(axis=0), scene.unit)
            end = math.inf if drag.end is None else drag.end
            out.append(Constraint(mine, scene.particles.positions[mine], drag.stiffness, mass, way, end))
        if not occupant.body.free and not condition.pins:
            mine = _base(scene, occupant)
            out.append(Constraint(mine, scene.particles.positions[mine], None, mass))
    return out


def grab_springs(
    scene: BoundScene,
    occupant: Occupant,
    vertices: Int[np.ndarray, " n"],
    target: Float[np.ndarray, "3"],
    solver: Solver,
    stiffness: float | None,
) -> Constraint:
    """Springs that pull some vertices so that their mean comes to ``target`` [m], which may change later."""
    check_positive(stiffness, "stiffness")
    mine = held_particles(scene, occupant, vertices)
    x = solver.positions
    mean = np.asarray(occupant.surface.weights[vertices] @ x[occupant.where]).mean(axis=0)
    mass = float(occupant.masses.sum())
    if stiffness is None:
        stiffness = mass * STANDARD_GRAVITY / (GRAB_SAG * occupant.size)
    return Constraint(mine, x[mine], stiffness, mass, lambda time: target - mean)


def held_particles(scene: BoundScene, occupant: Occupant, vertices: Int[np.ndarray, " n"]) -> Int[np.ndarray, " m"]:
    """Particles around some vertices, those of their own pieces, and always the nearest."""
    from scipy.spatial import cKDTree

    filling, places = occupant.filling, occupant.surface.start[vertices]
    away = cKDTree(places).query(filling.points)[0]
    nearest = cKDTree(filling.points).query(places)[1]
    close = np.flatnonzero(away <= HELD * scene.cell)
    own = np.unique(filling.piece[nearest])
    close = close[np.isin(filling.piece[close], own)]
    led = np.flatnonzero(occupant.led) if occupant.led[nearest].any() else close[:0]
    return occupant.where.start + np.unique(np.concatenate([close, nearest, led]))


def _way(drag: Drag, mean: Float[np.ndarray, "3"], unit: float) -> Callable[[float], Float[np.ndarray, "3"]]:
    return lambda time: drag.at(time) * unit - mean


def _base(scene: BoundScene, occupant: Occupant) -> Int[np.ndarray, " n"]:
    """What of an object stands fixed: the root of its joints if that is rigid, else its lowest layer."""
    filling, joints = occupant.filling, occupant.body.poses.articulation
    if joints is not None and joints.dof:
        mine = joints.part_nodes[filling.pieces.part[filling.piece]] == 0
        if mine.any():
            return occupant.where.start + np.flatnonzero(mine)
    heights = filling.points @ occupant.body.mesh.up_vector
    low = (heights <= heights.min() + BASE * scene.cell) | occupant.led
    return occupant.where.start + np.flatnonzero(low)


class Constraints:
    """All constraints of a run, told to the solver as they move."""

    def __init__(self, scene: BoundScene) -> None:
        self.scene = scene
        self.all = constraints_of(scene)
        self.grab: Constraint | None = None
        self._told: tuple[int, int] | None = None

    @property
    def move(self) -> bool:
        """Whether any of them is more than a pin."""
        return self.grab is not None or any(hold.shift is not None for hold in self.all)

    def tell(self, solver: Solver, time: float, step: float) -> None:
        """Lead what is held from ``time`` on for ``step`` [s]."""
        alive = [hold for hold in [*self.all, *([self.grab] if self.grab else [])] if time < hold.end - 1e-9]
        hard = [hold for hold in alive if hold.stiffness is None]
        soft = [hold for hold in alive if hold.stiffness is not None]
        state = (len(hard), len(soft))
        moves = any(hold.shift is not None for hold in alive)
        if state == self._told and not moves:
            return
        self._tell_hard(solver, hard, time, step)
        if soft or (self._told is not None and self._told[1]):
            self._tell_soft(solver, soft, time, step)
        self._told = state

    def _tell_hard(self, solver: Solver, hard: list[Constraint], time: float, step: float) -> None:
        if not hard and (self._told is None or not self._told[0]):
            return
        moves = any(hold.shift is not None for hold in hard)
        indices, goals, _ = _goals(hard, time + step)
        solver.set_targets(indices, goals, seconds=step if moves else 0.0)

    def _tell_soft(self, solver: Solver, soft: list[Constraint], time: float, step: float) -> None:
        masses, phase, dt = self.scene.particles.masses, SPRING_PHASE, solver.dt
        stiffness, damping = [], []
        for hold in soft:
            own, share = masses[hold.indices], float(hold.stiffness or 0.0) / len(hold.indices)
            rate = 2.0 * math.sqrt(float(hold.stiffness or 0.0) * hold.mass) / len(hold.indices)
            stiffness.append(np.minimum(share, (phase / dt) ** 2 * own))
            damping.append(np.minimum(rate, phase / dt * own))
        indices, goals, first = _goals(soft, time + step)
        solver.set_targets(
            indices, goals, stiffness=_joined(stiffness)[first], damping=_joined(damping)[first], seconds=step
        )


def _goals(constraints: list[Constraint], time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Particles, where they shall be [m], and the first constraint's row of each."""
    indices, first = np.unique(_joined([one.indices for one in constraints], np.int64), return_index=True)
    return indices, _joined([one.goals(time) for one in constraints]).reshape(-1, 3)[first], first


def _joined(rows: list[np.ndarray], dtype: type = np.float64) -> np.ndarray:
    return np.concatenate(rows) if rows else np.zeros(0, dtype=dtype)
