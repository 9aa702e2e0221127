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

from neurok.dynamics.reduced.system import System, solve_mass, solve_positive
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

    def __post_init__(self) -> None:
        count = len(self.points.radii)
        self.slips, self.loads = np.zeros((count, 3)), np.zeros(count)
        self.marks, self.slid = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=bool)
        self.known = np.zeros(0, dtype=np.int64)

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

    hopeful: bool = False
    """Whether all that may stick is taken to stick, however far it is stretched: a first guess."""

    is_torn: bool = False
    """Whether something that did not slide before was found to slide when last evaluated."""

    moved: Float[np.ndarray, "C 3"] = field(init=False)
    """How far the points had moved where the energy was last evaluated ..."""

    _last: tuple[float, Float[np.ndarray, " C3"], Float[np.ndarray, "C 6"]] = field(init=False)
    """... and this energy, its forces, and what curvature needs."""

    @staticmethod
    def of(found: list[Found], motions: Sequence[Any]) -> Rows:
        """Rows of what was found, at the start of a step."""
        blocks, sides, count = [], [], 0
        for entry in found:
            touch, which = entry.touch, entry.which
            size, is_ball = len(which), entry.soles is not None
            rows = np.arange(count, count + size)
            blocks.append(_block(entry, rows, presses=True, rubs=not is_ball))
            sides.append(Side(touch.points.owner, touch.points.points.take(which), rows, 1.0))
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
        """How far the points have moved against the solids, and how deep they are."""
        moved = self._places(motions) - self.start
        return moved, np.maximum(-self.gaps - (moved * self.normals).sum(axis=1), 0.0) * self.presses

    def _stretch(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offset = moved + self.slips
        offset = offset - self.normals * (offset * self.normals).sum(axis=1, keepdims=True)
        return offset, np.sqrt((offset**2).sum(axis=1))

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        """In the order that ``terms`` takes them."""
        return (
            self.normals,
            self.gaps,
            self.stiffness,
            self.presses,
            self.friction,
            self.loads,
            self.pressed,
            self.slips,
            self.slid,
        )

    def _terms(self, moved: Float[np.ndarray, "C 3"]) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, forces ``(3 C,)``, and what curvature needs, after points have moved so far."""
        force, bend = np.empty(moved.shape), np.empty((len(moved), 6))
        energy, self.is_torn = terms(moved, *self._columns, self.hopeful, force, bend)
        return energy, force.reshape(-1), bend

    def evaluate(self, motions: Sequence[Any], system: System) -> tuple[float, np.ndarray]:
        """Energy and its gradient in all coordinates."""
        gradient, self.moved = np.zeros(system.dim), self._places(motions) - self.start
        self._last = energy, force, _ = self._terms(self.moved)
        if energy > 0.0:
            for side in self.sides:
                mine, where = force.reshape(1, -1, 3)[:, side.rows], system.members[side.member].where
                gradient[where] += side.sign * side.points.pull(motions[side.member], mine)[0]
        return energy, gradient

    def curvature(
        self, jacobian: Float[np.ndarray, "C 3 D"], bend: Float[np.ndarray, "C 6"] | None = None
    ) -> Float[np.ndarray, "D D"]:
        """A positive approximation of the curvature, where the energy was last evaluated unless told otherwise."""
        bend = self._last[2] if bend is None else bend
        active = np.flatnonzero((bend[:, 0] > 0.0) | (bend[:, 1] > 0.0))
        (depth, slope, sticks), paths, normals = (
            bend[active, :3].T,
            bend[active, 3:, None],
            self.normals[active][..., None],
        )
        pressed = np.where(depth > 0.0, self.stiffness[active], 0.0) - slope
        eased = np.where(sticks > 0.0, 0.0, (SLIDING - 1.0) * slope)
        blocks = pressed[:, None, None] * normals * normals.swapaxes(1, 2)
        blocks += eased[:, None, None] * paths * paths.swapaxes(1, 2)
        blocks += slope[:, None, None] * np.eye(3)
        slopes, dim = jacobian[active], jacobian.shape[2]
        return slopes.reshape(-1, dim).T @ (blocks @ slopes).reshape(-1, dim)

    def descent(
        self,
        matrix: Float[np.ndarray, "D D"],
        gradient: Float[np.ndarray, " D"],
        jacobian: Float[np.ndarray, "C 3 D"],
    ) -> Float[np.ndarray, " D"]:
        """The change of all coordinates that minimises the contact of points that move straight, and the rest squared,
        from where the energy was last evaluated.

        Which points touch, stick and slide is settled here, on small matrices, without asking for poses anew.

        Args:
            matrix: Curvature of all but the contact.
            gradient: Of everything, contact included.
            jacobian: How points follow the coordinates.
        """
        flat, (energy, force, bend) = jacobian.reshape(-1, len(gradient)), self._last
        smooth, change = gradient - force @ flat, np.zeros(len(gradient))
        for _ in range(MAX_NEWTON):
            pull = matrix @ change
            slope, value = smooth + pull + force @ flat, float((smooth + 0.5 * pull) @ change) + energy
            step = solve_positive(matrix + self.curvature(jacobian, bend), slope)
            gain, scale = -float(slope @ step), 1.0
            if not -gain > INNER * max(abs(float(gradient @ change)), NOTHING):
                break
            for _ in range(MAX_SEARCH):
                trial = change - scale * step
                energy, force, bend = self._terms(self.moved + (flat @ trial).reshape(-1, 3))
                if float((smooth + 0.5 * (matrix @ trial)) @ trial) + energy <= value + 1e-4 * scale * gain:
                    break
                scale *= 0.5
            else:
                break
            change = trial
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
def terms(moved, normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid, hopeful, force, bend):
    """Energy, and whether something that did not slide before does so now; forces and what curvature needs go into
    ``force`` ``(C, 3)`` and ``bend`` ``(C, 6)``: depth, slope of friction, whether it sticks, direction of its path."""
    energy, torn = 0.0, False
    offset = np.empty(3)
    for c in range(gaps.shape[0]):
        k = stiffness[c]
        fall, along = 0.0, 0.0
        for i in range(3):
            fall += moved[c, i] * normals[c, i]
            offset[i] = moved[c, i] + slips[c, i]
            along += offset[i] * normals[c, i]
        depth = max(-gaps[c] - fall, 0.0) * presses[c]
        limit = friction[c] * loads[pressed[c]]
        square = 0.0
        for i in range(3):
            offset[i] -= along * normals[c, i]
            square += offset[i] ** 2
        length = np.sqrt(square)
        sticks = k * length <= limit
        if not sticks and not slid[c] and limit > 0.0:
            torn = True
        if hopeful and not slid[c]:
            sticks = True
        if sticks:
            slope = k if limit > 0.0 else 0.0
            energy += 0.5 * slope * square
        else:
            slope = limit / max(length, NOTHING)
            energy += limit * (length - limit / (2.0 * k))
        energy += 0.5 * k * depth**2
        bend[c, 0], bend[c, 1], bend[c, 2] = depth, slope, 1.0 if sticks else 0.0
        for i in range(3):
            force[c, i] = -k * depth * normals[c, i] + slope * offset[i]
            bend[c, 3 + i] = offset[i] / max(length, NOTHING)
    return energy, torn
