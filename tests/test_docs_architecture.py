"""docs/architecture.md stays true: it names every room, and its walks call what they say, in that order."""

import importlib
import itertools
import json
import re
import shlex
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
REPOSITORY = Path(__file__).parents[1]
PAGES = [
    *(
        REPOSITORY / "docs" / f"{name}.md"
        for name in ("architecture", "articulation", "concepts", "conventions", "data", "formats", "learning")
    ),
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "README.md",
]
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
    neurok.plan("sample:laptop", given_parts=False)


def walk_articulate() -> None:
    neurok.save(neurok.articulate(neurok.load("sample:laptop"), given_parts=False), "laptop.urdf")


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


@pytest.mark.slow
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


def test_every_noun_of_the_concepts_is_where_it_is_said_to_be():
    text = (REPOSITORY / "docs/concepts.md").read_text()
    rows = re.findall(r"^\| (`[^|]+) \| `(\w+)` \|", text, flags=re.M)
    assert len(rows) > 15
    for nouns, room in rows:
        source = "".join(path.read_text() for path in (ROOT / room).rglob("*.py"))
        for noun in re.findall(r"`(\w+)`", nouns):
            assert re.search(rf"^class {noun}\b", source, flags=re.M), f"{noun} is not in {room}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_and_files_of_a_page_exist(page):
    words = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.S))
    names = {found[0] for word in words if (found := re.match(r"neurok(\.\w+)+", word))}
    files = {found[0] for word in words for found in [re.match(r"[\w/]+/\w+\.(py|json)$", word)] if found}
    homes = (ROOT, REPOSITORY, *(path.parent for path in ROOT.glob("*/__init__.py")))
    assert not [file for file in files if not any((home / file).exists() for home in homes)]
    assert not [name for name in names if not exists(name)]


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_a_name_that_does_not_exist_is_noticed():
    assert exists("neurok.inference.plan.plan")
    assert exists("neurok.load")
    assert not exists("neurok.inference.gather.gather")
    assert not exists("neurok.kinematics.NeuralSpace")


@pytest.mark.slow
def test_the_correction_of_a_plan_in_the_readme_runs(tmp_path, monkeypatch):
    from neurok.cli import main

    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "README.md").read_text()
    blocks = [re.findall(r"^\$ neurok (.+)$", block, flags=re.M) for block in page.split("```")]
    lines = next(block for block in blocks if block and block[0].startswith("plan "))
    assert len(lines) == 4
    main(shlex.split(lines[0], comments=True))
    plan = json.loads(Path("plan.json").read_text())
    moving = [body for body in plan["bodies"] if body["joint"] is not None]
    moving[0]["joint"] = None
    Path("plan.json").write_text(json.dumps(plan))
    for line in lines[1:]:
        main(shlex.split(line, comments=True))
    joints = neurok.load("corrected.urdf").articulation.joints
    assert sum(joint.kind != "fixed" for joint in joints) == len(moving) - 1
    assert {"plan.json", "plan.png", "corrected.urdf", "corrected.glb"} <= {path.name for path in tmp_path.iterdir()}
