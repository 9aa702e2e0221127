"""As-rigid-as-possible registration: cells stay as rigid as they can while the surface is pulled to the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.errors import require
from neurok.geometry.decimate import decimate
from neurok.geometry.rigid import nearest_rotation
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import face_components, vertex_labels
from neurok.geometry.transfer import Transfer

MAX_FACES = 5000
LINK = 0.05
"""Strength of the ties between neighbouring components, against the mean strength of an edge."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Edges with strengths; around every vertex a cell that wants to stay rigid."""

    rest: Float[np.ndarray, "V 3"]
    edges: Int[np.ndarray, "E 2"]
    """Each pair once in each direction."""

    strength: Float[np.ndarray, " E"]

    @property
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

    def wish(self, turns: Float[np.ndarray, "V 3 3"]) -> Float[np.ndarray, "V 3"]:
        """Right-hand side of the global step: every edge turned by the mean of its two cells."""
        i, j = self.edges.T
        edge = 0.5 * self.strength[:, None] * np.einsum("eab,eb->ea", turns[i] + turns[j], self.rest[i] - self.rest[j])
        return np.stack([np.bincount(i, weights=edge[:, k], minlength=len(self.rest)) for k in range(3)], axis=1)


def rigid_cells_icp(
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
    rounds: int = 40,
    count: int = 2500,
    pull: tuple[float, float] = (0.002, 0.2),
    trust: tuple[float, float] = (0.5, 0.05),
) -> Float[np.ndarray, "V 3"]:
    """Closest points in both directions pull on surface samples, ever harder, and far pairs are trusted ever less.

    Works on a coarser mesh with libigl's cotangent weights; neighbouring components are loosely tied. ``pull`` and
    ``trust`` (a distance in the unit box) go from their first value to their second.
    """
    groups = face_components(rest.vertices, rest.faces, rest.face_surfaces)
    coarse, faces, face_groups = decimate(rest.vertices, rest.faces, MAX_FACES, groups)
    cells = make_cells(coarse, faces, face_groups)
    samples = sample_surface(coarse, faces, count, rng)
    thin, tree = target[rng.permutation(len(target))[:count]], cKDTree(target)
    laplacian, x = cells.laplacian, coarse.copy()
    for strength, reach in zip(np.geomspace(*pull, rounds), np.geomspace(*trust, rounds)):
        points = samples.interpolate(x)
        forward, near = tree.query(points)
        backward, owner = cKDTree(points).query(thin)
        away = np.concatenate([forward, backward])
        weight = strength / (1.0 + (away / reach) ** 2) / count
        select = _rows(samples, np.concatenate([np.arange(len(points)), owner]), len(coarse))
        x = _solve(cells, laplacian, select, weight, np.concatenate([target[near], thin]), x)
    owners = vertex_labels(rest.faces, groups, rest.vertex_count)
    return Transfer.between(coarse, faces, rest.vertices, face_groups, owners)(x)


def make_cells(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], face_groups: Int[np.ndarray, " F"]
) -> Cells:
    """Edges of the mesh with cotangent weights (mean 1 / V, clipped to be positive), and ties between components."""
    require("igl", "peers")
    import igl

    matrix = sparse.coo_matrix(igl.cotmatrix(vertices, faces))
    off = matrix.row != matrix.col
    edges = np.stack([matrix.row[off], matrix.col[off]], axis=1).astype(np.int64)
    cotangents = np.nan_to_num(matrix.data[off], nan=0.0, posinf=0.0, neginf=0.0)
    # Slivers have cotangents without bound, and blunt triangles negative ones: neither may rule the solve.
    typical = float(np.median(np.abs(cotangents))) or 1.0
    strength = np.clip(cotangents, 0.05 * typical, 20.0 * typical)
    strength /= strength.sum()
    ties = _ties(vertices, vertex_labels(faces, face_groups, len(vertices)))
    weak = np.full(len(ties), LINK * float(strength.mean()))
    return Cells(vertices, np.concatenate([edges, ties]), np.concatenate([strength, weak]))


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


def _rows(samples: SurfaceSamples, chosen: Int[np.ndarray, " M"], vertex_count: int) -> Any:
    """Sparse matrix from vertices to the chosen samples."""
    corners, weights = samples.faces[chosen], samples.barycentric[chosen]
    rows = np.repeat(np.arange(len(chosen)), 3)
    return sparse.csr_matrix((weights.reshape(-1), (rows, corners.reshape(-1))), shape=(len(chosen), vertex_count))


def _solve(cells, laplacian, select, weight, places, x, inner=2):  # type: ignore[no-untyped-def]
    """A few local and global steps with the pulls held fixed."""
    from scipy.sparse.linalg import splu

    weighted = sparse.diags(weight) @ select
    # A trace of inertia holds what no pull reaches.
    inertia = 1e-6 / len(x)
    matrix = laplacian + select.T @ weighted + inertia * sparse.eye(len(x))
    factor = splu(sparse.csc_matrix(matrix))
    for _ in range(inner):
        x = factor.solve(cells.wish(cells.rotations(x)) + weighted.T @ places + inertia * x)
    return x
