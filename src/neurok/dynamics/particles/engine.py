"""The particle engine: what a run costs, the run itself frame by frame, and its record."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from neurok.core.clip import Rollout, RolloutStatus
from neurok.dynamics.body import Body
from neurok.dynamics.colliders import DistanceField
from neurok.dynamics.condition import Vector, Wind, World
from neurok.dynamics.engine import Settings, check_grab
from neurok.dynamics.particles.binding import BoundScene, Occupant, bind, cell_for
from neurok.dynamics.particles.engine_config import PARTICLES, RESOLUTIONS, ParticleEngineConfig
from neurok.dynamics.particles.filling import PER_SIDE
from neurok.dynamics.particles.loads import Constraints, Loads, causes, grab_springs
from neurok.dynamics.particles.machine import cores
from neurok.dynamics.particles.solver import SOUND, Solver, StepPlan, plan_steps
from neurok.dynamics.particles.state import Law, SoftSkin
from neurok.dynamics.reduced.build import check_vertices, gravity_of
from neurok.errors import NeurokError, require

FREE_STEP = 1e-2
"""Time between two looks where nothing pushes [s]: progress is told that often."""

SPEED = 6e6
"""Particle-substeps per second and core, of a common laptop with all overheads."""

LAUNCH = 2e-3
"""Time that one substep takes however few its particles are [s]: contact is looked for between them. Measured with
1,000 to 4,000 particles of a bag and a pillow on two cores."""

MEMORY_SHARE = 0.6
"""Of the free memory that a run may take."""

PARTICLE_BYTES = 400
"""Of one particle in all arrays, the solver's and ours [bytes]."""

CLAMP = 1e7
"""Young's modulus that is offered in place of a larger one [Pa]: a metre of water would squeeze it by 0.1 %."""


@dataclass(frozen=True)
class Cost:
    """An estimate."""

    plan: StepPlan
    seconds: float
    """Of computing."""

    coarse: float
    """The same at the resolution ``coarse``."""

    clamped: float
    """The same with nothing stiffer than ``CLAMP``; as it is where something else bounds the steps."""

    motion: float
    """Seconds of motion."""

    def sentence(self, particles: int) -> str:
        """For people."""
        out = (
            f"{self.motion:g} s of motion: about {duration(self.seconds)} ({particles:,} particles, "
            f"{self.plan.substeps:,} steps of {1e6 * self.plan.dt:.3g} µs, bounded by {self.plan.limit})"
        )
        if self.coarse < 0.7 * self.seconds:
            out += f"; --resolution coarse: about {duration(self.coarse)}"
        if self.clamped < 0.7 * self.seconds:
            out += f"; --stiffest {CLAMP:g}: about {duration(self.clamped)}"
        return out + "."


def cost_of(scene: BoundScene, seconds: float, config: ParticleEngineConfig) -> Cost:
    """Time of so many seconds of motion, by a stored speed."""
    plan = plan_steps(scene.particles, scene.sheets, scene.surroundings, config.solver, seconds=seconds)
    count = max(1, min(config.solver.partitions, config.solver.threads or cores()))
    time = plan.substeps * (len(scene.particles) / (SPEED * count) + LAUNCH)
    ratio = min(1.0, RESOLUTIONS["coarse"] / config.cells)
    coarse = plan.substeps * ratio * (len(scene.particles) * ratio**3 / (SPEED * count) + LAUNCH)
    clamped = time
    if plan.limit.startswith(SOUND):
        stiff = scene.particles.young[~np.isin(scene.particles.law, (Law.RIGID, Law.SHEET))].max()
        clamped = time * min(1.0, math.sqrt(CLAMP / stiff))
    return Cost(plan, time, coarse, clamped, seconds)


def duration(seconds: float) -> str:
    """``40 s``, ``3 minutes``, ``2.5 hours``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"


def check_memory(bodies: Sequence[Body], config: ParticleEngineConfig) -> None:
    """Refuse what does not fit, before anything is filled.

    Raises:
        NeurokError: With the estimate.
    """
    cell = cell_for(bodies, config)
    need = 0.0
    for body in bodies:
        cells = float(np.prod(np.ptp(body.mesh.bounds, axis=0) * body.mesh.unit / cell + 2.0))
        need += cells * PER_SIDE**3 * (PARTICLE_BYTES + 40.0)
    free = free_memory()
    if need > MEMORY_SHARE * free:
        raise NeurokError(
            f"Particles at {config.cells} cells may take {need / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free; "
            "take a coarser --resolution."
        )


def free_memory() -> float:
    """[bytes]; without a bound where the system does not say."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return math.inf


