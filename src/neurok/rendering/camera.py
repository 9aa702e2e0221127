"""Where the picture is taken from, and how far away, so that everything fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from neurok.errors import NeurokError, did_you_mean
from neurok.geometry import lie

VIEWS: dict[str, tuple[float, float]] = {
    "three-quarter": (32.0, 22.0),
    "front": (0.0, 8.0),
    "side": (90.0, 8.0),
    "back": (180.0, 8.0),
    "top": (0.0, 89.0),
}
"""Azimuth and elevation [degrees] of the views that have a name."""


@dataclass(frozen=True)
class Camera:
    """A direction to look from; the distance follows from what has to fit into the picture."""

    azimuth: float = VIEWS["three-quarter"][0]
    """Turn around the up axis [degrees]; 0 looks at the front, 90 at the object's left-hand side (+x when y is up)."""

    elevation: float = VIEWS["three-quarter"][1]
    """Height above the horizon [degrees], -89 to 89."""

    fov: float = 26.0
    """Vertical opening angle [degrees]."""

    margin: float = 0.09
    """Share of the picture left free on each side."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.azimuth) and -89.0 <= self.elevation <= 89.0):
            raise NeurokError(
                f"A view needs a finite azimuth and an elevation from -89 to 89 degrees, "
                f"got {self.azimuth} and {self.elevation}."
            )
        if not (1.0 <= self.fov <= 120.0 and 0.0 <= self.margin < 0.5):
            raise NeurokError(f"fov must be 1 to 120 degrees and margin 0 to 0.5, got {self.fov} and {self.margin}.")

    @staticmethod
    def parse(text: str) -> Camera:
        """A named view or ``azimuth,elevation`` in degrees."""
        if text in VIEWS:
            return Camera(*VIEWS[text])
        try:
            azimuth, elevation = (float(word) for word in text.split(","))
        except ValueError:
            raise NeurokError(
                f"There is no view {text!r}; known are {', '.join(VIEWS)}, or give azimuth,elevation in degrees."
                f"{did_you_mean(text, VIEWS)}"
            ) from None
        return Camera(azimuth, elevation)

    @property
    def axes(self) -> Float[np.ndarray, "3 3"]:
        """Rows right, up and toward the camera, in a world whose up is y."""
        return axes_toward(direction(self.azimuth, self.elevation))


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """A camera put into its place."""

    axes: Float[np.ndarray, "3 3"]
    """Rows right, up, toward the camera."""

    eye: Float[np.ndarray, "3"]
    fov: float
    """Vertical [degrees]."""

    aspect: float
    """Width by height."""

    def matrix(self, near: float, far: float) -> Float[np.ndarray, "4 4"]:
        """World to clip coordinates."""
        scale = 1.0 / math.tan(math.radians(self.fov) / 2.0)
        projection = np.zeros((4, 4))
        projection[0, 0], projection[1, 1] = scale / self.aspect, scale
        projection[2, 2:] = (far + near) / (near - far), 2.0 * far * near / (near - far)
        projection[3, 2] = -1.0
        return projection @ lie.compose(self.axes, -self.axes @ self.eye)


def fit(camera: Camera, points: Iterable[Float[np.ndarray, "N 3"]], aspect: float) -> Viewpoint:
    """The nearest place from which all points (in chunks) lie inside the picture's margin; exact for a pinhole.

    A point is right of the left plane when ``-x + z tan(a) <= -c_x + c_z tan(a)`` for the camera at ``c``, and so
    on for the other planes: the largest value over the points on each plane gives the place.
    """
    tan_y = math.tan(math.radians(camera.fov) / 2.0) * (1.0 - 2.0 * camera.margin)
    slopes = np.array([tan_y * aspect, tan_y])
    far_side = np.full(2, -np.inf)
    near_side = np.full(2, -np.inf)
    axes = camera.axes
    for chunk in points:
        local = chunk @ axes.T
        depth = local[:, 2:] * slopes
        far_side = np.maximum(far_side, (local[:, :2] + depth).max(axis=0))
        near_side = np.maximum(near_side, (depth - local[:, :2]).max(axis=0))
    distance = float(((far_side + near_side) / (2.0 * slopes)).max())
    place = np.array([*((far_side - near_side) / 2.0), distance])
    return Viewpoint(axes, axes.T @ place, camera.fov, aspect)


def direction(azimuth: float, elevation: float) -> Float[np.ndarray, "3"]:
    """Unit vector with y up; azimuth 0 points along z."""
    a, e = math.radians(azimuth), math.radians(elevation)
    return np.array([math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e)])


def axes_toward(toward: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """Rows right, up, toward of a viewer placed in that direction; level unless it is straight above."""
    level = np.array([0.0, 1.0, 0.0]) if abs(toward[1]) < 0.9999 else np.array([0.0, 0.0, -1.0])
    right = np.cross(level, toward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(toward, right), toward])
