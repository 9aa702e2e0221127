"""Objects made again from their codes, by parts and by whole sets of tokens; writes docs/generation_reconstruction.md.

Run: python benchmarks/results_reconstruction.py --runs RUNS [--objects 1] [--real 6] [--write DOCUMENT]; RUNS holds
folders of training runs: ``split``, ``decoded``, ``apart``, ``fused`` and ``vecset``. Those that are there are measured
beside the shipped weights. Real models are read from ``household/sweethome3d`` in the folder that NEUROK_DATA names.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch

from neurok.evaluation.generation_reconstruction import (
    SOPHY,
    Answer,
    Figures,
    ReconstructionConfig,
    by_parts,
    by_tokens,
    held_out,
    kept_aside,
    means,
    measure,
    seen_of,
    table,
    truth,
)
from neurok.families.household import Assembly
from neurok.generation.part_frames import FRAMES
from neurok.hub import has_weights, load_model
from neurok.train.checkpoint import load_weights, read_facts
from neurok.train.loop import CHECKPOINT
from neurok.train.parts import PartRecipe
from neurok.train.vecset import VecsetRecipe

TITLES = {
    "shipped": "parts",
    "split": "parts, short run",
    "decoded": "B. Dec., short",
    "apart": "without cross-attention, short",
    "fused": "fused, short",
    "vecset": "vecset, short",
}
"""Columns of the table, in their order."""


def methods(runs: Path) -> dict[str, tuple[Any, int]]:
    """Networks by name, with how many steps each has learned."""
    out: dict[str, tuple[Any, int]] = {}
    if has_weights("parts"):
        out["shipped"] = (load_model("parts", "parts"), 0)
    for name in list(TITLES)[1:]:
        checkpoint = runs / name / CHECKPOINT
        if checkpoint.exists():
            facts = read_facts(checkpoint)
            recipe = {"parts": PartRecipe, "vecset": VecsetRecipe}[facts["task"]].from_dict(facts["recipe"])
            module = recipe.build()
            load_weights(checkpoint, recipe.task, [module])
            out[name] = (module.get_submodule("model").requires_grad_(False).eval(), facts["step"])
    return out


def answer_of(name: str, model: Any, assembly: Assembly, seen: Any, config: ReconstructionConfig) -> Answer:
    if name == "vecset":
        return by_tokens(model, assembly, seen, config)
    return by_parts(model, assembly, seen, config, replace(FRAMES, refine=20))


def measured(things: Iterable[Assembly], found: dict[str, tuple[Any, int]], config: ReconstructionConfig) -> dict:  # type: ignore[type-arg]
    """Figures of every method on every object."""
    rows: dict[str, list[Figures]] = {name: [] for name in ("truth", *found)}
    for assembly in things:
        seen = seen_of(assembly, config)
        rows["truth"].append(measure(assembly, seen, truth(assembly, seen), config))
        for name, (model, _) in found.items():
            started = time.process_time()
            rows[name].append(measure(assembly, seen, answer_of(name, model, assembly, seen, config), config))
            one = rows[name][-1]
            spent = time.process_time() - started
            print(
                f"{assembly.category} '{assembly.name}', {name}: IoU {one.iou:.3f}, CD {one.chamfer:.2e}, "
                f"F {one.f_score:.3f}, type {one.law:.2f}; {spent:.1f} s",
                flush=True,
            )
    return rows


def columns(rows: dict[str, list[Figures]]) -> dict[str, Figures]:
    named = {TITLES[name]: means(some) for name, some in rows.items() if name in TITLES and some}
    return {**named, "truth, sampled again": means(rows["truth"]), "SOPHY, published": SOPHY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--objects", type=int, default=1, help="of each category")
    parser.add_argument("--real", type=int, default=6)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    config, found = ReconstructionConfig(objects=args.objects), methods(args.runs)
    library = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    sections = {"Generated objects of the test split": measured(held_out(config), found, config)}
    if args.real and library.exists():
        sections["Real models kept aside"] = measured(kept_aside(library, args.real), found, config)
    lines = []
    for title, rows in sections.items():
        lines += [f"## {title}", "", f"{len(rows['truth'])} objects.", "", table(columns(rows)), ""]
    steps = ", ".join(f"{TITLES[name]} {count}" for name, (_, count) in found.items() if count)
    command = " ".join(["results_reconstruction.py", *sys.argv[1:]])
    lines += [f"Steps of the short runs: {steps or 'none'}. AMD EPYC, 2 cores; {date.today()}; `{command}`"]
    text = "\n".join(lines)
    print(text)
    if args.write is not None:
        write(args.write, text)
        result = {
            title: {name: [asdict(r) for r in some] for name, some in rows.items()} for title, rows in sections.items()
        }
        Path(__file__).with_name("results").joinpath("reconstruction.json").write_text(
            json.dumps(result, indent=1, default=float).replace("NaN", "null") + "\n"
        )


def write(path: Path, text: str) -> None:
    """Put the tables between their marks."""
    start, end = "<!-- tables -->", "<!-- end of tables -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    path.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
