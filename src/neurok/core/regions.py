"""Regions of a mesh: what one material is proposed or given for, a part or a surface of a part.

A region is named as its part where that has one surface, as its surface where the mesh has no parts, and otherwise
``part/surface``. Each vertex belongs to one region, also where surfaces meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from neurok.core.mesh import Mesh
from neurok.core.select import select_vertices
from neurok.core.surface import Surface


@dataclass(frozen=True, eq=False)
class Region:
    """Some faces of a mesh that have one look."""

    name: str
    part: str
    """Name of its part; empty where the mesh has none."""

    surface: Surface | None
    faces: Int[np.ndarray, " f"]
    vertices: Int[np.ndarray, " v"]
    """Those that belong to it and to no other region; unused vertices go with the first region of their part."""


def regions_of(mesh: Mesh) -> tuple[Region, ...]:
    """All regions, in the order of parts and surfaces."""
    looks = np.zeros(mesh.face_count, dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    keys, of_face = np.unique(np.column_stack([mesh.face_parts, looks]), axis=0, return_inverse=True)
    of_face = of_face.reshape(-1)
    owner = _first_of_part(mesh, keys)
    # The earliest region of a vertex wins, so that the answer does not depend on the order of faces.
    for region in reversed(range(len(keys))):
        owner[mesh.faces[of_face == region]] = region
    names = _names(mesh, keys)
    return tuple(
        Region(
            names[i],
            mesh.part_names[part] if mesh.part_names else "",
            mesh.surfaces[look] if mesh.surfaces else None,
            np.flatnonzero(of_face == i),
            np.flatnonzero(owner == i),
        )
        for i, (part, look) in enumerate(keys)
    )


def select_stuff(mesh: Mesh, name: str) -> Int[np.ndarray, " n"]:
    """The vertices that a name stands for where materials are given: a part, a region, a surface, or another place."""
    if name in mesh.part_names:
        return select_vertices(mesh, name)
    regions = regions_of(mesh)
    found = [r for r in regions if r.name == name] or [r for r in regions if r.surface and r.surface.name == name]
    if not found:
        return select_vertices(mesh, name)
    return np.unique(np.concatenate([region.vertices for region in found]))


def _first_of_part(mesh: Mesh, keys: Int[np.ndarray, "R 2"]) -> Int[np.ndarray, " V"]:
    if mesh.part_ids is None:
        return np.zeros(mesh.vertex_count, dtype=np.int64)
    first = np.zeros(mesh.part_count, dtype=np.int64)
    for region in reversed(range(len(keys))):
        first[keys[region, 0]] = region
    return first[mesh.part_ids]


def _names(mesh: Mesh, keys: Int[np.ndarray, "R 2"]) -> list[str]:
    """One name for each region, all different."""
    parts, counts = np.unique(keys[:, 0], return_counts=True)
    looks_of = dict(zip(parts.tolist(), counts.tolist(), strict=True))
    out: list[str] = []
    for part, look in keys.tolist():
        own = mesh.part_names[part] if mesh.part_names else ""
        seen = mesh.surfaces[look].name if mesh.surfaces else mesh.name
        name = own if own and looks_of[part] == 1 else "/".join(word for word in (own, seen) if word)
        out.append(name if name not in out else f"{name}#{look}")
    return out
