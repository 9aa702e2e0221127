"""``neurok articulate``: joints for an object that has none."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from neurok.cli.report import say
from neurok.errors import NeurokError

if TYPE_CHECKING:
    from neurok.bodyplan.hypothesis import Hypothesis
    from neurok.bodyplan.search import Search
    from neurok.core import Articulation, Asset, Clip, Mesh

Method = Literal["auto", "learned", "search"]
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
REJECTED_SHOWN = 6
"""Rejected hypotheses told per part; a part has a hundred."""


@dataclass
class Articulate:
    """Find how the parts of an object move against each other, and write it for a simulator or a viewer."""

    input: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="MESH")]
    """A mesh, or a built-in object such as sample:cabinet. Parts are its scene nodes or groups, if it has several."""

    out: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="OUT [OUT ...]")] = ()
    """Where to write: .urdf, .xml (MJCF), .usd, .glb (plays every joint in turn), .json, .png (parts and axes)."""

    method: Method = "auto"
    """search: geometry alone. learned: the network, which also hears the search. auto: learned if there are weights."""

    weights: Annotated[Path | None, tyro.conf.arg(metavar="FILE.safetensors")] = None
    """Weights of the network; the shipped ones if not given."""

    labels: Annotated[Path | None, tyro.conf.arg(metavar="FILE.npy")] = None
    """The part of each face or each vertex as whole numbers, instead of the file's own parts."""

    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> dict[str, Any]:
        from neurok import io
        from neurok.bodyplan.bodies import find_parts
        from neurok.inference.articulate import find_joints, joined, resolve_method

        self._check_outputs()
        method = resolve_method(self.method, self.weights)
        asset = io.load(self.input)
        start = time.perf_counter()
        mesh = find_parts(asset, _read_labels(self.labels))
        parts_from = self._origin(asset, mesh)
        answers, search = find_joints(mesh, method, self.weights, parts_from == "pieces")
        seconds = time.perf_counter() - start
        articulation = joined(mesh, answers)
        figures = {**_figures(self.input, method, answers, search, seconds), "parts_from": parts_from}
        files = [str(file) for path in self.out for file in self._write(path, asset, articulation, figures)]
        say(_sentences(figures, self.out), json=self.json)
        return {**figures, "files": files}

    def _origin(self, asset: Asset, mesh: Mesh) -> Literal["labels", "file", "pieces"]:
        """Where the parts come from; connected pieces are a guess."""
        if self.labels is not None:
            return "labels"
        return "file" if mesh is asset.mesh else "pieces"

    def _check_outputs(self) -> None:
        from neurok.io.formats import WITH_JOINTS

        known = (*WITH_JOINTS, ".json", *PICTURES)
        for path in self.out:
            if path.suffix.lower() not in known:
                raise NeurokError(f"'{path}' cannot hold joints; --out takes files that end in {', '.join(known)}.")

    def _write(self, path: Path, asset: Asset, articulation: Articulation, figures: dict[str, Any]) -> list[Path]:
        from neurok import io

        suffix = path.suffix.lower()
        if suffix == ".json":
            return _write_json(path, figures)
        if suffix in PICTURES:
            return _draw(path, articulation)
        clips: tuple[Clip, ...] = ()
        if suffix in (".glb", ".gltf") and articulation.dof:
            from neurok.bodyplan.tour import tour

            clips = (articulation.clip(tour(articulation), name="joints"),)
        return io.save(replace(asset, mesh=articulation.mesh, clips=clips, articulation=articulation), path)


def _read_labels(path: Path | None) -> Any:
    import numpy as np

    if path is None:
        return None
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise NeurokError(f"'{path}' is no .npy file of labels ({error}); numpy.save writes one.") from None


def _figures(source: str, method: str, answers: list[Hypothesis], search: Search, seconds: float) -> dict[str, Any]:
    mesh, moving = search.mesh, {answer.part for answer in answers}
    rejected = [c for one in search.rejected for c in one[:REJECTED_SHOWN]]
    return {
        "input": source,
        "method": method,
        "parts": list(mesh.part_names),
        "bases": [name for part, name in enumerate(mesh.part_names) if part not in moving],
        "joints": [{**_told(c, mesh), "confidence": round(c.probability, 4)} for c in answers],
        "rejected": [{**_told(c, mesh), "score": round(c.probability, 6), "reason": c.reason} for c in rejected],
        "up": mesh.up,
        "unit": mesh.unit,
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

    write_files(path, {path.name: (json.dumps(figures, indent=1) + "\n").encode()})
    return [path]


def _draw(path: Path, articulation: Articulation) -> list[Path]:
    from neurok import rendering
    from neurok.rendering.markers import joint_markers

    image = rendering.render_mesh(articulation.mesh, 960, 720, colors="parts", markers=joint_markers(articulation))
    rendering.save_image(image, path)
    return [path]


def _sentences(figures: dict[str, Any], files: tuple[Path, ...]) -> str:
    lines = [f"{len(figures['parts'])} parts, {len(figures['joints'])} joints in {figures['seconds']:.1f} s."]
    if not figures["joints"]:
        lines.append("The object is one piece: give it parts (scene nodes, groups or --labels) to find joints.")
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
        lines.append(f"{line} (confidence {joint['confidence']:.2f})")
    lines += [f"Wrote {path}" for path in files]
    return "\n".join(lines)
