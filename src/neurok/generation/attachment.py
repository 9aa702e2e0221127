"""Makes the parts of a written object meet: each moves, with what hangs on it, until it reaches into its parent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.families.household.assemble import grounded, placed_anew
from neurok.families.household.checks import body_count
from neurok.families.household.parts import Assembly, Part
from neurok.generation.fronts import closed
from neurok.generation.laying_out import LAYING_OUT, LayingOutConfig, laid_out, meets, missing
from neurok.generation.numbers import scale_of
from neurok.geometry.sampling import sample_surface
from neurok.modelling.shapes import Shape


@dataclass(frozen=True)
class AttachmentConfig:
    """How parts are put in order."""

    tries: int = 5
    """Moves of one part before it is left where it is."""

    depth: float = 0.006
    """How deep parts reach into each other after a move [shares of the object's longest side]."""

    share: float = 0.35
    """... but no deeper than this share of the part's smallest side."""

    level: float = 0.012
    """Pivots and steps nearer to zero than this are zero [shares of the longest side]."""

    samples: int = 1500
    """Points of a surface beside its vertices."""

    rows: LayingOutConfig = LAYING_OUT


ATTACHMENT = AttachmentConfig()
ROUGH = replace(ATTACHMENT, tries=2, samples=300)
"""While the numbers are still being written."""


@dataclass(frozen=True, eq=False)
class Attached:
    """An object whose parts meet, and what it took."""

    assembly: Assembly
    moved: float
    """The farthest that any copy of a part was moved beside what it hangs on [shares of the longest side]."""

    bodies: int
    """Into how many bodies the union of all parts falls."""


def attach(assembly: Assembly, config: AttachmentConfig = ATTACHMENT) -> Attached:
    """The object on the ground with parts that meet."""
    met, moved = meeting(assembly, config)
    whole = grounded(met)
    return Attached(whole, moved, body_count([solid for part in whole.parts for solid in part.solids]))


def meeting(assembly: Assembly, config: AttachmentConfig = ATTACHMENT) -> tuple[Assembly, float]:
    """The object with parts that meet, and the farthest that a part was moved [shares of the longest side]."""
    scale = scale_of(assembly)
    level = tuple(_levelled(part, config.level * scale) for part in assembly.parts)
    parts = list(closed(replace(assembly, parts=level)).parts)
    carried = list(assembly.parts)
    """The parts as written, moved only with what they hang on."""

    largest = 0.0
    for number, part in enumerate(parts):
        _move(carried, number, part.centre - carried[number].centre, children_only=True)
        largest = max(largest, _distance(part, carried[number]) / scale)
    for number, part in enumerate(parts):
        if part.parent < 0:
            continue
        parent = parts[part.parent]
        parts[number] = laid_out(part, parent, config.rows)
        _move(parts, number, parts[number].centre - part.centre, children_only=True)
        _move(carried, number, parts[number].centre - part.centre, children_only=True)
        for _ in range(config.tries):
            move = _gap(parts[number], parent, scale, config)
            if move is None:
                break
            _move(parts, number, move)
            _move(carried, number, move, children_only=True)
        parts[number] = _without_loose_end(parts[number], parent)
        largest = max(largest, _distance(parts[number], carried[number]) / scale)
    return replace(assembly, parts=tuple(parts)), largest


def _distance(part: Part, before: Part) -> float:
    count = min(len(part.poses), len(before.poses))
    return float(np.linalg.norm(part.poses[:count, :3, 3] - before.poses[:count, :3, 3], axis=1).max())


def _levelled(part: Part, level: float) -> Part:
    near = lambda values: np.where(np.abs(values) < level, 0.0, values)  # noqa: E731
    repeat = replace(part.repeat, pivot=near(np.asarray(part.repeat.pivot)), step=near(np.asarray(part.repeat.step)))
    return placed_anew(part, repeat=repeat)


def _without_loose_end(part: Part, parent: Part) -> Part:
    """Fewer copies where the last ones of a climbing row still hang in the air."""
    repeat = part.repeat
    if repeat.count == 1 or repeat.mirror or not repeat.turn:
        return part
    loose = missing(part, parent)
    if not loose or loose[0] == 0:
        return part
    return placed_anew(part, repeat=replace(repeat, count=loose[0]))


def _gap(child: Part, parent: Part, scale: float, config: AttachmentConfig) -> Float[np.ndarray, "3"] | None:
    """How the first copy of a part has to move so that the copy that is farthest off meets the parent."""
    others = list(zip(parent.copies, parent.solids, strict=True))
    worst: tuple[float, int, np.ndarray] | None = None
    tree = None
    for number, (shape, solid) in enumerate(zip(child.copies, child.solids, strict=True)):
        if meets(shape, solid, others):
            continue
        if tree is None:
            tree = cKDTree(np.concatenate([_points(other, config.samples) for other, _ in others]))
        mine = _points(shape, config.samples)
        far, nearest = tree.query(mine)
        k = int(far.argmin())
        way = tree.data[nearest[k]] - mine[k]
        if worst is None or far[k] > worst[0]:
            worst = (float(far[k]), number, way)
    if worst is None:
        return None
    distance, number, way = worst
    deep = min(config.depth * scale, config.share * float(child.size.min()))
    inward = way / distance if distance > 1e-9 else _towards(child.copies[number], others)
    linear = child.repeat.transforms(child.meets, child.turn[:, 0])[number][:3, :3]
    return np.asarray(np.linalg.solve(linear, way + deep * inward))


def _towards(shape: Shape, others: list) -> np.ndarray:  # type: ignore[type-arg]
    middles = np.array([other.bounds.mean(axis=0) for other, _ in others])
    way = middles - shape.bounds.mean(axis=0)
    nearest = way[np.linalg.norm(way, axis=1).argmin()]
    return np.asarray(nearest / max(float(np.linalg.norm(nearest)), 1e-9))


def _points(shape: Shape, count: int) -> Float[np.ndarray, "N 3"]:
    """Vertices and points spread over the faces, always the same."""
    spread = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(0))
    return np.concatenate([shape.vertices, spread.interpolate(shape.vertices)])


def _move(parts: list[Part], number: int, by: np.ndarray, children_only: bool = False) -> None:
    """Move a part and all that hangs on it; where there is one of it, mirror planes of what hangs on it go along."""
    if not np.any(by):
        return
    is_single = parts[number].repeat.total == 1
    moving = {number}
    for child in range(number + 1, len(parts)):
        if parts[child].parent in moving:
            moving.add(child)
    for k in sorted(moving - ({number} if children_only else set())):
        part = parts[k]
        repeat = part.repeat
        if k != number and is_single:
            repeat = replace(repeat, pivot=np.asarray(repeat.pivot) + by[[0, 2]])
        hinge = part.hinge and replace(part.hinge, origin=np.asarray(part.hinge.origin) + by)
        parts[k] = placed_anew(part, centre=part.centre + by, meets=part.meets + by, repeat=repeat, hinge=hinge)
