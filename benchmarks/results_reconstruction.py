"""Objects made again from their codes, by parts and by whole sets of tokens; writes docs/lab/reconstruction.md.

Run: python benchmarks/results_reconstruction.py --runs RUNS [--objects 2] [--skip 1] [--real 8] [--fall 0] [--write
DOCUMENT] [--keep FOLDER --sheet PICTURE]; RUNS holds folders of training runs: ``split``, ``decoded``, ``apart``,
``fused`` and ``vecset``. Those that are there are measured beside the shipped weights. What was measured before
(benchmarks/results/reconstruction.json) is kept unless --anew. Several runs may share the work: each with its
--share and --results, which --join brings together. Real models are read from ``household/sweethome3d`` in the folder
that NEUROK_DATA names, small files first.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from neurok.catalogue import Assembly
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.hub import load_card, load_model
from neurok.rendering import contact_sheet, render_mesh, save_image
from neurok_lab.evaluation.generation_reconstruction import (
    AS_ENCODED,
    SOPHY,
    Answer,
    Figures,
    ReconstructionConfig,
    apart,
    by_parts,
    by_tokens,
    fall,
    held_out,
    kept_aside,
    means,
    measure,
    seen_of,
    table,
    truth,
)
from neurok_lab.evaluation.tables import stamp
from neurok_lab.parts import WEIGHTS
from neurok_lab.train.checkpoint import load_weights, read_facts
from neurok_lab.train.loop import CHECKPOINT
from neurok_lab.train.parts import PartRecipe, VecsetRecipe

TITLES = {
    "shipped": "parts",
    "encoded": "parts, as encoded",
    "split": "split, briefly trained",
    "decoded": "B. Dec., briefly trained",
    "apart": "without cross-attention, briefly trained",
    "fused": "fused, briefly trained",
    "vecset": "vecset, briefly trained",
    "truth": "truth, sampled again",
}
"""Columns of the table, in their order."""

SHORT = ("split", "decoded", "apart", "fused", "vecset")
"""Runs that are compared at equal steps."""

GENERATED, REAL = "Generated objects of the test split", "Real models kept aside"
WHERE = "where"
"""In the file: on which machine and day each object was measured last."""

RESULTS = Path(__file__).with_name("results") / "reconstruction.json"


def methods(runs: Path) -> dict[str, tuple[Any, int]]:
    """Networks by name, with how many steps each has learned."""
    out: dict[str, tuple[Any, int]] = {"truth": (None, 0)}
    if WEIGHTS.exists():
        shipped = (load_model(WEIGHTS, "parts"), int(load_card(WEIGHTS)["steps"]))
        out |= {"shipped": shipped, "encoded": shipped}
    for name in SHORT:
        checkpoint = runs / name / CHECKPOINT
        if checkpoint.exists():
            facts = read_facts(checkpoint)
            recipe = {"parts": PartRecipe, "vecset": VecsetRecipe}[facts["task"]].from_dict(facts["recipe"])
            module = recipe.build()
            load_weights(checkpoint, recipe.task, [module])
            out[name] = (module.get_submodule("model").requires_grad_(False).eval(), facts["step"])
    return out


def answer_of(name: str, model: Any, assembly: Assembly, seen: Any, config: ReconstructionConfig) -> Answer:
    if name == "truth":
        return truth(assembly, seen)
    if name == "vecset":
        return by_tokens(model, assembly, seen, config)
    return by_parts(model, assembly, seen, config) if name == "shipped" else by_parts(
        model, assembly, seen, config, AS_ENCODED
    )  # fmt: skip


class Store:
    """Rows in a file, written as they come."""

    def __init__(self, path: Path, anew: bool) -> None:
        self.path = path
        self.known: dict[str, Any] = {} if anew or not path.exists() else json.loads(path.read_text())

    def rows(self, title: str, name: str) -> dict[str, dict[str, float]]:
        return self.known.setdefault(title, {}).setdefault(name, {})

    def note(self, title: str, key: str) -> None:
        """Keep where and when an object is measured."""
        self.known.setdefault(WHERE, {}).setdefault(title, {})[key] = stamp().partition("; `")[0]

    def write(self) -> None:
        self.path.write_text(json.dumps(self.known, indent=1) + "\n")

    def join(self, paths: Sequence[Path]) -> None:
        """Take over what other runs have measured."""
        for path in paths:
            other = json.loads(path.read_text())
            for title in (GENERATED, REAL):
                self.known.setdefault(WHERE, {}).setdefault(title, {}).update(other.get(WHERE, {}).get(title, {}))
                for name, rows in other.get(title, {}).items():
                    self.rows(title, name).update(rows)


def run(
    title: str,
    things: Sequence[Callable[[], Assembly]],
    found: dict[str, Any],
    falling: int,
    store: Store,
    some: int,
    keep: Path | None = None,
    share: tuple[int, int] = (0, 1),
) -> None:
    """Figures of every method on every object; ``some`` is how many objects the short runs get.

    Of ``share`` (i, n), only every n-th object is looked at, from the i-th on.
    """
    config = ReconstructionConfig()
    for number in range(share[0], len(things), share[1]):
        assembly = things[number]()
        key, motion = f"{assembly.category} {assembly.name}", None
        longest = float(np.ptp(assembly.bounds, axis=0).max())
        for name, (model, _) in found.items():
            rows = store.rows(title, name)
            is_done = key in rows and (number >= falling or not np.isnan(rows[key]["sim_chamfer"]))
            if is_done or (number >= some and name in SHORT):
                continue
            seen, started = seen_of(assembly, config), time.process_time()
            answer = answer_of(name, model, assembly, seen, config)
            one = measure(assembly, seen, answer, config)
            if keep is not None and name in ("truth", "shipped"):
                keep.mkdir(parents=True, exist_ok=True)
                shape, place = answer.shape, keep / f"{key.replace('/', ' ')}, {name}.npz"
                np.savez(place, vertices=shape.vertices, faces=shape.faces, tints=answer.tints, iou=one.shell_iou)
            spent = time.process_time() - started
            if number < falling:
                try:
                    motion = fall(truth(assembly, seen), seen, longest) if motion is None else motion
                    one = replace(one, sim_chamfer=apart(motion, answer, seen, longest))
                except NeurokError as error:
                    print(f"{key}, {name}: {error}")
            rows[key] = asdict(one)
            store.note(title, key)
            store.write()
            print(
                f"{key}, {name}: IoU {one.iou:.3f} {one.shell_iou:.3f}, CD {one.chamfer:.2e}, F {one.f_score:.3f}, "
                f"type {one.law:.2f}, colour {one.colour:.3f}, Sim-CD {one.sim_chamfer:.1e}, "
                f"{one.numbers:.0f} numbers; {spent:.1f} + {time.process_time() - started - spent:.1f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--objects", type=int, default=2, help="of each category")
    parser.add_argument("--skip", type=int, default=1, help="numbers of the test split that were looked at before")
    parser.add_argument("--real", type=int, default=8)
    parser.add_argument("--some", type=int, default=12, help="objects of each set that the short runs are measured on")
    parser.add_argument("--fall", type=int, default=0, help="objects of each set that are let fall (Sim-CD)")
    parser.add_argument("--only", nargs="*", default=list(TITLES), help="methods to measure")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("I", "N"), help="every N-th, from I on")
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--report", action="store_true", help="only write what was measured before")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--join", type=Path, nargs="*", default=[], help="results of other runs to take over")
    parser.add_argument("--keep", type=Path, help="folder for the shapes of truth and parts")
    parser.add_argument("--sheet", type=Path, help="picture of the shapes that were kept")
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    found = methods(args.runs)
    library = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    store = Store(args.results, args.anew)
    store.join(args.join)
    store.known.setdefault("steps", {}).update({name: steps for name, (_, steps) in found.items()})
    wanted = {name: one for name, one in found.items() if name in args.only}
    if not args.report:
        config = ReconstructionConfig(objects=args.objects, skip=args.skip)
        run(GENERATED, held_out(config), wanted, args.fall, store, args.some, args.keep, tuple(args.share))
    if args.real and library.exists() and not args.report:
        run(REAL, kept_aside(library, args.real), wanted, args.fall, store, args.some, args.keep, tuple(args.share))
    if args.join:
        store.write()
    if args.sheet is not None:
        sheet(args.keep, args.sheet)
    text = report(store.known)
    print(text)
    if args.write is not None:
        write(args.write, text)


def report(known: dict[str, Any]) -> str:
    """Tables of all sets, of the short runs on objects that all of them have, and of the real models one by one."""
    lines = []
    for title in (GENERATED, REAL):
        found = {name: _figures(known, title, name) for name in ("shipped", "encoded", "truth")}
        columns = {f"{TITLES[name]} ({len(rows)})": means(list(rows.values())) for name, rows in found.items() if rows}
        if found["shipped"]:
            lines += [f"## {title}", "", table({**columns, "SOPHY, published": SOPHY}), "", _fallen(found), ""]
    lines += _one_by_one(_figures(known, REAL, "shipped"), _figures(known, REAL, "encoded"))
    lines += _ablations({name: _figures(known, GENERATED, name) for name in ("encoded", *SHORT)})
    told = ", ".join(f"{TITLES[name]} {count:,}" for name, count in known["steps"].items() if count)
    words = ["RUNS" if before == "--runs" else word for before, word in itertools.pairwise(sys.argv)]
    words = re.sub(r" --join( [^-]\S*)*", "", " ".join(words)).split()
    command = " ".join(["results_reconstruction.py", *(word for word in words if word not in ("--anew", "--report"))])
    return "\n".join([*lines, f"Steps: {told}. {_where(known)}; `{command}`"])


def _where(known: dict[str, Any]) -> str:
    """Machines and days, with how many objects were measured there."""
    found = Counter((place, kind) for title, kind in ((GENERATED, "generated"), (REAL, "real"))
                    for place in known.get(WHERE, {}).get(title, {}).values())  # fmt: skip
    places = dict.fromkeys(place for place, _ in found)
    counts = {place: ", ".join(f"{n} {kind}" for (at, kind), n in found.items() if at == place) for place in places}
    return "; ".join(f"{place} ({count})" for place, count in counts.items())


def _figures(known: dict[str, Any], title: str, name: str) -> dict[str, Figures]:
    return {key: Figures(**row) for key, row in known.get(title, {}).get(name, {}).items()}


def _fallen(found: dict[str, dict[str, Figures]]) -> str:
    """On how many objects Sim-CD stands."""
    counts = {name: sum(not np.isnan(row.sim_chamfer) for row in rows.values()) for name, rows in found.items()}
    told = ", ".join(f"{TITLES[name]} {count}" for name, count in counts.items() if count)
    return f"Objects that were let fall: {told or 'none'}."


def _one_by_one(fitted: dict[str, Figures], encoded: dict[str, Figures]) -> list[str]:
    """Shapes of the real models."""
    if not fitted:
        return []
    lines = ["| real model | IoU [%] | thin walls [%] | CD [1e-4] | F-score [%] | IoU as encoded [%] | numbers |"]
    lines.append("|---" * 7 + "|")
    for key, row in fitted.items():
        raw = f"{100.0 * encoded[key].iou:.1f}" if key in encoded else "–"
        lines.append(
            f"| {key} | {100.0 * row.iou:.1f} | {100.0 * row.shell_iou:.1f} | {1e4 * row.chamfer:.2f} | "
            f"{100.0 * row.f_score:.1f} | {raw} | {row.numbers:.0f} |"
        )
    return [*lines, ""]


def _ablations(found: dict[str, dict[str, Figures]]) -> list[str]:
    """Short runs beside each other, on the objects that all of them were measured on."""
    found = {name: rows for name, rows in found.items() if rows}
    shared = set.intersection(*(set(rows) for rows in found.values())) if found else set()
    if len(found) < 2 or not shared:
        return []
    columns = {TITLES[name]: means([rows[key] for key in sorted(shared)]) for name, rows in found.items()}
    title = f"## Ablations on the same {len(shared)} generated objects"
    return [title, "", table({**columns, "SOPHY, published": SOPHY}), ""]


def sheet(folder: Path, out: Path, columns: int = 6) -> None:
    """Truth beside what the codes of parts made of it, with their overlap (thin walls counted)."""
    images, labels = [], []
    for path in sorted(folder.glob("*, shipped.npz")):
        name = path.name.removesuffix(", shipped.npz")
        for found in (np.load(folder / f"{name}, truth.npz"), np.load(path)):
            colours = np.column_stack([found["tints"].clip(0.0, 1.0) ** 2.2, np.ones(len(found["tints"]))])
            mesh = Mesh(found["vertices"], found["faces"], vertex_colors=colours)
            images.append(render_mesh(mesh, width=200, height=170))
        labels += [name[:30], f"{found['iou']:.2f}"]
    save_image(contact_sheet(images, columns=columns, labels=labels), out)


def write(path: Path, text: str) -> None:
    """Put the tables between their marks."""
    start, end = "<!-- tables -->", "<!-- end of tables -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    path.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
