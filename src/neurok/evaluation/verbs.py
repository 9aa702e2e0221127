"""The verb ``evaluate``: every table of the docs, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from neurok.data.still import data_folder
from neurok.errors import NeurokError
from neurok.evaluation.tables import put_section, stamp
from neurok.io.files import write_files

Row = dict[str, Any]
Table = Literal["motions", "articulation", "deformation", "samples", "dynamics", "generation"]
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
        import json

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
    tell: Callable[[Row], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Measure on held-out objects.

    Args:
        table: ``motions`` (what raw meshes are found to do), ``articulation`` (joints of given parts), ``deformation``
            (poses found for target clouds), ``samples`` (plausibility of states), ``dynamics`` (the reduced engine
            beside particles) or ``generation`` (objects made from words and pictures).
        data: Folder of data sets; by default the environment variable NEUROK_DATA.
        suite: Objects of ``deformation`` and ``samples``: partnet, animated, families or soft.
        methods: Comma-separated names of what is compared.
        limit: At most so many objects, spread over the suite.
        store: Rows are kept in this .jsonl file as they are measured, so that a stopped run goes on.
        watch: Sees the objects on their way.
        tell: Told each row.
        options: ``parts``, ``drop_faces`` and ``rotate`` of ``articulation``; ``weights`` of ``samples``;
            ``categories`` of ``motions``; ``act``, ``seconds`` and ``resolution`` of ``dynamics``; ``weights``,
            ``each``, ``what`` and ``retrieval`` of ``generation``.
    """
    measures: dict[str, Callable[..., Evaluation]] = {
        "motions": _motions,
        "articulation": _articulation,
        "deformation": _deformation,
        "samples": _samples,
        "dynamics": _dynamics,
        "generation": _generation,
    }
    if table not in measures:
        raise NeurokError(f"There is no table '{table}'; known are {', '.join(measures)}.")
    names = [name.strip() for name in (methods or METHODS.get(table, "")).split(",") if name.strip()]
    seen: Watch = watch or (lambda items, title, total: items)
    return measures[table](
        folder=lambda inside: data_folder(data, inside),
        suite=suite,
        names=names,
        limit=limit,
        store=store,
        watch=seen,
        tell=tell,
        **options,
    )


def _generation(
    *,
    folder: Callable[[str], Path],
    limit: int | None,
    store: Path | None,
    tell: Any,
    weights: str | Path | None = None,
    each: int = 6,
    what: Sequence[str] = ("text", "pictures", "seeds", "falls"),
    retrieval: Path | None = None,
    **_: Any,
) -> Evaluation:
    from neurok.evaluation.generation import (
        DIVERSITY,
        FALLS,
        TEXT,
        GenerationSuite,
        all_prompts,
        measure_diversity,
        measure_falls,
        measure_text,
        summarise,
    )
    from neurok.evaluation.generation_pictures import PICTURES, measure_pictures
    from neurok.evaluation.tables import markdown

    suite, model = GenerationSuite(each=each), weights or "generation"
    beside = lambda name: store and store.with_name(f"{store.stem}_{name}.jsonl")  # noqa: E731
    try:
        real: Path | None = folder("household/sweethome3d")
    except NeurokError:
        real = None
    measured = {
        "text": (TEXT, lambda: measure_text(all_prompts(suite, limit), model, store, suite, tell)),
        "pictures": (
            PICTURES,
            lambda: measure_pictures(
                model, beside("pictures"), suite, tell, real=real, retrieval=retrieval, limit=limit
            ),
        ),
        "seeds": (DIVERSITY, lambda: measure_diversity(model, beside("seeds"), suite, tell)),
        "falls": (FALLS, lambda: measure_falls(all_prompts(suite, limit), model, beside("falls"), suite, tell)),
    }
    tables, summary, rows = [], [], []
    for name in what:
        columns, measure = measured[name]
        found = measure()
        rows += found
        summary += summarise(found, columns)
        tables.append(markdown(summarise(found, columns), columns))
    return Evaluation("generation", "\n\n".join(tables), summary, rows)


