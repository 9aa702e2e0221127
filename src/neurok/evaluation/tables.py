"""Figures as Markdown, each table with its machine, date and command."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from neurok.io.files import write_files

Row = dict[str, Any]

ACCURACY = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "chamfer_l1": ("Chamfer L1", "{:.4f}"),
    "chamfer_l2": ("Chamfer L2", "{:.5f}"),
    "iou": ("IoU", "{:.3f}"),
    "fraction": ("of no motion", "{:.2f}"),
    "median_fraction": ("median", "{:.2f}"),
    "above_floor": ("above floor", "{:.2f}"),
    "motion_error": ("motion error", "{:.2f}"),
    "edge_error": ("edge error", "{:.3f}"),
    "seconds": ("CPU s/object", "{:.1f}"),
    "failed": ("failed", "{}"),
}
"""Field of a summary to its heading and format."""

PLAUSIBILITY = {
    "states": ("states", "{}"),
    "objects": ("objects", "{}"),
    "displacement": ("mean displacement", "{:.3f}"),
    "edge_stretch": ("edge stretch", "{:.4f}"),
    "part_stretch": ("stretch inside parts", "{:.4f}"),
    "penetration": ("new penetration", "{:.4f}"),
    "coverage": ("distance to true states", "{:.2f}"),
}


def accuracy_table(title: str, summary: list[Row]) -> str:
    """A table per group of objects."""
    parts = [f"### Reaching unseen poses: {title}"]
    for group in dict.fromkeys(row["group"] for row in summary):
        mine = [row for row in summary if row["group"] == group]
        parts += [f"{group.capitalize()} (sampling floor of Chamfer L1: {mine[0]['floor_l1']:.4f}):"]
        parts += [markdown(mine, ACCURACY)]
    return "\n\n".join(parts)


def plausibility_table(title: str, summary: list[Row]) -> str:
    parts = [f"### Plausibility of states: {title}"]
    for group in dict.fromkeys(row["group"] for row in summary):
        mine = [row for row in summary if row["group"] == group]
        parts += [f"{group.capitalize()}:", markdown(mine, PLAUSIBILITY)]
    return "\n\n".join(parts)


def markdown(rows: list[Row], columns: dict[str, tuple[str, str]]) -> str:
    """A pipe table; what is missing is a dash."""
    lines = ["| " + " | ".join(heading for heading, _ in columns.values()) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = ["-" if row.get(k) is None else form.format(row[k]) for k, (_, form) in columns.items()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


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
