"""How far a part gets along each line before it collides or comes loose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.bodyplan.sweep import Mover


@dataclass(frozen=True, eq=False)
class FreeRange:
    """Free range of each line, towards negative and positive values, and what ended it."""

    low: Float[np.ndarray, " C"]
    """Free range backward as a positive number: [rad], or mesh units for slides."""

    high: Float[np.ndarray, " C"]
    is_full: Bool[np.ndarray, " C"]
    """Turns all the way round."""

    early_crossing: Float[np.ndarray, " C"]
    """Share of points that cross within 15 degrees or a seventh of the length, in the better direction."""

    late_crossing: Float[np.ndarray, " C"]
    """The same farther on: at half the length of a slide."""

    attached: Float[np.ndarray, " C"]
    """0 where the longer range ended because the part came loose."""

    reasons: tuple[str, ...]
    """What ended the longer of the two ranges, in a few words; empty when nothing did."""

    obstacle: Int[np.ndarray, " C"]
    """The part that ended it, -1 for none."""

    def of_copy(self, carrier: int, names: tuple[str, ...]) -> FreeRange:
        """The same for a copy of the part that hangs on the same carrier: its neighbours are others."""
        reasons = tuple(
            reason if part in (-1, carrier) else reason.replace(_hits(names[part]), _hits("the rest"), 1)
            for reason, part in zip(self.reasons, self.obstacle.tolist(), strict=True)
        )
        return replace(self, reasons=reasons, obstacle=np.where(self.obstacle == carrier, carrier, -1))


def try_turns(
    mover: Mover, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"], names: tuple[str, ...]
) -> FreeRange:
    """Turn about each line, both ways, up to half a turn."""
    count = len(axes)
    both = np.concatenate([axes, -axes])
    places = mover.normalised(np.concatenate([origins, origins]))
    angles = np.deg2rad(mover.config.first_angles), np.deg2rad(mover.config.later_angles)
    known = len(angles[0])
    values = np.broadcast_to(angles[0], (2 * count, known))
    first = _free_steps(mover, both, places, values, turning=True, window=known)
    free, obstacle, loose = first.free.copy(), first.obstacle.copy(), first.loose.copy()
    alive = np.flatnonzero(first.free == known)
    if len(alive):
        again = np.concatenate([angles[0][-1:], angles[1]])
        values = np.broadcast_to(again, (len(alive), len(again)))
        later = _free_steps(mover, both[alive], places[alive], values, turning=True, window=mover.config.window)
        free[alive], obstacle[alive], loose[alive] = known - 1 + later.free, later.obstacle, later.loose
    reach = np.concatenate([[0.0], *angles])[free]
    steps = known + len(angles[1])
    return _summary(reach, free, steps, first.crossing, obstacle, loose, names, turning=True)


def try_slides(
    mover: Mover, axes: Float[np.ndarray, "D 3"], lengths: Float[np.ndarray, " D"], names: tuple[str, ...]
) -> FreeRange:
    """Slide along each direction, both ways, as far as the part is long."""
    both = np.concatenate([axes, -axes])
    reach = np.concatenate([lengths, lengths])
    steps = mover.config.slide_steps
    values = reach[:, None] * np.linspace(1.0 / steps, 1.0, steps) / mover.size
    found = _free_steps(mover, both, np.zeros_like(both), values, turning=False, window=steps // 2)
    way = np.take_along_axis(np.concatenate([np.zeros((len(both), 1)), values], axis=1), found.free[:, None], 1)[:, 0]
    return _summary(
        way * mover.size,
        found.free,
        steps,
        found.crossing,
        found.obstacle,
        found.loose,
        names,
        turning=False,
    )


@dataclass(frozen=True, eq=False)
class _FreeSteps:
    free: np.ndarray
    """Number of steps that are free."""

    crossing: np.ndarray
    """Share of points that have crossed after the early step and after half of them, if the window reaches them."""

    obstacle: np.ndarray
    """The part that stopped it, -1 for none."""

    loose: np.ndarray
    """Whether it stopped by coming loose."""


def _free_steps(
    mover: Mover, axes: np.ndarray, origins: np.ndarray, values: np.ndarray, turning: bool, window: int
) -> _FreeSteps:
    steps = values.shape[1]
    loosened = mover.is_detached(axes, origins, values, turning)
    until = np.where(loosened.any(axis=1), loosened.argmax(axis=1), steps)
    crossings = mover.sweep(axes, origins, values, turning, until + 1, mover.config.collides, window)
    crossing = np.maximum(crossings.own, crossings.other)
    stopped = crossing > mover.config.collides
    free = np.where(stopped.any(axis=1), stopped.argmax(axis=1), steps)
    obstacle = np.where(
        free < steps, np.take_along_axis(crossings.obstacle, np.minimum(free, steps - 1)[:, None], 1)[:, 0], -1
    )
    loose = until < free
    early = min(mover.config.early_step, steps) - 1
    return _FreeSteps(np.minimum(free, until), crossing[:, [early, max(early, steps // 2 - 1)]], obstacle, loose)


def _summary(
    reach: np.ndarray, free: np.ndarray, steps: int, crossing: np.ndarray, obstacle: np.ndarray, loose: np.ndarray,
    names: tuple[str, ...], turning: bool,
) -> FreeRange:  # fmt: skip
    count = len(reach) // 2
    high, low = reach[:count], reach[count:]
    better = np.where(high >= low, np.arange(count), np.arange(count) + count)
    full = turning & (free[:count] == steps) & (free[count:] == steps)
    reasons = []
    for row in better:
        after = f"{np.rad2deg(reach[row]):.0f} deg" if turning else f"{reach[row]:.3g}"
        if free[row] == steps:
            reasons.append("")
        elif loose[row]:
            reasons.append(f"comes loose after {after}")
        else:
            what = names[obstacle[row]] if obstacle[row] >= 0 else "the rest"
            reasons.append(f"{_hits(what)} after {after}")
    attached = 1.0 - loose[better].astype(np.float64)
    least = np.minimum(crossing[:count], crossing[count:])
    collided = np.where((free < steps) & ~loose, obstacle, -1)[better]
    return FreeRange(low, high, np.asarray(full), least[:, 0], least[:, 1], attached, tuple(reasons), collided)


def _hits(what: str) -> str:
    return f"collides with {what}"
