"""Sheets: Lagrangian triangles over particles that are mesh vertices; the grid carries motion and contact only."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.machine import Machine
from neurok.dynamics.particles.state import SheetSet


def membrane_shapes(sheets: SheetSet) -> Float[np.ndarray, "T 8"]:
    """Of each triangle: inverse of its rest edges in its plane, volume, μ, λ of plane stress, damping."""
    a, b, c = np.moveaxis(sheets.rest[sheets.triangles], 1, 0)
    along = b - a
    length = np.linalg.norm(along, axis=1)
    x = along / np.maximum(length, 1e-300)[:, None]
    normal = np.cross(along, c - a)
    area = 0.5 * np.linalg.norm(normal, axis=1)
    edges = np.zeros((len(area), 2, 2))
    edges[:, 0, 0], edges[:, 0, 1], edges[:, 1, 1] = (
        length,
        ((c - a) * x).sum(axis=1),
        2 * area / np.maximum(length, 1e-300),
    )
    flat = area < 1e-9 * (length**2 + 1e-300)
    edges[flat] = np.eye(2)
    mu = sheets.young / (2 * (1 + sheets.poisson))
    lam = sheets.young * sheets.poisson / (1 - sheets.poisson**2)
    volume = np.where(flat, 0.0, area * sheets.thickness)
    damping = np.full(len(area), sheets.damping)
    return np.column_stack([np.linalg.inv(edges).reshape(-1, 4), volume, mu, lam, damping])


def bending_hinges(sheets: SheetSet) -> tuple[Int[np.ndarray, "H 4"], Float[np.ndarray, "H 2"]]:
    """Edges between two triangles: its ends and the two corners across; stiffness [N m] and angle at rest [rad].

    Stiffness is D l² 3 / (A + B), with the plate's D and the areas on both sides: half of D times mean curvature
    squared, over the area, as for a plate that bends without stretching (Grinspun et al. 2003).
    """
    corners = sheets.triangles
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    across = np.concatenate([corners[:, 2], corners[:, 0], corners[:, 1]])
    owner = np.tile(np.arange(len(corners)), 3)
    key = np.sort(edges, axis=1)
    order = np.lexsort((key[:, 1], key[:, 0]))
    same = (key[order][1:] == key[order][:-1]).all(axis=1)
    first, second = order[:-1][same], order[1:][same]
    hinges = np.column_stack([edges[first], across[first], across[second]])
    na, nb, length, angle = _hinge_angles(sheets.rest[hinges])
    areas = 0.5 * (np.linalg.norm(na, axis=1) + np.linalg.norm(nb, axis=1))
    good = (np.linalg.norm(na, axis=1) > 1e-12 * length**2) & (np.linalg.norm(nb, axis=1) > 1e-12 * length**2)
    plate = sheets.young * sheets.thickness**3 / (12 * (1 - sheets.poisson**2))
    stiffness = 0.5 * (plate[owner[first]] + plate[owner[second]])
    stiffness = stiffness * length**2 * 3 / np.maximum(areas, 1e-300)
    if sheets.narrow > 0:
        arm = np.minimum(np.linalg.norm(na, axis=1), np.linalg.norm(nb, axis=1)) / np.maximum(length, 1e-300)
        stiffness = stiffness * np.minimum(arm / sheets.narrow, 1.0) ** 4
    return hinges[good], np.column_stack([stiffness, angle])[good]


def _hinge_angles(x: Float[np.ndarray, "H 4 3"]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Normals on both sides of each hinge, as long as their triangles are twice large, its length, and its angle."""
    e, a, b = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], x[:, 3] - x[:, 0]
    na, nb, length = np.cross(e, a), np.cross(b, e), np.linalg.norm(e, axis=1)
    angle = np.arctan2((np.cross(na, nb) * e).sum(axis=1) / np.maximum(length, 1e-300), (na * nb).sum(axis=1))
    return na, nb, length, angle


def sheet_energy(sheets: SheetSet, x: Float[np.ndarray, "P 3"]) -> float:
    """Stored by membranes and bending [J]."""
    shapes = membrane_shapes(sheets)
    a, b, c = np.moveaxis(x[sheets.triangles], 1, 0)
    f = np.stack([b - a, c - a], axis=2) @ shapes[:, :4].reshape(-1, 2, 2)
    strain = 0.5 * (np.swapaxes(f, 1, 2) @ f - np.eye(2))
    trace = np.trace(strain, axis1=1, axis2=2)
    energy = shapes[:, 4] * (shapes[:, 5] * (strain**2).sum(axis=(1, 2)) + shapes[:, 6] / 2 * trace**2)
    hinges, bends = bending_hinges(sheets)
    turn = _hinge_angles(x[hinges])[3] - bends[:, 1]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    return float(energy.sum() + 0.5 * (bends[:, 0] * turn**2).sum())


class Sheets:
    """Adds the forces of sheets to those on particles, before each substep."""

    def __init__(self, machine: Machine, sheets: SheetSet) -> None:
        self._machine, self._kernel = machine, machine.kernels.pull
        self._sheets = sheets
        self._hinges, bends = bending_hinges(sheets)
        self._vertices = np.unique(sheets.triangles)
        self._shapes, self._bends = self._machine.floats(membrane_shapes(sheets)), self._machine.floats(bends)
        self._job: Any = None

    def place(self, rank: Int[np.ndarray, " P"], forces: Float[np.ndarray, "P 3"] | None) -> None:
        """Find columns after sorting; ``forces`` act on particles from outside."""
        outer = np.zeros((len(self._vertices), 3)) if forces is None else forces[self._vertices]
        _ = self._machine.forces
        inputs = [self._machine.table_array, self._machine.forces_array, self._machine.ints(rank[self._vertices])]
        inputs += [self._machine.floats(outer), self._machine.ints(rank[self._sheets.triangles]), self._shapes]
        inputs += [self._machine.ints(rank[self._hinges]), self._bends]
        self._kept = inputs
        self._job = self._machine.record(self._kernel, inputs)

    def pull(self) -> None:
        """Forces at the places where vertices are now."""
        self._job()

    def energy(self, x: Float[np.ndarray, "P 3"]) -> float:
        return sheet_energy(self._sheets, x)
