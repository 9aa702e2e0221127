"""The run: every method on every case, scored, kept on disk row by row, summed up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from neurok.errors import NeurokError
from neurok.evaluation.cases import CaseSource, seeded
from neurok.evaluation.methods import Entry, Method
from neurok.evaluation.scores import POINTS, Judge

Row = dict[str, Any]
"""One method on one case; plain JSON."""


def measure_poses(
    suite: str,
    sources: Iterable[CaseSource],
    entries: list[Entry],
    store: Path | None = None,
    points: int = POINTS,
    tell: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Rows of all cases and methods; those already in ``store`` are not computed again."""
    done = read_rows(store)
    rows: list[Row] = []
    for source in sources:
        keys = {entry.key: f"{suite}/{entry.key}/{source.name}/{points}" for entry in entries}
        missing = [entry for entry in entries if keys[entry.key] not in done]
        for row in _judge_all(source, missing, points) if missing else ():
            row = {"key": keys[row.pop("entry")], "suite": suite, **row}
            done[row["key"]] = row
            _append(store, row)
            if tell is not None:
                tell(row)
        rows += [done[key] for key in keys.values() if key in done]
    return rows


def _judge_all(source: CaseSource, entries: list[Entry], points: int) -> Iterable[Row]:
    case = source.load()
    if case is None:
        for entry in entries:
            yield {**_names(source, entry), "status": "absent", "message": "nothing moves, or no member passed"}
        return
    judge = Judge(case, points)
    for entry in entries:
        method = entry.make(case)
        if method is None:
            yield {**_names(source, entry), "status": "absent", "message": "does not apply to this object"}
        else:
            yield {**_names(source, entry), **_judge_one(judge, method)}


def _names(source: CaseSource, entry: Entry) -> Row:
    return {"entry": entry.key, "method": entry.label, "object": source.name, "group": source.group}


def _judge_one(judge: Judge, method: Method) -> Row:
    """A method that fails is scored as if nothing had moved, and says why."""
    given, rng = judge.given, seeded(judge.case.name, 4)
    # Time of the processor, not of the clock: it says the same on a busy machine.
    start = time.process_time()
    try:
        vertices = np.asarray(method(judge.case.rest, given, rng), dtype=np.float64)
        if vertices.shape != judge.case.rest.vertices.shape or not np.isfinite(vertices).all():
            raise ArithmeticError("the vertices it gave are not finite or not as many as the mesh has")
        seconds = time.process_time() - start
        score, status, message = judge.score(vertices), "ok", ""
    except Exception as error:
        seconds = time.process_time() - start
        score, status, message = judge.no_motion, "failed", f"{type(error).__name__}: {error}"[:300]
    return {
        "status": status,
        "message": message,
        **asdict(score),
        "seconds": seconds,
        "no_motion_l1": judge.no_motion.chamfer_l1,
        "no_motion_l2": judge.no_motion.chamfer_l2,
        "floor_l1": judge.floor.chamfer_l1,
        "displacement": judge.no_motion.motion_error,
        "vertices": judge.case.rest.vertex_count,
    }


def summarise(rows: list[Row]) -> list[Row]:
    """One row per group and method, in the order they first appear.

    ``fraction`` is the Chamfer distance over that of no motion (ratio of means), ``above_floor`` the same after taking
    the sampling floor off both, ``motion_error`` the error of tracked points over their true displacement.
    """
    out = []
    for group, method in dict.fromkeys((row["group"], row["method"]) for row in rows):
        mine = [r for r in rows if (r["group"], r["method"]) == (group, method) and r["status"] != "absent"]
        if mine:
            out.append({"group": group, "method": method, **_means(mine)})
    return out


def _means(rows: list[Row]) -> Row:
    column = lambda name: np.array([row[name] for row in rows], dtype=np.float64)  # noqa: E731
    still, floor = column("no_motion_l1"), column("floor_l1")
    return {
        "objects": len(rows),
        "failed": sum(row["status"] == "failed" for row in rows),
        "chamfer_l1": float(column("chamfer_l1").mean()),
        "chamfer_l2": float(column("chamfer_l2").mean()),
        "iou": float(column("iou").mean()),
        "fraction": float(column("chamfer_l1").sum() / still.sum()),
        "median_fraction": float(np.median(column("chamfer_l1") / np.maximum(still, 1e-12))),
        "above_floor": float((column("chamfer_l1") - floor).sum() / max(float((still - floor).sum()), 1e-12)),
        "motion_error": float(column("motion_error").sum() / max(float(column("displacement").sum()), 1e-12)),
        "edge_error": float(column("edge_error").mean()),
        "floor_l1": float(floor.mean()),
        "seconds": float(column("seconds").mean()),
    }


def read_rows(store: Path | None) -> dict[str, Row]:
    """Rows by key; a line cut off by an interruption is left out."""
    if store is None or not store.exists():
        return {}
    rows = {}
    for line in store.read_text().splitlines():
        try:
            row = json.loads(line)
            rows[row["key"]] = row
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return rows


def _append(store: Path | None, row: Row) -> None:
    if store is None:
        return
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        cut = store.exists() and store.stat().st_size > 0 and not store.read_bytes().endswith(b"\n")
        with store.open("a") as file:
            file.write(("\n" if cut else "") + json.dumps(row) + "\n")
    except OSError as error:
        raise NeurokError(f"'{store}' cannot be written: {error.strerror or error}.") from error
