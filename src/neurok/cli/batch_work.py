"""What ``neurok batch`` does with one object, in a process of its own: a command, and a picture for the sheet."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.batch.run import Job
from neurok.batch.store import PICTURE

if TYPE_CHECKING:
    from neurok.core import Asset

CLOCK = {"ms_per_frame", "steps_per_second", "particle_substeps_per_second", "real_time_factor"}
"""Figures that the clock gives, besides those that begin with ``time_``."""

TIMED = ("articulate", "render")
"""Commands whose ``seconds`` are those that they took; elsewhere they are those of a motion."""

STATES = {0: "ok", 2: "failed", 3: "diverged"}
"""Exit codes of commands."""

PICTURE_SIZE = (480, 360)


def work(job: Job) -> dict[str, Any]:
    """Run the command on one object and tell how it went; what it makes lies in the folder of the job."""
    from neurok.cli import main

    logging.getLogger("neurok").addHandler(logging.NullHandler())
    logging.lastResort = None  # what is said once per process is no word about an object
    os.environ["NEUROK_TRACEBACK"] = "1"
    os.chdir(job.folder)
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            main(command_line(job))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    said = [line.removeprefix("neurok: ") for line in stderr.getvalue().splitlines() if line.startswith("neurok: ")]
    said = [line.replace(str(job.source.path), job.source.path.name) for line in said]
    failed = code not in (0, 3)
    figures = {} if failed else timeless(json.loads(stdout.getvalue() or "{}"), _clock(job))
    draw(job, figures.get("files", []))
    return {
        "status": STATES.get(code, "failed"),
        "message": " ".join(said) if failed else "",
        "warnings": [] if failed else said,
        "figures": {name: value for name, value in figures.items() if name not in ("input", "files", "rejected")},
    }


def command_line(job: Job) -> list[str]:
    """The words of the command for one object."""
    stem = Path(job.source.key).name
    out = [f"{stem}{suffix}" for suffix in job.settings.formats]
    words = [*job.settings.command.split(), str(job.source.path), *(["--out", *out] if out else [])]
    return [*words, *job.settings.flags, "--json"]


def _clock(job: Job) -> set[str]:
    return CLOCK | ({"seconds"} if job.settings.command in TIMED else set())


def timeless(figures: Any, clock: set[str]) -> Any:
    """Figures without what the clock says."""
    if isinstance(figures, dict):
        return {k: timeless(v, clock) for k, v in figures.items() if k not in clock and not k.startswith("time_")}
    return [timeless(value, clock) for value in figures] if isinstance(figures, list) else figures


def draw(job: Job, files: list[str]) -> None:
    """A small picture of what was made, or of the object; nothing where pictures cannot be made."""
    from neurok import rendering
    from neurok.errors import NeurokError
    from neurok.rendering.markers import joint_markers

    with contextlib.suppress(NeurokError):
        asset = made(job, files)
        markers = [] if asset.articulation is None else joint_markers(asset.articulation)
        colors = "parts" if asset.mesh.part_count > 1 else "surface"
        image = rendering.render_mesh(asset.mesh, *PICTURE_SIZE, colors=colors, markers=markers)
        rendering.save_image(image, job.folder / PICTURE)


def made(job: Job, files: list[str]) -> Asset:
    """What the command has written, if it can be read, or the object as it was."""
    from neurok.errors import NeurokError
    from neurok.io import load
    from neurok.io.formats import READERS

    for name in files:
        if Path(name).suffix.lower() in READERS and "/" not in name:
            with contextlib.suppress(NeurokError):
                return load(job.folder / name)
    return load(job.source.path)
