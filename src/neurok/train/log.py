"""The log of a run: one line of JSON for each evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neurok.io.files import write_files

Line = dict[str, Any]
"""``step``, ``seconds`` and ``eta`` [s], ``per_second`` (what batches hold), means of the steps since the last line
(``training``) and figures of the averaged weights on watched sets (``watched``)."""


def read_log(path: Path) -> list[Line]:
    """All lines; none where there is no log."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write_line(path: Path, line: Line) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as log:
        log.write(json.dumps(line) + "\n")


def drop_lines(path: Path, first: int) -> None:
    """Forget the lines from a step on, and one that was not written to its end: they will be written again."""
    kept = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            kept += [text] if json.loads(text)["step"] < first else []
        except json.JSONDecodeError:
            break
    if path.exists():
        write_files(path, {path.name: "".join(f"{text}\n" for text in kept).encode()})
