"""The verbs: propose materials for a collection, check them, take a person's word, and show all on one sheet.

What a person says is a list of edits: a material for a part, and whether an object is accepted::

    [{"asset": "chair/oak", "part": "seat", "material": "leather", "why": "it creases"},
     {"asset": "chair/oak", "accept": true}]

The same as CSV has the columns ``asset, part, material, accept, why``.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neurok.core import material
from neurok.core.material_library import parse_material
from neurok.dynamics.choice import EngineName
from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.folders.check import OVERTIME, Job, check_within, judge_again, run_check, save_materials
from neurok.folders.flags import LIMITS, LimitConfig
from neurok.folders.processes import Limited
from neurok.folders.proposers import RULES, MaterialProposer, ask, one_line
from neurok.folders.records import Annotation, AnnotationStore, accept, rows_of, write_materials_sheet
from neurok.folders.store import ObjectFile, find_sources
from neurok.inference.materials import BY_HAND, Proposals
from neurok.io import load, save
from neurok.io.files import read_bytes
from neurok.io.materials_file import write_materials
from neurok.sandbox import Limits
from neurok.scene.outcome import TRIAL, TrialConfig

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
    _refuse(wrong, f"'{path}'")
    return edits


def _edit(row: Any, number: int, wrong: list[str]) -> Edit | None:
    if not isinstance(row, Mapping):
        wrong.append(f"row {number} is no object")
        return None
    unknown = [key for key in row if key not in FIELDS]
    asset, part, name = (str(row.get(key) or "").strip() for key in FIELDS[:3])
    given = row.get("accept")
    answer = "" if given is None else str(given).strip().lower()
    before = len(wrong)
    if unknown:
        wrong.append(f"row {number} has {unknown[0]!r}; known are {', '.join(FIELDS)}")
    if not asset:
        wrong.append(f"row {number} names no asset")
    if bool(part) != bool(name):
        wrong.append(f"row {number} needs both a part and a material")
    if answer not in (*YES, *NO):
        wrong.append(f"accept of row {number} must be true or false, got {given!r}")
    if not part and given is None:
        wrong.append(f"row {number} says nothing; give part and material, or accept")
    accepted = None if given is None or (answer == "" and part) else answer in YES
    return (
        Edit(asset, part, name, accepted, " ".join(str(row.get("why") or "").split())) if len(wrong) == before else None
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


def accepting(words: Iterable[str], sources: Sequence[ObjectFile], store: AnnotationStore) -> list[Edit]:
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


def apply_edits(
    edits: Sequence[Edit], sources: Sequence[ObjectFile], store: AnnotationStore, *, models: bool = False
) -> list[str]:
    """Write what was said; returns the objects whose materials changed.

    Everything is looked at before anything is written. An object that is changed is not accepted any more, unless the
    same edits accept it.

    Raises:
        NeurokError: Naming all edits that cannot be.
    """
    known = {source.key: source for source in sources}
    asked, fresh = _sorted_edits(edits, known), check_edits(edits, sources, store)
    changed = []
    for key, (before, after) in fresh.items():
        mine = asked[key]
        if [i.material for i in before.items] != [i.material for i in after.items]:
            store.keep(known[key], after)
            store.clear(key)
            accept(store, key, False)
            changed.append(key)
        wanted = [edit.accept for edit in mine if edit.accept is not None]
        if wanted:
            accept(store, key, wanted[-1])
        if wanted and wanted[-1]:
            _publish(known[key], after, store, models)
    return changed


def check_edits(
    edits: Sequence[Edit], sources: Sequence[ObjectFile], store: AnnotationStore, *, before_proposing: bool = False
) -> dict[str, tuple[Proposals, Proposals]]:
    """Materials of the objects that edits name, before and after; nothing is written.

    ``before_proposing`` takes what the rules will propose where nothing was proposed yet.

    Raises:
        NeurokError: Naming all edits that cannot be.
    """
    known = {source.key: source for source in sources}
    wrong = [f"there is no object '{edit.asset}'" for edit in edits if edit.asset not in known]
    asked = _sorted_edits(edits, known)
    found = {
        key: pair for key, mine in asked.items() if (pair := _edited(known[key], mine, store, wrong, before_proposing))
    }
    _refuse(wrong, "The edits")
    return found


def _sorted_edits(edits: Sequence[Edit], known: Mapping[str, ObjectFile]) -> dict[str, list[Edit]]:
    """The edits of each object."""
    keys = dict.fromkeys(edit.asset for edit in edits if edit.asset in known)
    return {key: [edit for edit in edits if edit.asset == key] for key in keys}


def _edited(
    source: ObjectFile, edits: list[Edit], store: AnnotationStore, wrong: list[str], before_proposing: bool
) -> tuple[Proposals, Proposals] | None:
    """Materials of one object before and after; what cannot be is noted."""
    try:
        if before_proposing and store.annotation(source.key) is None:
            before = ask(None, load(source.path), source.category)
        else:
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


def _publish(source: ObjectFile, proposals: Proposals, store: AnnotationStore, models: bool) -> None:
    """Accepted materials by themselves, and on request in a model that carries them."""
    write_materials(proposals.field, proposals.mesh, store.accepted(source.key), proposals.records())
    if models:
        save(replace(load(source.path), materials=proposals.field), store.accepted(source.key, ".glb"))


def _refuse(wrong: list[str], where: str) -> None:
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise NeurokError(f"{where} cannot be used: {'; '.join(wrong[:SHOWN])}{more}.")


Progress = Callable[[int, int, str], None]
"""Called with the objects done, their total, and what is next."""


def propose_folder(
    collection: str | Path,
    out: str | Path,
    *,
    proposer: MaterialProposer | None = None,
    name: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Propose materials for every object of a folder or list, and write them to ``out``.

    What is there already is kept if the object and the proposer are the same, or a person has changed or accepted it;
    so a run that was interrupted goes on.

    Args:
        collection: A folder, or a list (``batch.store.find_sources``).
        out: The folder of the annotation.
        proposer: A plug-in; by default the rules.
        name: Of the plug-in, to know its proposals again.
        progress: Told how far it is.

    Returns:
        Figures: objects, proposals, failures.
    """
    sources, store = find_sources(collection), AnnotationStore(Path(out))
    store.tidy()
    by = RULES if proposer is None else name or getattr(proposer, "__qualname__", "plug-in")
    for done, source in enumerate(sources):
        _tell(progress, done, len(sources), source.key)
        if not _is_proposed(source, store, by):
            _propose(source, store, proposer, by)
    _tell(progress, len(sources), len(sources), "")
    write_materials_sheet(sources, store)
    return summary(sources, store)


