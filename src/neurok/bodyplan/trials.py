"""How far a part gets along each line before it collides or comes loose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.bodyplan.sweep import Mover

COLLIDES = 0.07
"""Share of points that must cross before it counts: files are not exact, and small clashes are common."""

FIRST_ANGLES = np.deg2rad([5.0, 10.0, 15.0])
LATER_ANGLES = np.deg2rad([20.0, 30.0, 40.0, 50.0, 60.0, 75.0, 90.0, 105.0, 120.0, 135.0, 150.0, 165.0, 180.0])
WINDOW = 4
"""Later angles are tried so many at a time: most lines have met something by then."""

SLIDE_STEPS = np.linspace(0.05, 1.0, 20)
"""Shares of the part's own length along the slide."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Free range of each line, towards negative and positive values, and what ended it."""

    low: Float[np.ndarray, " C"]
    """Free range backward as a positive number: [rad], or mesh units for slides."""

    high: Float[np.ndarray, " C"]
    full: Bool[np.ndarray, " C"]
    """Turns all the way round."""

    early: Float[np.ndarray, " C"]
    """Share of points that cross within 15 degrees or a seventh of the length, in the better direction."""

    clash: Float[np.ndarray, " C"]
    """The same farther on: at half the length of a slide."""

    kept: Float[np.ndarray, " C"]
    """0 where the longer range ended because the part came loose."""

    reasons: tuple[str, ...]
    """What ended the longer of the two ranges, in a few words; empty when nothing did."""

    met: Int[np.ndarray, " C"]
    """The part that ended it, -1 for none."""

    def of_copy(self, carrier: int, names: tuple[str, ...]) -> Trial:
        """The same for a copy of the part that hangs on the same carrier: its neighbours are others."""
        reasons = tuple(
            reason if part in (-1, carrier) else reason.replace(_hits(names[part]), _hits("the rest"), 1)
            for reason, part in zip(self.reasons, self.met.tolist(), strict=True)
        )
        return replace(self, reasons=reasons, met=np.where(self.met == carrier, carrier, -1))


def try_turns(
    mover: Mover, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"], names: tuple[str, ...]
) -> Trial:
    """Turn about each line, both ways, up to half a turn."""
    count = len(axes)
    both = np.concatenate([axes, -axes])
    inside = mover.inside(np.concatenate([origins, origins]))
    first = _march(mover, both, inside, np.broadcast_to(FIRST_ANGLES, (2 * count, 3)), turning=True, window=3)
    free, met, loose = first.free.copy(), first.met.copy(), first.loose.copy()
    alive = np.flatnonzero(first.free == 3)
    if len(alive):
        angles = np.concatenate([FIRST_ANGLES[-1:], LATER_ANGLES])
        values = np.broadcast_to(angles, (len(alive), len(angles)))
        later = _march(mover, both[alive], inside[alive], values, turning=True, window=WINDOW)
        free[alive], met[alive], loose[alive] = 2 + later.free, later.met, later.loose
    reach = np.concatenate([[0.0], FIRST_ANGLES, LATER_ANGLES])[free]
    steps = len(FIRST_ANGLES) + len(LATER_ANGLES)
    return _summary(reach, free, steps, first.crossing, met, loose, names, turning=True)


def try_slides(
    mover: Mover, axes: Float[np.ndarray, "D 3"], lengths: Float[np.ndarray, " D"], names: tuple[str, ...]
) -> Trial:
    """Slide along each direction, both ways, as far as the part is long."""
    both = np.concatenate([axes, -axes])
    reach = np.concatenate([lengths, lengths])
    values = reach[:, None] * SLIDE_STEPS / mover.size
    march = _march(mover, both, np.zeros_like(both), values, turning=False, window=len(SLIDE_STEPS) // 2)
    way = np.take_along_axis(np.concatenate([np.zeros((len(both), 1)), values], axis=1), march.free[:, None], 1)[:, 0]
    return _summary(
        way * mover.size, march.free, len(SLIDE_STEPS), march.crossing, march.met, march.loose, names, turning=False
    )


@dataclass(frozen=True, eq=False)
class _March:
    free: np.ndarray
    """Number of steps that are free."""

    crossing: np.ndarray
    """Share of points that have crossed after the third step and after half of them, if the window reaches them."""

    met: np.ndarray
    """The part that stopped it, -1 for none."""

    loose: np.ndarray
    """Whether it stopped by coming loose."""


def _march(
    mover: Mover, axes: np.ndarray, origins: np.ndarray, values: np.ndarray, turning: bool, window: int
) -> _March:
    steps = values.shape[1]
    loosened = mover.is_loose(axes, origins, values, turning)
    until = np.where(loosened.any(axis=1), loosened.argmax(axis=1), steps)
    passage = mover.sweep(axes, origins, values, turning, until + 1, COLLIDES, window)
    crossing = np.maximum(passage.own, passage.other)
    stopped = crossing > COLLIDES
    free = np.where(stopped.any(axis=1), stopped.argmax(axis=1), steps)
    met = np.where(free < steps, np.take_along_axis(passage.hit, np.minimum(free, steps - 1)[:, None], 1)[:, 0], -1)
    loose = until < free
    return _March(np.minimum(free, until), crossing[:, [2, max(2, steps // 2 - 1)]], met, loose)


def _summary(
    reach: np.ndarray, free: np.ndarray, steps: int, crossing: np.ndarray, met: np.ndarray, loose: np.ndarray,
    names: tuple[str, ...], turning: bool,
) -> Trial:  # fmt: skip
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
            what = names[met[row]] if met[row] >= 0 else "the rest"
            reasons.append(f"{_hits(what)} after {after}")
    kept = 1.0 - loose[better].astype(np.float64)
    least = np.minimum(crossing[:count], crossing[count:])
    collided = np.where((free < steps) & ~loose, met, -1)[better]
    return Trial(low, high, np.asarray(full), least[:, 0], least[:, 1], kept, tuple(reasons), collided)


def _hits(what: str) -> str:
    return f"collides with {what}"
