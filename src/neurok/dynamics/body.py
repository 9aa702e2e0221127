"""One object of a scene: its shape, what it is made of, how heavy it is, where it stands and what is done to it.

How it moves is the business of an engine; the poses that the reduced engine moves it in are one optional field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core.articulation import Articulation, Joint
from neurok.core.asset import Asset
from neurok.core.material import DEFAULT_DENSITY, SHEET_SHARE, Material, MaterialField, check_range
from neurok.core.mesh import Mesh
from neurok.dynamics.condition import Condition, Numbers, check_positive, put_finite
from neurok.errors import NeurokError
from neurok.kinematics.articulated import ArticulatedSpace
from neurok.kinematics.space import KinematicSpace

Thing = Mesh | Articulation | Asset | KinematicSpace
"""What a body can be made of."""


@dataclass(frozen=True, eq=False)
class Body:
    """An object ready to be simulated; ``Body.of`` makes one of a space, an articulation, an asset or a mesh."""

    mesh: Mesh
    """The object at rest."""

    condition: Condition = field(default_factory=Condition)
    space: KinematicSpace | None = None
    """The poses it can take, for engines that move it in these; without them it is rigid there."""

    free: bool = False
    """Whether the whole object can move and turn, or stands fixed on its root."""

    placement: Float[np.ndarray, "4 4"] | None = None
    """Rigid transform from the object's frame to the world's at the start; identity by default."""

    density: float = DEFAULT_DENSITY
    """[kg/m^3], where ``materials`` says nothing."""

    thickness: float | None = None
    """Of open surfaces, in mesh units, since they enclose no volume; by default that of their material's sheets, or 1 %
    of the object's size."""

    materials: MaterialField | None = None
    """What each vertex is made of; by default rubber-like (``Material()``) with the ``density`` above."""

    elastic: bool = True
    """Whether what bends springs back as its material does."""

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

    joint_friction: float | None = None
    """Coefficient of the dry friction of joints: what resists is this times the weight that a joint carries, for hinges
    times the radius of the bearing (5 % of the size of what it carries). By default 0, so that free motion keeps its
    energy, and 0.3 in a world with ground or obstacles. It needs the integrator that takes contact."""

    limit_stiffness: float | None = None
    """Steepness of the well that keeps coordinates inside their limits [J/rad^2 or N/m]; 0 switches limits off,
    by default it follows from the weight."""

    name: str = "object"

    def __post_init__(self) -> None:
        if wrong := check_range("density", self.density):
            raise NeurokError(f"{wrong[0]}.")
        check_positive(self.thickness, "thickness")
        for name in ("damping", "joint_damping", "joint_friction", "limit_stiffness"):
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
        count = self.mesh.vertex_count
        if self.space is not None and self.space.rest.vertex_count != count:
            raise NeurokError(
                f"The space of '{self.name}' moves {self.space.rest.vertex_count} vertices, but the mesh has {count}."
            )
        if self.masses is not None:
            put_finite(self, "masses", self.masses, (count,))
            if self.masses.min() < 0 or self.masses.sum() <= 0:
                raise NeurokError(f"The masses of '{self.name}' must not be negative and must not all be zero.")
        if self.materials is not None and len(self.materials.ids) != count:
            raise NeurokError(
                f"The materials of '{self.name}' name {len(self.materials.ids)} vertices, but the mesh has {count}."
            )

    @staticmethod
    def of(thing: Thing, condition: Condition | None = None, **fields: Any) -> Body:
        """The body of a space, an articulation, an asset (its joints and materials) or a mesh (rigid).

        Args:
            thing: What it is made of; an asset without joints is rigid.
            condition: How it starts and what acts on it.
            fields: Further fields of ``Body``.
        """
        fields = {"condition": Condition() if condition is None else condition, **fields}
        if isinstance(thing, Asset):
            fields = {"materials": thing.materials, **fields}
            thing = thing.mesh if thing.articulation is None else thing.articulation
        if isinstance(thing, Articulation):
            thing = ArticulatedSpace(thing)
        return Body(thing, **fields) if isinstance(thing, Mesh) else Body(thing.rest, space=thing, **fields)

    @cached_property
    def poses(self) -> KinematicSpace:
        """Its space, or the one pose it has where there is none."""
        if self.space is not None:
            return self.space
        return ArticulatedSpace(Articulation(self.mesh, (Joint(),) * self.mesh.part_count, name=self.mesh.name))

    @property
    def shell_thickness(self) -> float:
        """Of open surfaces whose material names none, in mesh units."""
        return SHEET_SHARE * self.mesh.size if self.thickness is None else self.thickness

    @cached_property
    def stuff(self) -> MaterialField:
        """Its materials, or one of the body's density everywhere."""
        if self.materials is not None:
            return self.materials
        return MaterialField.uniform(Material(density=self.density), self.mesh.vertex_count)
