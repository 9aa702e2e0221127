"""Contact and Coulomb friction as an incremental potential.

At the start of a step each point that may touch gets a plane that stands for the solid until the step ends; a point
below its plane pays ½ k depth². Friction is a spring that yields at the friction coefficient times the normal force
(taken from the last pass, so that the potential stays convex); what it is stretched by is kept from step to step.
Sticking contacts therefore hold still: nothing creeps.

Implicit Euler swallows all speed of an impact. Newton's law of restitution is restored after a step by impulses at the
struck points, the smallest ones with which none of them is slower than it should be (projected Gauss–Seidel).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.dynamics.reduced.system import System, solve_mass
from neurok.geometry.loops import compiled

SAME_LOAD = 1e-2
"""Normal forces that change by less than this share of the largest do not ask for another pass."""

INNER = 1e-6
"""Share of the descent that one more iteration on straight contacts must promise."""

MAX_NEWTON = 40
"""Iterations of Newton's method."""

MAX_SEARCH = 24
"""Trials of a line search; the last is 10^-7 of the first."""

BOUNCE_SWEEPS = 50
"""Sweeps over the struck points that find the impulses of a bounce."""

SLIDING = 0.1
"""Curvature that is kept along the path of what slides, as a share of what it would be if it stuck: there friction is
the same however far it goes, and without any steps would overshoot what comes to a stop."""

