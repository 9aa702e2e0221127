"""The commands and the Python of the README run as they stand there."""

import re
import shlex
from pathlib import Path

import pytest

from neurok.cli import commands, main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, flags=re.S)
COMMAND_LINES = [line for _, body in BLOCKS for line in body.splitlines() if line.startswith("neurok ")]


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_command_of_the_readme_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(shlex.split(line, comments=True)[1:])


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [body for language, body in BLOCKS if language == "python"]
    exec(code, {})
    assert {"opened.obj", "cabinet.glb", "cabinet.urdf"} <= {path.name for path in tmp_path.iterdir()}


def test_the_make_targets_of_the_readme_exist():
    targets = set(re.findall(r"^make (\w+)", TEXT, flags=re.M))
    assert targets == {"demo", "test"}
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M)
    assert targets <= set(rules)


def test_every_room_of_the_map_exists_and_none_is_missing():
    named = set(re.findall(r"`src/neurok/(\w+)`", TEXT))
    rooms = {path.parent.name for path in (ROOT / "src/neurok").glob("*/__init__.py")}
    assert named == rooms


def test_every_link_and_picture_of_the_docs_exists():
    missing = []
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                missing.append(f"{page.name}: {target}")
    assert not missing


def test_the_readme_shows_the_commands_people_start_with():
    shown = {line.split()[1] for line in COMMAND_LINES}
    assert shown <= {name.split()[0] for name in commands()}
    assert {"inspect", "convert", "render", "simulate"} <= shown
