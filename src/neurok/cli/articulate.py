"""``neurok articulate``: joints for an object that has none."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.cli.flags import ForceFlag, JsonFlag, OutFlag, PlanFlag, UnitFlag, UpFlag, arg
from neurok.cli.frame import frame_facts, frame_words, understood
from neurok.cli.labels import read_labels
from neurok.cli.outputs import check_outputs
from neurok.cli.physics import PhysicsFlags
from neurok.cli.report import say
from neurok.errors import NeurokError
from neurok.staging import together

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
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
UP, ORIGIN = np.eye(3)[1], np.zeros(3)
REJECTED_SHOWN = 6
"""Rejected hypotheses told per part; a part has a hundred."""


@dataclass
class Articulate:
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

    weld_below: Annotated[float | None, arg("CONFIDENCE", "what is likely")] = None
    """Joints with a lower confidence than this are written as fixed; 0 writes all. A plan given with --plan is used
    unchanged."""

    unit: UnitFlag = None
    up: UpFlag = None
    force: ForceFlag = False
    json: JsonFlag = False

    physics: tyro.conf.OmitArgPrefixes[PhysicsFlags] = field(default_factory=PhysicsFlags)

    def run(self) -> dict[str, Any]:
        from neurok.model import Weights

        self._check_outputs()
        model = understood(
            self.input, self.unit, self.up, plan=self.plan, parts=read_labels(self.labels), method=self.method,
            weights=None if self.weights is None else Weights(joints=self.weights),
        )  # fmt: skip
        start = time.perf_counter()
        asset, plan, method = model.asset, model.plan, model.plan_source
        search = model.study.search if method in ("learned", "search") else None
        seconds = time.perf_counter() - start
        figures = {**_figures(self.input, method, plan, search, seconds), "parts_from": plan.origin}
        kept = plan if self.plan is not None or self.weld_below is None else plan.above(self.weld_below)
        figures["welded"] = [
            body.name for body, then in zip(plan.bodies, kept.bodies, strict=True) if body.joint and not then.joint
        ]
        written = self.physics.scaled(model.jointed(kept))
        boned = model.boned(kept)
        boned = boned and self.physics.scaled(boned)
        figures |= _space(plan, written, boned, method)
        notes = [note for path in self.out for note in self._left_out(path, written, boned)]
        figures["notes"] = list(dict.fromkeys(notes))
        with together():
            files = [str(file) for path in self.out for file in self._write(path, written, boned, figures)]
        say(_sentences(figures, self.out, self.weld_below), json=self.json)
        say(f"Read with {frame_words(asset.mesh)}; joints by {METHODS[method]}.", json=self.json)
        say(f"Space {figures['why']}", json=self.json)
        return {**figures, "files": files}

    def _left_out(self, path: Path, written: Asset, boned: Asset | None) -> list[str]:
        """What a file will not say."""
        from neurok.io.physics import ROBOTS

        notes = self.physics.left_out(written, path)
        if boned is not None and path.suffix.lower() in ROBOTS:
            notes.append(f"{path.suffix} holds joints alone, so there it is rigid; .glb holds its bones.")
        return notes

    def _check_outputs(self) -> None:
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


def _space(plan: BodyPlan, written: Asset, boned: Asset | None, method: str) -> dict[str, Any]:
    """In which space the object moves, and why."""
    joints = written.articulation
    count = 0 if joints is None else joints.dof
    if boned is not None:
        skin = boned.clips[0].skin
        bones = 0 if skin is None else skin.weights.shape[1]
        return {
            "space": "skeleton",
            "bones": bones,
            "why": f"skeleton: {bones} bones found from its surface, since it bends and nothing has a joint.",
        }
    source = "behind its animation" if method == "animation" else "of its body plan"
    if count:
        return {"space": "joints", "why": f"joints: {count} joint{'' if count == 1 else 's'} {source}."}
    why = "joints are less sure than --weld-below" if plan.articulation.dof else "nothing of it is likely to move"
    return {"space": "rigid", "why": f"rigid: {why}."}


def _figures(source: str, method: str, plan: BodyPlan, search: Search | None, seconds: float) -> dict[str, Any]:
    names = plan.mesh.part_names
    rejected = [] if search is None else [line for one in search.rejected for line in one[:REJECTED_SHOWN]]
    joints = []
    for part, body in enumerate(plan.bodies):
        if body.parent >= 0:
            said = body.joint or Hypothesis(part, body.parent, "fixed", UP, ORIGIN, 0.0, 0.0, body.probability)
            joints.append({**_told(said, plan.mesh), "confidence": round(body.probability, 4)})
    return {
        "input": source,
        "method": method,
        "parts": list(names),
        "bases": [body.name for body in plan.bodies if body.parent < 0],
        "joints": joints,
        "rejected": [
            {**_told(line, plan.mesh), "score": round(line.probability, 6), "reason": line.reason} for line in rejected
        ],
        "up": plan.mesh.up,
        **frame_facts(plan.mesh),
        "seconds": round(seconds, 3),
    }


def _told(hypothesis: Hypothesis, mesh: Mesh) -> dict[str, Any]:
    """A hypothesis in the coordinates of the input."""
    lower, upper = {"continuous": (-math.pi, math.pi)}.get(hypothesis.kind, (hypothesis.lower, hypothesis.upper))
    told = {
        "part": mesh.part_names[hypothesis.part],
        "parent": mesh.part_names[hypothesis.parent],
        "type": hypothesis.kind,
        "axis": [round(float(x), 6) for x in hypothesis.axis],
        "origin": [float(x) for x in hypothesis.origin],
        "lower": float(lower),
        "upper": float(upper),
    }
    return told | ({"slide": list(hypothesis.slide)} if hypothesis.kind == "cylindrical" else {})


def _write_json(path: Path, figures: dict[str, Any]) -> list[Path]:
    import json

    from neurok.io.files import write_files

    told = {name: value for name, value in figures.items() if name != "seconds"}  # the same object, the same bytes
    write_files(path, {path.name: (json.dumps(told, indent=1) + "\n").encode()})
    return [path]


def _draw(path: Path, articulation: Articulation) -> list[Path]:
    from neurok import rendering
    from neurok.rendering.markers import joint_markers

    image = rendering.render_mesh(articulation.mesh, 960, 720, colors="parts", markers=joint_markers(articulation))
    rendering.save_image(image, path)
    return [path]


def _sentences(figures: dict[str, Any], files: tuple[Path, ...], weld_below: float | None) -> str:
    lines = [f"{len(figures['parts'])} parts, {len(figures['joints'])} joints in {figures['seconds']:.1f} s."]
    if figures["method"] == "animation":
        lines.append("Its animation moves nodes on joints; these are exact.")
    elif figures["space"] == "skeleton":
        lines.append(f"It bends and has no joint: {figures['bones']} bones were found from its surface.")
    elif not figures["joints"]:
        lines.append(
            "Nothing of it is likely to move; name its parts (scene nodes, groups or --labels) to find joints."
        )
    elif figures["parts_from"] == "pieces":
        lines.append("The file names no parts, so connected pieces were taken for parts, which may be wrong.")
        lines.append(
            "Confidence is how often such answers were right on objects whose parts were hidden."
            if figures["method"] == "learned"
            else "Joints are less sure than they say."
        )
    for joint in figures["joints"]:
        line = f"  {joint['part']} on {joint['parent']}: {joint['type']}"
        if joint["type"] != "fixed":
            axis = ", ".join(f"{x:.2f}" for x in joint["axis"])
            line += f" about ({axis})" if joint["type"] != "prismatic" else f" along ({axis})"
        if joint["type"] == "revolute":
            line += f", {joint['lower'] * 57.29578:.0f} to {joint['upper'] * 57.29578:.0f} deg"
        if joint["type"] == "prismatic":
            line += f", {joint['lower']:.3g} to {joint['upper']:.3g}"
        welded = ", written as fixed" if files and joint["part"] in figures["welded"] else ""
        lines.append(f"{line} (confidence {joint['confidence']:.2f}{welded})")
    if files and figures["welded"]:
        count = len(figures["welded"])
        told = "1 joint is" if count == 1 else f"{count} joints are"
        least = "likely" if weld_below is None else f"sure by {weld_below:g}"
        lines.append(f"{told} not {least} and written as fixed; --weld-below 0 lets them move.")
    lines += figures["notes"]
    lines += [f"Wrote {path}" for path in files]
    return "\n".join(lines)
