"""What a simulation gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from neurok.core.clip import Clip, Skin
from neurok.core.mesh import Mesh, frozen_array
from neurok.errors import NeurokError, ShapeError

RolloutStatus = Literal["ok", "diverged", "stopped"]


@dataclass(frozen=True, eq=False)
class Rollout:
    """Motion over time: vertex positions and/or reduced coordinates, with the truth about how it went."""

    rest: Mesh
    dt: float
    """Seconds between two stored frames."""

    positions: Float[np.ndarray, "T V 3"] | None = None
    """Vertex positions of each frame, in the unit and axes of ``rest``."""

    q: Float[np.ndarray, "T D"] | None = None
    qdot: Float[np.ndarray, "T D"] | None = None
    status: RolloutStatus = "ok"
    """``ok``; ``diverged`` (only the good frames are kept); ``stopped`` (interrupted by the user)."""

    message: str = ""
    """One sentence when the status is not ok: what happened and what to try."""

    energies: Mapping[str, Float[np.ndarray, " T"]] = field(default_factory=dict)
    """Energy of each kind in each frame [J]: ``kinetic``, one entry per potential, ``total``."""

    report: Mapping[str, float | int | str | None] = field(default_factory=dict)
    """Figures of the run (steps, steps per second, drift, penetration ...)."""

    skin: Skin | None = None
    grains: int = 0
    """So many octahedra at the end of the mesh, six vertices each, stand for loose stuff: sand, water."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise NeurokError(f"dt must be positive, got {self.dt}.")
        if self.status not in get_args(RolloutStatus):
            raise NeurokError(f"status must be one of {', '.join(get_args(RolloutStatus))}, got {self.status!r}.")
        shapes = {"positions": (None, self.rest.vertex_count, 3), "q": (None, None), "qdot": (None, None)}
        lengths = set()
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is None:
                continue
            value = frozen_array(value, np.floating, shape, name)
            if not np.isfinite(value).all():
                raise NeurokError(f"A rollout must hold finite {name} only; drop the frames after it diverged.")
            object.__setattr__(self, name, value)
            lengths.add(len(value))
        if self.positions is None and self.q is None:
            raise ShapeError("A rollout needs positions, q, or both.")
        if len(lengths) > 1:
            raise ShapeError(f"positions, q and qdot must have equally many frames, got {sorted(lengths)}.")

    def __repr__(self) -> str:
        return f"<Rollout: {self.frame_count} frames, {self.dt:g} s apart, {self.status}, of {self.rest!r}>"

    @property
    def frame_count(self) -> int:
        return len(self.positions) if self.positions is not None else len(self.q)  # type: ignore[arg-type]

    def clip(self, name: str = "motion") -> Clip:
        """The motion as a clip, for writers and renderers."""
        if self.positions is None:
            raise NeurokError("This rollout holds only q; decode it with the space it came from.")
        return Clip(self.rest, self.positions, 1.0 / self.dt, name, self.skin)
