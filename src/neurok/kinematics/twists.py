"""Rigid motions as exponentials of twists, with first derivatives and their rates of change in closed form.

A twist is a rotation vector and a velocity. Turning about any fixed hinge and sliding along any fixed line are straight
lines through zero in twists, which is why motions of parts add up so well there.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from jaxtyping import Float

TERMS = 28
"""Of the power series below: enough for several full turns."""

GENERATORS = np.cross(np.eye(3)[:, None], np.eye(3)[None]).swapaxes(1, 2)
"""The matrices E_i with E_i x = e_i × x."""


def _series() -> Float[np.ndarray, "N 9"]:
    """Coefficients by θ² of sin θ / θ, (1 - cos θ) / θ², (θ - sin θ) / θ³ and of their first two derivatives."""
    plain = np.array([[(-1.0) ** n / factorial(2 * n + first) for first in (1, 2, 3)] for n in range(TERMS + 2)])
    once = (np.arange(TERMS + 2)[:, None] * plain)[1:]
    twice = (np.arange(TERMS + 1)[:, None] * once)[1:]
    return np.concatenate([plain[:TERMS], once[:TERMS], twice[:TERMS]], axis=1)


SERIES = _series()
SINE, COSINE, REST = 0, 1, 2
"""Columns of the series; their derivatives lie three and six columns further."""

Parts = tuple[np.ndarray, np.ndarray]


def exponential(
    twists: Float[np.ndarray, "*B 6"],
) -> tuple[
    Float[np.ndarray, "*B 3 3"], Float[np.ndarray, "*B 3"], Float[np.ndarray, "*B 6 3 3"], Float[np.ndarray, "*B 6 3"]
]:
    """Rotations and shifts of twists, and the derivatives of both by each of the six numbers."""
    omega, velocity = twists[..., :3], twists[..., 3:]
    values = _values(omega)
    turns, turn_slopes = _turned(omega, values, SINE, COSINE)
    carry, carry_slopes = _turned(omega, values, COSINE, REST)
    along = np.eye(3) + carry
    by_omega = (carry_slopes @ velocity[..., None, :, None])[..., 0]
    return (
        np.eye(3) + turns,
        (along @ velocity[..., None])[..., 0],
        np.concatenate([turn_slopes, np.zeros_like(turn_slopes)], axis=-3),
        np.concatenate([by_omega, along.swapaxes(-1, -2)], axis=-2),
    )


def exponential_rates(
    twists: Float[np.ndarray, "*B 6"], rate: Float[np.ndarray, "*B 6"]
) -> tuple[Float[np.ndarray, "*B 6 3 3"], Float[np.ndarray, "*B 6 3"]]:
    """How the derivatives change while the twists move with ``rate``."""
    omega, velocity, spin = twists[..., :3], twists[..., 3:], rate[..., :3]
    values = _values(omega)
    turn_rates = _slope_rates(omega, spin, values, SINE, COSINE)
    carry_slopes = _turned(omega, values, COSINE, REST)[1]
    carry_rates = _slope_rates(omega, spin, values, COSINE, REST)
    change = (spin[..., None, None] * carry_slopes).sum(axis=-3)
    by_omega = carry_rates @ velocity[..., None, :, None] + carry_slopes @ rate[..., None, 3:, None]
    return (
        np.concatenate([turn_rates, np.zeros_like(turn_rates)], axis=-3),
        np.concatenate([by_omega[..., 0], change.swapaxes(-1, -2)], axis=-2),
    )


def logarithm(turns: Float[np.ndarray, "*B 3 3"], shifts: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 6"]:
    """The shortest twists of rigid motions."""
    from scipy.spatial.transform import Rotation

    omega = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_rotvec().reshape(shifts.shape)
    angle = np.maximum(np.linalg.norm(omega, axis=-1, keepdims=True), 1e-9)
    axis, half = omega / angle, 0.5 * angle
    lean = half / np.tan(half)
    velocity = lean * shifts + (1.0 - lean) * axis * (axis * shifts).sum(axis=-1, keepdims=True)
    return np.concatenate([omega, velocity - half * np.cross(axis, shifts)], axis=-1)


def _cross_matrices(omega: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3 3"]:
    return (omega @ GENERATORS.reshape(3, 9)).reshape(*omega.shape[:-1], 3, 3)


def _values(omega: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "9 *B 1 1"]:
    """The three functions of θ² and their derivatives."""
    x = (omega**2).sum(axis=-1)
    powers = np.ones((TERMS, x.size))
    np.multiply.accumulate(np.broadcast_to(x.reshape(1, -1), (TERMS - 1, x.size)), axis=0, out=powers[1:])
    return (SERIES.T @ powers).reshape(9, *x.shape, 1, 1)


def _turned(omega: Float[np.ndarray, "*B 3"], values: Float[np.ndarray, "9 *B 1 1"], f: int, g: int) -> Parts:
    """f(θ²) W + g(θ²) W² with W the cross product matrix of the rotation vector, and its derivatives by the vector."""
    w = _cross_matrices(omega)
    square, wide = w @ w, w[..., None, :, :]
    steep = 2.0 * (values[f + 3] * w + values[g + 3] * square)
    slopes = omega[..., None, None] * steep[..., None, :, :] + values[f][..., None] * GENERATORS
    slopes += values[g][..., None] * (GENERATORS @ wide + wide @ GENERATORS)
    return values[f] * w + values[g] * square, slopes


def _slope_rates(
    omega: Float[np.ndarray, "*B 3"],
    rate: Float[np.ndarray, "*B 3"],
    values: Float[np.ndarray, "9 *B 1 1"],
    f: int,
    g: int,
) -> Float[np.ndarray, "*B 3 3 3"]:
    growth = 2.0 * (omega * rate).sum(axis=-1)[..., None, None]
    w, v = _cross_matrices(omega), _cross_matrices(rate)
    square, mixed = w @ w, v @ w + w @ v
    f1, g1 = values[f + 3], values[g + 3]
    steep = 2.0 * (f1 * w + g1 * square)
    steeper = 2.0 * growth * (values[f + 6] * w + values[g + 6] * square) + 2.0 * (f1 * v + g1 * mixed)
    wide, turning = w[..., None, :, :], v[..., None, :, :]
    out = omega[..., None, None] * steeper[..., None, :, :] + rate[..., None, None] * steep[..., None, :, :]
    out += (f1 * growth)[..., None] * GENERATORS
    out += (g1 * growth)[..., None] * (GENERATORS @ wide + wide @ GENERATORS)
    return out + values[g][..., None] * (GENERATORS @ turning + turning @ GENERATORS)


def common_twist(
    twists: Float[np.ndarray, "H 6 D"],
    centers: Float[np.ndarray, "H 3"],
    areas: Float[np.ndarray, " H"],
    radii: Float[np.ndarray, " H"],
) -> Float[np.ndarray, "H 6 D"]:
    """The motion of one rigid body nearest to those of its pieces, in least squares, again about the centre of each.

    Args:
        twists: Of the pieces, each about its own centre.
        centers: Of the pieces.
        areas: How much each piece counts.
        radii: How far the points of a piece lie from its centre, so that turns and shifts are weighed as they are seen.
    """
    share = areas / areas.sum()
    middle = share @ centers
    # Moving the centre from the middle of the body to that of a piece: v' = v + ω × (c - middle).
    arms = _cross_matrices(centers - middle)
    carry = np.tile(np.eye(6), (len(centers), 1, 1))
    carry[:, 3:, :3] = -arms
    weight = np.sqrt(share)[:, None] * np.concatenate([np.tile(radii[:, None], 3), np.ones((len(radii), 3))], axis=1)
    rows = (carry * weight[:, :, None]).reshape(-1, 6)
    wanted = (twists * weight[:, :, None]).reshape(len(rows), -1)
    return carry @ np.linalg.lstsq(rows, wanted, rcond=None)[0]
