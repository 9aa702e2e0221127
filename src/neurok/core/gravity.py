"""Moved to ``neurok.core.material``."""

from neurok.core.material import STANDARD_GRAVITY as STANDARD_GRAVITY
