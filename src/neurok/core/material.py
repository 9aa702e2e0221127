"""What an object is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from neurok.core.arrays import frozen_array
from neurok.errors import NeurokError, ShapeError

DEFAULT_DENSITY = 500.0
"""[kg/m^3] where nothing is said about a material: wood."""

MaterialKind = Literal["rigid", "elastic", "metal", "plasticine", "sand", "foam", "fluid"]


@dataclass(frozen=True)
class Material:
    """Constitutive constants at a point."""

    name: str = "generic"
    young: float = 1e6
    """Young's modulus [Pa]."""

    poisson: float = 0.3
    """Poisson's ratio, in (-1, 0.5)."""

    density: float = DEFAULT_DENSITY
    """[kg/m^3]."""

    kind: MaterialKind = "elastic"
    yield_stress: float | None = None
    """[Pa]; only for kinds that yield."""

    friction_angle: float | None = None
    """[rad]; only for granular kinds."""

    def __post_init__(self) -> None:
        wrong = []
        if not (math.isfinite(self.young) and self.young > 0):
            wrong.append(f"young must be positive [Pa], got {self.young}")
        if not -1 < self.poisson < 0.5:
            wrong.append(f"poisson must lie in (-1, 0.5), got {self.poisson}")
        if not (math.isfinite(self.density) and self.density > 0):
            wrong.append(f"density must be positive [kg/m^3], got {self.density}")
        if self.kind not in get_args(MaterialKind):
            wrong.append(f"kind must be one of {', '.join(get_args(MaterialKind))}, got {self.kind!r}")
        if self.yield_stress is not None and not self.yield_stress > 0:
            wrong.append(f"yield_stress must be positive [Pa], got {self.yield_stress}")
        if self.friction_angle is not None and not 0 <= self.friction_angle < math.pi / 2:
            wrong.append(f"friction_angle must lie in [0, pi/2) [rad], got {self.friction_angle}")
        if wrong:
            raise NeurokError(f"Material '{self.name}': " + "; ".join(wrong) + ".")


@dataclass(frozen=True, eq=False)
class MaterialField:
    """Materials over an object: a small library and an index for each vertex."""

    materials: tuple[Material, ...]
    ids: Int[np.ndarray, " V"]

    def __post_init__(self) -> None:
        ids = frozen_array(self.ids, np.int64, (None,), "material ids")
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "materials", tuple(self.materials))
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(self.materials):
            raise ShapeError(f"Material ids must lie in 0..{len(self.materials) - 1}.")

    @staticmethod
    def uniform(material: Material, vertex_count: int) -> MaterialField:
        """One material everywhere."""
        return MaterialField((material,), np.zeros(vertex_count, dtype=np.int64))

    @property
    def density(self) -> Float[np.ndarray, " V"]:
        return np.array([m.density for m in self.materials])[self.ids]

    @property
    def young(self) -> Float[np.ndarray, " V"]:
        return np.array([m.young for m in self.materials])[self.ids]

    @property
    def poisson(self) -> Float[np.ndarray, " V"]:
        return np.array([m.poisson for m in self.materials])[self.ids]