NOTHING = 1e-300
"""Added to lengths that are divided by."""


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points of one object that feel contact."""

    owner: int
    points: Any
    radii: Float[np.ndarray, " n"]
    """0 for a point, or the radius of a ball around it that is felt in its place."""

    nodes: Int[np.ndarray, " n"]
    """Rigid node that carries each, or -1."""

    patches: Int[np.ndarray, " n"] | None = None
    """Of a surface that bends and has many vertices: the one among some, spread over it, that stands for each. Of each
    such patch that one touches, and the lowest."""


@dataclass(frozen=True, eq=False)
class Side:
    """Points of one object among the rows of a contact."""

    member: int
    points: Any
    rows: Int[np.ndarray, " n"]
    sign: float
    """1 for what touches, -1 for what is touched."""


@dataclass(eq=False)
class Touch:
    """Points of one object against one solid, which stands still or belongs to an object."""

    points: PointSet
    solid: Any
    friction: float
    bounce: float
    """Share of its normal speed that a point keeps."""

    stiffness: float
    other: int | None = None
    """Index of the object the solid belongs to."""

    node: int = -1
    """Node of that object which carries the solid."""

    slips: Float[np.ndarray, "n 3"] = field(init=False)
    """How far the friction at each point is stretched."""

    loads: Float[np.ndarray, " n"] = field(init=False)
    """Normal force on each point."""

    marks: Int[np.ndarray, " n"] = field(init=False)
    """What the solid remembers of each point; -1 for nothing."""

    slid: Bool[np.ndarray, " n"] = field(init=False)
    """Whether each point slid."""

    known: Int[np.ndarray, " k"] = field(init=False)
    """Points that something is remembered of."""

    clear: Float[np.ndarray, " n"] = field(init=False)
    """How far points and a solid that bends may travel before each point can meet it."""

    def __post_init__(self) -> None:
        count = len(self.points.radii)
        self.slips, self.loads = np.zeros((count, 3)), np.zeros(count)
        self.marks, self.slid = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=bool)
        self.known, self.clear = np.zeros(0, dtype=np.int64), np.zeros(count)

    def forget(self) -> None:
        """No point touches."""
        known, self.known = self.known, self.known[:0]
        self.slips[known], self.loads[known], self.marks[known], self.slid[known] = 0.0, 0.0, -1, False


@dataclass(frozen=True, eq=False)
class Found:
    """Points of one touch that meet its solid in the present step."""

    touch: Touch
    which: Int[np.ndarray, " n"]
    normals: Float[np.ndarray, "n 3"]
    gaps: Float[np.ndarray, " n"]
    marks: Int[np.ndarray, " n"]
    feet: Any
    """Points of the other object below them; ``None`` where the solid stands still."""

    points: Any
    """The points that meet it."""

    soles: Any = None
    """Of balls: the points of their surface that touch."""


@dataclass(eq=False)
class Rows:
    """All contacts of one step, as one potential of how points move against what they touch."""

    found: list[Found]
    sides: list[Side]
    start: Float[np.ndarray, "C 3"]
    normals: Float[np.ndarray, "C 3"]
    gaps: Float[np.ndarray, " C"]
    stiffness: Float[np.ndarray, " C"]
    presses: Float[np.ndarray, " C"]
    """1 for rows that feel the plane, 0 for those that only rub."""

    friction: Float[np.ndarray, " C"]
    pressed: Int[np.ndarray, " C"]
    """The row whose normal force counts for the friction of each."""

    slips: Float[np.ndarray, "C 3"]
    bounce: Float[np.ndarray, " C"]
    loads: Float[np.ndarray, " C"]
    """Normal force of each row, from the last pass."""

    before: Float[np.ndarray, " C"]
    """Normal force at the end of the step before."""

    slid: Bool[np.ndarray, " C"]
    """Whether it slid in the step before."""

    is_torn: bool = False
    """Whether something that did not slide before was found to slide when last evaluated."""

    moved: Float[np.ndarray, "C 3"] = field(init=False)
    """How far the points had moved where the energy was last evaluated ..."""

    _last: tuple[float, Float[np.ndarray, " C3"], Float[np.ndarray, "C 6"]] = field(init=False)
    """... and this energy, its forces, and what curvature needs."""

    _packed: tuple[np.ndarray, np.ndarray] | None = field(default=None, init=False)
    _known: tuple[Any, np.ndarray, np.ndarray] | None = field(default=None, init=False)

    @staticmethod
    def of(found: list[Found], motions: Sequence[Any]) -> Rows:
        """Rows of what was found, at the start of a step."""
        blocks, sides, count = [], [], 0
        for entry in found:
            touch, which = entry.touch, entry.which
            size, is_ball = len(which), entry.soles is not None
            rows = np.arange(count, count + size)
            blocks.append(_block(entry, rows, presses=True, rubs=not is_ball))
            sides.append(Side(touch.points.owner, entry.points, rows, 1.0))
            sides += [] if entry.feet is None else [Side(touch.other or 0, entry.feet, rows, -1.0)]
            count += size
            if is_ball:
                more = rows + size
                blocks.append(_block(entry, rows, presses=False, rubs=True))
                sides.append(Side(touch.points.owner, entry.soles, more, 1.0))
                sides += [] if entry.feet is None else [Side(touch.other or 0, entry.feet, more, -1.0)]
                count += size
        columns: list[Any] = [np.concatenate(column) for column in zip(*blocks, strict=True)] if blocks else _NOTHING
        nothing = np.zeros(count)
        columns = [*columns[:-2], nothing, *columns[-2:]]
        rows_of_all = Rows(found, _merged(sides), np.zeros((count, 3)), *columns)
        rows_of_all.start = rows_of_all._places(motions)
        rows_of_all.loads = rows_of_all.stiffness * np.maximum(-rows_of_all.gaps, 0.0) * rows_of_all.presses
        return rows_of_all

    def __len__(self) -> int:
        return len(self.gaps)

    def _places(self, motions: Sequence[Any]) -> Float[np.ndarray, "C 3"]:
        if len(self.sides) == 1:
            return self.sides[0].points.positions(motions[self.sides[0].member])[0]
        out = np.zeros((len(self.gaps), 3))
        for side in self.sides:
            out[side.rows] += side.sign * side.points.positions(motions[side.member])[0]
        return out

    def _depths(self, motions: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """How far the points have moved against the solids, and how deep they are; from memory for the same motions."""
        if self._known is None or self._known[0] is not motions:
            moved = self._places(motions) - self.start
            depths = np.maximum(-self.gaps - (moved * self.normals).sum(axis=1), 0.0) * self.presses
            self._known = motions, moved, depths
        return self._known[1:]

    def _stretch(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offset = moved + self.slips
        offset = offset - self.normals * (offset * self.normals).sum(axis=1, keepdims=True)
        return offset, np.sqrt((offset**2).sum(axis=1))

    @property
    def table(self) -> Float[np.ndarray, "C 11"]:
        """What ``terms`` needs of each row side by side: normal, gap, stiffness, whether it presses, the largest
        friction, slip, and whether it slid."""
        if self._packed is None or self._packed[0] is not self.loads:
            limits = self.friction * self.loads[self.pressed]
            columns = [self.gaps, self.stiffness, self.presses, limits]
            self._packed = self.loads, np.column_stack([self.normals, *columns, self.slips, self.slid])
        return self._packed[1]

    def _terms(self, moved: Float[np.ndarray, "C 3"]) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, forces ``(3 C,)``, and what curvature needs, after points have moved so far."""
        force, bend = np.empty(moved.shape), np.empty((len(moved), 6))
        energy, self.is_torn = terms(moved, self.table, False, force, bend)
        return energy, force.reshape(-1), bend

    def evaluate(self, motions: Sequence[Any], system: System) -> tuple[float, np.ndarray]:
        """Energy and its gradient in all coordinates."""
        gradient, self.moved = np.zeros(system.dim), self._depths(motions)[0]
        self._last = energy, force, _ = self._terms(self.moved)
        if energy > 0.0:
            for side in self.sides:
                mine, where = force.reshape(1, -1, 3)[:, side.rows], system.members[side.member].where
                gradient[where] += side.sign * side.points.pull(motions[side.member], mine)[0]
        return energy, gradient

    def descent(
        self,
        matrix: Float[np.ndarray, "D D"],
        gradient: Float[np.ndarray, " D"],
        jacobian: Float[np.ndarray, "C 3 D"],
    ) -> Float[np.ndarray, " D"]:
        """The change of all coordinates that minimises the contact of points that move straight, and the rest squared,
        from where the energy was last evaluated.

        Which points touch, stick and slide is settled here, on small matrices, without asking for poses anew. Where
        something that did not slide before would do so, the first guess is that it sticks, however far it is stretched.

        Args:
            matrix: Curvature of all but the contact.
            gradient: Of everything, contact included.
            jacobian: How points follow the coordinates.
        """
        flat, (energy, force, bend) = jacobian.reshape(-1, len(gradient)), self._last
        force, bend = force.reshape(-1, 3).copy(), bend.copy()
        places, room, change = (
            np.empty_like(force),
            np.empty((len(gradient) + 4, len(gradient))),
            np.zeros(len(gradient)),
        )
        table = self.table
        settle(
            matrix, gradient, flat, self.moved, table, INNER, energy, self.is_torn, force, bend, places, room, change
        )
        return change

    def jacobian(self, motions: Sequence[Any], system: System) -> Float[np.ndarray, "C 3 D"]:
        """How the points move against what they touch."""
        if len(self.sides) == 1 and len(system.members) == 1:
            return np.ascontiguousarray(self.sides[0].points.jacobian(motions[0]))
        out = np.zeros((len(self), 3, system.dim))
        for side in self.sides:
            slopes = side.sign * side.points.jacobian(motions[side.member])
            out[side.rows, :, system.members[side.member].where] += slopes
        return out

    def measure(self, motions: Sequence[Any]) -> tuple[float, bool]:
        """Bring the normal forces up to date; the largest depth, and whether friction has to be found again."""
        depths = self._depths(motions)[1]
        loads = self.stiffness * depths
        change = (np.abs(loads - self.loads)[self.pressed] * (self.friction > 0)).max(initial=0.0)
        self.loads = loads
        return float(depths.max(initial=0.0)), bool(change > SAME_LOAD * loads.max(initial=0.0))

    def finish(self, motions: Sequence[Any]) -> None:
        """End of a step: friction that was stretched beyond its cone slides along; all is remembered."""
        moved, depths = self._depths(motions)
        self.loads = self.stiffness * depths
        offset, length = self._stretch(moved)
        reach = self.friction * self.loads[self.pressed] / self.stiffness
        slides = length > reach
        slips = np.where(slides, reach / np.maximum(length, 1e-300), 1.0)[:, None] * offset
        first = 0
        for entry in self.found:
            touch, size = entry.touch, len(entry.which)
            touch.forget()
            rows = np.arange(first, first + size)
            touch.loads[entry.which], touch.marks[entry.which] = self.loads[rows], entry.marks
            touch.known = entry.which
            rubs = rows if entry.soles is None else rows + size
            touch.slid[entry.which] = slides[rubs] & (self.loads[rows] > 0)
            touch.slips[entry.which] = np.where((self.loads[rows] > 0)[:, None], slips[rubs], 0.0)
            first += size * (1 if entry.soles is None else 2)

    def weight_on(self, member: int) -> float:
        """Sum of the normal forces on the points of one object."""
        mine = [side.rows for side in self.sides if side.member == member and side.sign > 0]
        return float(sum(self.loads[rows].sum() for rows in mine))


