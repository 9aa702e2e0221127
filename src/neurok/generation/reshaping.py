"""Gives an object other measures or another number of a part: stretched, scaled, more or fewer copies.

Each part is stretched where it meets its parent, and what hangs on it goes where the point goes that it meets, so that
contacts stay; attachments are looked after afterwards all the same (``attachment``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.catalogue.parts import Assembly, Hinge, Part, Repeat
from neurok.catalogue.vocabulary import number as said_number
from neurok.catalogue.vocabulary import plural
from neurok.generation.attachment import reach_of
from neurok.generation.contacts import Vec, shifted
from neurok.generation.edit_request import Dimension
from neurok.generation.fields import COPIES, LEVEL, PARTS
from neurok.modelling.forms import Hollow

LOOSE = frozenset({"throw pillow", "pillow", "knob", "handle", "button", "bow"})
"""Parts that are of one size whatever they lie on."""

AXES: dict[str, int] = {"width": 0, "height": 1, "depth": 2}
THIN = 0.2
"""Parts that take up less than this share of the object along an axis are moved, not stretched: legs and arms of a
wider sofa stay as thick as they are."""

MOST = 2.0  # times that a part is stretched beyond the whole at most
ROD = 2.0  # a rod is longer than so many times its other two sides ...
EVEN = 2.0  # ... which differ by less than this factor

STACKED = frozenset({"drawer", "shelf", "lower rail", "slat"})
"""Of which several lie above each other where there is only one to tell from."""

FULL = 0.5
"""Parts that fill more than this share of their row become narrower or wider with their number, as drawers do; others,
as shelves, are only moved."""

RING = 0.1  # turns of a ring add up to a whole one within this share
ASIDE = 0.25  # parts are in one row when they lie apart in other directions by less than this share of it


def resized(assembly: Assembly, numbers: tuple[int, ...], dimension: Dimension, factor: float) -> Assembly:
    """The object with some of its parts, or all if no numbers are given, larger in one dimension."""
    if not numbers and dimension == "size":
        return _scaled(assembly, factor)
    if not numbers and dimension == "thickness":
        numbers = (0,)
    if not numbers:
        return _whole_resized(assembly, dimension, factor)
    factors = [
        part_factors(part, dimension, factor) if number in numbers else np.ones(3)
        for number, part in enumerate(assembly.parts)
    ]
    return _stretched(assembly, factors)


def _whole_resized(assembly: Assembly, dimension: Dimension, factor: float) -> Assembly:
    """What is stretched makes up for what is only moved, so that the whole grows by the factor."""
    before = _extent(assembly)
    axis = AXES.get(dimension, 2 if before[2] > before[0] else 0)
    first = _stretched(assembly, _whole_factors(assembly, axis, factor))
    share = (_extent(first)[axis] / before[axis] - 1.0) / (factor - 1.0) if factor != 1.0 else 1.0
    more = 1.0 + (factor - 1.0) / min(max(share, 1.0 / MOST), 1.0)
    return _stretched(assembly, _whole_factors(assembly, axis, max(more, 0.5 * factor)))


def _extent(assembly: Assembly) -> Vec:
    """Sides of the box around the boxes of all that is not loose."""
    parts = [part for part in assembly.parts if part.name not in LOOSE] or assembly.parts
    return np.asarray(np.ptp(np.concatenate([reach_of(part) for part in parts]), axis=0))


def part_factors(part: Part, dimension: Dimension, factor: float) -> Vec:
    """By how much the sides of one part grow, in its own axes."""
    order = np.argsort(part.size, kind="stable")
    small, middle, long = part.size[order]
    is_rod = long > ROD * middle and middle < EVEN * small
    is_across = dimension in ("width", "depth") and _own_axis(part, AXES[dimension]) != int(np.argmax(part.size))
    out = np.ones(3)
    if dimension == "size":
        out[:] = factor
    elif dimension == "thickness" or (is_rod and is_across):
        out[order[:2] if is_rod else order[:1]] = factor
    elif dimension == "length" or (is_rod and dimension == "height" and factor < 1.0):
        out[order[2]] = factor
    else:
        out[_own_axis(part, AXES[dimension])] = factor
    return out


def _own_axis(part: Part, axis: int) -> int:
    """The part's own axis that lies nearest to one of the object."""
    return int(np.abs(part.turn[axis]).argmax())


