"""``neurok articulate`` and ``neurok plan``: bodies and joints of an object, written, drawn and open to corrections."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import connected_pieces
from neurok.cli.flags import (
    ForceFlag,
    JsonFlag,
    NodesFlag,
    NoInteriorFlag,
    OutFlag,
    PhysicsFlags,
    PlanFlag,
    UnitFlag,
    UpFlag,
    arg,
)
from neurok.cli.outputs import (
    PICTURES,
    Command,
    check_outputs,
    frame_facts,
    frame_words,
    read_labels,
    understood,
    written,
)
from neurok.errors import NeurokError, counted

if TYPE_CHECKING:
    from neurok.bodyplan.plan import BodyPlan
    from neurok.bodyplan.search import Search
    from neurok.core import Articulation, Asset, Clip, Mesh


Method = Literal["auto", "learned", "search"]
METHODS = {
    "plan": "the plan that was given",
    "animation": "its own animation",
    "learned": "the networks and the search",
    "search": "the search alone",
}
UP, ORIGIN = np.eye(3)[1], np.zeros(3)
REJECTED_SHOWN = 6
"""Rejected hypotheses told per part; a part has a hundred."""


@dataclass
class Articulate(Command):
    """Predict the joints between the parts of an object, and write them for a simulator or a viewer."""

    input: Annotated[tyro.conf.Positional[str], arg("MESH")]
    """A mesh, or a built-in object such as sample:cabinet. Parts are its scene nodes or groups, if it has several."""

    out: OutFlag = ()
    """Where to write: .urdf, .xml (MJCF), .usd, .glb (plays every joint in turn, or the bones of deformable parts),
    .json, .png (parts and axes)."""

    method: Method = "auto"
    """search: geometry alone. learned: the network, combined with the search. auto: the joints recovered from its own
    animation, if it has nodes that rotate or slide, else learned if there are weights."""

    weights: Annotated[Path | None, arg("FILE.safetensors", "the shipped ones")] = None
    """Weights of the network."""

    plan: PlanFlag = None

    labels: Annotated[Path | None, arg("FILE.npy", "the file's own parts")] = None
    """The part of each face or each vertex, as integers."""

    weld_below: Annotated[float | None, arg("CONFIDENCE", "0.5")] = None
    """Joints with a lower confidence than this are written as fixed and listed as possible; 0 writes all. A plan given
    with --plan is used unchanged."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    no_interior: NoInteriorFlag = False
    force: ForceFlag = False
    json: JsonFlag = False

    physics: tyro.conf.OmitArgPrefixes[PhysicsFlags] = field(default_factory=PhysicsFlags)

    def run(self) -> dict[str, Any]:
        from neurok.model import Weights

        model = understood(
            self.input, self.unit, self.up, nodes=self.nodes, plan=self.plan, parts=read_labels(self.labels),
            method=self.method, weights=None if self.weights is None else Weights(joints=self.weights),
            interior=not self.no_interior,
        )  # fmt: skip
        start = time.perf_counter()
        asset, plan, method = model.asset, model.plan, model.plan_source
        search = model.study.search if method in ("learned", "search") else None
        seconds = time.perf_counter() - start
        if self.plan is None and self.weld_below is not None:
            plan = plan.above(self.weld_below)
        figures = {**_figures(self.input, method, plan, search, seconds), "parts_from": plan.origin}
        figures["pieces"] = int(connected_pieces(model.mesh).max()) + 1
        made = self.physics.scaled(model.jointed(plan))
        boned = model.boned(plan)
        boned = boned and self.physics.scaled(boned)
        figures |= _space(made, boned, method)
        notes = [note for path in self.out for note in self._left_out(path, made, boned)]
        figures["notes"] = list(dict.fromkeys(notes))
        files = written(self.out, lambda path: self._write(path, made, boned, figures))
        self.say(
            _sentences(figures, self.out),
            f"Read with {frame_words(asset.mesh)}; joints by {METHODS[method]}.",
            f"Space {figures['why']}",
        )
        return {**figures, "files": files}

    def _left_out(self, path: Path, made: Asset, boned: Asset | None) -> list[str]:
        """What a file will not say."""
        from neurok.io.physics import ROBOTS

        notes = self.physics.left_out(made, path)
        if boned is not None and path.suffix.lower() in ROBOTS:
            notes.append(f"{path.suffix} holds joints alone, so there it is rigid; .glb holds its bones.")
        return notes

    def check_flags(self) -> None:
        from neurok.io.formats import WITH_JOINTS

        known = (*WITH_JOINTS, ".json", *PICTURES)
        check_outputs(self.out, [self.input, self.plan, self.labels], force=self.force, known=known, what="joints")
        if self.weld_below is not None and not 0.0 <= self.weld_below <= 1.0:
            raise NeurokError(f"--weld-below must lie between 0 and 1, got {self.weld_below:g}.")
        self.physics.check(self.out)

    def _write(self, path: Path, asset: Asset, boned: Asset | None, figures: dict[str, Any]) -> list[Path]:
        from neurok import io
        from neurok.io.physics import ROBOTS

        articulation, suffix = asset.articulation, path.suffix.lower()
        if boned is not None and suffix not in (".json", *PICTURES, *ROBOTS):
            return io.save(boned, path)
        assert articulation is not None
        if suffix == ".json":
            return _write_json(path, figures)
        if suffix in PICTURES:
            return _draw(path, articulation)
        clips: tuple[Clip, ...] = ()
        if suffix in (".glb", ".gltf") and articulation.dof:
            from neurok.bodyplan.clearance import tour

            clips = (articulation.clip(tour(articulation), name="joints"),)
        return io.save(replace(asset, clips=clips), path, **self.physics.options(path))


