"""Measures generation: does an object have what was asked for, is it whole, and can it be simulated."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.core import Asset, Mesh
from neurok.data.household import drawn
from neurok.data.household_pictures import PictureConfig, draw_views, take_pictures
from neurok.evaluation.tables import markdown
from neurok.families.household.asset import asset_of
from neurok.families.household.captions import full_caption, main_part
from neurok.families.household.categories import split_of
from neurok.families.household.checks import is_closed
from neurok.families.household.looks import basic
from neurok.families.household.parts import Assembly
from neurok.families.household.prompts import Prompt, Wish, free_prompts, judge
from neurok.families.household.vocabulary import CATEGORIES
from neurok.geometry.sampling import sample_surface
from neurok.inference.generate import GENERATE, Generated, generate

Row = dict[str, Any]
ASPECTS = ("category", "present", "counts", "colours", "materials")

TEXT = {
    "suite": ("prompts", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "present": ("parts there", "{:.2f}"),
    "counts": ("counts", "{:.2f}"),
    "colours": ("colours", "{:.2f}"),
    "materials": ("materials", "{:.2f}"),
    "all": ("all of it", "{:.2f}"),
    "watertight": ("watertight", "{:.2f}"),
    "whole": ("one body", "{:.2f}"),
    "near": ("... moved < 2 %", "{:.2f}"),
    "simulable": ("simulable", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}
PICTURES = {
    "suite": ("pictures", "{}"),
    "count": ("number", "{}"),
    "category": ("category", "{:.2f}"),
    "part_f1": ("parts F1", "{:.2f}"),
    "colour": ("colour", "{:.2f}"),
    "material": ("material family", "{:.2f}"),
    "chamfer": ("Chamfer", "{:.4f}"),
    "f_score": ("F-score", "{:.2f}"),
    "seconds": ("CPU s", "{:.1f}"),
}


@dataclass(frozen=True)
class GenerationSuite:
    """What is measured."""

    each: int = 6
    """Held-out instances of each category whose captions or pictures are tried."""

    first: int = 10_000
    """Number from which held-out instances are looked for: far beyond those of training stores."""

    points: int = 4096
    """Samples of a surface."""

    near: float = 0.05
    """Distance that counts as found in the F-score [shares of the longest side]."""

    simulated: int = 24
    """Objects that are dropped."""

    seconds: float = 0.4
    """Length of the fall [s]."""


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
        wishes.append(Wish(name, colours, materials, sum(part.repeat.total for part in parts)))
    return Prompt(full_caption(assembly), assembly.category, tuple(wishes))


def _unsaid() -> set[str]:
    from neurok.families.household.words import table

    return set(table()["unsaid"])


def measure_prompt(prompt: Prompt, weights: str | Path, seed: int = 0) -> tuple[Row, Generated]:
    """Whether what comes out has what was asked for."""
    start = time.process_time()
    (found,) = generate(prompt.text, weights=weights, seed=seed)
    seconds = time.process_time() - start
    verdict = judge(found.assembly, prompt)
    row: Row = {"prompt": prompt.text, "seconds": seconds, **_soundness(found)}
    row["category"] = verdict.category
    for name in ASPECTS[1:]:
        held = getattr(verdict, name)
        row[name] = float(np.mean(held)) if held else None
    row["all"] = verdict.category and all(all(getattr(verdict, name)) for name in ASPECTS[1:])
    return row, found


def _soundness(found: Generated) -> Row:
    closed = all(is_closed(part.solid) and part.solid.volume > 0 for part in found.assembly.parts)
    whole = found.bodies == 1
    return {
        "watertight": closed,
        "whole": whole,
        "near": whole and found.moved <= GENERATE.far,
        "moved": found.moved,
        "bodies": found.bodies,
        "parts": len(found.assembly.parts),
    }


def measure_text(
    suites: dict[str, list[Prompt]],
    weights: str | Path,
    store: Path | None = None,
    suite: GenerationSuite = SUITE,
    tell: Callable[[Row], None] | None = None,
) -> list[Row]:
    """A row for every prompt; with a store, a stopped run goes on."""
    done = {(row["suite"], row["number"]): row for row in _stored(store)}
    rows = []
    for name, prompts in suites.items():
        every = max(1, len(prompts) // suite.simulated)
        for number, prompt in enumerate(prompts):
            if (name, number) not in done:
                row, found = measure_prompt(prompt, weights)
                row |= {"suite": name, "number": number}
                if number % every == 0:
                    row["simulable"] = is_simulable(found.asset, suite.seconds)
                done[name, number] = row
                _store(store, row)
            rows.append(done[name, number])
            if tell is not None:
                tell(rows[-1])
    return rows


def is_simulable(asset: Asset, seconds: float) -> bool:
    """Whether an object can be dropped as it is: no divergence, nothing that is not finite."""
    from neurok.errors import NeurokError
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


def measure_pictures(
    weights: str | Path,
    store: Path | None = None,
    suite: GenerationSuite = SUITE,
    tell: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Pictures of held-out instances on a plain ground: what is made of each, beside the instance itself."""
    from PIL import Image

    done = {row["number"]: row for row in _stored(store)}
    rows = []
    for number, assembly in enumerate(held_out(suite)):
        if number not in done:
            asset = asset_of(assembly)
            view = draw_views(assembly.name, PictureConfig(views=1))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "picture.png"
                Image.fromarray(take_pictures(asset, view)[0]).save(path)
                start = time.process_time()
                (found,) = generate(image=path, weights=weights)
            row = {"number": number, "suite": "renders", "seconds": time.process_time() - start}
            row |= _likeness(found, assembly, suite) | _soundness(found)
            done[number] = row
            _store(store, row)
        rows.append(done[number])
        if tell is not None:
            tell(rows[-1])
    return rows


def _likeness(found: Generated, truth: Assembly, suite: GenerationSuite) -> Row:
    from neurok.core.material_library import library

    mine, theirs = _names(found.assembly), _names(truth)
    shared = sum((mine & theirs).values())
    looks = [one.parts[main_part(one)].look for one in (found.assembly, truth)]
    family = [library()[look.stuff].family for look in looks]
    near, f_score = shape_distance(found.asset.mesh, asset_of(truth).mesh, suite)
    return {
        "category": found.assembly.category == truth.category,
        "part_f1": 2 * shared / (sum(mine.values()) + sum(theirs.values())),
        "colour": basic(looks[0].colour) == basic(looks[1].colour),
        "material": family[0] == family[1],
        "chamfer": near,
        "f_score": f_score,
    }


def _names(assembly: Assembly) -> Counter[str]:
    return Counter(dict.fromkeys({part.name for part in assembly.parts}, 1))


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


def generation_table(text: list[Row], pictures: list[Row]) -> str:
    """Both tables."""
    parts = [markdown(summarise(text, TEXT), TEXT)] if text else []
    parts += [markdown(summarise(pictures, PICTURES), PICTURES)] if pictures else []
    return "\n\n".join(parts)


def all_prompts(suite: GenerationSuite = SUITE) -> dict[str, list[Prompt]]:
    return {"templates": template_prompts(suite), "free": list(free_prompts())}


def _stored(store: Path | None) -> list[Row]:
    if store is None or not store.exists():
        return []
    return [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]


def _store(store: Path | None, row: Row) -> None:
    if store is not None:
        store.parent.mkdir(parents=True, exist_ok=True)
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, default=float) + "\n")
