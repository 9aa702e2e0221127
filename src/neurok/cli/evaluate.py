"""``neurok evaluate``: how good the learned spaces are, beside what one would use instead."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurok.cli.data_folder import data_folder
from neurok.cli.report import progress, say


@dataclass
class EvaluateDeformation:
    """Pose held-out objects after target clouds without correspondence, by several methods on the same targets."""

    suite: str
    """Which objects: partnet, animated, families or soft."""

    data: Path | None = None
    """Folder of data sets (partnet_mobility/train, animated_glb); by default NEUROK_DATA."""

    limit: int | None = None
    """At most so many objects, spread over the suite."""

    methods: str = "rest,cpd,arap,pca,neurok,oracle-joints"
    """Comma-separated: rest, rigid, cpd, arap, pca, oracle-joints, neurok; the last as
    neurok[@WEIGHTS][:gram|paper|none][:DIM]."""

    out: Path | None = None
    """Write all figures to this JSON file; rows go to a .jsonl beside it at once, so a stopped run goes on."""

    write: Path | None = None
    """Put the table into this Markdown file."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.evaluation.cases import find_cases
        from neurok.evaluation.methods import find_method
        from neurok.evaluation.run import evaluate, summarise
        from neurok.evaluation.tables import accuracy_table

        sources = find_cases(self.suite, lambda inside: data_folder(self.data, inside), self.limit)
        entries = [find_method(name.strip()) for name in self.methods.split(",") if name.strip()]
        store = None if self.out is None else self.out.with_suffix(".jsonl")
        counted = progress(sources, self.suite, total=len(sources), json=self.json)
        rows = evaluate(self.suite, counted, entries, store, tell=None if self.json else _tell)
        summary = summarise(rows)
        return _finish(self, f"evaluate deformation {self.suite}", accuracy_table(self.suite, summary), summary, rows)


@dataclass
class EvaluateSamples:
    """Measure whether samples of the learned spaces are plausible, beside random motions and true states."""

    suite: str = "partnet"
    """Which objects: partnet or families, which have true joints."""

    data: Path | None = None
    """Folder of data sets (partnet_mobility/train); by default NEUROK_DATA."""

    limit: int | None = None
    """At most so many objects, spread over the suite."""

    weights: str | None = None
    """Other weights than those in the package; 'none' leaves the learned spaces out."""

    out: Path | None = None
    """Write all figures to this JSON file."""

    write: Path | None = None
    """Put the table into this Markdown file."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.errors import NeurokError
        from neurok.evaluation.cases import find_cases
        from neurok.evaluation.methods import load_weights
        from neurok.evaluation.plausibility import measure_states, prior_sampler, summarise_states
        from neurok.evaluation.tables import plausibility_table

        sources = find_cases(self.suite, lambda inside: data_folder(self.data, inside), self.limit)
        sampler = None if self.weights == "none" else prior_sampler(load_weights(self.weights))
        rows: list[dict[str, Any]] = []
        for source in progress(sources, self.suite, total=len(sources), json=self.json):
            case = source.load()
            if case is not None and case.articulation is not None:
                rows += measure_states(case, sampler)
        if not rows:
            raise NeurokError(f"Suite '{self.suite}' has no objects with joints; choose partnet or families.")
        summary = summarise_states(rows)
        return _finish(self, f"evaluate samples {self.suite}", plausibility_table(self.suite, summary), summary, rows)


def _finish(
    command: EvaluateDeformation | EvaluateSamples,
    name: str,
    table: str,
    summary: list[dict[str, Any]],
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    """Show the table, and write what was asked for."""
    import json

    from neurok.evaluation.tables import put_section, stamp
    from neurok.io.files import write_files

    figures = {"suite": command.suite, "about": stamp(), "summary": summary, "rows": rows}
    say(table, json=command.json)
    if command.out is not None:
        write_files(command.out, {command.out.name: json.dumps(figures, indent=1).encode()})
    if command.write is not None:
        put_section(command.write, name, f"{table}\n\n{stamp()}")
    return figures


def _tell(row: dict[str, Any]) -> None:
    figure = f"{row['chamfer_l1']:.4f} of {row['no_motion_l1']:.4f}" if "chamfer_l1" in row else row["message"]
    note = f" FAILED: {row['message']}" if row["status"] == "failed" else ""
    print(f"{row['object']}  {row['method']}  {figure}  {row.get('seconds', 0.0):.1f} s{note}", file=sys.stderr)
