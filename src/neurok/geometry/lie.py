"""Rotations and rigid transforms on plain arrays. Quaternions are (w, x, y, z)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def axis_angle_matrix(
    axis: Float[np.ndarray, "3"], angle: float | Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B 3 3"]:
    """Rotation by ``angle`` [rad] about a unit ``axis`` (Rodrigues)."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle, dtype=np.float64)[..., None, None]
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def rotation_about(
    axis: Float[np.ndarray, "3"], origin: Float[np.ndarray, "3"], angle: float | Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B 4 4"]:
    """Rigid transform: turn by ``angle`` about the line through ``origin`` along the unit ``axis``."""
    rotation = axis_angle_matrix(axis, angle)
    return compose(rotation, origin - rotation @ origin)


def translation(offset: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 4 4"]:
    """Rigid transform that only moves."""
    offset = np.asarray(offset, dtype=np.float64)
    return compose(np.broadcast_to(np.eye(3), (*offset.shape[:-1], 3, 3)), offset)


def compose(rotation: Float[np.ndarray, "*B 3 3"], offset: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 4 4"]:
    """Homogeneous matrix from a rotation and a translation."""
    out = np.zeros((*offset.shape[:-1], 4, 4))
    out[..., :3, :3] = rotation
    out[..., :3, 3] = offset
    out[..., 3, 3] = 1.0
    return out


def apply(transform: Float[np.ndarray, "*B 4 4"], points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "*B N 3"]:
    """Points moved by one or many transforms."""
    return points @ np.swapaxes(transform[..., :3, :3], -1, -2) + transform[..., None, :3, 3]


def quaternion_to_matrix(quaternion: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 3 3"]:
    """Rotation of a (w, x, y, z) quaternion; it is normalised first."""
    w, x, y, z = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_to_quaternion(rotation: Float[np.ndarray, "*B 3 3"]) -> Float[np.ndarray, "*B 4"]:
    """The (w, x, y, z) quaternion with w >= 0 of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    flat = np.asarray(rotation, dtype=np.float64).reshape(-1, 3, 3)
    xyzw = Rotation.from_matrix(flat).as_quat()
    wxyz = np.concatenate([xyzw[:, 3:], xyzw[:, :3]], axis=1)
    wxyz *= np.where(wxyz[:, :1] < 0, -1.0, 1.0)
    return wxyz.reshape(*rotation.shape[:-2], 4)


def nearest_rotation(matrix: Float[np.ndarray, "*B 3 3"]) -> Float[np.ndarray, "*B 3 3"]:
    """The rotation closest to a matrix in least squares, never a mirror."""
    u, _, vt = np.linalg.svd(matrix)
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
    return u @ vt


def fit_rigid(
    source: Float[np.ndarray, "N 3"],
    target: Float[np.ndarray, "*B N 3"],
    weights: Float[np.ndarray, " N"] | None = None,
) -> Float[np.ndarray, "*B 4 4"]:
    """The rigid transform that brings ``source`` closest to ``target`` in least squares (Kabsch), never a mirror."""
    weights = np.ones(len(source)) if weights is None else np.asarray(weights, dtype=np.float64)
    weights = weights / weights.sum()
    source_mean = weights @ source
    target_mean = np.einsum("n,...nd->...d", weights, target)
    covariance = np.einsum("n,...ni,nj->...ij", weights, target - target_mean[..., None, :], source - source_mean)
    rotation = nearest_rotation(covariance)
    return compose(rotation, target_mean - np.einsum("...ij,j->...i", rotation, source_mean))
