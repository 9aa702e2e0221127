"""What the grouping network learns from: left-out training objects and categories, with more and less data.

python benchmarks/pieces_folds.py --data PARTNET_MOBILITY ARTICULATED_URDF --static SWEETHOME3D KENNEY AWS_HOUSE \\
    FURNITURE ANIMATED --out runs/pieces_folds --write docs/lab/notebook_joints.md

Each fold leaves out whole categories (and the generated families of the same things), every fifth object of the
others, and every fourth thing that stands still. To be cheap, the encoder is that of the joint model and does not
learn: what it makes of every raw mesh in a few views is kept, and the layers above it learn from that, always for the
same number of steps. (The encoder has learned joints of the left-out objects with their parts given.) A body is found
if one that is said to move (probability above 0.5) overlaps it by 0.75 of their areas. Held-out objects are never read.
Self-training: files of the static folders whose names tell of something that may move have no labels; where the network
is sure, its answers become labels, and it learns anew with them. A stopped run goes on.
"""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro
from torch import Tensor

from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.io import load as load_asset
from neurok.learned.grouping import Groups, PieceOdds, group_pieces, moving_odds
from neurok.learned.grouping_network import STATIC, PieceModel, likeness
from neurok.learned.joint_network import pair_features
from neurok.learned.joints import VIEWS
from neurok.learned.part_features import find_copies
from neurok.learned.part_views import stack_clouds, turned
from neurok_lab.data.still import category, moving_files
from neurok_lab.evaluation.tables import markdown, put_section, stamp
from neurok_lab.train.articulation import PIECE_RECIPES as RECIPES
from neurok_lab.train.batches import POOL, PieceViewConfig, augmented_pieces
from neurok_lab.train.examples import SOURCES, PieceExample, PieceSources, Thing, training_things
from neurok_lab.train.losses import PieceTargets, PieceTask
from neurok_lab.train.versions import plain_pieces

FOLDS = (
    {"Oven", "Bucket", "Camera", "oven", "bucket", "camera"},
    {"Bottle", "Refrigerator", "Safe", "Box", "bottle", "dispenser", "refrigerator", "household fridge", "safe"}
    | {"box", "household box", "suitcase"},
)
"""Categories and generated families that each fold leaves out."""

ROWS: dict[str, dict[str, float]] = {
    "real and static objects": {"generated": 0.0},
    "half of the real objects": {"real": 0.5, "generated": 0.0},
    "a quarter of the real objects": {"real": 0.25, "generated": 0.0},
    "real, static and generated objects": {},
    "generated and static objects": {"real": 0.0},
    "real and generated objects": {"static": 0.0},
    "real, static and one round of self-training": {"generated": 0.0, "rounds": 1},
    "real, static and two rounds of self-training": {"generated": 0.0, "rounds": 2},
}
"""What is learned from: shares of the objects of each source, and rounds of self-training."""

SURE = 2.2
"""Log-odds (0.9) of everything that the network says of an unlabelled object, for its answers to become labels."""

OVERLAP = 0.75
"""Of a body that is found [share of the union of areas]."""

LEARNED_VIEWS, ASKED_VIEWS = 2, 4
"""Views of each object that are learned from, and those that answer for it when it is left out."""

OBJECTS, PAIRS, RATE = 12, 9_000, 1e-3
"""Objects of a batch at most, ordered pairs of pieces in it, and the largest step size."""


@dataclass
class PiecesFolds:
    """The grouping network on left-out training objects."""

    data: tuple[str, ...]
    """Folders of annotated objects; held-out ones are never read."""

    static: tuple[str, ...]
    """Folders of objects that stand still."""

    out: Path
    """Folder for what is kept."""

    generated: int = 1
    """Objects of each generated family."""

    steps: int = 200
    """Length of the runs."""

    folds: tuple[int, ...] = (0, 1)
    """Which folds."""

    rows: tuple[str, ...] = tuple(ROWS)
    """Which rows of the table."""

    write: Path | None = None
    """Put the table into this Markdown file."""


