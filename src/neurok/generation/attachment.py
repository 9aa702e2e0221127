"""Makes the parts of a written object meet: copies in order, fronts shut, all gaps closed with the least change.

A part may move and be stretched, and so may what it hangs on: a leg gets longer, its seat comes down a little, and what
lies on the seat comes along. One linear system holds all gaps, solved again from where the parts are then. While the
flow still writes, ends of parts are also drawn to where they always are: a mattress reaches from end to end of its
base, legs end a hair inside the top. Which ends these are was counted in objects of the generators
(``usual_contacts.json``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.catalogue.assemble import grounded, placed_anew
from neurok.catalogue.casework import boards_of, fronts_of
from neurok.catalogue.checks import body_count
from neurok.catalogue.parts import Assembly, Part, placed
from neurok.generation.contacts import Vec, boxes_of, farthest, met_copies, missing, points_on, shifted
from neurok.generation.copies import laid_out
from neurok.generation.fields import LEVEL
from neurok.generation.fronts import closed, move_below, recoded
from neurok.generation.numbers import scale_of
from neurok.geometry.distance import closest_point

Moves = tuple[Float[np.ndarray, "C 4 4"], Float[np.ndarray, "C 3 3"]]
USUAL_CONTACTS = Path(__file__).with_name("usual_contacts.json")

# Lengths are shares of the object's longest side.
FAR = 0.02  # how far parts may be moved to meet before an object is written once more
NEAR_MIDDLE = 0.012  # pivots nearer to zero than this are zero
SQUARE = 0.3  # parts that are always turned alike against what they hang on are turned so if less is missing [rad]
STRAIGHT = 0.98  # least cosine between the axes of a part and those of the object, for its ends to be counted
DEPTH = 0.004  # how deep parts that missed each other reach into each other ...
SHARE = 0.35  # ... but no deeper than this share of the smaller one's smallest side
CLOSE = 30.0  # weight of gaps that are to be closed; that of a change of a part is one ...
FOLLOW = 0.4  # ... and that of parts that come apart sideways, or where they meet
EXACT = 0.002  # spread of an end at which its weight is right; that of others goes the other way, up to four times
STRANGE = 0.12  # ends that are farther from where they always are than this are meant otherwise
SLIM = 0.1  # a stretch changes a part as if its sides were at least as long: thin things do not become thick
STRETCH = 0.2  # largest logarithm of a stretch in one round
BLUR = 0.002  # points that are farther than the nearest one by less than this count as near
NEAREST = 16  # points of a part from which the exact way to its parent is looked for


@dataclass(frozen=True)
class AttachmentConfig:
    """How thoroughly parts are put together."""

    rounds: int = 4
    """Systems that are solved, each from where the last one put the parts."""

    tries: int = 5
    """Moves of one part that still misses its parent before it is left where it is."""

    samples: int = 400
    """Points of a surface beside its vertices."""

    join: float = 0.0
    """Weight of ends that are not where they always are."""

    even: float = 0.005
    """Changes of parts beyond this weigh more, so that many change a little rather than one a lot."""


ATTACHMENT = AttachmentConfig()
ROUGH = AttachmentConfig(rounds=2, tries=1, samples=150, join=6.0)
"""While the numbers are still being written."""


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
    solver = AttachmentSolver(assembly.category, in_order(assembly, scale), scale, config)
    parts = solver.run()
    for number, part in enumerate(parts):
        if part.parent < 0:
            continue
        for _ in range(config.tries):
            gaps = [gap for gap in solver.gaps(number) if gap.inward is not None]
            if not gaps:
                break
            _move(parts, number, _way(parts[number], max(gaps, key=lambda gap: gap.wanted)))
        parts[number] = _without_loose_end(parts[number], parts[part.parent])
    moved = max(farthest(part, before) for part, before in zip(parts, assembly.parts, strict=True)) / scale
    return replace(assembly, parts=tuple(parts)), moved


def in_order(assembly: Assembly, scale: float) -> list[Part]:
    """The parts with their mirror planes in the middle, fronts shut, and copies in rows, rings and spirals."""
    level = [_levelled(_in_one_piece(part), NEAR_MIDDLE * scale) for part in assembly.parts]
    _square(assembly.category, level)
    parts = list(closed(replace(assembly, parts=tuple(level))).parts)
    for number, part in enumerate(parts):
        if part.parent >= 0:
            parts[number] = laid_out(part, parts[part.parent])
            _move(parts, number, parts[number].centre - part.centre, children_only=True)
    return parts


def _levelled(part: Part, level: float) -> Part:
    """Mirrored in the middle, if nearly so: both sides go half of the way."""
    pivot = np.asarray(part.repeat.pivot)
    flat = np.where(np.abs(pivot) < level, 0.0, pivot)
    by = np.zeros(3)
    for k, axis in enumerate("xz"):
        by[2 * k] = flat[k] - pivot[k] if axis in part.repeat.mirror else 0.0
    return shifted(part, by, replace(part.repeat, pivot=flat))


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


def _square(category: str, parts: list[Part]) -> None:
    """Turn parts as they always are against what they hang on, about the places where they meet it."""
    for number, part in enumerate(parts):
        usual = _usual_contacts(category, part, parts[part.parent]).get("turn") if part.parent >= 0 else None
        if usual is None:
            continue
        turn = parts[part.parent].turn @ np.array(usual, dtype=np.float64)
        if np.arccos(np.clip((np.trace(turn.T @ part.turn) - 1) / 2, -1.0, 1.0)) < SQUARE:
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


def _way(part: Part, gap: Gap) -> Vec:
    """How the first copy of a part has to move so that another one closes its gap."""
    assert gap.inward is not None
    linear = part.repeat.transforms(part.meets, part.turn[:, 0])[gap.copy][:3, :3]
    return np.asarray(np.linalg.solve(linear, gap.wanted * gap.inward))


def _move(parts: list[Part], number: int, by: Vec, children_only: bool = False) -> None:
    """Move a part and all that hangs on it; where there is one of it, mirror planes of what hangs on it go along."""
    if not np.any(by):
        return
    if not children_only:
        parts[number] = shifted(parts[number], by)
    move_below(parts, number, by, with_pivot=parts[number].repeat.total == 1)


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]:
    return json.loads(USUAL_CONTACTS.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def _usual_contacts(category: str, part: Part, parent: Part) -> Mapping[str, Any]:
    """What is always alike of such a part on such a parent.

    ``turn`` is a matrix. Rows of ``ends`` are: axis, end of the part (0 for the lower one of all copies together, 1 for
    the upper one), end of the parent, how far the one lies above the other, and its spread [both in shares of the
    longest side].
    """
    return _table().get(category, {}).get(part.name, {}).get(parent.name, {})


def reach_of(part: Part) -> Float[np.ndarray, "2 3"]:
    """Lower and upper ends of the boxes of all copies together."""
    half = 0.5 * np.abs(part.poses[:, :3, :3]) @ part.size
    middles = part.poses[:, :3, 3]
    return np.stack([(middles - half).min(axis=0), (middles + half).max(axis=0)])


def is_straight(part: Part) -> bool:
    """Whether a part lies along the axes of the object."""
    return bool((np.abs(part.turn).max(axis=0) > STRAIGHT).all())


@dataclass(frozen=True, eq=False)
class Gap:
    """A copy of a part and the copy of its parent that it should meet."""

    child: int
    copy: int
    other: int
    """Number of the parent's copy."""

    here: Vec
    there: Vec
    """The nearest two points; the same one where they meet."""

    inward: Vec | None
    """From one to the other; nothing where they meet."""

    wanted: float
    """How much nearer they have to come [m]."""


