"""The verb ``batch``: work on every object of a folder, and keep what is done whatever happens.

Each object is worked on in a process of its own within limits (``processes.Limited``); the process beside it only
watches. Those are spread over this machine or a Ray cluster (``processes.spread``) and hand back files as bytes, so
that one process alone writes. It holds a name and one byte for each object, never their records.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from neurok.errors import NeurokError
from neurok.folders.processes import Limited, spread
from neurok.folders.sheet import SheetCards, write_batch_sheet
from neurok.folders.store import BatchSettings, BatchStore, ObjectFile, fetched, find_sources
from neurok.sandbox import Ended, Limits

LIMITS = Limits(seconds=600.0, memory=8e9)
"""Of one object, unless others are given."""

REPORT_FIRST = 50
"""Objects after which report and sheet are written, and again whenever twice as many are done: all writing together
stays in proportion to the objects."""

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

VARYING = re.compile(r"'[^']*'|[-+]?\d[\d.,e+-]*")
"""What differs between sentences that say the same: names and numbers."""

MOST_REASONS = 200

Progress = Callable[..., None]
"""Told how many objects are done and how many there are."""


@dataclass(frozen=True)
class _Plan:
    """Everything a worker needs to know."""

    work: Work
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


@dataclass
class Summary:
    """What became of all objects, in a size that does not grow with them."""

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """How often objects failed, by the sentence with names and numbers left out."""

    examples: dict[str, str] = field(default_factory=dict)
    """One object of each reason with its whole sentence."""

    @property
    def count(self) -> int:
        return sum(self.states.values())

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        self.states[record["status"]] += 1
        if record["message"]:
            kind = VARYING.sub("...", record["message"])
            kind = kind if kind in self.reasons or len(self.reasons) < MOST_REASONS else "other reasons"
            self.reasons[kind] += 1
            self.examples.setdefault(kind, f"{record['asset']}: {record['message']}")


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

    ``run_batch`` does the same without holding the records; a million of them take gigabytes.
    """
    store = BatchStore.at(out)
    options: dict[str, Any] = {"workers": workers, "ray_address": ray_address, "limits": limits, "retry": retry}
    run_batch(work, where, store, settings, **options, progress=progress)
    return [json.loads(line) for line in (store.read("report.jsonl") or b"").splitlines()]


def run_batch(
    work: Work,
    where: str | Path,
    out: str | Path | BatchStore,
    settings: BatchSettings,
    *,
    workers: int = 1,
    ray_address: str | None = None,
    limits: Limits = LIMITS,
    retry: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Work on every object of a folder or manifest, or finish doing so.

    Args:
        work: A function of a module that makes files of one object; called in a process of its own.
        where: A folder of objects, a .csv or .txt that lists them (``store.find_sources``), or a URL of either.
        out: A folder or URL; it may hold an interrupted batch with the same settings.
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
    sources = find_sources(where)
    store = out if isinstance(out, BatchStore) else BatchStore.at(out)
    store.claim(settings)
    again = REPEATED if retry else ()
    done = bytearray(store.is_done(source, again) for source in sources)
    missing = ((k, source.absolute()) for k, source in enumerate(sources) if not done[k])
    plan = _Plan(work, settings, limits, store.scratch)
    tell = progress or (lambda done, total, name="": None)
    count, next_report = sum(done), max(REPORT_FIRST, 2 * sum(done))
    tell(count, len(sources))
    try:
        for outcome in spread(partial(_one, plan), missing, workers, ray_address):
            source = sources[outcome.number]
            store.keep(source, outcome.record, outcome.files)
            store.note_time(source, outcome.seconds, outcome.memory)
            done[outcome.number] = 1
            count += 1
            tell(count, len(sources), source.key)
            if count == next_report:
                next_report *= 2
                _report(store, sources, done)
    finally:
        _limited(work, limits).end()
        shutil.rmtree(store.scratch, ignore_errors=True)
        summary = _report(store, sources, done)
        if store.url:
            shutil.rmtree(store.folder, ignore_errors=True)
    return summary


def _report(store: BatchStore, sources: Sequence[ObjectFile], done: bytearray) -> Summary:
    """Write report and sheet in one pass over the records, which are read again one by one."""
    summary = Summary()
    numbers = (k for k, is_done in enumerate(done) if is_done)
    records = (record for k in numbers if (record := store.record(sources[k])) is not None)
    cards = SheetCards()
    store.write_report(_counted(records, summary, cards))
    write_batch_sheet(store, cards, summary.count, len(sources))
    return summary


def _counted(records: Iterable[dict[str, Any]], summary: Summary, cards: SheetCards) -> Iterator[dict[str, Any]]:
    for record in records:
        summary.add(record)
        cards.add(record)
        yield record


@cache
def _limited(work: Work, limits: Limits) -> Limited:
    """The process in which this one has objects worked on."""
    return Limited(work, limits)


def _one(plan: _Plan, item: tuple[int, ObjectFile]) -> _Outcome:
    """Work on one object; whatever happens is an outcome."""
    (number, source), limited, start = item, _limited(plan.work, plan.limits), time.monotonic()
    scratch = plan.scratch if plan.scratch.is_dir() else None  # another machine may not see it
    folder = Path(tempfile.mkdtemp(prefix="neurok-batch-", dir=scratch))
    try:
        with tempfile.TemporaryDirectory(prefix="neurok-batch-", dir=scratch) as inputs:
            outcome = limited.call(BatchJob(fetched(source, Path(inputs)), plan.settings, folder))
        files = {str(path.relative_to(folder)): path.read_bytes() for path in _files(folder)}
    except Ended as end:
        outcome, files = _ended(end)
    except NeurokError as error:
        outcome, files = {"status": "failed", "message": str(error)}, {}
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
