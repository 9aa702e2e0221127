"""From runs of the part list, the flow and the picture reader to the weights of ``neurok generate``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from neurok.errors import NeurokError
from neurok.families.household.vocabulary import CATEGORIES
from neurok.generation.writing import Generator
from neurok.hub import load_card, load_model, save_model
from neurok.train.checkpoint import load_weights, read_facts
from neurok.train.generation import FlowRecipe, GenerationRecipe, PartListRecipe
from neurok.train.log import read_log
from neurok.train.loop import CHECKPOINT, LOG
from neurok.train.pictures import PictureRecipe

ABOUT = {
    "what": "objects of household categories as lists of parts, from words or a picture",
    "license": "Apache-2.0",
    "data": [{"name": "neurok.families.household", "license": "Apache-2.0", "held_out": "one instance in ten"}],
    "metrics_meaning": "held-out instances: minus log probability of a part's words [nats]; squared error of the "
    "flow's velocity, in spreads of the numbers",
    "limits": [
        f"Makes {', '.join(CATEGORIES)}, and nothing else.",
        "Learned from generated objects and at most some tens of real ones; photographs are read coarsely.",
        "Reads English.",
    ],
    "go_on": "neurok train generation STORE --out RUN --which list|flow --resume",
}


REAL = {
    "name": "Sweet Home 3D furniture library",
    "license": "CC0-1.0, CC-BY-3.0, CC-BY-3.0-US",
    "held_out": "one model in five, and one in three of the others to choose by",
}
"""Named beside the data if a run has learned from it."""


def ship_generation(
    list_run: Path, flow_run: Path, out: Path, pictures_run: Path | None = None, note: str | None = None
) -> dict[str, Any]:
    """Write the averaged weights of all runs as one file, and its card; return the card."""
    part_list, first = _read(list_run, PartListRecipe())
    flow, second = _read(flow_run, FlowRecipe())
    runs = {"part list": first, "flow": second}
    reader = None
    if pictures_run is not None:
        reader, runs["reader"] = _read(pictures_run, PictureRecipe())
    return _save(Generator(part_list, flow, reader), runs, {} if note is None else {"note": note}, out)


def ship_reader(weights: str | Path, pictures_run: Path, out: Path) -> dict[str, Any]:
    """Write the list and the flow of some weights as they are, with the reader of a run of pictures."""
    known, card = load_model(weights, "generation"), load_card(weights)
    reader, told = _read(pictures_run, PictureRecipe())
    kept = {key: card[key] for key in ("note",) if key in card}
    return _save(Generator(known.part_list, known.flow, reader), {**card["runs"], "reader": told}, kept, out)


def _save(model: Generator, runs: dict[str, Any], more: dict[str, Any], out: Path) -> dict[str, Any]:
    has_real = any(run.get("origin", {}).get("real") for run in runs.values())
    card = {
        **ABOUT,
        "data": [*ABOUT["data"], *([REAL] if has_real else [])],
        "runs": runs,
        "steps": sum(run["steps"] for run in runs.values()),
        "hours": round(sum(run["hours"] for run in runs.values()), 2),
        "parameters": sum(p.numel() for p in model.parameters()),
        **more,
    }
    save_model(model, out, card)
    return card


def _read(folder: Path, usual: GenerationRecipe) -> tuple[Any, dict[str, Any]]:
    facts = read_facts(folder / CHECKPOINT)
    if facts["task"] != usual.task:
        raise NeurokError(
            f"'{folder}' is a run of the task {facts['task']!r}, but one of {usual.task!r} is needed here."
        )
    recipe = type(usual).from_dict(facts["recipe"])
    module = recipe.build()
    load_weights(folder / CHECKPOINT, recipe.task, [module])
    network = module.get_submodule("model").requires_grad_(False).eval()
    last = (read_log(folder / LOG) or [{"watched": {}}])[-1]
    training = {key: value for key, value in asdict(recipe).items() if key != "model"}
    told = {
        "steps": facts["step"],
        "hours": round(facts["seconds"] / 3600, 2),
        "origin": facts["origin"],
        "training": training,
        "watched": {name: round(value, 4) for name, value in last["watched"].items()},
    }
    return network, told
