"""Methods by name; a name is checked before anything runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh
from neurok.errors import NeurokError, require
from neurok_lab.evaluation.cases import POINTS, Case, CaseSource, Judge, seeded
from neurok_lab.evaluation.registration import (
    bones,
    coherent_drift,
    learned,
    no_motion,
    principal_components,
    rigid_cells_icp,
    rigid_icp,
    true_joints,
)
from neurok_lab.evaluation.tables import Columns, Row, Tell, group_tables, grouped, measured

Method = Callable[[Mesh, Float[np.ndarray, "N 3"], np.random.Generator], Float[np.ndarray, "V 3"]]
"""Rest mesh in its unit box, target points, randomness; gives vertices."""

Mode = Literal["gram", "paper", "none"]

PEERS: dict[str, tuple[Method, str | None]] = {
    "rest": (no_motion, None),
    "rigid": (rigid_icp, None),
    "cpd": (coherent_drift, "pycpd"),
    "arap": (rigid_cells_icp, "igl"),
    "bones": (bones, None),
}
"""Methods that need nothing but their input, and the package each needs."""

KNOWN = (*PEERS, "pca", "oracle-joints", "neurok[@WEIGHTS][:gram|paper|none][:DIM][:refine]")


@dataclass(frozen=True)
class Entry:
    """A method of a run."""

    label: str
    """The name as it was asked for."""

    key: str
    """The same, with a fingerprint of weights where there are any."""

    make: Callable[[Case], Method | None]
    """The method for one case; None where it does not apply."""


def find_method(name: str, load: Callable[[str | None], Any] | None = None) -> Entry:
    """The method of that name.

    ``neurok`` looks along joints of the plan, then on bones. With a reduction and a number of coordinates, as in
    ``neurok:paper:8``, it looks in the latent alone; weights of that are named as in ``neurok@FILE:gram``.
    ``neurok:refine`` lets go of the space in the end. ``load`` turns a file, or None for the weights in the package,
    into a model.
    """
    if name in PEERS:
        function, package = PEERS[name]
        if package is not None:
            require(package, "peers")
        return Entry(name, name, lambda case: function)
    if name == "oracle-joints":
        return Entry(name, name, _with_joints)
    if name == "pca":
        return Entry(name, name, _with_clips)
    head, *options = name.split(":")
    closer = "refine" in options
    options = [option for option in options if option != "refine"]
    if head.split("@")[0] != "neurok" or len(options) > 2:
        raise NeurokError(f"There is no method {name!r}; known are {', '.join(KNOWN)}.")
    mode, dim = _options(name, options)
    model = (load or load_weights)(head.partition("@")[2] or None)
    method = partial(learned, model, mode, dim, closer, held_out_weights())
    return Entry(name, f"{name}#{fingerprint(model)}", lambda case: method)


def _options(name: str, options: list[str]) -> tuple[Mode | None, int | None]:
    mode: str | None = None
    dim: int | None = None
    for option in options:
        if option in get_args(Mode):
            mode = option
        elif option.isdigit() and int(option) > 0:
            dim = int(option)
        else:
            raise NeurokError(
                f"{option!r} in {name!r} is no reduction ({', '.join(get_args(Mode))}), no number and not refine."
            )
    return cast("Mode | None", mode), dim


def _with_joints(case: Case) -> Method | None:
    return partial(true_joints, case.articulation) if case.articulation is not None else None


def _with_clips(case: Case) -> Method | None:
    return partial(principal_components, case.other_clips) if case.other_clips else None


def held_out_weights() -> dict[str, Any]:
    """The networks behind a plan that have not learned from held-out objects, which all suites are made of."""
    from neurok.hub import load_model
    from neurok_lab.evaluation.articulation import TWIN

    joints, pieces = (load_model(task + TWIN) for task in ("articulation", "pieces"))
    return {"joint_weights": joints, "piece_weights": pieces}


def load_weights(weights: str | None) -> Any:
    from neurok.hub import load_model

    return load_model(weights or "deformation", "deformation")


def fingerprint(model: Any) -> str:
    """A few letters that change with the weights."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        # Spaces run in double precision, which must not make the same weights look like others.
        digest.update(name.encode() + value.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:10]


ACCURACY: Columns = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "chamfer_l1": ("Chamfer L1", "{:.4f}"),
    "chamfer_l2": ("Chamfer L2", "{:.5f}"),
    "iou": ("IoU", "{:.3f}"),
    "fraction": ("of no motion", "{:.2f}"),
    "median_fraction": ("median", "{:.2f}"),
    "above_floor": ("above floor", "{:.2f}"),
    "motion_error": ("motion error", "{:.2f}"),
    "edge_error": ("edge error", "{:.3f}"),
    "seconds": ("CPU s/object", "{:.1f}"),
    "failed": ("failed", "{}"),
}


def measure_poses(
    suite: str,
    sources: Iterable[CaseSource],
    entries: list[Entry],
    store: Path | None = None,
    points: int = POINTS,
    tell: Tell | None = None,
) -> list[Row]:
    """Rows of all cases and methods; those already in ``store`` are not computed again."""

    def jobs() -> Iterator[tuple[str, Callable[[], Row]]]:
        for source in sources:
            judge = cache(partial(_judge_of, source, points))
            for entry in entries:
                yield f"{suite}/{entry.key}/{source.name}/{points}", partial(_row, suite, source, entry, judge)

    return measured(jobs(), store, tell)


def _judge_of(source: CaseSource, points: int) -> Judge | None:
    case = source.load()
    return None if case is None else Judge(case, points)


def _row(suite: str, source: CaseSource, entry: Entry, judge_of: Callable[[], Judge | None]) -> Row:
    about = {"suite": suite, "method": entry.label, "object": source.name, "group": source.group}
    judge = judge_of()
    if judge is None:
        return {**about, "status": "absent", "message": "nothing moves, or no member passed"}
    method = entry.make(judge.case)
    if method is None:
        return {**about, "status": "absent", "message": "does not apply to this object"}
    return {**about, **_judge_one(judge, method)}


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
    there = (row for row in rows if row["status"] != "absent")
    return [{**about, **_means(mine)} for about, mine in grouped(there, "group", "method")]


def _means(rows: list[Row]) -> Row:
    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=np.float64)

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


def accuracy_table(title: str, summary: list[Row]) -> str:
    """A table per group of objects."""
    return group_tables(summary, ACCURACY, f"### Reaching unseen poses: {title}")
