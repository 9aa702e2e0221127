"""Rotations and rigid transforms on plain arrays; twists.py holds their exponentials.

Rigid transforms are 4x4 matrices and quaternions (w, x, y, z). A screw is the derivative of a rigid motion as a 4x4
matrix; the same as six numbers, a rotation vector and a velocity, is a twist.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

GENERATORS = np.cross(np.eye(3)[:, None], np.eye(3)[None]).swapaxes(1, 2)
"""The matrices E_i with E_i x = e_i × x."""

_SKEW = GENERATORS.reshape(3, 9)


def skew(vectors: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3 3"]:
    """The matrices of cross products with vectors."""
    return (vectors @ _SKEW).reshape(*vectors.shape[:-1], 3, 3)


def axis_angle_matrix(
    axis: Float[np.ndarray, "3"], angle: float | Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B 3 3"]:
    """Rotation by ``angle`` [rad] about a unit ``axis`` (Rodrigues)."""
    k = skew(axis)
    angle = np.asarray(angle, dtype=np.float64)[..., None, None]
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def quarter_turns(axis: int) -> Float[np.ndarray, "4 3 3"]:
    """Rotations by no to three quarters of a turn about a coordinate axis, without round-off."""
    return np.round(axis_angle_matrix(np.eye(3)[axis], np.pi / 2 * np.arange(4))) + 0.0


def rotation_vector(turns: Float[np.ndarray, "*B 3 3"]) -> Float[np.ndarray, "*B 3"]:
    """Axis times angle of rotations, at most a half turn."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_rotvec().reshape(turns.shape[:-1])


def rotated(
    vectors: Float[np.ndarray, "*B 3"], axes: Float[np.ndarray, "*B 3"], angles: Float[np.ndarray, "*B"]
) -> Float[np.ndarray, "*B 3"]:
    """Vectors turned about one unit axis each."""
    sine, cosine = np.sin(angles)[..., None], np.cos(angles)[..., None]
    along = axes * ((1.0 - cosine) * (axes * vectors).sum(axis=-1, keepdims=True))
    return cosine * vectors + sine * np.cross(axes, vectors) + along


def across(axes: Float[np.ndarray, "*B 3"]) -> tuple[Float[np.ndarray, "*B 3"], Float[np.ndarray, "*B 3"]]:
    """Two unit directions that make a right-handed frame with each unit axis: axis, first, second."""
    first = np.cross(axes, np.eye(3)[np.abs(axes).argmin(axis=-1)])
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    return first, np.cross(axes, first)


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


def inverse(transform: Float[np.ndarray, "*B 4 4"]) -> Float[np.ndarray, "*B 4 4"]:
    """Inverse of rigid transforms."""
    out = np.zeros_like(transform)
    turn = transform[..., :3, :3].swapaxes(-1, -2)
    out[..., :3, :3] = turn
    out[..., :3, 3] = -(turn @ transform[..., :3, 3:])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def apply(transform: Float[np.ndarray, "*B 4 4"], points: Float[np.ndarray, "*C N 3"]) -> Float[np.ndarray, "*D N 3"]:
    """Points moved by one or many transforms."""
    return points @ np.swapaxes(transform[..., :3, :3], -1, -2) + transform[..., None, :3, 3]


def apply_each(transforms: Float[np.ndarray, "*B 4 4"], points: Float[np.ndarray, "*C 3"]) -> Float[np.ndarray, "*B 3"]:
    """Each point moved by its own transform."""
    # Points that are repeated in memory are several times faster than points that are broadcast.
    points = np.ascontiguousarray(np.broadcast_to(points, (*transforms.shape[:-2], 3)))
    return np.einsum("...ij,...j->...i", transforms[..., :3, :3], points) + transforms[..., :3, 3]


