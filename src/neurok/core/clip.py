"""An object in motion: recorded, driven by handles, or what a simulation gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from neurok.core.mesh import LARGEST, Mesh, UpAxis, frame_change, frozen_array, within_reach
from neurok.errors import NeurokError, ShapeError, counted, shown

MAX_FPS = 1000.0
"""Highest rate a clip is resampled to."""

MAX_NUMBERS = 500_000_000
"""Most coordinates of a resampled clip: 4 GB in double precision."""


@dataclass(frozen=True, eq=False)
class Bind:
    """The pose in which handles took hold of an object, where that is not its rest pose: x_rest = sum_h w_h T_h x."""

    vertices: Float[np.ndarray, "V 3"]
    """Vertex positions in that pose."""

    transforms: Float[np.ndarray, "H 4 4"]
    """Rigid transform of each handle from that pose to rest."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", frozen_array(self.vertices, np.float64, (None, 3), "vertices"))
        object.__setattr__(self, "transforms", frozen_array(self.transforms, np.float64, (None, 4, 4), "transforms"))


@dataclass(frozen=True, eq=False)
class BoneTree:
    """Which handle hangs on which, and where: what animators call a skeleton."""

    parents: Int[np.ndarray, " H"]
    """The handle that carries each, -1 for those that hang on nothing."""

    pivots: Float[np.ndarray, "H 3"]
    """Where each turns against what carries it, in the pose in which handles took hold."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        pivots = frozen_array(self.pivots, np.float64, (None, 3), "pivots")
        object.__setattr__(self, "parents", frozen_array(self.parents, np.int64, (len(pivots),), "parents"))
        object.__setattr__(self, "pivots", pivots)
        if len(self.names) != len(pivots) or sorted(self.order()) != list(range(len(pivots))):
            raise ShapeError("A tree of bones needs a name for each, and every bone must be connected to a root.")

    def order(self) -> list[int]:
        """Carriers before what they carry."""
        found = [bone for bone, parent in enumerate(self.parents) if parent < 0]
        for bone in found:
            found += np.flatnonzero(self.parents == bone).tolist()
        return found

    def turned(self, turn: Float[np.ndarray, "3 3"], scale: float) -> BoneTree:
        """That of an object that was turned and scaled."""
        return BoneTree(self.parents, self.pivots @ (turn.T * scale), self.names)


@dataclass(frozen=True, eq=False)
class Skin:
    """Motion driven by few rigid handles: x = sum_h w_h (R_h x_bind + t_h), where x_bind is mostly the rest."""

    weights: Float[np.ndarray, "V H"]
    """Non-negative, each row sums to one."""

    transforms: Float[np.ndarray, "T H 4 4"]
    """Rigid transform of each handle in each frame, relative to ``bind``, or to rest without one."""

    bind: Bind | None = None
    """Set for rigged objects that do not rest in the pose they were rigged in."""

    tree: BoneTree | None = None
    """How handles hang on each other, where that is known; writers then nest the bones."""

    def __post_init__(self) -> None:
        weights = frozen_array(self.weights, np.floating, (None, None), "weights")
        transforms = frozen_array(self.transforms, np.float64, (None, weights.shape[1], 4, 4), "transforms")
        if not np.allclose(weights.sum(axis=1), 1.0, atol=1e-3) or weights.min() < -1e-6:
            raise ShapeError("Skin weights must be non-negative and sum to one for every vertex.")
        if self.bind is not None and (len(self.bind.vertices), len(self.bind.transforms)) != weights.shape:
            raise ShapeError("The bind pose of a skin must have its vertices and handles.")
        if self.tree is not None and len(self.tree.parents) != weights.shape[1]:
            raise ShapeError("The tree of a skin must have its handles.")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "transforms", transforms)

    def positions(self, rest: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "T V 3"]:
        """Vertex positions of every frame."""
        points = rest if self.bind is None else self.bind.vertices
        lifted = np.concatenate([points, np.ones((len(points), 1))], axis=1)
        return np.stack(
            [np.einsum("vh,hij,vj->vi", self.weights, t[:, :3], lifted, optimize=True) for t in self.transforms]
        )

    def at_vertices(self, chosen: Int[np.ndarray, " N"]) -> Skin:
        """The same handles on some of the vertices, in any order."""
        bind = self.bind and Bind(self.bind.vertices[chosen], self.bind.transforms)
        return Skin(self.weights[chosen], self.transforms, bind, self.tree)

    def at_frames(self, chosen: Int[np.ndarray, " N"]) -> Skin:
        """The same handles in some of the frames."""
        return Skin(self.weights, self.transforms[chosen], self.bind, self.tree)

    def turned(self, turn: Float[np.ndarray, "3 3"], scale: float) -> Skin:
        """The handles of an object that was turned and scaled."""
        bind = self.bind and Bind(
            self.bind.vertices @ (turn.T * scale), _turned_transforms(self.bind.transforms, turn, scale)
        )
        tree = self.tree and self.tree.turned(turn, scale)
        return Skin(self.weights, _turned_transforms(self.transforms, turn, scale), bind, tree)


def _turned_transforms(
    transforms: Float[np.ndarray, "*B 4 4"], turn: Float[np.ndarray, "3 3"], scale: float
) -> Float[np.ndarray, "*B 4 4"]:
    out = transforms.copy()
    out[..., :3, :3] = turn @ transforms[..., :3, :3] @ turn.T
    out[..., :3, 3] = transforms[..., :3, 3] @ turn.T * scale
    return out


@dataclass(frozen=True, eq=False)
class Clip:
    """Vertex positions of one object over time; the faces never change."""

    rest: Mesh
    """The undeformed object."""

    positions: Float[np.ndarray, "T V 3"]
    """Vertex positions of each frame, in the unit and axes of ``rest``."""

    fps: float = 24.0
    """Frames per second [1/s]."""

    name: str = "motion"
    skin: Skin | None = None
    """The handles behind the motion, when it has any; writers then store bones instead of positions."""

    @classmethod
    def deferred(
        cls,
        rest: Mesh,
        bake: Callable[[], Float[np.ndarray, "T V 3"]],
        frame_count: int,
        fps: float = 24.0,
        name: str = "motion",
        skin: Skin | None = None,
    ) -> Clip:
        """A clip whose positions are made by ``bake`` when they are first asked for."""
        clip = object.__new__(cls)
        values = {"rest": rest, "fps": fps, "name": name, "skin": skin, "_bake": bake, "_frame_count": frame_count}
        for key, value in values.items():
            object.__setattr__(clip, key, value)
        clip._check_timing(frame_count)
        return clip

    def __getattr__(self, name: str) -> Any:
        bake = self.__dict__.get("_bake")
        if name != "positions" or bake is None:
            raise AttributeError(f"A clip has no '{name}'.")
        object.__setattr__(self, "positions", self._checked(bake()))
        del self.__dict__["_bake"]
        return self.positions

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: positions, not the way to make them."""
        state = {**self.__dict__, "positions": self.positions}
        return {key: value for key, value in state.items() if not key.startswith("_")}

    def __repr__(self) -> str:
        return f"<Clip {shown(self.name)}: {counted(self.frame_count, 'frame')} at {self.fps:g}/s of {self.rest!r}>"

    @property
    def is_baked(self) -> bool:
        """Whether the positions are there; asking for them makes them."""
        return "positions" in self.__dict__

    def _checked(self, positions: Float[np.ndarray, "T V 3"]) -> Float[np.ndarray, "T V 3"]:
        positions = frozen_array(positions, np.floating, (None, self.rest.vertex_count, 3), "positions")
        if not (sound := within_reach(positions)).all():
            frame = int(np.flatnonzero(~sound.all(axis=(1, 2)))[0])
            raise NeurokError(
                f"Frame {frame} of clip {shown(self.name)} has positions that are NaN, infinite or "
                f"beyond {LARGEST:.0e}."
            )
        return positions

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", self._checked(self.positions))
        self._check_timing(len(self.positions))

    def _check_timing(self, frame_count: int) -> None:
        if frame_count == 0:
            raise ShapeError("A clip needs at least one frame.")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise NeurokError(f"fps must be positive, got {self.fps}.")
        if self.skin is not None and (
            self.skin.transforms.shape[0] != frame_count or len(self.skin.weights) != self.rest.vertex_count
        ):
            raise ShapeError("The skin must have one row per vertex and one set of transforms per frame.")

    @property
    def frame_count(self) -> int:
        return len(self.positions) if self.is_baked else int(self.__dict__["_frame_count"])

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (self.frame_count - 1) / self.fps

    def mesh(self, frame: int) -> Mesh:
        """The object as it is in one frame."""
        return self.rest.with_vertices(self.positions[frame])

    def in_frame(self, up: UpAxis = "y", unit: float = 1.0) -> Clip:
        """The same motion with another up axis and unit."""
        if up == self.rest.up and unit == self.rest.unit:
            return self
        turn, scale = frame_change(self.rest.up, up), self.rest.unit / unit
        positions = self.positions @ (turn.T * scale).astype(self.positions.dtype)
        skin = self.skin and self.skin.turned(turn, scale)
        return Clip(self.rest.in_frame(up, unit), positions, self.fps, self.name, skin)

    def resampled(self, fps: float) -> Clip:
        """The motion at another frame rate, by linear interpolation; handles survive where frames fall on old ones."""
        if not (np.isfinite(fps) and 0 < fps <= MAX_FPS):
            raise NeurokError(f"A frame rate must lie between 0 and {MAX_FPS:g}, got {fps}.")
        count = int(np.floor(self.duration * fps + 1e-6)) + 1
        if 3 * count * self.rest.vertex_count > MAX_NUMBERS:
            raise NeurokError(
                f"{self.duration:.3g} s at {fps:g} frames per second are {count} frames of {self.rest.vertex_count} "
                f"vertices, more than fit in memory; choose a lower rate."
            )
        at = np.minimum(np.arange(count) * (self.fps / fps), self.frame_count - 1)
        whole = np.rint(at).astype(np.int64)
        if np.allclose(at, whole, atol=1e-6):
            return replace(
                self, positions=self.positions[whole], fps=fps, skin=self.skin and self.skin.at_frames(whole)
            )
        before = np.floor(at).astype(np.int64)
        after = np.minimum(before + 1, self.frame_count - 1)
        share = (at - before)[:, None, None].astype(self.positions.dtype)
        positions = (1 - share) * self.positions[before] + share * self.positions[after]
        return replace(self, positions=positions, fps=fps, skin=None)


RolloutStatus = Literal["ok", "implausible", "diverged", "stopped"]


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
    """``ok``; ``implausible`` (the numbers are fine, the picture is not; see ``neurok.scene.outcome``); ``diverged``
    (only the good frames are kept); ``stopped`` (interrupted by the user)."""

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
        return f"<Rollout: {counted(self.frame_count, 'frame')}, {self.dt:g} s apart, {self.status}, of {self.rest!r}>"

    @property
    def frame_count(self) -> int:
        return len(self.positions) if self.positions is not None else len(self.q)  # type: ignore[arg-type]

    def clip(self, name: str = "motion") -> Clip:
        """The motion as a clip, for writers and renderers."""
        if self.positions is None:
            raise NeurokError("This rollout holds only q; decode it with the space it came from.")
        return Clip(self.rest, self.positions, 1.0 / self.dt, name, self.skin)
