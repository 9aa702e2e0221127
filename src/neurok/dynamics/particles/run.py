"""Particles on their way: a run that is stepped frame by frame."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Rollout, RolloutStatus
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Vector, Wind, World
from neurok.dynamics.engine import Settings, check_grab
from neurok.dynamics.particles.binding import bind
from neurok.dynamics.particles.cost import check_time, cost_of
from neurok.dynamics.particles.engine_config import ParticleEngineConfig
from neurok.dynamics.particles.holds import Holds, grip
from neurok.dynamics.particles.loads import Loads, causes
from neurok.dynamics.particles.record import AWAY, Recorder
from neurok.dynamics.particles.sizing import check_memory
from neurok.dynamics.particles.solver import Solver
from neurok.dynamics.particles.state import SoftSkin
from neurok.dynamics.reduced.build import check_vertices, gravity_of

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
        check_time(cost, scene, config)
        if say is not None and cost.seconds >= config.long:
            say(cost.sentence(len(scene.particles)))
        self._scene, self._chosen = scene, config
        skins = [skin for occupant in scene.occupants for skin in occupant.skins]
        soft = SoftSkin.join([each.skin for each in scene.occupants], [each.filling.count for each in scene.occupants])
        self._solver = Solver(scene.particles, scene.sheets, scene.surroundings, chosen, say, skins, soft)
        self._loads, self._holds = Loads(scene, world.wind, config), Holds(scene, config)
        self._recorder = Recorder(scene, causes(scene.occupants, world.wind), settings.record)
        self._frame = 0
        self._held: tuple[int, tuple[int, ...], float | None] | None = None
        self._target = np.zeros(3)
        self._recorder.frame(self._solver)

    @property
    def positions(self) -> tuple[Float[np.ndarray, "V 3"], ...]:
        """Vertices of each body now, in mesh units; grains of loose stuff come after those of the mesh."""
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
        acts = self._loads.are_there or self._holds.move
        pieces = max(1, math.ceil(frame / (self._config.load_step if acts else self._config.free_step) - 1e-9))
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
        self._holds.tell(solver, now, step)
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
        self._holds.grab = grip(self._scene, occupant, chosen, self._target, self._solver, stiffness, self._chosen)
        self._changed("grab")

    def release(self) -> None:
        """Let go of what was grabbed."""
        self._holds.grab, self._held = None, None
        self._holds.tell(self._solver, self.time, self._config.load_step)

    def _changed(self, cause: str) -> None:
        self._recorder.causes = list(dict.fromkeys([*self._recorder.causes, f"a change of the {cause}"]))

    def rollouts(self) -> tuple[Rollout, ...]:
        """The motion so far, of each body."""
        named = {"engine": self.engine, "engine_reason": self._reason, "integrator": "material points"}
        return self._recorder.rollouts(1.0 / self._settings.fps, self._solver, named)
