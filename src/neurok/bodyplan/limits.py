"""From a free range to limits: things rarely use all the room they have, and small clashes rarely stop them."""

from __future__ import annotations

import numpy as np

WIDEST_TURN = np.deg2rad(90.0)
"""Most hinges that meet nothing stop here."""

PLAY = 0.3
"""A way back smaller than this angle [rad] is play, not range."""

SLIDE_SHARE = 0.8
"""Share of its own length that a part slides out."""

BUTTON_SHARE = 0.6
"""Share of its height that a button sinks in."""


def turn_limits(low: float, high: float) -> tuple[float, float]:
    """Limits [rad] from the free angles backward and forward, the larger one forward."""
    back = min(low, WIDEST_TURN)
    return (0.0 - back if back > PLAY else 0.0), min(high, WIDEST_TURN)


def slide_limits(low: float, high: float, length: float, is_button: bool) -> tuple[float, float]:
    """Limits from the free ways backward and forward of a part that is ``length`` long along the slide."""
    if is_button:
        return 0.0, BUTTON_SHARE * length
    usual = SLIDE_SHARE * length
    lower = -min(low, usual) if low > 0.5 * length else 0.0
    return lower, usual if high > 0.1 * length else high
