"""How the nouns take arrays in: converted once, checked for shape, then frozen."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from neurok.errors import ShapeError

LARGEST = 1e12
"""Largest coordinate, in any unit: its cube, a volume, still fits in single precision."""


def within_reach(array: np.ndarray) -> np.ndarray:
    """Which numbers can be computed with: neither NaN nor infinite nor beyond ``LARGEST``."""
    with np.errstate(invalid="ignore"):
        return cast(np.ndarray, np.abs(array) <= LARGEST)


def frozen_array(value: npt.ArrayLike, dtype: Any, shape: tuple[int | None, ...], name: str) -> np.ndarray:
    """``value`` as a read-only array of ``dtype``; ``None`` in ``shape`` leaves that length free.

    Floating input keeps its precision when ``dtype`` is ``np.floating``.
    """
    try:
        array = np.asarray(value)
        if dtype is np.floating:
            dtype = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
        array = np.ascontiguousarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} must be an array of numbers, but numpy said: {error}.") from error
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ShapeError(f"{name} must have shape ({wanted}), but has {array.shape}.")
    view = array.view()
    view.flags.writeable = False
    return view
