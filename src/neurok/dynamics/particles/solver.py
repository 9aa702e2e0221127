"""The particle solver: arrays in, arrays out. How long its steps may be, and what a stretch of motion will cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.dynamics.particles.contact import Contact, Solids
from neurok.dynamics.particles.engine_config import DEFAULT, SolverConfig
from neurok.dynamics.particles.grid import base_cells, cut_runs, lay_out, sort_order
from neurok.dynamics.particles.laws import Energies, kinetic_energy, law_rows, momenta, sound_speed, stored_energy
from neurok.dynamics.particles.machine import Machine
from neurok.dynamics.particles.rigid_parts import FROZEN, RigidParts, Targets
from neurok.dynamics.particles.sheets import Sheets
from neurok.dynamics.particles.state import Law, ParticleSet, Row, SheetSet, SoftSkin, Surroundings

TRAVEL = 0.3
"""Cells that the fastest particle may cross in one step."""

SHEET_COURANT = 0.5
"""Edges that sound in a sheet may cross in one step."""

VISCOUS = 0.15
"""Share of dx² ρ / η that one step may take, for stiffness against rates."""

PADDING = 3
"""Cells around the particles that the grid reaches; it is made anew before anything crosses them."""

STRETCH = 64
"""Substeps at most between two looks at bounds, speeds and finiteness."""

SORT_CELLS = 1.0
"""Particles are sorted by place again once one of them has crossed so many cells."""

DOMAIN_MARGIN = 20.0
"""How far from where they started particles may go, in sizes of the whole."""

RETRIES = 4
"""How often a stretch that became non-finite is tried again with half the step, before the solver gives up."""

CONTACT_REFRESH = 0.05
"""Cells that the fastest particle may move before it is looked again who touches whom."""

CONTACT_STEPS = 8
"""And no more substeps than this."""

SOUND = "sound at"
"""How the bound by the stiffest material begins."""


@dataclass(frozen=True)
class StepPlan:
    """What a stretch of motion would cost, told without starting."""

    dt: float
    """Longest stable step [s]."""

    substeps: int
    limit: str
    """What bounds the step, as a phrase."""


def cell_width(particles: ParticleSet, config: SolverConfig) -> float:
    """Of the grid [m]."""
    if config.cell > 0:
        return config.cell
    solid = particles.law != Law.SHEET
    volumes = particles.volumes[solid] if solid.any() else particles.volumes
    return float(2 * np.cbrt(np.median(volumes)))


def stable_step(
    particles: ParticleSet, sheets: SheetSet | None, cell: float, config: SolverConfig
) -> tuple[float, str]:
    """The longest step that materials allow [s], and what bounds it; the speed of particles is not looked at."""
    bounds = {"rigid parts and soft contact": config.longest_step}
    speed = sound_speed(particles)
    if (speed > 0).any():
        worst = int(np.argmax(speed))
        bounds[f"{SOUND} {speed[worst]:.3g} m/s (E = {particles.young[worst]:.3g} Pa)"] = (
            config.courant * cell / speed[worst]
        )
    rated = np.isin(particles.law, (Law.ELASTIC, Law.FLUID)) & (particles.viscosity > 0)
    if rated.any():
        density = particles.masses[rated] / particles.volumes[rated]
        bounds["viscosity"] = VISCOUS * cell**2 * float((density / particles.viscosity[rated]).min())
    if (particles.damping > 0).any():
        bounds["damping"] = 0.5 / float(particles.damping.max())
    if sheets is not None and len(sheets.triangles):
        bounds["sound along the shortest edge of a sheet"] = sheet_step(particles, sheets, cell, config)
    limit = min(bounds, key=lambda name: bounds[name])
    return bounds[limit], limit


def sheet_step(particles: ParticleSet, sheets: SheetSet, cell: float, config: SolverConfig) -> float:
    """The longest step of sheets [s]: sound may cross a share of an edge."""
    corners = sheets.rest[sheets.triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    around = np.bincount(sheets.triangles.ravel(), np.repeat(area / 3, 3), len(particles))
    weight = (particles.masses / np.maximum(around, 1e-300))[sheets.triangles].min(axis=1)  # kg/m²
    speed = np.sqrt(sheets.young * sheets.thickness / ((1 - sheets.poisson**2) * weight))
    height = least_heights(corners)
    bent = np.maximum(height, sheets.narrow) ** 2 * np.sqrt(12.0) / np.pi / np.maximum(sheets.thickness, 1e-300)
    # A triangle without area has no forces.
    return SHEET_COURANT * float((np.minimum(height, bent) / speed)[area > 0].min(initial=config.longest_step))


def least_heights(corners: Float[np.ndarray, "T 3 3"]) -> Float[np.ndarray, " T"]:
    """Above the longest side of each triangle."""
    twice = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return np.asarray(twice / np.maximum(longest, 1e-300))


def plan_steps(
    particles: ParticleSet,
    sheets: SheetSet | None = None,
    surroundings: Surroundings | None = None,
    config: SolverConfig = DEFAULT,
    *,
    seconds: float = 1.0,
) -> StepPlan:
    """The stable step and the cost of ``seconds`` of motion; nothing is compiled or allocated.

    The fastest particle is thought to fall freely for the whole time, at most through a tenth of the domain's margin.
    """
    surroundings = surroundings or Surroundings()
    cell = cell_width(particles, config)
    dt, limit = stable_step(particles, sheets, cell, config)
    speed = top_speed(particles.velocities) + float(np.linalg.norm(surroundings.gravity)) * 0.5 * seconds
    size = float(np.ptp(particles.positions, axis=0).max()) if len(particles) else cell
    speed = min(speed, top_speed(particles.velocities) + np.sqrt(2 * np.linalg.norm(surroundings.gravity) * 2 * size))
    if speed > 0 and TRAVEL * cell / speed < dt:
        dt, limit = TRAVEL * cell / speed, "the fastest particle"
    substeps = int(np.ceil(seconds / dt))
    return StepPlan(dt, substeps, limit)


def top_speed(velocities: Float[np.ndarray, "P 3"]) -> float:
    """Of the fastest particle [m/s]."""
    return float(np.sqrt((velocities**2).sum(axis=1).max(initial=0.0)))


Status = Literal["ok", "left", "failed"]


class Solver:
    """Particles that move. Everything it hands out is in the order of the particles that it was given."""

    def __init__(
        self,
        particles: ParticleSet,
        sheets: SheetSet | None = None,
        surroundings: Surroundings | None = None,
        config: SolverConfig = DEFAULT,
        say: Callable[[str], None] | None = None,
        skins: Sequence[Float[np.ndarray, "n 3"]] = (),
        soft: SoftSkin | None = None,
    ) -> None:
        """``say`` is told once when kernels must be compiled, before they are.

        ``skins`` are points on the surface of each rigid part at the start [m] that touch planes and obstacles; of a
        part without any, its particles do. ``soft`` are points on what bends, which touch the first plane.
        """
        self.surroundings = surroundings or Surroundings()
        self.config = config
        self.cell = cell_width(particles, config)
        """Width of a grid cell [m]."""
        self._stable, self.limit = stable_step(particles, sheets, self.cell, config)
        self.time = 0.0
        self.steps = 0
        """Substeps so far."""
        self.status: Status = "ok"
        """``ok``; ``left``: some particles left the domain and are frozen; ``failed``: values that are not finite even
        with shorter steps, ``advance`` does nothing more and positions are the last good ones."""
        self.message = ""
        """One sentence on the status; empty when all is well."""
        self._particles = particles
        self._body, self._law = particles.body.copy(), particles.law
        self._order = np.arange(len(particles))
        self._origin = _origin(particles.positions, self.surroundings, self.cell)
        self._domain = _domain(particles, self.surroundings, config) - self._origin
        self._machine = Machine(len(particles), config, say)
        self._machine.numbers[:5] = [self.cell, 0.0, *self.surroundings.gravity]
        self._fill(particles, sheets)
        self._parts = RigidParts(self._machine, particles.rigid, int(particles.body.max(initial=-1)) + 1)
        self._parts.set_surface([np.asarray(skin, dtype=float) - self._origin for skin in skins])
        solids = Solids.of(self.surroundings, self._origin)
        self._contact = Contact(self._machine, solids, _densities(particles), self.surroundings.body_friction, say)
        self._contact.set_surface(soft)
        self._targets = Targets(self._machine)
        self._sheets = Sheets(self._machine, sheets) if sheets is not None and len(sheets.triangles) else None
        self._forces: np.ndarray | None = None
        self._sorted_at: np.ndarray | None = None
        self._work = 0.0
        self._saved = np.empty_like(self._moving)
        """As it was when the stretch began, to go back to if that fails."""
        self._prepare()
        self._find_gradients()
        self._start = sum(self._split())

    @property
    def dt(self) -> float:
        """Step [s] that the next ``advance`` takes at most."""
        speed = self._top_speed()
        return min(self._stable, TRAVEL * self.cell / speed) if speed > 0 else self._stable

    @property
    def _table(self) -> Float[np.ndarray, "rows P"]:
        return self._machine.table[:, : len(self._particles)]

    @property
    def _moving(self) -> Float[np.ndarray, "rows P"]:
        """The rows that a step changes."""
        return self._table[: Row.MASS]

    def _fill(self, particles: ParticleSet, sheets: SheetSet | None) -> None:
        """Write the start into the table."""
        table = self._table
        exact = (particles.positions - self._origin).T
        table[Row.place] = exact
        table[Row.remainder] = exact - table[Row.place]
        table[Row.velocity] = particles.velocities.T
        table[Row.MASS], table[Row.VOLUME] = particles.masses, particles.volumes
        table[Row.MU : Row.MU + 4] = law_rows(particles)
        table[Row.VISCOSITY], table[Row.DAMPING] = particles.viscosity, particles.damping
        table[Row.RADIUS] = particles.radius
        if sheets is not None:
            np.minimum.at(table[Row.RADIUS], sheets.triangles, np.float32(0.5) * sheets.thickness[:, None])
        table[Row.REACH] = table[Row.RADIUS]

    def _top_speed(self) -> float:
        moving = self._machine.table[Row.velocity, : self._alive]
        return float(np.sqrt((moving.astype(float) ** 2).sum(axis=0).max(initial=0.0)))

    @property
    def _alive(self) -> int:
        return int((self._body != FROZEN).sum())

    def _prepare(self) -> None:
        """Sort where that pays, and lay the grids anew around the particles."""
        table = self._table
        place = table[Row.place]
        far = SORT_CELLS * self.cell
        if self._sorted_at is None or np.abs(place - self._sorted_at).max(initial=0.0) > far:
            cells = base_cells(place, self.cell)
            order = self._order
            better = sort_order(self._body[order], self._law[order], self._particles.rigid[order], cells)
            table[:] = table[:, better]
            self._order = order[better]
            self._sorted_at = place.copy()
            self._find_columns()
        alive = self._alive
        chosen = self._order[:alive]
        runs = cut_runs(self._body[chosen], self._law[chosen], self.config.partitions)
        cells = base_cells(place[:, :alive], self.cell)
        holders = [*self._parts.holders, *self._targets.holders]
        layout = lay_out(runs, cells, self.config.partitions, PADDING, self._contact.boxes(holders, PADDING))
        if layout.nodes > self.config.most_nodes + self.config.nodes_each * len(self._body) and self._narrow(alive):
            return self._prepare()
        self._machine.adopt(layout)
        self._contact.prepare(layout, holders, len(layout.boxes) - len(holders), self._parts, self._targets.pins)

    def _narrow(self, alive: int) -> bool:
        """Few particles that flew far would need a huge grid: the domain shrinks to leave them out. Whether any was."""
        place = self._table[Row.place, :alive].astype(float)
        middle = np.median(place, axis=1)
        reach = np.abs(place - middle[:, None]).max(axis=0)
        far = max(0.5 * float(reach.max()), 2 * float(np.quantile(reach, 0.9)))
        self._domain = np.stack([np.maximum(self._domain[0], middle - far), np.minimum(self._domain[1], middle + far)])
        before = self._alive
        self._freeze_the_lost()
        return self._alive < before

    def _find_columns(self) -> None:
        """What follows particles by their column, after sorting."""
        order, rank = self._order, np.empty_like(self._order)
        rank[order] = np.arange(len(order))
        body, rigid = self._body[order], self._particles.rigid[order]
        self._contact.place(rank)
        self._parts.place(self._law[order], np.where(body == FROZEN, -1, rigid), body)
        self._targets.place(rank, self._body, self._particles.rigid, self._parts.count)
        if self._forces is not None:
            self._machine.forces[:, : len(order)] = self._forces[order].T
        if self._sheets is not None:
            self._sheets.place(rank, self._forces)

    def _find_gradients(self) -> None:
        """Velocity gradients that fit the velocities: what a transfer to the grid and back keeps."""
        velocities = self._particles.velocities
        if not len(velocities) or (velocities == velocities[0]).all():
            return
        numbers = self._machine.numbers
        numbers[1], numbers[5] = 1e-30, 1.0
        for _ in range(8):
            self._transfer()
        numbers[5] = 0.0

    def _transfer(self, every: int = 0, reach: float = 0.0) -> None:
        """One substep. ``every``: it is looked who touches whom, for so many substeps in which nothing goes farther
        than ``reach`` [m]."""
        scatter, add_up, gather = self._machine.transfers()
        crew, still = self._machine.crew, self._machine.numbers[5] > 0
        self._targets.pull()
        if self._sheets is not None:
            self._sheets.pull()
        crew.run(scatter)
        crew.run(add_up)
        if self._contact.active and not still:
            if every:
                self._contact.refresh(every, reach)
            self._contact.resolve()
        crew.run(gather)
        if not still:
            self._parts.move()

    def advance(self, seconds: float) -> int:
        """Move on by ``seconds``; returns how many substeps that took. Never raises for what happens to particles."""
        before, left, retries, reach = self.steps, seconds, 0, 1.0
        while left > 1e-12 * seconds and self.status != "failed" and self._alive:
            self._prepare()
            np.copyto(self._saved, self._moving)
            motion = self._parts.view.copy()
            dt = min(self.dt * 0.5**retries, left)
            count = int(np.ceil(left / dt - 1e-9))
            dt = left / count
            count = min(count, self._stretch(dt, reach))
            self._machine.numbers[1] = dt
            every, pace = self._contact_period(dt), self._soon_speed(dt) * dt
            for step in range(count):
                self._machine.numbers[6] = step * dt
                self._transfer(every if step % every == 0 else 0, every * pace)
            if self._machine.outside and count > 1:
                self._restore(motion)
                reach /= 4
                continue
            if self._machine.outside or not np.isfinite(self._moving.sum()):  # one value that is not spoils the sum
                self._restore(motion)
                retries += 1
                if retries > RETRIES:
                    self.status = "failed"
                    self.message = "The motion became unstable; take a softer material or a finer step."
                continue
            reach = 1.0
            self.steps, self.time, left = self.steps + count, self.time + count * dt, left - count * dt
            self._work += self._work_of_forces()
            self._targets.wait(count * dt)
            self._freeze_the_lost()
        return self.steps - before

    def _soon_speed(self, dt: float) -> float:
        """Of the fastest particle at the end of a stretch, if it falls [m/s]."""
        return self._top_speed() + float(np.linalg.norm(self.surroundings.gravity)) * dt * STRETCH

    def _stretch(self, dt: float, reach: float) -> int:
        """Substeps until something could cross the grid's padding."""
        room = reach * (PADDING - 0.5) * self.cell
        return int(np.clip(room / max(self._soon_speed(dt) * dt, 1e-30), 1, STRETCH))

    def _contact_period(self, dt: float) -> int:
        """Substeps after which it has to be looked again who touches whom."""
        far = CONTACT_REFRESH * self.cell
        return int(np.clip(far / max(self._soon_speed(dt) * dt, 1e-30), 1, CONTACT_STEPS))

    def _restore(self, motion: Float[np.ndarray, "parts 64"]) -> None:
        self._moving[:], self._parts.view[:] = self._saved, motion

    def _work_of_forces(self) -> float:
        """Of one stretch, in which forces were constant [J]."""
        if self._forces is None:
            return 0.0
        way = np.zeros((3, len(self._particles)))
        for row in (Row.POSITION, Row.REMAINDER):
            way += self._moving[row : row + 3].astype(float) - self._saved[row : row + 3]
        return float((way.T * self._forces[self._order]).sum())

    def set_forces(self, forces: Float[np.ndarray, "P 3"] | None) -> None:
        """Forces [N] on each particle from now on, until set again; ``None`` for none."""
        if forces is None and self._forces is None:
            return
        self._forces = np.zeros((len(self._particles), 3)) if forces is None else np.asarray(forces, dtype=float)
        self._find_columns()

    def set_targets(
        self,
        indices: Int[np.ndarray, " n"],
        positions: Float[np.ndarray, "n 3"],
        *,
        stiffness: Float[np.ndarray, " n"] | float | None = None,
        damping: Float[np.ndarray, " n"] | float = 0.0,
        seconds: float = 0.0,
    ) -> None:
        """Where some particles are drawn to, from now on; replaces earlier targets of the same kind, none ends them.

        Args:
            stiffness: Of a spring to the target [N/m] per particle; ``None`` holds hard: the material there goes to the
                target whatever it meets. Soft and hard targets of different calls stand side by side.
            damping: Of the spring [N s/m] per particle, against the target's own velocity.
            seconds: How long the way to the targets takes, at constant velocity; zero means that they are there (pins),
                or that a spring's end jumps there.
        """
        goals = np.asarray(positions, dtype=float).reshape(-1, 3) - self._origin
        which = np.asarray(indices, dtype=np.int64)
        if stiffness is None:
            self._targets.hold(which, goals, seconds)
        else:
            now = self.positions[which] - self._origin
            self._targets.draw(which, now, goals, stiffness, damping, seconds)
        self._find_columns()

    def _freeze_the_lost(self) -> None:
        """What left the domain stays where it is and is no longer looked at."""
        alive = self._alive
        place = self._table[Row.place, :alive]
        if (place.min(axis=1) >= self._domain[0]).all() and (place.max(axis=1) <= self._domain[1]).all():
            return
        gone = ((place < self._domain[0][:, None]) | (place > self._domain[1][:, None])).any(axis=0)
        parts = np.unique(self._particles.rigid[self._order[:alive][gone]])
        gone |= np.isin(self._particles.rigid[self._order[:alive]], parts[parts >= 0])  # a rigid part leaves as a whole
        self._body[self._order[:alive][gone]] = FROZEN
        self._table[Row.VELOCITY : Row.AFFINE + 9, :alive][:, gone] = 0.0
        self._sorted_at = None
        self.status = "left"
        self.message = f"{len(self.lost)} of {len(self._body)} particles left the domain and are frozen there."

    def _given(self, columns: np.ndarray) -> np.ndarray:
        """Columns of the table in the order that particles were given in, as rows."""
        found = np.empty((columns.shape[-1], *columns.shape[:-1]), dtype=np.float64)
        found[self._order] = columns.T
        return found

    @property
    def positions(self) -> Float[np.ndarray, "P 3"]:
        t = self._table
        exact = t[Row.place].astype(float) + t[Row.remainder]
        return self._given(exact) + self._origin

    @property
    def velocities(self) -> Float[np.ndarray, "P 3"]:
        return self._given(self._table[Row.velocity])

    @property
    def rigid_motions(self) -> tuple[Float[np.ndarray, "R 3 3"], Float[np.ndarray, "R 3"]]:
        """R and t of each rigid part: where a point x of the start is now, R x + t."""
        return self._parts.motions(self._origin)

    @property
    def lost(self) -> Int[np.ndarray, " n"]:
        """Particles that left the domain."""
        return np.flatnonzero(self._body == FROZEN)

    def _split(self) -> tuple[float, float, float]:
        """Kinetic, elastic and gravity's energy [J]."""
        table, x = self._table, self.positions
        elastic = stored_energy(table, self._law[self._order])
        if self._sheets is not None:
            elastic += self._sheets.energy(x)
        gravity = -float(self._particles.masses @ (x @ np.asarray(self.surroundings.gravity)))
        return kinetic_energy(table, self.cell), elastic, gravity

    def energies(self) -> Energies:
        """Where the energy is now."""
        kinetic, elastic, gravity = self._split()
        lack = self._start + self._work - kinetic - elastic - gravity
        return Energies(kinetic, elastic, gravity, self._work, lack)

    def momentum(self) -> tuple[Float[np.ndarray, " 3"], Float[np.ndarray, " 3"]]:
        """Linear [kg m/s], and angular about the origin [kg m²/s], with the spin inside particles."""
        return momenta(self._table, self.positions[self._order], self.cell)


