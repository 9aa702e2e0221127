"""Potential energies of an object. Each is a small class; a plain function of positions qualifies.

An energy maps vertex positions [m] to joules, differentiably in torch. Those that concern few vertices, or the
coordinates themselves, can also say so and give their gradient in closed form; the simulator then steps faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from neurok.core.arrays import frozen_array
from neurok.core.material import MaterialField
from neurok.core.mesh import Mesh
from neurok.dynamics.condition import check_positive
from neurok.errors import NeurokError
from neurok.geometry.topology import unique_edges

if TYPE_CHECKING:
    from torch import Tensor


@runtime_checkable
class Energy(Protocol):
    """Maps vertex positions ``(V, 3)`` [m] to one differentiable number [J]."""

    def __call__(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class PointEnergy(Protocol):
    """An energy of some vertices with a closed-form gradient."""

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

    def __call__(self, x: Tensor) -> Tensor:
        import torch

        edges = torch.as_tensor(np.array(self.edges))
        lengths = (x[edges[:, 0]] - x[edges[:, 1]]).norm(dim=-1)
        stretch = lengths - torch.as_tensor(np.array(self.rest_lengths))
        return 0.5 * (torch.as_tensor(np.array(self.stiffness)) * stretch**2).sum()


@dataclass(frozen=True, eq=False)
class Anchors:
    """Springs of zero length from vertices to fixed places of the world."""

    vertices: Int[np.ndarray, " n"]
    places: Float[np.ndarray, "n 3"]
    """[m]."""

    stiffness: float = 1e3
    """[N/m]."""

    name: str = "anchors"

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", frozen_array(self.vertices, np.int64, (None,), "vertices"))
        object.__setattr__(self, "places", frozen_array(self.places, np.float64, (len(self.vertices), 3), "places"))
        check_positive(self.stiffness, "stiffness")

    def evaluate(self, x: Float[np.ndarray, "B n 3"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B n 3"]]:
        gaps = x - self.places
        return 0.5 * self.stiffness * (gaps**2).sum(axis=(1, 2)), self.stiffness * gaps

    def __call__(self, x: Tensor) -> Tensor:
        import torch

        gaps = x[torch.as_tensor(np.array(self.vertices))] - torch.as_tensor(np.array(self.places))
        return 0.5 * self.stiffness * (gaps**2).sum()


def elastic_stretch(mesh: Mesh, stiffness: float = 1e3, limit: int = 2000) -> Springs:
    """Springs along the edges of a mesh: a part that moves rigidly feels nothing, a bent cushion springs back.

    At most ``limit`` edges are kept, evenly spread, each standing for its share.
    """
    edges = unique_edges(mesh.faces)
    if len(edges) > limit:
        edges = edges[np.linspace(0, len(edges) - 1, limit).astype(np.int64)]
    lengths = mesh.unit * np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    keep = lengths > 0
    return Springs(edges[keep], lengths[keep], stiffness, "stretch")


@dataclass(frozen=True, eq=False)
class Membrane:
    """St. Venant–Kirchhoff elasticity of the surface as a thin sheet, with Young's modulus and Poisson's ratio.

    The energy of a triangle of area A and thickness t is t A (μ tr E² + λ'/2 (tr E)²) with Green's strain E in its
    plane and the plane-stress constants of the material. Rigid motion costs nothing.
    """

    faces: Int[np.ndarray, "F 3"]
    vertices: Int[np.ndarray, " n"]
    inverse_frames: Float[np.ndarray, "F 2 2"]
    """Maps the rest edges of each triangle to an orthonormal frame of its plane [1/m]."""

    mu: Float[np.ndarray, " F"]
    """Thickness times area times shear modulus [J]."""

    lam: Float[np.ndarray, " F"]
    name: str = "membrane"

    @staticmethod
    def of(mesh: Mesh, materials: MaterialField, thickness: float, limit: int = 20000) -> Membrane:
        """The sheet of a mesh, ``thickness`` in mesh units; beyond ``limit`` triangles an even choice stands in."""
        check_positive(thickness, "thickness")
        a, b, c = (mesh.unit * mesh.vertices[mesh.faces[:, i]] for i in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        good = np.flatnonzero(area > 1e-12 * area.max())
        chosen = good if len(good) <= limit else good[np.linspace(0, len(good) - 1, limit).astype(np.int64)]
        share = area[good].sum() / area[chosen].sum()
        a, b, c, area, corners = a[chosen], b[chosen], c[chosen], area[chosen] * share, mesh.faces[chosen]
        length = np.linalg.norm(b - a, axis=1)
        across = ((b - a) * (c - a)).sum(axis=1) / length
        height = np.linalg.norm(np.cross(b - a, c - a), axis=1) / length
        frames = np.stack([np.stack([length, across], -1), np.stack([np.zeros_like(length), height], -1)], axis=1)
        young, poisson = materials.young[corners].mean(axis=1), materials.poisson[corners].mean(axis=1)
        weight = thickness * mesh.unit * area
        vertices = np.unique(corners)
        return Membrane(
            np.searchsorted(vertices, corners),
            vertices,
            np.linalg.inv(frames),
            weight * young / (2 * (1 + poisson)),
            weight * young * poisson / (1 - poisson**2),
        )

    def evaluate(self, x: Float[np.ndarray, "B n 3"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B n 3"]]:
        a, b, c = (x[:, self.faces[:, i]] for i in range(3))
        stretch = np.stack([b - a, c - a], axis=-1) @ self.inverse_frames
        strain = 0.5 * (stretch.swapaxes(-1, -2) @ stretch - np.eye(2))
        trace = np.trace(strain, axis1=-2, axis2=-1)
        energy = (self.mu * (strain**2).sum(axis=(-1, -2)) + 0.5 * self.lam * trace**2).sum(axis=-1)
        stress = 2 * self.mu[:, None, None] * strain + (self.lam * trace)[..., None, None] * np.eye(2)
        pull = stretch @ stress @ self.inverse_frames.swapaxes(-1, -2)
        gradient = np.zeros_like(x)
        for row, change in zip(gradient, pull, strict=True):
            np.add.at(row, self.faces[:, 1], change[..., 0])
            np.add.at(row, self.faces[:, 2], change[..., 1])
            np.add.at(row, self.faces[:, 0], -change.sum(axis=-1))
        return energy, gradient

    def __call__(self, x: Tensor) -> Tensor:
        import torch

        x = x[torch.as_tensor(np.array(self.vertices))]
        a, b, c = (x[torch.as_tensor(np.array(self.faces[:, i]))] for i in range(3))
        stretch = torch.stack([b - a, c - a], dim=-1) @ torch.as_tensor(np.array(self.inverse_frames))
        strain = 0.5 * (stretch.mT @ stretch - torch.eye(2, dtype=x.dtype))
        trace = strain.diagonal(dim1=-2, dim2=-1).sum(-1)
        mu, lam = torch.as_tensor(np.array(self.mu)), torch.as_tensor(np.array(self.lam))
        return (mu * (strain**2).sum(dim=(-1, -2)) + 0.5 * lam * trace**2).sum()


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½ qᵀ K q: the elastic energy of a linear space."""

    stiffness: Float[np.ndarray, "D D"]
    """[J]."""

    name: str = "elastic"

    def of_coordinates(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B D"]]:
        gradient = q @ self.stiffness
        return 0.5 * (q * gradient).sum(axis=1), gradient


@dataclass(frozen=True, eq=False)
class PriorWell:
    """Flat within ``radius`` of a centre (in units of ``scale``), rising smoothly outside: a learned space's limits."""

    center: Float[np.ndarray, " D"]
    scale: Float[np.ndarray, " D"]
    radius: float = 3.0
    stiffness: float = 1.0
    """[J]: the energy at twice the radius is a third of this."""

    name: str = "prior"

    def of_coordinates(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B D"]]:
        offset = (q - self.center) / self.scale
        distance = np.sqrt((offset**2).sum(axis=1))
        depth = np.maximum(distance / self.radius - 1.0, 0.0)
        slope = self.stiffness * depth**2 / self.radius / np.maximum(distance, 1e-300)
        return self.stiffness * depth**3 / 3.0, slope[:, None] * offset / self.scale


def energy_name(energy: Any) -> str:
    """How an energy is called in the report."""
    return str(getattr(energy, "name", getattr(energy, "__name__", type(energy).__name__.lower())))
