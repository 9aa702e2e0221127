"""Where parts go so that all of them meet: the least change of places and sizes, for all contacts at once.

A part may move and be stretched, and so may what it hangs on: a leg gets longer, its seat comes down a little, and what
lies on the seat comes along. One linear system holds all gaps, solved again from where the parts are then.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from neurok.families.household.assemble import placed_anew
from neurok.families.household.faces import boards_of, fronts_of
from neurok.families.household.parts import Part, placed
from neurok.generation.face_frame import recoded
from neurok.generation.fields import LEVEL
from neurok.generation.joinery import is_straight, joins, reach_of
from neurok.generation.laying_out import boxes_of, met_copies
from neurok.geometry.distance import closest_barycentric
from neurok.geometry.sampling import sample_surface
from neurok.modelling.shapes import Shape

Vec = Float[np.ndarray, "3"]
Moves = tuple[Float[np.ndarray, "C 4 4"], Float[np.ndarray, "C 3 3"]]
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


@dataclass(frozen=True)
class ReachingConfig:
    """What counts how much; lengths are shares of the object's longest side."""

    rounds: int = 4
    """Systems that are solved, each from where the last one put the parts."""

    depth: float = 0.004
    """How deep parts that missed each other reach into each other ..."""

    share: float = 0.35
    """... but no deeper than this share of the smaller one's smallest side."""

    close: float = 30.0
    """Weight of gaps that are to be closed; that of a change of a part is one ..."""

    follow: float = 0.4
    """... and that of parts that come apart sideways, or where they meet."""

    join: float = 0.0
    """Weight of ends that are not where they always are (``joinery``)."""

    exact: float = 0.002
    """Spread of an end at which that weight is right; that of others goes the other way, up to four times."""

    strange: float = 0.12
    """Ends that are farther from there than this are meant otherwise."""

    even: float = 0.005
    """Changes of parts beyond this weigh more, so that many change a little rather than one a lot."""

    slim: float = 0.1
    """A stretch changes a part as if its sides were at least as long as this: thin things do not become thick."""

    stretch: float = 0.2
    """Largest logarithm of a stretch in one round."""

    blur: float = 0.002
    """Points that are farther than the nearest one by less than this count as near."""

    nearest: int = 16
    """Points of a part from which the exact way to its parent is looked for."""

    samples: int = 400
    """Points of a surface beside its vertices."""


REACHING = ReachingConfig()


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


