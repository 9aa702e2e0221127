"""What the particle solver takes: particles with constitutive laws, sheets, what stands around them, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.core.material import STANDARD_GRAVITY
from neurok.errors import NeurokError, ShapeError

Hold = Literal["separate", "slip", "stick"]
Number = float | int
Triple = tuple[Number, Number, Number]


class Law(IntEnum):
    """The constitutive law of a particle."""

    ELASTIC = 0
    """Fixed-corotated hyperelasticity: rubber, jelly, wood that does not break."""

    METAL = 1
    """Hencky elasticity with von Mises yield and linear isotropic hardening: metal, clay, wax."""

    GRANULAR = 2
    """Hencky elasticity with Drucker-Prager yield: sand, soil, snow (with cohesion)."""

    FOAM = 3
    """As metal, but yields at a rate: stress above the yield stress flows with the particle's ``viscosity``."""

    FLUID = 4
    """Weakly compressible and Newtonian; ``young`` is the bulk modulus, ``poisson`` is not read."""

    SHEET = 5
    """A vertex of a sheet: its stress comes from the triangles of a `SheetSet`."""

    RIGID = 6
    """Belongs to the rigid part named by ``rigid``."""


class Row:
    """Where each number of a particle stands in the table of float32: a row per number, a column per particle."""

    POSITION = 0
    REMAINDER = 3
    """What rounding took from the positions: slow motion would stand still without it."""

    VELOCITY = 6
    AFFINE = 9
    """Velocity gradient C of the affine particle-in-cell transfer [1/s], row by row."""

    STATE = 18
    """Nine numbers. Elastic: F - I. Hencky laws: b - I (xx xy xz yy yz zz), plastic strain, kept dilation. Fluid:
    J - 1. Rigid: place in its part. The identity is left out since small strains would drown in its rounding."""

    MASS = 27
    VOLUME = 28
    MU = 29
    LAMBDA = 30
    FIRST = 31
    SECOND = 32
    """Two numbers of the law: see ``law_rows``."""

    VISCOSITY = 33
    DAMPING = 34
    RADIUS = 35
    """How far it reaches around a particle [m]: where it touches."""

    REACH = 36
    """The same towards the first plane, as what is drawn around the particle reaches now [m]."""

    COUNT = 37

    SLACK = 8
    """Columns beyond the last particle, so that eight can always be read."""

    place, remainder, velocity = slice(POSITION, REMAINDER), slice(REMAINDER, VELOCITY), slice(VELOCITY, AFFINE)
    affine, state = slice(AFFINE, STATE), slice(STATE, MASS)


def _filled(value: object, count: int, dtype: type) -> np.ndarray:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=dtype), (count,)))


LEFT_OUT: dict[str, float | int] = {
    "law": int(Law.ELASTIC), "young": 1e5, "poisson": 0.3, "yield_stress": 1e30, "hardening": 0.0,
    "friction_angle": 0.0, "cohesion": 0.0, "viscosity": 0.0, "damping": 0.0, "body": 0, "rigid": -1,
}  # fmt: skip
"""What particles are that nobody says more of."""


