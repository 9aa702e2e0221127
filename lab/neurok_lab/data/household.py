"""Household objects as files of lists of parts: one JSON line each, a file for each category."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from neurok.catalogue.categories import draw, generate
from neurok.catalogue.parts import Assembly
from neurok.catalogue.record import assembly_of, record_of
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.errors import FormatError, NeurokError

Progress = Callable[[int, int], None]
"""Called with the objects done and their total."""


def build_households(
    out: Path,
    count: int,
    *,
    categories: Sequence[str] = CATEGORIES,
    seed: int = 0,
    checked: bool = False,
    progress: Progress | None = None,
) -> int:
    """Make (or go on with) a store of ``count`` objects of each category; returns how many were added.

    Args:
        checked: Only objects that pass all checks, at three times the cost; otherwise about one in ten has a part that
            misses its parent, which does not hinder learning.
    """
    unknown = [name for name in categories if name not in CATEGORIES]
    if unknown:
        raise NeurokError(f"There is no household category {unknown[0]!r}; there are {', '.join(CATEGORIES)}.")
    out.mkdir(parents=True, exist_ok=True)
    done = {name: {_index(row) for row in _rows(_file(out, name))} for name in categories}
    added, total = 0, count * len(categories)
    for index in range(count):
        for name in categories:
            if index not in done[name]:
                assembly = generate(name, seed, index)[0] if checked else drawn(name, seed, index)
                with _file(out, name).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record_of(assembly)) + "\n")
                added += 1
            if progress is not None:
                progress(index * len(categories) + categories.index(name) + 1, total)
    return added


def read_households(folder: Path) -> list[Assembly]:
    """All objects of a store, by category and number; a last line that was cut off is left out.

    Raises:
        NeurokError: If there is no store in the folder.
    """
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    if not files:
        raise NeurokError(
            f"'{folder}' holds no household objects; make some with: neurok data household --out {folder}"
        )
    rows = {row["name"]: row for path in files for row in _rows(path)}
    return [assembly_of(row) for row in sorted(rows.values(), key=lambda row: (row["category"], _index(row)))]


def number_of(assembly: Assembly) -> int:
    """The number of an object in its category."""
    return int(assembly.name.rpartition("/")[2])


def is_real(name: str) -> bool:
    """Whether a name is that of a real model, ``chair rocker/12``, and not of a drawn one, ``chair 0/12``."""
    category, _, seed = name.rpartition("/")[0].rpartition(" ")
    return not (category in CATEGORIES and seed.isdecimal())


def drawn(category: str, seed: int, index: int) -> Assembly:
    """The first try of ``generate``, unchecked."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(category.encode()), index, 0])
    return replace(draw(category, np.random.default_rng(sequence)), name=f"{category} {seed}/{index}")


def _file(folder: Path, category: str) -> Path:
    return folder / f"{category.replace(' ', '_')}.jsonl"


def _index(row: dict) -> int:  # type: ignore[type-arg]
    return int(row["name"].rpartition("/")[2])


def _rows(path: Path) -> Iterator[dict]:  # type: ignore[type-arg]
    if not path.exists():
        return
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise FormatError(f"Line {number} of '{path}' is not JSON; delete it and build again.") from error
        yield row
