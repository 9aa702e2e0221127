"""What the grouping network learns from: left-out training objects and categories, with more and less data.

python benchmarks/pieces_folds.py --data PARTNET_MOBILITY ARTICULATED_URDF --static SWEETHOME3D KENNEY AWS_HOUSE \\
    FURNITURE ANIMATED --cache runs/pieces/examples --out runs/pieces_folds --write docs/articulation.md

Each fold leaves out whole categories (and the generated families of the same things), every fifth object of the
others, and every fourth thing that stands still. Networks of the same length learn from all of the rest, or from some
of it, and answer for what was left out, as raw meshes. A body is found if one that is said to move (probability above
0.5) overlaps it by 0.75 of their areas. Held-out objects are never read. The encoder that runs begin with has learned
joints of the left-out objects with their parts given. A stopped run goes on.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from neurok.articulation.pieces_network import STATIC, PieceModel
from neurok.articulation.pieces_predict import Grouper, group_pieces, piece_odds
from neurok.data.splits import category
from neurok.evaluation.tables import markdown, put_section, stamp
from neurok.train.checkpoint import read_facts
from neurok.train.loop import CHECKPOINT, train
from neurok.train.pieces import PieceTraining, base
from neurok.train.pieces_data import PieceExample, PieceThing, prepare
from neurok.train.pieces_sources import PieceSources, training_things
from neurok.train.pieces_versions import PieceDataConfig

FOLDS = (
    {"Oven", "Bucket", "Camera", "oven", "bucket", "camera"},
    {"Bottle", "Refrigerator", "Safe", "Box", "bottle", "dispenser", "refrigerator", "household fridge", "safe"}
    | {"box", "household box", "suitcase"},
)
"""Categories and generated families that each fold leaves out."""

ROWS: dict[str, dict[str, float]] = {
    "all": {},
    "half of the real objects": {"real": 0.5},
    "a quarter of them": {"real": 0.25},
    "no generated objects": {"generated": 0.0},
    "generated and static ones alone": {"real": 0.0},
    "nothing that stands still": {"static": 0.0},
}
"""What is learned from: shares of the objects of each source."""

OVERLAP = 0.75
"""Of a body that is found [share of the union of areas]."""


@dataclass
class PiecesFolds:
    """The grouping network on left-out training objects."""

    data: tuple[str, ...]
    """Folders of annotated objects; held-out ones are never read."""

    static: tuple[str, ...]
    """Folders of objects that stand still."""

    cache: Path
    """Folder of prepared examples."""

    out: Path
    """Folder for the runs."""

    generated: int = 2
    """Objects of each generated family."""

    steps: int = 200
    """Length of the runs."""

    folds: tuple[int, ...] = (0, 1)
    """Which folds."""

    rows: tuple[str, ...] = tuple(ROWS)
    """Which rows of the table."""

    write: Path | None = None
    """Put the table into this Markdown file."""


@dataclass(frozen=True, eq=False)
class Fold:
    learned: list[PieceThing]
    left_out: dict[str, list[PieceThing]]
    """Things of seen and unseen categories, and such that stand still."""


def chance(name: str, salt: str = "") -> float:
    """A number between 0 and 1 that depends on the name alone."""
    return zlib.crc32(f"{salt}{name}".encode()) / 2**32


def split(things: Sequence[PieceThing], fold: int) -> Fold:
    found = Fold([], {"seen": [], "unseen": [], "still": []})
    for thing in things:
        group = None
        if thing.source != "static" and category(thing.name) in FOLDS[fold]:
            group = "unseen" if thing.source == "real" else "nowhere"
        elif thing.source == "real" and fold / 5 <= chance(thing.name) < (fold + 1) / 5:
            group = "seen"
        elif thing.source == "static" and fold / 4 <= chance(thing.name) < (fold + 1) / 4:
            group = "still"
        if group is None:
            found.learned.append(thing)
        elif group in found.left_out:
            found.left_out[group].append(thing)
    return found


def learn(task: PieceTraining, run: Path) -> PieceModel:
    """A network that has learned from these things, unless that has been done."""
    path = run / CHECKPOINT
    done = int(read_facts(path)["step"]) if path.exists() else 0
    return train(task, run, resume=done > 0).model.eval()


def raw(examples: Sequence[PieceExample]) -> list[PieceExample]:
    """The first version of each object, which is as its file has it."""
    return [example for example in examples if example.name.endswith(".0")]


def judge(model: PieceModel, left_out: dict[str, list[PieceExample]]) -> dict[str, float]:
    """Recall, precision and share of objects whose surest body is right, and how many static ones are said to move."""
    figures: dict[str, float] = {}
    for group, examples in left_out.items():
        found = [bodies(model, example) for example in examples]
        if group == "still":
            figures["still"] = float(np.mean([anything for *_, anything in found])) if found else 0.0
            continue
        hits, said, true = (sum(row[k] for row in found) for k in (3, 1, 2))
        figures |= {f"{group} recall": hits / max(1, true), f"{group} precision": hits / max(1, said)}
        figures[f"{group} strongest"] = float(np.mean([bool(row[0]) and row[0][0] for row in found]))
    return figures


def bodies(model: PieceModel, example: PieceExample) -> tuple[list[bool], int, int, int, bool]:
    """Whether each body that is said to move is a true one, the surest first; how many are; how many truly move; how
    many are found; and whether anything is said to move."""
    odds = piece_odds(Grouper(model), example.clouds)
    groups = group_pieces(odds)
    areas, used, fine = example.clouds.areas, set(), []
    true = [example.bodies == body for body in np.unique(example.bodies[example.moves > STATIC])]
    order = [body for body in np.argsort(-groups.moves) if body > 0 and groups.moves[body] > 0]
    for body in order:
        mine = groups.labels == body
        alike = [float(areas[mine & one].sum() / areas[mine | one].sum()) for one in true]
        best = int(np.argmax(alike)) if alike else -1
        fine.append(best >= 0 and alike[best] >= OVERLAP and best not in used)
        used |= {best} if fine[-1] else set()
    return fine, len(order), len(true), sum(fine), groups.chance > 0.5


def main(options: PiecesFolds) -> None:
    sources = PieceSources(options.data, options.static, options.generated)
    things, config = training_things(sources), PieceDataConfig()
    table: list[dict[str, Any]] = []
    recipe = replace(base(), steps=options.steps, warmup=30, average=0.99, evaluate_every=options.steps)
    for name in options.rows:
        figures = []
        for number in options.folds:
            fold = split(things, number)
            shares = ROWS[name]
            some = [t for t in fold.learned if chance(t.name, "share") < shares.get(t.source, 1.0)]
            run = options.out / f"{name.replace(' ', '_')}_{number}_{options.steps}"
            store = run / "judged.json"
            if not store.exists():
                task = PieceTraining(recipe, list(prepare(some, config, options.cache)))
                left = {group: raw(list(prepare(mine, config, options.cache))) for group, mine in fold.left_out.items()}
                real = sum(thing.source == "real" for thing in some)
                facts = {"objects": len(some), "real": real, **judge(learn(task, run), left)}
                store.write_text(json.dumps(facts))
            figures.append(json.loads(store.read_text()))
            print(name, number, figures[-1], flush=True)
        means = {key: float(np.mean([one[key] for one in figures])) for key in figures[0]}
        table.append({"row": name, **means})
    names = {"row": ("learned from", "{}"), "real": ("real objects", "{:.0f}"), "objects": ("all objects", "{:.0f}")}
    for group in ("seen", "unseen"):
        names |= {f"{group} {word}": (f"{group}: {word}", "{:.2f}") for word in ("recall", "precision", "strongest")}
    text = markdown(table, {**names, "still": ("static, said to move", "{:.2f}")})
    print(text)
    if options.write is not None:
        put_section(options.write, "pieces folds", f"{text}\n\n{stamp()}")


if __name__ == "__main__":
    main(tyro.cli(PiecesFolds))