class AttachmentSolver:
    """The parts of an object on their way to where they all meet.

    The unknowns are six for each part: how far it moves [m] and the logarithms of how its sides are stretched.
    """

    def __init__(
        self, category: str, parts: Sequence[Part], scale: float, config: AttachmentConfig = ATTACHMENT
    ) -> None:
        self.category, self.parts, self.scale, self.config = category, list(parts), scale, config
        self.owner = list(range(len(parts)))
        self.stiff = set[int]()
        for hollow, fronts in fronts_of(category, parts).items():
            self.stiff.add(hollow)
            for number in (*fronts, *boards_of(category, parts, hollow)):
                if all(met_copies(parts[number], parts[parts[number].parent])):
                    self.owner[number] = hollow  # a face that is shut goes with its body
        self.base = [self._base(number) for number in range(len(parts))]
        self.gone = np.zeros((len(parts), 6))
        self.closed: dict[tuple[int, int], Vec] = {}
        """Which way the copies of parts went that missed their parents; they stay there."""

    def run(self) -> list[Part]:
        """The parts after all rounds."""
        for _ in range(self.config.rounds):
            gaps = [gap for number in range(len(self.parts)) for gap in self.gaps(number)]
            pulls = self._pulls() if self.config.join else []
            if not any(gap.inward is not None for gap in gaps) and not any(short for _, short in pulls):
                break
            self._apply(self._solved(gaps, pulls))
        return self.parts

    def gaps(self, number: int) -> list[Gap]:
        """For each copy of a part where it meets its parent, or the way there."""
        part = self.parts[number]
        if part.parent < 0 or self.owner[number] != number:
            return []
        parent, found = self.parts[part.parent], []
        middles = boxes_of(parent).mean(axis=1)
        tree, owners = None, np.zeros(0, dtype=int)
        for copy, is_met in enumerate(met_copies(part, parent)):
            if is_met:
                at = part.contacts[copy]
                near = int(np.linalg.norm(middles - at, axis=1).argmin())
                found.append(Gap(number, copy, near, at, at, None, 0.0))
                continue
            if tree is None:
                clouds = [points_on(other, self.config.samples) for other in parent.copies]
                owners = np.repeat(np.arange(len(clouds)), [len(cloud) for cloud in clouds])
                tree = cKDTree(np.concatenate(clouds))
            found.append(self._missed(number, copy, tree, owners, middles))
        return found

    def _missed(self, number: int, copy: int, tree: cKDTree, owners: np.ndarray, middles: np.ndarray) -> Gap:
        part = self.parts[number]
        mine = points_on(placed(part.solid, part.poses[copy]), self.config.samples)
        far, nearest = tree.query(mine)
        other = int(owners[nearest[far.argmin()]])
        few = np.argsort(np.where(owners[nearest] == other, far, np.inf))[:NEAREST]
        few = few[owners[nearest[few]] == other]
        parent = self.parts[part.parent].copies[other]
        mine, landed = mine[few], closest_point(mine[few], parent.vertices, parent.faces).points
        ways = landed - mine
        away = np.linalg.norm(ways, axis=1)
        k = int(away.argmin())
        here, there, distance = mine[k], landed[k], float(away[k])
        # Faces that look at each other have many points about as near: together they say which way it is.
        way = ways[away < distance + BLUR * self.scale].mean(axis=0)
        if distance < 1e-9:
            way = middles[other] - part.poses[copy, :3, 3]
        elif np.linalg.norm(way) < 0.5 * distance:
            way = there - here
        inward = way / max(float(np.linalg.norm(way)), 1e-9)
        thin = min(float(part.size.min()), float(self.parts[part.parent].size.min()))
        deep = min(DEPTH * self.scale, SHARE * thin)
        return Gap(number, copy, other, here, there, inward, distance + deep)

    def _pulls(self) -> list[tuple[Float[np.ndarray, " N"], float]]:
        """How ends that always are at some place move with all numbers, and how far they should [m], weighed."""
        out, moves = [], [moves_of(part) for part in self.parts]
        ends = [reach_of(part) for part in self.parts]
        for number, part in enumerate(self.parts):
            if part.parent < 0 or self.owner[number] != number:
                continue
            if not (is_straight(part) and is_straight(self.parts[part.parent])):
                continue
            for axis, mine, other, at, spread in _usual_contacts(self.category, part, self.parts[part.parent]).get(
                "ends", ()
            ):
                short = at * self.scale - (ends[number][mine, axis] - ends[part.parent][other, axis])
                if abs(short) > STRANGE * self.scale:
                    continue
                row = self._end_row(number, axis, mine, moves[number])
                row = row - self._end_row(part.parent, axis, other, moves[part.parent])
                weight = self.config.join * float(np.clip(EXACT / max(spread, 1e-4), 0.25, 4.0))
                out.append((weight * row, weight * short if abs(short) >= spread * self.scale else 0.0))
        return out

    def _end_row(self, number: int, axis: int, end: int, moves: Moves) -> Float[np.ndarray, " N"]:
        """How the lower or upper end of all copies of a part moves along an axis."""
        part, sign = self.parts[number], 2 * end - 1
        half = 0.5 * np.abs(part.poses[:, axis, :3]) @ part.size
        copy = int((sign * part.poses[:, axis, 3] + half).argmax())
        corner = part.poses[copy, :3, :3] @ (sign * np.sign(part.poses[copy, axis, :3]) * part.size / 2)
        return self._rows(number, copy, part.poses[copy, :3, 3] + corner, moves)[axis]

    def _base(self, number: int) -> int:
        """The part that carries the mirror planes and axes of a part: the nearest one below it that is there once."""
        above = self.parts[number].parent
        while above >= 0 and self.parts[above].repeat.total > 1:
            above = self.parts[above].parent
        return above if above < 0 else self.owner[above]

    def _free(self) -> np.ndarray:
        """Which numbers of each part may change: what stands in the middle stays there."""
        free = np.ones((len(self.parts), 6), dtype=bool)
        for number, part in enumerate(self.parts):
            for axis in (0, 2):
                free[number, axis] = abs(part.centre[axis]) >= LEVEL
            if number in self.stiff:
                free[number, 3:] = False
            if self.owner[number] != number:
                free[number] = False
        return free

    def _rows(self, number: int, copy: int, point: Vec, moves: Moves) -> Float[np.ndarray, "3 N"]:
        """How a point of a copy moves with all numbers."""
        part, rows = self.parts[number], np.zeros((3, len(self.parts), 6))
        whole, turn = moves[0][copy], moves[1][copy]
        linear = whole[:3, :3]
        first = np.linalg.solve(linear, point - whole[:3, 3])
        own = self.owner[number]

        def grow(x: Vec) -> Float[np.ndarray, "3 3"]:
            return part.turn * (part.turn.T @ (x - part.centre))

        rows[:, own, :3] += turn
        if own == number:
            rows[:, own, 3:] += linear @ (grow(first) - grow(part.meets)) + turn @ grow(part.meets)
        if self.base[number] >= 0:
            rows[:, self.base[number], [0, 2]] += (np.eye(3) - turn)[:, [0, 2]]
        return rows.reshape(3, -1)

    def _solved(self, gaps: Sequence[Gap], pulls: Sequence[tuple[np.ndarray, float]] = ()) -> Float[np.ndarray, "P 6"]:
        """The change with the least squares; what changes much is made to weigh more."""
        config, count = self.config, len(self.parts)
        sides = np.maximum([part.size for part in self.parts], SLIM * self.scale)
        units = np.concatenate([np.ones((count, 3)), sides / 2], axis=1) / self.scale
        rows, wanted, moves = [], [], [moves_of(part) for part in self.parts]
        copies = [part.repeat.total for part in self.parts]
        for gap in gaps:
            below = self.parts[gap.child].parent
            beside = self._rows(gap.child, gap.copy, gap.here, moves[gap.child])
            beside -= self._rows(below, gap.other, gap.there, moves[below])
            soft = FOLLOW / np.sqrt(copies[gap.child])
            inward = self.closed.get((gap.child, gap.copy)) if gap.inward is None else gap.inward
            if inward is None:
                rows.append(soft * beside)
                wanted.append(np.zeros(3))
                continue
            self.closed[gap.child, gap.copy] = inward
            aside = np.eye(3) - np.outer(inward, inward)
            rows.append(np.concatenate([soft * aside @ beside, CLOSE * inward[None] @ beside]))
            wanted.append(np.array([0.0, 0.0, 0.0, CLOSE * gap.wanted]))
        for row, short in pulls:
            rows.append(row[None])
            wanted.append(np.array([short]))
        free = self._free().reshape(-1)
        contacts = np.concatenate(rows)[:, free] / self.scale
        sought = np.concatenate(wanted) / self.scale
        own, gone = units.reshape(-1)[free], (units * self.gone).reshape(-1)[free]
        weights, found = np.ones((count, 6)), np.zeros(count * 6)
        for _ in range(5):
            weight = weights.reshape(-1)[free]
            system = np.concatenate([contacts, np.diag(weight * own)])
            found[free] = np.linalg.lstsq(system, np.concatenate([sought, -weight * gone]), rcond=None)[0]
            then = units * (self.gone + found.reshape(count, 6))
            far = np.linalg.norm(then[:, :3], axis=1) + np.linalg.norm(then[:, 3:], axis=1)
            weights = np.repeat(np.sqrt(1.0 + far / config.even)[:, None], 6, axis=1)
        change = found.reshape(count, 6)
        change[:, 3:] = np.clip(change[:, 3:], -STRETCH, STRETCH)
        return change

    def _apply(self, change: Float[np.ndarray, "P 6"]) -> None:
        self.gone += change
        self.parts[:] = [self._changed(number, part, change) for number, part in enumerate(self.parts)]

    def _changed(self, number: int, part: Part, change: Float[np.ndarray, "P 6"]) -> Part:
        own, base = self.owner[number], self.base[number]
        by, grow = change[own, :3], change[own, 3:] if own == number else np.zeros(3)

        def go(x: Vec) -> Vec:
            return np.asarray(x + by + part.turn @ (grow * (part.turn.T @ (x - part.centre))))

        pivot = np.asarray(part.repeat.pivot)
        places = {
            "centre": part.centre + by,
            "meets": go(part.meets),
            "repeat": replace(part.repeat, pivot=pivot + change[base, [0, 2]] if base >= 0 else pivot),
            "hinge": part.hinge and replace(part.hinge, origin=go(np.asarray(part.hinge.origin))),
        }
        if np.abs(grow * part.size).max() <= 1e-5 * self.scale:
            return placed_anew(part, **places)
        size = part.size * np.exp(grow)
        return replace(part, size=size, code=recoded(part, size), **places)


def moves_of(part: Part) -> Moves:
    """Where each copy goes, and the turn in it without what leans and shrinks where the part meets its parent."""
    across = part.turn[:, 0]
    plain = replace(part.repeat, lean=0.0, scale=1.0).transforms(part.meets, across)[:, :3, :3]
    return part.repeat.transforms(part.meets, across), plain