def _dynamics(
    *,
    limit: int | None,
    store: Path | None,
    watch: Watch,
    tell: Any,
    act: Any = "drop",
    seconds: float = 1.0,
    resolution: Any = "coarse",
    **_: Any,
) -> Evaluation:
    from neurok.evaluation.dynamics import SOFT_THINGS, compare_engines, dynamics_table

    things = list(SOFT_THINGS)[:limit]
    rows: list[Row] = []
    for name in watch(things, "dynamics", len(things)):
        rows.append(compare_engines(name, act, seconds, resolution, store))
        if tell is not None:
            tell(rows[-1])
    return Evaluation("dynamics", dynamics_table(rows), rows, rows)


def _motions(
    *,
    folder: Any,
    names: list[str],
    limit: int | None,
    store: Path | None,
    watch: Watch,
    categories: bool = False,
    **_: Any,
) -> Evaluation:
    from neurok.evaluation.articulation import find_joint_sources
    from neurok.evaluation.motions import (
        STILL,
        find_motion_method,
        find_still_sources,
        measure_motions,
        motion_tables,
        summarise_motions,
        summarise_still,
    )

    sources = find_joint_sources(folder("partnet_mobility/train"), limit)
    objects = [source.name for source in sources]
    methods = [find_motion_method(name, objects) for name in names]
    rows = measure_motions(watch(sources, "motions", len(sources)), methods, store)
    still = find_still_sources(folder, limit)
    rows += measure_motions(watch(still, "still", len(still)), [one for one in methods if one.knows_joints], store)
    moving = [row for row in rows if row["group"] != STILL]
    summary = summarise_motions(moving) + summarise_still(row for row in rows if row["group"] == STILL)
    return Evaluation("motions", motion_tables(rows, categories), summary, rows)


def _articulation(
    *,
    folder: Any,
    names: list[str],
    limit: int | None,
    store: Path | None,
    watch: Watch,
    tell: Any,
    parts: Literal["true", "components"] = "true",
    drop_faces: float = 0.0,
    rotate: Literal["none", "up", "any"] = "none",
    **_: Any,
) -> Evaluation:
    from neurok.articulation.scores import summarise_joints
    from neurok.evaluation.articulation import (
        Condition,
        evaluate_joints,
        find_joint_method,
        find_joint_sources,
        joint_table,
    )

    if not 0.0 <= drop_faces < 1.0:
        raise NeurokError(f"--drop-faces must be a share from 0 to below 1, got {drop_faces}.")
    condition = Condition(parts, drop_faces, rotate)
    sources = find_joint_sources(folder("partnet_mobility/train"), limit)
    objects = [source.name for source in sources]
    methods = [find_joint_method(name, objects) for name in names]
    rows = evaluate_joints(watch(sources, condition.name, len(sources)), methods, condition, store, tell)
    summary = summarise_joints(rows)
    return Evaluation(f"articulation {condition.name}", joint_table(summary), summary, rows)


def _deformation(
    *,
    folder: Any,
    suite: str,
    names: list[str],
    limit: int | None,
    store: Path | None,
    watch: Watch,
    tell: Any,
    **_: Any,
) -> Evaluation:
    from neurok.evaluation.cases import find_cases
    from neurok.evaluation.methods import find_method, measure_poses, summarise
    from neurok.evaluation.tables import accuracy_table

    sources = find_cases(suite, folder, limit)
    entries = [find_method(name) for name in names]
    rows = measure_poses(suite, watch(sources, suite, len(sources)), entries, store, tell=tell)
    summary = summarise(rows)
    return Evaluation(f"deformation {suite}", accuracy_table(suite, summary), summary, rows)


def _samples(
    *, folder: Any, suite: str, limit: int | None, watch: Watch, weights: str | None = None, **_: Any
) -> Evaluation:
    from neurok.evaluation.cases import find_cases
    from neurok.evaluation.methods import load_weights
    from neurok.evaluation.plausibility import measure_states, prior_sampler, summarise_states
    from neurok.evaluation.tables import plausibility_table

    sources = find_cases(suite, folder, limit)
    sampler = None if weights == "none" else prior_sampler(load_weights(weights))
    rows: list[Row] = []
    for source in watch(sources, suite, len(sources)):
        case = source.load()
        if case is not None and case.articulation is not None:
            rows += measure_states(case, sampler)
    if not rows:
        raise NeurokError(f"Suite '{suite}' has no objects with joints; choose partnet or families.")
    summary = summarise_states(rows)
    return Evaluation(f"samples {suite}", plausibility_table(suite, summary), summary, rows)
