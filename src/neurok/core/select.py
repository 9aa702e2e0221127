"""Where on an object: words, points and indices become vertices.

=====================  ==================================================================================
``120``                that vertex
``0.1,0.2,0.3``        the vertices around the point of the surface nearest to it (object's frame, at rest)
``top`` ``bottom``     the vertices at that end of the object; likewise ``left`` ``right`` ``front`` ``back``.
                       The bottom is all it stands on, never a single point or a line where it has more
``center``             the vertices around the one nearest to the middle of the box (also ``centre``)
``door``               a part by its name: all its vertices
``door/top``           any of the words or a point, within one part
``all``                every vertex; ``all/top`` is the top even where a part has that name
=====================  ==================================================================================

Seen from the front, the up axis of the mesh points up; front is +z, right is +x when y is up (and in cyclic order for
other up axes: front is +x, right is +y when z is up).

Regions are what one material is proposed or given for: a part, or a surface of a part. A region is named as its part
where that has one surface, as its surface where the mesh has no parts, and otherwise ``part/surface``. Each vertex
belongs to one region, also where surfaces meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core.mesh import Mesh, frame_change
from neurok.core.surface import Surface
from neurok.errors import NeurokError, did_you_mean

SIDES: dict[str, Float[np.ndarray, "3"]] = {
    "top": np.array([0.0, 1.0, 0.0]),
    "bottom": np.array([0.0, -1.0, 0.0]),
    "left": np.array([-1.0, 0.0, 0.0]),
    "right": np.array([1.0, 0.0, 0.0]),
    "front": np.array([0.0, 0.0, 1.0]),
    "back": np.array([0.0, 0.0, -1.0]),
}
"""Directions when y is up."""

CENTERS = ("center", "centre")

RIM = 0.02
"""A side is what lies within this share of the extent from the end."""

FOOTING = 0.02
"""What an object stands on spreads by this share of its size to every side, or it could tip over it."""

MAX_FEET = 0.16
"""Feet are looked for up to this share of the height; a panel that stands on edge has none."""

PATCH = 0.02
"""Radius of what a point stands for, as a share of the object's size."""

MAX_NAMES = 20


def select_vertices(mesh: Mesh, at: str) -> Int[np.ndarray, " n"]:
    """The vertices that words, a point or an index stand for, in increasing order.

    Raises:
        NeurokError: If nothing is meant by them; the sentence lists what could be.
    """
    text = at.strip()
    used = np.unique(mesh.faces)
    if _is_index(text):
        index = int(text)
        if not 0 <= index < mesh.vertex_count:
            raise NeurokError(f"There is no vertex {index}; '{mesh.name}' has vertices 0 to {mesh.vertex_count - 1}.")
        return np.array([index], dtype=np.int64)
    if text == "all":
        return used
    if text in mesh.part_names:
        return _part(mesh, text, used)
    within, word = used, text
    if "/" in text:
        owner, word = text.rsplit("/", 1)
        if owner != "all":
            within = _part(mesh, owner, used)
    return _feet(mesh, used) if word == "bottom" and within is used else _within(mesh, within, word, at)


def _within(mesh: Mesh, among: Int[np.ndarray, " n"], word: str, at: str) -> Int[np.ndarray, " m"]:
    """What a word or a point means among some vertices."""
    places = mesh.vertices[among]
    if word in SIDES:
        heights = places @ (frame_change("y", mesh.up) @ SIDES[word])
        return among[heights >= heights.max() - RIM * np.ptp(heights)]
    if word in CENTERS:
        return _patch(mesh, among, (places.min(axis=0) + places.max(axis=0)) / 2.0)
    if "," in word:
        return _patch(mesh, among, np.array(parse_vector(word, f"the place {at!r}")))
    raise _unknown(mesh, at)


def _feet(mesh: Mesh, used: Int[np.ndarray, " n"]) -> Int[np.ndarray, " m"]:
    """What an object stands on: its lowest vertices, or more of them where these would be a point or a line."""
    up = mesh.up_vector
    heights = mesh.vertices[used] @ up
    share, plain = RIM, used[heights <= heights.min() + RIM * np.ptp(heights)]
    while share <= MAX_FEET:
        chosen = used[heights <= heights.min() + share * np.ptp(heights)]
        level = mesh.vertices[chosen] - np.outer(mesh.vertices[chosen] @ up, up)
        spread = np.linalg.svd(level - level.mean(axis=0), compute_uv=False) if len(chosen) > 2 else np.zeros(3)
        if spread[1] >= FOOTING * mesh.size * math.sqrt(len(chosen)):
            return chosen
        share *= 2.0
    return plain


def _patch(mesh: Mesh, among: Int[np.ndarray, " n"], point: Float[np.ndarray, "3"]) -> Int[np.ndarray, " m"]:
    """The vertex nearest to a point, and those of the same part close to it."""
    places = mesh.vertices[among]
    nearest = among[int(np.argmin(((places - point) ** 2).sum(axis=1)))]
    near = ((places - mesh.vertices[nearest]) ** 2).sum(axis=1) <= (PATCH * mesh.size) ** 2
    if mesh.part_ids is not None:
        near &= mesh.part_ids[among] == mesh.part_ids[nearest]
    return among[near]


def _part(mesh: Mesh, name: str, used: Int[np.ndarray, " n"]) -> Int[np.ndarray, " m"]:
    if name not in mesh.part_names or mesh.part_ids is None:
        raise _unknown(mesh, name)
    chosen = used[mesh.part_ids[used] == mesh.part_names.index(name)]
    if len(chosen) == 0:
        raise NeurokError(f"Part {name!r} of '{mesh.name}' has no vertices, so nothing can act on it.")
    return chosen


def _unknown(mesh: Mesh, at: str) -> NeurokError:
    names = list(mesh.part_names)
    shown = ", ".join(names[:MAX_NAMES]) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
    parts = f"the parts {shown}; the " if names else "no named parts; the "
    return NeurokError(
        f"{at!r} is no place on '{mesh.name}'; it has {parts}words {', '.join(SIDES)}, center, all, "
        f"a vertex number or a point x,y,z.{did_you_mean(at, [*names, *SIDES, *CENTERS])}"
    )


def _is_index(text: str) -> bool:
    return text.lstrip("-").isdecimal()


def parse_vector(text: str, what: str) -> tuple[float, float, float]:
    """Three finite numbers out of ``x,y,z``; ``what`` names them in the error."""
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        raise NeurokError(f"{text!r} is not understood as {what}; write three numbers like 0,0.5,-1.") from None
    if not all(map(math.isfinite, (x, y, z))):
        raise NeurokError(f"{what[0].upper()}{what[1:]} must be finite numbers, got {text!r}.")
    return x, y, z


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


def select_region(mesh: Mesh, name: str) -> Int[np.ndarray, " n"]:
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
