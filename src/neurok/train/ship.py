"""From runs to what is shipped: averaged weights, and a card that says where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from neurok.articulation.ensemble import Ensemble
from neurok.data.still import UNSEEN_CATEGORIES
from neurok.errors import NeurokError
from neurok.hub import save_model
from neurok.train.articulation import ArticulationRecipe
from neurok.train.articulation_calibration import calibrate
from neurok.train.articulation_data import JointDataConfig, describe_data, watched_things
from neurok.train.checkpoint import load_weights, read_facts
from neurok.train.config import RunConfig, restored
from neurok.train.deformation import DeformationRecipe, DeformationTraining, evaluate
from neurok.train.deformation_data import split_subjects
from neurok.train.log import Line, read_log
from neurok.train.loop import CHECKPOINT, LOG
from neurok.train.parts import PartRecipe
from neurok.train.pieces import PieceRecipe
from neurok.train.pieces_ship import EXAMPLES, pieces_to_ship

RECIPES: dict[str, type[RunConfig]] = {
    recipe.task: recipe for recipe in (DeformationRecipe, ArticulationRecipe, PartRecipe, PieceRecipe)
}

HELD_OUT = (
    f"every fifth object of each sorted list, the categories {', '.join(UNSEEN_CATEGORIES)}, "
    "and the held-out generated families"
)
DEFORMATION = {
    "metrics_meaning": "mean point error over mean displacement when the pose encoder sees the target; nats are "
    "the information in a pose. 'seen' and 'unseen' are held-out objects of known and of new categories.",
    "limits": [
        "Learned from furniture, appliances, tools and animated figures; poses of other kinds of objects are guesses.",
        "One motion for each of at most 32 patches: cloth and thin soft parts move coarsely.",
        "The network knows no collisions: geometry gives rigid bodies joints, but what bends may pass through itself.",
        "The surface must be split where parts touch: parts welded into one component move as one soft body.",
        "Along a chain of joints that move together the far end strays: twists are added, not composed.",
    ],
    "go_on": "neurok train deformation DATASET --out RUN --start-from THIS_FILE",
}
ARTICULATION = {
    "what": "joints of segmented objects from geometry: kind, axis, hinge, limits and parent of every part",
    "limits": [
        "Parts must be given or found; parts found from connected pieces are often wrong, and confidence says so.",
        "Which way is up must be known, or the object must have flat sides to tell it by.",
        "Limits alone do not know which side opens, so they are best with the search.",
        "Cylindrical joints are not in the annotated data.",
    ],
}
PARTS = {
    "what": "parts of household things: a surface sample to codes of shape, colour and material, and back",
    "held_out": "generated instances whose number is of the test split, and real models by a checksum of their name",
    "limits": [
        "Parts must be given, each with its own surface; whole objects are not cut up here.",
        "Shapes of no explicit kind are 24 numbers: one smooth piece, few details, walls only as a hollow.",
        "Materials are those of the library; what they were learned from is generated or proposed by rules.",
    ],
}


@dataclass(frozen=True, eq=False)
class Run:
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
    def read(folder: Path) -> Run:
        facts = read_facts(folder / CHECKPOINT)
        recipe = RECIPES[facts["task"]].from_dict(facts["recipe"])
        module = recipe.build()
        load_weights(folder / CHECKPOINT, recipe.task, [module])
        network = module.get_submodule("model").requires_grad_(False).eval()
        last = (read_log(folder / LOG) or [{"training": {}, "watched": {}}])[-1]
        return Run(recipe, network, facts["step"], facts["seconds"] / 3600, facts["origin"], last, folder)

    def describe(self) -> dict[str, Any]:
        """What the card says of the run."""
        return {
            **{key: self.origin.get(key) for key in ("teacher", "started_from", "examples", "commit")},
            "steps": self.step,
            "hours": round(self.hours, 2),
            "training": {key: value for key, value in asdict(self.recipe).items() if key != "model"},
            "watched": self.last["watched"],
        }


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
    runs = [Run.read(folder) for folder in folders]
    tasks = {run.recipe.task for run in runs}
    if len(tasks) > 1:
        raise NeurokError(f"The runs are for {' and '.join(sorted(tasks))}; ship them separately.")
    makers: dict[str, Any] = {
        "deformation": _deformation, "articulation": _articulation, "parts": _parts, "pieces": _pieces,
    }  # fmt: skip
    model, facts = makers[tasks.pop()](runs, data)
    named = [describe_data(folder) for folder in data] or runs[-1].origin.get("data", [])
    card = {
        "data": named,
        "license": _license(named),
        "steps": sum(run.step for run in runs),
        "hours": round(sum(run.hours for run in runs), 2),
        "runs": [run.describe() for run in runs],
        "parameters": sum(p.numel() for run in runs for p in run.network.parameters()),
        **facts,
        **({} if note is None else {"note": note}),
    }
    save_model(model, out, card)
    return card


def _deformation(runs: Sequence[Run], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
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
        metrics = {name: evaluate(task, subjects, recipe) for name, subjects in watched.items()}
    return network, {"metrics": {name: round(value, 4) for name, value in metrics.items()}, **DEFORMATION}


def _articulation(runs: Sequence[Run], data: Sequence[str | Path]) -> tuple[Ensemble, dict[str, Any]]:
    """Networks that answer together, calibrated on the objects that they have watched."""
    ensemble = Ensemble(tuple(run.network for run in runs))
    everything = _everything(runs)
    source = restored(JointDataConfig(()), runs[0].origin.get("source", {"folders": []}))
    folders = tuple(map(str, data)) or source.folders
    things = watched_things(replace(source, folders=folders, everything=everything))
    return ensemble, {
        "held_out": None if everything else HELD_OUT,
        "learned_from": _learned_from(runs),
        "calibrated_on": {"objects": len(things), **calibrate(ensemble, things)} if things else None,
        **ARTICULATION,
    }


def _parts(runs: Sequence[Run], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """The network of the last run, with what its log says of it."""
    return runs[-1].network, {"metrics": {n: round(v, 4) for n, v in runs[-1].last["watched"].items()}, **PARTS}


def _pieces(runs: Sequence[Run], data: Sequence[str | Path]) -> tuple[Any, dict[str, Any]]:
    """Networks that answer together, calibrated on the objects that they have watched."""
    members, everything = tuple(run.network for run in runs), _everything(runs)
    grouper, facts = pieces_to_ship(members, runs[0].origin, data, runs[0].folder / EXAMPLES)
    return grouper, {"held_out": None if everything else HELD_OUT, "learned_from": _learned_from(runs), **facts}


def _everything(runs: Sequence[Run]) -> bool:
    """Whether the runs have learned from held-out objects too; all of them or none."""
    found = {bool(run.origin.get("everything")) for run in runs}
    if len(found) > 1:
        raise NeurokError(
            "Some of the runs have learned from held-out objects (--everything), some have not; ship them separately."
        )
    return found.pop()


def _learned_from(runs: Sequence[Run]) -> list[str]:
    return sorted({name for run in runs for name in run.origin.get("objects", ())})


def _license(data: list[dict[str, Any]]) -> str:
    is_research = any("PartNet" in terms for one in data for terms in one["licenses"])
    return "weights trained partly on PartNet-Mobility: research use" if is_research else "Apache-2.0"
