"""Constitutive laws: constants of the kernels, speed of sound, stored energy, and the sums over all particles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.state import Law, ParticleSet, Row

HENCKY = (Law.METAL, Law.GRANULAR, Law.FOAM)
FLOW = np.sqrt(2 / 3)
"""From a uniaxial yield stress to the size of its deviator; from a slip to equivalent plastic strain."""

TAIT = 7.0
"""Exponent of the fluid's equation of state p = K (J^-7 - 1) / 7, water's."""


def lame(
    young: Float[np.ndarray, " P"], poisson: Float[np.ndarray, " P"]
) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
    """Lamé's μ and λ [Pa]."""
    return young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))


def law_rows(particles: ParticleSet) -> Float[np.ndarray, "4 P"]:
    """μ, λ and two numbers of the law, as the kernels read them.

    Metal and foam: size of the deviator at yield, and hardening. Granular: the cone's slope in strains (Klár et al.
    2016), and the trace of strain at its tip. A fluid's λ is its bulk modulus.
    """
    mu, lam = lame(particles.young, particles.poisson)
    first, second = FLOW * particles.yield_stress, particles.hardening.astype(float)
    fluid, sand = particles.law == Law.FLUID, particles.law == Law.GRANULAR
    mu, lam = np.where(fluid, 0.0, mu), np.where(fluid, particles.young, lam)
    sine = np.sin(particles.friction_angle)
    slope = FLOW * 2 * sine / (3 - sine) * (3 * lam + 2 * mu) / np.maximum(2 * mu, 1e-30)
    tip = particles.cohesion / np.maximum(np.tan(particles.friction_angle), 1e-3) / (lam + 2 / 3 * mu)
    return np.stack([mu, lam, np.where(sand, slope, first), np.where(sand, tip, second)])


def sound_speed(particles: ParticleSet) -> Float[np.ndarray, " P"]:
    """Of pressure waves [m/s]; zero for rigid particles and sheets, whose stiffness is not the grid's."""
    mu, lam = lame(particles.young, particles.poisson)
    modulus = np.where(particles.law == Law.FLUID, particles.young, lam + 2 * mu)
    speed = np.sqrt(modulus * particles.volumes / particles.masses)
    return np.where(np.isin(particles.law, (Law.SHEET, Law.RIGID)), 0.0, speed)


def symmetric(six: Float[np.ndarray, "6 P"]) -> Float[np.ndarray, "P 3 3"]:
    """Full matrices from xx xy xz yy yz zz."""
    return np.moveaxis(six[[0, 1, 2, 1, 3, 4, 2, 4, 5]], 0, 1).reshape(-1, 3, 3)


def elastic_energy(
    law: Law, state: Float[np.ndarray, "9 P"], constants: Float[np.ndarray, "4 P"]
) -> Float[np.ndarray, " P"]:
    """Stored per volume at rest [J/m³], from the state rows."""
    mu, lam = constants[:2].astype(float)
    if law == Law.ELASTIC:
        stretch = np.moveaxis(state.astype(float), 0, 1).reshape(-1, 3, 3) + np.eye(3)
        left, sizes, right = np.linalg.svd(stretch)
        sizes[:, 2] *= np.sign(np.linalg.det(left @ right))
        return mu * ((sizes - 1) ** 2).sum(axis=1) + lam / 2 * (sizes.prod(axis=1) - 1) ** 2
    if law == Law.FLUID:
        volume = np.minimum(1 + state[0].astype(float), 1.0)  # no tension
        return lam / TAIT * ((volume ** (1 - TAIT) - 1) / (TAIT - 1) + volume - 1)
    if law in HENCKY:
        strain = 0.5 * np.log1p(np.maximum(np.linalg.eigvalsh(symmetric(state[:6].astype(float))), -1 + 1e-12))
        return mu * (strain**2).sum(axis=1) + lam / 2 * strain.sum(axis=1) ** 2
    return np.zeros(state.shape[1])


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
    velocity = table[Row.velocity].astype(float)
    affine = table[Row.affine].astype(float)
    square = (velocity**2).sum(axis=0) + cell**2 / SPIN * (affine**2).sum(axis=0)
    return 0.5 * float(table[Row.MASS].astype(float) @ square)


def stored_energy(table: Float[np.ndarray, "rows P"], law: Int[np.ndarray, " P"]) -> float:
    """Elastic energy of all particles; that of sheets is not theirs [J]."""
    total = 0.0
    for kind in np.unique(law):
        some = table[:, law == kind]
        density = elastic_energy(Law(kind), some[Row.state], some[Row.MU : Row.MU + 4])
        total += float(some[Row.VOLUME].astype(float) @ density)
    return total


def momenta(
    table: Float[np.ndarray, "rows P"], positions: Float[np.ndarray, "P 3"], cell: float
) -> tuple[Float[np.ndarray, " 3"], Float[np.ndarray, " 3"]]:
    """Linear, and angular about the origin with the spin inside particles."""
    mass = table[Row.MASS].astype(float)
    push = mass[:, None] * table[Row.velocity].T.astype(float)
    c = table[Row.affine].astype(float)
    spin = cell**2 / SPIN * np.stack([c[7] - c[5], c[2] - c[6], c[3] - c[1]]) @ mass
    return push.sum(axis=0), np.cross(positions, push).sum(axis=0) + spin
