"""Handles and feet that belong to what they are fixed to: added to objects, so that not all that sticks out moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Mesh
from neurok.geometry.operators import face_areas, face_normals

BOX = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
    + [[1, 3, 5], [3, 7, 5]]
)
"""Faces of a box whose corners count up in x, then y, then z."""


@dataclass(frozen=True)
class HandleConfig:
    """How large what is added is. By eye."""

    most: int = 3
    """Things that are added at most, each once, or twice where the object is symmetric about its middle."""

    length: tuple[float, float] = (0.05, 0.25)
    """Their length [diagonals of the object]."""

    thickness: tuple[float, float] = (0.06, 0.25)
    """Their thickness [lengths]."""

    height: tuple[float, float] = (0.15, 0.7)
    """How far they stand out [lengths]."""

    arched: float = 0.7
    """Share that are arches on two feet; the others are blocks."""

    twice: float = 0.4
    """Share that are added on the other side as well, if there is something of the same body."""


HANDLES = HandleConfig()


def with_handles(
    mesh: Mesh, rng: np.random.Generator, config: HandleConfig = HANDLES
) -> tuple[Mesh, Int[np.ndarray, " G"]]:
    """The shape with things that stand on its surface, after its own faces, and the face that each face goes with.

    Vertices lose their colours and texture coordinates, and parts are not told.
    """
    areas, normals = face_areas(mesh.vertices, mesh.faces), face_normals(mesh.vertices, mesh.faces)
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    low, high = mesh.vertices[mesh.faces].min(axis=(0, 1)), mesh.vertices[mesh.faces].max(axis=(0, 1))
    diagonal, centre = float(np.linalg.norm(high - low)), (low + high) / 2
    vertices, faces, goes_with = [mesh.vertices], [mesh.faces], [np.arange(mesh.face_count)]
    for _ in range(int(rng.integers(1, config.most + 1))):
        face = int(rng.choice(len(areas), p=areas / areas.sum()))
        outward = normals[face] * (1.0 if normals[face] @ (middles[face] - centre) >= 0 else -1.0)
        spots = [(face, outward)]
        if rng.random() < config.twice:
            flip = np.where(np.abs(outward) == np.abs(outward).max(), -1.0, 1.0)
            away = np.linalg.norm(middles - (centre + flip * (middles[face] - centre)), axis=1)
            if away.min() < 0.05 * diagonal:
                spots.append((int(away.argmin()), flip * outward))
        thing, along = _shape(diagonal, rng, config), rng.normal(size=3) * np.array([1.0, 0.2, 1.0])
        for spot, up in spots:
            start = sum(len(some) for some in vertices)
            vertices.append(middles[spot] + thing[0] @ _frame(up, along))
            faces.append(thing[1] + start)
            goes_with.append(np.full(len(thing[1]), spot))
    owners = np.concatenate(goes_with)
    grown = Mesh(
        np.concatenate(vertices),
        np.concatenate(faces),
        surfaces=mesh.surfaces,
        face_surfaces=None if mesh.face_surfaces is None else mesh.face_surfaces[owners],
        unit=mesh.unit,
        up=mesh.up,
        name=mesh.name,
    )
    return grown, owners


def _shape(
    diagonal: float, rng: np.random.Generator, config: HandleConfig
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """An arch or a block that stands on the plane z = 0, along x."""
    length = diagonal * rng.uniform(*config.length)
    thick, high = length * rng.uniform(*config.thickness), length * rng.uniform(*config.height)
    if rng.random() >= config.arched:
        corners = np.indices((2, 2, 2)).reshape(3, -1).T[:, ::-1] * np.array([length, thick, high])
        return corners - np.array([length / 2, thick / 2, 0.05 * high]), BOX
    roundness = rng.uniform(0.3, 1.0)  # from a bar on two posts to half an ellipse
    turns = np.linspace(0.0, np.pi, 9)
    x, z = np.cos(turns), np.sin(turns)
    path = np.stack([np.sign(x) * np.abs(x) ** roundness * length / 2, 0 * x, z**roundness * high], axis=1)
    across = np.gradient(path, axis=0)
    across = np.stack([across[:, 2], 0 * x, -across[:, 0]], axis=1)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    sides = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    rings = np.stack([path + thick / 2 * (a * across + b * np.array([0.0, 1.0, 0.0])) for a, b in sides], axis=1)
    start, nexts = np.arange(8)[:, None] * 4 + np.arange(4), np.arange(8)[:, None] * 4 + (np.arange(4) + 1) % 4
    one = np.stack([start, nexts, start + 4], axis=-1).reshape(-1, 3)
    two = np.stack([nexts, nexts + 4, start + 4], axis=-1).reshape(-1, 3)
    ends = np.array([[0, 2, 1], [0, 3, 2], [32, 33, 34], [32, 34, 35]])
    return rings.reshape(-1, 3), np.concatenate([one, two, ends])


def _frame(up: Float[np.ndarray, " 3"], along: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "3 3"]:
    """Rows: a direction in the surface nearest to the one wanted, the third one, and the way out."""
    first = along - (along @ up) * up
    first = first / max(float(np.linalg.norm(first)), 1e-9)
    return np.stack([first, np.cross(up, first), up])
