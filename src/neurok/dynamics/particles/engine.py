"""The particle engine's start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from neurok.dynamics.body import Body
from neurok.dynamics.condition import World
from neurok.dynamics.engine import Settings
from neurok.dynamics.particles.engine_config import PARTICLES, ParticleEngineConfig
from neurok.dynamics.particles.run import ParticleRun
from neurok.errors import NeurokError, require


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
