"""Rows of figures: measured once and kept on disk, grouped, and written as Markdown with machine, date and command."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neurok.errors import NeurokError
from neurok.io.files import write_files

Row = dict[str, Any]
"""What was measured of one object, or the means of many; plain JSON."""

Columns = dict[str, tuple[str, str]]
"""Field of a row to its heading and format."""

Tell = Callable[[Row], None]
Item = TypeVar("Item")


def measured(
    jobs: Iterable[tuple[str, Callable[[], Row]]], store: Path | None = None, tell: Tell | None = None
) -> list[Row]:
    """A row for every job, which is a key and what measures it; rows already in ``store`` are not measured again."""
    done, rows = read_rows(store), []
    for key, measure in jobs:
        if key not in done:
            done[key] = {"key": key, **measure()}
            _append(store, done[key])
            if tell is not None:
                tell(done[key])
        rows.append(done[key])
    return rows


def read_rows(store: Path | None) -> dict[str, Row]:
    """Rows by key; a line cut off by an interruption is left out."""
    if store is None or not store.exists():
        return {}
    rows = {}
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            rows[row["key"]] = row
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return rows


def _append(store: Path | None, row: Row) -> None:
    if store is None:
        return
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        cut = store.exists() and store.stat().st_size > 0 and not store.read_bytes().endswith(b"\n")
        with store.open("a", encoding="utf-8") as file:
            file.write(("\n" if cut else "") + json.dumps(row, default=float) + "\n")
    except OSError as error:
        raise NeurokError(f"'{store}' cannot be written: {error.strerror or error}.") from error


def spread(items: list[Item], limit: int | None) -> list[Item]:
    """At most so many of them, evenly from first to last.

    Raises:
        NeurokError: If the limit is below one.
    """
    if limit is None or len(items) <= limit:
        return items
    if limit < 1:
        raise NeurokError(f"limit must be at least 1, got {limit}.")
    return [items[k] for k in np.linspace(0, len(items) - 1, limit).round().astype(int)]


def grouped(rows: Iterable[Row], *names: str) -> Iterator[tuple[Row, list[Row]]]:
    """Rows that agree in some fields, in the order they first appear: those fields, and the rows."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    for values, mine in groups.items():
        yield dict(zip(names, values, strict=True)), mine


def means(rows: Iterable[Row], names: Iterable[str]) -> Row:
    """The mean of each field over the rows that have it; None where none has."""
    rows, out = list(rows), {}
    for name in names:
        values = [float(row[name]) for row in rows if row.get(name) is not None]
        out[name] = float(np.mean(values)) if values else None
    return out


def markdown(rows: list[Row], columns: Columns) -> str:
    """A pipe table; what is missing is a dash."""
    lines = ["| " + " | ".join(heading for heading, _ in columns.values()) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = ["-" if row.get(k) is None else form.format(row[k]) for k, (_, form) in columns.items()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def group_tables(summary: list[Row], columns: Columns, title: str = "") -> str:
    """A table for each group of objects, with a sampling floor where there is one."""
    parts = [title] if title else []
    for about, mine in grouped(summary, "group"):
        floor = f" (sampling floor of Chamfer L1: {mine[0]['floor_l1']:.4f})" if "floor_l1" in mine[0] else ""
        parts += [f"{about['group'].capitalize()}{floor}:", markdown(mine, columns)]
    return "\n\n".join(parts)


def stamp() -> str:
    """The machine, the date and the command line."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*:\s*(.+)", info.read_text())
        name = found.group(1) if found else name
    command = shlex.join([Path(sys.argv[0]).name.replace("__main__.py", "neurok"), *sys.argv[1:]])
    return f"{name}, {os.cpu_count()} cores; {datetime.date.today().isoformat()}; `{command}`"


def put_section(path: Path, name: str, text: str) -> None:
    """Write a section of a Markdown file between its two markers; the rest of the file stays as it is."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    section = f"{first}\n{text}\n{last}"
    whole = path.read_text() if path.exists() else "# Results\n"
    if first in whole and last in whole:
        before, rest = whole.split(first, 1)
        whole = before + section + rest.split(last, 1)[1]
    else:
        whole = whole.rstrip("\n") + f"\n\n{section}\n"
    write_files(path, {path.name: whole.encode()})
