"""What a raw mesh is found to do, against what it truly does: velocity fields of coordinates beside those of joints.

For every coordinate that a method finds in a mesh without parts or labels, the velocity of each point of the surface is
compared with that under each true joint: the cosine of both fields, weighted by area, without sign. A joint is found
if a coordinate of its own matches it above 0.9. Corners of faces are compared, face by face: files may split vertices,
and vertices of two parts may lie at the same place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Mesh
from neurok.core.velocity_fields import Fields, cosines, joint_fields
from neurok.data.single_surface import single_surface, with_true_parts
from neurok.data.splits import category
from neurok.errors import NeurokError
from neurok.evaluation.articulation import JointSource
from neurok.evaluation.cases import boxed_articulation, unlabelled
from neurok.evaluation.run import _append, read_rows
from neurok.evaluation.still import STILL, STILL_COLUMNS, SURE, summarise_still
from neurok.geometry.operators import face_areas
from neurok.inference.infer import Inference

MATCH = 0.9
"""Cosine above which a coordinate does what a joint does."""

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Found:
    """Velocity fields of the coordinates a method found, at the corners of the faces, and how sure it is of each."""

    fields: Fields
    strengths: Float[np.ndarray, " D"]
    """Probabilities, unless the method tells only what moves most."""


@dataclass(frozen=True)
class MotionMethod:
    label: str
    run: Callable[[Articulation], Found]
    """From an object whose true joints only some methods look at."""

    knows_joints: bool = True
    """Whether all that it finds are joints with probabilities."""

    shown: Callable[[Articulation], Articulation] | None = None
    """What becomes of the object before it is shown; the truth with it."""


def find_motion_method(name: str, objects: Iterable[str] = ()) -> MotionMethod:
    """``plan`` (what ``infer`` and ``articulate`` read), ``infer``, ``articulate``, ``search`` alone, ``unasked`` (the
    plan without the grouping network: bodies by rules), ``parts`` (the plan with the true parts given), or ``surface``:
    the plan of everything melted into one surface. Weights that have learned from the objects are replaced by their
    twin."""
    from neurok.evaluation.articulation import plan_weights
    from neurok.inference.plan import plan

    known = ("plan", "infer", "articulate", "search", "unasked", "parts", "surface")
    if name not in known:
        raise NeurokError(f"There is no method '{name}' of motions; known are {', '.join(known)}.")
    if name == "search":
        return MotionMethod(
            "search alone, raw mesh", lambda true: _of_plan(plan(unlabelled(true.mesh), method="search"))
        )
    weights = plan_weights(objects)
    if name == "infer":
        return MotionMethod("infer, raw mesh", lambda true: _of_inference(unlabelled(true.mesh), weights), False)
    if name == "unasked":
        without = lambda true: plan(unlabelled(true.mesh), **{**weights, "piece_weights": "none"})  # noqa: E731
        return MotionMethod("grouping network not asked, raw mesh", lambda true: _of_plan(without(true)))
    if name == "parts":
        return MotionMethod("plan, true parts", lambda true: _of_plan(plan(true.mesh, **weights)))
    if name == "surface":
        run = lambda true: _of_plan(plan(_without_seams(true.mesh), **weights))  # noqa: E731
        return MotionMethod("articulate, single surface", run, shown=_as_surface)
    label = "articulate, raw mesh" if name == "articulate" else "plan, raw mesh"
    return MotionMethod(label, lambda true: _of_plan(plan(unlabelled(true.mesh), **weights)))


def _as_surface(true: Articulation) -> Articulation:
    mesh, owners = single_surface(true.mesh)
    return with_true_parts(mesh, true.mesh.face_parts[owners], true)


def _without_seams(mesh: Mesh) -> Mesh:
    """The mesh without parts and without the cuts between them; faces in the same order."""
    vertices, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    return replace(unlabelled(mesh), vertices=vertices, faces=place.reshape(-1)[mesh.faces])


def _of_plan(plan: Any) -> Found:
    joints = [body.joint for body in plan.bodies]
    strengths = [joint.probability for joint in joints if joint is not None for _ in range(_dof(joint))]
    return Found(joint_fields(plan.articulation), np.array(strengths, dtype=np.float64))


def _dof(joint: Any) -> int:
    return 2 if joint.kind == "cylindrical" else 1


def _of_inference(mesh: Mesh, weights: dict[str, Any]) -> Found:
    """Coordinates of the space that ``infer`` gives; joints are as sure as the plan says, bends come after them."""
    look = Inference.of(mesh, **weights)
    found, planned = _of_space(look.space), _of_plan(look.plan)
    strengths = np.zeros(len(found.fields))
    strengths[: len(planned.strengths)] = planned.strengths
    alone = look.space.articulation is None and not len(planned.strengths)
    return found if alone else Found(found.fields, strengths)


def _of_space(space: Any) -> Found:
    """Coordinates of any space; the first moves most, unless it names joints with probabilities."""
    faces, still = space.rest.faces, np.zeros((1, space.dim))
    slopes = space.shape(still)[1][0] if space.dim else np.zeros((0, *space.rest.vertices.shape))
    fields = slopes if space.features is None or not space.dim else space.features @ slopes
    areas = face_areas(space.rest.vertices, faces)
    fields = fields[:, faces].reshape(space.dim, len(faces), 9)
    low, high = np.where(np.isfinite(space.limits), space.limits, [-1.0, 1.0]).T
    reach = np.maximum(np.abs(low), np.abs(high))
    return Found(fields, reach * np.sqrt(np.einsum("afk,afk,f->a", fields, fields, areas)))


def measure_motions(
    sources: Iterable[JointSource], methods: list[MotionMethod], store: Path | None = None
) -> list[Row]:
    """A row for every object and method; those already in ``store`` are taken from there."""
    rows, done = list[Row](), read_rows(store)
    for source in sources:
        keys = {method.label: f"motions/{method.label}/{source.name}" for method in methods}
        if all(key in done for key in keys.values()):
            rows += [done[key] for key in keys.values()]
            continue
        true = boxed_articulation(source.load())
        for method in methods:
            if (key := keys[method.label]) in done:
                rows.append(done[key])
                continue
            shown = true if method.shown is None else method.shown(true)
            areas = face_areas(shown.mesh.vertices, shown.mesh.faces)
            fields = joint_fields(shown)
            fields = fields[np.einsum("afk,afk,f->a", fields, fields, areas) > 1e-12]
            begin = time.process_time()
            found = method.run(shown)
            seconds = time.process_time() - begin
            facts = {"key": key, "name": source.name, "group": source.group, "category": category(source.name)}
            rows.append({**facts, "method": method.label, "seconds": seconds, **_matched(found, fields, areas)})
            _append(store, rows[-1])
    return rows


def _matched(found: Found, fields: Fields, areas: Float[np.ndarray, " F"]) -> Row:
    from scipy.optimize import linear_sum_assignment

    alike = cosines(found.fields, fields, areas)
    pairs = linear_sum_assignment(-np.where(alike > MATCH, 1.0 + alike, 0.0)) if alike.size else ([], [])
    hits = sum(bool(alike[i, j] > MATCH) for i, j in zip(*pairs, strict=True))
    strongest = bool(len(found.strengths) and alike.size and alike[int(found.strengths.argmax())].max() > MATCH)
    sure = int((found.strengths > SURE).sum())
    return {"joints": len(fields), "coordinates": len(alike), "hits": hits, "strongest": strongest, "sure": sure}


def summarise_motions(rows: list[Row], by: str = "group") -> list[Row]:
    """One row for each group (or category) and method, in the order they first appear."""
    out = []
    for key, method in dict.fromkeys((row[by], row["method"]) for row in rows):
        mine = [row for row in rows if (row[by], row["method"]) == (key, method)]
        hits, joints = sum(row["hits"] for row in mine), sum(row["joints"] for row in mine)
        out.append(
            {
                by: key,
                "method": method,
                "objects": len(mine),
                "joints": joints,
                "recall": hits / max(1, joints),
                "precision": hits / max(1, sum(row["coordinates"] for row in mine)),
                "strongest": float(np.mean([row["strongest"] for row in mine])),
                "object_recall": float(np.mean([row["hits"] / max(1, row["joints"]) for row in mine])),
                "seconds": float(np.median([row["seconds"] for row in mine])),
            }
        )
    return out


MOTION_COLUMNS = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "joints": ("joints", "{}"),
    "recall": ("recall", "{:.3f}"),
    "precision": ("precision", "{:.3f}"),
    "strongest": ("strongest right", "{:.3f}"),
    "object_recall": ("recall per object", "{:.3f}"),
    "seconds": ("median CPU s", "{:.2f}"),
}
"""Columns of the tables."""


def motion_tables(rows: list[Row], categories: bool = False) -> str:
    """A table for each group of objects, and on request one by category."""
    from neurok.evaluation.tables import markdown

    parts = []
    still, rows = [row for row in rows if row["group"] == STILL], [row for row in rows if row["group"] != STILL]
    summary = summarise_motions(rows)
    for group in dict.fromkeys(row["group"] for row in summary):
        parts += [f"{group.capitalize()}:", markdown([row for row in summary if row["group"] == group], MOTION_COLUMNS)]
    if still:
        parts += [f"{STILL.capitalize()}:", markdown(summarise_still(still), STILL_COLUMNS)]
    if categories:
        columns = {"category": ("category", "{}"), **{k: v for k, v in MOTION_COLUMNS.items() if k != "seconds"}}
        parts += ["By category:", markdown(summarise_motions(rows, "category"), columns)]
    return "\n\n".join(parts)
