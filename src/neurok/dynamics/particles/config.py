"""Every number that shapes a motion of the particle solver and that no scene says, with unit and origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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

    backend: Literal["vector", "plain"] = "vector"
    """``vector``: C++ vector snippets, the CPU's fast way. ``plain``: Warp's own language, their reference."""

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


@dataclass(frozen=True)
class LawConfig:
    """Constants inside the constitutive laws; kernels are compiled with them."""

    polar_rounds: int = 5
    """Newton steps for the rotation of F: right to 1e-7 for stretches of 0.3 to 2.5."""

    jacobi_sweeps: int = 3
    """For the principal strains; two are not enough, a fourth changes nothing in float32."""

    loosest: float = 0.1
    """Growth in volume that loose sand and spray remember: what is apart measures no volume, only drift."""


LAWS = LawConfig()
