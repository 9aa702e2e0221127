"""From runs to what is shipped: averaged weights, and a card that says where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from neurok.catalogue.vocabulary import CATEGORIES
from neurok.errors import NeurokError
from neurok.generation.writing import Generator
from neurok.hub import save_model
from neurok.learned.deformation.points import PointModel
from neurok.learned.ensemble import Ensemble
from neurok.learned.grouping import Grouper
from neurok_lab.data.still import UNSEEN_CATEGORIES
from neurok_lab.train.articulation import ArticulationRecipe, PieceRecipe
from neurok_lab.train.calibration import calibrate_joints, calibrate_pieces
from neurok_lab.train.checkpoint import load_weights, read_facts
from neurok_lab.train.config import RunConfig, restored
from neurok_lab.train.deformation import DeformationRecipe, DeformationTraining, evaluate, split_subjects
from neurok_lab.train.examples import (
    JointDataConfig,
    PieceSources,
    describe_data,
    prepare_pieces,
    watched,
    watched_things,
)
from neurok_lab.train.generation import FlowRecipe, PartListRecipe
from neurok_lab.train.log import Line, read_log
from neurok_lab.train.loop import CHECKPOINT, LOG
from neurok_lab.train.parts import PartRecipe
from neurok_lab.train.pictures import PictureRecipe, calibrated
from neurok_lab.train.views import ViewRecipe
from neurok_lab.train.views_data import UNSEEN_PACKS

KINDS = (
    DeformationRecipe, ArticulationRecipe, PartRecipe, PieceRecipe, PartListRecipe, FlowRecipe, PictureRecipe,
    ViewRecipe,
)  # fmt: skip
RECIPES: dict[str, type[RunConfig]] = {recipe.task: recipe for recipe in KINDS}

EXAMPLES = "examples"
"""Folder of a run with what it has prepared."""

HELD_OUT = (
    f"every fifth object of each sorted list, the categories {', '.join(UNSEEN_CATEGORIES)}, "
    "and the held-out generated families"
)
CARDS: dict[str, dict[str, Any]] = {
    "deformation": {
        "metrics_meaning": "mean point error over mean displacement when the pose encoder sees the target; nats are "
        "the information in a pose. 'seen' and 'unseen' are held-out objects of known and of new categories.",
        "limits": [
            "Learned from furniture, appliances, tools and animated figures; poses of other objects are guesses.",
            "One motion for each of at most 32 patches: cloth and thin soft parts move coarsely.",
            "The network knows no collisions: geometry gives rigid bodies joints; what bends may pass through itself.",
            "The surface must be split where parts touch: parts welded into one component move as one soft body.",
            "Along a chain of joints that move together the far end strays: twists are added, not composed.",
        ],
        "go_on": "neurok train deformation DATASET --out RUN --start-from THIS_FILE",
    },
    "articulation": {
        "what": "joints of segmented objects from geometry: kind, axis, hinge, limits and parent of every part",
        "limits": [
            "Parts must be given or found; parts found from connected pieces are often wrong, and confidence says so.",
            "Which way is up must be known, or the object must have flat sides to tell it by.",
            "Limits alone do not know which side opens, so they are best with the search.",
            "Cylindrical joints are not in the annotated data.",
        ],
    },
    "parts": {
        "what": "parts of household things: a surface sample to codes of shape, colour and material, and back",
        "held_out": "generated instances whose number is of the test split, real models by a checksum of their name",
        "limits": [
            "Parts must be given, each with its own surface; whole objects are not cut up here.",
            "Shapes of no explicit kind are 24 numbers: one smooth piece, few details, walls only as a hollow.",
            "Materials are those of the library; what they were learned from is generated or proposed by rules.",
        ],
    },
    "pieces": {
        "what": "bodies of raw meshes: which connected pieces move together, which belong to the base, and whether "
        "anything moves at all",
        "metrics_meaning": "of watched objects: shares of pieces that rightly move or stand still, of pairs of which "
        "one moves that are rightly told apart, and of objects of which it is rightly told whether anything moves",
        "go_on": "neurok train pieces ... --recipe further --start-from THIS_FILE (the first of its networks)",
        "limits": [
            "Pieces are connected components; a single surface is cut along its creases, and parts in it that are "
            "flush with what carries them are not found.",
            "Up must be known; learned from furniture, appliances, tools and containers.",
            "Knobs and buttons are often taken for parts of the base; drawers among legs are missed.",
            "Static objects it has learned from are furniture and household things.",
        ],
    },
    "views": {
        "what": "what moves, how and about which axis, seen from outside: for each cell of a view of normals and depth",
        "limits": [
            "Up must be known, and the object should stand along its own axes; colours are not looked at.",
            "Parts smaller than a cell of a view (a fortieth of its width) are not seen, nor is what is inside.",
            "Learned from furniture, appliances, containers, doors, windows and taps.",
        ],
        "go_on": "neurok train views FOLDER --out RUN --start-from THIS_FILE",
    },
    "pictures": {
        "what": "what a picture of a household thing shows: category, parts and counts, style, material, proportions, "
        "view, and which pixels are the object",
        "metrics_meaning": "of held-out generated objects, after a cut-out and on grounds of all kinds: losses, and "
        "'right', the share of categories",
        "limits": [
            f"Knows {', '.join(CATEGORIES)}; takes anything else for one of these, with doubt.",
            "Has learned from renders; the trunk knows photographs, the heads do not.",
            "One object that fills at least half of the picture.",
        ],
        "go_on": "neurok train pictures FOLDER --cache FOLDER --out RUN --start-from THIS_FILE",
    },
    "generation": {
        "what": "objects of household categories as lists of parts, from words",
        "license": "Apache-2.0",
        "data": [{"name": "neurok.catalogue", "license": "Apache-2.0", "held_out": "one instance in ten"}],
        "metrics_meaning": "held-out instances: minus log probability of a part's words [nats]; squared error of the "
        "flow's velocity, in spreads of the numbers",
        "limits": [
            f"Makes {', '.join(CATEGORIES)}, and nothing else.",
            "Learned from generated objects and at most some tens of real ones.",
            "Reads English.",
        ],
        "go_on": "neurok train generation STORE --out RUN --which list|flow --resume",
    },
}
"""What cards say of weights, besides what their runs tell."""

POINT_LIMITS = [
    "Learned from furniture, appliances, tools and animated figures; poses of other objects are guesses.",
    "Nothing makes bodies rigid: surfaces that should move together come apart, and may pass through each other.",
    "The surface must be split where parts touch: parts welded into one component move as one soft body.",
    "Matching and simulation move each of at most 32 patches as one rigid body.",
]
"""Of the point network, whose motions are not joints."""

SWEET_HOME = {
    "name": "Sweet Home 3D furniture library",
    "license": "CC0-1.0, CC-BY-3.0, CC-BY-3.0-US",
    "held_out": "one model in five, and one in three of the others to choose by",
}
"""Named beside the data of generation if a run has learned from it."""


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """What training has left in a folder."""

    recipe: Any
    network: Any
    """The averaged one, without its loss."""

    step: int
    hours: float
    origin: dict[str, Any]
    last: Line
    """Of the log."""

    folder: Path

    @staticmethod
    def read(folder: Path) -> TrainingRun:
        facts = read_facts(folder / CHECKPOINT)
        if facts["task"] not in RECIPES:
            raise NeurokError(f"Runs of the task {facts['task']!r} are not shipped; known are {', '.join(RECIPES)}.")
        recipe = RECIPES[facts["task"]].from_dict(facts["recipe"])
        module = recipe.build()
        load_weights(folder / CHECKPOINT, recipe.task, [module])
        network = module.get_submodule("model").requires_grad_(False).eval()
        last = (read_log(folder / LOG) or [{"training": {}, "watched": {}}])[-1]
        return TrainingRun(recipe, network, facts["step"], facts["seconds"] / 3600, facts["origin"], last, folder)

    def describe(self) -> dict[str, Any]:
        """What the card says of the run."""
        return {
            **{key: self.origin.get(key) for key in ("teacher", "started_from", "examples", "commit")},
            "steps": self.step,
            "hours": round(self.hours, 2),
            "training": {key: value for key, value in asdict(self.recipe).items() if key != "model"},
            "watched": self.last["watched"],
        }

    @property
    def metrics(self) -> dict[str, float]:
        """The last figures of watched objects."""
        return {name: round(value, 4) for name, value in self.last["watched"].items()}


def ship(
    folders: Sequence[Path], out: Path, data: Sequence[str | Path] = (), note: str | None = None
) -> dict[str, Any]:
    """Write the averaged weights of runs of one task, and their card; return the card.

    Networks for articulation and for pieces answer together and are calibrated. Of several networks for deformation,
    each begun where another ended, the mean is written: those begun from different random weights have nothing in
    common.

    Args:
        folders: Of the runs.
        out: The weights, a ``.safetensors`` file.
        data: Data sets they learned from, where the runs did not note them or these have moved.
        note: A sentence for the card.
    """
    if out.suffix != ".safetensors":
        raise NeurokError(f"Weights are written to a .safetensors file, not to '{out}'.")
    runs = [TrainingRun.read(folder) for folder in folders]
    tasks = {run.recipe.task for run in runs}
    if len(tasks) > 1:
        raise NeurokError(f"The runs are for {' and '.join(sorted(tasks))}; ship them separately.")
    task = tasks.pop()
    if task not in MAKERS:
        raise NeurokError(f"Runs of the task {task!r} are shipped by 'neurok train generation', all of them together.")
    model, facts = MAKERS[task](runs, data)
    named = [describe_data(folder) for folder in data] or runs[-1].origin.get("data", [])
    card = {
        "data": named,
        "license": _license(named),
        "steps": sum(run.step for run in runs),
        "hours": round(sum(run.hours for run in runs), 2),
        "runs": [run.describe() for run in runs],
        "parameters": sum(p.numel() for run in runs for p in run.network.parameters()),
        **CARDS[task],
        **facts,
        **({} if note is None else {"note": note}),
    }
    save_model(model, out, card)
    return card


def _deformation(runs: Sequence[TrainingRun], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """The network of a run with what its log says of it, or the mean of several, which has to be measured."""
    recipe, network, last = runs[-1].recipe, runs[-1].network, runs[-1].last
    if len(runs) == 1:
        metrics = {"nats": last["training"]["nats"], **DeformationTraining.curve(last)} if last["training"] else {}
    elif any(run.recipe.model != recipe.model for run in runs):
        raise NeurokError("The runs are of different models; only runs of one model have a mean.")
    elif not data:
        raise NeurokError("The mean of several runs has to be measured: name their data sets with --data.")
    else:
        states = [run.network.state_dict() for run in runs]
        task = recipe.build()
        task.model.load_state_dict({k: torch.stack([s[k] for s in states]).mean(dim=0) for k in states[0]})
        network, watched = task.model, split_subjects(data).watch
        metrics = {name: evaluate(task, subjects) for name, subjects in watched.items()}
    told = {"metrics": {name: round(value, 4) for name, value in metrics.items()}, "held_out": HELD_OUT}
    return network, {**told, **({"limits": POINT_LIMITS} if isinstance(network, PointModel) else {})}


def _articulation(runs: Sequence[TrainingRun], data: Sequence[str | Path]) -> tuple[Ensemble, dict[str, Any]]:
    """Networks that answer together, calibrated on the objects that they have watched."""
    ensemble = Ensemble(tuple(run.network for run in runs))
    source = restored(JointDataConfig(()), runs[0].origin.get("source", {"folders": []}))
    folders = tuple(map(str, data)) or source.folders
    facts = _learned(runs)
    things = watched_things(replace(source, folders=folders, everything=facts["held_out"] is None))
    told = {"objects": len(things), **calibrate_joints(ensemble, things)} if things else None
    return ensemble, {**facts, "calibrated_on": told}


def _parts(runs: Sequence[TrainingRun], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """The network of the last run, with what its log says of it."""
    return runs[-1].network, {"metrics": runs[-1].metrics}


def _pieces(runs: Sequence[TrainingRun], data: Sequence[str | Path]) -> tuple[Grouper, dict[str, Any]]:
    """Networks that answer together, calibrated on the objects that they have watched; ``data`` are folders of
    annotated objects, if moved. Examples that the first run has kept are taken from there."""
    members, facts = tuple(run.network for run in runs), _learned(runs)
    sources = restored(PieceSources(), runs[0].origin.get("sources", {}))
    if data:
        sources = replace(sources, annotated=tuple(map(str, data)))
    examples = list(prepare_pieces(watched(sources), None, runs[0].folder / EXAMPLES))
    if not examples:
        return Grouper(members), {**facts, "calibrated_on": None}
    calibration, told = calibrate_pieces(members, examples)
    return Grouper(members, calibration), {**facts, "calibrated_on": told}


def _views(runs: Sequence[Run], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """The network of the last run, with what its log says of it."""
    held = f"every fifth object of each sorted list, {', '.join(UNSEEN_PACKS)}, and the held-out generated families"
    told = {"metrics": runs[-1].metrics, "trunk": runs[-1].origin.get("trunk")}
    return runs[-1].network, {**_learned(runs), "held_out": held, **told}


def _pictures(runs: Sequence[TrainingRun], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """The network of the last run, calibrated on the objects that it has watched."""
    run = runs[-1]
    run.network.config = calibrated(run.network, Path(run.origin["cache"]))
    return run.network, {"metrics": run.metrics, "trunk": run.origin["trunk"]}


MAKERS: dict[str, Any] = {
    "deformation": _deformation, "articulation": _articulation, "parts": _parts, "pieces": _pieces, "views": _views,
    "pictures": _pictures,
}  # fmt: skip


def _learned(runs: Sequence[TrainingRun]) -> dict[str, Any]:
    """What was held out and what was learned from; all of the runs know held-out objects, or none."""
    found = {bool(run.origin.get("everything")) for run in runs}
    if len(found) > 1:
        raise NeurokError(
            "Some of the runs have learned from held-out objects (--everything), some have not; ship them separately."
        )
    names = sorted({name for run in runs for name in run.origin.get("objects", ())})
    return {"held_out": None if found.pop() else HELD_OUT, "learned_from": names}


def _license(data: list[dict[str, Any]]) -> str:
    is_research = any("PartNet" in terms for one in data for terms in one["licenses"])
    return "weights trained partly on PartNet-Mobility: research use" if is_research else "Apache-2.0"


NETWORKS = {"list": ("part list", "part_list"), "flow": ("flow", "flow")}
"""Runs of generation: the task of each, and what its network is called."""


def ship_generation(runs: Mapping[str, Path], out: Path) -> dict[str, Any]:
    """Write the averaged weights of runs of the list and the flow as one file, and its card; return the card."""
    networks: dict[str, Any] = {}
    told: dict[str, Any] = {}
    for name, (task, network) in NETWORKS.items():
        folder = runs[name]
        run = TrainingRun.read(folder)
        if run.recipe.task != task:
            raise NeurokError(
                f"'{folder}' is a run of the task {run.recipe.task!r}, but one of {task!r} is needed here."
            )
        networks[network] = run.network
        told["part list" if network == "part_list" else network] = {
            "steps": run.step,
            "hours": round(run.hours, 2),
            "origin": run.origin,
            "training": run.describe()["training"],
            "watched": run.metrics,
        }
    model, about = Generator(**networks), CARDS["generation"]
    has_real = any(run.get("origin", {}).get("real") for run in told.values())
    card = {
        **about,
        "data": [*about["data"], *([SWEET_HOME] if has_real else [])],
        "runs": told,
        "steps": sum(run["steps"] for run in told.values()),
        "hours": round(sum(run["hours"] for run in told.values()), 2),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    save_model(model, out, card)
    return card
