"""All tables of poses in one go: every suite beside its peers (``docs/results.md``), and the smaller studies of
reductions, ablations and samples (``docs/lab/notebook_results.md``).

    python benchmarks/results_deformation.py --rows FOLDER [--ablations RUNS] [--write docs/results.md]

Rows go to FOLDER as they are measured, so that a stopped run goes on; about 40 minutes on one core. RUNS holds what the
loop in docs/lab/learning.md makes: for every seed a folder with, for every ablation, a run ``NAME`` and weights
``NAME.safetensors``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from neurok.cli.outputs import progress
from neurok_lab.data.still import data_folder
from neurok_lab.evaluation.cases import find_cases
from neurok_lab.evaluation.methods import accuracy_table, find_method, measure_poses, summarise
from neurok_lab.evaluation.plausibility import measure_states, plausibility_table, prior_sampler, summarise_states
from neurok_lab.evaluation.tables import markdown, put_section, stamp

OURS = ("neurok", "neurok:refine")
SUITES = {
    "partnet": ("PartNet-Mobility", ("rest", "rigid", "cpd", "arap", *OURS, "oracle-joints")),
    "families": ("generated families", ("rest", "rigid", "cpd", "arap", *OURS, "oracle-joints")),
    "animated": ("animated glTF", ("rest", "rigid", "cpd", "arap", "pca", *OURS)),
    "soft": ("soft families", ("rest", "rigid", "cpd", "arap", *OURS)),
}
REDUCTIONS = ("rest", "neurok", "neurok:gram", "neurok:paper", "neurok:none")
ABLATIONS = {
    "full": "full model",
    "no_augmentation": "without augmentation",
    "no_dual": "without dual quaternions",
}
UNREDUCED = "full model, without reduction"
LEARNED = {
    "run": ("run", "{}"),
    "seen": ("seen categories", "{:.3f}"),
    "unseen": ("unseen categories", "{:.3f}"),
    "clips": ("clips", "{:.3f}"),
    "families": ("held-out families", "{:.3f}"),
    "made": ("known families", "{:.3f}"),
    "nats": ("nats", "{:.1f}"),
    "minutes": ("minutes", "{:.0f}"),
}


@dataclass
class Results:
    """Measure the learned space and write the tables."""

    rows: Path
    """Folder of the rows."""

    ablations: Path | None = None
    """Folder of the ablation runs."""

    data: Path | None = None
    """Folder of data sets; by default NEUROK_DATA."""

    write: Path = Path("docs/results.md")
    """Page of the suites."""

    notebook: Path = Path("docs/lab/notebook_results.md")
    """Page of the smaller studies."""

    few: int = 16
    """Objects of the smaller studies: reductions, ablations, samples."""

    only: tuple[str, ...] = ()
    """Some of: partnet, families, animated, soft, reductions, ablations, samples; all by default."""

    def run(self) -> None:
        self.rows.mkdir(parents=True, exist_ok=True)
        for suite, (title, methods) in SUITES.items():
            if self._wanted(suite):
                self._put(suite, accuracy_table(title, summarise(self._measure(suite, methods))))
        if self._wanted("reductions"):
            self._put(
                "reductions", accuracy_table("reductions", summarise(self._measure("partnet", REDUCTIONS, self.few)))
            )
        if self._wanted("ablations") and self.ablations is not None:
            self._put("ablations", self._ablations(self.ablations))
        if self._wanted("samples"):
            self._put("samples", self._samples())

    def _wanted(self, name: str) -> bool:
        return not self.only or name in self.only

    def _put(self, name: str, table: str) -> None:
        print(table, flush=True)
        put_section(self.write if name in SUITES else self.notebook, name, f"{table}\n\n{stamp()}")

    def _measure(self, suite: str, methods: tuple[str, ...], limit: int | None = None) -> list[dict[str, Any]]:
        sources = find_cases(suite, lambda inside: data_folder(self.data, inside), limit)
        entries = [find_method(name) for name in methods]
        store = self.rows / f"{suite}.jsonl"
        return measure_poses(suite, progress(sources, suite, total=len(sources), json=False), entries, store)

    def _ablations(self, folder: Path) -> str:
        """Reconstruction by the pose encoder at the end of each run, and poses found in its space alone, all seeds."""
        labels: dict[str, str] = {}
        last = []
        for name, label in ABLATIONS.items():
            for weights in sorted(folder.glob(f"*/{name}.safetensors")):
                labels[f"neurok@{weights}:gram"] = label
                if name == "full":
                    labels[f"neurok@{weights}:none"] = UNREDUCED
                end = json.loads((weights.with_suffix("") / "log.jsonl").read_text().splitlines()[-1])
                figures = {**end["training"], **end["watched"]}
                last.append({**figures, "run": f"{label}, {weights.parent.name}", "minutes": end["seconds"] / 60})
        found = self._measure("partnet", ("rest", *labels), self.few)
        rows = summarise([{**row, "method": labels.get(row["method"], row["method"])} for row in found])
        return (
            accuracy_table("ablations", rows) + "\n\nPose encoder at the end of each run:\n\n" + markdown(last, LEARNED)
        )

    def _samples(self) -> str:
        sources = find_cases("partnet", lambda inside: data_folder(self.data, inside), self.few)
        sampler, rows = prior_sampler(None), []
        for source in progress(sources, "samples", total=len(sources), json=False):
            case = source.load()
            if case is not None and case.articulation is not None:
                rows += measure_states(case, sampler)
        return plausibility_table("PartNet-Mobility", summarise_states(rows))


if __name__ == "__main__":
    tyro.cli(Results).run()