@dataclass(frozen=True)
class ParticleSet:
    """Particles at the start, one row each; SI units, any axes. ``ParticleSet.of`` fills in what is left out."""

    positions: Float[np.ndarray, "P 3"]
    velocities: Float[np.ndarray, "P 3"]
    volumes: Float[np.ndarray, " P"]
    """At rest [m³]."""

    masses: Float[np.ndarray, " P"]
    law: Int[np.ndarray, " P"]
    """Members of `Law`."""

    young: Float[np.ndarray, " P"]
    """Young's modulus [Pa]; of a fluid the bulk modulus. Not read for rigid particles and sheets."""

    poisson: Float[np.ndarray, " P"]
    yield_stress: Float[np.ndarray, " P"]
    """Uniaxial [Pa]; metal and foam."""

    hardening: Float[np.ndarray, " P"]
    """Growth of the yield stress with plastic strain [Pa]; metal and foam."""

    friction_angle: Float[np.ndarray, " P"]
    """Inner friction [rad]; granular."""

    cohesion: Float[np.ndarray, " P"]
    """[Pa]; granular."""

    viscosity: Float[np.ndarray, " P"]
    """[Pa s]. Of a fluid, of an elastic solid (Kelvin-Voigt), or of a foam's plastic flow."""

    damping: Float[np.ndarray, " P"]
    """Drag in proportion to mass [1/s]; zero keeps free fall exact."""

    body: Int[np.ndarray, " P"]
    """Which object a particle belongs to, from zero: objects touch with friction and part freely."""

    rigid: Int[np.ndarray, " P"]
    """Which rigid part a particle belongs to, from zero, or -1. All of a part must be of one body."""

    radius: Float[np.ndarray, " P"]
    """How far it reaches around a particle, which is where it touches [m]; sheets have their thickness."""

    def __post_init__(self) -> None:
        count = len(self.positions)
        for item in fields(self):
            array = getattr(self, item.name)
            if len(array) != count:
                raise ShapeError(
                    f"{count} particles need as many rows in '{item.name}', but it has {len(array)}; give one each."
                )
            if not np.isfinite(array).all():
                raise NeurokError(f"'{item.name}' of the particles has values that are not finite; leave those out.")
        if (self.radius < 0).any():
            raise NeurokError("The 'radius' of a particle is zero or more [m].")
        if (self.volumes <= 0).any() or (self.masses <= 0).any():
            raise NeurokError("Every particle needs a volume and a mass above zero; drop those that have none.")
        stiff = ~np.isin(self.law, (Law.SHEET, Law.RIGID))
        if (self.young[stiff] <= 0).any():
            raise NeurokError("Every particle that is neither rigid nor a sheet's needs a 'young' above zero [Pa].")
        if ((self.poisson <= -1) | (self.poisson >= 0.5)).any():
            raise NeurokError("Poisson's ratio must be above -1 and below 0.5; take 0.49 for rubber.")
        if ((self.rigid >= 0) != (self.law == Law.RIGID)).any():
            raise NeurokError("Particles of the law RIGID, and only those, must name a rigid part.")

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def of(
        cls,
        positions: Float[np.ndarray, "P 3"],
        *,
        volumes: Float[np.ndarray, " P"] | float,
        density: Float[np.ndarray, " P"] | float = 1000.0,
        velocities: Float[np.ndarray, "P 3"] | Sequence[Number] = (0.0, 0.0, 0.0),
        radius: Float[np.ndarray, " P"] | float | None = None,
        **given: Any,
    ) -> ParticleSet:
        """Particles from numbers or arrays; ``density`` [kg/m³] times ``volumes`` is the mass, half the cube root of
        these the radius. ``given`` are other fields by name; those left out are as ``LEFT_OUT`` says."""
        if unknown := given.keys() - LEFT_OUT.keys():
            raise NeurokError(f"Particles have no {sorted(unknown)}; there are {', '.join(LEFT_OUT)}.")
        positions = np.ascontiguousarray(positions, dtype=np.float64)
        count = len(positions)
        volume = _filled(volumes, count, float)
        return cls(
            positions=positions,
            velocities=np.ascontiguousarray(np.broadcast_to(np.asarray(velocities, dtype=float), (count, 3))),
            volumes=volume,
            masses=volume * _filled(density, count, float),
            radius=0.5 * np.cbrt(volume) if radius is None else _filled(radius, count, float),
            **{name: _filled(given.get(name, value), count, type(value)) for name, value in LEFT_OUT.items()},
        )

    @classmethod
    def join(cls, sets: Sequence[ParticleSet]) -> ParticleSet:
        """Several sets as one, in this order; bodies and rigid parts keep the numbers they were given."""
        return cls(*(np.concatenate([getattr(part, item.name) for part in sets]) for item in fields(cls)))


