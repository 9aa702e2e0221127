"""The nouns: a part, how it looks, how it is repeated, and the object made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from neurok.core.articulation import JointKind
from neurok.core.mesh import frozen_array
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import CODE, KINDS, RELIEFS, Hollow, Kind, Relief, fitted, mesh_of
from neurok.modelling.shapes import Shape

Role = Literal[
    "body", "support", "seat", "back", "arm", "cushion", "handle", "trim", "foliage", "limb", "face", "cover", "moving"
]
ROLES: tuple[Role, ...] = get_args(Role)
"""What a part is for, whatever it is called."""

Feel = Literal["", "soft", "firm", "stiff", "flexible", "heavy", "light"]
FEELS: tuple[Feel, ...] = get_args(Feel)

Pattern = Literal["plain", "stripes", "bands", "checks", "plaid", "dots", "floral", "weave", "wood", "marble"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)

Vector = Float[np.ndarray, " D"] | Sequence[float]
"""Given as numbers, kept as a read-only array."""

Mirror = Literal["", "x", "z", "xz"]
MIRRORS: tuple[Mirror, ...] = get_args(Mirror)


@dataclass(frozen=True)
class Appearance:
    """What a part is made of and how it looks, in words and the numbers that go with them."""

    colour: str
    """One of the palette (``appearance.palette``)."""

    shade: str
    """The colour word that was drawn, such as ``crimson`` for red."""

    rgb: tuple[float, float, float]
    """sRGB, 0..1: the shade's, a little off."""

    material: str
    """Name in the material library: what simulations reckon with."""

    cover: str = ""
    """Name in the library of the cloth or leather around a padded part; it is what one sees and says."""

    feel: Feel = ""
    """``soft``, ``firm``, ``stiff``, ``flexible``, ``heavy`` or ``light``; scales its values (``appearance.FEEL``)."""

    pattern: Pattern = "plain"
    second: str = ""
    """Palette colour of the pattern."""

    second_rgb: tuple[float, float, float] = (1.0, 1.0, 1.0)
    tile: float = 0.2
    """Side of one square of the pattern [m]."""

    @property
    def visible_material(self) -> str:
        """The material that one would name: the cover of what is padded."""
        return self.cover or self.material


