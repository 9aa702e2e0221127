"""Every number of the particle solver and its engine that a caller may vary, with unit and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from neurok.errors import NeurokError


@dataclass(frozen=True)
class SolverConfig:
    """How particles are stepped."""

    cell: float = 0.0
    """Width of a grid cell [m]; zero takes twice the cube root of the median particle's volume: eight per cell."""

    courant: float = 0.4
    """Cells that sound may cross in one step. Explicit steps are unstable near 1 for eight particles per cell."""

    longest_step: float = 1e-3
    """[s]; where all is rigid or very soft. Contact between rigid parts is solved once per step."""

    partitions: int = 4
    """Runs of particles that may work side by side, each with a grid of its own. Sums are taken in their order, so that
    results depend on this number and never on ``threads``."""

    threads: int = 0
    """Threads that share the partitions; zero takes one per core that the process may use."""

    small: int = 4000
    """Fewer particles than this are stepped on one thread: handing work over would cost more than it saves."""

    most_nodes: int = 4_000_000
    """Grid nodes in all (16 bytes each) ..."""

    nodes_each: int = 100
    """... and so many more for each particle; what would need more has flown apart, and the farthest are frozen."""


DEFAULT = SolverConfig()


ResolutionName = Literal["coarse", "medium", "fine"]

RESOLUTIONS: Mapping[str, int] = MappingProxyType({"coarse": 14, "medium": 24, "fine": 40})
"""Cells along the longest side of the largest object. Four across a part bend it within 1 %, two within 5 %."""


@dataclass(frozen=True)
class ParticleEngineConfig:
    """How objects become particles, how they are driven, and what is too much."""

    cells: int = RESOLUTIONS["medium"]
    """Along the longest side of the largest object."""

    load_step: float = 1e-3
    """Time between two looks at what pushes: wind, forces, damping [s]. Gusts and hands change more slowly."""

    long: float = 20.0
    """From this estimate on the cost is told before the run [s]."""

    longest: float = 4 * 3600.0
    """Runs estimated to take longer are refused [s]: nobody waits for what may hang."""

    stiffest: float | None = None
    """Solids stiffer than this [Pa] are stepped with it instead of being rigid; by default none are."""

    stretch: float = 2e-3
    """Share by which a sheet may stretch under its own weight: stiffer ones are stepped as if this soft, and keep their
    stiffness in bending. Below a pixel, and it saves a hundredfold of steps for paper."""

    thin: float = 2.0
    """Pieces of a mesh in which no ball of so many cells fits are sheets."""

    most_own: float = 3.0
    """A sheet's own triangles are kept if there are at most so many times those that it would get."""

    solver: SolverConfig = DEFAULT

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
