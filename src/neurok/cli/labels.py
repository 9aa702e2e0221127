"""Label files: a number for each face or vertex."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurok.errors import NeurokError


def read_labels(path: Path | None) -> Any:
    """The array of an .npy file; nothing if none is named."""
    import numpy as np

    if path is None:
        return None
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise NeurokError(f"'{path}' is no .npy file of labels ({str(error)[:80]}); numpy.save writes one.") from None
