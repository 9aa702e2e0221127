"""Whether a joint can be driven as its limits say: every joint that is written has been swept by this.

A joint is feasible if its part moves freely over its range, at least one way, against all other bodies (what overlaps
at rest is discounted), stays with its carrier, and goes far enough to be worth a joint. Where both ways are free it
opens to the side that can be seen: a door swings out of its cabinet, a drawer comes out at the front.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from neurok.bodyplan.contacts import SMALL_PART, ContactGraph, subtree
from neurok.bodyplan.hypothesis import BUTTON_DIRECTION, Hypothesis, clip_limits
from neurok.bodyplan.sweep import COLLIDES, Mover
from neurok.core import Mesh
from neurok.core.mesh import AXIS_INDEX

LEAST_RANGE_TURN = math.radians(5.0)  # A turn of less is not worth a joint [rad]: below what a hand notices as a hinge.
LEAST_RANGE_SLIDE = 0.02  # The same for a slide [share of the object].
SWEEP_STEPS = 24  # Values between rest and the end of a range, each way: 4 degrees of a right angle.
# One side is the seen one if so much more of the part sees nothing ahead there: the true one for 68 of 72 joints of
# training objects about which it says anything.
SEEN = 0.3
FREER = 0.6  # A side on which less than this share of the other's range is free is not the one that opens. By eye.
NEARLY = 0.9  # Steps of a sweep and of contact are coarser than ranges: so much of the least range is enough.


@dataclass(eq=False)
class Feasibility:
    """The bodies of one object, ready to have joints tried on them."""

    mesh: Mesh
    contacts: ContactGraph
    parents: tuple[int, ...]
    _movers: dict[tuple[int, tuple[int, ...]], Mover] = field(default_factory=dict)

    @property
    def up(self) -> int:
        """Number of the axis of the mesh that points up."""
        return AXIS_INDEX[self.mesh.up]

    def check(self, line: Hypothesis, absent: tuple[int, ...] = ()) -> Hypothesis:
        """The same joint with limits that were swept, or with a reason why it cannot be driven.

        Bodies that are ``absent`` are out of the way, as an open door is for the rack behind it.
        """
        if line.kind == "fixed" or line.parent < 0 or self.contacts.samples[line.part] is None:
            return line
        if self._is_button(line):
            return clip_limits(line, self.contacts, self.parents)
        swept = self._swept(line, absent)
        if swept.reason:
            return swept
        held = clip_limits(swept, self.contacts, self.parents)
        if held.kind != "continuous" and held.upper - held.lower < NEARLY * self._least(held):
            return replace(held, reason="comes loose at once")
        return held

    def _swept(self, line: Hypothesis, absent: tuple[int, ...]) -> Hypothesis:
        """The joint with limits within its free range, on the side where it opens."""
        turning, least = line.kind != "prismatic", self._least(line)
        low, high = (-math.pi, math.pi) if line.kind == "continuous" else (min(line.lower, 0.0), max(line.upper, 0.0))
        length = min(max(high - low, least), math.pi) if turning else max(high - low, least)
        back, forth, obstacle = self._free_range(line, length, turning, absent)
        if max(back, forth) < least:
            return replace(line, reason=f"collides with {obstacle} at once")
        if line.kind == "continuous" and min(back, forth) >= math.pi - 1e-6:
            return line
        kind = "revolute" if line.kind == "continuous" else line.kind
        side = self._side(line, back, forth, turning, absent)
        if side == 0:
            lower, upper = -min(back, -low), min(forth, high)
            upper = min(forth, lower + least) if upper - lower < least else upper
        else:
            lower, upper = (-min(length, back), 0.0) if side < 0 else (0.0, min(length, forth))
        return replace(line, kind=kind, lower=lower, upper=upper)

    def _side(self, line: Hypothesis, back: float, forth: float, turning: bool, absent: tuple[int, ...]) -> int:
        """Which way it opens: 1 forward, -1 backward, 0 where nothing speaks against what the limits say."""
        if min(back, forth) < max(self._least(line), FREER * max(back, forth)):
            return 1 if forth >= back else -1
        mover = self._mover(line.part, absent)
        seen = mover.openness(line.axis[None], mover.normalised(line.origin)[None], turning)[0]
        return int(np.sign(seen[0] - seen[1])) if abs(seen[0] - seen[1]) > SEEN else 0

    def _free_range(
        self, line: Hypothesis, length: float, turning: bool, absent: tuple[int, ...]
    ) -> tuple[float, float, str]:
        """How far it moves backward and forward before it collides, and with what [rad, or mesh units]."""
        mover = self._mover(line.part, absent)
        steps = np.linspace(1.0 / SWEEP_STEPS, 1.0, SWEEP_STEPS) * (length if turning else length / mover.size)
        axes, origins = np.stack([-line.axis, line.axis]), np.tile(mover.normalised(line.origin), (2, 1))
        needed = np.full(2, SWEEP_STEPS)
        found = mover.sweep(axes, origins, np.tile(steps, (2, 1)), turning, needed, COLLIDES, SWEEP_STEPS)
        stopped = np.maximum(found.own, found.other) > COLLIDES
        free = np.where(stopped.any(axis=1), stopped.argmax(axis=1), SWEEP_STEPS)
        better = int(free.argmax())
        hit = int(found.obstacle[better, min(int(free[better]), SWEEP_STEPS - 1)])
        back, forth = (length * int(some) / SWEEP_STEPS for some in free)
        return back, forth, self.mesh.part_names[hit] if hit >= 0 else "the rest"

    def _least(self, line: Hypothesis) -> float:
        """The shortest range that is worth a joint [rad, or mesh units]."""
        return LEAST_RANGE_SLIDE * self.contacts.size if line.kind == "prismatic" else LEAST_RANGE_TURN

    def _is_button(self, line: Hypothesis) -> bool:
        """Whether a small part is pressed into what carries it, by no more than it is high: its socket is not modelled,
        and the sweep has nothing to say."""
        samples = self.contacts.samples[line.part]
        if line.kind != "prismatic" or samples is None or samples.box.size > SMALL_PART * self.contacts.size:
            return False
        pairs = [pair for pair in self.contacts.of(line.part) if pair.other(line.part) == line.parent]
        along = max((abs(float(pair.normal @ line.axis)) for pair in pairs), default=0.0)
        height = 2.0 * float(np.abs(samples.box.axes @ line.axis) @ samples.box.half)
        return along > BUTTON_DIRECTION and line.upper - line.lower <= height

    def _mover(self, part: int, absent: tuple[int, ...]) -> Mover:
        group = subtree(self.parents, part)
        away = tuple(sorted({other for one in absent for other in subtree(self.parents, one)} - set(group)))
        if (part, away) not in self._movers:
            self._movers[part, away] = Mover(self.mesh, self.contacts, group, away)
        return self._movers[part, away]
