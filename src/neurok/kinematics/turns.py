"""Rotations as quaternions of any length, with first derivatives and their rates of change in closed form."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def _form() -> Float[np.ndarray, "4 4 3 3"]:
    """Second derivatives of (w² - v·v) I + 2 v vᵀ + 2 w [v]×, which is the rotation times the squared length."""
    out = np.zeros((4, 4, 3, 3))
    out[0, 0] = 2.0 * np.eye(3)
    for i in range(3):
        cross = np.cross(np.eye(3)[i], np.eye(3)).T
        out[0, i + 1] = out[i + 1, 0] = 2.0 * cross
        for j in range(3):
            pair = np.zeros((3, 3))
            pair[i, j] = 1.0
            out[i + 1, j + 1] = 2.0 * (pair + pair.T) - 2.0 * (i == j) * np.eye(3)
    return out


FORM = _form()


def turns_of(p: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 3 3"]:
    """Rotation matrices of quaternions (w, x, y, z); their length does not matter."""
    return 0.5 * np.einsum("...k,...kij->...ij", p, _linear(p)) / _square(p)[..., None]


def turn_slopes(p: Float[np.ndarray, "*B 4"]) -> tuple[Float[np.ndarray, "*B 3 3"], Float[np.ndarray, "*B 4 3 3"]]:
    """Rotations and their derivatives by each component."""
    linear, square = _linear(p), _square(p)[..., None]
    turns = 0.5 * np.einsum("...k,...kij->...ij", p, linear) / square
    return turns, (linear - 2.0 * p[..., None, None] * turns[..., None, :, :]) / square[..., None]


def turn_slope_rates(p: Float[np.ndarray, "*B 4"], rate: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 4 3 3"]:
    """How the derivatives change while the quaternion moves with ``rate``."""
    turns, slopes = turn_slopes(p)
    change = np.einsum("...k,...kij->...ij", rate, slopes)[..., None, :, :]
    spread = 2.0 * (p * rate).sum(axis=-1)[..., None, None, None]
    bend = _linear(rate) - 2.0 * p[..., None, None] * change - 2.0 * rate[..., None, None] * turns[..., None, :, :]
    return (bend - spread * slopes) / _square(p)[..., None, None]


def quaternions_of(turns: Float[np.ndarray, "*B 3 3"]) -> Float[np.ndarray, "*B 4"]:
    """Unit quaternions (w, x, y, z) of rotations, w not negative."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_quat(canonical=True)
    return np.roll(flat, 1, axis=-1).reshape(*turns.shape[:-2], 4)


def _linear(p: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 4 3 3"]:
    return (p.reshape(-1, 4) @ FORM.reshape(4, 36)).reshape(*p.shape, 3, 3)


def _square(p: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 1"]:
    return (p**2).sum(axis=-1, keepdims=True)
