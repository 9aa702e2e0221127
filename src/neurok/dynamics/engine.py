"""What moves bodies: an engine starts a run, and a run is stepped frame by frame.

Anything with these members can be passed to ``simulate`` and ``start``; the reduced engine is one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Rollout, RolloutStatus
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Vector, Wind, World
from neurok.errors import NeurokError

MAX_STEPS = 100_000_000
"""Time steps of one run; more would take days and is a slip of the pen."""

LONGEST_FRAME = 1.0
"""A frame that lasts longer than this and than the motion [s] is a slip of the pen."""


@dataclass(frozen=True)
class Settings:
    """How long, how many frames, how fine."""

    seconds: float | None = 2.0
    """Length of the motion; ``None`` goes on for as long as it is stepped."""

    fps: float = 24.0
    """Frames per second [1/s]."""

    dt: float | None = None
    """Longest time step [s]; shortened so that steps meet the frames. By default one that suits the engine."""

    record: bool = True
    """Whether all frames are kept for ``rollouts``, or only the last one: a live run would fill the memory."""

    def __post_init__(self) -> None:
        values = {"seconds": self.seconds, "fps": self.fps, "dt": self.dt}
        wrong = [
            f"{name} must be a positive number, got {value}"
            for name, value in values.items()
            if value is not None and not (math.isfinite(value) and value > 0)
        ]
        if not wrong and self.seconds is not None and 1.0 / self.fps > max(self.seconds, LONGEST_FRAME):
            wrong.append(f"one frame at {self.fps:g} frames per second lasts longer than {self.seconds:g} s of motion")
        if wrong:
            raise NeurokError("; ".join(wrong) + ".")

    def steps_per_frame(self, longest: float) -> int:
        """How many steps of at most ``longest`` [s] make a frame; refused where the run would never end."""
        count = max(1.0, math.ceil(1.0 / (self.fps * (longest if self.dt is None else self.dt)) - 1e-9))
        if count * (self.frame_count or 1) > MAX_STEPS:
            raise NeurokError(
                f"This run takes {count * (self.frame_count or 1):.2g} time steps, and at most {MAX_STEPS:,} are "
                "taken; ask for fewer seconds or a longer dt."
            )
        return int(count)

    @property
    def frame_count(self) -> int | None:
        """Frames after the first one; ``None`` if there is no end."""
        return None if self.seconds is None else max(1, round(self.seconds * self.fps))


@runtime_checkable
class Run(Protocol):
    """Bodies on their way. What happens to them may be changed between two steps."""

    @property
    def positions(self) -> tuple[Float[np.ndarray, "V 3"], ...]:
        """Vertices of each body now, in mesh units."""

    @property
    def time(self) -> float:
        """Seconds since the start."""

    @property
    def fraction(self) -> float:
        """How much of the asked time is done; 0 where there is no end."""

    @property
    def status(self) -> RolloutStatus:
        """``ok``, or why it ended early."""

    @property
    def world(self) -> World:
        """Gravity, wind and what stands around, as they are now."""

    def step(self, watch: Callable[[float], None] | None = None) -> bool:
        """Advance by one frame; ``False`` when the run has ended, and nothing was advanced.

        A run whose frames take long tells ``watch`` the fraction done in between; it may raise to end the run there.
        """

    def stop(self) -> None:
        """End the run on request; its frames are kept."""

    def set_gravity(self, gravity: Vector | Sequence[float]) -> None:
        """Another acceleration [m/s^2] from now on."""

    def set_wind(self, wind: Wind | None) -> None:
        """Other moving air from now on, or none."""

    def grab(
        self,
        vertices: int | Sequence[int],
        target: Vector | Sequence[float],
        body: int = 0,
        stiffness: float | None = None,
    ) -> None:
        """Pull the mean of some vertices of a body to a place [mesh units] by a damped spring; again to move it on.

        The ``stiffness`` [N/m] is by default one that lifts the whole object with a small gap.
        """

    def release(self) -> None:
        """Let go of what was grabbed."""

    def rollouts(self) -> tuple[Rollout, ...]:
        """The motion so far, of each body."""


@runtime_checkable
class Engine(Protocol):
    """A way to move bodies."""

    def start(self, bodies: Sequence[Body], world: World, settings: Settings) -> Run:
        """Everything made ready; the first frame is the start."""


def check_together(bodies: Sequence[Body]) -> None:
    """Refuse bodies that cannot share a world."""
    wrong = [] if bodies else ["there is nothing to simulate"]
    for body in bodies[1:]:
        mesh, first = body.mesh, bodies[0].mesh
        if mesh.unit != first.unit or mesh.up != first.up:
            wrong.append(
                f"all objects need one unit and up axis, but '{body.name}' has {mesh.unit} m and {mesh.up!r} "
                f"where the first has {first.unit} m and {first.up!r}; use Mesh.in_frame"
            )
    if wrong:
        raise NeurokError("; ".join(wrong) + ".")


def check_grab(
    bodies: Sequence[Body], vertices: int | Sequence[int], target: Vector | Sequence[float], body: int
) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and the place of a grab as arrays; refused where there is nothing to grab."""
    chosen = np.atleast_1d(np.asarray(vertices, dtype=np.int64))
    place = np.asarray(target, dtype=np.float64)
    if not 0 <= body < len(bodies):
        raise NeurokError(f"There is no body {body} to grab; there are 0 to {len(bodies) - 1}.")
    count = bodies[body].mesh.vertex_count
    if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= count:
        raise NeurokError(f"Only vertices 0 to {count - 1} can be grabbed, got {chosen.tolist()}.")
    if place.shape != (3,) or not np.isfinite(place).all():
        raise NeurokError(f"The target of a grab must be three finite numbers, got {target!r}.")
    return chosen, place
