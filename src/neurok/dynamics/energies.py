"""Potential energies of an object. Each is a small class; a plain function of positions qualifies.

An energy maps vertex positions [m] to joules, differentiably in torch. Those that concern few vertices, or the
coordinates themselves, can also say so and give their gradient in closed form; the simulator then steps faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from neurok.core.mesh import frozen_array
from neurok.core.material import MaterialField
from neurok.core.mesh import Mesh
from neurok.dynamics.condition import check_positive
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas

if TYPE_CHECKING:
    from torch import Tensor


@runtime_checkable
class Energy(Protocol):
    """Maps vertex positions ``(V, 3)`` [m] to one differentiable number [J]."""

    def __call__(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class PointEnergy(Protocol):
    """An energy of some vertices with a closed-form gradient.

    It may also have ``curvature(x, slopes)``: a positive approximation of its second derivatives [J], where the
    positions ``x`` (n, 3) of the vertices change by ``slopes`` (n, 3, D). Without it, differences are taken.
    """

    vertices: Int[np.ndarray, " n"]

    def evaluate(self, x: Float[np.ndarray, "B n 3"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B n 3"]]:
        """Energies [J] and gradients [N] for batches of positions [m] of ``vertices``."""


@runtime_checkable
class CoordinateEnergy(Protocol):
    """An energy of the coordinates of the space."""

    def of_coordinates(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B D"]]:
        """Energies [J] and gradients."""


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs between pairs of vertices: zero at the rest lengths, blind to rigid motion."""

    edges: Int[np.ndarray, "E 2"]
    rest_lengths: Float[np.ndarray, " E"]
    """[m]."""

    stiffness: Float[np.ndarray, " E"] | float = 1e3
    """[N/m]."""

    name: str = "springs"

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen_array(self.edges, np.int64, (None, 2), "edges"))
        count = len(self.edges)
        put = {"rest_lengths": self.rest_lengths, "stiffness": self.stiffness}
        for field, value in put.items():
            spread = np.broadcast_to(np.asarray(value, dtype=np.float64), (count,))
            object.__setattr__(self, field, frozen_array(spread, np.float64, (count,), field))
        if count == 0 or not (np.isfinite(self.stiffness).all() and np.min(self.stiffness) >= 0):
            raise NeurokError("Springs need at least one edge and stiffnesses that are zero or positive [N/m].")

    @property
    def vertices(self) -> Int[np.ndarray, " n"]:
        return np.unique(self.edges)

    def evaluate(self, x: Float[np.ndarray, "B n 3"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B n 3"]]:
        ends = np.searchsorted(self.vertices, self.edges)
        along = x[:, ends[:, 0]] - x[:, ends[:, 1]]
        lengths = np.sqrt((along**2).sum(axis=-1) + 1e-300)
        stretch = lengths - self.rest_lengths
        pull = (self.stiffness * stretch / lengths)[..., None] * along
        gradient = np.zeros_like(x)
        for row, change in zip(gradient, pull, strict=True):
            np.add.at(row, ends[:, 0], change)
            np.add.at(row, ends[:, 1], -change)
        return 0.5 * (self.stiffness * stretch**2).sum(axis=-1), gradient


@dataclass(frozen=True, eq=False)
class Membrane:
    """St. Venant–Kirchhoff elasticity of the surface as a thin sheet, with Young's modulus and Poisson's ratio.

    The energy of a triangle of area A and thickness t is t A (μ tr E² + λ'/2 (tr E)²) with Green's strain E in its
    plane and the plane-stress constants of the material. Rigid motion costs nothing.
    """

    faces: Int[np.ndarray, "F 3"]
    """Corners, counted in ``vertices``."""

    vertices: Int[np.ndarray, " n"]
    inverse_frames: Float[np.ndarray, "F 2 2"]
    """Maps the rest edges of each triangle to an orthonormal frame of its plane [1/m]."""

    mu: Float[np.ndarray, " F"]
    """Thickness times area times shear modulus [J]."""

    lam: Float[np.ndarray, " F"]
    name: str = "elastic"

    @staticmethod
    def of(
        mesh: Mesh,
        materials: MaterialField,
        thickness: float | Float[np.ndarray, " F"],
        faces: Int[np.ndarray, " n"] | None = None,
        areas: Float[np.ndarray, " n"] | None = None,
    ) -> Membrane:
        """The sheet of a mesh.

        Args:
            mesh: At rest.
            materials: Of its vertices.
            thickness: Of the sheet, or of each face, in mesh units.
            faces: Those that stand for the whole; by default all.
            areas: What each of these stands for, in mesh units squared; by default its own area.
        """
        thickness = np.broadcast_to(np.asarray(thickness, dtype=np.float64), (mesh.face_count,))
        check_positive(float(thickness.min(initial=1.0)), "thickness")
        chosen = np.arange(mesh.face_count) if faces is None else faces
        own = mesh.unit**2 * face_areas(mesh.vertices, mesh.faces[chosen])
        area = own if areas is None else mesh.unit**2 * areas
        keep = own > 1e-12 * max(float(own.max(initial=0.0)), 1e-300)
        corners, area, thick = mesh.faces[chosen][keep], area[keep], thickness[chosen][keep]
        a, b, c = (mesh.unit * mesh.vertices[corners[:, i]] for i in range(3))
        length = np.linalg.norm(b - a, axis=1)
        across = ((c - a) * (b - a)).sum(axis=1) / length
        height = np.linalg.norm(np.cross(b - a, c - a), axis=1) / length
        frames = np.stack([np.stack([length, across], -1), np.stack([np.zeros_like(length), height], -1)], axis=1)
        young, poisson = materials.young[corners].mean(axis=1), materials.poisson[corners].mean(axis=1)
        weight = mesh.unit * thick * area
        vertices = np.unique(corners)
        return Membrane(
            np.searchsorted(vertices, corners),
            vertices,
            np.linalg.inv(frames),
            weight * young / (2 * (1 + poisson)),
            weight * young * poisson / (1 - poisson**2),
        )

    @cached_property
    def _gradients(self) -> Any:
        """Sparse: from positions to the two columns of each triangle's deformation gradient."""
        count = len(self.faces)
        columns = np.stack([-self.inverse_frames.sum(axis=1), self.inverse_frames[:, 0], self.inverse_frames[:, 1]], 1)
        rows = np.broadcast_to(np.arange(2 * count).reshape(count, 1, 2), (count, 3, 2))
        corners = np.broadcast_to(self.faces[:, :, None], (count, 3, 2))
        shape = (2 * count, len(self.vertices))
        return csr_array((columns.reshape(-1), (rows.reshape(-1), corners.reshape(-1))), shape=shape)

    def strains(self, x: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B F 2 2"]:
        """Green's strain of each triangle."""
        return _strain(self._stretches(x))

    def _stretches(self, x: Float[np.ndarray, "B n 3"]) -> Float[np.ndarray, "B F 2 3"]:
        columns = self._gradients @ np.moveaxis(x, 0, 1).reshape(x.shape[1], -1)
        return np.moveaxis(columns.reshape(len(self.faces), 2, len(x), 3), 2, 0)

    def _stresses(self, strain: Float[np.ndarray, "*B F 2 2"]) -> Float[np.ndarray, "*B F 2 2"]:
        trace = np.trace(strain, axis1=-2, axis2=-1)
        return 2 * self.mu[:, None, None] * strain + (self.lam * trace)[..., None, None] * np.eye(2)

    def evaluate(self, x: Float[np.ndarray, "B n 3"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B n 3"]]:
        stretch = self._stretches(x)
        strain = _strain(stretch)
        stress = self._stresses(strain)
        energy = 0.5 * (stress * strain).sum(axis=(-1, -2, -3))
        pull = np.moveaxis(stress @ stretch, 0, 2).reshape(2 * len(self.faces), -1)
        gradient = (self._gradients.T @ pull).reshape(len(self.vertices), len(x), 3)
        return energy, np.moveaxis(gradient, 1, 0)

    def curvature(self, x: Float[np.ndarray, "n 3"], slopes: Float[np.ndarray, "n 3 D"]) -> Float[np.ndarray, "D D"]:
        """Positive part of the second derivatives, as far as positions ``x`` change by ``slopes``: Gauss–Newton."""
        stretch = self._stretches(x[None])[0]
        count, dim = len(self.faces), slopes.shape[-1]
        change = (self._gradients @ slopes.reshape(len(x), -1)).reshape(count, 2, 3, dim)
        along = np.einsum("fki,flid->fkld", stretch, change)
        strain = 0.5 * (along + along.swapaxes(1, 2))
        trace = np.trace(strain, axis1=1, axis2=2)
        rows = [
            (np.sqrt(2 * self.mu)[:, None, None, None] * strain).reshape(-1, dim),
            np.sqrt(np.maximum(self.lam, 0.0))[:, None] * trace,
        ]
        values, vectors = np.linalg.eigh(self._stresses(_strain(stretch)))
        pulled = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.swapaxes(1, 2)
        rows.append(np.einsum("fkl,flid->fkid", pulled, change).reshape(-1, dim))
        every = np.concatenate(rows)
        return every.T @ every


def _strain(stretch: Float[np.ndarray, "*B F 2 3"]) -> Float[np.ndarray, "*B F 2 2"]:
    """Green's strain of deformation gradients, given by their two columns."""
    return 0.5 * (stretch @ stretch.swapaxes(-1, -2) - np.eye(2))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½ qᵀ K q: the elastic energy of a linear space."""

    stiffness: Float[np.ndarray, "D D"]
    """[J]."""

    name: str = "elastic"

    def of_coordinates(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B D"]]:
        gradient = q @ self.stiffness
        return 0.5 * (q * gradient).sum(axis=1), gradient


def energy_name(energy: Any) -> str:
    """How an energy is called in the report."""
    return str(getattr(energy, "name", getattr(energy, "__name__", type(energy).__name__.lower())))
