"""Where data sets lie: a flag, or the environment variable NEUROK_DATA."""

from __future__ import annotations

import os
from pathlib import Path

from neurok.errors import NeurokError

VARIABLE = "NEUROK_DATA"


def data_folder(flag: Path | None, inside: str = "") -> Path:
    """The folder of data sets, or the folder ``inside`` it; one sentence when it is not there."""
    given = flag if flag is not None else os.environ.get(VARIABLE, "")
    if not str(given):
        raise NeurokError(f"No data folder was given; pass --data FOLDER or set the environment variable {VARIABLE}.")
    folder = Path(given).expanduser() / inside
    if not folder.is_dir():
        origin = "--data" if flag is not None else VARIABLE
        raise NeurokError(f"There is no folder '{folder}'; {origin} must name a folder of data sets.")
    return folder
