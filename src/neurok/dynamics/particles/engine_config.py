"""Every number of the particle solver and its engine that a caller may vary, with unit and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from neurok.dynamics.particles.filling import FILLING, FillingConfig
from neurok.dynamics.particles.skinning import CARRY, GRAINS, SKIN, CarryConfig, GrainConfig, SkinConfig
from neurok.errors import NeurokError


@dataclass(frozen=True)
class SolverConfig:
    """How particles are stepped."""

    cell: float = 0.0
    """Width of a grid cell [m]; zero takes twice the cube root of the median particle's volume: eight per cell."""

    courant: float = 0.4
    """Cells that sound may cross in one step. Explicit steps are unstable near 1 for eight particles per cell."""

    travel: float = 0.3
    """Cells that the fastest particle may cross in one step."""

    sheet_courant: float = 0.5
    """Edges that sound in a sheet may cross in one step."""

    viscous: float = 0.15
    """Share of dx² ρ / η that one step may take, for stiffness against rates."""

    longest_step: float = 1e-3
    """[s]; where all is rigid or very soft. Contact between rigid parts is solved once per step."""

    partitions: int = 4
    """Runs of particles that may work side by side, each with a grid of its own. Sums are taken in their order, so that
    results depend on this number and never on ``threads``."""

    threads: int = 0
    """Threads that share the partitions; zero takes one per core that the process may use."""

    small: int = 4000
    """Fewer particles than this are stepped on one thread: handing work over would cost more than it saves."""

    padding: int = 3
    """Cells around the particles that the grid reaches; it is made anew before anything crosses them."""

    stretch: int = 64
    """Substeps at most between two looks at bounds, speeds and finiteness."""

    sort_cells: float = 1.0
    """Particles are sorted by place again once one of them has crossed so many cells."""

    rigid_share: float = 0.5
    """A node moves with a rigid part that has at least this share of its mass. Measured: steel on foam sinks within
    2.5 % of what it should."""

    held_share: float = 0.05
    """A node stays with held particles that have at least this share of its mass. A face of held stuff that lies on
    nodes must keep them while what it holds is squeezed."""

    contact_gap: float = 0.05
    """Cells between two things below which they touch."""

    contact_refresh: float = 0.05
    """Cells that the fastest particle may move before it is looked again who touches whom."""

    contact_steps: int = 8
    """And no more substeps than this."""

    contact_rounds: int = 10
    """Sweeps over the contacts of rigid parts in one step."""

    push_share: float = 0.05
    """Share of an overlap that is undone in one step ..."""

    push_speed: float = 0.5
    """... at no more than so many times √(gravity · cell), so that nothing is shot out."""

    slop: float = 0.02
    """Overlap of rigid parts that is left alone, in cells."""

    soft_slop: float = 0.25
    """Overlap of what is soft that is left alone, in cells: stress pushes it out."""

    skin_near: float = 1.5
    """Points on what bends are looked at where they are lower than this above the first plane [cells]: as far as the
    grid reaches ..."""

    skin_reach: float = 1.0
    """... and are at most so far from the particle that they follow [cells]: a surface that is farther off has torn."""

    corners: int = 48
    """Points at most where one rigid part touches one plane or obstacle."""

    pins: int = 12
    """Points at most at which one rigid part is held."""

    domain_margin: float = 20.0
    """How far from where they started particles may go, in sizes of the whole."""

    most_nodes: int = 4_000_000
    """Grid nodes in all (16 bytes each) ..."""

    nodes_each: int = 100
    """... and so many more for each particle; what would need more has flown apart, and the farthest are frozen."""

    retries: int = 4
    """How often a stretch that became non-finite is tried again with half the step, before the solver gives up."""


DEFAULT = SolverConfig()


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
