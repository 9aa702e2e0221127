"""How loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code of a function of arrays and numbers, kept in a cache; sums stay in the order that is written."""
    made: Callable[..., Any] = njit(loop, cache=True, nogil=True, fastmath=False, error_model="numpy")
    return made


def is_cached(loop: Any) -> bool:
    """Whether a loop was compiled before, here or in another process, so that its first call takes no time."""
    folder = Path(loop.stats.cache_path)
    return any(folder.glob(f"*{loop.__name__}-*.nbi"))