def check_folder(
    collection: str | Path,
    out: str | Path,
    *,
    engine: EngineName = "auto",
    seconds: float | None = None,
    limit: float | None = None,
    trial: TrialConfig = TRIAL,
    limits: LimitConfig = LIMITS,
    only: Sequence[str] = ("",),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the actions on every object with the materials that it has now, and flag what is implausible.

    Only objects that were not checked with these materials and settings are run.

    Args:
        collection: A folder, or a list.
        out: The folder of the annotation, with proposals.
        engine: What moves the objects.
        seconds: Of each run; by default as long as suits the size of the object.
        limit: Longest time for one object [s]; checks then run in a process of their own, which is ended.
        trial: How objects are tried.
        limits: When something is implausible; runs that are there are judged anew by them.
        only: Beginnings of the names of objects that are run; by default all are.
        progress: Told how far it is.

    Returns:
        Figures: objects, flagged ones, flags by kind, failures.
    """
    sources, store = find_sources(collection), AnnotationStore(Path(out))
    store.tidy()
    if seconds is not None and not 0.05 <= seconds <= 60.0:
        raise NeurokError(f"Runs take 0.05 to 60 seconds, got {seconds:g}.")
    if limit is not None and not limit > 0:
        raise NeurokError(f"The limit must be a positive number of seconds, got {limit:g}.")
    chosen = [source for source in sources if source.key.startswith(tuple(only))]
    jobs = [
        Job(
            replace(source, path=source.path.absolute()),
            AnnotationStore(Path(out).absolute()),
            engine,
            seconds,
            trial,
            limits,
        )
        for source in chosen
    ]
    limited = None if limit is None else Limited(run_check, Limits(seconds=limit))
    try:
        for done, job in enumerate(jobs):
            _tell(progress, done, len(jobs), job.source.key)
            if store.status(job.source.key) == "failed":
                store.clear(job.source.key)
            elif not _is_checked(job, limit):
                run_check(job) if limited is None else check_within(limited, job)
    finally:
        if limited is not None:
            limited.end()
    _tell(progress, len(jobs), len(jobs), "")
    write_materials_sheet(sources, store)
    return summary(sources, store)


def edit_folder(
    collection: str | Path, out: str | Path, edits: Sequence[Edit], *, models: bool = False
) -> dict[str, Any]:
    """Take a person's word on some parts and objects; ``check_folder`` then runs what changed, and nothing else."""
    sources, store = find_sources(collection), AnnotationStore(Path(out))
    changed = apply_edits(edits, sources, store, models=models)
    for source in sources:
        if source.key in changed:
            _picture(store.load(source)[1], store.of(source.key))
    write_materials_sheet(sources, store)
    return {**summary(sources, store), "changed": changed}


def summary(sources: Sequence[ObjectFile], store: AnnotationStore) -> dict[str, Any]:
    """How the objects of a collection stand."""
    status: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    problems: dict[str, str] = {}
    checked = flagged = 0
    for source in sources:
        status.update([store.status(source.key)])
        note, found = store.annotation(source.key), store.check(source.key)
        if note is not None and note.problem:
            problems[source.key] = note.problem
        if found is not None:
            checked += 1
            kinds.update({flag["kind"] for flag in found.get("flags", [])})
            flagged += bool(found.get("flags"))
            problems |= {source.key: found["problem"]} if found["problem"] else {}
    return {
        "out": str(store.folder),
        "objects": len(sources),
        "status": dict(sorted(status.items())),
        "checked": checked,
        "flagged": flagged,
        "flags": dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        "problems": problems,
        "changed_parts": sum(len(store.changed(source.key)) for source in sources),
    }


def _is_proposed(source: ObjectFile, store: AnnotationStore, by: str) -> bool:
    note = store.annotation(source.key)
    if note is None or note.digest != source.digest or note.problem:
        return False
    if store.status(source.key) in ("edited", "accepted"):
        return True
    return note.proposer == by and store.materials(source.key).exists()


def _propose(source: ObjectFile, store: AnnotationStore, proposer: MaterialProposer | None, by: str) -> None:
    """Proposals of one object; whatever goes wrong becomes its one sentence."""
    note = Annotation(source.key, source.path.name, source.digest, by)
    try:
        found = ask(proposer, load(source.path), source.category)
        store.keep(source, found)
        _picture(found, store.of(source.key))
        note = replace(note, rows=rows_of(found))
    except NeurokError as error:
        note = replace(note, problem=str(error))
    except Exception as error:  # a fault of ours in one object must not stop the others
        note = replace(note, problem=f"Proposing failed: {one_line(error)}.")
    store.write(note)


def _picture(found: Proposals, folder: Path) -> None:
    """Pictures are a help, and everything else works on a machine that cannot draw."""
    with suppress(MissingDependencyError):
        save_materials(found, folder)


def _is_checked(job: Job, limit: float | None) -> bool:
    """Whether nothing is left to run; flags by other limits are made of the runs that are there."""
    found = job.store.check(job.source.key)
    if found is None or found.get("key") != job.key:
        return False
    if found.get("cause") == OVERTIME:
        return limit is not None and limit <= found["limit"]
    if found.get("cause") == "crash":
        return False
    return found["limits"] == job.limits_key or bool(found["problem"]) or judge_again(job, found) is not None


def _tell(progress: Progress | None, done: int, total: int, name: str) -> None:
    if progress is not None:
        progress(done, total, name)
