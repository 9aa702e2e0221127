"""Examples that are computed once and kept as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from neurok.errors import NeurokError
from neurok.io.files import write_files

Made = TypeVar("Made")


def make_once(
    path: Path,
    make: Callable[[], list[Made]],
    encode: Callable[[list[Made]], bytes],
    name: str,
    report: Callable[[str], None] | None = None,
) -> None:
    """Write what an object gives to learn from, unless it is there; one that fails is told and gives nothing."""
    if path.exists():
        return
    try:
        made = make()
    except (NeurokError, ValueError, np.linalg.LinAlgError) as error:
        made = []
        if report is not None:
            report(f"{name} is left out: {error}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_files(path, {path.name: encode(made)})