def _space(made: Asset, boned: Asset | None, method: str) -> dict[str, Any]:
    """In which space the object moves, and why."""
    joints = made.articulation
    count = 0 if joints is None else joints.dof
    if boned is not None:
        skin = boned.clips[0].skin
        bones = 0 if skin is None else skin.weights.shape[1]
        return {
            "space": "skeleton",
            "bones": bones,
            "why": f"skeleton: {counted(bones, 'bone')} found from its surface, as it bends and has no joint.",
        }
    source = "behind its animation" if method == "animation" else "of its body plan"
    if count:
        return {"space": "joints", "why": f"joints: {counted(count, 'joint')} {source}."}
    return {"space": "rigid", "why": "rigid: nothing of it is likely to move."}


def _figures(source: str, method: str, plan: BodyPlan, search: Search | None, seconds: float) -> dict[str, Any]:
    names = plan.mesh.part_names
    rejected = [] if search is None else [line for one in search.rejected for line in one[:REJECTED_SHOWN]]
    joints = []
    for part, body in enumerate(plan.bodies):
        if body.parent >= 0:
            joint = body.joint or Hypothesis(part, body.parent, "fixed", UP, ORIGIN, 0.0, 0.0, body.probability)
            joints.append({**_joint_facts(joint, plan.mesh), "confidence": round(body.probability, 4)})
    return {
        "input": source,
        "method": method,
        "parts": list(names),
        "bases": [body.name for body in plan.bodies if body.parent < 0],
        "joints": joints,
        "possible": [
            {**_joint_facts(line, plan.mesh), "confidence": round(line.probability, 4)} for line in plan.possible
        ],
        "rejected": [
            {**_joint_facts(line, plan.mesh), "score": round(line.probability, 6), "reason": line.reason}
            for line in rejected
        ],
        **frame_facts(plan.mesh),
        "seconds": round(seconds, 3),
    }


def _joint_facts(hypothesis: Hypothesis, mesh: Mesh) -> dict[str, Any]:
    """A hypothesis in the coordinates of the input."""
    lower, upper = {"continuous": (-math.pi, math.pi)}.get(hypothesis.kind, (hypothesis.lower, hypothesis.upper))
    facts = {
        "part": mesh.part_names[hypothesis.part],
        "parent": mesh.part_names[hypothesis.parent],
        "type": hypothesis.kind,
        "axis": [round(float(x), 6) for x in hypothesis.axis],
        "origin": [float(x) for x in hypothesis.origin],
        "lower": float(lower),
        "upper": float(upper),
    }
    return facts | ({"slide": list(hypothesis.slide)} if hypothesis.kind == "cylindrical" else {})


def _write_json(path: Path, figures: dict[str, Any]) -> list[Path]:
    import json

    from neurok.io.files import write_files

    facts = {name: value for name, value in figures.items() if name != "seconds"}  # the same object, the same bytes
    write_files(path, {path.name: (json.dumps(facts, indent=1) + "\n").encode()})
    return [path]


def _draw(path: Path, articulation: Articulation) -> list[Path]:
    from neurok import rendering
    from neurok.rendering.markers import joint_markers

    image = rendering.render_mesh(articulation.mesh, 960, 720, colors="parts", markers=joint_markers(articulation))
    rendering.save_image(image, path)
    return [path]


