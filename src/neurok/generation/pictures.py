"""Pictures of one object from several views, with alpha: what picture networks look at."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from neurok.core import Asset, Mesh
from neurok.rendering import Camera, Renderer
from neurok.rendering.lights import studio_lights

SIDE = 112
"""Pixels of a picture's side: seven patches of sixteen."""


@dataclass(frozen=True)
class CameraView:
    """From where one picture was taken, and how it was lit."""

    azimuth: float
    elevation: float
    fov: float
    margin: float
    light_turn: float
    with_sky: bool
    with_ground: bool

    @property
    def camera(self) -> Camera:
        return Camera(self.azimuth, self.elevation, self.fov, self.margin)


class _Photographer(Renderer):
    """A renderer that walks around its object: the mesh stays on the graphics card."""

    def __init__(self, mesh: Mesh, side: int) -> None:
        super().__init__(mesh, width=side, height=side, background="transparent")
        self._used = np.unique(mesh.faces)

    def take(self, view: CameraView) -> UInt8[np.ndarray, "S S 4"]:
        self._place([self.mesh.vertices], self._used, view.camera)
        corners = self.to_world(np.array(self.mesh.bounds))
        low, high = corners.min(axis=0), corners.max(axis=0)
        self._lights = studio_lights(view.azimuth + view.light_turn, low, high)
        self._with_sky, self.has_ground = view.with_sky, view.with_ground
        return self.render()


def take_pictures(
    thing: Asset | Mesh, views: Sequence[CameraView], side: int = SIDE
) -> UInt8[np.ndarray, "{len(views)} {side} {side} 4"]:
    """Pictures of one object with alpha, uploaded once."""
    with closing(_Photographer(thing.mesh if isinstance(thing, Asset) else thing, side)) as photographer:
        return np.stack([photographer.take(view) for view in views])