class Seen(NamedTuple):
    """An object as the encoder sees it: views to learn from, then those that answer."""

    source: str
    bodies: np.ndarray
    moves: np.ndarray
    areas: np.ndarray
    copies: np.ndarray
    tokens: np.ndarray
    pairs: np.ndarray


def unlabelled_thing(path: Path) -> Thing:
    """A file of which nothing is known; its labels are made up later."""

    def load() -> tuple[Mesh, None]:
        return load_asset(path).mesh, None

    return Thing(f"{path.parent.name}_{path.stem}", "static", load)


def chance(name: str, salt: str = "") -> float:
    """A number between 0 and 1 that depends on the name alone."""
    return zlib.crc32(f"{salt}{name}".encode()) / 2**32


def split(things: Sequence[Thing], fold: int) -> tuple[list[Thing], dict[str, list[Thing]]]:
    """What is learned from, and what is left out: seen and unseen categories, and things that stand still."""
    learned: list[Thing] = []
    left: dict[str, list[Thing]] = {"seen": [], "unseen": [], "still": [], "nowhere": []}
    for thing in things:
        if thing.source != "static" and category(thing.name) in FOLDS[fold]:
            left["unseen" if thing.source == "real" else "nowhere"].append(thing)
        elif thing.source == "real" and fold / 5 <= chance(thing.name) < (fold + 1) / 5:
            left["seen"].append(thing)
        elif thing.source == "static" and fold / 4 <= chance(thing.name) < (fold + 1) / 4:
            left["still"].append(thing)
        else:
            learned.append(thing)
    return learned, {group: left[group] for group in ("seen", "unseen", "still")}


