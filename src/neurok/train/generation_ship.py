"""From two runs, of the part list and of the flow, to the weights of ``neurok generate``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from neurok.errors import NeurokError
from neurok.families.household.vocabulary import CATEGORIES
from neurok.generation.writing import Generator
from neurok.hub import save_model
from neurok.train.checkpoint import load_weights, read_facts
from neurok.train.generation import FlowRecipe, GenerationRecipe, PartListRecipe
from neurok.train.log import read_log
from neurok.train.loop import CHECKPOINT, LOG

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


def ship_generation(list_run: Path, flow_run: Path, out: Path, note: str | None = None) -> dict[str, Any]:
    """Write the averaged weights of both runs as one file, and its card; return the card."""
    part_list, first = _read(list_run, PartListRecipe())
    flow, second = _read(flow_run, FlowRecipe())
    card = {
        **ABOUT,
        "data": [*ABOUT["data"], *([REAL] if any(run["origin"].get("real") for run in (first, second)) else [])],
        "runs": {"part list": first, "flow": second},
        "steps": first["steps"] + second["steps"],
        "hours": round(first["hours"] + second["hours"], 2),
        "parameters": sum(p.numel() for network in (part_list, flow) for p in network.parameters()),
        **({} if note is None else {"note": note}),
    }
    save_model(Generator(part_list, flow), out, card)
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
