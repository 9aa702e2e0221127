"""Objects made again from their codes, by parts and by whole sets of tokens; writes docs/generation_reconstruction.md.

Run: python benchmarks/results_reconstruction.py --runs RUNS [--objects 1] [--real 6] [--write DOCUMENT]; RUNS holds
folders of training runs: ``split``, ``decoded``, ``apart``, ``fused`` and ``vecset``. Those that are there are measured
beside the shipped weights. Real models are read from ``household/sweethome3d`` in the folder that NEUROK_DATA names.
"""

from __future__ import annotations

import argparse
import itertools
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
from neurok.hub import has_weights, load_card, load_model
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

RESULTS = Path(__file__).with_name("results") / "reconstruction.json"
Rows = dict[str, list[Figures]]


def methods(runs: Path) -> dict[str, tuple[Any, int]]:
    """Networks by name, with how many steps each has learned."""
    out: dict[str, tuple[Any, int]] = {}
    if has_weights("parts"):
        out["shipped"] = (load_model("parts", "parts"), int(load_card("parts")["steps"]))
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


def measured(things: Iterable[Assembly], found: dict[str, tuple[Any, int]], config: ReconstructionConfig) -> Rows:
    """Figures of every method on every object."""
    rows: Rows = {name: [] for name in ("truth", *found)}
    for assembly in things:
        seen = seen_of(assembly, config)
        rows["truth"].append(measure(assembly, seen, truth(assembly, seen), config))
        for name, (model, _) in found.items():
            started = time.process_time()
            one = measure(assembly, seen, answer_of(name, model, assembly, seen, config), config)
            rows[name].append(one)
            print(
                f"{assembly.category} '{assembly.name}', {name}: IoU {one.iou:.3f}, CD {one.chamfer:.2e}, "
                f"F {one.f_score:.3f}, type {one.law:.2f}; {time.process_time() - started:.1f} s",
                flush=True,
            )
    return rows


def columns(rows: dict[str, list[Figures]]) -> dict[str, Figures]:
    named = {title: means(rows[name]) for name, title in TITLES.items() if rows.get(name)}
    return {**named, "truth, sampled again": means(rows["truth"]), "SOPHY, published": SOPHY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--objects", type=int, default=1, help="of each category")
    parser.add_argument("--real", type=int, default=6)
    parser.add_argument("--only", nargs="*", default=list(TITLES), help="methods to measure anew; others as they were")
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    config = ReconstructionConfig(objects=args.objects)
    found = {name: one for name, one in methods(args.runs).items() if name in args.only}
    library = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    known: dict[str, Any] = {}
    sets = {"Generated objects of the test split": held_out(config)}
    if args.real and library.exists():
        sets["Real models kept aside"] = kept_aside(library, args.real)
    for title, things in sets.items():
        new = measured(things, found, config)
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() and args.only != list(TITLES) else known
        known.setdefault(title, {}).update({name: [asdict(row) for row in rows] for name, rows in new.items()})
        known.setdefault("steps", {}).update({name: steps for name, (_, steps) in found.items()})
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    text = report({title: rows for title, rows in known.items() if title != "steps"}, known["steps"])
    print(text)
    if args.write is not None:
        write(args.write, text)


def report(sections: dict[str, dict[str, list[dict[str, float]]]], steps: dict[str, int]) -> str:
    """Tables of all sets."""
    lines = []
    for title, rows in sections.items():
        read = {name: [Figures(**row) for row in some] for name, some in rows.items()}
        lines += [f"## {title}", "", f"{len(read['truth'])} objects.", "", table(columns(read)), ""]
    told = ", ".join(f"{TITLES[name]} {count:,}" for name, count in steps.items() if count)
    words = ["RUNS" if before == "--runs" else word for before, word in itertools.pairwise(sys.argv)]
    command = " ".join(["results_reconstruction.py", *words])
    return "\n".join([*lines, f"Steps: {told}. AMD EPYC, 2 cores; {date.today()}; `{command}`"])


def write(path: Path, text: str) -> None:
    """Put the tables between their marks."""
    start, end = "<!-- tables -->", "<!-- end of tables -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    path.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