@torch.no_grad()
def see(things: Iterable[Thing], model: PieceModel, folder: Path) -> dict[str, Seen]:
    """Raw meshes as the encoder sees them; each is looked at once, and what has one piece is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for thing in things:
        path = folder / f"{thing.source}.{thing.name}.pickle"
        if not path.exists():
            path.write_bytes(pickle.dumps(tuple(_seen(thing, model) or ())))
        if kept := pickle.loads(path.read_bytes()):
            found[thing.name] = Seen(*kept)
    return found


def _seen(thing: Thing, model: PieceModel) -> Seen | None:
    try:
        pieces = plain_pieces(*thing.load())
    except NeurokError as error:
        print(f"{thing.name} is left out: {error}")
        return None
    if pieces is None:
        return None
    example = PieceExample(f"{thing.name}.0", *pieces, thing.source)
    rng = np.random.default_rng(zlib.crc32(thing.name.encode()))
    shown = [augmented_pieces(example, rng, PieceViewConfig(incomplete=0.0)).clouds for _ in range(LEARNED_VIEWS)]
    shown += [turned(example.clouds, None, view)[0] for view in VIEWS[:ASKED_VIEWS]]
    parts = stack_clouds(shown, PieceViewConfig().points, rng)
    pairs = torch.cat([pair_features(parts), likeness(parts)], dim=-1).half().numpy()
    tokens = model.encoder.encode(parts).tokens.half().numpy()
    facts = (example.bodies, example.moves, example.clouds.areas, find_copies(example.clouds))
    return Seen(thing.source, *facts, tokens, pairs)


def stacked(chosen: Sequence[tuple[Seen, int]]) -> tuple[Tensor, Tensor, Tensor, PieceTargets]:
    """One view of each of some objects as a batch, smaller ones padded."""
    size = max(len(seen.bodies) for seen, _ in chosen)
    tokens = torch.zeros(len(chosen), size, chosen[0][0].tokens.shape[-1])
    pairs = torch.zeros(len(chosen), size, size, chosen[0][0].pairs.shape[-1])
    bodies, moves = (torch.full((len(chosen), size), -1) for _ in range(2))
    for row, (seen, view) in enumerate(chosen):
        count = len(seen.bodies)
        tokens[row, :count] = torch.from_numpy(seen.tokens[view]).float()
        pairs[row, :count, :count] = torch.from_numpy(seen.pairs[view]).float()
        bodies[row, :count], moves[row, :count] = torch.from_numpy(seen.bodies), torch.from_numpy(seen.moves)
    return tokens, pairs, bodies >= 0, PieceTargets(bodies, moves)


def learn(seen: Sequence[Seen], steps: int) -> PieceModel:
    """The layers above the encoder, taught by AdamW with a step size that falls over the last 70 %."""
    torch.manual_seed(0)
    rng, recipe = np.random.default_rng(0), RECIPES["base"]
    task = PieceTask(recipe.model)
    taught = [weight for name, weight in task.named_parameters() if ".encoder." not in f".{name}"]
    optimizer = torch.optim.AdamW(taught, lr=RATE, weight_decay=recipe.weight_decay)
    groups = [[one for one in seen if one.source == source] for source in SOURCES]
    shares = np.array([share * bool(some) for share, some in zip(recipe.view.shares, groups, strict=True)])
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 20, (steps - step) / (0.7 * steps))
        drawn = [groups[k] for k in rng.choice(len(groups), POOL * OBJECTS, p=shares / shares.sum())]
        pool = [(some[int(rng.integers(len(some)))], int(rng.integers(LEARNED_VIEWS))) for some in drawn]
        pool.sort(key=lambda one: len(one[0].bodies))
        first = int(rng.integers(len(pool) - OBJECTS))
        batch = pool[first : first + OBJECTS]
        while len(batch) > 1 and len(batch) * len(batch[-1][0].bodies) ** 2 > PAIRS:
            batch.pop()
        tokens, pairs, present, targets = stacked(batch)
        optimizer.zero_grad()
        task.terms(task.model.answer(tokens, pairs, present), targets).loss.backward()
        torch.nn.utils.clip_grad_norm_(taught, recipe.clip)
        optimizer.step()
    return task.model.eval()


def self_labelled(model: PieceModel, unlabelled: Sequence[Seen]) -> list[Seen]:
    """Unlabelled objects of which the network is sure, with its answers as labels."""
    found = []
    for seen in unlabelled:
        groups, kinds = answered(model, seen)
        if abs(groups.anything) < SURE or (np.abs(groups.moves[1:]) < SURE).any():
            continue
        moving = (groups.moves[groups.labels] > 0) & (groups.anything > 0)
        labels = np.unique(np.where(moving, groups.labels, 0), return_inverse=True)[1]
        shares = np.array([kinds[labels == body].mean(axis=0) for body in range(labels.max() + 1)])
        moves = np.where(moving, 1 + shares[:, 1:].argmax(axis=1)[labels], STATIC)
        found.append(seen._replace(source="real" if moving.any() else "static", bodies=labels, moves=moves))
    return found


def judge(model: PieceModel, left_out: dict[str, list[Seen]]) -> dict[str, float]:
    """Recall, precision and share of objects whose surest body is right, and how many static ones are said to move."""
    figures: dict[str, float] = {}
    for group, some in left_out.items():
        found = [bodies(model, seen) for seen in some]
        if group == "still":
            figures["still"] = float(np.mean([anything for *_, anything in found])) if found else 0.0
            continue
        hits, said, true = (sum(row[k] for row in found) for k in (3, 1, 2))
        figures |= {f"{group} recall": hits / max(1, true), f"{group} precision": hits / max(1, said)}
        figures[f"{group} strongest"] = float(np.mean([bool(row[0]) and row[0][0] for row in found]))
    return figures


@torch.no_grad()
def answered(model: PieceModel, seen: Seen) -> tuple[Groups, np.ndarray]:
    """Groups of pieces, and the probabilities of each piece to stand still, turn or slide."""
    views = range(LEARNED_VIEWS, LEARNED_VIEWS + ASKED_VIEWS)
    answers = model.answer(*stacked([(seen, view) for view in views])[:3])
    affinity = answers.affinity.mean(dim=0).numpy().astype(np.float64)
    moves = moving_odds(answers.moves).mean(dim=0).numpy().astype(np.float64)
    anything = float(answers.anything.mean())
    groups = group_pieces(PieceOdds(seen.areas, moves, (affinity + affinity.T) / 2, anything, seen.copies))
    return groups, answers.moves.softmax(dim=-1).mean(dim=0).numpy()


def bodies(model: PieceModel, seen: Seen) -> tuple[list[bool], int, int, int, bool]:
    """Whether each body that is said to move is a true one, the surest first; how many are; how many truly move; how
    many are found; and whether anything is said to move."""
    groups, _ = answered(model, seen)
    used, fine = set[int](), list[bool]()
    true = [seen.bodies == body for body in np.unique(seen.bodies[seen.moves > STATIC])]
    order = [body for body in np.argsort(-groups.moves) if body > 0 and groups.moves[body] > 0]
    for body in order:
        mine = groups.labels == body
        alike = [float(seen.areas[mine & one].sum() / seen.areas[mine | one].sum()) for one in true]
        best = int(np.argmax(alike)) if alike else -1
        fine.append(best >= 0 and alike[best] >= OVERLAP and best not in used)
        used |= {best} if fine[-1] else set()
    return fine, len(order), len(true), sum(fine), groups.chance > 0.5


def main(options: PiecesFolds) -> None:
    things = training_things(PieceSources(options.data, options.static, generated=options.generated))
    model = RECIPES["base"].build().model.eval()
    seen = see(things, model, options.out / "seen")
    files = [path for folder in options.static for path in moving_files(folder)]
    unlabelled = list(see([unlabelled_thing(path) for path in files], model, options.out / "seen").values())
    print(f"{len(unlabelled)} unlabelled objects", flush=True)
    table: list[dict[str, Any]] = []
    for name in options.rows:
        figures = []
        for fold in options.folds:
            path = options.out / f"{name.replace(' ', '_')}_{fold}_{options.steps}.json"
            if not path.exists():
                learned, left = split(things, fold)
                some = [t for t in learned if chance(t.name, "share") < ROWS[name].get(t.source, 1.0)]
                labelled, added = [seen[t.name] for t in some if t.name in seen], list[Seen]()
                model = learn(labelled, options.steps)
                for _ in range(int(ROWS[name].get("rounds", 0))):
                    added = self_labelled(model, unlabelled)
                    model = learn(labelled + added, options.steps)
                asked = {group: [seen[t.name] for t in mine if t.name in seen] for group, mine in left.items()}
                real = sum(t.source == "real" for t in some)
                path.write_text(
                    json.dumps({"objects": len(some), "real": real, "added": len(added), **judge(model, asked)})
                )
            figures.append(json.loads(path.read_text()))
            print(name, fold, figures[-1], flush=True)
        table.append({"row": name, **{key: float(np.mean([one[key] for one in figures])) for key in figures[0]}})
    names = {"row": ("learned from", "{}"), "real": ("real objects", "{:.0f}"), "objects": ("all objects", "{:.0f}"),
             "added": ("labelled by itself", "{:.0f}")}  # fmt: skip
    for group in ("seen", "unseen"):
        names |= {f"{group} {word}": (f"{group}: {word}", "{:.2f}") for word in ("recall", "precision", "strongest")}
    text = markdown(table, {**names, "still": ("static, said to move", "{:.2f}")})
    print(text)
    if options.write is not None:
        put_section(options.write, "pieces folds", f"{text}\n\n{stamp()}")


if __name__ == "__main__":
    main(tyro.cli(PiecesFolds))
