"""What is done with a mutant: what a user would do with such a file, through the command where there is one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from fuzzing.mutations import NUMBERS, WORDS
from fuzzing.seeds import SECRET, shape
from neurok import cli
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError

OUTPUTS = (".glb", ".obj", ".stl", ".npz", ".urdf", ".usda", ".xml", ".ply", ".gltf", ".usdz")
SIMULATE_EVERY, PLAN_EVERY, INSPECT_EVERY = 12, 40, 5


class EscapeError(Exception):
    """Something outside the folder of the file was read."""


def _command(*words: str) -> None:
    cli.main(list(words))


def _check(asset: Asset) -> None:
    if (np.abs(asset.mesh.vertices) == SECRET).any():
        raise EscapeError("a mesh beside the folder was read")


def convert(path: Path, out: Path, number: int) -> None:
    """Write it in another format; now and then inspect, simulate or find its joints."""
    suffix = OUTPUTS[number % len(OUTPUTS)]
    if number % INSPECT_EVERY == 0:
        _command("inspect", str(path), "--json")
    elif number % SIMULATE_EVERY == 1:
        words = ("--drop", "--seconds", "0.05", "--space", "joints", "--out", str(out / "o.npz"))
        _command("simulate", str(path), *words)
    elif number % PLAN_EVERY == 2:
        _command("articulate", str(path), "--method", "search", "--out", str(out / f"o{suffix}"))
    else:
        _command("convert", str(path), "--out", str(out / f"o{suffix}"))
    for made in (out / "o.npz", out / "o.glb"):
        if made.exists():
            from neurok.io import load

            _check(load(made))


def scene(path: Path, out: Path, number: int) -> None:
    """Read it and make it ready; stepping is bounded elsewhere."""
    from neurok.scene.files import read_scene
    from neurok.scene.run import prepare_scene

    ready = prepare_scene(read_scene(path))
    for asset in ready.assets:
        _check(asset)


@cache
def _mesh() -> Mesh:
    return shape().mesh


def labels(path: Path, out: Path, number: int) -> None:
    from neurok.bodyplan.bodies import find_parts
    from neurok.cli.outputs import read_labels

    find_parts(_mesh(), read_labels(path))


def cloud(path: Path, out: Path, number: int) -> None:
    from neurok.posing.pose import PoseConfig
    from neurok.posing.verbs import read_target

    read_target(path, _mesh(), PoseConfig())


def manifest(path: Path, out: Path, number: int) -> None:
    """As training reads a data set, and as ``neurok data info`` does."""
    from neurok_lab.data.shards import ShardSet

    if number % 3 == 0:
        _command("data", "info", str(path), "--json")
        return
    for item in ShardSet.open(path):
        _check(item.asset())
        item.subject()


def plan(path: Path, out: Path, number: int) -> None:
    from neurok.bodyplan.plan_file import read_plan

    assert read_plan(path, _mesh()).articulation.joints


def materials(path: Path, out: Path, number: int) -> None:
    from neurok.io.materials_file import read_materials

    read_materials(path, _mesh())


def weights(path: Path, out: Path, number: int) -> None:
    """Every second time the checksum of the card fits what was hurt."""
    import hashlib
    import json

    from neurok.hub import load_model

    card = path.with_suffix(".json")
    if number % 2:
        try:
            said = json.loads(card.read_bytes())
            if isinstance(said, dict):
                said["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
                card.write_text(json.dumps(said))
        except (ValueError, RecursionError):
            pass
    load_model(path)


def picture(path: Path, out: Path, number: int) -> None:
    """As ``generate`` reads it, and as the texture of an object that is written or weighed."""
    from neurok.generation.photo import read_photo
    from neurok.hub import load_model

    match number % 3:
        case 0:
            read_photo(path, load_model("pictures", "pictures"))
        case 1:
            _command("convert", str(path.with_suffix(".obj")), "--out", str(out / f"o{OUTPUTS[number % 10]}"))
        case _:
            _command("materials", str(path.with_suffix(".obj")), "--out", str(out / "o.json"))


def studio(path: Path, out: Path, number: int) -> None:
    """As somebody opens it in the studio."""
    from neurok.studio.files import read_scene_file

    read_scene_file(path, out)


COMMANDS = ("convert", "inspect", "simulate", "plan", "articulate", "sample", "materials", "pose")
OBJECTS = {"simulate": ("--drop", "--seconds", "0.05"), "pose": ("--target", "sample:laptop")}


@cache
def _flags(command: str) -> list[str]:
    """Every flag that the help of a command names."""
    import contextlib
    import io
    import re

    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        cli.main([command, "--help"])
    return sorted(set(re.findall(r"--[a-z][a-z-]+", text.getvalue())) - {"--help", "--out"})


def flags(path: Path, out: Path, number: int) -> None:
    """One flag of a command gets a value that makes no sense."""
    rng = np.random.default_rng(number)
    command = COMMANDS[number % len(COMMANDS)]
    names = _flags(command)
    name = names[number // len(COMMANDS) % len(names)]
    value = str(rng.choice([str(one)[:40] for one in (*NUMBERS, *WORDS)])).replace("\0", "")
    words = [str(path), *OBJECTS.get(command, ()), "--out", str(out / ("o.json" if command == "plan" else "o.npz"))]
    _command(command, *words, name, *([value] if rng.random() < 0.9 else []))


TARGETS: dict[str, Callable[[Path, Path, int], None]] = {
    "format": convert, "scene": scene, "labels": labels, "cloud": cloud, "manifest": manifest, "plan": plan,
    "materials": materials, "weights": weights, "picture": picture, "studio": studio, "flags": flags,
}  # fmt: skip


def sentence_of(error: BaseException) -> str | None:
    """The sentence of a mistake of the user's; nothing for anything else."""
    return str(error) if isinstance(error, NeurokError) else None
