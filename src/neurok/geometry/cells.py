"""As-rigid-as-possible cells: a surface whose every neighbourhood wants to keep its shape while it is pulled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.spatial import cKDTree

from neurok.geometry.lie import nearest_rotation
from neurok.geometry.sampling import SurfaceSamples
from neurok.geometry.topology import vertex_labels

LINK = 0.05
"""Strength of the ties between neighbouring components, against the mean strength of an edge."""

INERTIA = 1e-6
"""A trace of it holds what no pull reaches."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Edges with strengths; around every vertex a cell that wants to stay rigid."""

    rest: Float[np.ndarray, "V 3"]
    edges: Int[np.ndarray, "E 2"]
    """Each pair once in each direction."""

    strength: Float[np.ndarray, " E"]
    ties: int = 0
    """So many of the last edges are no edges of the surface, but tie components to each other."""

    def loosened(self, x: Float[np.ndarray, "V 3"], reach: float) -> Cells:
        """The same cells without ties that are longer than a reach, at rest or in another state."""
        i, j = self.edges.T
        longest = np.maximum(*(np.linalg.norm(at[i] - at[j], axis=1) for at in (self.rest, x)))
        kept = (np.arange(len(i)) < len(i) - self.ties) | (longest <= reach)
        return Cells(self.rest, self.edges[kept], self.strength[kept], int(kept[len(i) - self.ties :].sum()))

    @cached_property
    def laplacian(self) -> Any:
        count = len(self.rest)
        i, j = self.edges.T
        links = sparse.csr_matrix((self.strength, (i, j)), shape=(count, count))
        return sparse.diags(np.asarray(links.sum(axis=1)).reshape(-1)) - links

    def rotations(self, x: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3 3"]:
        """The rotation of each cell that fits its edges best."""
        i, j = self.edges.T
        now, before = x[j] - x[i], self.rest[j] - self.rest[i]
        outer = np.einsum("e,ea,eb->eab", self.strength, now, before).reshape(-1, 9)
        count = len(x)
        gather = sparse.csr_matrix((np.ones(len(i)), (i, np.arange(len(i)))), shape=(count, len(i)))
        return nearest_rotation((gather @ outer).reshape(-1, 3, 3))

    def right_side(self, turns: Float[np.ndarray, "V 3 3"]) -> Float[np.ndarray, "V 3"]:
        """Right-hand side of the global step: every edge turned by the mean of its two cells."""
        i, j = self.edges.T
        edge = 0.5 * self.strength[:, None] * np.einsum("eab,eb->ea", turns[i] + turns[j], self.rest[i] - self.rest[j])
        return np.stack([np.bincount(i, weights=edge[:, k], minlength=len(self.rest)) for k in range(3)], axis=1)

    def relaxed(
        self,
        x: Float[np.ndarray, "V 3"],
        pulls: Pulls,
        held: Bool[np.ndarray, " V"] | None = None,
        steps: int = 2,
    ) -> Float[np.ndarray, "V 3"]:
        """Positions after a few local and global steps with the pulls fixed; what is held stays where it is."""
        from scipy.sparse.linalg import splu

        weighted = sparse.diags(pulls.weight) @ pulls.rows
        inertia = INERTIA / len(x)
        matrix = sparse.csc_matrix(self.laplacian + pulls.rows.T @ weighted + inertia * sparse.eye(len(x)))
        drive = weighted.T @ pulls.places
        fixed = np.zeros(len(x), dtype=bool) if held is None else held
        free = np.flatnonzero(~fixed)
        factor = splu(matrix if len(free) == len(x) else matrix[free][:, free])
        for _ in range(steps):
            right = self.right_side(self.rotations(x)) + drive + inertia * x
            if len(free) == len(x):
                x = factor.solve(right)
            else:
                still = np.where(fixed[:, None], x, 0.0)
                x = still.copy()
                x[free] = factor.solve((right - matrix @ still)[free])
        return x


@dataclass(frozen=True, eq=False)
class Pulls:
    """Points of a surface, as weights of its vertices, the places they are pulled to, and how hard."""

    rows: Any
    places: Float[np.ndarray, "P 3"]
    weight: Float[np.ndarray, " P"]


def cells_of(
    links: Any,
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    face_groups: Int[np.ndarray, " F"],
    ties: Int[np.ndarray, "T 2"] | None = None,
) -> Cells:
    """Cells from a matrix of cotangents (mean 1 / V, clipped to be positive), and ties between components.

    Ties are pairs of vertices, in both directions; by default the nearest ones of different components.
    """
    matrix = sparse.coo_matrix(links)
    off = matrix.row != matrix.col
    edges = np.stack([matrix.row[off], matrix.col[off]], axis=1).astype(np.int64)
    cotangents = np.nan_to_num(matrix.data[off], nan=0.0, posinf=0.0, neginf=0.0)
    # Slivers have cotangents without bound, and blunt triangles negative ones: neither may rule the solve.
    typical = float(np.median(np.abs(cotangents))) or 1.0
    strength = np.clip(cotangents, 0.05 * typical, 20.0 * typical)
    strength /= strength.sum()
    if ties is None:
        ties = _ties(vertices, vertex_labels(faces, face_groups, len(vertices)))
    weak = np.full(len(ties), LINK * float(strength.mean()))
    return Cells(vertices, np.concatenate([edges, ties]), np.concatenate([strength, weak]), len(ties))


def cotangent_links(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Any:
    """Sparse (V, V): half the sum of the cotangents of the angles that face each edge, without a diagonal."""
    rows, columns, values = [], [], []
    for k in range(3):
        at, first, second = faces[:, k], faces[:, (k + 1) % 3], faces[:, (k + 2) % 3]
        one, other = vertices[first] - vertices[at], vertices[second] - vertices[at]
        twice_area = np.linalg.norm(np.cross(one, other), axis=1)
        half = 0.5 * (one * other).sum(axis=1) / np.maximum(twice_area, 1e-300)
        rows += [first, second]
        columns += [second, first]
        values += [half, half]
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix((np.concatenate(values), where), shape=(len(vertices), len(vertices)))


def sample_rows(samples: SurfaceSamples, chosen: Int[np.ndarray, " M"], vertex_count: int) -> Any:
    """Sparse matrix from vertices to the chosen samples."""
    corners, weights = samples.faces[chosen], samples.barycentric[chosen]
    rows = np.repeat(np.arange(len(chosen)), 3)
    return sparse.csr_matrix((weights.reshape(-1), (rows, corners.reshape(-1))), shape=(len(chosen), vertex_count))


def _ties(vertices: Float[np.ndarray, "V 3"], owner: Int[np.ndarray, " V"]) -> Int[np.ndarray, "T 2"]:
    """Each component's vertices with the nearest vertices of others, the closest quarter of them (four at least)."""
    found = []
    for group in np.unique(owner):
        mine, others = np.flatnonzero(owner == group), np.flatnonzero(owner != group)
        if len(others) == 0:
            break
        away, near = cKDTree(vertices[others]).query(vertices[mine])
        kept = np.argsort(away, kind="stable")[: max(4, len(mine) // 4)]
        found.append(np.stack([mine[kept], others[near[kept]]], axis=1))
    if not found:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return np.concatenate([pairs, pairs[:, ::-1]])
