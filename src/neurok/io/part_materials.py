"""Materials in formats that know one for each part, or for some faces of it: numbers that vary are averaged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
from jaxtyping import Int

from neurok.core import Material, MaterialField, Mesh
from neurok.geometry.operators import face_areas

LABEL = "neurok_materials"
"""Name under which a file of another format keeps the figures it has no place for."""


def face_materials(field: MaterialField, mesh: Mesh) -> tuple[tuple[Material, ...], Int[np.ndarray, " F"]]:
    """Materials, and which each face is made of: what most of its corners are, with the mean numbers of its part."""
    of_face = np.median(field.ids[mesh.faces], axis=1).astype(np.int64)
    keys, label = np.unique(np.column_stack([mesh.face_parts, of_face]), axis=0, return_inverse=True)
    label = label.reshape(-1)
    found: list[Material] = []
    index = np.zeros(len(keys), dtype=np.int64)
    for k, (_, which) in enumerate(keys):
        stuff = _averaged(field, int(which), np.unique(mesh.faces[label == k]))
        if stuff not in found:
            found.append(stuff)
        index[k] = found.index(stuff)
    return tuple(found), index[label]


def part_materials(field: MaterialField, mesh: Mesh) -> list[Material | None]:
    """What most of each part is made of, by area; ``None`` where it has no faces."""
    materials, of_face = face_materials(field, mesh)
    areas = face_areas(mesh.vertices, mesh.faces)
    shares = np.zeros((mesh.part_count, len(materials)))
    np.add.at(shares, (mesh.face_parts, of_face), areas)
    has_faces = np.bincount(mesh.face_parts, minlength=mesh.part_count) > 0
    return [materials[int(row.argmax())] if full else None for row, full in zip(shares, has_faces, strict=True)]


def pack(names: Sequence[str], materials: Sequence[Material | None]) -> str:
    """A material for each named part, as one line of JSON; empty where there is none."""
    used = list(dict.fromkeys(stuff for stuff in materials if stuff is not None))
    if not used:
        return ""
    parts = {name: used.index(stuff) for name, stuff in zip(names, materials, strict=True) if stuff is not None}
    return json.dumps({"materials": [asdict(stuff) for stuff in used], "parts": parts})


def unpack(text: str | None, mesh: Mesh, notes: list[str]) -> MaterialField | None:
    """What ``pack`` wrote, over a mesh with these parts; what is damaged is noted and ignored."""
    if not text:
        return None
    try:
        data = json.loads(text)
        materials = tuple(Material(**record) for record in data["materials"])
        of_part = np.array([int(data["parts"].get(name, 0)) for name in mesh.part_names])
        return MaterialField(materials, of_part[mesh.part_ids])
    except Exception as error:
        notes.append(f"The materials stored in the file are damaged and are ignored ({error}).")
        return None


def _averaged(field: MaterialField, which: int, vertices: Int[np.ndarray, " n"]) -> Material:
    """A material of a field with the mean of the numbers that some vertices have of their own."""
    mine = vertices[field.ids[vertices] == which]
    means = {}
    for name, values in field.values.items():
        known = values[mine][~np.isnan(values[mine])]
        if len(known):
            means[name] = float(known.mean())
    return replace(field.materials[which], **means)  # type: ignore[arg-type]
