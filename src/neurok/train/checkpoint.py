"""Everything a run needs to go on bit for bit, in safetensors and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

from neurok.errors import FormatError
from neurok.io.files import read_bytes, write_files


def save_checkpoint(
    path: Path, modules: dict[str, torch.nn.Module], optimizers: list[torch.optim.Optimizer], facts: dict[str, Any]
) -> None:
    """Write one file; it replaces its predecessor only when it is whole."""
    tensors = {f"{name}.{key}": value for name, module in modules.items() for key, value in module.state_dict().items()}
    for number, optimizer in enumerate(optimizers):
        for index, state in optimizer.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"optimizer{number}.{index}.{key}"] = torch.as_tensor(value)
    tensors = {key: value.detach().clone().contiguous() for key, value in tensors.items()}
    data = save(tensors, metadata={"neurok": json.dumps(facts)})
    write_files(path, {path.name: data})


def load_checkpoint(
    path: Path, modules: dict[str, torch.nn.Module], optimizers: list[torch.optim.Optimizer]
) -> dict[str, Any]:
    """Put everything back and return the facts."""
    data = read_bytes(path)
    try:
        facts = json.loads(read_metadata(data)["neurok"])
        tensors = load(data)
        for name, module in modules.items():
            prefix = f"{name}."
            module.load_state_dict({k[len(prefix) :]: v for k, v in tensors.items() if k.startswith(prefix)})
    except Exception as error:
        raise FormatError(f"'{path}' is no checkpoint of this model: {str(error).splitlines()[0]}.") from error
    for number, optimizer in enumerate(optimizers):
        state: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith(f"optimizer{number}."):
                _, index, name = key.split(".", 2)
                state.setdefault(int(index), {})[name] = value
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return facts


def load_weights(path: Path, modules: dict[str, torch.nn.Module]) -> None:
    """Put weights alone into every module: those of a checkpoint, or of a model that was shipped."""
    data = read_bytes(path)
    if "neurok" in read_metadata(data):
        load_checkpoint(path, modules, [])
        return
    try:
        tensors = {f"model.{name}": value.float() for name, value in load(data).items()}
        for module in modules.values():
            module.load_state_dict(tensors)
    except Exception as error:
        raise FormatError(f"The weights '{path}' do not fit this model: {str(error).splitlines()[0]}.") from error


def read_facts(path: Path) -> dict[str, Any]:
    """The facts of a checkpoint without its weights."""
    text = read_metadata(read_bytes(path)).get("neurok")
    if text is None:
        raise FormatError(f"'{path}' is no checkpoint of a training run.")
    return json.loads(text)


def read_metadata(data: bytes) -> dict[str, str]:
    """The text header of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    if not 0 < length <= min(len(data) - 8, 100_000_000):
        raise FormatError("The file is no safetensors file: its header is missing.")
    return json.loads(data[8 : 8 + length]).get("__metadata__", {})


def rng_state(rng: np.random.Generator, generator: torch.Generator) -> dict[str, Any]:
    """Both random streams as plain JSON."""
    return {"numpy": rng.bit_generator.state, "torch": generator.get_state().tolist()}


def restore_rng(state: dict[str, Any], rng: np.random.Generator, generator: torch.Generator) -> None:
    rng.bit_generator.state = state["numpy"]
    generator.set_state(torch.tensor(state["torch"], dtype=torch.uint8))
