"""Materials by name: what common things are made of, and where each figure comes from.

The figures are in ``material_library.json``. Of what is stuffed or padded they are those of the whole block, cover and
filling together; of cloth, those of the sheet with the air between its threads.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from neurok.core.material import Material, MaterialField
from neurok.errors import NeurokError

FILE = Path(__file__).with_name("material_library.json")

NEAREST = 5
"""How many names are offered for one that is unknown."""


@dataclass(frozen=True)
class Entry:
    """One material of the library."""

    material: Material
    family: str
    """``fabric``, ``foam``, ``wood``, ``metal`` ..."""

    aliases: tuple[str, ...]
    """Other names it answers to."""

    sources: Mapping[str, str]
    """Where each figure comes from, by the name of a field of ``Material``."""


@cache
def library() -> Mapping[str, Entry]:
    """All materials, by name."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return MappingProxyType({row["name"]: _entry(dict(row), data["sources"]) for row in data["materials"]})


def material(name: str) -> Material:
    """The material of that name or alias; case, spaces, hyphens and underscores do not matter.

    Raises:
        NeurokError: If the library has no such material; the sentence lists the nearest names.
    """
    known, key = _names(), _key(name)
    if key in known:
        return library()[known[key]].material
    near = difflib.get_close_matches(key, known, n=NEAREST, cutoff=0.6)
    near += [other for other in known if set(key.split()) & set(other.split())]
    near = list({known[other]: other for other in reversed(near)}.values())[::-1][:NEAREST]
    near = [other if known[other] == other else f"{known[other]} ({other})" for other in near]
    hint = f"the nearest are {', '.join(near)}" if near else f"there are {', '.join(sorted(library()))}"
    raise NeurokError(f"There is no material {name!r}; {hint}.")


def families(field: MaterialField) -> np.ndarray:
    """Family of the material of each vertex; empty where the library does not know it."""
    known = [library().get(made_of.name) for made_of in field.materials]
    return np.array(["" if entry is None else entry.family for entry in known])[field.ids]


def parse_material(text: str) -> tuple[str, str]:
    """Part and material out of ``PART=NAME``."""
    part, equals, name = text.rpartition("=")
    if not equals or not part.strip() or not name.strip():
        raise NeurokError(f"The material {text!r} is not understood; write it like seat=foam or all=steel.")
    return part.strip(), material(name).name


@cache
def _names() -> Mapping[str, str]:
    """The name in the library of every name and alias, written as ``_key`` does."""
    return {_key(name): own for own, entry in library().items() for name in (*entry.aliases, own)}


def _key(name: str) -> str:
    return " ".join(re.split(r"[\s_\-]+", name.strip().casefold()))


def _entry(row: dict, citations: Mapping[str, str]) -> Entry:  # type: ignore[type-arg]
    family, aliases, sources = row.pop("family"), tuple(row.pop("aliases")), row.pop("sources")
    source = "; ".join(f"{', '.join(figures.split())}: {citations[key]}" for key, figures in sources.items())
    by_figure = {figure: citations[key] for key, figures in sources.items() for figure in figures.split()}
    row = {name: float(value) if isinstance(value, int) else value for name, value in row.items()}
    return Entry(Material(**row, source=source), family, aliases, MappingProxyType(by_figure))
