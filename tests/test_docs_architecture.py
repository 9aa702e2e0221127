"""docs/architecture.md stays true: it names every room, and its walks call what they say, in that order."""

import importlib
import itertools
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import neurok

ROOT = Path(neurok.__file__).parent
TEXT = (Path(__file__).parents[1] / "docs/architecture.md").read_text()
WALKS = dict(re.findall(r"^## Walk: (\w+)\n(.*?)(?=^## |\Z)", TEXT, flags=re.S | re.M))
ROOMS = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([\w/.]+)` \|$", TEXT, flags=re.M)


def steps_of(walk: str) -> list[str]:
    """Functions that a walk names, in its order, as ``module:name``."""
    return re.findall(r"`(neurok[\w.]*:[\w.]+)`", WALKS[walk])


def first_calls(run: Callable[[], object]) -> list[str]:
    """Functions of the package that are called, in the order of their first call."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            parts = Path(frame.f_code.co_filename).relative_to(ROOT.parent).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            seen.setdefault(f"{module}:{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(seen)


def wrong_steps(steps: list[str], called: list[str]) -> list[str]:
    """Steps that were never called, or called before the step that stands before them."""
    missing = [step for step in steps if step not in called]
    taken = [step for step in dict.fromkeys(steps) if step in called]
    early = [b for a, b in itertools.pairwise(taken) if called.index(a) > called.index(b)]
    return missing + early


def walk_plan() -> None:
    from neurok.inference.plan import plan

    plan("sample:laptop", given_parts=False)


def walk_articulate() -> None:
    from neurok.inference.articulate import articulate

    neurok.save(articulate(neurok.load("sample:laptop"), given_parts=False), "laptop.urdf")


def walk_simulate() -> None:
    from neurok.cli import main

    (line,) = re.findall(r"`neurok (simulate [^`]+)`", WALKS["simulate"])
    main([*line.split(), "--json"])


def walk_pose() -> None:
    from neurok.posing.pose import PoseConfig

    joints = neurok.load("sample:laptop").articulation
    points = joints.pose(joints.limits.mean(axis=1)).vertices
    config = PoseConfig(samples=200, starts=2, axis_starts=2)
    neurok.pose("sample:laptop", target=np.asarray(points), space="learned", config=config)


def walk_train() -> None:
    from neurok.data.subject import subject_of
    from neurok.train.deformation import DeformationTraining, smoke
    from neurok.train.deformation_data import Split
    from neurok.train.loop import train

    subjects = [subject_of(neurok.load("sample:laptop"))]
    recipe = replace(smoke(), steps=2, evaluate_every=1, warmup=1)
    train(DeformationTraining(recipe, Split(subjects, {"watch": subjects})), Path("run"))


RUNS = {
    "plan": walk_plan,
    "articulate": walk_articulate,
    "simulate": walk_simulate,
    "pose": walk_pose,
    "train": walk_train,
}


def test_every_walk_can_be_run():
    assert list(WALKS) == list(RUNS)


@pytest.mark.parametrize("walk", RUNS)
def test_every_step_of_a_walk_exists(walk):
    steps = steps_of(walk)
    assert len(steps) >= 6
    for step in steps:
        module, _, name = step.partition(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)


@pytest.mark.parametrize("walk", RUNS)
def test_a_walk_calls_its_steps_in_that_order(walk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not wrong_steps(steps_of(walk), first_calls(RUNS[walk]))


def test_a_step_that_is_not_taken_or_comes_too_early_is_noticed():
    called = first_calls(lambda: neurok.load("sample:laptop"))
    load, make = "neurok.io.formats:load", "neurok.samples:make_sample"
    assert wrong_steps([load, make], called) == []
    assert wrong_steps([make, load], called) == [load]
    assert wrong_steps([load, "neurok.io.formats:save"], called) == ["neurok.io.formats:save"]


def test_the_table_names_every_room_and_a_file_of_it():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {
        path.stem for path in ROOT.glob("*.py") if not path.stem.startswith("__")
    }
    assert [name for name, _ in ROOMS] == list(dict.fromkeys(name for name, _ in ROOMS))
    assert {name for name, _ in ROOMS} == rooms
    for name, begin in ROOMS:
        assert (ROOT / name / begin).exists() or (ROOT / begin).exists(), f"{name}: {begin}"


def test_the_table_and_the_drawn_order_are_that_of_the_imports():
    from test_architecture import LAYERS, RANK

    ranks = [RANK[name] for name, _ in ROOMS]
    assert ranks == sorted(ranks)
    (drawn,) = re.findall(r"`(errors ← [^`]+)`", TEXT)
    layers = [set(re.findall(r"\w+", layer)) for layer in drawn.split("←")]
    existing = {name for name, _ in ROOMS}
    assert layers == [layer & existing for layer in LAYERS]
