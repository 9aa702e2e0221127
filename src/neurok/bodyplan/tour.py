"""Joint values that show an object: each joint in turn goes through its range, behind what must be open for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.bodyplan.config import TOUR, TourConfig
from neurok.bodyplan.tree import subtree
from neurok.core import Articulation
from neurok.geometry import lie
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface


def tour(articulation: Articulation, frames_per_joint: int = 36, config: TourConfig = TOUR) -> Float[np.ndarray, "T D"]:
    """Values of every frame; starts and ends at rest. A joint without limits makes one turn, or slides a little.

    The others rest, but for doors that a part would go through: they are opened before it and closed after it.
    """
    frames = max(12, frames_per_joint)
    # Half a beat of rest: evenly spaced pictures of the whole would otherwise meet every joint at rest.
    rows = [np.zeros((frames // 2, articulation.dof))]
    ways = _ways(articulation, frames, config)
    doors = _doors(articulation, ways, config)
    opening = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames // 2))
    for column, way in enumerate(ways):
        block = np.zeros((frames, articulation.dof))
        block[:, column] = way.values
        before = np.zeros((len(opening) if doors[column] else 0, articulation.dof))
        for door in doors[column]:
            block[:, door] = ways[door].far
            before[:, door] = ways[door].far * opening
        rows += [before, block, before[::-1]]
    return np.concatenate([*rows, np.zeros((1, articulation.dof))])


@dataclass(frozen=True, eq=False)
class _Way:
    """What one value of the joints goes through."""

    part: int
    values: Float[np.ndarray, " T"]

    @property
    def far(self) -> float:
        """The value farthest from rest."""
        return float(self.values[np.abs(self.values).argmax()])


def _ways(articulation: Articulation, frames: int, config: TourConfig) -> list[_Way]:
    found: list[_Way] = []
    for part, joint in enumerate(articulation.joints):
        for k in range(joint.dof):
            is_slide = joint.kind == "prismatic" or k == 1
            low, high = (float(x) for x in articulation.limits[len(found)])
            far = config.slide * articulation.mesh.size if is_slide else config.turn
            values = _there_and_back(low, high, is_slide, far, frames)
            found.append(_Way(part, values))
    return found


def _doors(articulation: Articulation, ways: list[_Way], config: TourConfig) -> list[list[int]]:
    """For each value of the joints those that must be at their far end lest its part goes through theirs."""
    parts = {way.part for way in ways}
    if not 1 < len(parts) <= config.most_parts:
        return [[] for _ in ways]
    parents = tuple(joint.parent for joint in articulation.joints)
    points = {part: _points(articulation, part, config.points) for part in parts}
    found: list[list[int]] = []
    for column, way in enumerate(ways):
        q = np.zeros((config.steps, articulation.dof))
        q[:, column] = np.linspace(0.0, way.far, config.steps + 1)[1:]
        path = lie.apply(articulation.transforms(q)[:, way.part], points[way.part])
        mine = []
        for door, other in enumerate(ways):
            if way.part in subtree(parents, other.part) or other.part in subtree(parents, way.part):
                continue
            opened = np.zeros(articulation.dof)
            opened[door] = other.far
            rest, shut = points[way.part], points[other.part]
            aside = lie.apply(articulation.transforms(opened)[other.part], shut)
            if _meets(rest, path, shut, config) and not _meets(rest, path, aside, config):
                mine.append(door)
        found.append(mine)
    return found


def _points(articulation: Articulation, part: int, count: int) -> Float[np.ndarray, "N 3"]:
    mesh = articulation.mesh
    faces = mesh.faces[mesh.face_parts == part]
    if len(faces) == 0 or not face_areas(mesh.vertices, faces).sum() > 0:
        return np.zeros((0, 3))
    return sample_surface(mesh.vertices, faces, count, np.random.default_rng(part)).interpolate(mesh.vertices)


def _meets(
    rest: Float[np.ndarray, "N 3"],
    path: Float[np.ndarray, "T N 3"],
    other: Float[np.ndarray, "M 3"],
    config: TourConfig,
) -> bool:
    """Whether points that were well away from another cloud come to lie in it."""
    low, high = path.min(axis=(0, 1), initial=np.inf), path.max(axis=(0, 1), initial=-np.inf)
    if len(other) == 0 or (other.min(axis=0) > high).any() or (other.max(axis=0) < low).any():
        return False
    tree = cKDTree(other)
    spacing = float(np.median(tree.query(other, k=2)[0][:, 1]))
    away = config.away * spacing
    was_away = tree.query(rest, distance_upper_bound=away)[0] > away
    if not was_away.any():
        return False
    near = tree.query(path[:, was_away].reshape(-1, 3), distance_upper_bound=spacing)[0] <= spacing
    return bool(near.reshape(len(path), -1).mean(axis=1).max() > config.meets)


def _there_and_back(low: float, high: float, is_slide: bool, far: float, frames: int) -> Float[np.ndarray, " T"]:
    if math.isinf(low) and math.isinf(high) and not is_slide:
        return np.linspace(0.0, 2.0 * np.pi, frames)
    low, high = (min(low, 0.0) if math.isfinite(low) else 0.0), (max(high, 0.0) if math.isfinite(high) else far)
    up = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
    if low == 0.0 or high == 0.0:
        return (high or low) * up
    first = int(np.clip(round(frames * high / (high - low)), 6, frames - 6))
    half = lambda count: 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, count))  # noqa: E731
    return np.concatenate([high * half(first), low * half(frames - first)])
