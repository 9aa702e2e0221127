"""What the state of a window is made of: what acts, what was corrected, what was recorded; all of it immutable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset, Clip, Mesh
from neurok.core.material import STANDARD_GRAVITY
from neurok.core.mesh import frame_change
from neurok.core.select import SIDES, select_vertices
from neurok.dynamics.choice import EngineName
from neurok.dynamics.particles.engine_config import ResolutionName
from neurok.errors import NeurokError
from neurok.inference.materials import Proposals
from neurok.kinematics.space import KinematicSpace
from neurok.model import Model
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
    vector,
)
from neurok.studio.config import StudioConfig
from neurok.verbs import propose_materials


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

    act: ActionName | Literal["none"] = "none"
    strength: float = 1.0
    engine: EngineName = "auto"
    resolution: ResolutionName = "coarse"
    """Of the engine ``particles``."""

    def __post_init__(self) -> None:
        wrong = []
        for name, value, known in (
            ("wind_to", self.wind_to, tuple(SIDES)),
            ("base", self.base, get_args(BaseName)),
            ("act", self.act, ("none", *get_args(ActionName))),
            ("engine", self.engine, get_args(EngineName)),
            ("resolution", self.resolution, get_args(ResolutionName)),
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
        return vector(-STANDARD_GRAVITY * self.gravity * mesh.up_vector)

    def wind_vector(self, mesh: Mesh) -> Vector:
        """[m/s] in the axes of the mesh."""
        return vector(self.wind * side(mesh, self.wind_to))

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
        return Scene((thing,), world, engine=self.engine, resolution=self.resolution)


@dataclass(frozen=True, eq=False)
class StudioPush:
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


@dataclass(frozen=True, eq=False)
class Studied:
    """Bodies and joints of an object, and its poses."""

    plan: BodyPlan
    space: KinematicSpace | None
    """``None`` where nothing is known to move."""

    note: str


def study(model: Model) -> Studied:
    """Look for bodies and joints, which may take seconds."""
    found = model.plan
    try:
        return Studied(found, model.with_plan(found).space_to_sample("learned"), found.note)
    except NeurokError as error:
        return Studied(found, None, str(error))


@dataclass(frozen=True, eq=False)
class Corrections:
    """Everything that an edit can change."""

    plan: BodyPlan | None = None
    is_edited: bool = False
    """Whether the plan counts over the joints of the file."""

    materials: dict[str, str] = field(default_factory=dict)
    """Named by hand, by part or surface."""

    @property
    def counting(self) -> BodyPlan | None:
        """The plan, if it counts."""
        return self.plan if self.is_edited else None

    def model(self, model: Model) -> Model:
        """What is known of the object as it stands corrected."""
        return model.with_plan(self.counting).with_materials(self.materials)

    def mesh_of(self, asset: Asset) -> Mesh:
        """The object at rest, cut into the bodies of the plan if that counts."""
        return asset.mesh if self.counting is None else self.counting.mesh

    def made(self, model: Model) -> Asset:
        """The object as it stands corrected, with joints and what it is made of; without motion."""
        asset = model.asset
        if self.counting is not None:
            made = model.with_plan(self.counting).articulated()
            if asset.materials is not None and len(asset.materials.ids) != made.mesh.vertex_count:
                made = replace(made, materials=asset.materials.at(made.mesh.vertices, asset.mesh.vertices))
            asset = made
        return replace(asset, clips=())

    def space_of(self, model: Model) -> KinematicSpace | None:
        """Its poses; none where nothing is known to move."""
        found = self.model(model).space()
        return found if found.dim else None

    def proposals(self, model: Model) -> Proposals:
        """What each region is made of, by hand or proposed.

        Raises:
            NeurokError: If a region or a material is unknown.
        """
        return propose_materials(self.made(model), given=self.materials)


@dataclass(frozen=True, eq=False)
class History:
    """Edits that can be undone and done again; each is what it was called and the state on its other side."""

    most: int
    """Edits that are kept."""

    done: tuple[tuple[str, Corrections], ...] = ()
    undone: tuple[tuple[str, Corrections], ...] = ()

    def after(self, what: str, before: Corrections) -> History:
        """With one more edit; what was undone is gone."""
        return History(self.most, (*self.done, (what, before))[-self.most :])

    def undo(self, now: Corrections) -> tuple[History, str, Corrections]:
        """One edit back: the history then, what was taken back, and the state to return to."""
        if not self.done:
            raise NeurokError("There is nothing to undo.")
        *rest, (what, before) = self.done
        return replace(self, done=tuple(rest), undone=(*self.undone, (what, now))), what, before

    def redo(self, now: Corrections) -> tuple[History, str, Corrections]:
        """One edit forward again."""
        if not self.undone:
            raise NeurokError("There is nothing to redo.")
        *rest, (what, later) = self.undone
        return replace(self, undone=tuple(rest), done=(*self.done, (what, now))), what, later


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion that was kept, with what is plotted beside it."""

    clip: Clip
    energies: Float[np.ndarray, " T"]
    """Of the whole scene [J]; NaN where the engine does not say."""

    depths: Float[np.ndarray, " T"]
    """How deep things were in each other at most so far [m]."""

    @staticmethod
    def of_clip(clip: Clip) -> Recording:
        """A motion of which nothing else is known."""
        nothing = np.full(clip.frame_count, np.nan)
        return Recording(clip, nothing, nothing)


@dataclass(frozen=True, eq=False)
class Playback:
    """A recording, if there is one, and the frame that is shown."""

    recording: Recording | None = None
    loop: bool = True
    seconds: float = 0.0
    """From the start of the recording [s]."""

    @property
    def recorded(self) -> Recording:
        if self.recording is None:
            raise NeurokError("There is no recording yet; press Record, then Run.")
        return self.recording

    @property
    def last(self) -> int:
        """Number of the last frame."""
        return self.recorded.clip.frame_count - 1

    @property
    def frame(self) -> int:
        """Number of the frame that is shown."""
        if self.recording is None:
            return 0
        return min(int(self.seconds * self.recording.clip.fps + 1e-6), self.last)

    @property
    def positions(self) -> Float[np.ndarray, "V 3"]:
        """Of the vertices in the frame that is shown."""
        return self.recorded.clip.positions[self.frame].astype(np.float64)

    @property
    def is_over(self) -> bool:
        """Whether the last frame is shown, and nothing follows."""
        return self.frame >= self.last and not self.loop

    def at(self, frame: int) -> Playback:
        """At one frame, or at the nearest that there is."""
        return replace(self, seconds=float(np.clip(frame, 0, self.last)) / self.recorded.clip.fps)

    def begun(self) -> Playback:
        """From where it stands, or from the start if it stands at the end."""
        return self.at(0) if self.frame >= self.last else self

    def advanced(self, seconds: float) -> Playback:
        """So much later: from the start again, or at the end."""
        clip = self.recorded.clip
        length = clip.frame_count / clip.fps
        now = self.seconds + seconds
        if now < length:
            return replace(self, seconds=now)
        return replace(self, seconds=now % length) if self.loop else self.at(self.last)