def _sentences(figures: dict[str, Any], files: tuple[Path, ...]) -> str:
    lines = [
        f"{counted(len(figures['parts']), 'part')}, {counted(len(figures['joints']), 'joint')} "
        f"in {figures['seconds']:.1f} s."
    ]
    if figures["method"] == "animation":
        lines.append("Its animation moves nodes on joints; these are exact.")
    elif figures["space"] == "skeleton":
        lines.append(f"It bends and has no joint: {counted(figures['bones'], 'bone')} were found from its surface.")
    elif not figures["joints"]:
        lines.append(
            "Nothing of it is likely to move; name its parts (scene nodes, groups or --labels) to find joints."
        )
    elif figures["parts_from"] == "pieces":
        how = (
            "its connected pieces were grouped into parts"
            if figures["pieces"] > 1
            else "its one piece was cut into parts"
        )
        lines.append(f"The file names no parts, so {how}, which may be wrong.")
        lines.append(
            "Confidence is how often such answers were right on objects whose parts were hidden."
            if figures["method"] == "learned"
            else "Joints are less sure than they say."
        )
    lines += [_joint_words(joint) for joint in figures["joints"]]
    if figures["possible"]:
        lines.append("Possible, but written as fixed (--weld-below 0 lets them move):")
        lines += [_joint_words(joint) for joint in figures["possible"]]
    lines += figures["notes"]
    lines += [f"Wrote {path}" for path in files]
    return "\n".join(lines)


@dataclass
class PlanCommand(Command):
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

    method: Method = "auto"
    """search uses geometry alone, learned also the networks; auto uses them if there are weights."""

    unit: UnitFlag = None
    up: UpFlag = None
    nodes: NodesFlag = ()
    force: ForceFlag = False
    json: JsonFlag = False

    def check_flags(self) -> None:
        known, inputs = (".json", *PICTURES[:3]), [self.object, self.plan, self.labels]
        check_outputs(self.out, inputs, force=self.force, known=known, what="a plan")

    def run(self) -> dict[str, Any]:
        from neurok.bodyplan.plan_file import plan_to_dict, save_plan_picture, write_plan

        parts = "pieces" if self.raw and self.labels is None else read_labels(self.labels)
        model = understood(
            self.object, self.unit, self.up, nodes=self.nodes, plan=self.plan, parts=parts, method=self.method
        )
        found = model.plan

        def write(path: Path) -> list[Path]:
            (write_plan if path.suffix.lower() == ".json" else save_plan_picture)(found, path)
            return [path]

        files, figures = written(self.out, write), plan_to_dict(found)
        self.say(*_plan_sentences(figures, self.out), f"Read with {frame_words(model.mesh)}.")
        return {**figures, **frame_facts(model.mesh), "files": files}


def _plan_sentences(figures: dict[str, Any], files: tuple[Path, ...]) -> list[str]:
    bodies = figures["bodies"]
    counts = {
        noun: len(figures[key]) for noun, key in (("piece", "pieces"), ("body", "bodies"), ("contact", "contacts"))
    }
    counts["joint"] = sum(body["joint"] is not None for body in bodies)
    lines = [", ".join(counted(count, noun) for noun, count in counts.items()) + "."]
    for body in bodies:
        if body["joint"] is not None:
            joint = body["joint"]
            axis = ", ".join(f"{x:.2f}" for x in joint["axis"])
            on = f"  {body['name']} on {body['parent']}: {joint['kind']} ({axis})"
            lines.append(f"{on}, probability {body['probability']:.2f}")
        elif body["bends"]:
            lines.append(f"  {body['name']} bends")
    return [*lines, *filter(None, [figures.get("note")]), *(f"Wrote {path}" for path in files)]


def _joint_words(joint: dict[str, Any]) -> str:
    line = f"  {joint['part']} on {joint['parent']}: {joint['type']}"
    if joint["type"] != "fixed":
        axis = ", ".join(f"{x:.2f}" for x in joint["axis"])
        line += f" about ({axis})" if joint["type"] != "prismatic" else f" along ({axis})"
    if joint["type"] == "revolute":
        line += f", {joint['lower'] * 57.29578:.0f} to {joint['upper'] * 57.29578:.0f} deg"
    if joint["type"] == "prismatic":
        line += f", {joint['lower']:.3g} to {joint['upper']:.3g}"
    return f"{line} (confidence {joint['confidence']:.2f})"
