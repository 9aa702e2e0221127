"""Materials in files: a JSON file that a person can edit, and one line for formats that know a material for each part.

::

    {"neurok_materials": 1,
     "parts": {"seat": {"material": "foam", "confidence": 0.8, "reason": "..."}, "legs": "oak"},
     "materials": [{"name": "foam of our own", "young": 5e4, "density": 40}]}

A name is looked up in ``materials`` of the file first and then in the library. What differs within a part is told in
``vertices``: a place in ``materials`` for each vertex (``ids``), and numbers that vary (``values``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from neurok.core import Material, MaterialField, Mesh, material
from neurok.core.select import Region, regions_of, select_region
from neurok.errors import FormatError, NeurokError
from neurok.geometry.operators import face_areas
from neurok.io.files import read_bytes, write_files

VERSION_KEY, VERSION = "neurok_materials", 1
MAX_BYTES = 200_000_000


def write_materials(
    field: MaterialField, mesh: Mesh, path: str | Path, records: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Write the materials of a mesh; ``records`` hold further words on a region, such as its confidence."""
    path = Path(path)
    regions = regions_of(mesh)
    parts = {r.name: {"material": _one(field, r), **dict((records or {}).get(r.name, {}))} for r in regions}
    data: dict[str, Any] = {VERSION_KEY: VERSION, "object": mesh.name}
    if field.values or any(part["material"] is None for part in parts.values()) or _ambiguous(field):
        values = {name: [None if math.isnan(x) else x for x in row.tolist()] for name, row in field.values.items()}
        data["vertices"] = {"ids": field.ids.tolist(), "values": values}
    else:
        data["parts"] = parts
    data["materials"] = [_plain(each) for each in field.materials]
    write_files(path, {path.name: (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()})


def read_materials(path: str | Path, mesh: Mesh) -> MaterialField:
    """The materials in a file, over a mesh; what the file leaves open is ``Material()``.

    Raises:
        NeurokError: If the file is none of its kind, or names parts or materials that there are not.
    """
    path = Path(path)
    data = _parse(path)
    own = [_material(record, path) for record in data.get("materials", [])]
    if "vertices" in data:
        return _by_vertex(data["vertices"], own, mesh, path)
    named = {each.name: each for each in own}
    out = MaterialField.uniform(Material(), mesh.vertex_count)
    for part, given in data.get("parts", {}).items():
        name = given.get("material") if isinstance(given, dict) else given
        if not isinstance(name, str):
            raise FormatError(f"'{path}' does not say what {part!r} is made of; write \"material\": and a name.")
        out = out.with_part(select_region(mesh, part), named[name] if name in named else material(name))
    return out


def _parse(path: Path) -> dict[str, Any]:
    if path.suffix.lower() != ".json":
        raise NeurokError(f"Materials are in .json files, got '{path}'.")
    try:
        data = json.loads(read_bytes(path, MAX_BYTES).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"'{path}' is not valid JSON: {' '.join(str(error).split())[:200]}.") from None
    if not isinstance(data, dict) or data.get(VERSION_KEY) != VERSION:
        raise FormatError(f"'{path}' holds no materials; they begin with \"{VERSION_KEY}\": {VERSION}.")
    for key, kind, word in (
        ("parts", dict, "an object"),
        ("materials", list, "a list"),
        ("vertices", dict, "an object"),
    ):
        if not isinstance(data.get(key, kind()), kind):
            raise FormatError(f"'{key}' of '{path}' must be {word}.")
    return data


def _material(record: Any, path: Path) -> Material:
    known = [item.name for item in fields(Material)]
    if not isinstance(record, dict) or not isinstance(record.get("name"), str):
        raise FormatError(f"A material of '{path}' has no name.")
    unknown = [key for key in record if key not in known]
    if unknown:
        raise FormatError(
            f"'{unknown[0]}' of material {record['name']!r} in '{path}' is unknown; {', '.join(known)} are."
        )
    words = ("name", "kind", "source")
    for key, value in record.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (isinstance(value, str) if key in words else value is None or is_number):
            wanted = "a word" if key in words else "a number"
            raise FormatError(f"{key} of material {record['name']!r} in '{path}' must be {wanted}, got {value!r}.")
    return Material(**{key: value for key, value in record.items() if value is not None})


def _by_vertex(given: dict[str, Any], own: list[Material], mesh: Mesh, path: Path) -> MaterialField:
    try:
        ids = np.array(given["ids"], dtype=np.int64)
        numbers = {name: np.array(row, dtype=np.float64) for name, row in given.get("values", {}).items()}
    except (KeyError, ValueError, TypeError, AttributeError):
        raise FormatError(
            f"The vertices of '{path}' need a whole number each in 'ids', and numbers in 'values'."
        ) from None
    if ids.shape != (mesh.vertex_count,):
        raise FormatError(f"'{path}' is of an object with {ids.size} vertices; '{mesh.name}' has {mesh.vertex_count}.")
    return MaterialField(tuple(own), ids, numbers)


def _one(field: MaterialField, region: Region) -> str | None:
    """The name of the one material of a region; ``None`` where there are several."""
    used = np.unique(field.ids[region.vertices]) if len(region.vertices) else field.ids[:1]
    return field.materials[used[0]].name if len(used) == 1 else None


def _ambiguous(field: MaterialField) -> bool:
    """Whether two materials of a field have one name, so that names do not tell them apart."""
    return len({each.name for each in field.materials}) < len(set(field.materials))


def _plain(each: Material) -> dict[str, Any]:
    return {name: value for name, value in asdict(each).items() if value is not None}


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
        each = _averaged(field, int(which), np.unique(mesh.faces[label == k]))
        if each not in found:
            found.append(each)
        index[k] = found.index(each)
    return tuple(found), index[label]


def part_materials(field: MaterialField, mesh: Mesh) -> list[Material | None]:
    """What most of each part is made of, by area; ``None`` where it has no faces."""
    materials, of_face = face_materials(field, mesh)
    areas = face_areas(mesh.vertices, mesh.faces)
    shares = np.zeros((mesh.part_count, len(materials)))
    np.add.at(shares, (mesh.face_parts, of_face), areas)
    has_faces = np.bincount(mesh.face_parts, minlength=mesh.part_count) > 0
    return [materials[int(row.argmax())] if full else None for row, full in zip(shares, has_faces, strict=True)]


def pack_parts(names: Sequence[str], materials: Sequence[Material | None]) -> str:
    """A material for each named part, as one line of JSON; empty where there is none."""
    used = list(dict.fromkeys(each for each in materials if each is not None))
    if not used:
        return ""
    parts = {name: used.index(each) for name, each in zip(names, materials, strict=True) if each is not None}
    return json.dumps({"materials": [asdict(each) for each in used], "parts": parts})


def unpack_parts(text: str | None, mesh: Mesh, notes: list[str]) -> MaterialField | None:
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