UNSTABLE = "Try a coarser --resolution, a softer material, or see what 'neurok inspect' says about the mesh."
AWAY = "Start it slower, or give it a ground or walls."


class Recorder:
    """Frames, energies and figures of one run."""

    def __init__(self, scene: BoundScene, causes: list[str], keeps_all: bool = True) -> None:
        self.scene, self.causes, self.keeps_all = scene, causes, keeps_all
        self.positions: list[list[np.ndarray]] = [[] for _ in scene.occupants]
        self.energies: list[dict[str, float]] = []
        self.depth, self.stepping, self.frame_count = 0.0, 0.0, 0
        self.status: RolloutStatus = "ok"
        self.message = ""
        self.used = [_shown(occupant) for occupant in scene.occupants]
        self.fields = [
            DistanceField(obstacle.distances, np.array(obstacle.origin), obstacle.spacing)
            for obstacle in scene.surroundings.obstacles
        ]

    def frame(self, solver: Solver) -> None:
        """Keep where everything is now."""
        x, (turns, shifts) = solver.positions, solver.rigid_motions
        for index, occupant in enumerate(self.scene.occupants):
            placed = occupant.surface.positions(x[occupant.where], turns, shifts)
            drawn = occupant.grains.positions(placed, x[occupant.where])
            self._measure(np.concatenate([placed[self.used[index]], x[occupant.where][occupant.loose]]))
            self.positions[index].append(self._pressed(drawn, occupant) / self.scene.unit)
        found = solver.energies()
        self.energies.append({"kinetic": found.kinetic, "elastic": found.elastic, "gravity": found.gravity})
        self.frame_count += 1
        if not self.keeps_all:
            del self.energies[:-1]
            for frames in self.positions:
                del frames[:-1]

    def _pressed(self, points: Float[np.ndarray, "n 3"], occupant: Occupant) -> Float[np.ndarray, "n 3"]:
        """Particles touch, and what is drawn between them could reach a little below: it is pressed flat."""
        bends = np.ones(len(points), dtype=bool)
        bends[: len(occupant.surface.rigid)] = occupant.surface.rigid < 0
        for plane in self.scene.surroundings.planes:
            normal = np.array(plane.normal)
            below = np.clip((np.array(plane.point) - points) @ normal, 0.0, self.scene.cell)
            points = points + (below * bends)[:, None] * normal
        return points

    def _measure(self, points: Float[np.ndarray, "n 3"]) -> None:
        """Take note of how deep vertices, or the middles of grains, are in the ground or in obstacles [m].

        Loose material flows: what a grain holds flattens as it spreads, so its round picture says nothing.
        """
        for plane in self.scene.surroundings.planes:
            below = (np.array(plane.point) - points) @ np.array(plane.normal)
            self.depth = max(self.depth, float(below.max(initial=0.0)))
        for field in self.fields:
            self.depth = max(self.depth, float(-field.distance(points)[0].min(initial=0.0)))

    def fail(self, reason: str, advice: str = UNSTABLE) -> None:
        self.status = "diverged"
        self.message = f"The motion diverged after {self.frame_count} good frames: {reason.removesuffix('.')}. {advice}"

    def stop(self) -> None:
        self.status, self.message = "stopped", f"Stopped on request after {self.frame_count} frames."

    def rollouts(self, frame_dt: float, solver: Solver, named: dict[str, Any]) -> tuple[Rollout, ...]:
        """One rollout for each object; energies and report are of the whole scene."""
        names = ("kinetic", "elastic", "gravity")
        energies = {name: np.array([frame[name] for frame in self.energies]) for name in names}
        energies["total"] = np.sum(list(energies.values()), axis=0)
        report = {**named, **self._report(energies["total"], solver)}
        return tuple(
            Rollout(
                rest=occupant.grains.mesh,
                dt=frame_dt,
                positions=np.stack(self.positions[index]),
                status=self.status,
                message=self.message,
                energies=energies,
                report=report,
                grains=len(occupant.grains.chosen),
            )
            for index, occupant in enumerate(self.scene.occupants)
        )

    def _report(self, total: Float[np.ndarray, " T"], solver: Solver) -> dict[str, Any]:
        scene, found = self.scene, solver.energies()
        stepping, (linear, angular) = max(self.stepping, 1e-9), solver.momentum()
        rigid = sum(occupant.rigid_count for occupant in scene.occupants)
        free = int((scene.particles.rigid < 0).sum())
        return {
            "dof": 3 * free + 6 * rigid,
            "particles": len(scene.particles),
            "rigid_parts": rigid,
            "sheet_triangles": 0 if scene.sheets is None else len(scene.sheets.triangles),
            "cells": int(_cells(scene)),
            "cell": scene.cell,
            "dt": solver.time / max(solver.steps, 1),
            "steps": solver.steps,
            "substeps": solver.steps,
            "steps_per_second": solver.steps / stepping,
            "particle_substeps_per_second": solver.steps * len(scene.particles) / stepping,
            "real_time_factor": solver.time / stepping,
            "energy_start": float(total[0]),
            "energy_end": float(total[-1]),
            "energy_drift": None,
            "energy_note": "; ".join(self.causes) or "Materials, contact and the grid take energy; nothing gives any.",
            "work": found.work,
            "dissipated": found.dissipated,
            "momentum_end": float(np.linalg.norm(linear)),
            "angular_momentum_end": float(np.linalg.norm(angular)),
            "max_penetration": self.depth,
            "lost": len(solver.lost),
            "joints_held": _joints(scene.occupants),
        }


