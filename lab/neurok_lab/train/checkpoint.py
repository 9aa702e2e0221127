"""Everything a run needs to go on bit for bit, in safetensors and JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load, save
from torch import nn

from neurok.errors import FormatError, NeurokError
from neurok.hub import find_task, find_weights, load_card, load_model, mismatch, not_finite
from neurok.io.files import read_bytes, write_files
from neurok_lab.train.config import RunConfig

Recipe = TypeVar("Recipe", bound=RunConfig)


@dataclass(eq=False)
class RunState:
    """Where a run is. ``random`` is as it was when the last step was finished, whatever has been drawn since then."""

    module: nn.Module
    average: nn.Module
    optimizers: list[torch.optim.Optimizer]
    rng: np.random.Generator
    generator: torch.Generator
    step: int = 0
    seconds: float = 0.0
    recent: list[dict[str, float]] = field(default_factory=list)
    """Figures of each step since the last line of the log."""

    random: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keep_random()

    def keep_random(self) -> None:
        """Note both random streams as plain JSON: a step is finished."""
        self.random = {"numpy": self.rng.bit_generator.state, "torch": self.generator.get_state().tolist()}

    def save(self, path: Path, facts: dict[str, Any]) -> None:
        """Write one file; it replaces its predecessor only when it is whole. ``facts`` are what a card needs."""
        tensors: dict[str, torch.Tensor] = {}
        for name, module in (("module", self.module), ("average", self.average)):
            tensors |= {f"{name}.{key}": value for key, value in module.state_dict().items()}
        for number, optimizer in enumerate(self.optimizers):
            for index, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer{number}.{index}.{key}": torch.as_tensor(value) for key, value in state.items()}
        tensors = {key: value.detach().clone().contiguous() for key, value in tensors.items()}
        facts = {**facts, "step": self.step, "seconds": self.seconds, "recent": self.recent}
        write_files(path, {path.name: save(tensors, metadata={"neurok": json.dumps(facts)})})

    def load(self, path: Path, task: str, rank: int, processes: int) -> None:
        """Put everything back."""
        facts, tensors = read_facts(path, task), load(read_bytes(path))
        if len(facts["random"]) != processes:
            raise NeurokError(f"The run in '{path}' used {len(facts['random'])} processes; resume with as many.")
        fill([self.module], tensors, "module.", path)
        fill([self.average], tensors, "average.", path)
        for number, optimizer in enumerate(self.optimizers):
            state: dict[int, dict[str, torch.Tensor]] = {}
            for key, value in tensors.items():
                if key.startswith(f"optimizer{number}."):
                    _, index, name = key.split(".", 2)
                    state.setdefault(int(index), {})[name] = value
            optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        self.step, self.seconds, self.recent = facts["step"], facts["seconds"], facts["recent"]
        self.random = facts["random"][rank]
        self.rng.bit_generator.state = self.random["numpy"]
        self.generator.set_state(torch.tensor(self.random["torch"], dtype=torch.uint8))


def fill(modules: Sequence[nn.Module], tensors: dict[str, torch.Tensor], prefix: str, path: Path) -> None:
    """Put the tensors of a prefix into modules, or say what does not fit."""
    given = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    for module in modules:
        if problem := mismatch(module.state_dict(), given) or not_finite(given):
            raise FormatError(f"The weights '{path}' do not fit this model: {problem}.")
        module.load_state_dict(given)


def load_weights(name: str | Path, task: str, modules: Sequence[nn.Module]) -> None:
    """Put weights alone into modules: the averaged ones of a checkpoint, or those of a model that was shipped."""
    path = find_weights(name, task)
    if is_checkpoint(path):
        read_facts(path, task)
        fill(modules, load(read_bytes(path)), "average.", path)
    else:
        fill([module.get_submodule("model") for module in modules], _network(path, task).state_dict(), "", path)


def recipe_for(recipe: Recipe, checkpoint: Path | None, start_from: str | Path | None = None, **changes: Any) -> Recipe:
    """What a run follows: the recipe of the checkpoint it goes on from, or a recipe with the model it starts from.

    ``changes`` that are not None come last.
    """
    if checkpoint is not None:
        recipe = recipe.from_dict(read_facts(checkpoint, recipe.task)["recipe"])
    elif start_from is not None:
        path = find_weights(start_from, recipe.task)
        if is_checkpoint(path):
            model = recipe.from_dict(read_facts(path, recipe.task)["recipe"]).model
        else:
            model = _network(path, recipe.task).config
        recipe = replace(recipe, model=model)
    return replace(recipe, **{name: value for name, value in changes.items() if value is not None})


HALVES = {"part list": "part_list", "flow": "flow"}
"""Tasks whose networks are shipped together, for generation."""


def _network(path: Path, task: str) -> Any:
    """The network of shipped weights that a task learns; the first of those that answer together."""
    if task in HALVES:
        return getattr(load_model(path, "generation"), HALVES[task])
    return next(iter(find_task(task).modules(load_model(path, task)).values()))  # type: ignore[call-overload]


def is_checkpoint(path: Path) -> bool:
    """Whether a safetensors file is a checkpoint of a run, not shipped weights."""
    return bool(_facts(path))


def read_facts(path: Path, task: str | None = None) -> dict[str, Any]:
    """The facts of a checkpoint without its weights; that of another task is refused."""
    facts = _facts(path)
    if "task" not in facts:
        raise FormatError(f"'{path}' is no checkpoint of a training run of this version.")
    if task is not None and facts["task"] != task:
        raise NeurokError(f"'{path}' is a checkpoint for {facts['task']}, but one for {task} is needed here.")
    return facts


def _facts(path: Path) -> dict[str, Any]:
    """What the header of a safetensors file holds beside tensors; nothing for shipped weights."""
    if not path.exists():
        raise NeurokError(f"There is no file '{path}'.")
    try:
        with safe_open(path, "pt") as file:
            return json.loads((file.metadata() or {}).get("neurok", "{}"))
    except Exception as error:
        raise FormatError(f"'{path}' is no safetensors file, or a damaged one: {error}.") from error


def commit() -> str:
    """The version of the code that runs, where it is under version control."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def started_from(checkpoint: Path | None, start_from: str | Path | None, task: str) -> dict[str, Any] | None:
    """What a run began with: as the checkpoint it goes on from has it, or the steps and data behind other weights."""
    if checkpoint is not None:
        return read_facts(checkpoint, task)["origin"].get("started_from")
    if start_from is None:
        return None
    path = find_weights(start_from, task)
    if is_checkpoint(path):
        facts = read_facts(path, task)
        known = {"steps": facts["step"], **facts["origin"]}
    else:
        known = {**load_card(path), "name": path.stem}
    return {key: known[key] for key in ("name", "sha256", "steps", "teacher", "data", "examples") if key in known}


def learned_before(earlier: str | Path | None, task: str) -> dict[str, Any]:
    """The annotated objects that weights have learned from, and whether held-out ones were among them."""
    if earlier is None:
        return {"objects": set(), "everything": False}
    path = find_weights(earlier, task)
    if not is_checkpoint(path):
        card = load_card(path)
        return {"objects": set(card.get("learned_from", ())), "everything": card.get("held_out") is None}
    origin = read_facts(path, task)["origin"]
    is_taught = origin.get("teacher", "joints") == "joints"
    objects = set(origin.get("objects", ())) if is_taught else set()
    return {"objects": objects, "everything": bool(is_taught and origin.get("everything"))}
