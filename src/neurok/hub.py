"""Trained weights by name, and the space of poses they find in a mesh.

Weights ship in the package, lie in a file, or come from a Hugging Face hub; they are checked against the checksum of
their card before they are used, and are never pickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.core import Asset, Mesh
from neurok.errors import FormatError, NeurokError, require
from neurok.io.files import read_bytes, read_card, write_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from neurok.deformation.models import Model
    from neurok.inference.points import PointSpace
    from neurok.kinematics import KinematicSpace
    from neurok.kinematics.reduce import ReductionMode
    from neurok.kinematics.screws import NeuralSpace

SHIPPED = Path(__file__).parent / "weights"
DEFAULT = "deformation"
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def infer(
    mesh: Mesh | Asset | str | Path,
    model: Model | str | Path | None = None,
    *,
    mode: ReductionMode = "gram",
    dim: int | None = None,
    touch: bool = True,
    exact: bool = False,
) -> NeuralSpace | PointSpace:
    """The plausible poses of a mesh, learned from other objects; joints, parts and clips of its file are not used.

    ``space.sample(8)`` draws plausible states, ``neurok.simulate(space)`` moves it.

    Args:
        mesh: A mesh, an asset, or what ``neurok.load`` reads.
        model: Trained weights: what ``load_model`` returns or takes; the shipped ones by default.
        mode: How the latent space is reduced: ``gram``, ``paper`` or ``none``.
        dim: Number of coordinates; by default enough for 99.99 % of the motion, at most 16.
        touch: Give rigid bodies the joints that the geometry at hand allows, and hold bends less likely that part what
            touches: best for sampling and moving. Off, the space is wider, for fitting poses that lie outside.
        exact: Keep a network of points itself instead of the closed form that is fitted to it: the truth, but too slow
            to simulate with. The space of a network of handles is a closed form anyway.
    """
    from neurok.deformation.points import PointModel
    from neurok.inference.points import closed_form, infer_points
    from neurok.inference.prior import infer_space

    if isinstance(mesh, str | Path):
        from neurok.io import load

        mesh = load(mesh)
    if isinstance(mesh, Asset):
        mesh = mesh.mesh
    if model is None or isinstance(model, str | Path):
        model = load_model(DEFAULT if model is None else model)
    if isinstance(model, PointModel):
        points = infer_points(mesh, model, mode, dim)
        return points if exact else closed_form(points)
    return infer_space(mesh, model, mode, dim, touch)


def learner(weights: str | Path | None = None, touch: bool = True) -> Callable[[Mesh], KinematicSpace | None]:
    """What finds the poses of a mesh for posing and scenes; it finds none where nothing moves.

    Nor does it where no weights are shipped or named.
    """
    from neurok.kinematics.screws import NeuralSpace

    if weights is None and not has_weights():
        return lambda mesh: None

    def learn(mesh: Mesh) -> KinematicSpace | None:
        space = infer(mesh, weights, touch=touch)
        return None if isinstance(space, NeuralSpace) and not space.screws.any() else space

    return learn


def load_model(name: str | Path = DEFAULT) -> Model:
    """A trained deformation model.

    Args:
        name: A shipped name, the path of a ``.safetensors`` file with its ``.json`` card beside it, or the id of a
            Hugging Face repository (``organisation/name``) that holds ``deformation.safetensors`` and its card.
    """
    return _load(str(_find(name)))


def load_card(name: str | Path = DEFAULT) -> dict[str, Any]:
    """What is known of some weights: data and licences, steps, wall time, seed, commit, metrics, limits."""
    return read_card(_find(name).with_suffix(".json"))


def has_weights(name: str | Path = DEFAULT) -> bool:
    """Whether some weights are at hand without any network."""
    try:
        return _local(name) is not None
    except OSError:
        return False


def save_model(model: Model, path: Path, card: dict[str, Any]) -> None:
    """Write weights in float16 and their card beside them."""
    import torch
    from safetensors.torch import save

    tensors = {name: value.detach().to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    data = save(tensors)
    full = {**card, "config": asdict(model.config), "sha256": hashlib.sha256(data).hexdigest()}
    card_name = path.with_suffix(".json").name
    write_files(path, {path.name: data, card_name: (json.dumps(full, indent=1, sort_keys=True) + "\n").encode()})


def _local(name: str | Path) -> Path | None:
    path = Path(name)
    if path.suffix != ".safetensors":
        path = SHIPPED / f"{name}.safetensors"
    return path if path.exists() else None


def _find(name: str | Path) -> Path:
    path = _local(name)
    if path is not None:
        return path
    if HUB_ID.fullmatch(str(name)) and not str(name).endswith(".safetensors"):
        return _fetch(str(name))
    known = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.safetensors"))) or "none"
    raise NeurokError(
        f"There are no weights '{name}'; shipped are: {known}. "
        "Otherwise name a .safetensors file, or a Hugging Face repository as organisation/name."
    )


def _fetch(repository: str) -> Path:
    """Weights and card from a Hugging Face hub, kept in its cache."""
    require("huggingface_hub", "hub")
    import huggingface_hub

    try:
        paths = [
            huggingface_hub.hf_hub_download(repository, f"{DEFAULT}{suffix}") for suffix in (".json", ".safetensors")
        ]
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].removesuffix(".")
        raise NeurokError(f"The weights '{repository}' could not be fetched from the hub: {reason}.") from error
    return Path(paths[1])


@cache
def _load(path: str) -> Model:
    import torch
    from safetensors.torch import load

    from neurok.deformation import build_model

    card, data = load_card(path), read_bytes(Path(path))
    if hashlib.sha256(data).hexdigest() != card.get("sha256"):
        raise FormatError(f"The weights '{path}' do not match the checksum of their card; install or copy them again.")
    try:
        model = build_model(card["config"])
        model.load_state_dict({name: value.to(torch.float32) for name, value in load(data).items()})
    except Exception as error:
        raise FormatError(f"The weights '{path}' do not fit their card: {str(error).splitlines()[0]}.") from error
    return model.requires_grad_(False).eval()
