"""Views of an object from outside: parallel rays, and what they meet, as channels for the network.

Objects are in the unit box about the origin, with y up. A view has its own frame: right, up, and back towards the eye;
lengths in a view are counted in halves of its width, so that a view of a detail and one of the whole read alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Mesh
from neurok.learned.views.network import CELL, INPUTS, PIXELS

FAR = 3.0
"""Where rays begin, before the middle of the view [sizes of the object]: outside of everything."""

ROUND = tuple((turn * np.pi / 4, 0.3) for turn in range(8)) + tuple(
    (turn * np.pi / 2 + 0.39, 0.85) for turn in range(4)
)
"""Twelve directions that an object is looked at from: azimuth and elevation [rad]. By eye."""

MARGIN = 1.06
"""Half the width of a view that shows all of an object, over the farthest that it reaches."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A direction to look from, and what is in the middle."""

    rotation: Float[np.ndarray, "3 3"]
    """Rows: right, up and back, in the object's frame."""

    centre: Float[np.ndarray, " 3"]
    half: float
    """Half the width of the view [sizes of the object]."""

    @staticmethod
    def at(azimuth: float, elevation: float, vertices: Float[np.ndarray, "V 3"]) -> Camera:
        """One that sees all of an object."""
        back = np.array([np.cos(elevation) * np.sin(azimuth), np.sin(elevation), np.cos(elevation) * np.cos(azimuth)])
        right = np.array([np.cos(azimuth), 0.0, -np.sin(azimuth)])
        rotation = np.stack([right, np.cross(back, right), back])
        centre = (vertices.max(axis=0) + vertices.min(axis=0)) / 2
        reach = float(np.abs((vertices - centre) @ rotation[:2].T).max())
        return Camera(rotation, centre, MARGIN * max(reach, 1e-6))

    @cached_property
    def frame(self) -> Float[np.ndarray, "3 3"]:
        """Rows, in the view: the object's up, its horizontal axis nearest to the view's right, pointing right, and the
        other one, pointing back."""
        x, z = self.rotation[:, 0], self.rotation[:, 2]
        near, other = (x, z) if abs(x[0]) >= abs(z[0]) else (z, x)
        return np.stack([self.rotation[:, 1], near * _sign(near[0]), other * _sign(other[2])])

    def inside(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """Points of the object in the view."""
        return (points - self.centre) @ self.rotation.T / self.half

    def outside(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """Points of the view on the object."""
        return points @ self.rotation * self.half + self.centre


def _sign(value: float) -> float:
    return -1.0 if value < 0 else 1.0


@dataclass(frozen=True, eq=False)
class View:
    """What the rays of a camera meet first."""

    camera: Camera
    faces: Int[np.ndarray, "S S"]
    """-1 where there is nothing."""

    normals: Float[np.ndarray, "S S 3"]
    """In the view, towards the eye."""

    depth: Float[np.ndarray, "S S"]
    """Height above the middle, towards the eye [halves of the width]."""

    @property
    def points(self) -> Float[np.ndarray, "S S 3"]:
        """In the view."""
        across, down = np.meshgrid(grid(len(self.depth)), -grid(len(self.depth)))
        return np.stack([across, down, self.depth], axis=-1)

    def image(self) -> Float[np.ndarray, "C S S"]:
        """The channels that the network is shown."""
        return image(self.camera.frame, self.faces >= 0, self.normals, self.depth)


def grid(count: int) -> Float[np.ndarray, " S"]:
    """Middles of pixels [halves of the width]."""
    return (np.arange(count) + 0.5) / count * 2.0 - 1.0


def cells(pixels: np.ndarray) -> np.ndarray:
    """The pixel that stands for each cell."""
    return pixels[CELL // 2 :: CELL, CELL // 2 :: CELL]


def image(
    frame: Float[np.ndarray, "3 3"],
    mask: Bool[np.ndarray, "S S"],
    normals: Float[np.ndarray, "S S 3"],
    depth: Float[np.ndarray, "S S"],
) -> Float[np.ndarray, "C S S"]:
    """Normals, depth and mask, and where the object's axes point, which is the same in all pixels."""
    out = np.empty((INPUTS, *mask.shape), dtype=np.float32)
    out[:3] = np.where(mask[..., None], normals, 0.0).transpose(2, 0, 1)
    out[3] = np.where(mask, depth, 0.0)
    out[4] = mask - 0.5
    twice = 2.0 * np.arctan2(-frame[1, 2], frame[1, 0])
    out[5:] = (0.5 * np.array([*frame[0, 1:], np.sin(twice), np.cos(twice)]))[:, None, None]
    return out


class Scene:
    """The triangles of an object, ready for rays."""

    def __init__(self, mesh: Mesh) -> None:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        self.vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float32)
        faces = np.ascontiguousarray(mesh.faces, dtype=np.int32)
        first, second, third = (self.vertices[faces[:, k]] for k in range(3))
        normals = np.cross(second - first, third - first)
        self.normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.float32(1e-30))
        self.scene = EmbreeScene()
        self.mesh = TriangleMesh(self.scene, self.vertices, faces)

    def view(self, camera: Camera, pixels: int = PIXELS) -> View:
        across, down = np.meshgrid(grid(pixels), -grid(pixels))
        starts = np.stack([across, down, np.full_like(across, FAR / camera.half)], axis=-1).reshape(-1, 3)
        origins = np.ascontiguousarray(camera.outside(starts), dtype=np.float32)
        ways = np.ascontiguousarray(np.broadcast_to(-camera.rotation[2], origins.shape), dtype=np.float32)
        answer = self.scene.run(origins, ways, query="INTERSECT", output=True)
        faces = answer["primID"].reshape(pixels, pixels)
        mask = faces >= 0
        normals = self.normals[np.maximum(faces, 0)] @ camera.rotation.T.astype(np.float32)
        normals *= np.where(normals[..., 2:] < 0, -1.0, 1.0).astype(np.float32)
        depth = np.where(mask, (FAR - answer["tfar"].reshape(pixels, pixels)) / camera.half, 0.0)
        return View(camera, faces, normals, depth)
