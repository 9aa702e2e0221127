"""What a person says about proposals: a material for a part, and whether an object is accepted.

::

    [{"asset": "chair/oak", "part": "seat", "material": "leather", "why": "it creases"},
     {"asset": "chair/oak", "accept": true}]

The same as CSV has the columns ``asset, part, material, accept, why``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neurok.annotation.records import Source, Store, accept
from neurok.core import material
from neurok.core.material_library import parse_material
from neurok.errors import FormatError, NeurokError
from neurok.inference.materials import BY_HAND, Proposals
from neurok.io import load, save
from neurok.io.files import read_bytes
from neurok.io.materials_file import write_materials

FIELDS = ("asset", "part", "material", "accept", "why")
YES, NO = ("true", "yes", "1", "accept"), ("false", "no", "0", "")
EVERY, UNFLAGGED = "all", "unflagged"
SHOWN = 5
"""Complaints that are named one by one."""


@dataclass(frozen=True)
class Edit:
    """One thing that somebody said about one object."""

    asset: str
    part: str = ""
    material: str = ""
    accept: bool | None = None
    why: str = ""
    """The reason, to be kept beside the material."""


def read_edits(path: str | Path) -> list[Edit]:
    """The edits in a .json or .csv file.

    Raises:
        NeurokError: Naming all rows that are not understood.
    """
    path = Path(path)
    if path.suffix.lower() not in (".json", ".csv"):
        raise NeurokError(f"Edits are in .json or .csv files, got '{path}'.")
    text = read_bytes(path, 100_000_000).decode("utf-8-sig", errors="replace")
    rows: Any
    if path.suffix.lower() == ".csv":
        rows = list(csv.DictReader(text.splitlines()))
    else:
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"'{path}' is not valid JSON: {' '.join(str(error).split())[:200]}.") from None
        rows = rows.get("edits") if isinstance(rows, dict) else rows
    if not isinstance(rows, list):
        raise FormatError(f"'{path}' must hold a list of edits with {', '.join(FIELDS)}.")
    wrong: list[str] = []
    edits = [edit for number, row in enumerate(rows, 1) if (edit := _edit(row, number, wrong)) is not None]
    _say(wrong, f"'{path}'")
    return edits


def _edit(row: Any, number: int, wrong: list[str]) -> Edit | None:
    if not isinstance(row, Mapping):
        wrong.append(f"row {number} is no object")
        return None
    unknown = [key for key in row if key not in FIELDS]
    asset, part, stuff = (str(row.get(key) or "").strip() for key in FIELDS[:3])
    given = row.get("accept")
    said = "" if given is None else str(given).strip().lower()
    before = len(wrong)
    if unknown:
        wrong.append(f"row {number} has {unknown[0]!r}; known are {', '.join(FIELDS)}")
    if not asset:
        wrong.append(f"row {number} names no asset")
    if bool(part) != bool(stuff):
        wrong.append(f"row {number} needs both a part and a material")
    if said not in (*YES, *NO):
        wrong.append(f"accept of row {number} must be true or false, got {given!r}")
    if not part and given is None:
        wrong.append(f"row {number} says nothing; give part and material, or accept")
    accepted = None if given is None or (said == "" and part) else said in YES
    return (
        Edit(asset, part, stuff, accepted, " ".join(str(row.get("why") or "").split()))
        if len(wrong) == before
        else None
    )


def parse_set(text: str, keys: Iterable[str]) -> Edit:
    """``ASSET:PART=NAME``; names of objects and parts may hold a colon themselves."""
    fitting = [key for key in keys if text.startswith(f"{key}:")]
    if not fitting:
        raise NeurokError(
            f"{text!r} names no object of the folder; write it like chair/oak:seat=foam, with the object's path below "
            "the folder and without its suffix."
        )
    asset = max(fitting, key=len)
    part, name = parse_material(text[len(asset) + 1 :])
    return Edit(asset, part, name)


def accepting(words: Iterable[str], sources: Sequence[Source], store: Store) -> list[Edit]:
    """Objects to accept: names, ``all``, or ``unflagged`` for those that were checked and have no flag."""
    out = []
    for word in words:
        if word == EVERY:
            out += [source.key for source in sources if store.status(source.key) != "failed"]
        elif word == UNFLAGGED:
            checks = {source.key: store.check(source.key) for source in sources}
            out += [key for key, found in checks.items() if found and not found["problem"] and not found["flags"]]
        else:
            out.append(word)
    return [Edit(key, accept=True) for key in dict.fromkeys(out)]


def apply_edits(edits: Sequence[Edit], sources: Sequence[Source], store: Store, *, models: bool = False) -> list[str]:
    """Write what was said; returns the objects whose materials changed.

    Everything is looked at before anything is written. An object that is changed is not accepted any more, unless the
    same edits accept it.

    Raises:
        NeurokError: Naming all edits that cannot be.
    """
    known = {source.key: source for source in sources}
    wrong: list[str] = []
    said: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.asset not in known:
            wrong.append(f"there is no object '{edit.asset}'")
        else:
            said.setdefault(edit.asset, []).append(edit)
    fresh = {key: found for key, mine in said.items() if (found := _edited(known[key], mine, store, wrong))}
    _say(wrong, "The edits")
    changed = []
    for key, (before, after) in fresh.items():
        mine = said[key]
        if [i.material for i in before.items] != [i.material for i in after.items]:
            store.keep(known[key], after)
            store.clear(key)
            accept(store, key, False)
            changed.append(key)
        wish = [edit.accept for edit in mine if edit.accept is not None]
        if wish:
            accept(store, key, wish[-1])
        if wish and wish[-1]:
            _publish(known[key], after, store, models)
    return changed


def _edited(source: Source, edits: list[Edit], store: Store, wrong: list[str]) -> tuple[Proposals, Proposals] | None:
    """Materials of one object before and after; what cannot be is noted."""
    try:
        _, before = store.load(source)
    except NeurokError as error:
        wrong.append(f"'{source.key}': {str(error).removesuffix('.')}")
        return None
    after = before
    for edit in sorted((e for e in edits if e.part), key=lambda e: e.part != EVERY):
        try:
            after = after.with_material(edit.part, material(edit.material), edit.why or BY_HAND)
        except NeurokError as error:
            wrong.append(f"'{source.key}': {str(error).removesuffix('.')}")
    return before, after


def _publish(source: Source, proposals: Proposals, store: Store, models: bool) -> None:
    """Accepted materials by themselves, and on request in a model that carries them."""
    write_materials(proposals.field, proposals.mesh, store.accepted(source.key), proposals.told())
    if models:
        save(replace(load(source.path), materials=proposals.field), store.accepted(source.key, ".glb"))


def _say(wrong: list[str], where: str) -> None:
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise NeurokError(f"{where} cannot be used: {'; '.join(wrong[:SHOWN])}{more}.")
