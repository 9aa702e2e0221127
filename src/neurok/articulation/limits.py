"""From a free range to limits: things rarely use all the room they have."""

from __future__ import annotations

import numpy as np

LIMITED_TURN = np.deg2rad(120.0)
BUTTON_TRAVEL = 0.4
"""Share of a button's height that it sinks in."""


def turn_limits(low: float, high: float) -> tuple[float, float]:
    """Limits [rad] from the free angles backward and forward."""
    return 0.0 - min(low, LIMITED_TURN), min(high, LIMITED_TURN)


def slide_limits(low: float, high: float, length: float, is_button: bool, size: float) -> tuple[float, float]:
    """Limits from the free ways backward and forward of a part that is ``length`` long along the slide."""
    if is_button:
        return 0.0, min(BUTTON_TRAVEL * length, 0.02 * size)
    return 0.0 - min(low, 0.8 * length), min(high, 0.8 * length)
