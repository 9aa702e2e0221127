"""Rigid motions as exponentials of twists, with first derivatives and their rates of change in closed form.

A twist is a rotation vector and a velocity. Turning about any fixed hinge and sliding along any fixed line are straight
lines through zero in twists, which is why motions of parts add up so well there.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial

import numpy as np
from jaxtyping import Float

from neurok.geometry.lie import GENERATORS

TERMS = 28
"""Of the power series below: enough for several full turns."""

FRAME = np.concatenate([GENERATORS, np.eye(3)[None]]).reshape(4, 9).T.copy()
"""Times a vector and a number: the matrix of the cross product plus a multiple of the identity, flattened."""


def _series() -> Float[np.ndarray, "7 N"]:
    """Coefficients by θ² of b = (1 - cos θ) / θ², c = (θ - sin θ) / θ³, b', c', b'', c'' and a = sin θ / θ."""
    plain = np.array([[(-1.0) ** n / factorial(2 * n + first) for n in range(TERMS + 2)] for first in (2, 3, 1)])
    once = np.arange(1, TERMS + 2) * plain[:2, 1:]
    twice = np.arange(1, TERMS + 1) * once[:, 1:]
    return np.concatenate([plain[:2, :TERMS], once[:, :TERMS], twice, plain[2:, :TERMS]])


SERIES = _series()


class Exponential:
    """The rigid motions of many twists at once, and how they change with them.

    Components come first and the twists last, so that every operation runs over long rows: simulations spend most of
    their time here. V(ω) = I + b W + c W², with W the matrix of the cross product, takes a velocity to a shift. Its
    derivatives by the velocity, by time and by both are the other blocks of what follows; all come from one
    evaluation of V at ω + ε v + δ ω̇ + εδ v̇ with two infinitesimals whose squares are zero.
    """

    def __init__(self, twists: Float[np.ndarray, "6 N"]) -> None:
        self.twists = twists
        self.omega, self.velocity = twists[:3], twists[3:]
        self.square = np.einsum("in,in->n", self.omega, self.omega)
        powers = np.empty((TERMS, twists.shape[1]))
        powers[0], powers[1:] = 1.0, self.square
        self._functions = SERIES @ np.multiply.accumulate(powers, axis=0)

    @cached_property
    def turns(self) -> Float[np.ndarray, "3 3 N"]:
        """Rotations: I + a W + b W²."""
        (b, _), a = self._functions[:2], self._functions[6]
        return _matrices(a * self.omega, 1.0 - b * self.square, self.omega[:, None] * (b * self.omega))

    @cached_property
    def shifts(self) -> Float[np.ndarray, "3 N"]:
        """Where the origin goes."""
        return apply(self.carry, self.velocity)

    @cached_property
    def carry(self) -> Float[np.ndarray, "3 3 N"]:
        """V itself, which also takes rates of ω to spins."""
        b, c = self._functions[:2]
        return _matrices(b * self.omega, 1.0 - c * self.square, self.omega[:, None] * (c * self.omega))

    @cached_property
    def jacobian(self) -> Float[np.ndarray, "6 6 N"]:
        """From rates of the twist to spin and velocity of the moved space at the origin."""
        return self.jacobians(np.zeros_like(self.twists))[0]

    def jacobians(self, rates: Float[np.ndarray, "6 N"]) -> tuple[Float[np.ndarray, "6 6 N"], ...]:
        """The jacobian, and its change while the twist moves."""
        omega = np.concatenate([self.twists, rates]).reshape(4, 3, -1)
        square = np.einsum("in,kin->kn", omega[0], 2.0 * omega)
        square[3] += np.einsum("in,in->n", omega[1], 2.0 * omega[2])
        plain, once, twice = self._functions[:6].reshape(3, 2, -1)
        b_and_c = np.empty((4, 2, len(square[0])))
        b_and_c[0] = plain
        b_and_c[1:] = once * square[1:, None]
        b_and_c[3] += twice * (square[1] * square[2])
        lean_and_half = _times(b_and_c[:, :, None], omega[:, None])
        outer = _times(omega[:, :, None], lean_and_half[:, 1, None])
        # c W² = c ω ωᵀ less its trace, which is c θ².
        stretch = -np.einsum("kiin->kn", outer)
        stretch[0] += 1.0
        parts = _matrices(lean_and_half[:, 0], stretch, outer)
        self.carry = parts[0]
        out = np.zeros((2, 6, 6, len(square[0])))
        out[:, :3, :3] = out[:, 3:, 3:] = parts[::2]
        out[:, 3:, :3] = parts[1::2]
        return out[0], out[1]


def _times(f: Float[np.ndarray, "4 ..."], g: Float[np.ndarray, "4 ..."]) -> Float[np.ndarray, "4 ..."]:
    """Product of numbers with parts 1, ε, δ and εδ, where ε² = δ² = 0."""
    out = f[0] * g
    out[1:] += f[1:] * g[0]
    out[3] += f[1] * g[2]
    out[3] += f[2] * g[1]
    return out


def exponential(
    twists: Float[np.ndarray, "*B 6"],
) -> tuple[Float[np.ndarray, "*B 3 3"], Float[np.ndarray, "*B 3"]]:
    """Rotations and shifts of twists."""
    found = Exponential(twists.reshape(-1, 6).T)
    batch = twists.shape[:-1]
    return np.moveaxis(found.turns, -1, 0).reshape(*batch, 3, 3), found.shifts.T.reshape(*batch, 3)


def twists_about(twists: Float[np.ndarray, "*B 6"], points: Float[np.ndarray, "*C 3"]) -> np.ndarray:
    """Twists about the origin as twists about other points: v + ω × p."""
    moved = twists[..., 3:] + np.cross(twists[..., :3], points)
    return np.concatenate([np.broadcast_to(twists[..., :3], moved.shape), moved], axis=-1)


def apply(matrices: Float[np.ndarray, "m k N"], vectors: Float[np.ndarray, "k N"]) -> Float[np.ndarray, "m N"]:
    """Each matrix times its vector."""
    return np.einsum("ijn,jn->in", matrices, vectors)


def crosses(vectors: Float[np.ndarray, "3 N"]) -> Float[np.ndarray, "3 3 N"]:
    """The matrices of cross products with vectors, components first."""
    return (FRAME[:, :3] @ vectors).reshape(3, 3, -1)


def _matrices(
    lean: Float[np.ndarray, "*m 3 N"], stretch: Float[np.ndarray, "*m N"], outer: Float[np.ndarray, "*m 3 3 N"]
) -> Float[np.ndarray, "*m 3 3 N"]:
    """Cross products with ``lean``, plus ``stretch`` times the identity, plus a matrix."""
    return (FRAME @ np.concatenate([lean, stretch[..., None, :]], axis=-2)).reshape(outer.shape) + outer
