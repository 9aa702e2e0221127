"""The box that fits a part best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.config import CONTACT
from neurok.geometry.lie import across


@dataclass(frozen=True, eq=False)
class Box:
    """An oriented box: three axes, the centre, and half the length along each axis."""

    center: Float[np.ndarray, "3"]
    axes: Float[np.ndarray, "3 3"]
    """Unit vectors as rows, right-handed."""

    half: Float[np.ndarray, "3"]

    @property
    def size(self) -> float:
        """Length of the diagonal."""
        return 2.0 * float(np.linalg.norm(self.half))


def fit_box(points: Float[np.ndarray, "N 3"], gain: float = CONTACT.turned_box) -> Box:
    """The smallest box among those that stand on a world axis or a principal axis of the points.

    One along the axes of the world is kept unless another has less than the share ``gain`` of its volume.
    """
    points, filled = _outermost(points)
    best = _box_along(points, np.eye(3))
    least = gain * _volume(best)
    if filled >= 8.0 * least:  # no box is smaller than what it holds
        return best
    centered = points - points.mean(axis=0)
    principal = np.linalg.eigh(centered.T @ centered)[1].T
    for stand in (*np.eye(3), *principal):
        box = _box_along(points, _turned_frame(points, stand))
        if _volume(box) < least:
            best, least = box, _volume(box)
    return best


def snap_axis(axis: Float[np.ndarray, "3"], cosine: float) -> Float[np.ndarray, "3"]:
    """The nearest axis of the world when it is closer than a cosine, the axis itself otherwise."""
    largest = int(np.argmax(np.abs(axis)))
    if abs(axis[largest]) < cosine:
        return axis
    return np.eye(3)[largest] * np.sign(axis[largest])


def _outermost(points: Float[np.ndarray, "N 3"]) -> tuple[Float[np.ndarray, "M 3"], float]:
    """The corners of the convex hull, for no other point matters to a box, and its volume."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return points, 0.0
    return points[hull.vertices], float(hull.volume)


def _box_along(points: Float[np.ndarray, "N 3"], axes: Float[np.ndarray, "3 3"]) -> Box:
    along = points @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    return Box((0.5 * (low + high)) @ axes, axes, 0.5 * (high - low))


def _volume(box: Box) -> float:
    """An eighth of the volume with a little padding, so that flat boxes compare by their area."""
    return float(np.prod(box.half + 1e-3 * box.half.max()))


def _turned_frame(points: Float[np.ndarray, "N 3"], stand: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """The frame with ``stand`` as one axis whose rectangle around the shadow of the points is the smallest."""
    from scipy.spatial import ConvexHull, QhullError

    plane = np.stack(across(stand))
    flat = points @ plane.T
    try:
        corners = flat[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        return np.stack([plane[0], plane[1], stand])
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.unique(np.round(np.arctan2(edges[:, 1], edges[:, 0]) % (np.pi / 2), 4))
    u = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    v = np.stack([-u[:, 1], u[:, 0]], axis=1)
    area = np.ptp(corners @ u.T, axis=0) * np.ptp(corners @ v.T, axis=0)
    k = int(np.argmin(area))
    return np.stack([u[k] @ plane, v[k] @ plane, stand])
