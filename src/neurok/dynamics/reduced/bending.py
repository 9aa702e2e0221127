"""The surface of an object that bends, as something that others touch: a bounded choice of its triangles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.dynamics.body import Body
from neurok.dynamics.colliders import Meeting
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.geometry.inertia import closed_components
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import farthest_points
from neurok.geometry.topology import face_components

NEIGHBOURS = 6
"""Triangles that are asked about each point: those around the nearest one."""

EDGE = 0.2
"""Two triangles form an edge that bulges where the one lies below the plane of the other by this slope."""


@dataclass(frozen=True, eq=False)
class BendingSurface:
    """Sampled triangles that follow the object; sheets can be touched from both sides."""

    mechanics: FeatureMechanics
    faces: Int[np.ndarray, "m 3"]
    """Corners of each, outward where the surface is closed."""

    closed: Bool[np.ndarray, " m"]
    reach: float
    """How far a triangle stands for the surface around it."""

    half: float
    """Half the thickness of a sheet."""

    @staticmethod
    def of(body: Body, mechanics: FeatureMechanics, count: int) -> BendingSurface:
        """Triangles spread evenly over the surface of a body."""
        mesh = body.mesh
        component = face_components(mesh.vertices, mesh.faces)
        closed = closed_components(mesh.vertices, mesh.faces, component)
        corners = mesh.vertices[mesh.faces]
        inward = np.bincount(component, np.linalg.det(corners - corners.mean(axis=(0, 1))), len(closed)) < 0
        faces = np.where((closed & inward)[component][:, None], mesh.faces[:, ::-1], mesh.faces)
        good = np.flatnonzero(face_areas(mesh.vertices, mesh.faces) > 1e-12 * mesh.size**2)
        chosen = _spread(corners[good], count)
        middles = corners[good][chosen].mean(axis=1)
        between = cKDTree(middles).query(middles, k=min(5, len(middles)))[0][:, -1]
        wide = np.linalg.norm(corners[good][chosen] - middles[:, None], axis=2).max(axis=1)
        reach = float(np.maximum(np.median(between), np.median(wide)))
        picked = good[chosen]
        return BendingSurface(
            mechanics, faces[picked], closed[component[picked]], 1.5 * reach, 0.5 * body.shell_thickness
        )

    @cached_property
    def _middles(self) -> Any:
        return self.mechanics.mixed_points(self.faces, np.full((len(self.faces), 3), 1.0 / 3.0))

    @cached_property
    def _recent(self) -> list[Any]:
        return []

    def place(self, motion: Any) -> tuple[Float[np.ndarray, "m 3"], cKDTree, np.ndarray, np.ndarray]:
        """Middles of the triangles now, a tree of them, and the box around; from memory for the same motion."""
        if not self._recent or self._recent[0] is not motion:
            middles = self._middles.positions(motion)[0]
            self._recent[:] = [motion, (middles, cKDTree(middles), middles.min(axis=0), middles.max(axis=0))]
        return self._recent[1]

    def meet(
        self,
        motion: Any,
        start: Float[np.ndarray, "n 3"],
        end: Float[np.ndarray, "n 3"],
        marks: Int[np.ndarray, " n"],
        reach: float,
    ) -> tuple[Meeting, Int[np.ndarray, " m"]]:
        """Like ``Collider.meet``, in the world; and the triangle that each point meets.

        Marks are 0 and 1 for the two sides of a sheet.
        """
        low, high = self.place(motion)[2:]
        margin = self.half + reach + self.reach
        passing = (np.minimum(start, end) < high + margin) & (np.maximum(start, end) > low - margin)
        close = np.flatnonzero(passing.all(axis=1))
        if not len(close):
            return Meeting(close, np.zeros((0, 3)), np.zeros(0), close), close
        a, b = start[close], end[close]
        gaps, normals, faces, sides = self._plane(motion, a, marks[close])
        ahead = gaps + ((b - a) * normals).sum(axis=1)
        # What is quick may meet another place than the one nearest to where it starts.
        later = self._plane(motion, b, sides)
        back = later[0] - ((b - a) * later[1]).sum(axis=1)
        other = (gaps > 0) & (ahead > 0) & (later[0] < 0) & (back > 0)
        gaps, normals = np.where(other, back, gaps), np.where(other[:, None], later[1], normals)
        faces, sides = np.where(other, later[2], faces), np.where(other, later[3], sides)
        near = np.flatnonzero((faces >= 0) & (np.minimum(gaps, gaps + ((b - a) * normals).sum(axis=1)) < reach))
        return Meeting(close[near], normals[near], gaps[near], sides[near]), faces[near]

    def _plane(
        self, motion: Any, x: Float[np.ndarray, "n 3"], marks: Int[np.ndarray, " n"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Height above the surface, direction out, triangle (-1 if none is near) and side of each point."""
        middles, tree = self.place(motion)[:2]
        count = min(NEIGHBOURS, len(middles))
        found = tree.query(x, k=count)[1].reshape(len(x), count)
        corners = self.mechanics.points(self.faces[found].reshape(-1)).positions(motion)[0].reshape(-1, count, 3, 3)
        across = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
        normals = across / np.maximum(np.linalg.norm(across, axis=2, keepdims=True), 1e-300)
        gaps = ((x[:, None] - middles[found]) * normals).sum(axis=2)
        closed = self.closed[found[:, 0]]
        sides = np.where(closed, 0, np.where(marks >= 0, marks, gaps[:, 0] < 0))
        sign = np.where(sides == 1, -1.0, 1.0)
        # Where the surface bulges, a point outside of one neighbour is outside; in a dent the nearest decides.
        steps = middles[found] - middles[found[:, :1]]
        below = (steps * normals[:, :1]).sum(axis=2) < -EDGE * np.linalg.norm(steps, axis=2)
        heights = np.where(closed[:, None] & (below | (np.arange(count) == 0)), gaps, -np.inf)
        heights[:, 0] = sign * gaps[:, 0] - np.where(closed, 0.0, self.half)
        best = heights.argmax(axis=1)
        rows = np.arange(len(x))
        normal, height = sign[:, None] * normals[rows, best], heights[rows, best]
        aside = x - middles[found[rows, best]]
        aside = aside - normal * (aside * normal).sum(axis=1, keepdims=True)
        near = np.linalg.norm(aside, axis=1) < self.reach
        return height, normal, np.where(near, found[rows, best], -1), sides

    def feet(self, motion: Any, x: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, " n"]) -> Any:
        """Points of the surface below points in the world, fixed to the surface."""
        corners = self.mechanics.points(self.faces[faces].reshape(-1)).positions(motion)[0].reshape(-1, 3, 3)
        u, v, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], x - corners[:, 0]
        uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
        wu, wv = (w * u).sum(axis=1), (w * v).sum(axis=1)
        scale = np.maximum(uu * vv - uv**2, 1e-300)
        second, third = (vv * wu - uv * wv) / scale, (uu * wv - uv * wu) / scale
        weights = np.clip(np.stack([1.0 - second - third, second, third], axis=1), 0.0, 1.0)
        return self.mechanics.mixed_points(self.faces[faces], weights / weights.sum(axis=1, keepdims=True))


def _spread(corners: Float[np.ndarray, "f 3 3"], count: int) -> Int[np.ndarray, " m"]:
    """Triangles spread over a surface: evenly by area at first, then far from each other."""
    if len(corners) <= count:
        return np.arange(len(corners))
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    marks = (np.arange(4 * count) + 0.5) / (4 * count) * areas.sum()
    drawn = np.unique(np.searchsorted(np.cumsum(areas), marks).clip(max=len(corners) - 1))
    return drawn if len(drawn) <= count else drawn[farthest_points(corners[drawn].mean(axis=1), count)]