def _block(entry: Found, rows: Int[np.ndarray, " n"], presses: bool, rubs: bool) -> tuple[np.ndarray, ...]:
    """Columns of the rows of one touch, in the order of the fields of ``Rows``."""
    touch, which = entry.touch, entry.which
    ones = np.ones(len(which))
    held = (touch.loads[which] > 0) & (entry.gaps < 0)
    return (
        entry.normals,
        entry.gaps,
        touch.stiffness * ones,
        ones if presses else 0.0 * ones,
        (touch.friction if rubs else 0.0) * ones,
        rows,
        np.where(held[:, None], touch.slips[which], 0.0),
        touch.bounce * ones if presses else 0.0 * ones,
        touch.loads[which] if presses else 0.0 * ones,
        touch.slid[which],
    )


_NOTHING: list[np.ndarray] = [
    np.zeros((0, 3)),
    *(np.zeros(0) for _ in range(4)),
    np.zeros(0, dtype=np.int64),
    np.zeros((0, 3)),
    np.zeros(0),
    np.zeros(0),
    np.zeros(0, dtype=bool),
]


def _merged(sides: list[Side]) -> list[Side]:
    """Sides of one object joined where their points can be, so that each is asked once."""
    out: list[Side] = []
    for key in dict.fromkeys((side.member, side.sign) for side in sides):
        mine = [side for side in sides if (side.member, side.sign) == key]
        if len(mine) == 1:
            out += mine
            continue
        points = mine[0].points.join([side.points for side in mine[1:]])
        out.append(Side(key[0], points, np.concatenate([side.rows for side in mine]), key[1]))
    return out


