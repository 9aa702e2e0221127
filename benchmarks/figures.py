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
