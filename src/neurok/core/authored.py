"""What an author gave each vertex beyond its place: normals, tangents and all sets of texture coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from neurok.core.arrays import frozen_array


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