class Reacher:
    """The parts of an object on their way."""

    def __init__(self, category: str, parts: Sequence[Part], scale: float, config: ReachingConfig = REACHING) -> None:
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
        few = np.argsort(np.where(owners[nearest] == other, far, np.inf))[: self.config.nearest]
        few = few[owners[nearest[few]] == other]
        mine, landed = mine[few], nearest_on(self.parts[part.parent].copies[other], mine[few], far[few])
        ways = landed - mine
        away = np.linalg.norm(ways, axis=1)
        k = int(away.argmin())
        here, there, distance = mine[k], landed[k], float(away[k])
        # Faces that look at each other have many points about as near: together they say which way it is.
        way = ways[away < distance + self.config.blur * self.scale].mean(axis=0)
        if distance < 1e-9:
            way = middles[other] - part.poses[copy, :3, 3]
        elif np.linalg.norm(way) < 0.5 * distance:
            way = there - here
        inward = way / max(float(np.linalg.norm(way)), 1e-9)
        thin = min(float(part.size.min()), float(self.parts[part.parent].size.min()))
        deep = min(self.config.depth * self.scale, self.config.share * thin)
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
            for join in joins(self.category, part.name, self.parts[part.parent].name):
                off = ends[number][join.mine, join.axis] - ends[part.parent][join.other, join.axis]
                short = join.at * self.scale - off
                if abs(short) > self.config.strange * self.scale:
                    continue
                if abs(short) < join.spread * self.scale:
                    short = 0.0
                mine = self._end_rows(number, join.axis, join.mine, moves[number])
                mine = mine - self._end_rows(part.parent, join.axis, join.other, moves[part.parent])
                weight = self.config.join * float(np.clip(self.config.exact / max(join.spread, 1e-4), 0.25, 4.0))
                out.append((weight * mine, weight * short))
        return out

    def _end_rows(self, number: int, axis: int, end: int, moves: Moves) -> Float[np.ndarray, " N"]:
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
        grow = lambda x: part.turn * (part.turn.T @ (x - part.centre))  # noqa: E731
        own = self.owner[number]
        rows[:, own, :3] += turn
        if own == number:
            rows[:, own, 3:] += linear @ (grow(first) - grow(part.meets)) + turn @ grow(part.meets)
        if self.base[number] >= 0:
            rows[:, self.base[number], [0, 2]] += (np.eye(3) - turn)[:, [0, 2]]
        return rows.reshape(3, -1)

    def _solved(self, gaps: Sequence[Gap], pulls: Sequence[tuple[np.ndarray, float]] = ()) -> Float[np.ndarray, "P 6"]:
        """The change with the least squares; what changes much is made to weigh more."""
        config, count = self.config, len(self.parts)
        sides = np.maximum([part.size for part in self.parts], config.slim * self.scale)
        units = np.concatenate([np.ones((count, 3)), sides / 2], axis=1) / self.scale
        rows, wanted, moves = [], [], [moves_of(part) for part in self.parts]
        copies = [part.repeat.total for part in self.parts]
        for gap in gaps:
            below = self.parts[gap.child].parent
            beside = self._rows(gap.child, gap.copy, gap.here, moves[gap.child])
            beside -= self._rows(below, gap.other, gap.there, moves[below])
            soft = config.follow / np.sqrt(copies[gap.child])
            inward = self.closed.get((gap.child, gap.copy)) if gap.inward is None else gap.inward
            if inward is None:
                rows.append(soft * beside)
                wanted.append(np.zeros(3))
                continue
            self.closed[gap.child, gap.copy] = inward
            aside = np.eye(3) - np.outer(inward, inward)
            rows.append(np.concatenate([soft * aside @ beside, config.close * inward[None] @ beside]))
            wanted.append(np.array([0.0, 0.0, 0.0, config.close * gap.wanted]))
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
        change[:, 3:] = np.clip(change[:, 3:], -config.stretch, config.stretch)
        return change

    def _apply(self, change: Float[np.ndarray, "P 6"]) -> None:
        self.gone += change
        new = []
        for number, part in enumerate(self.parts):
            by, grow = change[self.owner[number], :3], np.zeros(3)
            if self.owner[number] == number:
                grow = change[number, 3:]
            go = lambda x, by=by, grow=grow, part=part: x + by + part.turn @ (grow * (part.turn.T @ (x - part.centre)))  # noqa: E731
            pivot = np.asarray(part.repeat.pivot)
            if self.base[number] >= 0:
                pivot = pivot + change[self.base[number], [0, 2]]
            places = {
                "centre": part.centre + by,
                "meets": go(part.meets),
                "repeat": replace(part.repeat, pivot=pivot),
                "hinge": part.hinge and replace(part.hinge, origin=go(np.asarray(part.hinge.origin))),
            }
            if np.abs(grow * part.size).max() > 1e-5 * self.scale:
                size = part.size * np.exp(grow)
                new.append(replace(part, size=size, code=recoded(part, size), **places))
            else:
                new.append(placed_anew(part, **places))
        self.parts[:] = new


def moves_of(part: Part) -> Moves:
    """Where each copy goes, and the turn in it without what leans and shrinks where the part meets its parent."""
    across = part.turn[:, 0]
    plain = replace(part.repeat, lean=0.0, scale=1.0).transforms(part.meets, across)[:, :3, :3]
    return part.repeat.transforms(part.meets, across), plain


def nearest_on(
    shape: Shape, points: Float[np.ndarray, "N 3"], within: Float[np.ndarray, " N"]
) -> Float[np.ndarray, "N 3"]:
    """The nearest point of a surface for each of a few points, no farther off than is known."""
    corners = shape.vertices[shape.faces]
    middles = corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    least = np.linalg.norm(points[:, None] - middles[None], axis=2) - radii
    row, face = np.nonzero(least <= within[:, None] + 1e-9)
    landed = np.einsum("nk,nkd->nd", closest_barycentric(points[row], corners[face]), corners[face])
    away = np.linalg.norm(landed - points[row], axis=1)
    order = np.lexsort((away, row))
    first = np.unique(row[order], return_index=True)[1]
    return np.asarray(landed[order][first])


def points_on(shape: Shape, count: int) -> Float[np.ndarray, "N 3"]:
    """Vertices and points spread over the faces, always the same."""
    spread = sample_surface(shape.vertices, shape.faces, count, np.random.default_rng(0))
    return np.concatenate([shape.vertices, spread.interpolate(shape.vertices)])


def farthest(part: Part, before: Part) -> float:
    """How far any corner of the box of any copy is from where it was [m]: what a move and a stretch amount to."""
    ends = []
    for one in (part, before):
        corners = CORNERS * one.size
        ends.append(corners @ one.poses[:, :3, :3].transpose(0, 2, 1) + one.poses[:, None, :3, 3])
    count = min(len(ends[0]), len(ends[1]))
    return float(np.linalg.norm(ends[0][:count] - ends[1][:count], axis=-1).max())
