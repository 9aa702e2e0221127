"""Gives an object more or fewer of a part: other repeats of one that is repeated, or more parts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neurok.families.household.parts import Assembly, Part, Repeat
from neurok.families.household.words import number as said_number
from neurok.families.household.words import plural
from neurok.generation.fields import COPIES, PARTS


@dataclass(frozen=True)
class CountingConfig:
    """How copies are laid out anew."""

    full: float = 0.5
    """Parts that fill more than this share of their row become narrower or wider with their number, as drawers do;
    others, as shelves, are only moved."""

    ring: float = 0.1
    """Turns of a ring add up to a whole one within this share."""

    aside: float = 0.25
    """Parts are in one row when they lie apart in other directions by less than this share of it."""


COUNTING = CountingConfig()
STACKED = frozenset({"drawer", "shelf", "lower rail", "slat"})
"""Of which several lie above each other where there is only one to tell from."""


def counted(
    assembly: Assembly, numbers: Sequence[int], wanted: int, config: CountingConfig = COUNTING
) -> tuple[Assembly, str]:
    """So many of the parts of one name, and a sentence where that is not what came out."""
    parts = [assembly.parts[number] for number in numbers]
    name, total = parts[0].name, sum(part.repeat.total for part in parts)
    if total == wanted:
        return assembly, f"It has {said_number(wanted)} {_many(name, wanted)} already."
    sorry = f"It keeps its {said_number(total)} {_many(name, total)}: {said_number(wanted)} cannot be laid out there."
    if wanted > COPIES:
        return assembly, f"{sorry[:-1]}, at most {COPIES} are."
    if all(part.repeat.total == 1 for part in parts) and (len(parts) > 1 or parts[0].hinge is not None):
        return _in_a_row(assembly, numbers, wanted, config) or (assembly, sorry)
    if len(parts) > 1:
        return assembly, sorry
    made = _repeated(parts[0], wanted, config)
    if made is None:
        return assembly, sorry
    other, got = made
    note = "" if got == wanted else f"They come in pairs: it has {said_number(got)} {_many(name, got)}."
    return _with(assembly, numbers[0], other), note


def _many(name: str, count: int) -> str:
    return name if count == 1 else plural(name)


def _with(assembly: Assembly, number: int, other: Part) -> Assembly:
    """The object with one part otherwise; what hangs on each copy is repeated with it, what hangs on one stays."""
    old, parts = assembly.parts[number], list(assembly.parts)
    parts[number] = other
    if old.repeat.total == 1:
        return replace(assembly, parts=tuple(parts))
    by = other.centre - old.centre
    moving = {number}
    for k in range(number + 1, len(parts)):
        part = parts[k]
        if part.parent in moving:
            moving.add(k)
            goes_along = part.repeat.total == old.repeat.total and part.hinge is None
            repeat = other.repeat if goes_along else part.repeat
            hinge = part.hinge and replace(part.hinge, origin=np.asarray(part.hinge.origin) + by)
            parts[k] = replace(part, repeat=repeat, centre=part.centre + by, meets=part.meets + by, hinge=hinge)
    return replace(assembly, parts=tuple(parts))


def _repeated(part: Part, wanted: int, config: CountingConfig) -> tuple[Part, int] | None:
    """The part with other repeats, and how many that are."""
    repeat = part.repeat
    if repeat.count > 1:
        each = 2 ** len(repeat.mirror)
        count = max(1, round(wanted / each))
        return _spread(part, count, config), count * each
    if not repeat.mirror:
        is_aside = abs(part.centre[0]) > 0.5 * float(np.abs(part.turn[0]) @ part.size)
        if wanted == 2 and is_aside:
            return replace(part, repeat=Repeat("x")), 2
        return _side_by_side(part, wanted), wanted
    return (_around(part, wanted), wanted) if repeat.mirror == "xz" else _pair(part, wanted)


def _spread(part: Part, count: int, config: CountingConfig) -> Part:
    """More or fewer along the same row, or around the same ring."""
    repeat = part.repeat
    step, turn, share = np.asarray(repeat.step), repeat.turn, repeat.count / count
    around = abs(turn) * repeat.count
    if turn and abs(around - 2.0 * np.pi) < config.ring * 2.0 * np.pi:
        return replace(part, repeat=replace(repeat, count=count, turn=turn * share))
    if not step.any() or turn:
        return replace(part, repeat=replace(repeat, count=count))
    reach = float(np.linalg.norm(step))
    along = int(np.abs(part.turn.T @ step).argmax())
    size, scale = part.size.copy(), 1.0
    if size[along] > config.full * reach:
        size[along] *= share
        scale = share
        by = 0.5 * (scale - 1.0) * part.size[along] * step / reach
        return replace(
            part, size=size, centre=part.centre + by, meets=part.meets + by, repeat=_step(part, count, share)
        )
    if count == 1:
        by = 0.5 * (repeat.count - 1) * step
        return replace(part, centre=part.centre + by, meets=part.meets + by, repeat=replace(repeat, count=1))
    return replace(part, repeat=_step(part, count, (repeat.count - 1) / (count - 1)))


def _step(part: Part, count: int, share: float) -> Repeat:
    return replace(part.repeat, count=count, step=np.asarray(part.repeat.step) * share)


def _side_by_side(part: Part, wanted: int) -> Part:
    """One cut into several, in a row: upwards for what is stacked, else along its longer side on the ground."""
    extents = np.abs(part.turn) @ part.size
    axis = 1 if part.name in STACKED else 2 if extents[2] > extents[0] else 0
    along = int(np.abs(part.turn[axis]).argmax())
    step = np.zeros(3)
    step[axis] = extents[axis] / wanted
    size = part.size.copy()
    size[along] /= wanted
    by = np.zeros(3)
    by[axis] = 0.5 * (step[axis] - extents[axis])
    meets = part.meets + by
    return replace(part, size=size, centre=part.centre + by, meets=meets, repeat=Repeat(count=wanted, step=step))


def _around(part: Part, wanted: int) -> Part:
    """Of four at the corners: two, one in the middle, two rows of them, or a ring when they are odd."""
    pivot = np.asarray(part.repeat.pivot)
    place = part.centre[[0, 2]] - pivot
    by = np.zeros(3)
    if wanted == 1:
        by[[0, 2]] = -place
        repeat = Repeat(pivot=pivot)
    elif wanted == 2:
        by[2] = -place[1]
        repeat = Repeat("x", pivot=pivot)
    elif wanted % 2 == 0:
        step = np.array([-2.0 * place[0] / (wanted // 2 - 1), 0.0, 0.0])
        repeat = Repeat("z", wanted // 2, step, pivot=pivot)
    else:
        by[0] = -place[0]
        reach = float(np.abs(place).min()) if abs(place[1]) > abs(place[0]) else abs(float(place[1]))
        by[2] = reach - place[1]
        repeat = Repeat(count=wanted, turn=2.0 * np.pi / wanted, pivot=pivot)
    return replace(part, centre=part.centre + by, meets=part.meets + by, repeat=repeat)


def _pair(part: Part, wanted: int) -> tuple[Part, int] | None:
    """Of a pair: one of them, or two rows of them along the plane between."""
    repeat = part.repeat
    if wanted == 1:
        return replace(part, repeat=replace(repeat, mirror="")), 1
    if wanted % 2 or part.role not in ("support", "cushion", "trim"):
        return None
    axis = 2 if repeat.mirror == "x" else 0
    extent = float(np.abs(part.turn[axis]) @ part.size)
    step = np.zeros(3)
    step[axis] = -2.0 * extent
    return replace(part, repeat=replace(repeat, count=wanted // 2, step=step)), wanted


def _in_a_row(
    assembly: Assembly, numbers: Sequence[int], wanted: int, config: CountingConfig
) -> tuple[Assembly, str] | None:
    """More or fewer parts in the room that they have, each with what hangs on it."""
    parts = [assembly.parts[number] for number in numbers]
    middles = np.array([part.centre for part in parts])
    spread = np.ptp(middles, axis=0)
    axis = int(spread.argmax()) if len(parts) > 1 else (1 if parts[0].name in STACKED else 0)
    others = np.delete(spread, axis)
    if others.max() > config.aside * max(float(spread[axis]), 1e-9) and len(parts) > 1:
        return None  # a grid
    below = {number: _hanging(assembly, number) for number in numbers}
    gone = {k for found in below.values() for k in found}
    template = [numbers[min(k, len(numbers) - 1)] for k in range(wanted)]
    if len(assembly.parts) - len(gone) + sum(len(below[number]) for number in template) > PARTS:
        return assembly, f"An object has at most {PARTS} parts: {said_number(wanted)} of these are too many."
    sides = np.array([float(np.abs(part.turn[axis]) @ part.size) for part in parts])
    order = np.argsort(middles[:, axis])
    low = float(middles[order[0], axis] - sides[order[0]] / 2)
    high = float(middles[order[-1], axis] + sides[order[-1]] / 2)
    is_full = sides.sum() > config.full * (high - low)
    if not is_full:
        around = np.array([shape.bounds for shape in assembly.parts[parts[0].parent].copies])
        low, high = float(around[:, 0, axis].min()), float(around[:, 1, axis].max())
    sign = 1.0 if len(parts) == 1 or middles[-1, axis] >= middles[0, axis] else -1.0
    fresh: list[list[Part]] = []
    for k, number in enumerate(template):
        share = (k + 0.5) / wanted if is_full else (k + 1.0) / (wanted + 1.0)
        place = low + share * (high - low) if sign > 0 else high - share * (high - low)
        side = float(sides.sum()) / wanted if is_full else float(sides[list(numbers).index(number)])
        is_left = place < (low + high) / 2 if wanted > 1 else None
        fresh.append([_put(assembly, number, k2, axis, place, side, is_left) for k2 in below[number]])
    return _rebuilt(assembly, gone, [below[number] for number in template], fresh, max(numbers)), ""


def _hanging(assembly: Assembly, number: int) -> list[int]:
    """A part and all that hangs on it."""
    found = [number]
    for k in range(number + 1, len(assembly.parts)):
        if assembly.parts[k].parent in found:
            found.append(k)
    return found


def _put(
    assembly: Assembly, number: int, which: int, axis: int, place: float, side: float, is_left: bool | None
) -> Part:
    """A copy of a part in another place of the row, or of something that hangs on it."""
    base, part = assembly.parts[number], assembly.parts[which]
    grow = side / float(np.abs(base.turn[axis]) @ base.size)
    flip = 1.0
    hinge = base.hinge
    if is_left is not None and axis == 0 and hinge is not None and hinge.kind == "revolute":
        on_left = float(np.asarray(hinge.origin)[0]) < base.centre[0]
        flip = 1.0 if on_left == is_left or abs(np.asarray(hinge.axis)[1]) < 0.5 else -1.0

    def moved(point: np.ndarray) -> np.ndarray:
        out = np.array(point, dtype=np.float64)
        out[axis] = place + flip * grow * (out[axis] - base.centre[axis])
        return out

    size = part.size.copy()
    if which == number:
        size[int(np.abs(part.turn[axis]).argmax())] *= grow
    own = part.hinge
    if own is not None:
        own = replace(own, origin=moved(np.asarray(own.origin)), axis=np.asarray(own.axis) * flip)
    pivot = np.asarray(part.repeat.pivot).copy()
    if which != number and axis != 1:
        pivot = moved(np.array([pivot[0], 0.0, pivot[1]]))[[0, 2]]
    repeat = replace(part.repeat, pivot=pivot)
    return replace(part, size=size, centre=moved(part.centre), meets=moved(part.meets), hinge=own, repeat=repeat)


def _rebuilt(
    assembly: Assembly, gone: set[int], sources: list[list[int]], fresh: list[list[Part]], at: int
) -> Assembly:
    """The list without some parts, and with new groups where the last of them stood."""
    where: dict[int, int] = {}
    out: list[Part] = []
    for number, part in enumerate(assembly.parts):
        if number not in gone:
            where[number] = len(out)
            out.append(part if part.parent < 0 else replace(part, parent=where[part.parent]))
        if number == at:
            for source, group in zip(sources, fresh, strict=True):
                inside = {old: len(out) + k for k, old in enumerate(source)}
                out += [replace(part, parent=inside.get(part.parent, where.get(part.parent, 0))) for part in group]
    return replace(assembly, parts=tuple(out))
