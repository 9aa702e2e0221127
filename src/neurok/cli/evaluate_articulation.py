"""``neurok evaluate articulation``: predicted joints beside true ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from neurok.cli.data_folder import data_folder
from neurok.cli.report import progress, say


@dataclass
class EvaluateArticulation:
    """Predict the joints of held-out PartNet-Mobility objects and compare them with the true ones."""

    data: Path | None = None
    """Folder of data sets (partnet_mobility/train); by default NEUROK_DATA."""

    methods: str = "search,learned"
    """Comma-separated: search, learned[@WEIGHTS][:alone]; 'alone' leaves the search out."""

    parts: Literal["true", "components"] = "true"
    """Parts as annotated, or found from connected components."""

    drop_faces: float = 0.0
    """Share of the faces that are removed first."""

    rotate: Literal["none", "up", "any"] = "none"
    """Turn each object by a random angle about its up axis, or any way."""

    limit: int | None = None
    """At most so many objects, spread over the test set."""

    out: Path | None = None
    """Write all figures to this JSON file; rows go to a .jsonl beside it at once, so a stopped run goes on."""

    write: Path | None = None
    """Put the table into this Markdown file."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        import json

        from neurok.articulation.scores import summarise_joints
        from neurok.errors import NeurokError
        from neurok.evaluation.articulation import Condition, evaluate_joints, find_joint_method, find_joint_sources
        from neurok.evaluation.articulation_tables import joint_table
        from neurok.evaluation.tables import put_section, stamp
        from neurok.io.files import write_files

        if not 0.0 <= self.drop_faces < 1.0:
            raise NeurokError(f"--drop-faces must be a share from 0 to below 1, got {self.drop_faces}.")
        condition = Condition(self.parts, self.drop_faces, self.rotate)
        sources = find_joint_sources(data_folder(self.data, "partnet_mobility/train"), self.limit)
        names = [source.name for source in sources]
        methods = [find_joint_method(name.strip(), names) for name in self.methods.split(",") if name.strip()]
        store = None if self.out is None else self.out.with_suffix(".jsonl")
        counted = progress(sources, condition.name, total=len(sources), json=self.json)
        rows = evaluate_joints(counted, methods, condition, store, None if self.json else _tell)
        summary = summarise_joints(rows)
        table = joint_table(summary)
        say(table, json=self.json)
        figures = {"about": stamp(), "summary": summary, "rows": rows}
        if self.out is not None:
            write_files(self.out, {self.out.name: json.dumps(figures, indent=1).encode()})
        if self.write is not None:
            put_section(self.write, f"evaluate articulation {condition.name}", f"{table}\n\n{stamp()}")
        return figures


def _tell(row: dict[str, Any]) -> None:
    angles = [f"{part['kind']}>{part['guess']} {part['axis']:.0f}°" for part in row["parts"] if "axis" in part][:4]
    note = f"  FAILED: {row['message']}" if row["message"] else ""
    print(f"{row['object']}  {row['method']}  {', '.join(angles)}  {row['seconds']:.1f} s{note}", file=sys.stderr)
