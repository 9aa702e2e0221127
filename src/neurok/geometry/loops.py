"""How loops are compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code of a function of arrays and numbers, kept in a cache; sums stay in the order that is written."""
    loop = inspect.unwrap(loop)  # what checks types of arguments cannot be compiled
    made: Callable[..., Any] = njit(loop, cache=True, nogil=True, fastmath=False, error_model="numpy")
    return made
