"""The verb ``evaluate``: every table of the docs, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from neurok.errors import NeurokError
from neurok.io.files import write_files
from neurok_lab.data.still import data_folder
from neurok_lab.evaluation.tables import Row, Tell, markdown, put_section, spread, stamp

Table = Literal["motions", "articulation", "deformation", "samples", "dynamics", "generation", "decisions"]
Watch = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Sees objects on their way, what they are measured for, and how many there are."""

METHODS = {
    "motions": "search,infer,articulate,parts",
    "articulation": "search,learned",
    "deformation": "rest,cpd,arap,pca,neurok,oracle-joints",
}
"""What is measured unless methods are named."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A table, the figures in it, and a row for every object."""

    name: str
    table: str
    summary: list[Row]
    rows: list[Row]

    def figures(self) -> dict[str, Any]:
        """Everything as plain numbers, with machine, date and command."""
        return {"about": stamp(), "name": self.name, "summary": self.summary, "rows": self.rows}

    def write(self, json_file: Path | None = None, page: Path | None = None) -> None:
        """Write the figures to a JSON file, and put the table into a page of Markdown."""
        if json_file is not None:
            write_files(json_file, {json_file.name: json.dumps(self.figures(), indent=1).encode()})
        if page is not None:
            put_section(page, f"evaluate {self.name}", f"{self.table}\n\n{stamp()}")


def evaluate(
    table: Table,
    *,
    data: Path | None = None,
    suite: str = "partnet",
    methods: str | None = None,
    limit: int | None = None,
    store: Path | None = None,
    watch: Watch | None = None,
    tell: Tell | None = None,
    **options: Any,
) -> Evaluation:
    """Measure on held-out objects.

    Args:
        table: ``motions`` (what raw meshes are found to do), ``articulation`` (joints of given parts), ``deformation``
            (poses found for target clouds), ``samples`` (plausibility of states), ``dynamics`` (the reduced engine
            beside particles), ``generation`` (objects made from words and pictures) or ``decisions`` (matter, mass and
            joints of real files).
        data: Folder of data sets; by default the environment variable NEUROK_DATA.
        suite: Objects of ``deformation`` and ``samples``: partnet, animated, families or soft.
        methods: Comma-separated names of what is compared.
        limit: At most so many objects, spread over the suite.
        store: Rows are kept in this .jsonl file as they are measured, so that a stopped run goes on.
        watch: Sees the objects on their way.
        tell: Told each row.
        options: ``parts``, ``drop_faces`` and ``rotate`` of ``articulation``; ``weights`` of ``samples``;
            ``categories`` of ``motions``; ``act``, ``seconds`` and ``resolution`` of ``dynamics``; ``weights``,
            ``each`` and ``what`` of ``generation``.
    """
    if table not in TABLES:
        raise NeurokError(f"There is no table '{table}'; known are {', '.join(TABLES)}.")
    names = [name.strip() for name in (methods or METHODS.get(table, "")).split(",") if name.strip()]
    return TABLES[table](_Request(data, suite, names, limit, store, watch or _unwatched, tell), **options)


def _unwatched(items: Iterable[Any], title: str, total: int) -> Iterable[Any]:
    return items


@dataclass(frozen=True)
class _Request:
    """What is asked for of every table."""

    data: Path | None
    suite: str
    names: list[str]
    limit: int | None
    store: Path | None
    watch: Watch
    tell: Tell | None

    def folder(self, inside: str) -> Path:
        return data_folder(self.data, inside)

    def watched(self, items: list[Any], title: str) -> Iterable[Any]:
        return self.watch(items, title, len(items))


def _generation(
    asked: _Request,
    weights: str | Path | None = None,
    each: int = 6,
    what: Sequence[str] = ("text", "pictures", "seeds", "falls"),
) -> Evaluation:
    from neurok_lab.evaluation import generation as made
    from neurok_lab.evaluation.generation_pictures import PICTURES, RELIABILITY, measure_pictures, reliability

    model, prompts, tell = weights or "generation", cache(partial(made.all_prompts, each, asked.limit)), asked.tell
    try:
        data: Path | None = asked.folder("")
    except NeurokError:
        data = None
    pictured = {"each": each, "data": data, "limit": asked.limit}
    tables, summary, rows = list[str](), list[Row](), list[Row]()
    for name in what:
        store = asked.store and asked.store.with_name(f"{asked.store.stem}{'' if name == 'text' else '_' + name}.jsonl")
        if name == "text":
            columns, found = made.TEXT, made.measure_text(prompts(), model, store, tell)
        elif name == "pictures":
            columns, found = PICTURES, measure_pictures(model, store, tell, **pictured)  # type: ignore[arg-type]
        elif name == "seeds":
            columns, found = made.DIVERSITY, made.measure_diversity(model, store, tell)
        else:
            columns, found = made.FALLS, made.measure_falls(prompts(), model, store, tell)
        means = made.summarise(found, columns)
        rows, summary, tables = rows + found, summary + means, [*tables, markdown(means, columns)]
        if name == "pictures":
            tables.append(markdown(reliability(found), RELIABILITY))
    return Evaluation("generation", "\n\n".join(tables), summary, rows)