def rebound(
    rows: Rows,
    system: System,
    before: tuple[Sequence[Any], Float[np.ndarray, " D"]],
    after: tuple[Sequence[Any], Float[np.ndarray, " D"]],
    step: tuple[float, Float[np.ndarray, "3"], float],
) -> Float[np.ndarray, " D"]:
    """Momenta after the bounces of a step.

    Args:
        rows: The contacts of the step, with the normal forces at its end.
        system: All objects.
        before: Motions and rates at the start of the step.
        after: Motions and momenta at its end.
        step: Its length, gravity, and the speed below which nothing bounces.
    """
    (begin, qdot), (end, p), (dt, gravity, slow) = before, after, step
    struck = np.flatnonzero((rows.bounce > 0) & (rows.loads > 0) & (rows.before <= 0))
    if not len(struck):
        return p
    normals = rows.normals[struck]
    speed = np.einsum("ni,nid,d->n", normals, rows.jacobian(begin, system)[struck], qdot)
    fall = normals @ gravity * _on_still(rows, struck)
    # Rates belong to the middle of the step before; the impact is a share of this step later.
    share = np.clip(rows.gaps[struck] / np.maximum(-speed * dt, 1e-300), 0.0, 1.0)
    impact = speed + fall * dt * (share + 0.5)
    if not (impact < -slow).any():
        return p
    wanted = np.where(impact < -slow, -rows.bounce[struck] * impact - 0.5 * dt * fall, 0.0)
    arms = np.einsum("ni,nid->nd", normals, rows.jacobian(end, system)[struck])
    ease = solve_mass(system.mass_matrix(end), np.column_stack([p, arms.T]))
    impulses = _impulses(arms @ ease[:, 1:], wanted - arms @ ease[:, 0], BOUNCE_SWEEPS)
    # Rates lag by half a step, so the work of half a step more is due.
    budget = sum(float(motion.kinetic[0]) for motion in begin) + 1.5 * max(0.0, _work(begin, end, gravity))
    change = arms.T @ impulses
    return p + _affordable(float(p @ ease[:, 0]), change, ease[:, 0], ease[:, 1:] @ impulses, budget) * change


def _work(begin: Sequence[Any], end: Sequence[Any], gravity: Float[np.ndarray, "3"]) -> float:
    """What gravity did in a step."""
    return float(sum(a.field_energy(gravity)[0] - b.field_energy(gravity)[0] for a, b in zip(begin, end, strict=True)))


def _affordable(
    twice: float,
    change: Float[np.ndarray, " D"],
    qdot: Float[np.ndarray, " D"],
    faster: Float[np.ndarray, " D"],
    budget: float,
) -> float:
    """The share of a change of momenta that leaves no more kinetic energy than there was."""
    slope, bend, spare = float(change @ qdot), 0.5 * float(change @ faster), budget - 0.5 * twice
    if slope + bend <= spare or bend <= 0:
        return 1.0
    return float(np.clip((-slope + np.sqrt(max(slope**2 + 4.0 * bend * spare, 0.0))) / (2.0 * bend), 0.0, 1.0))


