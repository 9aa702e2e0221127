"""Solids of any form: from a distance field to a surface to look at and a coarse lattice to simulate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.families.soft.grids import BoxGrid, cell_tetrahedra
from neurok.geometry import lie
from neurok.geometry.moving_least_squares import affine_weights
from neurok.geometry.surface_nets import Field, grid_axes, onto_surface, surface_nets

Bend = Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, "N 3"]]
"""From the unit cube [-1, 1]^3 to a solid."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A coarse lattice of tetrahedra and the fine surface that rides on it."""

    nodes: Float[np.ndarray, "N 3"]
    tetrahedra: Int[np.ndarray, "M 4"]
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    weights: Float[np.ndarray, "V N"]
    """How much each vertex follows each node."""

    @property
    def volume(self) -> float:
        sides = self.nodes[self.tetrahedra[:, 1:]] - self.nodes[self.tetrahedra[:, :1]]
        return float(np.abs(np.linalg.det(sides)).sum()) / 6.0

    def moved(self, matrix: Float[np.ndarray, "4 4"]) -> Solid:
        nodes, vertices = (lie.apply(matrix, points) for points in (self.nodes, self.vertices))
        return Solid(nodes, self.tetrahedra, vertices, self.faces, self.weights)

    def ride(self, frames: Float[np.ndarray, "T N 3"], floor: float | None = None) -> Float[np.ndarray, "T V 3"]:
        """Where the surface is when the nodes are at ``frames``; it is pressed flat on a ``floor`` [m], if any.

        Contact is felt by the nodes alone, so that a surface between them could reach a little below.
        """
        moved = self.vertices + np.einsum("vn,tnk->tvk", self.weights, frames - self.nodes, optimize=True)
        if floor is not None:
            moved[..., 1] = np.maximum(moved[..., 1], floor)
        return moved

    def follow(
        self, points: Float[np.ndarray, "P 3"], frames: Float[np.ndarray, "T N 3"]
    ) -> Float[np.ndarray, "T P 3"]:
        """Where points on or near the solid go."""
        return points + np.einsum("vn,tnk->tvk", smooth_weights(self.nodes, points), frames - self.nodes, optimize=True)


def bent_box(bend: Bend, coarse: tuple[int, int, int], fine: tuple[int, int, int], core: Bend | None = None) -> Solid:
    """A solid that is the image of a cube, lattice and surface alike.

    ``core`` bends the lattice instead, where the surface bends so sharply that tetrahedra would be crushed.
    """
    lattice = BoxGrid(coarse)
    parameters, faces = BoxGrid(fine).surface()
    return Solid(
        (core or bend)(lattice.points), lattice.tetrahedra, bend(parameters), faces, lattice.weights(parameters)
    )


def field_solid(field: Field, bounds: Float[np.ndarray, "2 3"], coarse: float, fine: float) -> Solid:
    """A solid given by a distance field: ``coarse`` and ``fine`` are the spacings of lattice and surface [m]."""
    vertices, faces = surface_nets(field, bounds, fine)
    nodes, tetrahedra = _fitted_lattice(field, bounds, coarse)
    return Solid(nodes, tetrahedra, vertices, faces, smooth_weights(nodes, vertices))


def smooth_weights(nodes: Float[np.ndarray, "N 3"], points: Float[np.ndarray, "P 3"], count: int = 14) -> np.ndarray:
    """Moving-least-squares weights: smooth, and exact for every affine motion of the nodes."""
    near, local = affine_weights(nodes, points, count)
    weights = np.zeros((len(points), len(nodes)))
    np.put_along_axis(weights, near, local, axis=1)
    return weights


def _fitted_lattice(field: Field, bounds: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells whose middle is inside, their outer points drawn onto the surface so that contact happens there."""
    axes = grid_axes(bounds, spacing)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    middles = points[:-1, :-1, :-1] + spacing / 2
    keep = (field(middles.reshape(-1, 3)) < 0.15 * spacing).reshape(middles.shape[:3])
    tetrahedra = cell_tetrahedra(np.arange(points[..., 0].size).reshape(points.shape[:3]), keep)
    used, inverse = np.unique(tetrahedra, return_inverse=True)
    nodes, tetrahedra = points.reshape(-1, 3)[used], inverse.reshape(-1, 4)
    outside = field(nodes) > 0
    nodes[outside] = onto_surface(field, nodes[outside])
    sides = nodes[tetrahedra[:, 1:]] - nodes[tetrahedra[:, :1]]
    good = np.linalg.det(sides) > 0.12 * spacing**3
    used, inverse = np.unique(tetrahedra[good], return_inverse=True)
    return nodes[used], inverse.reshape(-1, 4)


def ellipsoid(center: tuple[float, float, float] | np.ndarray, radii: tuple[float, float, float] | np.ndarray) -> Field:
    c, r = np.asarray(center, dtype=np.float64), np.asarray(radii, dtype=np.float64)

    def field(x: np.ndarray) -> np.ndarray:
        scaled = np.linalg.norm((x - c) / r, axis=1)
        slope = np.linalg.norm((x - c) / r**2, axis=1) + 1e-9
        return scaled * (scaled - 1.0) / slope

    return field


def limb(start: np.ndarray, end: np.ndarray, radius: float, end_radius: float | None = None) -> Field:
    """A capsule between two points, thicker or thinner towards its end."""
    a, along = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64) - start
    tip = radius if end_radius is None else end_radius

    def field(x: np.ndarray) -> np.ndarray:
        t = np.clip((x - a) @ along / (along @ along), 0.0, 1.0)
        return np.linalg.norm(x - a - t[:, None] * along, axis=1) - (radius + (tip - radius) * t)

    return field


def blend(fields: list[Field], softness: float) -> Field:
    """All of them, with fillets of about ``softness`` [m] where they meet."""

    def field(x: np.ndarray) -> np.ndarray:
        values = np.stack([f(x) for f in fields])
        low = values.min(axis=0)
        return low - softness * np.log(np.exp(-(values - low) / softness).sum(axis=0))

    return field