def _origin(positions: Float[np.ndarray, "P 3"], surroundings: Surroundings, cell: float) -> Float[np.ndarray, " 3"]:
    """A node of the lattice near the middle: coordinates stay small, where floats are fine.

    The lattice goes through zero, and through the first plane across each axis: nodes on a plane stop what is soft
    better than nodes below it.
    """
    middle = 0.5 * (positions.min(axis=0) + positions.max(axis=0)) if len(positions) else np.zeros(3)
    start = np.zeros(3)
    for plane in surroundings.planes[::-1]:
        normal = np.abs(np.asarray(plane.normal, dtype=float))
        axis = int(normal.argmax())
        if normal[axis] == normal.sum():
            start[axis] = plane.point[axis]
    return start + np.round((middle - start) / cell) * cell


def _densities(particles: ParticleSet) -> Float[np.ndarray, " B"]:
    """Mean density of each object [kg/m³]."""
    count = int(particles.body.max(initial=0)) + 1
    mass, volume = (np.bincount(particles.body, of, count) for of in (particles.masses, particles.volumes))
    return mass / np.maximum(volume, 1e-300)


def _domain(particles: ParticleSet, surroundings: Surroundings, config: SolverConfig) -> Float[np.ndarray, "2 3"]:
    if surroundings.domain is not None:
        return np.asarray(surroundings.domain, dtype=float)
    low, high = particles.positions.min(axis=0), particles.positions.max(axis=0)
    margin = DOMAIN_MARGIN * max(float((high - low).max()), cell_width(particles, config))
    return np.stack([low - margin, high + margin])
