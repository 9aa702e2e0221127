"""Constitutive laws in NumPy: constants of the kernels, speed of sound, stored energy, the vector code's reference."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.dynamics.particles.config import LAWS, LawConfig
from neurok.dynamics.particles.state import Law, ParticleSet

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


def step_law(
    law: Law,
    state: Float[np.ndarray, "9 P"],
    gradient: Float[np.ndarray, "P 3 3"],
    constants: Float[np.ndarray, "4 P"],
    viscosity: Float[np.ndarray, " P"],
    dt: float,
    config: LawConfig = LAWS,
) -> tuple[Float[np.ndarray, "9 P"], Float[np.ndarray, "P 3 3"]]:
    """State after ``dt`` [s] of a velocity gradient [1/s], and Kirchhoff's stress [Pa]; float64, by singular values."""
    mu, lam, first, second = constants
    eye, new = np.eye(3), state.copy()
    grow = eye + dt * gradient
    drag = gradient + np.swapaxes(gradient, 1, 2)
    if law == Law.ELASTIC:
        f = grow @ (np.moveaxis(state, 0, 1).reshape(-1, 3, 3) + eye)
        left, _, right = np.linalg.svd(f)
        volume = np.linalg.det(f)
        stress = 2 * mu[:, None, None] * (f - left @ right) @ np.swapaxes(f, 1, 2)
        stress += (lam * volume * (volume - 1))[:, None, None] * eye + (viscosity * volume)[:, None, None] * drag
        return (f - eye).reshape(-1, 9).T, stress
    if law == Law.FLUID:
        volume = (1 + state[0]) * (1 + dt * np.trace(gradient, axis1=1, axis2=2))
        new[0] = np.clip(volume - 1, -0.5, config.loosest)
        volume = 1 + new[0]
        push = np.maximum(lam * (volume**-TAIT - 1) / TAIT, 0.0)
        return new, (-volume * push)[:, None, None] * eye + (viscosity * volume)[:, None, None] * drag
    values, axes = np.linalg.eigh(grow @ (symmetric(state[:6]) + eye) @ np.swapaxes(grow, 1, 2))
    strain = 0.5 * np.log(values)
    total = strain.sum(axis=1)
    shear = strain - total[:, None] / 3
    size = np.linalg.norm(shear, axis=1) + 1e-300
    if law == Law.GRANULAR:
        total = total + state[7]
        new[7] = np.clip(total - second, 0.0, config.loosest)
        total = np.minimum(total, second)
        keep = np.minimum(first * (second - total) / size, 1.0)
        new[6] += FLOW * (1 - keep) * size
    else:
        over = np.maximum(2 * mu * size - first - FLOW * second * state[6], 0.0)
        slow = 2 * viscosity / dt if law == Law.FOAM else 0.0
        slip = over / (2 * mu + second * 2 / 3 + slow)
        keep = 1 - slip / size
        new[6] += FLOW * slip
    strain = shear * keep[:, None] + total[:, None] / 3
    stress = (axes * (2 * mu[:, None] * strain + lam[:, None] * total[:, None])[:, None]) @ np.swapaxes(axes, 1, 2)
    stretch = (axes * np.expm1(2 * strain)[:, None]) @ np.swapaxes(axes, 1, 2)
    new[:6] = stretch.reshape(-1, 9).T[[0, 1, 2, 4, 5, 8]]
    return new, stress
