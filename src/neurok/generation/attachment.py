"""Makes the parts of a written object meet: copies in order, fronts shut, all gaps closed with the least change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from neurok.families.household.assemble import grounded, placed_anew
from neurok.families.household.checks import body_count
from neurok.families.household.parts import Assembly, Part
from neurok.generation.fronts import closed
from neurok.generation.joinery import turn_on
from neurok.generation.laying_out import LAYING_OUT, LayingOutConfig, laid_out, met_copies, missing
from neurok.generation.numbers import scale_of
from neurok.generation.reaching import REACHING, Gap, Reacher, ReachingConfig, farthest


@dataclass(frozen=True)
class AttachmentConfig:
    """How parts are put in order."""

    tries: int = 5
    """Moves of one part that still misses its parent before it is left where it is."""

    level: float = 0.012
    """Pivots nearer to zero than this are zero [shares of the longest side]."""

    rows: LayingOutConfig = LAYING_OUT
    reaching: ReachingConfig = field(default=REACHING)

    square: float = 0.3
    """Parts that are always turned alike against what they hang on are turned so if less is missing [rad]."""


ATTACHMENT = AttachmentConfig()
ROUGH = replace(ATTACHMENT, tries=1, reaching=replace(REACHING, rounds=2, samples=150, join=6.0))
"""While the numbers are still being written."""


FAR = 0.02  # how far parts may be moved to meet [shares of the longest side] before an object is written once more


@dataclass(frozen=True, eq=False)
class Attached:
    """An object whose parts meet, and what it took."""

    assembly: Assembly
    moved: float
    """The farthest that any corner of the box of any copy is from where it was written [shares of the longest side]:
    moves, stretches and turns of everything, with what it hangs on or by itself."""

    bodies: int
    """Into how many bodies the union of all parts falls."""

    @property
    def apart(self) -> tuple[int, float]:
        """What tells which of several objects came together best: less is better."""
        return self.bodies, self.moved

    @property
    def is_near(self) -> bool:
        """Whether parts met almost by themselves."""
        return self.bodies == 1 and self.moved <= FAR


def attach(assembly: Assembly, config: AttachmentConfig = ATTACHMENT) -> Attached:
    """The object on the ground with parts that meet."""
    met, moved = meeting(assembly, config)
    return Attached(grounded(met), moved, bodies_of(met))


def bodies_of(assembly: Assembly) -> int:
    """Into how many bodies the union of all parts falls; one, if parts are in one piece and meet what they hang on."""
    parts = assembly.parts
    pairs = [(part, parts[part.parent]) for part in parts if part.parent >= 0]
    all_meet = parts[0].repeat.total == 1 and all(all(met_copies(*pair)) for pair in pairs)
    if all_meet and all(body_count([part.solids[0]]) == 1 for part in parts):
        return 1
    return body_count([solid for part in parts for solid in part.solids])


def meeting(assembly: Assembly, config: AttachmentConfig = ATTACHMENT) -> tuple[Assembly, float]:
    """The object with parts that meet, and the farthest that a point of one was moved [shares of the longest side]."""
    scale = scale_of(assembly)
    reacher = Reacher(assembly.category, in_order(assembly, scale, config), scale, config.reaching)
    parts = reacher.run()
    for number, part in enumerate(parts):
        if part.parent < 0:
            continue
        for _ in range(config.tries):
            gaps = [gap for gap in reacher.gaps(number) if gap.inward is not None]
            if not gaps:
                break
            _move(parts, number, _way(parts[number], max(gaps, key=lambda gap: gap.wanted)))
        parts[number] = _without_loose_end(parts[number], parts[part.parent])
    moved = max(farthest(part, before) for part, before in zip(parts, assembly.parts, strict=True)) / scale
    return replace(assembly, parts=tuple(parts)), moved


def in_order(assembly: Assembly, scale: float, config: AttachmentConfig = ATTACHMENT) -> list[Part]:
    """The parts with their mirror planes in the middle, fronts shut, and copies in rows, rings and spirals."""
    level = [_levelled(_in_one_piece(part), config.level * scale) for part in assembly.parts]
    _square(assembly.category, level, config.square)
    parts = list(closed(replace(assembly, parts=tuple(level))).parts)
    for number, part in enumerate(parts):
        if part.parent >= 0:
            parts[number] = laid_out(part, parts[part.parent], config.rows)
            _move(parts, number, parts[number].centre - part.centre, children_only=True)
    return parts


def _levelled(part: Part, level: float) -> Part:
    """Mirrored in the middle, if nearly so: both sides go half of the way."""
    pivot = np.asarray(part.repeat.pivot)
    flat = np.where(np.abs(pivot) < level, 0.0, pivot)
    by = np.zeros(3)
    for k, axis in enumerate("xz"):
        by[2 * k] = flat[k] - pivot[k] if axis in part.repeat.mirror else 0.0
    return placed_anew(part, centre=part.centre + by, meets=part.meets + by, repeat=replace(part.repeat, pivot=flat))


def _in_one_piece(part: Part) -> Part:
    """A turned shell that falls apart because its profile goes beyond its open end, without that: a brim that sags."""
    if part.kind != "lathe" or part.hollow is None or body_count([part.solids[0]]) == 1:
        return part
    knots = part.code.reshape(-1, 3).copy()
    low = knots[0, 1] if part.hollow.opening in ("bottom", "through") else -np.inf
    high = knots[-1, 1] if part.hollow.opening in ("top", "through") else np.inf
    knots[:, 1] = np.clip(knots[:, 1], min(low, high), max(low, high))
    whole = replace(part, code=knots.reshape(-1))
    return whole if body_count([whole.solids[0]]) == 1 else part


def _square(category: str, parts: list[Part], least: float) -> None:
    """Turn parts as they always are against what they hang on, about the places where they meet it."""
    for number, part in enumerate(parts):
        usual = turn_on(category, part.name, parts[part.parent].name) if part.parent >= 0 else None
        if usual is None:
            continue
        turn = parts[part.parent].turn @ usual
        if np.arccos(np.clip((np.trace(turn.T @ part.turn) - 1) / 2, -1.0, 1.0)) < least:
            centre = part.meets + turn @ part.turn.T @ (part.centre - part.meets)
            parts[number] = placed_anew(part, turn=turn, centre=centre)


def _without_loose_end(part: Part, parent: Part) -> Part:
    """Fewer copies where the last ones of a climbing row still hang in the air."""
    repeat = part.repeat
    if repeat.count == 1 or repeat.mirror or not repeat.turn:
        return part
    loose = missing(part, parent)
    if not loose or loose[0] == 0:
        return part
    return placed_anew(part, repeat=replace(repeat, count=loose[0]))


def _way(part: Part, gap: Gap) -> np.ndarray:
    """How the first copy of a part has to move so that another one closes its gap."""
    assert gap.inward is not None
    linear = part.repeat.transforms(part.meets, part.turn[:, 0])[gap.copy][:3, :3]
    return np.asarray(np.linalg.solve(linear, gap.wanted * gap.inward))


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
