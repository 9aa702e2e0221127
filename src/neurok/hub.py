"""Weights by name: shipped in the package, or a path; checked before they are used, never pickled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.errors import FormatError, NeurokError
from neurok.io.files import read_bytes, write_files

if TYPE_CHECKING:
    from neurok.deformation.handles import HandleModel

SHIPPED = Path(__file__).parent / "weights"
DEFAULT = "deformation"


def load_model(name: str | Path = DEFAULT) -> HandleModel:
    """A trained deformation model: a shipped name, or the path of a ``.safetensors`` file with its ``.json`` card."""
    path = _find(name)
    return _load(str(path))


def load_card(name: str | Path = DEFAULT) -> dict[str, Any]:
    """What is known of some weights: data and licences, steps, wall time, seed, commit, metrics, limits."""
    path = _find(name).with_suffix(".json")
    try:
        return json.loads(read_bytes(path))
    except json.JSONDecodeError as error:
        raise FormatError(f"The card '{path}' is damaged: {error}.") from error


def save_model(model: HandleModel, path: Path, card: dict[str, Any]) -> None:
    """Write weights in float16 and their card beside them."""
    import torch
    from safetensors.torch import save

    tensors = {name: value.detach().to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    data = save(tensors)
    full = {**card, "config": asdict(model.config), "sha256": hashlib.sha256(data).hexdigest()}
    card_name = path.with_suffix(".json").name
    write_files(path, {path.name: data, card_name: (json.dumps(full, indent=1, sort_keys=True) + "\n").encode()})


def _find(name: str | Path) -> Path:
    path = Path(name)
    if path.suffix != ".safetensors":
        path = SHIPPED / f"{name}.safetensors"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.safetensors"))) or "none"
        raise NeurokError(f"There are no weights '{name}'; shipped are: {known}. A path must end in .safetensors.")
    return path


@cache
def _load(path: str) -> HandleModel:
    import torch
    from safetensors.torch import load

    from neurok.deformation.handles import HandleConfig, HandleModel

    card, data = load_card(path), read_bytes(Path(path))
    if hashlib.sha256(data).hexdigest() != card.get("sha256"):
        raise FormatError(f"The weights '{path}' do not match the checksum of their card; install or copy them again.")
    try:
        model = HandleModel(HandleConfig(**card["config"]))
        model.load_state_dict({name: value.to(torch.float32) for name, value in load(data).items()})
    except Exception as error:
        raise FormatError(f"The weights '{path}' do not fit their card: {str(error).splitlines()[0]}.") from error
    return model.requires_grad_(False).eval()
