"""What acts on one object: each load gives a generalised force and, where it has one, a potential energy.

Loads are bound to the mechanics of their object and work on batches of moments. Inside, lengths are in mesh units,
so forces are in kg·unit/s² and energies in kg·unit²/s².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.condition import Force
from neurok.geometry.loops import compiled

Times = Float[np.ndarray, " B"]


class Load:
    """Something that acts on one object; by itself it does nothing."""

    name: str
    is_potential: bool = False
    """Whether its energy counts towards the total; external pushes have none of their own."""

    @property
    def feels_rates(self) -> bool:
        """Whether the force depends on rates."""
        return False

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        raise NotImplementedError

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        """Potential; for external forces their negative work, so that an incremental potential can be minimised."""
        return np.zeros(len(motion.q))

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"] | None:
        """Positive approximation of how the force gives way at the end of a step (first moment of the batch);
        ``None`` when it has to be found by differences."""
        return np.zeros((motion.q.shape[1], motion.q.shape[1]))


@dataclass(frozen=True, eq=False)
class UniformField(Load):
    """Gravity."""

    acceleration: Float[np.ndarray, "3"]
    name: str = "gravity"
    is_potential: bool = True

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        return motion.field_force(self.acceleration)

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        return motion.field_energy(self.acceleration)


@dataclass(frozen=True, eq=False)
class Push(Load):
    """A force over time on some vertices."""

    points: Any
    force_over_time: Force
    scale: float
    """From newtons to internal units, shared among the vertices."""

    name: str = "push"

    def _vectors(self, times: Times) -> Float[np.ndarray, "B 1 3"]:
        return self.scale * np.stack([self.force_over_time.at(float(t)) for t in times])[:, None]

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        vectors = self._vectors(times)
        if not vectors.any():
            return np.zeros_like(motion.q)
        count = len(self.force_over_time.vertices)
        return self.points.pull(motion, np.repeat(vectors, count, axis=1))

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        vectors = self._vectors(times)
        if not vectors.any():
            return np.zeros(len(times))
        return -(vectors * self.points.positions(motion)).sum(axis=(1, 2))


@dataclass(frozen=True, eq=False)
class Hold(Load):
    """Damped springs from vertices to places that may move: pins and drags."""

    points: Any
    targets: Callable[[float], Float[np.ndarray, "n 3"]]
    stiffness: float
    """Of each spring."""

    damping: float
    name: str = "hold"
    is_potential: bool = True
    feels_rates: bool = True
    end: float = math.inf
    """When the springs let go [s]."""

    def _held(self, times: Times) -> Float[np.ndarray, " B"]:
        """1 while the springs hold, 0 afterwards."""
        return np.where(times <= self.end, 1.0, 0.0)

    def _gaps(self, motion: Any, times: Times) -> Float[np.ndarray, "B n 3"]:
        return self.points.positions(motion) - np.stack([self.targets(float(t)) for t in times])

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        step = 1e-4
        drift = np.stack([self.targets(float(t) + step) - self.targets(float(t) - step) for t in times]) / (2 * step)
        rates = self.points.velocities(motion) - drift
        forces = -self.stiffness * self._gaps(motion, times) - self.damping * rates
        return self.points.pull(motion, self._held(times)[:, None, None] * forces)

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        return 0.5 * self.stiffness * self._held(times) * (self._gaps(motion, times) ** 2).sum(axis=(1, 2))

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"]:
        slopes = self.points.jacobian(motion).reshape(-1, motion.q.shape[1])
        return (self.stiffness + self.damping / dt) * (slopes.T @ slopes)


@dataclass(frozen=True, eq=False)
class LimitWell(Load):
    """Flat between the limits of the coordinates, rising smoothly (with two continuous derivatives) outside."""

    lower: Float[np.ndarray, " D"]
    upper: Float[np.ndarray, " D"]
    steepness: Float[np.ndarray, " D"]
    """The force at a depth d is steepness · d²."""

    damping: Float[np.ndarray, " D"]
    """Motion at a depth d is resisted by damping · d^1.5 times its rate; 0 keeps the energy."""

    name: str = "limits"
    is_potential: bool = True

    @property
    def feels_rates(self) -> bool:
        return bool(self.damping.any())

    def _excess(self, q: Float[np.ndarray, "*B D"]) -> Float[np.ndarray, "*B D"]:
        """How far coordinates are above their limits; negative below."""
        return q - np.minimum(np.maximum(q, self.lower), self.upper)

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        excess = self._excess(motion.q)
        if not excess.any():
            return excess
        depth = np.abs(excess)
        return -self.steepness * depth * excess - self.damping * depth**1.5 * motion.qdot

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        excess = self._excess(motion.q)
        if not excess.any():
            return np.zeros(len(excess))
        return (self.steepness * np.abs(excess) ** 3 / 3.0).sum(axis=1)

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"]:
        excess = self._excess(motion.q[0])
        if not excess.any():
            return np.zeros((len(excess), len(excess)))
        depth, inward = np.abs(excess), np.maximum(np.sign(excess) * motion.qdot[0], 0.0)
        buffer = depth**1.5 / dt + 1.5 * np.sqrt(depth) * inward
        return np.diag(2.0 * self.steepness * depth + self.damping * buffer)


@dataclass(frozen=True, eq=False)
class StrainWell(Load):
    """Flat where no vector of some that are linear in the coordinates is longer than 1, rising smoothly outside."""

    vectors: Float[np.ndarray, "R 3 D"]
    wells: Float[np.ndarray, "R 2"]
    """Steepness and buffer of each, as those of ``LimitWell`` by how much it is longer than 1."""

    name: str = "strain limits"
    is_potential: bool = True
    _recent: list[Any] = field(default_factory=list, init=False, repr=False)
    _calm: list[Any] = field(default_factory=list, init=False, repr=False)
    """Coordinates at which nothing was too long, and how far from there nothing can be."""

    @property
    def feels_rates(self) -> bool:
        return bool(self.wells[:, 1].any())

    @cached_property
    def _largest_slope(self) -> float:
        """How much any of the lengths can grow where the coordinates move by 1."""
        return float(np.sqrt((self.vectors**2).sum(axis=(1, 2)).max(initial=0.0)))

    @cached_property
    def _flat(self) -> Float[np.ndarray, "R3 D"]:
        """All first components, then all second ones, then all third ones."""
        return np.ascontiguousarray(self.vectors.swapaxes(0, 1)).reshape(-1, self.vectors.shape[2])

    def _strained(
        self, motion: Any
    ) -> list[tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"], Float[np.ndarray, "n D"], Float[np.ndarray, " n"]]]:
        """Of each moment: the vectors that are too long, by how much, how this follows the coordinates, and its rate;
        from memory where the same motion has just been asked about."""
        if not self._recent or self._recent[0] is not motion:
            found, nothing = [], np.zeros(0)
            for q, qdot in zip(motion.q, motion.qdot, strict=True):
                if self._calm and np.linalg.norm(q - self._calm[0]) < self._calm[1]:
                    found.append((nothing.astype(np.int64), nothing, np.zeros((0, len(q))), nothing))
                    continue
                x, y, z = along = (self._flat @ q).reshape(3, -1)
                square = x * x + y * y + z * z
                which = np.flatnonzero(square > 1.0)
                if not len(which) and len(square):
                    self._calm[:] = q, (1.0 - np.sqrt(square.max())) / max(self._largest_slope, 1e-300)
                lengths = np.sqrt(square[which])
                slopes = ((along[:, which] / lengths).T[:, None] @ self.vectors[which])[:, 0]
                found.append((which, lengths - 1.0, slopes, slopes @ qdot))
            self._recent[:] = [motion, found]
        return self._recent[1]

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        out = np.zeros_like(motion.q)
        for row, (which, depth, slopes, rates) in zip(out, self._strained(motion), strict=True):
            if len(which):
                steepness, buffer = self.wells[which].T
                row -= (steepness * depth**2 + buffer * depth**1.5 * rates) @ slopes
        return out

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        found = self._strained(motion)
        return np.array([self.wells[which, 0] @ depth**3 / 3.0 if len(which) else 0.0 for which, depth, _, _ in found])

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"]:
        which, depth, slopes, rates = self._strained(motion)[0]
        if not len(which):
            return np.zeros((motion.q.shape[1],) * 2)
        steepness, buffer = self.wells[which].T
        pull = np.maximum(steepness * depth**2 + buffer * depth**1.5 * rates, 0.0) / (1.0 + depth)
        give = depth**1.5 / dt + 1.5 * np.sqrt(depth) * np.maximum(rates, 0.0)
        ahead = 2.0 * steepness * depth + buffer * give - pull
        across = self.vectors[which].reshape(-1, self.vectors.shape[2])
        return slopes.T @ (ahead[:, None] * slopes) + across.T @ (np.repeat(pull, 3)[:, None] * across)


@dataclass(frozen=True, eq=False)
class Damping(Load):
    """Viscous: joints by their own coefficients, everything by its momentum."""

    coefficients: Float[np.ndarray, " D"]
    mass_rate: float = 0.0
    """Rayleigh damping in proportion to mass [1/s]."""

    name: str = "damping"
    feels_rates: bool = True

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        out = -self.coefficients * motion.qdot
        return out - self.mass_rate * motion.momentum if self.mass_rate else out

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"]:
        out = np.diag(self.coefficients / dt)
        return out + self.mass_rate / dt * motion.mass_matrices()[0] if self.mass_rate else out


@dataclass(frozen=True, eq=False)
class WindLoad(Load):
    """Pressure of moving air on a bounded sample of faces."""

    points: Any
    """Three corners of each face in turn."""

    areas: Float[np.ndarray, " n"]
    """What each face stands for, in mesh units."""

    velocity: Float[np.ndarray, "3"]
    """Mesh units per second."""

    pressure: float
    """Half the air's density times the drag coefficient [kg/unit³]."""

    name: str = "wind"
    feels_rates: bool = True
    until: float = math.inf
    """When the air comes to rest [s]."""

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        blows = times <= self.until
        if not blows.any():
            return np.zeros_like(motion.q)
        batch = len(motion.q)
        corners = self.points.positions(motion).reshape(batch, -1, 3, 3)
        cross = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
        normals = cross / np.maximum(np.linalg.norm(cross, axis=-1, keepdims=True), 1e-300)
        rates = self.points.velocities(motion).reshape(batch, -1, 3, 3).mean(axis=2)
        along = ((self.velocity - rates) * normals).sum(axis=-1)
        forces = (blows[:, None] * self.pressure * self.areas * along * np.abs(along))[..., None] * normals
        return self.points.pull(motion, np.repeat(forces / 3.0, 3, axis=1))


