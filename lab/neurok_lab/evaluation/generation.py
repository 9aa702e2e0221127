"""Measures generation: does an object have what was asked for, is it whole, and can it be simulated."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.catalogue.appearance import basic
from neurok.catalogue.captions import full_caption, main_part, shared_style
from neurok.catalogue.categories import split_of
from neurok.catalogue.checks import body_count, is_closed
from neurok.catalogue.parts import Assembly
from neurok.catalogue.prompts import PartConstraint, Prompt, free_prompts, judge
from neurok.catalogue.vocabulary import CATEGORIES, article, table
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.generation.verb import GENERATE, Generated, generate
from neurok.geometry.sampling import sample_surface
from neurok_lab.data.household import drawn
from neurok_lab.evaluation.tables import Columns, Row, Tell, grouped, means, measured, spread

ASPECTS = ("category", "present", "counts", "colours", "materials", "styles", "patterns")

TEXT: Columns = {
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
FALLS: Columns = {
    "suite": ("dropped", "{}"),
    "count": ("number", "{}"),
    "simulable": ("simulable", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
DIVERSITY: Columns = {
    "suite": ("over four", "{}"),
    "count": ("prompts", "{}"),
    "apart": ("Chamfer between two", "{:.4f}"),
    "lists": ("lists of parts that differ", "{:.2f}"),
    "shades": ("colours that differ", "{:.2f}"),
}

EACH = 6  # held-out instances of each category whose captions or pictures are tried
FIRST = 10_000  # number from which held-out instances are looked for: far beyond those of training stores
POINTS = 4096  # samples of a surface
NEAR = 0.05  # distance that counts as found in the F-score [shares of the longest side]
SIMULATED = 12  # objects of each kind of prompt that are dropped
SECONDS = 0.4  # length of the fall [s]
DIVERSE = 11  # categories of which several objects are compared
SEEDS = 4  # objects of one prompt that are compared


def held_out(each: int = EACH) -> Iterator[Assembly]:
    """Instances of the test split that no training store reaches."""
    for category in CATEGORIES:
        numbers = (k for k in range(FIRST, 10**9) if split_of(k) == "test")
        for _ in range(each):
            yield drawn(category, 0, next(numbers))


def _listed(assembly: Assembly) -> Prompt:
    constraints = []
    for name in dict.fromkeys(part.name for part in assembly.parts):
        parts = [part for part in assembly.parts if part.name == name]
        looks = {(basic(part.appearance.colour), part.appearance.visible_material) for part in parts}
        colours = tuple(dict.fromkeys(colour for colour, _ in looks))
        unsaid = {stuff for _, stuff in looks} & set(table()["unsaid"])
        materials = () if unsaid else tuple(dict.fromkeys(stuff for _, stuff in looks))
        styles = tuple(shared_style(parts)[:1]) if len(looks) == 1 else ()
        constraints.append(PartConstraint(name, colours, materials, sum(part.repeat.total for part in parts), styles))
    return Prompt(full_caption(assembly), assembly.category, tuple(constraints))


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
    prompts: dict[str, list[Prompt]], weights: str | Path, store: Path | None = None, tell: Tell | None = None
) -> list[Row]:
    """A row for every prompt; with a store, a stopped run goes on."""

    def measure(suite: str, prompt: Prompt) -> Row:
        return {"suite": suite, **measure_prompt(prompt, weights)}

    numbered = ((suite, number, one) for suite, some in prompts.items() for number, one in enumerate(some))
    return measured(((f"{name}/{number}", partial(measure, name, one)) for name, number, one in numbered), store, tell)


def measure_falls(
    prompts: dict[str, list[Prompt]], weights: str | Path, store: Path | None = None, tell: Tell | None = None
) -> list[Row]:
    """Whether objects of some of the prompts can be dropped."""

    def measure(suite: str, text: str) -> Row:
        (found,) = generate(text, weights=weights)
        start = time.process_time()
        can = is_simulable(found.asset, SECONDS)
        return {"suite": suite, "prompt": text, "simulable": can, "seconds": time.process_time() - start}

    chosen = ((suite, one.text) for suite, some in prompts.items() for one in spread(some, SIMULATED))
    return measured(((text, partial(measure, suite, text)) for suite, text in chosen), store, tell)


def is_simulable(asset: Asset, seconds: float) -> bool:
    """Whether an object can be dropped as it is: no divergence, nothing that is not finite."""
    from neurok.scene.run import simulate

    try:
        rollout = simulate(asset, act="drop", seconds=seconds)
    except NeurokError:
        return False
    return rollout.status == "ok" and rollout.positions is not None and bool(np.isfinite(rollout.positions).all())


def measure_diversity(weights: str | Path, store: Path | None = None, tell: Tell | None = None) -> list[Row]:
    """How different the objects of several seeds are, for one plain prompt of some categories."""

    def measure(text: str) -> Row:
        found = generate(text, weights=weights, count=SEEDS)
        pairs = itertools.combinations([one.asset.mesh for one in found], 2)
        lists = {tuple(part.name for part in one.assembly.parts) for one in found}
        colours = {one.assembly.parts[main_part(one.assembly)].appearance.colour for one in found}
        apart = float(np.mean([shape_distance(a, b)[0] for a, b in pairs]))
        same = {"apart": apart, "lists": len(lists) / SEEDS, "shades": len(colours) / SEEDS}
        return {"prompt": text, "suite": "seeds", **same}

    texts = [article(category) for category in CATEGORIES[:: max(1, len(CATEGORIES) // DIVERSE)]]
    return measured(((text, partial(measure, text)) for text in texts), store, tell)


def shape_distance(one: Mesh, two: Mesh) -> tuple[float, float]:
    """Chamfer distance (mean of both ways) and F-score of two objects, each in its own unit box."""
    a, b = (_unit_points(mesh) for mesh in (one, two))
    there, back = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    precision, recall = float((there < NEAR).mean()), float((back < NEAR).mean())
    f_score = 2 * precision * recall / max(precision + recall, 1e-9)
    return float(there.mean() + back.mean()) / 2, f_score


def _unit_points(mesh: Mesh) -> Float[np.ndarray, "N 3"]:
    points = sample_surface(mesh.vertices, mesh.faces, POINTS, np.random.default_rng(0)).interpolate(mesh.vertices)
    low, high = points.min(axis=0), points.max(axis=0)
    return (points - (low + high) / 2) / float((high - low).max())


def summarise(rows: list[Row], columns: Columns) -> list[Row]:
    """Means of each suite."""
    names = [name for name in columns if name not in ("suite", "count")]
    found = [{**about, "count": len(mine), **means(mine, names)} for about, mine in grouped(rows, "suite")]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def all_prompts(each: int = EACH, limit: int | None = None) -> dict[str, list[Prompt]]:
    """Plain lists of the parts of held-out instances and free prompts, at most so many of each, spread over all."""
    found = {"templates": [_listed(assembly) for assembly in held_out(each)], "free": list(free_prompts())}
    return {name: spread(prompts, limit) for name, prompts in found.items()}
