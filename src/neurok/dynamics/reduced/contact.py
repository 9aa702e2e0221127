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

from neurok.dynamics.reduced.config import ImplicitConfig
from neurok.dynamics.reduced.shapes import PointSet
from neurok.dynamics.reduced.system import System, solve_positive


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

    touches: bool = field(default=False, init=False)
    """Whether some point touches."""

    def __post_init__(self) -> None:
        self.forget(len(self.points.radii))

    def forget(self, count: int) -> None:
        """No point touches."""
        self.touches = False
        self.slips, self.loads = np.zeros((count, 3)), np.zeros(count)
        self.marks, self.slid = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=bool)


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

    _bend: tuple[Any, ...] | None = None

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

    def _terms(self, moved: Float[np.ndarray, "C 3"]) -> tuple[float, np.ndarray, tuple[np.ndarray, ...]] | None:
        """Energy, its derivatives by the places of the points, and what its curvature needs; ``None`` if none."""
        depth = np.maximum(-self.gaps - (moved * self.normals).sum(axis=1), 0.0) * self.presses
        limit = self.friction * self.loads[self.pressed]
        if not (depth.any() or limit.any()):
            return None
        offset, length = self._stretch(moved)
        k = self.stiffness
        sticks = k * length <= limit
        self.is_torn = bool((~sticks & ~self.slid & (limit > 0)).any())
        if self.hopeful:
            sticks = sticks | ~self.slid
        slope = np.where(sticks, np.where(limit > 0, k, 0.0), limit / np.maximum(length, 1e-300))
        held = np.where(sticks, 0.5 * slope * length**2, limit * (length - limit / (2.0 * k)))
        force = -(k * depth)[:, None] * self.normals + slope[:, None] * offset
        bend = (depth, slope, sticks, offset / np.maximum(length, 1e-300)[:, None])
        return float((0.5 * k * depth**2 + held).sum()), force, bend

    def evaluate(self, motions: Sequence[Any], system: System) -> tuple[float, np.ndarray]:
        """Energy and its gradient in all coordinates."""
        gradient = np.zeros(system.dim)
        found = self._terms(self._places(motions) - self.start)
        self._bend = None if found is None else found[2]
        if found is None:
            return 0.0, gradient
        energy, force, _ = found
        for side in self.sides:
            where = system.members[side.member].where
            gradient[where] += side.sign * side.points.pull(motions[side.member], force[None, side.rows])[0]
        return energy, gradient

    def add_curvature(self, matrix: Float[np.ndarray, "D D"], motions: Sequence[Any], system: System) -> None:
        """Add a positive approximation of the curvature where the energy was last evaluated."""
        if self._bend is not None:
            active = np.flatnonzero((self._bend[0] > 0) | (self._bend[1] > 0))
            self._bent(matrix, self.jacobian(motions, system, active), self._bend, active)

    def _bent(
        self, matrix: np.ndarray, jacobian: Float[np.ndarray, "n 3 D"], bend: tuple[np.ndarray, ...], active: np.ndarray
    ) -> None:
        """Add the curvature of some rows, given how they move."""
        depth, slope, sticks, path = bend
        slope, sticks = slope[active], sticks[active]
        flat = jacobian.reshape(-1, len(matrix))
        matrix += flat.T @ (np.repeat(slope, 3)[:, None] * flat)
        # What slides gives way along its path, where friction is the same however far it goes; a tenth is kept, or
        # steps would overshoot what comes to a stop.
        pressed = np.where(depth[active] > 0, self.stiffness[active], 0.0) - slope
        for extra, direction in ((pressed, self.normals[active]), (np.where(sticks, 0, -0.9 * slope), path[active])):
            if extra.any():
                rows = (jacobian * direction[:, :, None]).sum(axis=1)
                matrix += rows.T @ (extra[:, None] * rows)

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
        moved = self._places(motions) - self.start
        found = self._terms(moved)
        jacobian = self.jacobian(motions, system, np.arange(len(self)))
        flat = jacobian.reshape(-1, len(matrix))
        smooth = gradient if found is None else gradient - found[1].reshape(-1) @ flat
        change, energy, force = np.zeros(len(matrix)), 0.0, np.zeros(len(flat))
        bend: tuple[np.ndarray, ...] | None = None
        if found is not None:
            energy, force, bend = found[0], found[1].reshape(-1), found[2]
        for _ in range(config.max_newton):
            pull = matrix @ change
            slope, value = smooth + pull + force @ flat, smooth @ change + 0.5 * change @ pull + energy
            whole = matrix.copy()
            if bend is not None:
                active = np.flatnonzero((bend[0] > 0) | (bend[1] > 0))
                self._bent(whole, jacobian[active], bend, active)
            step = -solve_positive(whole, slope)
            gain, scale = float(slope @ step), 1.0
            if not -gain > config.inner * max(abs(float(gradient @ change)), 1e-300):
                break
            for _ in range(config.max_search):
                trial = change + scale * step
                found = self._terms(moved + (flat @ trial).reshape(-1, 3))
                level = smooth @ trial + 0.5 * trial @ matrix @ trial + (0.0 if found is None else found[0])
                if level <= value + 1e-4 * scale * gain:
                    break
                scale *= 0.5
            else:
                break
            change = trial
            energy, force, bend = (
                (0.0, np.zeros(len(flat)), None) if found is None else (found[0], found[1].reshape(-1), found[2])
            )
        return change

    def jacobian(
        self, motions: Sequence[Any], system: System, active: Int[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n 3 D"]:
        """How some points move against what they touch."""
        out = np.zeros((len(active), 3, system.dim))
        place = np.full(len(self), -1)
        place[active] = np.arange(len(active))
        for side in self.sides:
            mine = np.flatnonzero(place[side.rows] >= 0)
            if len(mine):
                points = side.points if len(mine) == len(side.rows) else side.points.take(mine)
                slopes = side.sign * points.jacobian(motions[side.member])
                out[place[side.rows[mine]], :, system.members[side.member].where] += slopes
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
            if touch.touches:
                touch.forget(len(touch.marks))
            rows = np.arange(first, first + size)
            touch.loads[entry.which], touch.marks[entry.which] = self.loads[rows], entry.marks
            touch.touches = True
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
