"""``neurok evaluate``: how good the learned spaces are, beside what one would use instead."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import tyro

from neurok.cli.flags import JsonFlag, OutFlag, arg
from neurok.cli.outputs import progress, say
from neurok.dynamics.particles.engine_config import parse_resolution
from neurok.scene.description import ActionName

DataFlag = Annotated[Path | None, arg("FOLDER", "NEUROK_DATA")]


def _tell_poses(row: dict[str, Any]) -> str:
    figure = f"{row['chamfer_l1']:.4f} of {row['no_motion_l1']:.4f}" if "chamfer_l1" in row else row["message"]
    note = f" FAILED: {row['message']}" if row["status"] == "failed" else ""
    return f"{row['object']}  {row['method']}  {figure}  {row.get('seconds', 0.0):.1f} s{note}"


def _tell_joints(row: dict[str, Any]) -> str:
    angles = [f"{part['kind']}>{part['guess']} {part['axis']:.0f}°" for part in row["parts"] if "axis" in part][:4]
    note = f"  FAILED: {row['message']}" if row["message"] else ""
    return f"{row['object']}  {row['method']}  {', '.join(angles)}  {row['seconds']:.1f} s{note}"


def _tell_engines(row: dict[str, Any]) -> str:
    return f"{row['object']}  Chamfer {row['chamfer']:.4f} of size, {row['ratio']:.0f} x faster reduced"


def _tell_decision(row: dict[str, Any]) -> str:
    if row["message"]:
        return f"{row['key']}  FAILED: {row['message']}"
    wrong = [name for name in ("matter", "mass", "still", "joint") if row.get(f"{name}_right") == 0.0]
    found = f"{row['matter']} ({row['matter_true']}), {row['mass']:.3g} kg, {'; '.join(row['joints']) or 'no joints'}"
    return f"{row['key']}  {found}{'  WRONG: ' + ', '.join(wrong) if wrong else ''}  {row['seconds']:.1f} s"


def _tell_made(row: dict[str, Any]) -> str:
    known = ("all", "category", "whole", "chamfer", "apart", "simulable")
    told = ", ".join(f"{name} {float(row[name]):.3g}" for name in known if row.get(name) is not None)
    return f"{row['suite']}, {row.get('name', row.get('prompt', ''))}: {told}"


@dataclass(kw_only=True)
class _Evaluate:
    """Flags of every table; those that a command adds are options of ``neurok.evaluate``."""

    table: ClassVar[Any]
    words: ClassVar[Any] = None
    """What is said of each row: a function of it."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects, spread evenly over all."""

    out: OutFlag = ()
    """Write all figures to these JSON files; rows are also written to a .jsonl beside the first, so a stopped run
    continues (with the same weights: use another name for others)."""

    write: Annotated[Path | None, arg("PAGE.md", "none")] = None
    """Put the table into this Markdown file."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        """Measure, show the table, and write what was asked for."""
        from neurok.cli.outputs import check_outputs
        from neurok.staging import together
        from neurok_lab.evaluation.verbs import evaluate

        check_outputs(self.out, known=(".json",), what="figures")
        options = {one.name: getattr(self, one.name) for one in fields(self)}
        options = {name: value for name, value in options.items() if name not in ("out", "write", "json")}
        store = self.out[0].with_suffix(".jsonl") if self.out else None
        tell = None if self.json or self.words is None else self._tell
        found = evaluate(self.table, store=store, watch=self._watch, tell=tell, **options | self.changed())
        say(found.table, json=self.json)
        with together():
            for path in self.out or (None,):
                found.write(path, self.write)
        return found.figures()

    def changed(self) -> dict[str, Any]:
        """Options that are not what their flags say."""
        return {}

    def _watch(self, items: Any, title: str, total: int) -> Any:
        return progress(items, title, total=total, json=self.json)

    def _tell(self, row: dict[str, Any]) -> None:
        print(self.words(row), file=sys.stderr)


@dataclass(kw_only=True)
class EvaluateDeformation(_Evaluate):
    """Fit held-out objects to target point clouds without correspondence, with several methods on the same targets."""

    table = "deformation"
    words = staticmethod(_tell_poses)

    suite: Literal["partnet", "animated", "families", "soft"] = "partnet"
    """Which objects."""

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train, animated_glb)."""

    methods: str = "rest,cpd,arap,pca,neurok,oracle-joints"
    """Comma-separated: rest, rigid, cpd, arap, bones, pca, oracle-joints, neurok; the last as
    neurok[@WEIGHTS][:gram|paper|none][:DIM]."""


@dataclass(kw_only=True)
class EvaluateSamples(_Evaluate):
    """Evaluate whether samples of the learned spaces are plausible, compared with random motions and true states."""

    table = "samples"

    suite: str = "partnet"
    """Which objects: partnet or families, which have true joints."""

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train)."""

    weights: Annotated[str | None, arg("FILE|ID|none", "the shipped ones")] = None
    """Weights of the learned spaces; 'none' omits the learned spaces."""


@dataclass(kw_only=True)
class EvaluateMotions(_Evaluate):
    """Predict the motions of held-out PartNet-Mobility objects from their raw meshes, and compare them with their true
    joints.

    Static objects (household and furniture folders beside it, if there) are evaluated as well.
    """

    table = "motions"

    data: DataFlag = None
    """Folder of data sets (partnet_mobility/train)."""

    methods: str = "search,infer,articulate,parts"
    """Comma-separated: infer, articulate, search (alone), parts (true parts given), unasked (without the grouping
    network); or, with objects of articulated_packs beside them and as a table of its own (surfaces): shell (what is
    seen from outside), melt64, melt128, melt192 (everything fused into one surface of so many cells), blind (melt64
    without views)."""

    categories: bool = False
    """Also a row for each category."""


@dataclass(kw_only=True)
class EvaluateArticulation(_Evaluate):
    """Predict the joints of held-out PartNet-Mobility objects and compare them with the true ones."""

    table = "articulation"
    words = staticmethod(_tell_joints)

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


@dataclass(kw_only=True)
class EvaluateDecisions(_Evaluate):
    """Compare what is decided of real files (matter, mass, joints) with what a person says of them in truth.csv."""

    table = "decisions"
    words = staticmethod(_tell_decision)

    data: Annotated[tyro.conf.Positional[Path | None], arg("FOLDER", "real_assets of NEUROK_DATA")] = None
    """Folder with truth.csv and the files that it names."""


@dataclass(kw_only=True)
class EvaluateDynamics(_Evaluate):
    """Drop soft objects with the reduced engine and with particles, same materials and scene, and compare the
    motions."""

    table = "dynamics"
    words = staticmethod(_tell_engines)

    act: ActionName = "drop"
    """The action applied to each object."""

    seconds: float = 1.0
    """Length of the motion."""

    resolution: str = "coarse"
    """Resolution of the particles: coarse, medium, fine, or cells along the longest side."""

    def changed(self) -> dict[str, Any]:
        return {"resolution": parse_resolution(self.resolution)}


@dataclass(kw_only=True)
class EvaluateGeneration(_Evaluate):
    """Generate objects from captions, from free prompts and from pictures, and check whether they match the input."""

    table = "generation"
    words = staticmethod(_tell_made)

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
