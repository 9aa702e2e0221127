"""The rest shape of an object: triangles, their look, their parts, their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from neurok.core.surface import Surface
from neurok.errors import MeshError, NeurokError, ShapeError, counted, shown

LARGEST = 1e12
"""Largest coordinate, in any unit: its cube, a volume, still fits in single precision."""


def within_reach(array: np.ndarray) -> np.ndarray:
    """Which numbers can be computed with: neither NaN nor infinite nor beyond ``LARGEST``."""
    with np.errstate(invalid="ignore"):
        return cast(np.ndarray, np.abs(array) <= LARGEST)


def frozen_array(value: npt.ArrayLike, dtype: Any, shape: tuple[int | None, ...], name: str) -> np.ndarray:
    """``value`` as a read-only array of ``dtype``; ``None`` in ``shape`` leaves that length free.

    Floating input keeps its precision when ``dtype`` is ``np.floating``.
    """
    try:
        array = np.asarray(value)
        if dtype is np.floating:
            dtype = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
        array = np.ascontiguousarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} must be an array of numbers, but numpy said: {error}.") from error
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ShapeError(f"{name} must have shape ({wanted}), but has {array.shape}.")
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Authored:
    """Values of each vertex as the file has them, in the space of ``vertices``; a row of zeros says nothing."""

    vertices: Float[np.ndarray, "V 3"] | None
    """The places that normals and tangents belong to; those of a mesh that has moved since are not used."""

    normals: Float[np.ndarray, "V 3"] | None = None
    tangents: Float[np.ndarray, "V 4"] | None = None
    """Direction and, in the last column, handedness."""

    uv_sets: tuple[Float[np.ndarray, "V 2"], ...] = ()
    """Texture coordinates, origin at the top left as in glTF, before any picture's own transform."""

    def __post_init__(self) -> None:
        put = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731
        count = self.count
        for name, width in (("normals", 3), ("tangents", 4)):
            if getattr(self, name) is not None:
                put(name, frozen_array(getattr(self, name), np.float32, (count, width), name))
        put("uv_sets", tuple(frozen_array(uv, np.float32, (count, 2), "uv_sets") for uv in self.uv_sets))

    @property
    def count(self) -> int:
        """Number of vertices."""
        known = (self.vertices, self.normals, self.tangents, *self.uv_sets)
        return next((len(array) for array in known if array is not None), 0)

    def belongs_to(self, vertices: Float[np.ndarray, "V 3"]) -> bool:
        """Whether normals and tangents fit these places."""
        return self.vertices is not None and np.array_equal(vertices, self.vertices)

    def without_directions(self) -> Authored | None:
        """The texture coordinates alone, for a mesh whose faces have changed."""
        return Authored(None, uv_sets=self.uv_sets) if self.uv_sets else None

    def at(self, chosen: Int[np.ndarray, " N"]) -> Authored:
        """Some of the vertices, in any order."""
        pick = lambda array: None if array is None else array[chosen]  # noqa: E731
        sets = tuple(uv[chosen] for uv in self.uv_sets)
        return Authored(pick(self.vertices), pick(self.normals), pick(self.tangents), sets)

    def turned(self, vertices: Float[np.ndarray, "V 3"], turn: Float[np.ndarray, "3 3"]) -> Authored:
        """The same of an object that was turned, and stands at ``vertices`` now."""
        tangents = self.tangents
        if tangents is not None:
            tangents = np.column_stack([tangents[:, :3] @ turn.T, tangents[:, 3]])
        return replace(
            self,
            vertices=vertices,
            normals=None if self.normals is None else self.normals @ turn.T,
            tangents=tangents,
        )


