"""From materials to constitutive laws: what each particle is for the solver, and what is too stiff to be stepped.

What yields is said by the material field, as for the reduced engine; of that, what its own weight deforms by less than
``visible_sag`` of its size looks rigid. For a block that is g L ρ / E, for a sheet 1.5 g L ρ / E (L / t)².
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.material import STANDARD_GRAVITY, MaterialField
from neurok.dynamics.particles.state import Law
from neurok.kinematics.elastic import ELASTIC_SPACE

VISIBLE_SAG = ELASTIC_SPACE.visible_sag
"""Solids that sag less under their weight, as a share of their size, are rigid; the same as for soft bodies."""

FLOPPY_SAG = 0.05
"""Sheets that sag less as a flat strip are rigid: those that stand up are curved, which a strip does not know."""

CLAMPED_YIELD = 0.03
"""Largest strain at which something clamped yields: it would spring back for ever otherwise."""

POISSON = 0.45
"""Largest Poisson's ratio: 0.49 would take twice the steps, and a hundredth of volume cannot be seen."""

FLUID_SPEED = 10.0
"""Speed of sound of a fluid, in speeds it reaches by falling over its object's size: its density then stays within a
hundredth, as is usual for weakly compressible fluids."""

FLUID_VISCOSITY = 1e-3
"""Of fluids [Pa s]: that of water."""

DAMPING_SHARE = 0.5
"""Of the largest viscosity that does not shorten the step."""

VISCOUS_COURANT = 0.15 / 0.4
"""Largest η / (ρ c dx) that does not: the solver's limits for viscosity and for sound."""

LOWEST_MODE = math.pi / 2
"""Rate of the squash in a fall, in speeds of sound over three volumes by area: that of a bar along a cube, and of a
slab on the ground through its thickness. At this rate damping ratios hold."""

HARDENING = 0.1
"""Of what yields, as a share of Young's modulus: common for annealed metals up to some percent of strain."""

FOAM_TIME = 0.05
"""In which crushed foam comes to its yield stress [s]."""

DAMP = ("soil", "snow", "wet sand")
"""Granular materials by name that hold together a little: others have no cohesion ..."""

DAMP_COHESION = 300.0
"""... by this much [Pa]: garden soil."""


SOLID, SHEET, SHELL = 0, 1, 2
"""How a particle's piece of the mesh is filled: by volume, as a sheet, or as a rigid shell."""

LOOSE = ("sand", "fluid")
"""Kinds whose particles part from each other."""


def stiff_solids(materials: MaterialField, size: float, stiffest: float | None = None) -> Bool[np.ndarray, " n"]:
    """Which points of solids are rigid; ``size`` is the object's [m]."""
    speed2 = materials.young / materials.density
    stiff = (stiffest is None) & ((speed2 > STANDARD_GRAVITY * size / VISIBLE_SAG) | ~materials.is_soft)
    return np.asarray((stiff & ~np.isin(materials.kind, LOOSE)) | (materials.kind == "rigid"))


def stiff_sheets(
    materials: MaterialField, thickness: Float[np.ndarray, " n"], size: Float[np.ndarray, " n"]
) -> Bool[np.ndarray, " n"]:
    """Which points of sheets are rigid; ``size`` and ``thickness`` of what each is in [m]."""
    slender = (size / np.maximum(thickness, 1e-300)) ** 2
    sag = 1.5 * STANDARD_GRAVITY * size * materials.density / materials.young * slender
    return np.asarray((sag < FLOPPY_SAG) | ~materials.is_soft | np.isin(materials.kind, LOOSE))


def plane_young(materials: MaterialField, size: float, stretch: float) -> Float[np.ndarray, " n"]:
    """Young's modulus of sheets in their plane [Pa]: as much as keeps their own weight from stretching them visibly."""
    return np.minimum(materials.young, STANDARD_GRAVITY * size * materials.density / stretch)


def material_parameters(
    materials: MaterialField,
    fill: Int[np.ndarray, " P"],
    rigid: Bool[np.ndarray, " P"],
    size: float,
    depth: Float[np.ndarray, " P"],
    cell: float,
    stiffest: float | None = None,
) -> tuple[dict[str, np.ndarray], Float[np.ndarray, " P"]]:
    """Law and constants of particles, by their names in `ParticleSet`, and the rate at which motion within the body
    dies away [1/s], the damping of its lowest mode.

    They are in an object of this ``size``, on cells of this width [m].
    ``depth`` is three times the volume by the area of the piece that each is in [m].
    """
    kind, density = materials.kind, materials.density
    yields = ~np.isnan(materials.yield_stress)
    law = np.full(len(kind), int(Law.ELASTIC))
    law[np.isin(kind, ("metal", "plasticine")) & yields] = Law.METAL
    law[(kind == "foam") & yields] = Law.FOAM
    law[kind == "sand"] = Law.GRANULAR
    law[kind == "fluid"] = Law.FLUID
    law[fill == SHEET] = Law.SHEET
    law[rigid] = Law.RIGID
    enough = density * STANDARD_GRAVITY * size / VISIBLE_SAG
    most = enough if stiffest is None else np.where(kind == "sand", enough, stiffest)
    young = np.minimum(materials.young, most)
    fall2 = 2.0 * STANDARD_GRAVITY * size
    young = np.where(law == Law.FLUID, density * FLUID_SPEED**2 * fall2, young)
    poisson = np.clip(materials.poisson, -0.9, POISSON)
    strength = np.where(yields, materials.yield_stress, np.float32(3e38).item())
    strength = np.where(young < materials.young, np.minimum(strength, CLAMPED_YIELD * young), strength)
    speed = np.sqrt(young / density)
    viscosity = np.where(law == Law.ELASTIC, _viscosity(materials, young, depth, cell), 0.0)
    viscosity = np.where(law == Law.FLUID, FLUID_VISCOSITY, viscosity)
    viscosity = np.where(law == Law.FOAM, FOAM_TIME * young, viscosity)
    held = np.isin(law, (Law.ELASTIC, Law.METAL, Law.FOAM))
    swing = np.where(law == Law.SHEET, math.sqrt(STANDARD_GRAVITY / size), 0.0)
    swing = np.where(held, LOWEST_MODE * speed / depth, swing)
    names = np.array([material.name for material in materials.materials])[materials.ids]
    angle = np.nan_to_num(materials.friction_angle, nan=math.radians(30.0))
    parameters = {
        "law": law,
        "young": young,
        "poisson": poisson,
        "yield_stress": strength,
        "hardening": np.where(yields & (kind == "metal"), HARDENING * young, 0.0),
        "friction_angle": np.where(law == Law.GRANULAR, angle, 0.0),
        "cohesion": np.where((law == Law.GRANULAR) & np.isin(names, DAMP), DAMP_COHESION, 0.0),
        "viscosity": viscosity,
    }
    return parameters, 2.0 * materials.damping_ratio * swing


def _viscosity(
    materials: MaterialField, young: Float[np.ndarray, " P"], depth: Float[np.ndarray, " P"], cell: float
) -> Float[np.ndarray, " P"]:
    """Of elastic materials [Pa s]: what its damping ratio asks for, as far as the step allows."""
    speed = np.sqrt(young / materials.density)
    wanted = 2.0 * materials.damping_ratio * young * depth / (LOWEST_MODE * speed)
    return np.minimum(wanted, DAMPING_SHARE * VISCOUS_COURANT * materials.density * speed * cell)