def _side(part: Part, axis: int) -> float:
    """How long a part is along an axis of the object [m]."""
    return float(np.abs(part.turn[axis]) @ part.size)


def _whole_factors(assembly: Assembly, axis: int, factor: float) -> list[Vec]:
    extent = _extent(assembly)
    factors = []
    for part in assembly.parts:
        own = np.ones(3)
        is_long = _side(part, axis) / float(extent[axis]) > THIN and part.name not in LOOSE
        if is_long or part.role == "moving" or len(assembly.parts) == 1:
            own[_own_axis(part, axis)] = factor
        factors.append(own)
    if all((own == 1.0).all() for own in factors):
        factors[0][_own_axis(assembly.parts[0], axis)] = factor
    return factors


@dataclass(frozen=True, eq=False)
class _Map:
    """Where the points of a part go."""

    linear: Float[np.ndarray, "3 3"]
    start: Vec
    end: Vec

    def __call__(self, point: Vec) -> Vec:
        if self.is_still:
            return np.asarray(point)
        return np.asarray(self.end + self.linear @ (point - self.start))

    @property
    def is_still(self) -> bool:
        return bool((self.start == self.end).all() and (self.linear == np.eye(3)).all())


STILL = _Map(np.eye(3), np.zeros(3), np.zeros(3))