@dataclass(frozen=True, eq=False)
class Repeat:
    """Copies of one part: ``count`` of them, each a step on from the last, all mirrored in the planes through a pivot.

    Copy ``k`` is leaned by ``k lean`` about its own x axis and scaled by ``scale**k`` where it meets its parent, turned
    by ``k turn`` about the vertical through the pivot, and moved by ``k step``.
    """

    mirror: Mirror = ""
    count: int = 1
    step: Vector = (0.0, 0.0, 0.0)
    """[m] per copy."""

    turn: float = 0.0
    """[rad] per copy."""

    lean: float = 0.0
    """[rad] per copy."""

    scale: float = 1.0
    pivot: Vector = (0.0, 0.0)
    """x and z [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", frozen_array(self.step, np.float64, (3,), "step"))
        object.__setattr__(self, "pivot", frozen_array(self.pivot, np.float64, (2,), "pivot"))
        if self.mirror not in MIRRORS:
            raise NeurokError(f"mirror must be one of {', '.join(map(repr, MIRRORS))}, got {self.mirror!r}.")
        if self.count < 1:
            raise NeurokError(f"A part needs at least one copy, got {self.count}.")

    @property
    def total(self) -> int:
        return self.count * 2 ** len(self.mirror)

    def transforms(self, meets: npt.ArrayLike, across: npt.ArrayLike) -> Float[np.ndarray, "C 4 4"]:
        """Where each copy goes, given where the first one meets its parent and which way its x axis points.

        Mirror images have a negative determinant.
        """
        anchor, pivot = np.asarray(meets, dtype=np.float64), np.array([self.pivot[0], 0.0, self.pivot[1]])
        up = np.array([0.0, 1.0, 0.0])
        out = []
        for k in range(self.count):
            lean = lie.rotation_about(np.asarray(across, dtype=np.float64), anchor, k * self.lean)
            size = np.diag([*([self.scale**k] * 3), 1.0])
            grow = lie.translation(anchor) @ size @ lie.translation(-anchor)
            copy = (
                lie.translation(k * np.asarray(self.step)) @ lie.rotation_about(up, pivot, k * self.turn) @ lean @ grow
            )
            out += [flip @ copy for flip in self._flips(pivot)]
        return np.stack(out)

    def _flips(self, pivot: np.ndarray) -> list[np.ndarray]:
        flips = [np.eye(4)]
        for axis in self.mirror:
            sign = np.diag([-1.0 if axis == "x" else 1.0, 1.0, -1.0 if axis == "z" else 1.0, 1.0])
            plane = lie.translation(pivot) @ sign @ lie.translation(-pivot)
            flips += [plane @ flip for flip in flips]
        return flips


@dataclass(frozen=True, eq=False)
class Hinge:
    """How a part moves against its parent; everything that hangs on it moves along."""

    kind: JointKind
    axis: Vector
    origin: Vector
    """A point of the axis [m], in the frame of the object."""

    lower: float = 0.0
    """[rad], or [m] for a slide."""

    upper: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen_array(self.axis, np.float64, (3,), "axis"))
        object.__setattr__(self, "origin", frozen_array(self.origin, np.float64, (3,), "origin"))


@dataclass(frozen=True, eq=False)
class Part:
    """One token of an object: a closed solid in its own box, where it stands, and what it meets."""

    name: str
    role: Role
    kind: Kind
    code: Float[np.ndarray, "24"]
    """The numbers that say its shape (``modelling.forms``); zeros when it is implicit."""

    size: Float[np.ndarray, "3"]
    """Sides of its box [m]."""

    centre: Float[np.ndarray, "3"]
    """[m]."""

    turn: Float[np.ndarray, "3 3"]
    """Rotation from its own axes to those of the object."""

    appearance: Appearance
    style: tuple[str, ...] = ()
    """Words such as ``round``, ``tapered``, ``slatted`` (``vocabulary.STYLES``)."""

    hollow: Hollow | None = None
    relief: Relief = "smooth"
    repeat: Repeat = field(default_factory=Repeat)
    parent: int = -1
    """Number of the part that it meets, always an earlier one; -1 for the first."""

    meets: Float[np.ndarray, "3"] = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    """Where its first copy meets the parent [m], in the frame of the object."""

    hinge: Hinge | None = None
    mesh: Shape | None = None
    """The solid itself, only of implicit parts, in its own box."""

    def __post_init__(self) -> None:
        for name, shape in (("code", (CODE,)), ("size", (3,)), ("centre", (3,)), ("turn", (3, 3)), ("meets", (3,))):
            object.__setattr__(self, name, frozen_array(getattr(self, name), np.float64, shape, name))
        allowed = {"kind": KINDS, "role": ROLES, "relief": RELIEFS}
        for name, words in allowed.items():
            if getattr(self, name) not in words:
                raise NeurokError(
                    f"{name} of part '{self.name}' must be one of {', '.join(words)}, got {getattr(self, name)!r}."
                )
        if self.hinge is not None and self.repeat.total > 1:
            raise NeurokError(f"Part '{self.name}' moves, so it cannot be repeated; make each copy a part.")
        if (self.kind == "implicit") != (self.mesh is not None):
            raise NeurokError(
                f"Part '{self.name}' of kind {self.kind} must {'have' if self.mesh is None else 'not have'} a mesh."
            )

    @cached_property
    def solid(self) -> Shape:
        """The closed solid in its own axes, filling its box about the origin."""
        if self.mesh is not None:
            return fitted(self.mesh, self.size)
        return mesh_of(self.kind, self.code, self.size, self.hollow, self.relief)

    @cached_property
    def poses(self) -> Float[np.ndarray, "C 4 4"]:
        """From its own axes to the object, for each copy."""
        return self.repeat.transforms(self.meets, self.turn[:, 0]) @ lie.compose(self.turn, self.centre)

    @cached_property
    def contacts(self) -> Float[np.ndarray, "C 3"]:
        """Where each copy meets the parent [m]."""
        moves = self.repeat.transforms(self.meets, self.turn[:, 0])
        return moves[:, :3, :3] @ self.meets + moves[:, :3, 3]

    @cached_property
    def copies(self) -> tuple[Shape, ...]:
        """The solid of each copy in the object's frame."""
        return tuple(placed(self.solid, pose) for pose in self.poses)

    @cached_property
    def solids(self) -> tuple:  # type: ignore[type-arg]
        """The same as solids of ``manifold3d``, which share their structure."""
        first = to_manifold(self.solid)
        return tuple(first.transform(np.ascontiguousarray(pose[:3])) for pose in self.poses)


def placed(shape: Shape, pose: Float[np.ndarray, "4 4"]) -> Shape:
    """A solid moved by an affine map, still facing outwards."""
    moved = shape.transformed(pose)
    return moved.flipped() if np.linalg.det(pose[:3, :3]) < 0 else moved


@dataclass(frozen=True, eq=False)
class Assembly:
    """An object as a list of parts, each after its parent: y up, metres, its front towards +z, standing on y = 0."""

    category: str
    parts: tuple[Part, ...]
    style: tuple[str, ...] = ()
    """Words for the whole, such as ``wingback`` or ``corner``."""

    name: str = ""
    """Family, seed and number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for number, part in enumerate(self.parts):
            if not -1 <= part.parent < number or (part.parent < 0) != (number == 0):
                raise NeurokError(f"Part '{part.name}' must come after its parent, and only the first has none.")

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        ends = np.stack([shape.bounds for part in self.parts for shape in part.copies])
        return np.stack([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])
