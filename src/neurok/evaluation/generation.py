"""Measures generation: does an object have what was asked for, is it whole, and can it be simulated."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core import Asset, Mesh
from neurok.data.household import drawn
from neurok.errors import NeurokError
from neurok.families.household.captions import full_caption, main_part, shared_style
from neurok.families.household.categories import split_of
from neurok.families.household.checks import body_count, is_closed
from neurok.families.household.looks import basic
from neurok.families.household.parts import Assembly
from neurok.families.household.prompts import Prompt, Wish, free_prompts, judge
from neurok.families.household.vocabulary import CATEGORIES
from neurok.families.household.words import article, table
from neurok.geometry.sampling import sample_surface
from neurok.inference.generate import GENERATE, Generated, generate

Row = dict[str, Any]
Item = TypeVar("Item")
ASPECTS = ("category", "present", "counts", "colours", "materials", "styles", "patterns")

TEXT = {
    "suite": ("prompts", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "present": ("parts there", "{:.2f}"),
    "counts": ("counts", "{:.2f}"),
    "colours": ("colours", "{:.2f}"),
    "materials": ("materials", "{:.2f}"),
    "styles": ("shapes", "{:.2f}"),
    "patterns": ("patterns", "{:.2f}"),
    "others": ("colours not spread", "{:.2f}"),
    "all": ("all of it", "{:.2f}"),
    "watertight": ("watertight", "{:.2f}"),
    "whole": ("one body", "{:.2f}"),
    "near": ("... moved < 2 %", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
FALLS = {
    "suite": ("dropped", "{}"),
    "count": ("number", "{}"),
    "simulable": ("simulable", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
DIVERSITY = {
    "suite": ("over four", "{}"),
    "count": ("prompts", "{}"),
    "apart": ("Chamfer between two", "{:.4f}"),
    "lists": ("lists of parts that differ", "{:.2f}"),
    "shades": ("colours that differ", "{:.2f}"),
}
Tell = Callable[[Row], None]


@dataclass(frozen=True)
class GenerationSuite:
    """What is measured."""

    each: int = 6
    """Held-out instances of each category whose captions or pictures are tried."""

    views: int = 5
    """Pictures of each object."""

    first: int = 10_000
    """Number from which held-out instances are looked for: far beyond those of training stores."""

    points: int = 4096
    """Samples of a surface."""

    near: float = 0.05
    """Distance that counts as found in the F-score [shares of the longest side]."""

    simulated: int = 12
    """Objects of each kind of prompt that are dropped."""

    seconds: float = 0.4
    """Length of the fall [s]."""

    diverse: int = 11
    """Categories of which several objects are compared."""

    seeds: int = 4
    """Objects of one prompt that are compared."""


SUITE = GenerationSuite()


def template_prompts(suite: GenerationSuite = SUITE) -> list[Prompt]:
    """Plain lists of the parts of held-out instances, with what they ask for."""
    return [_listed(assembly) for assembly in held_out(suite)]


def held_out(suite: GenerationSuite = SUITE) -> Iterator[Assembly]:
    """Instances of the test split that no training store reaches."""
    for category in CATEGORIES:
        numbers = (k for k in range(suite.first, 10**9) if split_of(k) == "test")
        for _ in range(suite.each):
            yield drawn(category, 0, next(numbers))


def _listed(assembly: Assembly) -> Prompt:
    wishes = []
    for name in dict.fromkeys(part.name for part in assembly.parts):
        parts = [part for part in assembly.parts if part.name == name]
        looks = {(basic(part.look.colour), part.look.stuff) for part in parts}
        colours = tuple(dict.fromkeys(colour for colour, _ in looks))
        unsaid = {stuff for _, stuff in looks} & _unsaid()
        materials = () if unsaid else tuple(dict.fromkeys(stuff for _, stuff in looks))
        styles = tuple(shared_style(parts)[:1]) if len(looks) == 1 else ()
        wishes.append(Wish(name, colours, materials, sum(part.repeat.total for part in parts), styles))
    return Prompt(full_caption(assembly), assembly.category, tuple(wishes))


def _unsaid() -> set[str]:
    return set(table()["unsaid"])


def measure_prompt(prompt: Prompt, weights: str | Path, seed: int = 0) -> Row:
    """Whether what comes out has what was asked for; a prompt that is refused has nothing of it."""
    start = time.process_time()
    try:
        (found,) = generate(prompt.text, weights=weights, seed=seed)
    except NeurokError as error:
        missed: Row = {name: 0.0 for name in ("category", "all") if prompt.text}
        return {"prompt": prompt.text, "seconds": 0.0, "refused": str(error), **missed}
    seconds = time.process_time() - start
    verdict = judge(found.assembly, prompt)
    row: Row = {"prompt": prompt.text, "seconds": seconds, **soundness(found)}
    row["category"] = verdict.category
    for name in ASPECTS[1:]:
        held = getattr(verdict, name)
        row[name] = float(np.mean(held)) if held else None
    others = found.verdict.others  # as the prompt was read: those written down name the seat of a chair for the whole
    row["others"] = float(np.mean(others)) if others else None
    row["all"] = verdict.category and all(all(getattr(verdict, name)) for name in ASPECTS[1:])
    return row


def soundness(found: Generated) -> Row:
    """Whether an object is closed, in one piece, and was so almost from the beginning."""
    closed = all(is_closed(part.solid) and part.solid.volume > 0 for part in found.assembly.parts)
    bodies = body_count([solid for part in found.assembly.parts for solid in part.solids])
    whole = bodies == 1
    return {
        "watertight": closed,
        "whole": whole,
        "near": whole and found.moved <= GENERATE.far,
        "moved": found.moved,
        "bodies": bodies,
        "parts": len(found.assembly.parts),
    }


def measure_text(
    suites: dict[str, list[Prompt]],
    weights: str | Path,
    store: Path | None = None,
    suite: GenerationSuite = SUITE,
    tell: Tell | None = None,
) -> list[Row]:
    """A row for every prompt; with a store, a stopped run goes on."""
    done = {(row["suite"], row["number"]): row for row in stored(store)}
    rows = []
    for name, prompts in suites.items():
        for number, prompt in enumerate(prompts):
            if (name, number) not in done:
                row = measure_prompt(prompt, weights) | {"suite": name, "number": number}
                done[name, number] = row
                keep(store, row)
            rows.append(done[name, number])
            if tell is not None:
                tell(rows[-1])
    return rows


def measure_falls(
    suites: dict[str, list[Prompt]],
    weights: str | Path,
    store: Path | None = None,
    suite: GenerationSuite = SUITE,
    tell: Tell | None = None,
) -> list[Row]:
    """Whether objects of some of the prompts can be dropped."""
    done = {row["prompt"]: row for row in stored(store)}
    rows = []
    for name, prompts in suites.items():
        for prompt in spread(prompts, suite.simulated):
            if prompt.text not in done:
                (found,) = generate(prompt.text, weights=weights)
                start = time.process_time()
                row: Row = {"suite": name, "prompt": prompt.text}
                row["simulable"] = is_simulable(found.asset, suite.seconds)
                row["seconds"] = time.process_time() - start
                done[prompt.text] = row
                keep(store, row)
            rows.append(done[prompt.text])
            if tell is not None:
                tell(rows[-1])
    return rows


def is_simulable(asset: Asset, seconds: float) -> bool:
    """Whether an object can be dropped as it is: no divergence, nothing that is not finite."""
    from neurok.inference.spaces import learner
    from neurok.io import save
    from neurok.scene.description import Scene, SceneObject
    from neurok.scene.run import prepare_scene, run_ready

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "object.glb"
        save(asset, path)
        try:
            scene = Scene((SceneObject(str(path), act="drop"),), seconds=seconds)
            run = run_ready(prepare_scene(scene, learner(None)))
        except NeurokError:
            return False
    positions = run.rollout.positions
    return run.rollout.status == "ok" and positions is not None and bool(np.isfinite(positions).all())


def measure_diversity(
    weights: str | Path, store: Path | None = None, suite: GenerationSuite = SUITE, tell: Tell | None = None
) -> list[Row]:
    """How different the objects of several seeds are, for one plain prompt of some categories."""
    done = {row["prompt"]: row for row in stored(store)}
    rows = []
    for category in CATEGORIES[:: max(1, len(CATEGORIES) // max(1, suite.diverse))]:
        text = article(category)
        if text not in done:
            found = generate(text, weights=weights, count=suite.seeds)
            pairs = list(itertools.combinations(found, 2))
            lists = {tuple(part.name for part in one.assembly.parts) for one in found}
            colours = {one.assembly.parts[main_part(one.assembly)].look.colour for one in found}
            row = {
                "prompt": text,
                "suite": "seeds",
                "apart": float(np.mean([shape_distance(a.asset.mesh, b.asset.mesh, suite)[0] for a, b in pairs])),
                "lists": len(lists) / suite.seeds,
                "shades": len(colours) / suite.seeds,
            }
            done[text] = row
            keep(store, row)
        rows.append(done[text])
        if tell is not None:
            tell(rows[-1])
    return rows


def shape_distance(one: Mesh, two: Mesh, suite: GenerationSuite = SUITE) -> tuple[float, float]:
    """Chamfer distance (mean of both ways) and F-score of two objects, each in its own unit box."""
    a, b = (_unit_points(mesh, suite.points) for mesh in (one, two))
    there, back = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    precision, recall = float((there < suite.near).mean()), float((back < suite.near).mean())
    f_score = 2 * precision * recall / max(precision + recall, 1e-9)
    return float(there.mean() + back.mean()) / 2, f_score


def _unit_points(mesh: Mesh, count: int) -> Float[np.ndarray, "N 3"]:
    points = sample_surface(mesh.vertices, mesh.faces, count, np.random.default_rng(0)).interpolate(mesh.vertices)
    low, high = points.min(axis=0), points.max(axis=0)
    return (points - (low + high) / 2) / float((high - low).max())


def summarise(rows: list[Row], columns: dict[str, tuple[str, str]]) -> list[Row]:
    """Means of each suite."""
    out = []
    for suite in dict.fromkeys(row["suite"] for row in rows):
        mine = [row for row in rows if row["suite"] == suite]
        summary: Row = {"suite": suite, "count": len(mine)}
        for name in columns:
            values = [float(row[name]) for row in mine if row.get(name) is not None and name not in summary]
            if values:
                summary[name] = float(np.mean(values))
        out.append(summary)
    return out


def all_prompts(suite: GenerationSuite = SUITE, limit: int | None = None) -> dict[str, list[Prompt]]:
    """Prompts of both kinds, at most so many of each, spread over all."""
    found = {"templates": template_prompts(suite), "free": list(free_prompts())}
    return {name: spread(prompts, limit) for name, prompts in found.items()}


def spread(items: list[Item], limit: int | None) -> list[Item]:
    """At most so many of them, evenly from first to last."""
    if limit is None or len(items) <= limit:
        return items
    return [items[k] for k in np.linspace(0, len(items) - 1, limit).round().astype(int)]


def stored(store: Path | None) -> list[Row]:
    """Rows of a run that was stopped."""
    if store is None or not store.exists():
        return []
    return [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]


def keep(store: Path | None, row: Row) -> None:
    """Write a row down at once."""
    if store is not None:
        store.parent.mkdir(parents=True, exist_ok=True)
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, default=float) + "\n")
