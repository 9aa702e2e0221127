"""``neurok batch``: a command on every object of a folder, each in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import tyro

from neurok.cli.flags import JsonFlag, RayFlag, arg
from neurok.cli.outputs import EXIT_CODES, Command, counting, warn
from neurok.errors import NeurokError, counted
from neurok.folders.run import BatchJob
from neurok.folders.store import PICTURE, links_outside

if TYPE_CHECKING:
    from neurok.core import Asset
    from neurok.folders.store import BatchSettings
    from neurok.sandbox import Limits


CommandName = Literal["articulate", "convert", "inspect", "materials", "plan", "pose", "render", "sample", "simulate"]

FORMATS: dict[str, tuple[str, ...]] = {
    "articulate": (".urdf", ".glb"),
    "convert": (".glb",),
    "inspect": (),
    "materials": (".json",),
    "plan": (".json",),
    "pose": (".glb",),
    "render": (".png",),
    "sample": (".png",),
    "simulate": (".glb",),
}
"""What commands write unless other formats are asked for."""


@dataclass(frozen=True)
class LimitFlags:
    """Limits for one object; if one is exceeded, the object is stopped and the next one starts."""

    limit: Annotated[float, arg("S")] = 600.0
    """Longest time for one object."""

    memory: Annotated[float, arg("GB")] = 8.0
    """Maximum memory for one object."""


@dataclass
class BatchCommand(Command):
    """Run a command on every object of a folder; run again after an interruption, it continues.

    Arguments after -- are passed to the command: neurok batch articulate models --out made -- --method search. One
    object that fails does not stop the others. The folder gets report.jsonl, an overview page, index.html, and
    assets/NAME for each object.
    """

    command: tyro.conf.Positional[CommandName]
    """The command to run on each object."""

    objects: Annotated[tyro.conf.Positional[str], arg("FOLDER|MANIFEST|URL")]
    """Objects: a folder, a .csv with a column 'file', a .txt with a path or URL in each line, or a URL of these."""

    out: Annotated[str, arg("FOLDER|URL")]
    """Output folder; it may hold an interrupted batch of the same command and flags."""

    formats: Annotated[tuple[str, ...], arg("SUFFIX [SUFFIX ...]", "as suits the command")] = ()
    """Outputs of each object, as for the command's --out: .urdf .glb .png and so on."""

    workers: Annotated[int, arg("N")] = 1
    """Objects at the same time."""

    ray: RayFlag = None

    retry: bool = False
    """Also run objects that failed before."""

    json: JsonFlag = False

    limits: tyro.conf.OmitArgPrefixes[LimitFlags] = field(default_factory=LimitFlags)

    beyond: ClassVar[tuple[str, ...]] = ()

    def run(self) -> dict[str, Any]:
        from neurok.folders.run import run_batch

        settings = self._settings()
        limits = self._limits()
        if Path(self.objects).is_dir() and (outside := links_outside(Path(self.objects))):
            links = counted(len(outside), "link")
            warn(f"{links} out of '{self.objects}' left out; list the files in a .txt to use them.")
        try:
            with counting("objects", json=self.json) as tell:
                found = run_batch(
                    work, self.objects, self.out, settings, workers=self.workers, ray_address=self.ray, limits=limits,
                    retry=self.retry, progress=tell,
                )  # fmt: skip
        except KeyboardInterrupt:
            print(f"What is finished is kept in {self.out}; the same command goes on from there.", file=sys.stderr)
            raise
        states = dict(sorted(found.states.items()))
        self.say(
            f"{counted(found.count, 'object')}: {', '.join(f'{count} {state}' for state, count in states.items())}"
        )
        worst = found.reasons.most_common(10)
        self.say(*(f"  {count} times, as {found.examples[kind]}" for kind, count in worst))
        self.say(f"Wrote {self.out}/index.html and report.jsonl")
        self.exit_code = EXIT_CODES["failed"] if found.count and found.reasons.total() == found.count else 0
        return {
            "out": self.out,
            "objects": found.count,
            "states": states,
            "reasons": [{"count": count, "example": found.examples[kind]} for kind, count in worst],
            **settings.as_dict(),
        }

    def _limits(self) -> Limits:
        from neurok.sandbox import Limits

        for name, value in (("--limit", self.limits.limit), ("--memory", self.limits.memory)):
            if not value > 0.0:
                raise NeurokError(f"{name} must be above 0, got {value:g}.")
        return Limits(seconds=self.limits.limit, memory=self.limits.memory * 1e9)

    def _settings(self) -> BatchSettings:
        """What is done to every object, checked once for all of them."""
        from neurok.folders.store import BatchSettings

        formats = tuple(f".{name.removeprefix('.').lower()}" for name in self.formats) or FORMATS[self.command]
        if wrong := [name for name in formats if not re.fullmatch(r"\.\w+", name)]:
            raise NeurokError(f"--formats takes suffixes such as .glb, got '{wrong[0]}'.")
        taken = [word for word in self.beyond if word.split("=")[0] in ("--out", "--json", "--force")]
        if taken:
            raise NeurokError(f"{taken[0]} is set by the batch itself; choose the outputs with --formats.")
        self._check_command(formats)
        return BatchSettings(self.command, self.beyond, formats)

    def _check_command(self, formats: tuple[str, ...]) -> None:
        """Let the command read and check its flags once, so that mistakes are told before the work."""
        from neurok.cli import parsed

        out = ["--out", *(f"object{suffix}" for suffix in formats)] if formats else []
        parsed(self.command, ["sample:laptop", *out, *self.beyond]).check_flags()


