"""Energy and momentum of the particles' table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles import rows
from neurok.dynamics.particles.laws import HENCKY, elastic_energy, symmetric
from neurok.dynamics.particles.state import Law

SPIN = 4.0
"""A particle's affine velocity weighs dx² / 4: the second moment of the quadratic spline."""


@dataclass(frozen=True)
class Energies:
    """Where the energy is [J]."""

    kinetic: float
    elastic: float
    gravity: float
    work: float
    """Done so far by the forces of ``set_forces``; that of targets is not known."""

    dissipated: float
    """What the others lack of the start's total and the work; of use where no targets move."""

    @property
    def total(self) -> float:
        return self.kinetic + self.elastic + self.gravity


def kinetic_energy(table: Float[np.ndarray, "rows P"], cell: float) -> float:
    """With the affine motion inside particles [J]."""
    velocity = table[rows.VELOCITY : rows.VELOCITY + 3].astype(float)
    affine = table[rows.AFFINE : rows.AFFINE + 9].astype(float)
    square = (velocity**2).sum(axis=0) + cell**2 / SPIN * (affine**2).sum(axis=0)
    return 0.5 * float(table[rows.MASS].astype(float) @ square)


def stored_energy(table: Float[np.ndarray, "rows P"], law: Int[np.ndarray, " P"]) -> float:
    """Elastic energy of all particles; that of sheets is not theirs [J]."""
    total = 0.0
    for kind in np.unique(law):
        some = table[:, law == kind]
        density = elastic_energy(Law(kind), some[rows.STATE : rows.STATE + 9], some[rows.MU : rows.MU + 4])
        total += float(some[rows.VOLUME].astype(float) @ density)
    return total


def momenta(
    table: Float[np.ndarray, "rows P"], positions: Float[np.ndarray, "P 3"], cell: float
) -> tuple[Float[np.ndarray, " 3"], Float[np.ndarray, " 3"]]:
    """Linear, and angular about the origin with the spin inside particles."""
    mass = table[rows.MASS].astype(float)
    push = mass[:, None] * table[rows.VELOCITY : rows.VELOCITY + 3].T.astype(float)
    c = table[rows.AFFINE : rows.AFFINE + 9].astype(float)
    spin = cell**2 / SPIN * np.stack([c[7] - c[5], c[2] - c[6], c[3] - c[1]]) @ mass
    return push.sum(axis=0), np.cross(positions, push).sum(axis=0) + spin


def deformations(table: Float[np.ndarray, "rows P"], law: Int[np.ndarray, " P"]) -> Float[np.ndarray, "P 3 3"]:
    """What the state rows say of each particle's shape; see ``Solver.deformation``."""
    state = table[rows.STATE : rows.STATE + 9].astype(float)
    found = np.tile(np.eye(3), (table.shape[1], 1, 1))
    elastic, fluid, hencky = law == Law.ELASTIC, law == Law.FLUID, np.isin(law, HENCKY)
    found[elastic] += state[:, elastic].T.reshape(-1, 3, 3)
    found[fluid] *= np.cbrt(1 + state[0, fluid])[:, None, None]
    values, axes = np.linalg.eigh(np.eye(3) + symmetric(state[:6, hencky]))
    found[hencky] = (axes * np.sqrt(np.maximum(values, 0.0))[:, None]) @ np.swapaxes(axes, 1, 2)
    return found
