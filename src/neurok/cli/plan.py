"""``neurok plan``: pieces, contacts, bodies and joints of an object, drawn, written and open to corrections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from neurok.cli.frame import UnitFlag, UpFlag, load_framed
from neurok.cli.report import say
from neurok.errors import NeurokError

PICTURES = (".png", ".jpg", ".jpeg")


@dataclass
class Plan:
    """Decide what the bodies of an object are, what touches, and how each body may move.

    Edit the JSON and hand it back to articulate, sample, pose or simulate with --plan: a wrong joint is corrected.
    """

    object: tyro.conf.Positional[str]
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    out: tuple[Path, ...] = ()
    """Where to write: plan.json to edit, plan.png to look at; several may be given."""

    plan: Path | None = None
    """A plan that was edited, to be drawn or written again."""

    labels: Path | None = None
    """An .npy file with a number for each face or vertex that says which body it belongs to."""

    raw: bool = False
    """Group connected pieces even where the file names parts, as for a mesh without any."""

    method: Literal["auto", "learned", "search"] = "auto"
    """search asks geometry alone, learned also the networks; auto takes them where there are weights."""

    unit: UnitFlag = None
    up: UpFlag = None

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok.bodyplan.drawing import save_plan_picture
        from neurok.bodyplan.plan_file import plan_to_dict, read_plan, write_plan
        from neurok.cli.labels import read_labels
        from neurok.inference.plan import plan

        for path in self.out:
            if path.suffix.lower() not in (".json", *PICTURES):
                raise NeurokError(f"'{path}' cannot hold a plan; --out takes files that end in .json, .png or .jpg.")
        asset = load_framed(self.object, self.unit, self.up)
        if self.plan is not None:
            found = read_plan(self.plan, asset.mesh)
        else:
            found = plan(asset, labels=read_labels(self.labels), method=self.method, given_parts=not self.raw)
        for path in self.out:
            if path.suffix.lower() == ".json":
                write_plan(found, path)
            else:
                save_plan_picture(found, path)
        said = plan_to_dict(found)
        say(_sentences(said, self.out), json=self.json)
        return {**said, "files": [str(path) for path in self.out]}


def _sentences(said: dict[str, Any], files: tuple[Path, ...]) -> str:
    bodies = said["bodies"]
    joints = [body for body in bodies if body["joint"] is not None]
    counts = {name: len(said[name]) for name in ("pieces", "bodies", "contacts")} | {"joints": len(joints)}
    lines = [", ".join(f"{count} {name}" for name, count in counts.items()) + "."]
    for body in bodies:
        if body["joint"] is not None:
            joint = body["joint"]
            axis = ", ".join(f"{x:.2f}" for x in joint["axis"])
            on = f"  {body['name']} on {body['parent']}: {joint['kind']} ({axis})"
            lines.append(f"{on}, probability {body['probability']:.2f}")
        elif body["bends"]:
            lines.append(f"  {body['name']} bends")
    if "note" in said:
        lines.append(said["note"])
    return "\n".join([*lines, *(f"Wrote {path}" for path in files)])
