"""Real models as lists of parts that a network can learn to write: forms fitted, named and put in order."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from neurok.catalogue.categories import draw, split_of
from neurok.catalogue.parts import Assembly, Part, Repeat, Role
from neurok.catalogue.record import record_of
from neurok.core.material_library import library as material_library
from neurok.errors import NeurokError
from neurok.generation.fields import can_be_listed, quarters
from neurok.geometry.distance import volumetric_iou
from neurok.geometry.sampling import sample_surface
from neurok.modelling.forms import Kind, Relief
from neurok.modelling.shapes import join
from neurok_lab.data.household_real import RealModel, real_models
from neurok_lab.parts.part_autoencoder import PartModel
from neurok_lab.parts.part_cutting import NEVER, rebuild_solid
from neurok_lab.parts.part_frames import FRAMES
from neurok_lab.train.parts import real_thing

# Which models are good enough; lengths are shares of the object's longest side.
ALIKE = 0.6  # Least overlap (IoU with thin walls counted) with the real one.
CELLS = 48  # Of the grid on which that is asked.
APART = 0.05  # Widest gap between a part and its parent; what is farther from all others is left out ...
TOUCHING = 0.012  # ... and below which they touch, so that the usual order of parts decides and not the gap.
LEVEL = 0.03  # Rotations so near [rad] to a turn by quarters are one ...
CENTRED = 0.01  # ... and places so near to the middle are in it.
POINTS = 300  # On each copy, between which gaps are measured.


FRAME = replace(FRAMES, tried=3, fit=6, good=NEVER)
"""Forms alone, for lists have no implicit shapes ..."""

PIECES = 8
"""... and few pieces, for lists are short."""

SUMMARY = "real.json"


def build_real(
    out: Path, library: Path, model: PartModel, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Add the models of a library that may be learned from and fit well to a store; goes on where it was broken off.

    Small files come first: they take least time.

    Returns what became of each model: its overlap with the real one, or why it was left out.
    """
    models = [one for one in real_models(library) if one.is_learned]
    models.sort(key=lambda one: (one.path.stat().st_size, one.path.name))
    numbers = itertools.islice((k for k in itertools.count() if split_of(k) == "train"), len(models))
    out.mkdir(parents=True, exist_ok=True)
    told = out / SUMMARY
    known: dict[str, Any] = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
    for done, (one, number) in enumerate(zip(models, numbers, strict=True), start=1):
        key = one.path.stem
        if key not in known:
            known[key] = _add(out, one, number, model)
            told.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        if progress is not None:
            progress(done, len(models))
    return known


def _add(out: Path, one: RealModel, number: int, model: PartModel) -> dict[str, Any]:
    try:
        made, alike = fitted_thing(model, real_thing(one))
    except NeurokError as error:
        return {"category": one.category, "left_out": str(error)}
    row = record_of(replace(made, name=f"{one.category} {one.path.stem}/{number}"))
    with (out / f"real_{one.category.replace(' ', '_')}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return {"category": one.category, "parts": len(made.parts), "iou": round(alike, 3)}


def fitted_thing(model: PartModel, thing: Assembly) -> tuple[Assembly, float]:
    """A real model with a form in place of each part, and how much of it overlaps the real one.

    Raises:
        NeurokError: If it is too unlike the real one or more than a list can hold.
    """
    low, high = thing.bounds
    longest = float((high - low).max())
    off = np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2])
    parts: list[Part] = []
    for part in thing.parts:
        share = float(part.size.max()) / longest
        for found in rebuild_solid(model, part.copies[0], part.appearance, share, PIECES, FRAME):
            guess = found.guess
            form = replace(
                part, kind=cast(Kind, guess.kind), code=guess.code, size=found.size, centre=found.pose[:3, 3],
                turn=found.pose[:3, :3], hollow=guess.hollow, relief=cast(Relief, guess.relief), mesh=None, parent=-1,
            )  # fmt: skip
            parts.append(_tidied(form, off, CENTRED * longest, LEVEL))
    made = Assembly(thing.category, tuple(replace(p, parent=min(k, 1) - 1) for k, p in enumerate(parts)))
    made = with_parents(renamed(made))
    alike = _overlap(thing, made, off)
    if alike < ALIKE:
        raise NeurokError(f"Forms overlap the real one by {alike:.2f}; at least {ALIKE} is asked for.")
    if not can_be_listed(made):
        raise NeurokError(f"It has {len(made.parts)} parts, more than a list can hold.")
    return made, alike


def _overlap(true: Assembly, made: Assembly, off: np.ndarray) -> float:
    whole, forms = (join([copy for part in one.parts for copy in part.copies]) for one in (true, made))
    return float(volumetric_iou((whole.vertices - off, whole.faces), (forms.vertices, forms.faces), CELLS, shell=True))


def _tidied(part: Part, off: np.ndarray, near: float, level: float) -> Part:
    """Standing on the floor about the middle, square and centred where it nearly is."""
    turn = max(quarters(), key=lambda one: float(np.trace(one.T @ part.turn)))
    is_square = np.arccos(np.clip((np.trace(turn.T @ part.turn) - 1.0) / 2.0, -1.0, 1.0)) < level

    def snap(value: float) -> float:
        return 0.0 if abs(value) < near else float(value)

    x, y, z = part.centre - off
    repeat = part.repeat
    pivot = (snap(repeat.pivot[0] - off[0]), snap(repeat.pivot[1] - off[2])) if repeat.total > 1 else (0.0, 0.0)
    moved = Repeat(repeat.mirror, repeat.count, repeat.step, repeat.turn, repeat.lean, repeat.scale, pivot)
    is_row = repeat.count > 1
    place = np.array([x if is_row else snap(x), y, z if is_row else snap(z)])
    return replace(part, centre=place, turn=turn if is_square else part.turn, repeat=moved)


