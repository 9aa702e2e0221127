"""Every number of the particle engine that is not the solver's own, with unit and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from neurok.dynamics.particles.carrying import CARRY, CarryConfig
from neurok.dynamics.particles.config import DEFAULT, SolverConfig
from neurok.dynamics.particles.filling import FILLING, FillingConfig
from neurok.dynamics.particles.grains import GRAINS, GrainConfig
from neurok.dynamics.particles.skin import SKIN, SkinConfig
from neurok.errors import NeurokError

ResolutionName = Literal["coarse", "medium", "fine"]

RESOLUTIONS: Mapping[str, int] = MappingProxyType({"coarse": 14, "medium": 24, "fine": 40})
"""Cells along the longest side of the largest object. Four across a part bend it within 1 %, two within 5 %."""


@dataclass(frozen=True)
class ParticleEngineConfig:
    """How objects become particles, how they are driven, and what is too much."""

    cells: int = RESOLUTIONS["medium"]
    """Along the longest side of the largest object."""

    smallest_cells: int = 6
    """The same of the smallest object at least: cells are made up to ``refine`` times smaller for it."""

    refine: float = 2.0
    load_step: float = 1e-3
    """Time between two looks at what pushes: wind, forces, damping [s]. Gusts and hands change more slowly."""

    free_step: float = 1e-2
    """The same where nothing does [s]: progress is told that often."""

    joined: float = 1.05
    """Stiff particles closer than this are of one rigid part [cells]: nothing could pass between them anyway."""

    fewest_rigid: int = 6
    """Rigid parts of fewer particles are made of something soft instead: they have no inertia to speak of."""

    held: float = 0.75
    """Particles this close to a held vertex are held [cells]."""

    grab_sag: float = 0.02
    """By how much the springs of a grab that names no stiffness give way under the object's weight [sizes]; as in the
    reduced engine. Pins and drags that name none hold hard."""

    apart: float = 1.2
    """Pieces of one object farther from each other than this at the start touch as objects do [cells] ..."""

    apart_share: float = 0.05
    """... if they have at least this share of its particles; smaller ones go with their neighbour."""

    led_share: float = 0.2
    """A stiff part that is held over this share of its size cannot turn: it is led as a whole."""

    narrow: float = 0.5
    """Triangles of sheets lower than this are softened in their plane, and hinges with shorter arms in bending, so that
    they take the steps of this height [cells]: the tip of a leaf carries little but itself."""

    sheet_damping: float = 0.3
    """Of sheets against the rate of their strain, in steps: what explicit steps bear."""

    base: float = 1.0
    """Layer at the bottom that is held where an object stands fixed and nothing is pinned [cells]."""

    spring_phase: float = 0.3
    """Largest ω dt of a spring on the particles it holds: beyond, explicit steps would ring."""

    relax_phase: float = 0.2
    """Largest share of the motion within a body that one ``load_step`` may take."""

    far: float = 50.0
    """An object this many sizes away has left the scene; as in the reduced engine."""

    wind_faces: int = 400
    """Faces of one object that feel the wind: an area-weighted choice, as in the reduced engine, but finer."""

    field_cells: int = 96
    """Most cells of an obstacle's distance field along its longest side."""

    speed: float = 6e6
    """Particle-substeps per second and core, of a common laptop with all overheads; replaced by what is measured as
    soon as something is."""

    launch: float = 2e-3
    """Time that one substep takes however few its particles are [s]: contact is looked for between them. Measured with
    1,000 to 4,000 particles of a bag and a pillow on two cores."""

    long: float = 20.0
    """From this estimate on the cost is told before the run [s]."""

    longest: float = 4 * 3600.0
    """Runs estimated to take longer are refused [s]: nobody waits for what may hang."""

    memory_share: float = 0.6
    """Of the free memory that a run may take."""

    particle_bytes: int = 400
    """Of one particle in all arrays, the solver's and ours [bytes]."""

    filling: FillingConfig = FILLING
    carry: CarryConfig = CARRY
    grains: GrainConfig = GRAINS
    skin: SkinConfig = SKIN
    solver: SolverConfig = field(default_factory=lambda: DEFAULT)

    def __post_init__(self) -> None:
        if not 4 <= self.cells <= 400:
            raise NeurokError(f"The resolution must be {_words()}, or from 4 to 400 cells, got {self.cells}.")


def parse_resolution(text: str | int) -> int:
    """Cells of a resolution: a word or a number.

    Raises:
        NeurokError: Naming what is allowed.
    """
    if text in RESOLUTIONS:
        return RESOLUTIONS[str(text)]
    try:
        cells = int(text)
    except ValueError:
        cells = 0
    if not 4 <= cells <= 400:
        raise NeurokError(f"The resolution must be {_words()}, or a number of cells from 4 to 400, got {text!r}.")
    return cells


def _words() -> str:
    return ", ".join(f"{name} ({cells} cells)" for name, cells in RESOLUTIONS.items())


PARTICLES = ParticleEngineConfig()
