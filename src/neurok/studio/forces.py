"""What acts on the object in the window, as plain words and numbers, and the scene that says the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh
from neurok.core.gravity import STANDARD_GRAVITY
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES, select_vertices
from neurok.errors import NeurokError
from neurok.scene.description import (
    PUSH_SECONDS,
    ActionName,
    BaseName,
    Scene,
    SceneGround,
    SceneObject,
    SceneWorld,
    Source,
    Vector,
)
from neurok.studio.config import StudioConfig

EngineChoice = Literal["auto", "reduced", "mujoco", "particles"]
ActionChoice = Literal["none", "drop", "throw", "tilt", "drag", "wind"]


@dataclass(frozen=True)
class Forces:
    """Everything that can be set about a simulation."""

    gravity: float = 1.0
    """In multiples of the earth's."""

    wind: float = 0.0
    """Speed [m/s]."""

    wind_to: str = "right"
    """Side of the object that it blows to."""

    ground: bool = True
    base: BaseName = "auto"
    """Whether the object stands fixed or moves as a whole; ``auto`` lets it move where there is a ground."""

    act: ActionChoice = "none"
    strength: float = 1.0
    engine: EngineChoice = "auto"
    resolution: str = "coarse"
    """Of the engine ``particles``."""

    def __post_init__(self) -> None:
        wrong = []
        for name, value, known in (
            ("wind_to", self.wind_to, tuple(SIDES)),
            ("base", self.base, get_args(BaseName)),
            ("act", self.act, get_args(ActionChoice)),
            ("engine", self.engine, get_args(EngineChoice)),
            ("resolution", self.resolution, ("coarse", "medium", "fine")),
        ):
            if value not in known:
                wrong.append(f"{name} must be one of {', '.join(known)}, got {value!r}")
        for name, low, high in (("gravity", -10.0, 10.0), ("wind", 0.0, 100.0), ("strength", 0.01, 100.0)):
            if not low <= getattr(self, name) <= high:
                wrong.append(f"{name} must lie from {low:g} to {high:g}, got {getattr(self, name)}")
        if wrong:
            raise NeurokError("; ".join(wrong) + ".")

    def gravity_vector(self, mesh: Mesh) -> Vector:
        """[m/s^2] in the axes of the mesh."""
        return _vector(-STANDARD_GRAVITY * self.gravity * mesh.up_vector)

    def wind_vector(self, mesh: Mesh) -> Vector:
        """[m/s] in the axes of the mesh."""
        return _vector(self.wind * side(mesh, self.wind_to))

    def scene(self, source: Source, mesh: Mesh, q: np.ndarray | None) -> Scene:
        """The scene in which these forces act on an object."""
        act: ActionName | None = None if self.act == "none" else self.act
        thing = SceneObject(
            source,
            base=self.base,
            act=act,
            strength=self.strength if act is not None else 1.0,
            q=None if q is None else tuple(float(value) for value in q),
        )
        world = SceneWorld(
            gravity=None if self.gravity == 1.0 else self.gravity_vector(mesh),
            wind=None if self.wind == 0.0 else self.wind_vector(mesh),
            ground=SceneGround() if self.ground else None,
        )
        return Scene((thing,), world, engine=self.engine, resolution=self.resolution)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Push:
    """A short push on a place of the object towards a side, in halves of its weight."""

    mesh: Mesh
    at: str
    to: str
    strength: float

    def __post_init__(self) -> None:
        select_vertices(self.mesh, self.at)  # refuses places that there are not
        if not 0 < self.strength <= 100:
            raise NeurokError(f"The strength of a push must lie above 0 and up to 100, got {self.strength:g}.")

    def spring(self, positions: Float[np.ndarray, "V 3"], mass: float, config: StudioConfig) -> dict[str, Any]:
        """The far spring that pushes an object of so much mass [kg], as an order to the simulation."""
        chosen = select_vertices(self.mesh, self.at)
        far = config.push_reach * self.mesh.size
        force = config.push_force * self.strength * mass * STANDARD_GRAVITY
        target = positions[chosen].mean(axis=0) + far * side(self.mesh, self.to)
        stiffness = force / (far * self.mesh.unit)
        return {
            "vertices": chosen.tolist(),
            "target": target.tolist(),
            "stiffness": stiffness,
            "seconds": PUSH_SECONDS,
        }


def side(mesh: Mesh, name: str) -> np.ndarray:
    """The direction towards a side of the object, in its axes."""
    return np.asarray(frame_change("y", mesh.up) @ SIDES[name])


def _vector(values: np.ndarray) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z