def joined_uv_sets(
    given: Sequence[Authored | None], uvs: Sequence[Float[np.ndarray, "V 2"] | None], counts: Sequence[int]
) -> Authored | None:
    """Texture coordinates of several meshes as one; a mesh that has only its own ``uv`` gives that as the first set."""
    if not any(authored is not None and authored.uv_sets for authored in given):
        return None
    rows = [
        authored.uv_sets
        if authored is not None and authored.uv_sets
        else (() if uv is None else (np.column_stack([uv[:, 0], 1.0 - uv[:, 1]]),))
        for authored, uv in zip(given, uvs, strict=True)
    ]
    nothing = [np.zeros((count, 2)) for count in counts]
    sets = [
        np.concatenate([row[k] if k < len(row) else none for row, none in zip(rows, nothing, strict=True)])
        for k in range(max(map(len, rows)))
    ]
    return Authored(None, uv_sets=tuple(sets))


UpAxis = Literal["x", "y", "z"]
AXIS_INDEX = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh. Arrays are read-only; ``dataclasses.replace`` or the verbs below make a new one.

    Raises:
        ShapeError: If an array has the wrong shape.
        MeshError: If it is empty, has vertices that are NaN, infinite or absurdly far, or indices out of range; the
            error carries the draft, which the mesh doctor can repair.
    """

    vertices: Float[np.ndarray, "V 3"]
    """Positions, in the file's unit and axes."""

    faces: Int[np.ndarray, "F 3"]
    """Vertex indices, counter-clockwise seen from outside."""

    uv: Float[np.ndarray, "V 2"] | None = None
    """Texture coordinates, origin at the bottom left (as OBJ; glTF's v is flipped on reading and writing)."""

    vertex_colors: Float[np.ndarray, "V 4"] | None = None
    """Linear-light RGBA, 0..1."""

    part_ids: Int[np.ndarray, " V"] | None = None
    """The part of each vertex; a face never spans two parts."""

    part_names: tuple[str, ...] = ()
    """One name per part. A part may be empty (a link without geometry)."""

    surfaces: tuple[Surface, ...] = ()
    face_surfaces: Int[np.ndarray, " F"] | None = None
    """Index into ``surfaces`` for each face; needed only when there are several."""

    unit: float = 1.0
    """Metres per unit of ``vertices``."""

    up: UpAxis = "y"
    name: str = "object"
    authored: Authored | None = None
    """Normals, tangents and sets of texture coordinates that the file gives; dropped when vertices come or go."""

    def __post_init__(self) -> None:
        put = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731
        put("vertices", frozen_array(self.vertices, np.float64, (None, 3), "vertices"))
        put("faces", frozen_array(self.faces, np.int64, (None, 3), "faces"))
        count, face_count = len(self.vertices), len(self.faces)
        if self.uv is not None:
            put("uv", frozen_array(self.uv, np.float64, (count, 2), "uv"))
        if self.vertex_colors is not None:
            put("vertex_colors", frozen_array(self.vertex_colors, np.float64, (count, 4), "vertex_colors"))
        if self.part_ids is not None:
            put("part_ids", frozen_array(self.part_ids, np.int64, (count,), "part_ids"))
        if self.face_surfaces is not None:
            put("face_surfaces", frozen_array(self.face_surfaces, np.int64, (face_count,), "face_surfaces"))
        put("part_names", tuple(self.part_names))
        put("surfaces", tuple(self.surfaces))
        if self.authored is not None and self.authored.count != count:
            put("authored", None)
        if self.up not in AXIS_INDEX:
            raise NeurokError(f"up must be 'x', 'y' or 'z', got {self.up!r}.")
        if not (np.isfinite(self.unit) and self.unit > 0):
            raise NeurokError(f"unit must be a positive number of metres, got {self.unit}.")
        self._check_geometry()
        self._check_labels()

    def _check_geometry(self) -> None:
        if len(self.vertices) == 0 or len(self.faces) == 0:
            raise MeshError(
                f"The mesh {shown(self.name)} is empty ({len(self.vertices)} vertices, {len(self.faces)} faces); "
                "a mesh needs at least one triangle.",
                self,
            )
        if not within_reach(self.vertices).all():
            bad = int((~within_reach(self.vertices).all(axis=1)).sum())
            raise MeshError(
                f"{bad} of {len(self.vertices)} vertices of {shown(self.name)} are NaN, infinite or beyond "
                f"{LARGEST:.0e}; 'neurok inspect MESH --out FILE' drops them.",
                self,
            )
        if self.faces.min() < 0 or self.faces.max() >= len(self.vertices):
            wrong = int(((self.faces < 0) | (self.faces >= len(self.vertices))).any(axis=1).sum())
            raise MeshError(
                f"{wrong} of {len(self.faces)} faces of {shown(self.name)} name vertices outside "
                f"0..{len(self.vertices) - 1}; 'neurok inspect MESH --out FILE' drops them.",
                self,
            )

    def _check_labels(self) -> None:
        if self.part_ids is not None:
            if len(self.part_ids) and self.part_ids.min() < 0:
                raise ShapeError("part_ids must be 0 or larger.")
            if not self.part_names:
                names = tuple(f"part_{i}" for i in range(int(self.part_ids.max()) + 1))
                object.__setattr__(self, "part_names", names)
            if self.part_ids.max() >= len(self.part_names):
                raise ShapeError(
                    f"part_ids go up to {self.part_ids.max()}, but there are only {len(self.part_names)} part_names."
                )
            if self.part_ids.min() != self.part_ids.max():
                corner_parts = self.part_ids[self.faces]
                if (corner_parts != corner_parts[:, :1]).any():
                    raise ShapeError(
                        "A face spans two parts; split the shared vertices (geometry.topology.split_by_face_label)."
                    )
        elif self.part_names:
            raise ShapeError("part_names were given without part_ids.")
        if self.face_surfaces is not None and (
            self.face_surfaces.min() < 0 or self.face_surfaces.max() >= max(1, len(self.surfaces))
        ):
            raise ShapeError(
                f"face_surfaces must lie in 0..{len(self.surfaces) - 1}, "
                f"but span {self.face_surfaces.min()}..{self.face_surfaces.max()}."
            )
        if self.vertex_colors is not None and not np.isfinite(self.vertex_colors).all():
            raise ShapeError("vertex_colors must be finite numbers from 0 to 1.")
        if self.uv is not None and not np.isfinite(self.uv).all():
            raise ShapeError("uv must be finite numbers.")

    def __repr__(self) -> str:
        parts = f", {counted(len(self.part_names), 'part')}" if len(self.part_names) > 1 else ""
        size = f"{counted(len(self.vertices), 'vertex')}, {counted(len(self.faces), 'face')}"
        return f"<Mesh {shown(self.name)}: {size}{parts}>"

    @property
    def vertex_count(self) -> int:
        return len(self.vertices)

    @property
    def face_count(self) -> int:
        return len(self.faces)

    @property
    def part_count(self) -> int:
        """Number of parts; 1 for an unlabelled mesh."""
        return max(1, len(self.part_names))

    @cached_property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """Lowest and highest corner of the axis-aligned box of the referenced vertices."""
        is_used = np.zeros(self.vertex_count, dtype=bool)
        is_used[self.faces.reshape(-1)] = True
        used = self.vertices[is_used]
        return frozen_array(np.stack([used.min(axis=0), used.max(axis=0)]), np.floating, (2, 3), "bounds")

    @cached_property
    def size(self) -> float:
        """Diagonal of the box, in the mesh's unit."""
        low, high = self.bounds
        return float(np.linalg.norm(high - low))

    @property
    def up_vector(self) -> Float[np.ndarray, "3"]:
        return np.eye(3)[AXIS_INDEX[self.up]]

    @property
    def face_parts(self) -> Int[np.ndarray, " F"]:
        """The part of each face."""
        if self.part_ids is None:
            return np.zeros(self.face_count, dtype=np.int64)
        return self.part_ids[self.faces[:, 0]]

    def with_vertices(self, vertices: Float[np.ndarray, "V 3"]) -> Mesh:
        """The same mesh in another pose."""
        return replace(self, vertices=vertices)

    def in_frame(self, up: UpAxis = "y", unit: float = 1.0) -> Mesh:
        """The same object with another up axis and unit (a rotation and a uniform scale)."""
        if up == self.up and unit == self.unit:
            return self
        turn = frame_change(self.up, up)
        turned = replace(self, vertices=self.vertices @ (turn.T * (self.unit / unit)), up=up, unit=unit, authored=None)
        if self.authored is None or not self.authored.belongs_to(self.vertices):
            return replace(turned, authored=self.authored)
        return replace(turned, authored=self.authored.turned(turned.vertices, turn))

    @property
    def normals(self) -> Float[np.ndarray, "V 3"] | None:
        """The normals that the file gives, as long as no vertex has moved; rows of zeros say nothing."""
        given = self.authored
        return None if given is None or not given.belongs_to(self.vertices) else given.normals

    def submesh(self, face_mask: np.ndarray, name: str | None = None) -> Mesh:
        """The faces chosen by a mask or indices, with only the vertices they use; parts keep their numbers."""
        used, inverse = np.unique(self.faces[face_mask], return_inverse=True)
        looks = None if self.face_surfaces is None else self.face_surfaces[face_mask]
        return self.reindexed(used, inverse.reshape(-1, 3), face_surfaces=looks, name=name or self.name)

    def reindexed(self, source: Int[np.ndarray, " W"], faces: Int[np.ndarray, "F 3"], **fields: Any) -> Mesh:
        """A mesh of copies of vertices, ``source`` tells of which, with other faces, and other ``fields`` if given."""
        pick = lambda array: None if array is None else array[source]  # noqa: E731
        own: dict[str, Any] = {name: pick(getattr(self, name)) for name in ("uv", "vertex_colors", "part_ids")}
        own["authored"] = self.authored and self.authored.at(source)
        return replace(self, vertices=self.vertices[source], faces=faces, **(own | fields))


