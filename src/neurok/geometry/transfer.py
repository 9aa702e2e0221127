"""Motion of a coarse surface, or of scattered nodes, carried over to other points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.errors import ShapeError
from neurok.geometry.distance import closest_point
from neurok.geometry.lie import across


@dataclass(frozen=True, eq=False)
class Transfer:
    """Ties each target point to the closest triangle of a source surface at rest.

    A point ``p`` over the surface point ``c = sum_i b_i x_i`` moves to
    ``x = sum_i b_i (x_i' + R_i (p - c) + R_i (c - x_i) / 2)``, where ``R_i`` is the rotation of the surface around
    corner ``i``. So the rest pose maps to the rest pose, a rigid motion of the source to the same rigid motion of
    the target, and bending is smooth across edges; the half makes the error of third order in the edge length,
    because linear interpolation cuts corners by as much as following the tangents overshoots.
    """

    source: Float[np.ndarray, "V 3"]
    """Rest positions of the moving surface."""

    faces: Int[np.ndarray, "F 3"]
    target: Float[np.ndarray, "N 3"]
    """Rest positions of the points that follow."""

    face_ids: Int[np.ndarray, " N"]
    barycentric: Float[np.ndarray, "N 3"]

    @staticmethod
    def between(
        source: Float[np.ndarray, "V 3"],
        faces: Int[np.ndarray, "F 3"],
        target: Float[np.ndarray, "N 3"],
        face_groups: Int[np.ndarray, " F"] | None = None,
        target_groups: Int[np.ndarray, " N"] | None = None,
    ) -> Transfer:
        """Tie points to a surface; with groups (parts, components) only to faces of the same group."""
        # Any near triangle carries rigid motion exactly, so the closest of a few will do.
        near = closest_point(target, source, faces, target_groups, face_groups, candidates=6)
        return Transfer(source, faces, target, near.face_ids, near.barycentric)

    def __call__(self, positions: Float[np.ndarray, "*T V 3"]) -> Float[np.ndarray, "*T N 3"]:
        """Target positions for source positions; leading axes (frames) pass through."""
        if positions.shape[-2:] != self.source.shape:
            raise ShapeError(f"The source has {len(self.source)} vertices, but positions have shape {positions.shape}.")
        frames = positions.reshape(-1, *self.source.shape)
        moved = np.stack([self._one(frame) for frame in frames]) if len(frames) else np.zeros((0, *self.target.shape))
        return moved.reshape(*positions.shape[:-2], *self.target.shape)

    def interpolate(self, values: Float[np.ndarray, "V C"]) -> Float[np.ndarray, "N C"]:
        """Any per-vertex quantity of the source at the target points."""
        return np.einsum("nk,nkc->nc", self.barycentric, values[self._corners])

    @cached_property
    def _corners(self) -> Int[np.ndarray, "N 3"]:
        return self.faces[self.face_ids]

    @cached_property
    def _rest_frames(self) -> Float[np.ndarray, "F 3 3"]:
        return _face_frames(self.source, self.faces)

    @cached_property
    def _tangents(self) -> tuple[Float[np.ndarray, "V 3"], Float[np.ndarray, "V 3"]]:
        """Normal and one tangent at each source vertex at rest, the pair whose motion gives its rotation."""
        from neurok.geometry.operators import vertex_normals

        normal = vertex_normals(self.source, self.faces)
        return normal, across(normal)[0]

    @cached_property
    def _gather(self) -> Any:
        """Sparse (V, F): area of each face, given to its corners."""
        from scipy.sparse import csr_matrix

        from neurok.geometry.operators import face_areas

        areas = np.repeat(face_areas(self.source, self.faces), 3)
        where = (self.faces.reshape(-1), np.repeat(np.arange(len(self.faces)), 3))
        return csr_matrix((areas, where), shape=(len(self.source), len(self.faces)))

    def _rotations(self, positions: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3 3"]:
        """Rotation of the surface around each source vertex: mean of its faces', made orthogonal."""
        turns = _face_frames(positions, self.faces) @ np.swapaxes(self._rest_frames, 1, 2)
        mean = (self._gather @ turns.reshape(-1, 9)).reshape(-1, 3, 3)
        normal, tangent = self._tangents
        n, n_ok = _unit(np.einsum("vij,vj->vi", mean, normal))
        t = np.einsum("vij,vj->vi", mean, tangent)
        t, t_ok = _unit(t - (t * n).sum(axis=1, keepdims=True) * n)
        now, rest = _frame(t, n), _frame(tangent, normal)
        whole = np.broadcast_to(np.eye(3), now.shape)
        return np.where((n_ok & t_ok)[:, None], now @ np.swapaxes(rest, 1, 2), whole)

    def _one(self, positions: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "N 3"]:
        turn = self._rotations(positions) - np.eye(3)
        shift = positions - self.source - 0.5 * np.einsum("vij,vj->vi", turn, self.source)
        corner, weight = self._corners, self.barycentric
        out, lever = self.target.copy(), self.target - 0.5 * self.interpolate(self.source)
        for k in range(3):
            follow = np.einsum("nij,nj->ni", turn[corner[:, k]], lever) + shift[corner[:, k]]
            out += weight[:, k : k + 1] * follow
        return out


def _face_frames(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "F 3 3"]:
    """Orthonormal frame of each face as columns; zero where a face has no area."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    along, _ = _unit(b - a)
    normal, solid = _unit(np.cross(b - a, c - a))
    return np.where(solid[:, None], _frame(along, normal), 0.0)


def _frame(along: Float[np.ndarray, "N 3"], normal: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3 3"]:
    return np.stack([along, np.cross(normal, along), normal], axis=2)


def _unit(vectors: Float[np.ndarray, "N 3"]) -> tuple[Float[np.ndarray, "N 3"], Any]:
    """Unit vectors and (N, 1) flags of those that had a length."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    ok = length > 1e-300
    return vectors / np.where(ok, length, 1.0), ok


NARROW = 0.6
"""Width of the kernel, as a share of the distance of the farthest node that counts."""


def affine_weights(
    nodes: Float[np.ndarray, "N 3"], points: Float[np.ndarray, "P 3"], count: int = 14, ridge: float = 1e-6
) -> tuple[Int[np.ndarray, "P k"], Float[np.ndarray, "P k"]]:
    """The nearest nodes of each point and their weights: smooth, and exact for every affine motion of the nodes.

    Weights sum to one. Where the nodes lie in a plane or on a line, ``ridge`` decides: nothing is told of what is
    beside it.
    """
    from scipy.spatial import cKDTree

    count = min(count, len(nodes))
    distance, near = cKDTree(nodes).query(points, k=count)
    return near.reshape(len(points), -1), local_weights(
        nodes[near].reshape(len(points), -1, 3), points, distance.reshape(len(points), -1), ridge
    )


def local_weights(
    nodes: Float[np.ndarray, "P k 3"],
    points: Float[np.ndarray, "P 3"],
    distance: Float[np.ndarray, "P k"],
    ridge: float = 1e-6,
) -> Float[np.ndarray, "P k"]:
    """Weights of chosen nodes; those at the largest ``distance`` count least."""
    width = NARROW * distance[:, -1:] + 1e-9
    kernel = np.exp(-((distance / width) ** 2))
    basis = np.concatenate([np.ones((*distance.shape, 1)), (nodes - points[:, None]) / width[..., None]], axis=-1)
    moment = np.einsum("pi,pia,pib->pab", kernel, basis, basis) + ridge * np.eye(4)
    # The value of the local affine fit at the point itself is its constant term.
    first = np.linalg.solve(moment, np.broadcast_to(np.eye(4)[:, :1], (len(points), 4, 1)))[..., 0]
    local = kernel * np.einsum("pia,pa->pi", basis, first)
    return local / local.sum(axis=1, keepdims=True)
