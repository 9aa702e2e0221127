"""Contact and Coulomb friction as an incremental potential.

At the start of a step each point that may touch gets a plane that stands for the solid until the step ends; a point
below its plane pays ½ k depth². Friction is a spring that yields at the friction coefficient times the normal force
(taken from the last pass, so that the potential stays convex); what it is stretched by is kept from step to step.
Sticking contacts therefore hold still: nothing creeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.compiled import contact as loops
from neurok.compiled.steps import Touching
from neurok.dynamics.reduced.config import ImplicitConfig
from neurok.dynamics.reduced.shapes import PointSet
from neurok.dynamics.reduced.system import System


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

    moved: Float[np.ndarray, "C 3"] | None = field(default=None, init=False)
    """How far points have moved, where a compiled step says so."""

    _features: tuple[np.ndarray, np.ndarray] | None = field(default=None, init=False)
    _force: Float[np.ndarray, "C 3"] = field(init=False)
    _bend: Float[np.ndarray, "C 6"] = field(init=False)
    """Where the energy was last evaluated: its derivatives by the places of the points, and what curvature needs."""

    def __post_init__(self) -> None:
        self._force, self._bend = np.zeros((len(self), 3)), np.zeros((len(self), 6))

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
        moved = self._places(motions) - self.start if self.moved is None else self.moved
        return moved, np.maximum(-self.gaps - (moved * self.normals).sum(axis=1), 0.0) * self.presses

    def _stretch(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offset = moved + self.slips
        offset = offset - self.normals * (offset * self.normals).sum(axis=1, keepdims=True)
        return offset, np.sqrt((offset**2).sum(axis=1))

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        """In the order of the compiled loops."""
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

    def packed(self, widths: Sequence[int]) -> Touching:
        """As compiled steps take it, given the number of features of each object."""
        if self._features is None:
            if len(self.sides) == 1 and len(widths) == 1:
                self._features = np.ones(1, dtype=np.int64), np.ascontiguousarray(self.sides[0].points.rows).reshape(-1)
            else:
                self._features = self._packed_sides(widths)
        return Touching(*self._features, self.start, *self._columns)

    def _packed_sides(self, widths: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Which objects touch, and the features of their points."""
        touched, blocks = np.zeros(len(widths), dtype=np.int64), []
        for member, width in enumerate(widths):
            mine = [side for side in self.sides if side.member == member]
            if mine:
                block, touched[member] = np.zeros((len(self), width)), 1
                for side in mine:
                    block[side.rows] += side.sign * side.points.rows
                blocks.append(block.reshape(-1))
        return touched, np.concatenate(blocks) if blocks else np.zeros(0)

    def evaluate(self, motions: Sequence[Any], system: System) -> tuple[float, np.ndarray]:
        """Energy and its gradient in all coordinates."""
        gradient = np.zeros(system.dim)
        moved = self._places(motions) - self.start
        energy, self.is_torn = loops.terms(moved, *self._columns, self.hopeful, self._force, self._bend)
        if energy > 0.0:
            for side in self.sides:
                where, force = system.members[side.member].where, self._force[None, side.rows]
                gradient[where] += side.sign * side.points.pull(motions[side.member], force)[0]
        return energy, gradient

    def add_curvature(self, matrix: Float[np.ndarray, "D D"], motions: Sequence[Any], system: System) -> None:
        """Add a positive approximation of the curvature where the energy was last evaluated."""
        loops.add_curvature(matrix, self.jacobian(motions, system), self.normals, self.stiffness, self._bend)

    def descent(
        self, matrix: np.ndarray, gradient: np.ndarray, motions: Sequence[Any], system: System, config: ImplicitConfig
    ) -> Float[np.ndarray, " D"]:
        """The change of all coordinates that minimises the contact of points that move straight, and the rest squared.

        Which points touch, stick and slide is settled here, on small matrices, without asking for poses anew.

        Args:
            matrix: Curvature of all but the contact.
            gradient: Of everything, contact included.
            motions: Where it is taken.
            system: The bodies.
            config: When it is good enough.
        """
        moved, jacobian = self._places(motions) - self.start, self.jacobian(motions, system)
        limits = config.inner, config.max_newton, config.max_search
        return loops.descent(matrix, gradient, jacobian, moved, *self._columns, *limits)

    def jacobian(
        self, motions: Sequence[Any], system: System, active: Int[np.ndarray, " n"] | None = None
    ) -> Float[np.ndarray, "n 3 D"]:
        """How the points, or some of them, move against what they touch."""
        if active is not None:
            return self.jacobian(motions, system)[active]
        if len(self.sides) == 1 and len(system.members) == 1:
            return np.ascontiguousarray(self.sides[0].points.jacobian(motions[0]))
        out = np.zeros((len(self), 3, system.dim))
        for side in self.sides:
            slopes = side.sign * side.points.jacobian(motions[side.member])
            out[side.rows, :, system.members[side.member].where] += slopes
        return out

    def measure(self, motions: Sequence[Any], same: float) -> tuple[float, bool]:
        """Bring the normal forces up to date; the largest depth, and whether friction has to be found again."""
        depths = self._depths(motions)[1]
        loads = self.stiffness * depths
        change = (np.abs(loads - self.loads)[self.pressed] * (self.friction > 0)).max(initial=0.0)
        self.loads = loads
        return float(depths.max(initial=0.0)), bool(change > same * loads.max(initial=0.0))

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
