"""What every table of figures carries: the machine, the date and the command."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def machine() -> str:
    """The processor and the number of cores."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = lines[0].split(":", 1)[1].strip() if lines else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def stamp() -> str:
    """One line under a table."""
    command = " ".join(["python", os.path.relpath(sys.argv[0]), *sys.argv[1:]])
    return f"{machine()}; {datetime.date.today().isoformat()}; `{command}`"


def write_table(name: str, columns: list[str], rows: list[list[object]]) -> None:
    """Print a markdown table and keep it in ``results/NAME.md``."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += [
        "| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row) + " |"
        for row in rows
    ]
    text = "\n".join([*lines, "", stamp(), ""])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text)
    print(text)


def replace_block(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of a name in a page of the docs."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(first)
    if last not in rest:
        raise SystemExit(f"{page} has no place for '{name}': it needs the lines {first} and {last}.")
    page.write_text(f"{before}{first}\n{text}\n{last}{rest.partition(last)[2]}", encoding="utf-8")
