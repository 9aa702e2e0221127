"""One object of a scene: its space of poses, its mass, its own energies, and what is done to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core.material import MaterialField
from neurok.dynamics.condition import Condition, Numbers, check_positive, put_finite
from neurok.errors import NeurokError
from neurok.kinematics.space import KinematicSpace


@dataclass(frozen=True, eq=False)
class Body:
    """An object ready to be simulated."""

    space: KinematicSpace
    condition: Condition = field(default_factory=Condition)
    free: bool = False
    """Whether the whole object can move and turn, or stands fixed on its root."""

    placement: Float[np.ndarray, "4 4"] | None = None
    """Rigid transform from the object's frame to the world's at the start; identity by default."""

    density: float = 500.0
    """[kg/m^3], where ``materials`` says nothing; 500 is wood."""

    thickness: float | None = None
    """Of open surfaces, in mesh units, since they enclose no volume; 1 % of the object's size by default."""

    materials: MaterialField | None = None
    masses: Numbers | None = None
    """Mass of each vertex [kg]; replaces density and thickness."""

    energies: Sequence[Any] = ()
    """Further potential energies; see ``neurok.dynamics.energies.Energy``. A plain function of positions will do."""

    damping: float = 0.0
    """Rayleigh damping in proportion to mass [1/s], besides the damping of the joints."""

    joint_damping: float | None = None
    """Rate at which the motion of joints dies away where they name no damping of their own [1/s]. By default 0, so
    that free motion keeps its energy, and 4 in a world with ground or obstacles: real hinges and drawers rub, and
    an object could never come to rest otherwise."""

    limit_stiffness: float | None = None
    """Steepness of the well that keeps coordinates inside their limits [J/rad^2 or N/m]; 0 switches limits off,
    by default it follows from the weight."""

    name: str = "object"

    def __post_init__(self) -> None:
        check_positive(self.density, "density")
        check_positive(self.thickness, "thickness")
        for name in ("damping", "joint_damping", "limit_stiffness"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise NeurokError(f"{name} must be zero or positive, got {value}.")
        if self.placement is not None:
            put_finite(self, "placement", self.placement, (4, 4))
            rotation = self.placement[:3, :3]
            if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) or np.linalg.det(rotation) < 0:
                raise NeurokError(
                    f"The placement of '{self.name}' must be a rotation and a translation, without scale."
                )
        if self.masses is not None:
            put_finite(self, "masses", self.masses, (self.space.rest.vertex_count,))
            if self.masses.min() < 0 or self.masses.sum() <= 0:
                raise NeurokError(f"The masses of '{self.name}' must not be negative and must not all be zero.")
        if self.materials is not None and len(self.materials.ids) != self.space.rest.vertex_count:
            raise NeurokError(
                f"The materials of '{self.name}' name {len(self.materials.ids)} vertices, "
                f"but the mesh has {self.space.rest.vertex_count}."
            )
