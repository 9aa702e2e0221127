"""Weights of the joint model: shipped in the package, or a path; checked before they are used, never pickled."""

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
    from neurok.articulation.network import JointModel

SHIPPED = Path(__file__).parent.parent / "weights" / "articulation.safetensors"


def find_weights(path: str | Path | None = None) -> Path:
    """The file of given weights, or of the shipped ones."""
    found = SHIPPED if path is None else Path(path)
    if not found.exists():
        hint = "this installation ships none" if path is None else "give the path of a .safetensors file"
        raise NeurokError(f"There are no weights of the joint model at '{found}': {hint}; --method search needs none.")
    return found


def save_joint_model(model: JointModel, path: Path, card: dict[str, Any]) -> None:
    """Write weights in float16 and their card beside them."""
    import torch
    from safetensors.torch import save

    tensors = {name: value.detach().to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    data = save(tensors)
    full = {**card, "config": asdict(model.config), "sha256": hashlib.sha256(data).hexdigest()}
    full["piece_calibration"] = list(model.piece_calibration)
    text = (json.dumps(full, indent=1, sort_keys=True) + "\n").encode()
    write_files(path, {path.name: data, path.with_suffix(".json").name: text})


def load_joint_model(path: str | Path | None = None) -> JointModel:
    """The model in a file, or the shipped one."""
    return _load(str(find_weights(path)))


@cache
def _load(path: str) -> JointModel:
    import torch
    from safetensors.torch import load

    from neurok.articulation.network import JointConfig, JointModel

    card_path, data = Path(path).with_suffix(".json"), read_bytes(Path(path))
    try:
        card = json.loads(read_bytes(card_path))
    except json.JSONDecodeError as error:
        raise FormatError(f"The card '{card_path}' is damaged: {error}.") from error
    if hashlib.sha256(data).hexdigest() != card.get("sha256"):
        raise FormatError(f"The weights '{path}' do not match the checksum of their card; install or copy them again.")
    try:
        model = JointModel(JointConfig(**card["config"]))
        model.load_state_dict({name: value.to(torch.float32) for name, value in load(data).items()})
        slope, offset = card.get("piece_calibration", model.calibration.tolist())
        model.piece_calibration = (float(slope), float(offset))
    except Exception as error:
        raise FormatError(f"The weights '{path}' do not fit their card: {str(error).splitlines()[0]}.") from error
    return model.requires_grad_(False).eval()
