"""Joints of held-out objects by several methods, under several conditions, scored against the true ones."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neurok.bodyplan.bodies import find_parts
from neurok.bodyplan.hypothesis import Hypothesis, clip_limits
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Articulation, Mesh
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.operators import face_areas
from neurok.io.files import read_card
from neurok_lab.evaluation.cases import held_out_paths, seeded
from neurok_lab.evaluation.joint_scores import Guess, score_parts
from neurok_lab.evaluation.tables import Columns, Row, Tell, grouped, markdown, measured, spread

COLUMNS: Columns = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "moving": ("moving parts", "{}"),
    "axis": ("axis [°]", "{:.2f}"),
    "axis_right": ("axis < 10°", "{:.2f}"),
    "pivot": ("pivot (lines / diagonal)", "{:.3f}"),
    "pivot_point": ("pivot (point to axis)", "{:.3f}"),
    "precision": ("type P", "{:.2f}"),
    "recall": ("type R", "{:.2f}"),
    "precision_merged": ("turns merged: P", "{:.2f}"),
    "recall_merged": ("R", "{:.2f}"),
    "precision_macro": ("P macro", "{:.2f}"),
    "recall_macro": ("R macro", "{:.2f}"),
    "limits": ("limit IoU", "{:.2f}"),
    "tree": ("tree", "{:.2f}"),
    "calibration": ("calibration error", "{:.2f}"),
    "seconds": ("s/object", "{:.2f}"),
    "slowest": ("slowest", "{:.1f}"),
    "failed": ("failed", "{}"),
}

PUBLISHED: list[Row] = [
    {"method": "CAGE (published)", "axis": 12.83, "pivot_point": 0.11, "precision": 0.89, "recall": 0.89},
    {"method": "SINGAPO (published)", "axis": 11.20, "pivot_point": 0.12, "precision": 0.90, "recall": 0.91},
    {
        "method": "GEOPARD, no pretraining (published)",
        "axis": 10.67,
        "pivot_point": 0.06,
        "precision": 0.87,
        "recall": 0.88,
    },
    {"method": "GEOPARD (published)", "axis": 9.18, "pivot_point": 0.05, "precision": 0.92, "recall": 0.93},
]
"""As their authors report them on PartNet-Mobility, with other splits and other categories: for reading beside only."""


def joint_table(summary: list[Row]) -> str:
    """A table for each group of objects and condition."""
    parts = []
    for about, mine in grouped(summary, "group", "condition"):
        group, condition = about.values()
        beside = PUBLISHED if (group, condition) == ("seen categories", "as stored") else []
        parts += [f"{group.capitalize()}, {condition}:", markdown(mine + beside, COLUMNS)]
    return "\n\n".join(parts)


TWIN = "_held_out"
"""Ending of the name of weights made as the shipped ones, but without held-out objects: figures are measured with
them."""

Answers = tuple[Hypothesis, ...]
Rotation = Literal["none", "up", "any"]


@dataclass(frozen=True)
class JointSource:
    """A held-out object with true joints."""

    name: str
    group: str
    load: Callable[[], Articulation]


@dataclass(frozen=True)
class JointMethod:
    label: str
    key: str
    """Changes when the weights do, so that stored rows of other weights are not taken for these."""

    run: Callable[[Mesh, bool], Answers]
    """Joints of a mesh; and whether its parts are connected pieces."""


@dataclass(frozen=True)
class Condition:
    """What is done to an object before a method gets it."""

    parts: Literal["true", "components"] = "true"
    drop_faces: float = 0.0
    """Share of the faces that are removed."""

    rotate: Rotation = "none"
    """Turned by a random angle about the up axis, or any way."""

    @property
    def name(self) -> str:
        words = {"components": "parts from components"}.get(self.parts, "")
        dropped = f"{self.drop_faces:.0%} of faces removed" if self.drop_faces else ""
        turned = {"up": "turned about up", "any": "turned any way"}.get(self.rotate, "")
        return ", ".join(word for word in (words, dropped, turned) if word) or "as stored"


def find_joint_sources(folder: Path, limit: int | None = None) -> list[JointSource]:
    """Held-out objects of a folder of PartNet-Mobility objects: every fifth, and whole categories."""
    groups = held_out_paths(folder).items()
    sources = [JointSource(name, group, partial(_load, path)) for group, some in groups for name, path in some]
    if not sources:
        raise NeurokError(f"'{folder}' holds no test objects; at least five objects are needed.")
    return spread(sources, limit)


def _load(path: Path) -> Articulation:
    from neurok.io import load as load_asset

    asset = load_asset(path)
    if asset.articulation is None:
        raise NeurokError(f"'{path}' has no joints to compare with.")
    return asset.articulation


def find_joint_method(name: str, objects: Iterable[str] = ()) -> JointMethod:
    """``search``, or ``learned[@WEIGHTS][:alone]``: with the search behind it, or the network alone.

    Where the shipped weights have learned from one of the objects, their sibling that has not is taken instead.
    """
    kind, _, rest = name.partition("@")
    kind, _, how = kind.partition(":") if not rest else (kind, "", "")
    weights, _, late = rest.partition(":")
    how = how or late
    if kind == "search" and not rest and not how:
        return JointMethod("search", "search held", lambda mesh, _: search_answers(search_joints(mesh)))
    if kind != "learned" or how not in ("", "alone"):
        raise NeurokError(f"There is no method '{name}'; known are search and learned[@WEIGHTS][:alone].")
    from neurok.hub import load_model
    from neurok.learned.joints import predict_joints

    path = unseen_weights("articulation", objects, weights or None)
    label = path.stem.replace("_", " ") if weights else "held-out twin" if path.stem.endswith(TWIN) else "shipped"
    model = load_model(path, "articulation")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]

    def run(mesh: Mesh, pieces: bool) -> Answers:
        prediction = predict_joints(mesh, model, with_search=how != "alone", pieces=pieces)
        return held(prediction.answers, prediction.search)

    return JointMethod(f"{label}, network alone" if how else label, f"learned held:{how}:{digest}", run)


def plan_weights(objects: Iterable[str]) -> dict[str, Any]:
    """The networks behind a plan that have not learned from any of these objects, as arguments of ``plan``."""
    from neurok.hub import has_weights, load_model

    names, objects = {"joint_weights": "articulation", "piece_weights": "pieces", "view_weights": "views"}, set(objects)
    names = {name: task for name, task in names.items() if has_weights(task)}
    return {name: load_model(unseen_weights(task, objects), task) for name, task in names.items()}  # type: ignore[call-overload]


def unseen_weights(task: str, objects: Iterable[str], weights: str | None = None) -> Path:
    """Weights that have not learned from any of these objects: the shipped ones of a task, or their held-out twin."""
    from neurok.hub import find_weights

    objects = set(objects)
    path = find_weights(weights or task, task)
    if weights is None and _learned_from(path) & objects:
        path = find_weights(task + TWIN)
    if seen := _learned_from(path) & objects:
        raise NeurokError(
            f"The weights '{path}' have learned from {len(seen)} of the objects to be measured, such as '{min(seen)}'; "
            "name weights that have not (learned@WEIGHTS), give --data other objects, or take --methods search."
        )
    return path


def _learned_from(weights: Path) -> set[str]:
    """The objects that the card of weights names; weights of old have no such list."""
    return set(read_card(weights.with_suffix(".json")).get("learned_from") or ())


def search_answers(search: Search) -> Answers:
    """The best candidate of each part with the limits that are written; a fixed part still tells its likeliest axis."""
    answers = []
    for part, found in enumerate(search.hypotheses):
        moving = next((c for c in found if c.kind != "fixed"), None)
        best = (
            found[0]
            if found
            else Hypothesis(part, search.parents[part], "fixed", np.eye(3)[1], np.zeros(3), 0.0, 0.0, 1.0)
        )
        if best.kind == "fixed" and moving is not None:
            best = replace(best, axis=moving.axis, origin=moving.origin)
        answers.append(best)
    return held(tuple(answers), search)


def held(answers: Answers, search: Search | None) -> Answers:
    """Answers as files get them: limits end where a part would lose its carrier, if contacts are known."""
    if search is None:
        return answers
    parents = [answer.parent for answer in answers]
    return tuple(clip_limits(answer, search.contacts, parents=parents) for answer in answers)


def evaluate_joints(
    sources: Iterable[JointSource],
    methods: list[JointMethod],
    condition: Condition,
    store: Path | None = None,
    tell: Tell | None = None,
) -> list[Row]:
    """A row for each object and method with the scores of its parts; rows already in ``store`` are taken from there."""

    def jobs() -> Iterator[tuple[str, Callable[[], Row]]]:
        for source in sources:
            shown = cache(partial(_shown, source, condition))
            for method in methods:
                key = f"joints/{method.key}/{condition.name}/{source.name}"
                yield key, partial(_row, source, method, condition, shown)

    rows = measured(jobs(), store, tell)
    return [{**row, "method": methods[place % len(methods)].label} for place, row in enumerate(rows)]


def _shown(source: JointSource, condition: Condition) -> tuple[Articulation, Mesh, np.ndarray]:
    truth = turn_object(source.load(), condition.rotate, source.name)
    return truth, *given_mesh(truth, condition, source.name)


def _row(source: JointSource, method: JointMethod, condition: Condition, shown: Callable[[], Any]) -> Row:
    about = {"object": source.name, "group": source.group, "condition": condition.name, "method": method.label}
    truth, mesh, kept = shown()
    return {**about, **judge(truth, mesh, kept, method, condition)}


def judge(truth: Articulation, mesh: Mesh, kept: np.ndarray, method: JointMethod, condition: Condition) -> Row:
    """Scores of one method; one that fails is judged as if it had said that nothing moves."""
    started = time.process_time()
    try:
        answers, message = method.run(mesh, condition.parts == "components"), ""
    except Exception as error:
        message = f"{type(error).__name__}: {error}"[:300]
        names = range(mesh.part_count)
        answers = tuple(
            Hypothesis(p, -1 if p == 0 else 0, "fixed", np.eye(3)[1], np.zeros(3), 0.0, 0.0, 0.0) for p in names
        )
    seconds = time.process_time() - started
    parts = np.full(truth.mesh.face_count, -1)
    parts[kept] = mesh.face_parts
    scores = score_parts(truth, Guess(answers, parts), face_areas(truth.mesh.vertices, truth.mesh.faces))
    return {"parts": scores, "seconds": seconds, "part_count": mesh.part_count, "message": message}


def given_mesh(truth: Articulation, condition: Condition, name: str) -> tuple[Mesh, np.ndarray]:
    """The mesh a method gets, and which faces of the true mesh it has."""
    mesh, kept = truth.mesh, np.arange(truth.mesh.face_count)
    if condition.drop_faces:
        rng = seeded(name, 11)
        kept = np.sort(rng.permutation(len(kept))[: max(1, round(len(kept) * (1.0 - condition.drop_faces)))])
        mesh = mesh.submesh(kept)
    if condition.parts == "components":
        mesh = find_parts(replace(mesh, part_ids=None, part_names=()))
    return mesh, kept


def turn_object(articulation: Articulation, rotate: Rotation, name: str) -> Articulation:
    """The same object, turned by a random rotation that its name decides."""
    if rotate == "none":
        return articulation
    rng = seeded(name, 12)
    mesh = articulation.mesh
    if rotate == "up":
        turn = lie.axis_angle_matrix(mesh.up_vector, rng.uniform(-np.pi, np.pi))
    else:
        turn = lie.quaternion_to_matrix(rng.normal(size=4))
    joints = tuple(joint.moved(turn, 1.0, np.zeros(3)) for joint in articulation.joints)
    return Articulation(mesh.with_vertices(mesh.vertices @ turn.T), joints, name=articulation.name)
