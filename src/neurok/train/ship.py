"""From a run to what is shipped: its averaged model and a card that says where it comes from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from neurok.deformation.loss import DeformationTask
from neurok.deformation.models import Model, ModelConfig, model_config
from neurok.errors import FormatError, NeurokError
from neurok.io.files import read_bytes
from neurok.train.checkpoint import load_checkpoint, read_facts, read_metadata
from neurok.train.config import TrainConfig
from neurok.train.curve import read_log
from neurok.train.loop import CHECKPOINT, LOG
from neurok.train.screen import watched

LIMITS = (
    "Learned from furniture, appliances, tools and animated figures; poses of other kinds of objects are guesses.",
    "One motion for each of at most 32 patches: cloth and thin soft parts move coarsely.",
    "Poses may let parts pass through each other; nothing forbids it but the data.",
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