def _dynamics(asked: _Request, act: Any = "drop", seconds: float = 1.0, resolution: Any = "coarse") -> Evaluation:
    from neurok_lab.evaluation.dynamics import SOFT_THINGS, compare_engines, dynamics_table

    rows: list[Row] = []
    for name in asked.watched(list(SOFT_THINGS)[: asked.limit], "dynamics"):
        rows.append(compare_engines(name, act, seconds, resolution, asked.store))
        if asked.tell is not None:
            asked.tell(rows[-1])
    return Evaluation("dynamics", dynamics_table(rows), rows, rows)


def _decisions(asked: _Request) -> Evaluation:
    from neurok_lab.evaluation import decisions

    folder = asked.data or asked.folder("real_assets")
    truths = decisions.find_truths(folder, asked.limit)
    rows = decisions.measure_decisions(asked.watched(truths, "decisions"), asked.store, asked.tell)
    summary = decisions.summarise_decisions(rows)
    return Evaluation("decisions", markdown(summary, decisions.COLUMNS), summary, rows)


def _motions(asked: _Request, categories: bool = False) -> Evaluation:
    from neurok_lab.evaluation import motions
    from neurok_lab.evaluation.articulation import find_joint_sources

    sources = find_joint_sources(asked.folder("partnet_mobility/train"))
    surfaces = set(asked.names) <= set(motions.SHOWN)
    if surfaces:  # of which there are tables by source
        sources += motions.find_pack_sources(asked.folder)
    sources = spread(sources, asked.limit)
    methods = [motions.find_motion_method(name, [source.name for source in sources]) for name in asked.names]
    moving = motions.measure_motions(asked.watched(sources, "motions"), methods, asked.store)
    still = motions.find_still_sources(asked.folder, asked.limit)
    sure = [method for method in methods if method.knows_joints]
    standing = motions.measure_motions(asked.watched(still, "still"), sure, asked.store)
    summary = motions.summarise_motions(moving) + motions.summarise_still(standing)
    rows = moving + standing
    name = "surfaces" if surfaces else "motions"
    return Evaluation(name, motions.motion_tables(rows, categories), summary, rows)


def _articulation(
    asked: _Request,
    parts: Literal["true", "components"] = "true",
    drop_faces: float = 0.0,
    rotate: Literal["none", "up", "any"] = "none",
) -> Evaluation:
    from neurok_lab.evaluation import articulation as joints
    from neurok_lab.evaluation.joint_scores import summarise_joints

    if not 0.0 <= drop_faces < 1.0:
        raise NeurokError(f"--drop-faces must be a share from 0 to below 1, got {drop_faces}.")
    condition = joints.Condition(parts, drop_faces, rotate)
    sources = joints.find_joint_sources(asked.folder("partnet_mobility/train"), asked.limit)
    methods = [joints.find_joint_method(name, [source.name for source in sources]) for name in asked.names]
    watched = asked.watched(sources, condition.name)
    rows = joints.evaluate_joints(watched, methods, condition, asked.store, asked.tell)
    summary = summarise_joints(rows)
    return Evaluation(f"articulation {condition.name}", joints.joint_table(summary), summary, rows)


def _deformation(asked: _Request) -> Evaluation:
    from neurok_lab.evaluation.cases import find_cases
    from neurok_lab.evaluation.methods import accuracy_table, find_method, measure_poses, summarise

    suite, sources = asked.suite, find_cases(asked.suite, asked.folder, asked.limit)
    entries = [find_method(name) for name in asked.names]
    rows = measure_poses(suite, asked.watched(sources, suite), entries, asked.store, tell=asked.tell)
    summary = summarise(rows)
    return Evaluation(f"deformation {suite}", accuracy_table(suite, summary), summary, rows)


def _samples(asked: _Request, weights: str | None = None) -> Evaluation:
    from neurok_lab.evaluation.cases import find_cases
    from neurok_lab.evaluation.methods import load_weights
    from neurok_lab.evaluation.plausibility import measure_states, plausibility_table, prior_sampler, summarise_states

    suite, sources = asked.suite, find_cases(asked.suite, asked.folder, asked.limit)
    sampler = None if weights == "none" else prior_sampler(weights and load_weights(weights))
    rows: list[Row] = []
    for source in asked.watched(sources, suite):
        case = source.load()
        if case is not None and case.articulation is not None:
            rows += measure_states(case, sampler)
    if not rows:
        raise NeurokError(f"Suite '{suite}' has no objects with joints; choose partnet or families.")
    summary = summarise_states(rows)
    return Evaluation(f"samples {suite}", plausibility_table(suite, summary), summary, rows)


TABLES: dict[str, Callable[..., Evaluation]] = {
    "motions": _motions,
    "articulation": _articulation,
    "deformation": _deformation,
    "samples": _samples,
    "dynamics": _dynamics,
    "generation": _generation,
    "decisions": _decisions,
}
