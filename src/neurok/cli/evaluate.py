"""``neurok evaluate``: how good the learned spaces are, beside what one would use instead."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from neurok.cli.flags import JsonFlag, OutFlag, arg
from neurok.cli.report import progress, say
from neurok.dynamics.particles.engine_config import parse_resolution
from neurok.scene.description import ActionName

DataFlag = Annotated[Path | None, arg("FOLDER", "NEUROK_DATA")]


@dataclass
class EvaluateDeformation:
    """Fit held-out objects to target point clouds without correspondence, with several methods on the same targets."""

    suite: Literal["partnet", "animated", "families", "soft"] = "partnet"
    """Which objects."""

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train, animated_glb)."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects, spread evenly over the suite."""

    methods: str = "rest,cpd,arap,pca,neurok,oracle-joints"
    """Comma-separated: rest, rigid, cpd, arap, bones, pca, oracle-joints, neurok; the last as
    neurok[@WEIGHTS][:gram|paper|none][:DIM]."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to a .jsonl beside the first, so a stopped run
    continues."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the table into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        store = _store(self.out)
        return _run(self, "deformation", suite=self.suite, methods=self.methods, store=store, tell=_tell)


@dataclass
class EvaluateSamples:
    """Evaluate whether samples of the learned spaces are plausible, compared with random motions and true states."""

    suite: str = "partnet"
    """Which objects: partnet or families, which have true joints."""

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train)."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects, spread evenly over the suite."""

    weights: Annotated[str | None, arg("FILE|ID|none", "the shipped ones")] = None
    """Weights of the learned spaces; 'none' omits the learned spaces."""

    out: OutFlag = ()
    """Write all figures to these JSON files."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the table into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        return _run(self, "samples", suite=self.suite, weights=self.weights)


@dataclass
class EvaluateMotions:
    """Predict the motions of held-out PartNet-Mobility objects from their raw meshes, and compare them with their true
    joints.

    Static objects (household and furniture folders beside it, if there) are evaluated as well.
    """

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train)."""

    methods: str = "search,infer,articulate,parts"
    """Comma-separated: infer, articulate, search (alone), parts (true parts given), unasked (without the grouping
    network), rules (bodies by rules), surface (everything fused into one surface first)."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects, spread evenly over the test set."""

    categories: bool = False
    """Also a row for each category."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to a .jsonl beside the first, so a stopped run
    continues (with the same weights: use another name for others)."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the tables into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        store = _store(self.out)
        return _run(self, "motions", methods=self.methods, store=store, categories=self.categories)


@dataclass
class EvaluateArticulation:
    """Predict the joints of held-out PartNet-Mobility objects and compare them with the true ones."""

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train)."""

    methods: str = "search,learned"
    """Comma-separated: search, learned[@WEIGHTS][:alone]; 'alone' omits the search."""

    parts: Literal["true", "components"] = "true"
    """Parts as annotated, or found from connected components."""

    drop_faces: float = 0.0
    """Share of the faces that are removed first."""

    rotate: Literal["none", "up", "any"] = "none"
    """Rotate each object by a random angle about its up axis, or arbitrarily."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects, spread evenly over the test set."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to a .jsonl beside the first, so a stopped run
    continues."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the table into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        store = _store(self.out)
        words = {"parts": self.parts, "drop_faces": self.drop_faces, "rotate": self.rotate}
        return _run(self, "articulation", methods=self.methods, store=store, tell=_tell_joints, **words)


@dataclass
class EvaluateDynamics:
    """Drop soft objects with the reduced engine and with particles, same materials and scene, and compare the
    motions."""

    act: ActionName = "drop"
    """The action applied to each object."""

    seconds: float = 1.0
    """Length of the motion."""

    resolution: str = "coarse"
    """Resolution of the particles: coarse, medium, fine, or cells along the longest side."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to a .jsonl beside the first, so a stopped run
    continues."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the table into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        cells = parse_resolution(self.resolution)
        store = _store(self.out)
        words = {"act": self.act, "seconds": self.seconds, "resolution": cells}
        return _run(self, "dynamics", store=store, tell=_tell_engines, **words)


@dataclass
class EvaluateGeneration:
    """Generate objects from captions, from free prompts and from pictures, and check whether they match the input."""

    weights: Annotated[str | None, arg("FILE|ID", "the shipped ones")] = None
    """A .safetensors file or a hub id."""

    each: int = 6
    """Held-out instances of each category whose captions and pictures are used."""

    what: tuple[Literal["text", "pictures", "seeds", "falls"], ...] = ("text", "pictures", "seeds", "falls")
    """What objects are generated from: captions and free prompts; renders of held-out instances and of real models
    (household/sweethome3d of the data folder, if there); several seeds; and whether they can be dropped."""

    retrieval: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Pictures of 'neurok data household --pictures': the nearest of these is evaluated as a baseline."""

    data: DataFlag = None
    """Folder of data sets."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of prompts or pictures of each kind, spread evenly over all."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to .jsonl files beside the first, so a stopped run
    continues."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the tables into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        store = _store(self.out)
        words = {"weights": self.weights, "each": self.each, "what": self.what, "retrieval": self.retrieval}
        return _run(self, "generation", store=store, tell=_tell_made, **words)


def _store(out: tuple[Path, ...]) -> Path | None:
    """Where rows are kept as they are measured."""
    return out[0].with_suffix(".jsonl") if out else None


def _tell_made(row: dict[str, Any]) -> None:
    known = ("all", "category", "whole", "chamfer", "apart", "simulable")
    names = [name for name in known if row.get(name) is not None]
    told = ", ".join(f"{name} {float(row[name]):.3g}" for name in names)
    say(f"{row['suite']}, {row.get('name', row.get('prompt', ''))}: {told}")


def _run(command: Any, table: Any, *, tell: Any = None, **options: Any) -> dict[str, Any]:
    """Measure, show the table, and write what was asked for."""
    from neurok.cli.outputs import check_outputs
    from neurok.evaluation.verbs import evaluate
    from neurok.staging import together

    check_outputs(command.out, known=(".json",), what="figures")
    watch = lambda items, title, total: progress(items, title, total=total, json=command.json)  # noqa: E731
    told = None if command.json else tell
    data = getattr(command, "data", None)
    found = evaluate(table, data=data, limit=command.limit, watch=watch, tell=told, **options)
    say(found.table, json=command.json)
    with together():
        for path in command.out or (None,):
            found.write(path, command.write)
    return found.figures()


def _tell(row: dict[str, Any]) -> None:
    figure = f"{row['chamfer_l1']:.4f} of {row['no_motion_l1']:.4f}" if "chamfer_l1" in row else row["message"]
    note = f" FAILED: {row['message']}" if row["status"] == "failed" else ""
    print(f"{row['object']}  {row['method']}  {figure}  {row.get('seconds', 0.0):.1f} s{note}", file=sys.stderr)


def _tell_engines(row: dict[str, Any]) -> None:
    print(
        f"{row['object']}  Chamfer {row['chamfer']:.4f} of size, {row['ratio']:.0f} x faster reduced", file=sys.stderr
    )


def _tell_joints(row: dict[str, Any]) -> None:
    angles = [f"{part['kind']}>{part['guess']} {part['axis']:.0f}°" for part in row["parts"] if "axis" in part][:4]
    note = f"  FAILED: {row['message']}" if row["message"] else ""
    print(f"{row['object']}  {row['method']}  {', '.join(angles)}  {row['seconds']:.1f} s{note}", file=sys.stderr)