def with_parents(thing: Assembly) -> Assembly:
    """Parts in the usual order of their category, each after the part that it touches; those that touch none are
    left out."""
    from scipy.spatial import cKDTree

    usual = part_names(thing.category)
    longest = float(np.ptp(thing.bounds, axis=0).max())
    rng = np.random.default_rng(0)
    points = [
        [sample_surface(s.vertices, s.faces, POINTS, rng).interpolate(s.vertices) for s in part.copies]
        for part in thing.parts
    ]
    trees = [cKDTree(np.concatenate(some)) for some in points]
    volume = [float(np.prod(part.size)) for part in thing.parts]
    count = len(thing.parts)
    root = max(range(count), key=lambda k: (usual.roots[thing.parts[k].name], volume[k]))
    order, parents, left = [root], {root: -1}, [k for k in range(count) if k != root]
    gaps = {(a, b): float(trees[b].query(points[a][0])[0].min()) / longest for a in range(count) for b in range(count)}
    while left:
        near = {k: min(order, key=lambda other: gaps[k, other]) for k in left}
        best = min(left, key=lambda k: (max(gaps[k, near[k]], TOUCHING), usual.ranks.get(thing.parts[k].name, 99.0)))
        if gaps[best, near[best]] > APART:
            break
        parents[best] = near[best]
        order.append(best)
        left.remove(best)
    out = []
    for k in order:
        part, parent = thing.parts[k], parents[k]
        meets = part.centre
        if parent >= 0:
            away, which = trees[parent].query(points[k][0])
            nearest = int(np.argmin(away))
            meets = (points[k][0][nearest] + trees[parent].data[which[nearest]]) / 2.0
        out.append(replace(part, parent=order.index(parent) if parent >= 0 else -1, meets=meets))
    return replace(thing, parts=tuple(out))


# How parts are compared.
NAMED_OBJECTS = 80  # of the category, drawn to compare with
NAMED_NEAREST = 5  # parts that vote, each by one over its distance ...
NAMED_LEAST = 0.05  # ... but not less than this
NAMED_SIDE = 0.15
"""A factor of e between sides, and of two between numbers of copies, counts as much as this share of the object."""

NAMED_FAMILY = 0.3  # the same for another family of materials


@dataclass(frozen=True, eq=False)
class PartNames:
    """Parts of generated objects of one category, and what they are called."""

    rows: Float[np.ndarray, "N 10"]
    families: np.ndarray
    names: list[tuple[str, Role]]
    roots: Counter[str]
    """How often each name is the first of a list."""

    ranks: dict[str, float]
    """Mean place of each name in a list."""

    def named(self, thing: Assembly) -> list[tuple[str, Role]]:
        """Name and role of every part; where a part has a name that the category knows, it keeps it."""
        known = {name for name, _ in self.names} - {"body"}
        out = []
        for row, part in zip(rows_of(thing), thing.parts, strict=True):
            away = np.linalg.norm(self.rows - row, axis=1) + NAMED_FAMILY * (self.families != family_of(part))
            if part.name in known:
                away = away + 1e3 * np.array([name != part.name for name, _ in self.names])
            votes: Counter[tuple[str, Role]] = Counter()
            for k in np.argsort(away)[:NAMED_NEAREST]:
                votes[self.names[k]] += 1.0 / (away[k] + NAMED_LEAST)  # type: ignore[assignment]
            out.append(votes.most_common(1)[0][0])
        return out


@cache
def part_names(category: str) -> PartNames:
    """What the generator of a category calls its parts."""
    rng = np.random.default_rng(0)
    things = [draw(category, rng) for _ in range(NAMED_OBJECTS)]
    ranks: dict[str, list[int]] = {}
    for thing in things:
        for place, part in enumerate(thing.parts):
            ranks.setdefault(part.name, []).append(place)
    return PartNames(
        np.concatenate([rows_of(thing) for thing in things]),
        np.array([family_of(part) for thing in things for part in thing.parts]),
        [(part.name, part.role) for thing in things for part in thing.parts],
        Counter(thing.parts[0].name for thing in things),
        {name: float(np.mean(places)) for name, places in ranks.items()},
    )


def family_of(part: Part) -> str:
    return material_library()[part.appearance.visible_material].family


def rows_of(thing: Assembly) -> Float[np.ndarray, "P 10"]:
    """Where the copies of each part are in the box of the object, how large one is, and how many there are."""
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    boxes = []
    for part in thing.parts:
        corners = [(signs * part.size) @ pose[:3, :3].T + pose[:3, 3] for pose in part.poses]
        boxes.append((np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1)), np.ptp(corners[0], axis=0)))
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    extent = np.maximum(high - low, 1e-6)
    rows = []
    for part, (start, end, size) in zip(thing.parts, boxes, strict=True):
        sides = NAMED_SIDE * np.log(np.maximum(size / extent.max(), 1e-3))
        count = NAMED_SIDE * np.log2(part.repeat.total)
        rows.append([*((start - low) / extent), *((end - low) / extent), *sides, count])
    return np.array(rows)


def renamed(thing: Assembly) -> Assembly:
    """The same object with names and roles of its category's vocabulary."""
    said = part_names(thing.category).named(thing)
    parts = [replace(part, name=name, role=role) for part, (name, role) in zip(thing.parts, said, strict=True)]
    return replace(thing, parts=tuple(parts))
