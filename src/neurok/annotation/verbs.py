"""The verbs: propose materials for a collection, check them, take a person's word, and show all on one sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurok.annotation.check import OVERTIME, Job, judge_again, run_check
from neurok.annotation.config import LIMITS, TRIAL, LimitConfig, TrialConfig
from neurok.annotation.edits import Edit, apply_edits
from neurok.annotation.pictures import save_materials
from neurok.annotation.proposers import RULES, MaterialProposer, ask, one_line
from neurok.annotation.records import Annotation, Source, Store, find_sources, rows_of
from neurok.annotation.sheet import write_sheet
from neurok.annotation.worker import Worker
from neurok.dynamics.choice import EngineName
from neurok.errors import MissingDependencyError, NeurokError
from neurok.inference.materials import Proposals
from neurok.io import load

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
        collection: A folder, or a list (``records.find_sources``).
        out: The folder of the annotation.
        proposer: A plug-in; by default the rules.
        name: Of the plug-in, to know its proposals again.
        progress: Told how far it is.

    Returns:
        Figures: objects, proposals, failures.
    """
    sources, store = find_sources(collection), Store(Path(out))
    store.tidy()
    by = RULES if proposer is None else name or getattr(proposer, "__qualname__", "plug-in")
    for done, source in enumerate(sources):
        _tell(progress, done, len(sources), source.key)
        if not _is_proposed(source, store, by):
            _propose(source, store, proposer, by)
    _tell(progress, len(sources), len(sources), "")
    write_sheet(sources, store)
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
    sources, store = find_sources(collection), Store(Path(out))
    store.tidy()
    if seconds is not None and not 0.05 <= seconds <= 60.0:
        raise NeurokError(f"Runs take 0.05 to 60 seconds, got {seconds:g}.")
    if limit is not None and not limit > 0:
        raise NeurokError(f"The limit must be a positive number of seconds, got {limit:g}.")
    chosen = [source for source in sources if source.key.startswith(tuple(only))]
    jobs = [Job(_absolute(source), Store(Path(out).absolute()), engine, seconds, trial, limits) for source in chosen]
    with Worker(limit) if limit is not None else nullcontext() as worker:
        for done, job in enumerate(jobs):
            _tell(progress, done, len(jobs), job.source.key)
            if store.status(job.source.key) == "failed":
                store.clear(job.source.key)
            elif not _is_checked(job, limit):
                run_check(job) if worker is None else worker.check(job)
    _tell(progress, len(jobs), len(jobs), "")
    write_sheet(sources, store)
    return summary(sources, store)


def edit_folder(
    collection: str | Path, out: str | Path, edits: Sequence[Edit], *, models: bool = False
) -> dict[str, Any]:
    """Take a person's word on some parts and objects; ``check_folder`` then runs what changed, and nothing else."""
    sources, store = find_sources(collection), Store(Path(out))
    changed = apply_edits(edits, sources, store, models=models)
    for source in sources:
        if source.key in changed:
            _picture(store.load(source)[1], store.of(source.key))
    write_sheet(sources, store)
    return {**summary(sources, store), "changed": changed}


def summary(sources: Sequence[Source], store: Store) -> dict[str, Any]:
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


def _is_proposed(source: Source, store: Store, by: str) -> bool:
    note = store.annotation(source.key)
    if note is None or note.digest != _digest(source) or note.problem:
        return False
    if store.status(source.key) in ("edited", "accepted"):
        return True
    return note.proposer == by and store.materials(source.key).exists()


def _propose(source: Source, store: Store, proposer: MaterialProposer | None, by: str) -> None:
    """Proposals of one object; whatever goes wrong becomes its one sentence."""
    note = Annotation(source.key, source.path.name, _digest(source), by)
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


def _digest(source: Source) -> str:
    try:
        return source.digest
    except NeurokError:
        return ""


def _absolute(source: Source) -> Source:
    return replace(source, path=source.path.absolute())


def _tell(progress: Progress | None, done: int, total: int, name: str) -> None:
    if progress is not None:
        progress(done, total, name)
