"""All trained weights: found by name, checked, loaded and saved, each file with a card that says what it is.

Weights ship in the package, lie in a file, or come from a Hugging Face hub; they are checked against the checksum of
their card before they are used, and are never pickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from neurok.errors import FormatError, NeurokError, require, shown
from neurok.io.files import read_bytes, read_card, write_files
from neurok.learned.task import Task

if TYPE_CHECKING:
    from torch import Tensor

    from neurok.generation.picture_reader import PictureReader
    from neurok.generation.writing import Generator
    from neurok.learned.deformation.points import PointModel
    from neurok.learned.ensemble import Ensemble
    from neurok.learned.grouping import Grouper
    from neurok.learned.views.network import ViewModel

SHIPPED = Path(__file__).parent / "weights"
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")

NAMED = 3
"""Tensors that an error message names before it counts the others."""


TASKS = {
    # task: (what only its cards have, since older cards do not name their task; where its ``Task`` lies)
    "deformation": ("config", "neurok.learned.deformation.points:TASK"),
    "articulation": ("members", "neurok.learned.ensemble:TASK"),
    "pieces": ("piece_members", "neurok.learned.grouping:TASK"),
    "views": ("view_config", "neurok.learned.views.network:TASK"),
    "generation": ("part_list", "neurok.generation.writing:TASK"),
    "pictures": ("picture_config", "neurok.generation.picture_reader:TASK"),
}
"""What weights are shipped for; further tasks are entry points ``neurok.tasks``, as those of the lab."""


@cache
def known_tasks() -> dict[str, tuple[str, str]]:
    """All tasks that are installed."""
    found = entry_points(group="neurok.tasks")
    return TASKS | {point.name: (f"{point.name.removesuffix('s')}_config", point.value) for point in found}


def find_task(name: str) -> Task:
    """How models of a task are described and built."""
    module, attribute = known_tasks()[name][1].split(":")
    task: Task = getattr(import_module(module), attribute)
    return task


@overload
def load_model(name: str | Path, task: Literal["deformation"]) -> PointModel: ...
@overload
def load_model(name: str | Path, task: Literal["articulation"]) -> Ensemble: ...
@overload
def load_model(name: str | Path, task: Literal["pieces"]) -> Grouper: ...
@overload
def load_model(name: str | Path, task: Literal["views"]) -> ViewModel: ...
@overload
def load_model(name: str | Path, task: Literal["generation"]) -> Generator: ...
@overload
def load_model(name: str | Path, task: Literal["pictures"]) -> PictureReader: ...
@overload
def load_model(name: str | Path = "deformation", task: None = None) -> Any: ...
def load_model(name: str | Path = "deformation", task: str | None = None) -> Any:
    """A trained model; what its card describes decides which.

    Args:
        name: A shipped name such as ``deformation`` or ``articulation``, the path of a ``.safetensors`` file with its
            ``.json`` card beside it, or the id of a Hugging Face repository (``organisation/name``) that holds weights
            and a card named by their task: ``deformation.safetensors`` and ``deformation.json``.
        task: What the weights must be for; others are refused.
    """
    path = find_weights(name, task)
    card = load_card(path)
    found = task_of(card, path)
    if task is not None and found != task:
        raise NeurokError(f"The weights '{name}' are for {found}, but weights for {task} are needed here.")
    return _load(path, str(card.get("sha256")))


def find_weights(name: str | Path, task: str | None = None) -> Path:
    """The file of some weights; what is on a Hugging Face hub is fetched."""
    path = _local(name)
    if path is not None:
        return path
    if HUB_ID.fullmatch(str(name)) and not str(name).endswith(".safetensors") and not Path(name).exists():
        return _fetch(str(name), list(known_tasks()) if task is None else [task])
    known = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.safetensors"))) or "none"
    raise NeurokError(
        f"There are no weights '{name}'; shipped are: {known}. "
        "Otherwise name a .safetensors file, or a Hugging Face repository as organisation/name."
    )


def has_weights(name: str | Path) -> bool:
    """Whether some weights are at hand without any network."""
    try:
        return _local(name) is not None
    except OSError:
        return False


def load_card(name: str | Path) -> dict[str, Any]:
    """What is known of some weights: task, data and licences, steps, wall time, seed, commit, metrics, limits."""
    return read_card(find_weights(name).with_suffix(".json"))


def task_of(card: dict[str, Any], path: Path) -> str:
    """The task that a card describes."""
    task = card.get("task") or next((name for name, (field, _) in known_tasks().items() if field in card), None)
    if not isinstance(task, str) or task not in known_tasks():
        what = "names no task" if task is None else f"names the task {shown(task)}"
        raise FormatError(f"The card of '{path}' {what}; this version of neurok knows {', '.join(known_tasks())}.")
    return str(task)


def save_model(model: Any, path: Path, card: dict[str, Any]) -> None:
    """Write weights in float16 and their card beside them."""
    import torch
    from safetensors.torch import save

    if path.suffix != ".safetensors":
        raise NeurokError(f"Weights are written to a .safetensors file, not to '{path}'.")
    described = {name: said for name in known_tasks() if (said := find_task(name).describe(model)) is not None}
    ((task, fields),) = described.items()
    tensors = {
        prefix + name: value.detach().to(torch.float16).contiguous()
        for prefix, module in find_task(task).modules(model).items()
        for name, value in module.state_dict().items()
    }
    if problem := not_finite(tensors):
        raise NeurokError(f"The weights for '{path}' are not written: {problem} in half precision.")
    data = save(tensors)
    full = {**card, "task": task, **fields, "sha256": hashlib.sha256(data).hexdigest()}
    try:
        text = json.dumps(full, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except ValueError as error:
        problem = "their card has numbers that are not finite"
        raise NeurokError(f"The weights for '{path}' are not written: {problem}.") from error
    write_files(path, {path.name: data, path.with_suffix(".json").name: text.encode()})


def _local(name: str | Path) -> Path | None:
    path = Path(name)
    if path.suffix != ".safetensors":
        path = SHIPPED / f"{name}.safetensors"
    return path if path.exists() else None


def _fetch(repository: str, tasks: list[str]) -> Path:
    """Weights and card of the first task that a repository on a Hugging Face hub has, kept in its cache."""
    require("huggingface_hub", "hub")
    import huggingface_hub

    for task in tasks:
        try:
            huggingface_hub.hf_hub_download(repository, f"{task}.json")
            return Path(huggingface_hub.hf_hub_download(repository, f"{task}.safetensors"))
        except Exception as error:
            failure = error
    reason = (str(failure).strip() or type(failure).__name__).splitlines()[0].removesuffix(".")
    raise NeurokError(f"The weights '{repository}' could not be fetched from the hub: {reason}.") from failure


@cache
def _load(path: Path, checksum: str) -> Any:
    import torch
    from safetensors.torch import load

    from neurok.learned.blocks import WithoutFirstValues

    card, data = load_card(path), read_bytes(path)
    if hashlib.sha256(data).hexdigest() != checksum:
        raise FormatError(f"The weights '{path}' do not match the checksum of their card; install or copy them again.")
    task = find_task(task_of(card, path))
    try:
        tensors = {name: value.to(torch.float32) for name, value in load(data).items()}
        if (deepest := _deepest(card)) > len(tensors):
            raise NeurokError(f"it asks for {deepest} layers, and there are {len(tensors)} tensors")
        with torch.device("meta"), WithoutFirstValues():  # a card may ask for more than any memory holds
            problem = mismatch(_wanted(task, task.build(card)), tensors)
        if problem:
            raise NeurokError(problem)
        with WithoutFirstValues():
            model = task.build(card)
    except Exception as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error).splitlines()[0].removesuffix(".")
        raise FormatError(f"The weights '{path}' do not fit their card: {reason}.") from error
    modules = task.modules(model)
    if problem := mismatch(_wanted(task, model), tensors) or not_finite(tensors):
        raise FormatError(f"The weights '{path}' do not fit their card: {problem}.")
    for prefix, module in modules.items():
        module.load_state_dict({name: tensors[prefix + name] for name in module.state_dict()})
        module.requires_grad_(False).eval()
    return model


def _deepest(said: Any) -> int:
    """The largest number of layers that a card asks for; each has tensors of its own."""
    if isinstance(said, list):
        return max(map(_deepest, said), default=0)
    if not isinstance(said, dict):
        return 0
    own = [value for key, value in said.items() if key == "depth" and isinstance(value, int)]
    return max([*own, *(_deepest(value) for value in said.values())], default=0)


def _wanted(task: Task, model: Any) -> dict[str, Tensor]:
    """The tensors that a model wants, by the names they have in a file."""
    modules = task.modules(model).items()
    return {prefix + name: value for prefix, module in modules for name, value in module.state_dict().items()}


def mismatch(wanted: dict[str, Tensor], given: dict[str, Tensor]) -> str:
    """What keeps some tensors from being the ones that a model wants; empty if nothing does."""
    missing, unknown = wanted.keys() - given.keys(), given.keys() - wanted.keys()
    shaped = [name for name in wanted.keys() & given.keys() if wanted[name].shape != given[name].shape]
    problems = (("missing", missing), ("unknown to the model", unknown), ("of another shape", shaped))
    return "; ".join(f"{_some(names)} {state}" for state, names in problems if names)


def not_finite(tensors: dict[str, Tensor]) -> str:
    """Which tensors have numbers that are not finite; empty if none has."""
    bad = [name for name, value in tensors.items() if not bool(value.isfinite().all())]
    return f"{_some(bad)} not finite" if bad else ""


def _some(names: Any) -> str:
    """The first of some names, and how many more there are."""
    first, more = sorted(names)[:NAMED], len(names) - NAMED
    listed = ", ".join(first) + (f" and {more} more" if more > 0 else "")
    return f"{listed} {'is' if len(names) == 1 else 'are'}"