def seen_from(transform: Float[np.ndarray, "4 4"], points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    """Points in the frame that a rigid transform has moved: what its inverse makes of them."""
    return (points - transform[:3, 3]) @ transform[:3, :3]


def turn_generator(axes: Float[np.ndarray, "*B 3"], origins: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 4 4"]:
    """Screw of a turn about the line through an origin along a unit axis."""
    out = np.zeros((*axes.shape[:-1], 4, 4))
    out[..., :3, :3] = skew(axes)
    out[..., :3, 3] = -(out[..., :3, :3] @ origins[..., None])[..., 0]
    return out


def slide_generator(directions: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 4 4"]:
    """Screw of a slide along a direction."""
    out = np.zeros((*directions.shape[:-1], 4, 4))
    out[..., :3, 3] = directions
    return out


def joint_curves(generators: Float[np.ndarray, "*B 4 4"]) -> Float[np.ndarray, "*B 4 16"]:
    """Transforms exp(q G) of turns and slides: flattened matrices that multiply 1, sin q, cos q and q.

    A turn has G³ = -G and a slide G² = 0, so these are all. At q = 0 they sum up to the identity without round-off.
    """
    is_turn = generators[..., :3, :3].any(axis=(-1, -2), keepdims=True)
    out = np.zeros((*generators.shape[:-2], 4, 4, 4))
    turn = np.where(is_turn, generators, 0.0)
    out[..., 0, :, :] = np.eye(4) + turn @ turn
    out[..., 1, :, :] = turn
    out[..., 2, :, :] = np.eye(4) - out[..., 0, :, :]
    out[..., 3, :, :] = generators - turn
    return out.reshape(*generators.shape[:-2], 4, 16)


def joint_basis(values: Float[np.ndarray, "B J"]) -> Float[np.ndarray, "J B 4"]:
    """1, sin q, cos q and q of every joint value."""
    out = np.empty((values.shape[1], values.shape[0], 4))
    turned = values.T
    out[..., 0] = 1.0
    np.sin(turned, out=out[..., 1])
    np.cos(turned, out=out[..., 2])
    out[..., 3] = turned
    return out


def joint_motions(
    generators: Float[np.ndarray, "J 4 4"], values: Float[np.ndarray, "J B"]
) -> Float[np.ndarray, "J B 4 4"]:
    """Transforms exp(q G) of turns and slides, each for values of its own."""
    return (joint_basis(values.T) @ joint_curves(generators)).reshape(*values.shape, 4, 4)


def commutator(a: Float[np.ndarray, "*B 4 4"], b: Float[np.ndarray, "*B 4 4"]) -> Float[np.ndarray, "*B 4 4"]:
    """How the screws ``b`` change when they are carried along with the velocity ``a``."""
    return a @ b - b @ a


def screw_twists(screws: Float[np.ndarray, "*B 4 4"]) -> Float[np.ndarray, "*B 6"]:
    """Screws as rotation vectors and velocities."""
    turn = np.stack([screws[..., 2, 1], screws[..., 0, 2], screws[..., 1, 0]], axis=-1)
    return np.concatenate([turn, screws[..., :3, 3]], axis=-1)


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


def slerp(
    start: Float[np.ndarray, "T 4"], end: Float[np.ndarray, "T 4"], u: Float[np.ndarray, "T 1"]
) -> Float[np.ndarray, "T 4"]:
    """Rotation a fraction ``u`` of the shorter way from one quaternion to another; any order of their numbers."""
    start, end = (q / np.maximum(np.linalg.norm(q, axis=1, keepdims=True), 1e-12) for q in (start, end))
    cosine = (start * end).sum(axis=1, keepdims=True)
    end, cosine = np.where(cosine < 0, -end, end), np.abs(cosine).clip(0.0, 1.0)
    angle = np.arccos(cosine)
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    first = np.where(near, 1.0 - u, np.sin((1.0 - u) * angle) / sine)
    second = np.where(near, u, np.sin(u * angle) / sine)
    return first * start + second * end


def nearest_rotation(matrix: Float[np.ndarray, "*B 3 3"]) -> Float[np.ndarray, "*B 3 3"]:
    """The rotation closest to a matrix in least squares, never a mirror."""
    u, _, vt = np.linalg.svd(matrix)
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
    return u @ vt


def tidy(transform: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "4 4"]:
    """A nearly rigid transform with its rotation made orthogonal again, so that round-off does not grow over steps."""
    out = transform.copy()
    turn = out[:3, :3]
    out[:3, :3] = turn @ (1.5 * np.eye(3) - 0.5 * turn.T @ turn)
    return out


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
