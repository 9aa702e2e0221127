"""The verb ``batch``: work on every object of a folder, and keep what is done whatever happens.

Each object is worked on in a process of its own within limits (``data.limited``); the process beside it only watches.
Those are spread over this machine or a Ray cluster (``data.workers.spread``) and hand back files as bytes, so that one
process alone writes.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from neurok.errors import NeurokError
from neurok.folders.processes import Limited, spread
from neurok.folders.sheet import write_batch_sheet
from neurok.folders.store import BatchSettings, BatchStore, ObjectFile, find_sources
from neurok.sandbox import Ended, Limits

LIMITS = Limits(seconds=600.0, memory=8e9)
"""Of one object, unless others are given."""

REPORT_EVERY = 50
"""Objects after which report and sheet are written anew."""

REPEATED = ("failed", "time", "memory", "crash", "bug")
"""What ``retry`` does again."""


@dataclass(frozen=True)
class BatchJob:
    """One object, and where to write what is made of it."""

    source: ObjectFile
    settings: BatchSettings
    folder: Path


Work = Callable[[BatchJob], dict[str, Any]]
"""Writes into the folder of a job and tells how it went: ``status``, ``message``, ``warnings``, ``figures``."""

Progress = Callable[..., None]
"""Told how many objects are done and how many there are."""


@dataclass(frozen=True)
class _Plan:
    """Everything a worker needs to know."""

    work: Work
    sources: tuple[ObjectFile, ...]
    settings: BatchSettings
    limits: Limits
    scratch: Path


@dataclass(frozen=True)
class _Outcome:
    """What became of one object."""

    number: int
    record: dict[str, Any]
    files: dict[str, bytes]
    seconds: float
    memory: float


def batch(
    work: Work,
    where: str | Path,
    out: str | Path,
    settings: BatchSettings,
    *,
    workers: int = 1,
    ray_address: str | None = None,
    limits: Limits = LIMITS,
    retry: bool = False,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Work on every object of a folder or manifest, or finish doing so, and return their records.

    Args:
        work: A function of a module that makes files of one object; called in a process of its own.
        where: A folder of objects, or a .csv or .txt that lists them (``batch.store.find_sources``).
        out: A folder; it may hold an interrupted batch with the same settings.
        settings: What is done, so that another batch does not go on with this one's files.
        workers: Objects at the same time on this machine.
        ray_address: ``local`` or the address of a Ray cluster to work on instead; its machines must reach ``where``.
        limits: Time and memory for one object.
        retry: Do again what has failed before.
        progress: Told how many objects are done.

    Raises:
        NeurokError: If there are no objects, or the folder holds something else.
    """
    if workers < 1:
        raise NeurokError(f"workers must be 1 or more, got {workers}.")
    sources = tuple(replace(source, path=source.path.absolute()) for source in find_sources(where))
    store = BatchStore(Path(out).absolute())
    store.claim(settings)
    records = {k: record for k, source in enumerate(sources) if (record := store.record(source)) is not None}
    if retry:
        records = {k: record for k, record in records.items() if record["status"] not in REPEATED}
    missing = [k for k in range(len(sources)) if k not in records]
    plan = _Plan(work, sources, settings, limits, store.scratch)
    tell = progress or (lambda done, total, name="": None)
    tell(len(records), len(sources))
    try:
        for outcome in spread(partial(_one, plan), missing, workers, ray_address):
            source = sources[outcome.number]
            store.keep(source, outcome.record, outcome.files)
            store.note_time(source, outcome.seconds, outcome.memory)
            records[outcome.number] = outcome.record
            tell(len(records), len(sources), source.key)
            if len(records) % REPORT_EVERY == 0:
                _report(store, sources, records)
    finally:
        _limited(work, limits).end()
        shutil.rmtree(store.scratch, ignore_errors=True)
        _report(store, sources, records)
    return [records[k] for k in range(len(sources))]


def _report(store: BatchStore, sources: Sequence[ObjectFile], records: dict[int, dict[str, Any]]) -> None:
    done = [records[k] for k in sorted(records)]
    store.write_report(done)
    write_batch_sheet(store, done, len(sources))


@cache
def _limited(work: Work, limits: Limits) -> Limited:
    """The process in which this one has objects worked on."""
    return Limited(work, limits)


def _one(plan: _Plan, number: int) -> _Outcome:
    """Work on one object; whatever happens is an outcome."""
    source, limited, start = plan.sources[number], _limited(plan.work, plan.limits), time.monotonic()
    scratch = plan.scratch if plan.scratch.is_dir() else None  # another machine may not see it
    folder = Path(tempfile.mkdtemp(prefix="neurok-batch-", dir=scratch))
    try:
        outcome = limited.call(BatchJob(source, plan.settings, folder))
        files = {str(path.relative_to(folder)): path.read_bytes() for path in _files(folder)}
    except Ended as end:
        outcome, files = _ended(end)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    about = {"asset": source.key, "file": source.path.name, "category": source.category, "digest": source.digest}
    record = {**about, "message": "", "warnings": [], "figures": {}, **outcome, "files": _digests(files)}
    return _Outcome(number, record, files, time.monotonic() - start, limited.peak)


def _ended(end: Ended) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What is told of an object without an answer; a fault of ours leaves its traceback."""
    is_fault = end.cause == "fault"
    text = end.text.strip().splitlines()[-1] if is_fault else end.text
    outcome = {"status": "bug" if is_fault else end.cause, "message": text[0].upper() + text[1:].rstrip(".") + "."}
    return outcome, ({"traceback.txt": end.text.encode()} if is_fault else {})


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _digests(files: dict[str, bytes]) -> dict[str, str]:
    import hashlib

    return {name: hashlib.sha256(data).hexdigest()[:16] for name, data in files.items()}