def frame_change(from_up: UpAxis, to_up: UpAxis) -> Float[np.ndarray, "3 3"]:
    """The cyclic axis permutation (a proper rotation) that takes one up axis to another."""
    shift = (AXIS_INDEX[to_up] - AXIS_INDEX[from_up]) % 3
    return cast(np.ndarray, np.roll(np.eye(3), shift, axis=0))


@dataclass(frozen=True, eq=False)
class UnitBox:
    """Longest side 1, middle at the origin, +y up.

    Training and use build it from the same thing: the sampled points of the surface, not the vertices of the file.
    """

    center: Float[np.ndarray, "3"]
    """Middle of the box, in the axes and the unit of the mesh."""

    size: float
    """Longest side, in the unit of the mesh."""

    turn: Float[np.ndarray, "3 3"]
    """From the axes of the mesh to those of the box."""

    @staticmethod
    def around(points: Float[np.ndarray, "*N 3"], up: UpAxis = "y") -> UnitBox:
        """The box of some points whose up axis is named."""
        flat = points.reshape(-1, 3)
        low, high = flat.min(axis=0), flat.max(axis=0)
        return UnitBox((low + high) / 2, max(float((high - low).max()), 1e-300), frame_change(up, "y"))

    def to_box(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Points of the mesh in the box."""
        return ((points - self.center) / self.size) @ self.turn.T

    def from_box(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Points of the box on the mesh."""
        return points @ self.turn * self.size + self.center

    def twists_from_box(self, twists: Float[np.ndarray, "*N 6 Z"]) -> Float[np.ndarray, "*N 6 Z"]:
        """Twists of the box, each about some point, as twists of the mesh about the same point."""
        return np.concatenate([self.turn.T @ twists[..., :3, :], self.turn.T @ twists[..., 3:, :] * self.size], axis=-2)
