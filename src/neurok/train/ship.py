"""From a run to what is shipped: its averaged model and a card that says where it comes from."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from neurok.data.subject import Subject
from neurok.deformation.loss import DeformationTask
from neurok.deformation.models import Model, ModelConfig, model_config
from neurok.errors import FormatError, NeurokError
from neurok.io.files import read_bytes
from neurok.train.checkpoint import load_checkpoint, read_facts, read_metadata
from neurok.train.config import TrainConfig
from neurok.train.curve import read_log
from neurok.train.loop import CHECKPOINT, LOG, evaluate
from neurok.train.screen import watched

LIMITS = (
    "Learned from furniture, appliances, tools and animated figures; poses of other kinds of objects are guesses.",
    "One motion for each of at most 32 patches: cloth and thin soft parts move coarsely.",
    "The network knows no collisions: geometry gives rigid bodies joints, but what bends may pass through itself.",
    "The surface must be split where parts touch: parts welded into one component move as one soft body.",
    "Along a chain of joints that move together the far end strays: twists are added, not composed.",
)


def shipped_model(run: Path, data: list[dict[str, Any]] | None = None) -> tuple[Model, dict[str, Any]]:
    """The averaged model of a run, and its card.

    Args:
        run: Folder of the run.
        data: What it learned from, where the checkpoint does not say.
    """
    facts = read_facts(run / CHECKPOINT)
    config = TrainConfig.from_dict(facts["config"])
    task, average = DeformationTask(config.model), DeformationTask(config.model)
    load_checkpoint(run / CHECKPOINT, {"task": task, "average": average}, [])
    origin = facts.get("origin") or {}
    log = read_log(run / LOG) if (run / LOG).exists() else []
    last = log[-1] if log else {}
    card = {
        "data": data or origin.get("data", []),
        "steps": facts["step"],
        "planned_steps": config.steps,
        "pairs": facts["step"] * config.view.subjects * config.view.targets,
        "hours": round(facts["seconds"] / 3600, 2),
        "seed": config.seed,
        "commit": origin.get("commit") or commit(),
        "started_from": origin.get("started_from"),
        "training": {k: v for k, v in config.as_dict().items() if k != "model"},
        "metrics": {name: round(last[name], 4) for name in ("train", "nats", *watched(last)) if name in last},
        "metrics_meaning": "mean point error over mean displacement when the pose encoder sees the target; nats are "
        "the information in a pose. 'seen' and 'unseen' are held-out objects of known and of new categories.",
        "limits": list(LIMITS),
        "go_on": "neurok train deformation --data DATASET --out RUN --start-from THIS_FILE",
    }
    return average.model, card


def mean_model(
    runs: Sequence[Path], watch: dict[str, Sequence[Subject]], data: list[dict[str, Any]] | None = None
) -> tuple[Model, dict[str, Any]]:
    """The mean of the weights of several runs of one line, each begun where another ended, and its card.

    Runs that were begun from different random weights have nothing in common: their mean is noise.

    Args:
        runs: Folders of the runs.
        watch: Subjects by which the mean is measured, for it has no log.
        data: What they learned from, where the last checkpoint does not say.
    """
    models, cards = zip(*(shipped_model(run, data) for run in runs), strict=True)
    if any(model.config != models[0].config for model in models):
        raise NeurokError("The runs are of different models; only runs of one model have a mean.")
    task = DeformationTask(models[0].config)
    states = [model.state_dict() for model in models]
    task.model.load_state_dict({k: torch.stack([s[k].float() for s in states]).mean(dim=0) for k in states[0]})
    parts = [{k: card[k] for k in ("steps", "hours", "started_from", "training", "metrics")} for card in cards]
    card = {k: v for k, v in cards[-1].items() if k not in ("planned_steps", "training")}
    card |= {key: sum(one[key] for one in cards) for key in ("steps", "pairs", "hours")}
    metrics = {name: round(evaluate(task, subjects), 4) for name, subjects in watch.items()}
    return task.model, card | {"mean_of": parts, "metrics": metrics}


def model_config_of(path: Path) -> ModelConfig:
    """The configuration of the model behind weights: a checkpoint, or shipped weights with their card."""
    if not path.exists():
        raise NeurokError(f"There are no weights to go on with at '{path}'.")
    if "neurok" in read_metadata(read_bytes(path)):
        return model_config(read_facts(path)["config"]["model"])
    try:
        return model_config(json.loads(read_bytes(path.with_suffix(".json")))["config"])
    except (json.JSONDecodeError, KeyError) as error:
        raise FormatError(f"The card of '{path}' is damaged: it does not say what model it is of.") from error


def commit() -> str:
    """The version of the code that runs, where it is under version control."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