def _shown(occupant: Occupant) -> Int[np.ndarray, " n"]:
    """Vertices of the mesh that faces use, without those of loose material, which is measured as it is."""
    used = np.unique(occupant.grains.mesh.faces)
    return used[used < occupant.body.mesh.vertex_count]


def _cells(scene: BoundScene) -> int:
    """Cells that hold particles at the start."""
    place = np.floor(scene.particles.positions / scene.cell).astype(np.int64)
    return len(np.unique(place, axis=0))


def _joints(occupants: tuple[Occupant, ...]) -> str:
    """Whether joints are held, in words."""
    joined = [occupant for occupant in occupants if (one := occupant.body.poses.articulation) is not None and one.dof]
    return "no: this engine moves the parts of objects with joints freely" if joined else "there are none"


LOST = 0.5
"""Share of an object's particles that may leave the domain before it counts as gone."""


class ParticleRun:
    """Bodies on their way, as particles."""

    engine: ClassVar[str] = "particles"

    def __init__(
        self,
        bodies: Sequence[Body],
        world: World,
        settings: Settings,
        config: ParticleEngineConfig,
        reason: str = "",
        say: Callable[[str], None] | None = None,
    ) -> None:
        for body in bodies:
            check_vertices(body)
        check_memory(bodies, config)
        self._world, self._settings, self._config, self._reason = world, settings, config, reason
        scene = bind(bodies, world, config)
        longest = config.solver.longest_step if settings.dt is None else settings.dt
        chosen = replace(config.solver, cell=scene.cell, longest_step=min(longest, config.solver.longest_step))
        config = replace(config, solver=chosen)
        cost = cost_of(scene, settings.seconds or 1.0, config)
        told = cost.sentence(len(scene.particles))
        if cost.seconds > config.longest:
            raise NeurokError(
                f"{told.removesuffix('.')}, more than {duration(config.longest)}; take a coarser --resolution, fewer "
                "--seconds, or a smaller --stiffest for what is stiff."
            )
        if say is not None and cost.seconds >= config.long:
            say(told)
        self._scene = scene
        skins = [skin for occupant in scene.occupants for skin in occupant.skins]
        soft = SoftSkin.join([each.skin for each in scene.occupants], [each.filling.count for each in scene.occupants])
        self._solver = Solver(scene.particles, scene.sheets, scene.surroundings, chosen, say, skins, soft)
        self._loads, self._constraints = Loads(scene, world.wind), Constraints(scene)
        self._recorder = Recorder(scene, causes(scene.occupants, world.wind), settings.record)
        self._frame = 0
        self._held: tuple[int, tuple[int, ...], float | None] | None = None
        self._target = np.zeros(3)
        self._recorder.frame(self._solver)

    @property
    def positions(self) -> tuple[Float[np.ndarray, "V 3"], ...]:
        """Vertices of each body now, in mesh units; grains of loose materials come after those of the mesh."""
        return tuple(frames[-1] for frames in self._recorder.positions)

    @property
    def particles(self) -> Float[np.ndarray, "P 3"]:
        """All particles now, in mesh units."""
        return self._solver.positions / self._scene.unit

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._frame / self._settings.fps

    @property
    def fraction(self) -> float:
        """How much of the asked time is done; 0 where there is no end."""
        count = self._settings.frame_count
        return 0.0 if count is None else self._frame / count

    @property
    def status(self) -> RolloutStatus:
        """``ok``, or why it ended early."""
        return self._recorder.status

    @property
    def world(self) -> World:
        """Gravity, wind and what stands around, as they are now."""
        return self._world

    def step(self, watch: Callable[[float], None] | None = None) -> bool:
        """Advance by one frame; ``False`` when the run has ended, and nothing was advanced.

        ``watch`` is told the fraction done several times within a frame, and may raise to end it there.
        """
        if self.status != "ok" or self._frame == self._settings.frame_count:
            return False
        frame = 1.0 / self._settings.fps
        acts = self._loads.are_there or self._constraints.move
        pieces = max(1, math.ceil(frame / (self._config.load_step if acts else FREE_STEP) - 1e-9))
        for k in range(pieces):
            self._advance(self.time + k * frame / pieces, frame / pieces)
            if self._solver.status == "failed" or self._is_gone():
                return False
            if watch is not None:
                count = self._settings.frame_count
                watch(0.0 if count is None else (self._frame + (k + 1) / pieces) / count)
        self._recorder.frame(self._solver)
        self._frame += 1
        return True

    def _advance(self, now: float, step: float) -> None:
        begin = time.perf_counter()
        solver = self._solver
        self._constraints.tell(solver, now, step)
        if self._loads.are_there:
            solver.set_forces(self._loads.forces(solver.positions, solver.velocities, now, step))
        solver.advance(step)
        self._recorder.stepping += time.perf_counter() - begin
        if solver.status == "failed":
            self._recorder.fail(solver.message)

    def _is_gone(self) -> bool:
        """Whether most of an object has left the domain."""
        lost = self._solver.lost
        for occupant in self._scene.occupants if len(lost) else ():
            mine = int(((lost >= occupant.where.start) & (lost < occupant.where.stop)).sum())
            if mine > LOST * occupant.filling.count:
                self._recorder.fail(f"'{occupant.body.name}' has left the scene", AWAY)
                return True
        return False

    def stop(self) -> None:
        """End the run on request; its frames are kept."""
        self._recorder.stop()

    def set_gravity(self, gravity: Vector | Sequence[float]) -> None:
        """Another acceleration [m/s^2] from now on."""
        self._world = replace(self._world, gravity=np.asarray(gravity, dtype=np.float64))
        body = self._scene.occupants[0].body
        now = gravity_of(self._world, body) * body.mesh.unit
        self._loads.extra_gravity = now - np.array(self._scene.surroundings.gravity)
        self._solver.set_forces(None)
        self._changed("gravity")

    def set_wind(self, wind: Wind | None) -> None:
        """Other moving air from now on, or none."""
        self._world = replace(self._world, wind=wind)
        self._loads.set_wind(wind)
        self._solver.set_forces(None)
        self._changed("wind")

    def grab(
        self,
        vertices: int | Sequence[int],
        target: Vector | Sequence[float],
        body: int = 0,
        stiffness: float | None = None,
    ) -> None:
        """Pull the mean of some vertices of a body to a place [mesh units] by a damped spring; again to move it on."""
        chosen, place = check_grab([one.body for one in self._scene.occupants], vertices, target, body)
        self._target[:] = place * self._scene.unit
        held = (body, tuple(chosen.tolist()), stiffness)
        if held == self._held:
            return
        self._held = held
        occupant = self._scene.occupants[body]
        self._constraints.grab = grab_springs(self._scene, occupant, chosen, self._target, self._solver, stiffness)
        self._changed("grab")

    def release(self) -> None:
        """Let go of what was grabbed."""
        self._constraints.grab, self._held = None, None
        self._constraints.tell(self._solver, self.time, self._config.load_step)

    def _changed(self, cause: str) -> None:
        self._recorder.causes = list(dict.fromkeys([*self._recorder.causes, f"a change of the {cause}"]))

    def rollouts(self) -> tuple[Rollout, ...]:
        """The motion so far, of each body."""
        named = {"engine": self.engine, "engine_reason": self._reason, "integrator": "material points"}
        return self._recorder.rollouts(1.0 / self._settings.fps, self._solver, named)


@dataclass(frozen=True)
class ParticleEngine:
    """Moves bodies as particles on a grid, whatever they are made of; needs the extra ``particles``."""

    config: ParticleEngineConfig = PARTICLES
    reason: str = ""
    """Why this engine was taken, for the report."""

    say: Callable[[str], None] | None = None
    """Told in a sentence what will take long, before it does."""

    def start(self, bodies: Sequence[Body], world: World, settings: Settings) -> ParticleRun:
        """All bodies as particles, at the moment they start.

        Raises:
            MissingDependencyError: If Warp is not installed.
            NeurokError: If there is no room or time for it, or a body has energies of its own.
        """
        require("warp", "particles")
        for body in bodies:
            if body.energies:
                raise NeurokError(
                    f"The engine 'particles' does not support the custom energies of '{body.name}'; use the "
                    "engine 'reduced'."
                )
        return ParticleRun(bodies, world, settings, self.config, self.reason, self.say)
