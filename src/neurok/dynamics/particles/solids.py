"""Planes and obstacles as numbers for the kernels, and their distances in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.dynamics.particles.state import Surroundings

HOLDS = ("separate", "slip", "stick")
FAR = 1e30


@dataclass(frozen=True)
class Solids:
    """All planes, then all obstacles, in the solver's own coordinates."""

    rows: Float[np.ndarray, "S 16"]
    """Plane: point, normal, friction. Obstacle: origin, spacing, two unused, friction, one unused, nodes along i j k,
    where its distances begin."""

    kinds: tuple[int, ...]
    """0 for a plane, 1 for an obstacle."""

    holds: tuple[int, ...]
    field: Float[np.ndarray, " n"]

    @classmethod
    def of(cls, surroundings: Surroundings, origin: Float[np.ndarray, " 3"]) -> Solids:
        """With ``origin`` taken off every place."""
        rows, kinds, fields, at = [], [], [np.zeros(1, dtype=np.float32)], 1
        for plane in surroundings.planes:
            normal = np.asarray(plane.normal, dtype=float)
            rows.append([*(np.asarray(plane.point) - origin), *(normal / np.linalg.norm(normal)), plane.friction])
            kinds.append(0)
        for item in surroundings.obstacles:
            rows.append(
                [*(np.asarray(item.origin) - origin), item.spacing, 0, 0, item.friction, 0, *item.distances.shape, at]
            )
            kinds.append(1)
            fields.append(item.distances.astype(np.float32).ravel())
            at += item.distances.size
        table = np.zeros((len(rows), 16))
        for row, values in zip(table, rows):
            row[: len(values)] = values
        holds = [HOLDS.index(plane.hold) for plane in surroundings.planes]
        holds += [HOLDS.index(item.hold) for item in surroundings.obstacles]
        return cls(table, tuple(kinds), tuple(holds), np.concatenate(fields))

    def distance(
        self, which: int, x: Float[np.ndarray, "n 3"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        """Signed distance [m] and outward normal; ``FAR`` beyond an obstacle's grid."""
        row = self.rows[which]
        if self.kinds[which] == 0:
            return (x - row[:3]) @ row[3:6], np.broadcast_to(row[3:6], x.shape)
        shape, at = row[8:11].astype(int), int(row[11])
        field = self.field[at : at + shape.prod()].reshape(shape)
        place = (x - row[:3]) / row[3]
        inside = ((place >= 0) & (place < shape - 1)).all(axis=1)
        low = np.clip(np.floor(place).astype(int), 0, shape - 2)
        f = place - low
        found, normal = np.zeros(len(x)), np.zeros((len(x), 3))
        for corner in np.ndindex(2, 2, 2):
            value = field[tuple((low + corner).T)]
            sides = np.where(corner, f, 1 - f)
            signs = np.where(corner, 1.0, -1.0)
            found += value * sides.prod(axis=1)
            for axis in range(3):
                normal[:, axis] += value * signs[axis] * np.delete(sides, axis, axis=1).prod(axis=1)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-20
        return np.where(inside, found, FAR), normal