def _stretched(assembly: Assembly, factors: list[Vec]) -> Assembly:
    """Parts with their sides multiplied; those that nothing happens to stay what they are."""
    maps: list[_Map] = []
    parts: list[Part] = []
    for part, own in zip(assembly.parts, factors, strict=True):
        linear = np.eye(3) if (own == 1.0).all() else part.turn @ np.diag(own) @ part.turn.T
        parent = maps[part.parent] if part.parent >= 0 else STILL
        start = part.meets.copy() if part.parent >= 0 else part.centre.copy()
        end = parent(start).copy()
        for axis in (0, 2):  # what stands in the middle stays there
            if abs(part.centre[axis]) < LEVEL and "xz"[axis // 2] not in part.repeat.mirror:
                start[axis] = end[axis] = part.centre[axis]
        here = _Map(linear, start, end)
        maps.append(here)
        if here.is_still and parent.is_still:
            parts.append(part)
            continue
        repeat = part.repeat
        if not parent.is_still:
            pivot = np.asarray(repeat.pivot)
            if assembly.parts[part.parent].repeat.total == 1:
                pivot = parent(np.array([pivot[0], part.centre[1], pivot[1]]))[[0, 2]]
            repeat = replace(repeat, step=parent.linear @ np.asarray(repeat.step), pivot=pivot)
        hinge = part.hinge and _stretched_hinge(part.hinge, here)
        centre, meets = here(part.centre), parent(part.meets)
        parts.append(replace(part, size=part.size * own, centre=centre, meets=meets, repeat=repeat, hinge=hinge))
    return replace(assembly, parts=tuple(parts))


def _stretched_hinge(hinge: Hinge, here: _Map) -> Hinge:
    axis = np.asarray(hinge.axis)
    along = float(np.linalg.norm(here.linear @ axis)) / max(float(np.linalg.norm(axis)), 1e-9)
    grow = along if hinge.kind == "prismatic" else 1.0
    return replace(hinge, origin=here(np.asarray(hinge.origin)), lower=hinge.lower * grow, upper=hinge.upper * grow)


def _scaled(assembly: Assembly, factor: float) -> Assembly:
    """All lengths multiplied."""
    whole = _Map(factor * np.eye(3), np.zeros(3), np.zeros(3))
    parts = []
    for part in assembly.parts:
        repeat = replace(
            part.repeat, step=np.asarray(part.repeat.step) * factor, pivot=np.asarray(part.repeat.pivot) * factor
        )
        hinge = part.hinge and _stretched_hinge(part.hinge, whole)
        hollow = part.hollow and Hollow(part.hollow.wall * factor, part.hollow.opening)
        size, centre, meets = part.size * factor, part.centre * factor, part.meets * factor
        moved = replace(part, size=size, centre=centre, meets=meets)
        parts.append(replace(moved, repeat=repeat, hinge=hinge, hollow=hollow))
    return replace(assembly, parts=tuple(parts))


def counted(assembly: Assembly, numbers: Sequence[int], wanted: int) -> tuple[Assembly, str]:
    """So many of the parts of one name, and a sentence where that is not what came out."""
    parts = [assembly.parts[number] for number in numbers]
    name, total = parts[0].name, sum(part.repeat.total for part in parts)
    if total == wanted:
        return assembly, f"It has {_many(name, wanted)} already."
    sorry = f"It keeps its {_many(name, total)}: {said_number(wanted)} cannot be laid out there."
    if wanted > COPIES:
        return assembly, f"{sorry[:-1]}, at most {COPIES} are."
    if all(part.repeat.total == 1 for part in parts) and (len(parts) > 1 or parts[0].hinge is not None):
        return _in_a_row(assembly, numbers, wanted) or (assembly, sorry)
    made = _repeated(parts[0], wanted) if len(parts) == 1 else None
    if made is None:
        return assembly, sorry
    got = made.repeat.total
    return _with(assembly, numbers[0], made), "" if got == wanted else f"They come in pairs: it has {_many(name, got)}."


def _many(name: str, count: int) -> str:
    return f"{said_number(count)} {name if count == 1 else plural(name)}"


def _with(assembly: Assembly, number: int, other: Part) -> Assembly:
    """The object with one part otherwise; what hangs on each copy is repeated with it, what hangs on one stays."""
    old, parts = assembly.parts[number], list(assembly.parts)
    parts[number] = other
    if old.repeat.total > 1:
        for k in _hanging(assembly, number)[1:]:
            goes_along = parts[k].repeat.total == old.repeat.total and parts[k].hinge is None
            repeat = other.repeat if goes_along else parts[k].repeat
            parts[k] = shifted(parts[k], other.centre - old.centre, repeat)
    return replace(assembly, parts=tuple(parts))


def _repeated(part: Part, wanted: int) -> Part | None:
    """The part with other repeats."""
    repeat = part.repeat
    if repeat.count > 1:
        return _spread(part, max(1, round(wanted / 2 ** len(repeat.mirror))))
    if not repeat.mirror:
        is_aside = abs(part.centre[0]) > 0.5 * _side(part, 0)
        return replace(part, repeat=Repeat("x")) if wanted == 2 and is_aside else _side_by_side(part, wanted)
    return _around(part, wanted) if repeat.mirror == "xz" else _pair(part, wanted)


def _spread(part: Part, count: int) -> Part:
    """More or fewer along the same row, or around the same ring."""
    repeat = part.repeat
    step, turn, share = np.asarray(repeat.step), repeat.turn, repeat.count / count
    around = abs(turn) * repeat.count
    if turn and abs(around - 2.0 * np.pi) < RING * 2.0 * np.pi:
        return replace(part, repeat=replace(repeat, count=count, turn=turn * share))
    if not step.any() or turn:
        return replace(part, repeat=replace(repeat, count=count))
    reach = float(np.linalg.norm(step))
    along = int(np.abs(part.turn.T @ step).argmax())
    if part.size[along] > FULL * reach:
        by = 0.5 * (share - 1.0) * part.size[along] * step / reach
        row = shifted(part, by, replace(repeat, count=count, step=step * share))
        return replace(row, size=np.where(np.arange(3) == along, share, 1.0) * part.size)
    if count == 1:
        return shifted(part, 0.5 * (repeat.count - 1) * step, replace(repeat, count=1))
    return replace(part, repeat=replace(repeat, count=count, step=step * ((repeat.count - 1) / (count - 1))))


def _side_by_side(part: Part, wanted: int) -> Part:
    """One cut into several, in a row: upwards for what is stacked, else along its longer side on the ground."""
    axis = 1 if part.name in STACKED else 2 if _side(part, 2) > _side(part, 0) else 0
    side, size, step, by = _side(part, axis), part.size.copy(), np.zeros(3), np.zeros(3)
    step[axis] = side / wanted
    size[_own_axis(part, axis)] /= wanted
    by[axis] = 0.5 * (step[axis] - side)
    return replace(shifted(part, by, Repeat(count=wanted, step=step)), size=size)


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
        by[[0, 2]] = -place[0], float(np.abs(place).min()) - place[1]
        repeat = Repeat(count=wanted, turn=2.0 * np.pi / wanted, pivot=pivot)
    return shifted(part, by, repeat)


def _pair(part: Part, wanted: int) -> Part | None:
    """Of a pair: one of them, or two rows of them along the plane between."""
    repeat = part.repeat
    if wanted == 1:
        return replace(part, repeat=replace(repeat, mirror=""))
    if wanted % 2 or part.role not in ("support", "cushion", "trim"):
        return None
    axis, step = 2 if repeat.mirror == "x" else 0, np.zeros(3)
    step[axis] = -2.0 * _side(part, axis)
    return replace(part, repeat=replace(repeat, count=wanted // 2, step=step))


def _in_a_row(assembly: Assembly, numbers: Sequence[int], wanted: int) -> tuple[Assembly, str] | None:
    """More or fewer parts in the room that they have, each with what hangs on it."""
    parts = [assembly.parts[number] for number in numbers]
    middles = np.array([part.centre for part in parts])
    spread = np.ptp(middles, axis=0)
    axis = int(spread.argmax()) if len(parts) > 1 else (1 if parts[0].name in STACKED else 0)
    if np.delete(spread, axis).max() > ASIDE * max(float(spread[axis]), 1e-9) and len(parts) > 1:
        return None  # a grid
    below = {number: _hanging(assembly, number) for number in numbers}
    gone = {k for found in below.values() for k in found}
    template = [numbers[min(k, len(numbers) - 1)] for k in range(wanted)]
    if len(assembly.parts) - len(gone) + sum(len(below[number]) for number in template) > PARTS:
        return assembly, f"An object has at most {PARTS} parts: {said_number(wanted)} of these are too many."
    sides = np.array([_side(part, axis) for part in parts])
    order = np.argsort(middles[:, axis])
    low = float(middles[order[0], axis] - sides[order[0]] / 2)
    high = float(middles[order[-1], axis] + sides[order[-1]] / 2)
    is_full = sides.sum() > FULL * (high - low)
    if not is_full:
        around = np.array([shape.bounds for shape in assembly.parts[parts[0].parent].copies])
        low, high = float(around[:, 0, axis].min()), float(around[:, 1, axis].max())
    is_upward = len(parts) == 1 or middles[-1, axis] >= middles[0, axis]
    fresh: list[list[Part]] = []
    for k, number in enumerate(template):
        share = (k + 0.5) / wanted if is_full else (k + 1.0) / (wanted + 1.0)
        place = low + share * (high - low) if is_upward else high - share * (high - low)
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
    grow = side / _side(base, axis)
    flip, hinge = 1.0, base.hinge
    if is_left is not None and axis == 0 and hinge is not None and hinge.kind == "revolute":
        on_left = float(np.asarray(hinge.origin)[0]) < base.centre[0]
        flip = 1.0 if on_left == is_left or abs(np.asarray(hinge.axis)[1]) < 0.5 else -1.0

    def moved(point: Vec) -> Vec:
        out = np.array(point, dtype=np.float64)
        out[axis] = place + flip * grow * (out[axis] - base.centre[axis])
        return out

    size = part.size.copy()
    if which == number:
        size[_own_axis(part, axis)] *= grow
    own = part.hinge
    if own is not None:
        own = replace(own, origin=moved(np.asarray(own.origin)), axis=np.asarray(own.axis) * flip)
    pivot = np.asarray(part.repeat.pivot)
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
