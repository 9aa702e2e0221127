"""Joints of held-out objects by several methods, under several conditions, scored against the true ones."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neurok.articulation.scores import Guess, Row, score_parts
from neurok.bodyplan.bodies import find_parts
from neurok.bodyplan.hypothesis import Hypothesis, clip_limits
from neurok.bodyplan.search import Search, search_joints
from neurok.core import Articulation, Mesh
from neurok.data.splits import hold_out
from neurok.errors import NeurokError
from neurok.evaluation.cases import seeded
from neurok.evaluation.run import _append, read_rows
from neurok.geometry import lie
from neurok.geometry.operators import face_areas
from neurok.io.files import read_card

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
    paths = {path.stem: path for path in folder.iterdir() if path.suffix == ".npz" or path.is_dir()}
    _, seen, unseen = hold_out(paths)
    sources = [
        JointSource(name, group, _loader(paths[name]))
        for group, names in (("seen categories", seen), ("unseen categories", unseen))
        for name in names
    ]
    if not sources:
        raise NeurokError(f"'{folder}' holds no test objects; at least five objects are needed.")
    if limit is not None:
        if limit < 1:
            raise NeurokError(f"limit must be at least 1, got {limit}.")
        sources = [sources[int(i)] for i in np.unique(np.linspace(0, len(sources) - 1, limit).round())]
    return sources


def _loader(path: Path) -> Callable[[], Articulation]:
    def load() -> Articulation:
        from neurok.io import load as load_asset

        asset = load_asset(path)
        if asset.articulation is None:
            raise NeurokError(f"'{path}' has no joints to compare with.")
        return asset.articulation

    return load


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
    from neurok.articulation.predict import predict_joints
    from neurok.hub import load_model

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
    from neurok.hub import load_model

    names, objects = {"joint_weights": "articulation", "piece_weights": "pieces"}, set(objects)
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
    tell: Callable[[Row], None] | None = None,
) -> list[Row]:
    """A row for each object and method with the scores of its parts; rows already in ``store`` are taken from there."""
    done = read_rows(store)
    rows: list[Row] = []
    for source in sources:
        keys = {method.key: f"joints/{method.key}/{condition.name}/{source.name}" for method in methods}
        missing = [method for method in methods if keys[method.key] not in done]
        if missing:
            truth = turn_object(source.load(), condition.rotate, source.name)
            mesh, kept = given_mesh(truth, condition, source.name)
            for method in missing:
                row = {"key": keys[method.key], "object": source.name, "group": source.group}
                row |= {
                    "condition": condition.name,
                    "method": method.label,
                    **judge(truth, mesh, kept, method, condition),
                }
                done[row["key"]] = row
                _append(store, row)
                if tell is not None:
                    tell(row)
        rows += [{**done[keys[method.key]], "method": method.label} for method in methods]
    return rows


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
