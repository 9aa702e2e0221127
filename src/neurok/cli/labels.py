"""Label files: a number for each face or vertex."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read_labels(path: Path | None) -> Any:
    """The array of an .npy file; nothing if none is named."""
    if path is None:
        return None
    from neurok.io.npz_arrays import read_array

    return read_array(path)
