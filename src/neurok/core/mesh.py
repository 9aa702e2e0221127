"""The rest shape of an object: triangles, their look, their parts, their units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, cast

import numpy as np
from jaxtyping import Float, Int

from neurok.core.arrays import LARGEST, frozen_array, within_reach
from neurok.core.authored import Authored
from neurok.core.surface import Surface
from neurok.errors import MeshError, NeurokError, ShapeError, shown

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
        faces = self.faces[face_mask]
        used, inverse = np.unique(faces, return_inverse=True)
        pick = lambda array: None if array is None else array[used]  # noqa: E731
        return replace(
            self,
            vertices=self.vertices[used],
            faces=inverse.reshape(-1, 3),
            uv=pick(self.uv),
            vertex_colors=pick(self.vertex_colors),
            part_ids=pick(self.part_ids),
            face_surfaces=None if self.face_surfaces is None else self.face_surfaces[face_mask],
            name=name or self.name,
            authored=self.authored and self.authored.at(used),
        )


def frame_change(from_up: UpAxis, to_up: UpAxis) -> Float[np.ndarray, "3 3"]:
    """The cyclic axis permutation (a proper rotation) that takes one up axis to another."""
    shift = (AXIS_INDEX[to_up] - AXIS_INDEX[from_up]) % 3
    return cast(np.ndarray, np.roll(np.eye(3), shift, axis=0))