@dataclass(frozen=True)
class SheetSet:
    """Triangles over particles of the law SHEET, which are the mesh's own vertices."""

    triangles: Int[np.ndarray, "T 3"]
    """Particle numbers."""

    thickness: Float[np.ndarray, " T"]
    """[m]"""

    young: Float[np.ndarray, " T"]
    poisson: Float[np.ndarray, " T"]
    rest: Float[np.ndarray, "P 3"]
    """Where all particles are at rest [m]; only rows of sheet vertices are read. Its creases are kept."""

    damping: float = 0.0
    """Of the rate of membrane strain [s] (Kelvin-Voigt time): stress = C (strain + damping · rate)."""

    narrow: float = 0.0
    """Hinges with a shorter arm than this [m] bend more easily, by the fourth power of what it lacks: they would need
    shorter steps than all others."""

    @classmethod
    def of(
        cls,
        triangles: Int[np.ndarray, "T 3"],
        rest: Float[np.ndarray, "P 3"],
        *,
        thickness: Float[np.ndarray, " T"] | float,
        young: Float[np.ndarray, " T"] | float,
        poisson: Float[np.ndarray, " T"] | float = 0.3,
        damping: float = 0.0,
        narrow: float = 0.0,
    ) -> SheetSet:
        """Sheets from numbers or arrays."""
        count = len(triangles)
        return cls(
            np.ascontiguousarray(triangles, dtype=np.int64),
            _filled(thickness, count, float),
            _filled(young, count, float),
            _filled(poisson, count, float),
            np.ascontiguousarray(rest, dtype=np.float64),
            damping,
            narrow,
        )


@dataclass(frozen=True)
class Plane:
    """A half space that particles stay out of: ``normal`` points to where they may be."""

    point: Triple
    normal: Triple
    friction: float = 0.5
    """Coulomb's coefficient; read where ``hold`` is ``separate``."""

    hold: Hold = "separate"
    """``separate``: no way in, friction, free to leave. ``slip``: neither in nor out. ``stick``: fast where it is."""


@dataclass(frozen=True)
class Obstacle:
    """A solid that does not move, as signed distances [m] at the nodes of a grid (negative inside)."""

    distances: Float[np.ndarray, "I J K"]
    origin: Triple
    """Where node (0, 0, 0) is [m]."""

    spacing: float
    """Between nodes [m]."""

    friction: float = 0.5
    hold: Hold = "separate"


@dataclass(frozen=True)
class Surroundings:
    """Gravity, and what does not move."""

    gravity: Triple = (0.0, -STANDARD_GRAVITY, 0.0)
    """[m/s²]"""

    planes: tuple[Plane, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    body_friction: float = 0.5
    """Coulomb's coefficient between objects."""

    domain: tuple[Triple, Triple] | None = None
    """Lowest and highest corner of where anything may be [m]; what leaves it is frozen and counted. Without one it is
    a box around the particles, wider by ``solver.DOMAIN_MARGIN`` times their size."""


@dataclass(frozen=True, eq=False)
class SoftSkin:
    """Points of the drawn surface of solids that bend, as particles carry them: they touch planes."""

    weights: Any
    """Sparse (points × particles); rows sum to one."""

    leader: Int[np.ndarray, " n"]
    """The particle that each point follows most."""

    @classmethod
    def join(cls, skins: Sequence[SoftSkin], counts: Sequence[int]) -> SoftSkin:
        """Of several objects, whose particles come one after the other."""
        from scipy.sparse import block_diag, csr_matrix

        starts = np.cumsum([0, *counts])
        leaders = [skin.leader + start for skin, start in zip(skins, starts, strict=False)]
        weights = csr_matrix(block_diag([skin.weights for skin in skins], format="csr"))
        return cls(weights, np.concatenate([np.zeros(0, dtype=np.int64), *leaders]))

    def reaches(
        self, heights: Float[np.ndarray, " P"], radius: Float[np.ndarray, " P"], near: float, most: float
    ) -> Float[np.ndarray, " P"]:
        """How far each particle reaches down, where particles have these heights above a plane [m].

        Only points lower than ``near`` are looked at; nothing reaches farther than ``most``.
        """
        low = self.weights @ heights
        chosen = np.flatnonzero(low < near)
        if not len(chosen):
            return radius
        out, leader = radius.copy(), self.leader[chosen]
        out[leader] = 0.0
        np.maximum.at(out, leader, np.clip(heights[leader] - low[chosen], 0.0, most))
        return out
