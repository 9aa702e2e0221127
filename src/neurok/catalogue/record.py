"""Objects as plain values, for files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from neurok.catalogue.parts import Appearance, Assembly, Hinge, Part, Repeat
from neurok.errors import FormatError, NeurokError
from neurok.modelling.forms import Hollow

DIGITS = 6
"""Digits behind the point that are kept: micrometres."""


def record_of(assembly: Assembly) -> dict[str, Any]:
    """An object as dictionaries, lists, words and numbers; meshes of implicit parts are not kept."""
    parts = [_part_record(part) for part in assembly.parts]
    return {"category": assembly.category, "name": assembly.name, "style": list(assembly.style), "parts": parts}


def assembly_of(record: dict[str, Any]) -> Assembly:
    """The object of a record.

    Raises:
        FormatError: If the record is not one of an object.
    """
    try:
        parts = tuple(_part(row) for row in record["parts"])
        return Assembly(record["category"], parts, tuple(record["style"]), record["name"])
    except (KeyError, TypeError, ValueError, NeurokError) as error:
        raise FormatError(f"This is no record of a household object: {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.round(value, DIGITS).tolist()
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _part_record(part: Part) -> dict[str, Any]:
    if part.mesh is not None:
        raise NeurokError(f"Part '{part.name}' is a mesh of its own, which a record cannot hold.")
    out = {
        name: _plain(getattr(part, name))
        for name in ("name", "role", "kind", "code", "size", "centre", "turn", "style", "relief", "parent", "meets")
    }
    out["look"] = _fields(asdict(part.appearance))
    out["repeat"] = _fields(vars(part.repeat))
    out["hollow"] = part.hollow and _fields(asdict(part.hollow))
    out["hinge"] = part.hinge and _fields(vars(part.hinge))
    return out


def _part(row: dict[str, Any]) -> Part:
    finish = dict(row["look"])
    finish["rgb"], finish["second_rgb"] = tuple(finish["rgb"]), tuple(finish["second_rgb"])
    others: dict[str, Any] = {name: row[name] for name in ("name", "role", "kind", "relief", "parent")}
    arrays: dict[str, Any] = {name: np.array(row[name]) for name in ("code", "size", "centre", "turn", "meets")}
    return Part(
        **others,
        **arrays,
        style=tuple(row["style"]),
        appearance=Appearance(**finish),
        repeat=Repeat(**row["repeat"]),
        hollow=row["hollow"] and Hollow(**row["hollow"]),
        hinge=row["hinge"] and Hinge(**row["hinge"]),
    )