def _on_still(rows: Rows, chosen: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """1 for rows on something that does not fall, 0 for those on another object."""
    out = np.ones(len(rows))
    for side in rows.sides:
        if side.sign < 0:
            out[side.rows] = 0.0
    return out[chosen]


def _impulses(
    matrix: Float[np.ndarray, "n n"], missing: Float[np.ndarray, " n"], sweeps: int
) -> Float[np.ndarray, " n"]:
    """Impulses x ≥ 0 with matrix · x ≥ missing, and x = 0 where there is more than enough."""
    out = np.zeros(len(missing))
    diagonal = np.maximum(np.diagonal(matrix), 1e-300)
    for _ in range(sweeps):
        largest = 0.0
        for k in range(len(out)):
            change = max(-out[k], (missing[k] - matrix[k] @ out) / diagonal[k])
            out[k] += change
            largest = max(largest, abs(change) * diagonal[k])
        if largest <= 1e-6 * np.abs(missing).max():
            break
    return out


@compiled
def terms(moved, table, hopeful, force, bend):
    """Energy, and whether something that did not slide before does so now, unless all that did not is taken to stick
    (``hopeful``); forces and what curvature needs go into
    ``force`` ``(C, 3)`` and ``bend`` ``(C, 6)``: depth, slope of friction, whether it sticks, direction of its path."""
    energy, torn = 0.0, False
    for c in range(table.shape[0]):
        x, y, z, gap, k, presses, limit = (
            table[c, 0],
            table[c, 1],
            table[c, 2],
            table[c, 3],
            table[c, 4],
            table[c, 5],
            table[c, 6],
        )
        depth = max(-gap - (moved[c, 0] * x + moved[c, 1] * y + moved[c, 2] * z), 0.0) * presses
        u, v, w = moved[c, 0] + table[c, 7], moved[c, 1] + table[c, 8], moved[c, 2] + table[c, 9]
        along = u * x + v * y + w * z
        u, v, w = u - along * x, v - along * y, w - along * z
        square = u * u + v * v + w * w
        length = np.sqrt(square)
        slid, sticks = table[c, 10] > 0.0, k * length <= limit
        if not sticks and not slid and limit > 0.0:
            torn = True
        if hopeful and not slid:
            sticks = True
        if sticks:
            slope = k if limit > 0.0 else 0.0
            energy += 0.5 * slope * square
        else:
            slope = limit / max(length, NOTHING)
            energy += limit * (length - limit / (2.0 * k))
        energy += 0.5 * k * depth**2
        press, scale = k * depth, 1.0 / max(length, NOTHING)
        force[c, 0], force[c, 1], force[c, 2] = slope * u - press * x, slope * v - press * y, slope * w - press * z
        bend[c, 0], bend[c, 1], bend[c, 2] = depth, slope, 1.0 if sticks else 0.0
        bend[c, 3], bend[c, 4], bend[c, 5] = u * scale, v * scale, w * scale
    return energy, torn


@compiled
def add_curvature(flat, spans, table, bend, out):
    """A positive approximation of the curvature of all contacts, added to the upper half of ``out``, from how points
    follow the coordinates ``(3 C, D)``, which of these they follow, and what ``terms`` has found."""
    for c in range(table.shape[0]):
        slope = bend[c, 1]
        if bend[c, 0] <= 0.0 and slope <= 0.0:
            continue
        pressed = (table[c, 4] if bend[c, 0] > 0.0 else 0.0) - slope
        eased = 0.0 if bend[c, 2] > 0.0 else (SLIDING - 1.0) * slope
        for i in range(spans[c, 0], spans[c, 1]):
            a, b, d = flat[3 * c, i], flat[3 * c + 1, i], flat[3 * c + 2, i]
            ahead = pressed * (a * table[c, 0] + b * table[c, 1] + d * table[c, 2])
            aside = eased * (a * bend[c, 3] + b * bend[c, 4] + d * bend[c, 5])
            x = slope * a + ahead * table[c, 0] + aside * bend[c, 3]
            y = slope * b + ahead * table[c, 1] + aside * bend[c, 4]
            z = slope * d + ahead * table[c, 2] + aside * bend[c, 5]
            if x != 0.0 or y != 0.0 or z != 0.0:
                for j in range(i, spans[c, 1]):
                    out[i, j] += x * flat[3 * c, j] + y * flat[3 * c + 1, j] + z * flat[3 * c + 2, j]


@compiled
def find_spans(flat, spans):
    """The first of the coordinates that each contact follows, and the one after the last."""
    dim = flat.shape[1]
    for c in range(spans.shape[0]):
        spans[c, 0], spans[c, 1] = dim, 0
        for k in range(3 * c, 3 * c + 3):
            for i in range(dim):
                if flat[k, i] != 0.0:
                    spans[c, 0], spans[c, 1] = min(spans[c, 0], i), max(spans[c, 1], i + 1)


@compiled
def solve_upper(matrix, right):
    """Solve with a positive matrix of which the upper half is given, both written over (Cholesky); coordinates that
    round-off has left without curvature stand still. Objects that do not touch are blocks, whose zeros are skipped."""
    dim = right.shape[0]
    for k in range(dim):
        pivot = np.sqrt(matrix[k, k]) if matrix[k, k] > 0.0 else np.inf * (1.0 + matrix[k, k] ** 2)
        for j in range(k, dim):
            matrix[k, j] /= pivot
        right[k] /= pivot
        for i in range(k + 1, dim):
            share = matrix[k, i]
            if share == 0.0:
                continue
            right[i] -= share * right[k]
            for j in range(i, dim):
                matrix[i, j] -= share * matrix[k, j]
        matrix[k, k] = pivot
    for k in range(dim - 1, -1, -1):
        for j in range(k + 1, dim):
            right[k] -= matrix[k, j] * right[j]
        right[k] /= matrix[k, k]


@compiled
def settle(matrix, gradient, flat, moved, table, inner, energy, is_torn, force, bend, places, room, change):
    """The change of the coordinates of ``Rows.descent``, added to zeros; ``force``, ``bend`` and the room that is given
    to work in are written over."""
    dim, count = flat.shape[1], flat.shape[0] // 3
    trial, pull, smooth, step, curve = room[0], room[1], room[2], room[3], room[4:]
    value, spans = energy, np.empty((count, 2), dtype=np.int64)
    find_spans(flat, spans)
    for i in range(dim):
        pull[i], smooth[i] = 0.0, gradient[i]
    for c in range(count):
        for k in range(3):
            for i in range(spans[c, 0], spans[c, 1]):
                smooth[i] -= force[c, k] * flat[3 * c + k, i]
    never = count < 0  # as a constant it would be a type of its own, and ``terms`` compiled for each
    if is_torn:
        terms(moved, table, is_torn, force, bend)
    for iteration in range(MAX_NEWTON):
        promise, gain, scale = 0.0, 0.0, 1.0
        for i in range(dim):
            step[i] = smooth[i] + pull[i]
            promise += gradient[i] * change[i]
            for j in range(dim):
                curve[i, j] = matrix[i, j]
        for c in range(count):
            for k in range(3):
                if force[c, k] != 0.0:
                    for i in range(spans[c, 0], spans[c, 1]):
                        step[i] += force[c, k] * flat[3 * c + k, i]
        for i in range(dim):
            trial[i] = step[i]
        add_curvature(flat, spans, table, bend, curve)
        solve_upper(curve, step)
        for i in range(dim):
            gain -= trial[i] * step[i]
        if not -gain > inner * max(abs(promise), NOTHING):
            break
        is_guess, is_lower = is_torn and iteration == 0, False
        for _ in range(MAX_SEARCH):
            for i in range(dim):
                trial[i] = change[i] - scale * step[i]
            for c in range(count):
                for k in range(3):
                    places[c, k] = moved[c, k]
                    for i in range(spans[c, 0], spans[c, 1]):
                        places[c, k] += flat[3 * c + k, i] * trial[i]
            reached = terms(places, table, never, force, bend)[0]
            for i in range(dim):
                pull[i] = 0.0
                for j in range(dim):
                    pull[i] += matrix[i, j] * trial[j]
                reached += (smooth[i] + 0.5 * pull[i]) * trial[i]
            is_lower = is_guess or reached <= value + 1e-4 * scale * gain
            if is_lower:
                break
            scale *= 0.5
        if not is_lower:
            break
        value = reached
        for i in range(dim):
            change[i] = trial[i]
