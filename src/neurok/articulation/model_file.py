"""Weights of the joint models: shipped in the package, or a path; checked before they are used, never pickled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.errors import FormatError, NeurokError
from neurok.io.files import read_bytes, read_card, write_files

if TYPE_CHECKING:
    from neurok.articulation.ensemble import Ensemble

SHIPPED = Path(__file__).parent.parent / "weights" / "articulation.safetensors"
"""For use: these weights have learned from held-out objects too."""

MEASURED = SHIPPED.with_name("articulation_held_out.safetensors")
"""Their twin, made alike but without the held-out objects: what figures are measured with."""


def find_weights(path: str | Path | None = None) -> Path:
    """The file of given weights, or of the shipped ones."""
    found = SHIPPED if path is None else Path(path)
    if not found.exists():
        hint = "this installation ships none" if path is None else "give the path of a .safetensors file"
        raise NeurokError(f"There are no weights of the joint model at '{found}': {hint}; --method search needs none.")
    return found


def save_joint_model(ensemble: Ensemble, path: Path, card: dict[str, Any]) -> None:
    """Write the weights of all members in float16 and their card beside them."""
    import torch
    from safetensors.torch import save

    tensors = {
        f"{number}.{name}": value.detach().to(torch.float16).contiguous()
        for number, member in enumerate(ensemble.members)
        for name, value in member.state_dict().items()
    }
    data = save(tensors)
    full = {
        **card,
        "members": [asdict(member.config) for member in ensemble.members],
        "calibration": {"parts": ensemble.calibration, "pieces": ensemble.piece_calibration},
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    text = (json.dumps(full, indent=1, sort_keys=True) + "\n").encode()
    write_files(path, {path.name: data, path.with_suffix(".json").name: text})


def load_joint_model(path: str | Path | None = None) -> Ensemble:
    """The models in a file, or the shipped ones."""
    return _load(str(find_weights(path)))


@cache
def _load(path: str) -> Ensemble:
    import torch
    from safetensors.torch import load

    from neurok.articulation.ensemble import Ensemble
    from neurok.articulation.network import JointConfig, JointModel

    card, data = read_card(Path(path).with_suffix(".json")), read_bytes(Path(path))
    if hashlib.sha256(data).hexdigest() != card.get("sha256"):
        raise FormatError(f"The weights '{path}' do not match the checksum of their card; install or copy them again.")
    try:
        tensors = {name: value.to(torch.float32) for name, value in load(data).items()}
        members = []
        for number, config in enumerate(card["members"]):
            model, prefix = JointModel(JointConfig(**config)), f"{number}."
            model.load_state_dict({k[len(prefix) :]: v for k, v in tensors.items() if k.startswith(prefix)})
            members.append(model.requires_grad_(False).eval())
        calibration = {name: (float(slope), float(offset)) for name, (slope, offset) in card["calibration"].items()}
        return Ensemble(tuple(members), calibration["parts"], calibration["pieces"])
    except Exception as error:
        raise FormatError(f"The weights '{path}' do not fit their card: {str(error).splitlines()[0]}.") from error
