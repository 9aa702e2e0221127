"""``neurok evaluate motions``: velocity fields of found coordinates beside those of true joints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurok.cli.data_folder import data_folder
from neurok.cli.report import progress, say


@dataclass
class EvaluateMotions:
    """Find what held-out PartNet-Mobility objects can do from their raw meshes, and compare it with their joints."""

    data: Path | None = None
    """Folder of data sets (partnet_mobility/train); by default NEUROK_DATA."""

    methods: str = "search,infer,articulate,parts"
    """Comma-separated: infer, articulate, search (alone), parts (true parts given)."""

    limit: int | None = None
    """At most so many objects, spread over the test set."""

    categories: bool = False
    """Also a row for each category."""

    out: Path | None = None
    """Write all figures to this JSON file."""

    write: Path | None = None
    """Put the tables into this Markdown file."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        import json

        from neurok.evaluation.articulation import find_joint_sources
        from neurok.evaluation.motions import find_motion_method, measure_motions, motion_tables
        from neurok.evaluation.tables import put_section, stamp
        from neurok.io.files import write_files

        sources = find_joint_sources(data_folder(self.data, "partnet_mobility/train"), self.limit)
        names = [source.name for source in sources]
        methods = [find_motion_method(name.strip(), names) for name in self.methods.split(",") if name.strip()]
        rows = measure_motions(progress(sources, "motions", total=len(sources), json=self.json), methods)
        table = motion_tables(rows, self.categories)
        say(table, json=self.json)
        figures = {"about": stamp(), "rows": rows}
        if self.out is not None:
            write_files(self.out, {self.out.name: json.dumps(figures, indent=1).encode()})
        if self.write is not None:
            put_section(self.write, "evaluate motions", f"{table}\n\n{stamp()}")
        return figures
