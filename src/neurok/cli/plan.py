"""``neurok plan``: pieces, contacts, bodies and joints of an object, drawn, written and open to corrections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from neurok.cli.flags import ForceFlag, JsonFlag, OutFlag, PlanFlag, UnitFlag, UpFlag, arg
from neurok.cli.frame import frame_facts, frame_words, understood
from neurok.cli.outputs import check_outputs
from neurok.cli.report import say
from neurok.staging import together

PICTURES = (".png", ".jpg", ".jpeg")


@dataclass
class Plan:
    """Decide the bodies of an object, their contacts, and how each body may move.

    To correct a wrong joint, edit the JSON and pass it to articulate, sample, pose or simulate with --plan.
    """

    object: Annotated[tyro.conf.Positional[str], arg("OBJECT")]
    """Object: a file, a PartNet-Mobility folder or sample:NAME."""

    out: OutFlag = ()
    """Where to write: plan.json to edit, plan.png for a picture."""

    plan: PlanFlag = None

    labels: Annotated[Path | None, arg("FILE.npy", "the file's own parts")] = None
    """The body of each face or vertex, as integers."""

    raw: bool = False
    """Group connected pieces even if the file names parts, as for a mesh without names."""

    method: Literal["auto", "learned", "search"] = "auto"
    """search uses geometry alone, learned also the networks; auto uses them if there are weights."""

    unit: UnitFlag = None
    up: UpFlag = None
    force: ForceFlag = False
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.bodyplan.plan_file import plan_to_dict, save_plan_picture, write_plan
        from neurok.cli.labels import read_labels

        known, inputs = (".json", *PICTURES), [self.object, self.plan, self.labels]
        check_outputs(self.out, inputs, force=self.force, known=known, what="a plan")
        labels = read_labels(self.labels)
        parts = "pieces" if self.raw else None
        model = understood(
            self.object, self.unit, self.up, plan=self.plan, parts=parts if labels is None else labels,
            method=self.method,
        )  # fmt: skip
        found = model.plan
        with together():
            for path in self.out:
                (write_plan if path.suffix.lower() == ".json" else save_plan_picture)(found, path)
        said = plan_to_dict(found)
        say(_sentences(said, self.out), json=self.json)
        say(f"Read with {frame_words(model.mesh)}.", json=self.json)
        return {**said, **frame_facts(model.mesh), "files": [str(path) for path in self.out]}


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
