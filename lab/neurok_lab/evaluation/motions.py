"""What a raw mesh is found to do, against what it truly does: velocity fields of coordinates beside those of joints.

For every coordinate that a method finds in a mesh without parts or labels, the velocity of each point of the surface is
compared with that under each true joint: the cosine of both fields, weighted by area, without sign. A joint is found
if a coordinate of its own matches it above 0.9. Corners of faces are compared, face by face: files may split vertices,
and vertices of two parts may lie at the same place. Objects that stand still count by the joints they get all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Joint, Mesh
from neurok.core.articulation import Fields, cosines, joint_fields
from neurok.errors import NeurokError
from neurok.geometry.level_set import MeltConfig
from neurok.geometry.operators import face_areas
from neurok.inference.plan import plan
from neurok.model import Weights, understand
from neurok_lab.data.still import category, static_files
from neurok_lab.evaluation.articulation import JointSource, plan_weights
from neurok_lab.evaluation.cases import boxed_articulation, unlabelled
from neurok_lab.evaluation.tables import Columns, Row, group_tables, grouped, markdown, measured, spread
from neurok_lab.train.versions import melted_truth, outer_shell
from neurok_lab.train.views_data import load_joints, split_names

STILL = "objects that stand still"
FOLDERS = ("household/sweethome3d", "household/kenney-furniture-kit", "household/aws-small-house", "furniture_glb")
"""Where they are from; those that nothing has learned from are measured."""

SURE = 0.5
"""A joint that is likelier than this is said to be there."""


def find_still_sources(folder: Callable[[str], Path], limit: int | None = None) -> list[JointSource]:
    """Objects kept aside of the folders that are there; none where there are no such folders."""
    found = []
    for inside in FOLDERS:
        try:
            kept = static_files(folder(inside))[1]
        except NeurokError:
            continue
        found += [JointSource(f"{path.parent.name}_{path.stem}", STILL, partial(_load, path)) for path in kept]
    return spread(found, limit)


def find_pack_sources(folder: Callable[[str], Path]) -> list[JointSource]:
    """Objects of the packs that no network that sees them has learned from; none where there is no such folder."""
    try:
        paths = {path.stem: path for path in folder("articulated_packs").glob("*.npz")}
    except NeurokError:
        return []
    groups = {"seen": "packs, seen kinds", "unseen": "packs, unseen kinds"}
    return [
        JointSource(name, groups[split], partial(load_joints, paths[name]))
        for split in groups
        for name, mine in split_names(paths)
        if mine == split
    ]


def _load(path: Path) -> Articulation:
    """The object with the parts of its file, all of them fixed."""
    from neurok.io import load

    mesh = load(path).mesh
    joints = [Joint("fixed", -1 if part == 0 else 0) for part in range(mesh.part_count)]
    return Articulation(mesh, tuple(joints))


def summarise_still(rows: Iterable[Row]) -> list[Row]:
    """One row for each method."""
    return [
        {
            "group": STILL,
            **about,
            "objects": len(mine),
            "moving": sum(row["sure"] > 0 for row in mine),
            "share": float(np.mean([row["sure"] > 0 for row in mine])),
            "sure": float(np.mean([row["sure"] for row in mine])),
            "any": sum(row["coordinates"] > 0 for row in mine),
        }
        for about, mine in grouped(rows, "method")
    ]


STILL_COLUMNS: Columns = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "moving": (f"with a joint above {SURE}", "{}"),
    "share": ("share", "{:.2f}"),
    "sure": (f"joints above {SURE} an object", "{:.2f}"),
    "any": ("with any joint in the plan", "{}"),
}
"""Columns of the table."""


MATCH = 0.9
"""Cosine above which a coordinate does what a joint does."""

SMALL = 0.01
"""Joints that move less of the surface than this (knobs, buttons) are counted apart as well."""


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


MOTION_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "plan": ("plan, raw mesh", {}),
    "infer": ("infer, raw mesh", {}),
    "articulate": ("articulate, raw mesh", {}),
    "search": ("search alone, raw mesh", {"method": "search"}),
    "unasked": ("grouping network not asked, raw mesh", {"piece_weights": "none"}),
    "parts": ("plan, true parts", {}),
    "shell": ("articulate, outer shell", {}),
    "melt64": ("articulate, melted at 64 cells", {}),
    "melt128": ("articulate, melted at 128 cells", {}),
    "melt192": ("articulate, melted at 192 cells", {}),
    "blind": ("articulate, melted at 64 cells, not seen", {"view_weights": "none"}),
}
"""Names to what a table calls them, and to arguments of ``plan``."""

SHOWN: dict[str, Callable[[Articulation], Articulation]] = {
    "shell": outer_shell,
    "melt64": melted_truth,
    "melt128": partial(melted_truth, config=MeltConfig(128, faces=10_000)),
    "melt192": partial(melted_truth, config=MeltConfig(192, faces=16_000)),
    "blind": melted_truth,
}
"""What becomes of an object before a method is shown it."""


def find_motion_method(name: str, objects: Iterable[str] = ()) -> MotionMethod:
    """``plan`` (what ``infer`` and ``articulate`` read), ``infer``, ``articulate``, ``search`` alone, ``unasked`` (the
    plan without the grouping network), ``parts`` (the plan with the true parts given), ``shell``: the plan of what is
    seen from outside, ``melt64``, ``melt128`` and ``melt192``: of everything melted into one surface, or ``blind``: of
    the first of these without views. Weights that have learned from the objects are replaced by their twin."""
    if name not in MOTION_METHODS:
        raise NeurokError(f"There is no method '{name}' of motions; known are {', '.join(MOTION_METHODS)}.")
    label, options = MOTION_METHODS[name]
    arguments = {**({} if name == "search" else plan_weights(objects)), **options}
    given = _as_it_is if name == "parts" else _without_seams if name in SHOWN else unlabelled

    def run(true: Articulation) -> Found:
        mesh = given(true.mesh)
        return _of_inference(mesh, arguments) if name == "infer" else _of_plan(plan(mesh, **arguments))

    return MotionMethod(label, run, name != "infer", SHOWN.get(name))


def _as_it_is(mesh: Mesh) -> Mesh:
    return mesh


def _without_seams(mesh: Mesh) -> Mesh:
    """The bare surface without the cuts between its parts; faces in the same order."""
    vertices, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    return Mesh(vertices, place.reshape(-1)[mesh.faces], unit=mesh.unit, up=mesh.up, name=mesh.name)


def _of_plan(found: Any) -> Found:
    joints = [body.joint for body in found.bodies]
    strengths = [joint.probability for joint in joints if joint is not None for _ in range(_dof(joint))]
    return Found(joint_fields(found.articulation), np.array(strengths, dtype=np.float64))


def _dof(joint: Any) -> int:
    return 2 if joint.kind == "cylindrical" else 1


def _of_inference(mesh: Mesh, weights: dict[str, Any]) -> Found:
    """Coordinates of the space that ``infer`` gives; joints are as sure as the plan says, bends come after them."""
    names = {"joints": "joint_weights", "pieces": "piece_weights", "views": "view_weights"}
    networks = Weights(**{name: weights.get(key) for name, key in names.items()})
    model = understand(mesh, parts="pieces", weights=networks)
    space = model.space("learned") if model.plan.moving or model.plan.bends else model.space("rigid")
    found, planned = _of_space(space), _of_plan(model.plan)
    strengths = np.zeros(len(found.fields))
    strengths[: len(planned.strengths)] = planned.strengths
    alone = space.articulation is None and not len(planned.strengths)
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

    def jobs() -> Iterator[tuple[str, Callable[[], Row]]]:
        for source in sources:
            true = cache(lambda source=source: boxed_articulation(source.load()))
            for method in methods:
                yield f"motions/{method.label}/{source.name}", partial(_row, source, method, true)

    return measured(jobs(), store)


def _row(source: JointSource, method: MotionMethod, true: Callable[[], Articulation]) -> Row:
    shown = true() if method.shown is None else method.shown(true())
    areas = face_areas(shown.mesh.vertices, shown.mesh.faces)
    fields = joint_fields(shown)
    fields = fields[np.einsum("afk,afk,f->a", fields, fields, areas) > 1e-12]
    begin = time.process_time()
    found = method.run(shown)
    seconds = time.process_time() - begin
    about = {"name": source.name, "group": source.group, "category": category(source.name), "method": method.label}
    return {**about, "seconds": seconds, **_matched(found, fields, areas)}


def _matched(found: Found, fields: Fields, areas: Float[np.ndarray, " F"]) -> Row:
    from scipy.optimize import linear_sum_assignment

    alike = cosines(found.fields, fields, areas)
    pairs = linear_sum_assignment(-np.where(alike > MATCH, 1.0 + alike, 0.0)) if alike.size else ([], [])
    hits = sum(bool(alike[i, j] > MATCH) for i, j in zip(*pairs, strict=True))
    strongest = bool(len(found.strengths) and alike.size and alike[int(found.strengths.argmax())].max() > MATCH)
    sure = int((found.strengths > SURE).sum())
    moved = np.einsum("afk,f->a", (fields != 0).any(axis=2, keepdims=True), areas) / max(float(areas.sum()), 1e-300)
    small = moved < SMALL
    small_hits = sum(bool(alike[i, j] > MATCH and small[j]) for i, j in zip(*pairs, strict=True))
    counts = {"joints": len(fields), "coordinates": len(alike), "hits": hits, "strongest": strongest, "sure": sure}
    return {**counts, "small": int(small.sum()), "small_hits": small_hits}


def summarise_motions(rows: list[Row], by: str = "group") -> list[Row]:
    """One row for each group (or category) and method, in the order they first appear."""
    out = []
    for about, mine in grouped(rows, by, "method"):
        hits, joints = sum(row["hits"] for row in mine), sum(row["joints"] for row in mine)
        out.append(
            {
                **about,
                "objects": len(mine),
                "joints": joints,
                "recall": hits / max(1, joints),
                "precision": hits / max(1, sum(row["coordinates"] for row in mine)),
                "strongest": float(np.mean([row["strongest"] for row in mine])),
                "larger": _share(hits - sum(row["small_hits"] for row in mine), joints - sum(r["small"] for r in mine)),
                "small": sum(row["small"] for row in mine),
                "small_recall": _share(sum(row["small_hits"] for row in mine), sum(row["small"] for row in mine)),
                "object_recall": float(np.mean([row["hits"] / max(1, row["joints"]) for row in mine])),
                "seconds": float(np.median([row["seconds"] for row in mine])),
            }
        )
    return out


def _share(some: int, of: int) -> float | None:
    return some / of if of else None


MOTION_COLUMNS: Columns = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "joints": ("joints", "{}"),
    "recall": ("recall", "{:.3f}"),
    "precision": ("precision", "{:.3f}"),
    "strongest": ("strongest right", "{:.3f}"),
    "larger": ("recall over 1 %", "{:.3f}"),
    "small": ("joints under 1 %", "{}"),
    "small_recall": ("recall under 1 %", "{:.3f}"),
    "object_recall": ("recall per object", "{:.3f}"),
    "seconds": ("median CPU s", "{:.2f}"),
}
"""Columns of the tables."""


def motion_tables(rows: list[Row], categories: bool = False) -> str:
    """A table for each group of objects, and on request one by category."""

    still, moving = ([row for row in rows if (row["group"] == STILL) == flag] for flag in (True, False))
    parts = [group_tables(summarise_motions(moving), MOTION_COLUMNS)] if moving else []
    if still:
        parts += [f"{STILL.capitalize()}:", markdown(summarise_still(still), STILL_COLUMNS)]
    if categories:
        columns = {"category": ("category", "{}"), **{k: v for k, v in MOTION_COLUMNS.items() if k != "seconds"}}
        parts += ["By category:", markdown(summarise_motions(moving, "category"), columns)]
    return "\n\n".join(parts)