@dataclass(frozen=True, eq=False)
class PointLoad(Load):
    """An energy of a few vertices with a closed-form gradient."""

    points: Any
    evaluate: Callable[[Float[np.ndarray, "B n 3"]], tuple[np.ndarray, np.ndarray]]
    """Positions [m] to energies [J] and gradients [N]."""

    unit: float
    name: str
    bend: Callable[[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3 D"]], np.ndarray] | None = None
    """Positions [m] and how they follow the coordinates to a positive curvature [J]."""

    is_potential: bool = True
    _recent: list[Any] = field(default_factory=list, init=False, repr=False)

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        return self.points.pull(motion, -self._evaluated(motion)[1] / self.unit)

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        return self._evaluated(motion)[0] / self.unit**2

    def _evaluated(self, motion: Any) -> tuple[np.ndarray, np.ndarray]:
        """Energies and gradients, from memory where the same motion has just been asked about."""
        if not self._recent or self._recent[0] is not motion:
            self._recent[:] = [motion, self.evaluate(self.unit * self.points.positions(motion))]
        return self._recent[1]

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"] | None:
        if self.bend is None:
            return None
        x, slopes = self.points.positions(motion)[0], self.points.jacobian(motion)
        return self.bend(self.unit * x, self.unit * slopes) / self.unit**2


@dataclass(frozen=True, eq=False)
class CoordinateLoad(Load):
    """An energy of the coordinates of the space themselves."""

    evaluate: Callable[[Float[np.ndarray, "B D"]], tuple[np.ndarray, np.ndarray]]
    """Coordinates to energies [J] and gradients."""

    offset: int
    """Coordinates of the base come first and are left out."""

    unit: float
    name: str
    bend: Float[np.ndarray, "D D"] | None = None
    """Second derivatives [J] where they are the same everywhere; differences are taken otherwise."""

    is_potential: bool = True

    def force(self, motion: Any, times: Times) -> Float[np.ndarray, "B D"]:
        out = np.zeros_like(motion.q)
        out[:, self.offset :] = -self.evaluate(motion.q[:, self.offset :])[1] / self.unit**2
        return out

    def energy(self, motion: Any, times: Times) -> Float[np.ndarray, " B"]:
        return self.evaluate(motion.q[:, self.offset :])[0] / self.unit**2

    def curvature(self, motion: Any, dt: float) -> Float[np.ndarray, "D D"] | None:
        if self.bend is None:
            return None
        out = np.zeros((motion.q.shape[1],) * 2)
        out[self.offset :, self.offset :] = self.bend / self.unit**2
        return out


def autodiff_energy(
    energy: Callable[[Any], Any],
) -> Callable[[Float[np.ndarray, "B V 3"]], tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B V 3"]]]:
    """A function of positions (torch, differentiable) as values and gradients on plain arrays."""
    import torch

    def evaluate(x: Float[np.ndarray, "B V 3"]) -> tuple[np.ndarray, np.ndarray]:
        values, gradients = [], []
        for row in x:
            leaf = torch.tensor(row, dtype=torch.float64, requires_grad=True)
            value = energy(leaf)
            (gradient,) = torch.autograd.grad(value, leaf, allow_unused=True)
            values.append(float(value.detach()))
            gradients.append(np.zeros_like(row) if gradient is None else gradient.numpy())
        return np.array(values), np.stack(gradients)

    return evaluate


class CoordinateLoads(NamedTuple):
    """What acts on coordinates alone, of all of these at once: springs, limits, damping, limits of strain."""

    stiffness: Float[np.ndarray, "D D"]
    wells: Float[np.ndarray, "5 D"]
    """Lower and upper limits, steepness and damping of ``LimitWell``, and damping everywhere."""

    vectors: Float[np.ndarray, "R 3 D"]
    strain_wells: Float[np.ndarray, "R 2"]
    calm: Float[np.ndarray, " D1"]
    """Coordinates at which no strain was too large, and last how far from there none can be."""

    @staticmethod
    def of(loads: Sequence[Load], dim: int) -> tuple[CoordinateLoads, tuple[Load, ...]]:
        """Loads of an object with so many coordinates, and those that are no such ones."""
        stiffness, wells, others = np.zeros((dim, dim)), np.zeros((5, dim)), []
        wells[0], wells[1] = -np.inf, np.inf
        strain: tuple[np.ndarray, np.ndarray] = np.zeros((0, 3, dim)), np.zeros((0, 2))
        for load in loads:
            if isinstance(load, LimitWell):
                wells[:4] = load.lower, load.upper, load.steepness, load.damping
            elif isinstance(load, StrainWell):
                strain = load.vectors, load.wells
            elif isinstance(load, Damping) and not load.mass_rate:
                wells[4] += load.coefficients
            elif isinstance(load, CoordinateLoad) and load.bend is not None:
                stiffness[load.offset :, load.offset :] += load.bend / load.unit**2
            else:
                others.append(load)
        arrays = (np.ascontiguousarray(each, dtype=np.float64) for each in (stiffness, wells, *strain))
        return CoordinateLoads._make([*arrays, np.zeros(dim + 1)]), tuple(others)

    def add(
        self,
        q: Float[np.ndarray, " D"],
        qdot: Float[np.ndarray, " D"],
        dt: float,
        gradient: Float[np.ndarray, " D"],
        curvature: Float[np.ndarray, "D D"],
    ) -> float:
        """Their energy; their slopes and positive curvatures at the end of a step are added."""
        energy: float = coordinate_potential(q, qdot, dt, *self, gradient, curvature)
        return energy


@compiled
def coordinate_potential(q, qdot, dt, stiffness, wells, vectors, strain_wells, calm, gradient, curvature):
    """The energies of ``CoordinateLoad``, ``LimitWell``, ``Damping`` and ``StrainWell``; slopes and curvatures are
    added."""
    dim, energy, away = q.shape[0], 0.0, 0.0
    for i in range(dim):
        pull = 0.0
        for j in range(dim):
            pull += stiffness[i, j] * q[j]
            curvature[i, j] += stiffness[i, j]
        energy += 0.5 * pull * q[i]
        excess = q[i] - min(max(q[i], wells[0, i]), wells[1, i])
        depth = abs(excess)
        gradient[i] += pull + wells[2, i] * depth * excess + (wells[3, i] * depth**1.5 + wells[4, i]) * qdot[i]
        energy += wells[2, i] * depth**3 / 3.0
        inward = max(qdot[i] if excess > 0.0 else -qdot[i], 0.0)
        buffer = wells[3, i] * (depth**1.5 / dt + 1.5 * np.sqrt(depth) * inward)
        curvature[i, i] += 2.0 * wells[2, i] * depth + buffer + wells[4, i] / dt
        away += (q[i] - calm[i]) ** 2
    if vectors.shape[0] == 0 or away < calm[dim] ** 2:
        return energy
    longest, steepest, along, slope = 0.0, 0.0, np.empty(3), np.empty(dim)
    for r in range(vectors.shape[0]):
        square, size = 0.0, 0.0
        for i in range(3):
            along[i] = 0.0
            for j in range(dim):
                along[i] += vectors[r, i, j] * q[j]
                size += vectors[r, i, j] ** 2
            square += along[i] ** 2
        longest, steepest = max(longest, square), max(steepest, size)
        if square <= 1.0:
            continue
        length, rate = np.sqrt(square), 0.0
        depth = length - 1.0
        for j in range(dim):
            slope[j] = (
                along[0] * vectors[r, 0, j] + along[1] * vectors[r, 1, j] + along[2] * vectors[r, 2, j]
            ) / length
            rate += slope[j] * qdot[j]
        force = strain_wells[r, 0] * depth**2 + strain_wells[r, 1] * depth**1.5 * rate
        energy += strain_wells[r, 0] * depth**3 / 3.0
        across = max(force, 0.0) / length
        give = depth**1.5 / dt + 1.5 * np.sqrt(depth) * max(rate, 0.0)
        ahead = 2.0 * strain_wells[r, 0] * depth + strain_wells[r, 1] * give - across
        for i in range(dim):
            gradient[i] += force * slope[i]
            for j in range(dim):
                curvature[i, j] += ahead * slope[i] * slope[j]
                for k in range(3):
                    curvature[i, j] += across * vectors[r, k, i] * vectors[r, k, j]
    for i in range(dim):
        calm[i] = q[i]
    calm[dim] = (1.0 - np.sqrt(longest)) / np.sqrt(max(steepest, 1e-300)) if longest < 1.0 else 0.0
    return energy