CLOCK = {"ms_per_frame", "steps_per_second", "particle_substeps_per_second", "real_time_factor"}
"""Figures that the clock gives, besides those that begin with ``time_``."""

TIMED = ("articulate", "render")
"""Commands whose ``seconds`` are those that they took; elsewhere they are those of a motion."""

PICTURE_SIZE = (480, 360)


def work(job: BatchJob) -> dict[str, Any]:
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
    sentences = [
        line.removeprefix("neurok: ") for line in stderr.getvalue().splitlines() if line.startswith("neurok: ")
    ]
    sentences = [line.replace(str(job.source.path), job.source.path.name) for line in sentences]
    states = {number: status for status, number in reversed(EXIT_CODES.items())}
    failed = code == EXIT_CODES["failed"] or code not in states
    figures = {} if failed else timeless(json.loads(stdout.getvalue() or "{}"), _clock(job))
    draw(job, figures.get("files", []))
    return {
        "status": states.get(code, "failed"),
        "message": " ".join(sentences) if failed else "",
        "warnings": [] if failed else sentences,
        "figures": {name: value for name, value in figures.items() if name not in ("input", "files", "rejected")},
    }


def command_line(job: BatchJob) -> list[str]:
    """The words of the command for one object."""
    stem = Path(job.source.key).name
    out = [f"{stem}{suffix}" for suffix in job.settings.formats]
    words = [*job.settings.command.split(), str(job.source.path), *(["--out", *out] if out else [])]
    return [*words, *job.settings.flags, "--json"]


def _clock(job: BatchJob) -> set[str]:
    return CLOCK | ({"seconds"} if job.settings.command in TIMED else set())


def timeless(figures: Any, clock: set[str]) -> Any:
    """Figures without what the clock says."""
    if isinstance(figures, dict):
        return {k: timeless(v, clock) for k, v in figures.items() if k not in clock and not k.startswith("time_")}
    return [timeless(value, clock) for value in figures] if isinstance(figures, list) else figures


def draw(job: BatchJob, files: list[str]) -> None:
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


def made(job: BatchJob, files: list[str]) -> Asset:
    """What the command has written, if it can be read, or the object as it was."""
    from neurok.errors import NeurokError
    from neurok.io import load
    from neurok.io.formats import READERS

    for name in files:
        if Path(name).suffix.lower() in READERS and "/" not in name:
            with contextlib.suppress(NeurokError):
                return load(job.folder / name)
    return load(job.source.path)
