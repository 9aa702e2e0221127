"""``neurok batch``: a command on every object of a folder."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import tyro

from neurok.cli.flags import JsonFlag, RayFlag, arg
from neurok.cli.report import counting, say
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.batch.store import Settings
    from neurok.data.limited import Limits

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
class BatchCommand:
    """Run a command on every object of a folder; run again after an interruption, it continues.

    Arguments after -- are passed to the command: neurok batch articulate models --out made -- --method search. One
    object that fails does not stop the others. The folder gets report.jsonl, an overview page, index.html, and
    assets/NAME for each object.
    """

    command: tyro.conf.Positional[CommandName]
    """The command to run on each object."""

    objects: Annotated[tyro.conf.Positional[Path], arg("FOLDER|MANIFEST")]
    """A folder of objects, or a list of them: a .csv with a column 'file', or a .txt with a path in each line."""

    out: Annotated[Path, arg("FOLDER")]
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
        from neurok.batch.run import batch
        from neurok.cli.batch_work import work

        settings = self._settings()
        limits = self._limits()
        try:
            with counting("objects", json=self.json) as tell:
                records = batch(
                    work, self.objects, self.out, settings, workers=self.workers, ray_address=self.ray, limits=limits,
                    retry=self.retry, progress=tell,
                )  # fmt: skip
        except KeyboardInterrupt:
            print(f"What is finished is kept in {self.out}; the same command goes on from there.", file=sys.stderr)
            raise
        states = dict(sorted(Counter(record["status"] for record in records).items()))
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        say(f"{len(records)} objects: {told}", json=self.json)
        for record in [record for record in records if record["message"]][:10]:
            say(f"  {record['asset']}: {record['message']}", json=self.json)
        say(f"Wrote {self.out}/index.html and report.jsonl", json=self.json)
        return {"out": str(self.out), "objects": len(records), "states": states, **settings.as_dict()}

    def _limits(self) -> Limits:
        from neurok.data.limited import Limits

        for name, value in (("--limit", self.limits.limit), ("--memory", self.limits.memory)):
            if not value > 0.0:
                raise NeurokError(f"{name} must be above 0, got {value:g}.")
        return Limits(self.limits.limit, self.limits.memory * 1e9)

    def _settings(self) -> Settings:
        """What is done to every object, checked once for all of them."""
        from neurok.batch.store import Settings

        assert set(FORMATS) == set(get_args(CommandName))
        formats = tuple(f".{name.lstrip('.').lower()}" for name in self.formats) or FORMATS[self.command]
        taken = [word for word in self.beyond if word.split("=")[0] in ("--out", "--json", "--force")]
        if taken:
            raise NeurokError(f"{taken[0]} is set by the batch itself; choose the outputs with --formats.")
        self._parse(formats)
        return Settings(self.command, self.beyond, formats)

    def _parse(self, formats: tuple[str, ...]) -> None:
        """Let the command read its flags once, so that a wrong one is told before the work."""
        from neurok.cli import command_class

        out = ["--out", *(f"x{suffix}" for suffix in formats)] if formats else []
        words = ["sample:laptop", *out, *self.beyond]
        tyro.cli(
            command_class(self.command),
            prog=f"neurok {self.command}",
            args=words,
            config=(tyro.conf.FlagCreatePairsOff,),
        )
