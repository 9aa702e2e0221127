"""One grammar for all commands: inputs come first, ``--out`` says where, and a flag means the same everywhere."""

import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
import tyro

from neurok.cli import commands, main
from neurok.core import Mesh
from neurok.io import save

USUAL = 10
"""Options that help shows first, besides --help, --json and --force."""

PRINT_ALL = """
import contextlib, io, sys
from neurok.cli import commands, main
for name in commands():
    print("#", name)
    with contextlib.suppress(SystemExit):
        main([*name.split(), "--help"])
"""
ONE_FOLDER = ("batch", "data build", "data household")
READS_OBJECTS = [
    "articulate",
    "convert",
    "inspect",
    "materials",
    "plan",
    "pose",
    "render",
    "sample",
    "simulate",
    "studio",
]
RANDOM = ("data build", "data household", "data preview", "generate", "pose", "sample", "simulate")


@pytest.fixture(scope="module")
def helps():
    """The help of every command, as two processes with different hashes print it."""
    texts = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "100"}
        done = subprocess.run([sys.executable, "-c", PRINT_ALL], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    pages = re.split(r"^# (.*)\n", texts[0], flags=re.M)
    return dict(zip(pages[1::2], pages[2::2]))


def command(name):
    module, class_name = commands()[name][0].split(":")
    return getattr(importlib.import_module(module), class_name)


def flags(name):
    """The fields of a command with those of its groups, and their types with what help says of them."""
    found = {}
    for kind in [command(name)]:
        hints = typing.get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            inner = hints[field.name]
            base = typing.get_args(inner)[0] if typing.get_origin(inner) is typing.Annotated else inner
            if dataclasses.is_dataclass(base):
                found |= typing.get_type_hints(base, include_extras=True)
            elif field.init:
                found[field.name] = inner
    return found


def usual(page):
    """Flags of the first group of a page of help."""
    box = re.search(r"╭─ options ─.*?╰", page, flags=re.S)
    assert box is not None
    return re.findall(r"(?:^│ |, )(--[a-z-]+)", box.group(), flags=re.M)


@pytest.mark.parametrize("name", commands())
def test_help_is_the_same_every_time_shows_defaults_and_never_none(helps, name):
    page = helps[name]
    assert "None" not in page
    assert "(default: )" not in page
    assert len(set(usual(page)) - {"--help", "--json", "--force"}) <= USUAL


@pytest.mark.parametrize("name", commands())
def test_outputs_are_named_with_out(name):
    found = flags(name)
    assert not {"output", "save_scene", "fix", "from_unit", "from_up"} & set(found)
    if "out" not in found:
        return
    hint = typing.get_args(found["out"])
    assert tyro.conf.Positional not in hint
    if hint[0] in (Path, str):
        assert name in ONE_FOLDER or name.startswith("train "), "--out takes several files"
    else:
        assert hint[0] == tuple[Path, ...]


@pytest.mark.parametrize("name", READS_OBJECTS)
def test_every_command_that_reads_an_object_asks_for_its_frame_in_the_same_words(helps, name):
    squeezed = " ".join(re.sub(r"[│╭╮╰╯─]", " ", helps[name]).split())
    assert "--unit m|cm|mm|in|METRES The unit of the object's file. (default: as in the file" in squeezed
    assert "--up x|y|z The axis of the object's file that points up. (default: as in the file" in squeezed


@pytest.mark.parametrize("name", commands())
def test_seed_and_json_mean_the_same_everywhere(helps, name):
    squeezed = " ".join(re.sub(r"[│╭╮╰╯─]", " ", helps[name]).split())
    assert "--json Print" in squeezed
    if name in RANDOM or "--seed" in squeezed:
        assert "--seed N Random seed: the same seed gives the same" in squeezed


@pytest.mark.parametrize("name", commands())
def test_choices_are_shown_in_the_order_in_which_they_are_declared(helps, name):
    squeezed = re.sub(r"[│\s]", "", helps[name])
    for hint in flags(name).values():
        for names in literals(hint):
            assert "|".join(names) in squeezed or "{" + ",".join(names) + "}" in squeezed, names


def literals(hint):
    if typing.get_origin(hint) is typing.Literal:
        return [[str(name) for name in typing.get_args(hint)]]
    return [found for inner in typing.get_args(hint) for found in literals(inner)]


BOX = Mesh(
    np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.9) for z in (0, 0.4)]),
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]],
)


@pytest.fixture
def box(tmp_path):
    save(BOX, tmp_path / "in" / "box.npz")
    return str(tmp_path / "in" / "box.npz")


REPORTS = {
    "articulate": ["articulate", "sample:lamp", "--method", "search"],
    "convert": ["convert", "IN", "--out", "OUT.obj", "OUT.ply"],
    "inspect": ["inspect", "IN"],
    "materials": ["materials", "IN"],
    "plan": ["plan", "IN", "--method", "search"],
    "pose": ["pose", "sample:laptop", "--move", "screen/top:0,0.2,0.1", "--out", "OUT.obj", "OUT.ply"],
    "render": ["render", "IN", "--out", "OUT.png", "OUT.jpg", "--size", "64x48"],
    "sample": ["sample", "sample:laptop", "--count", "2", "--out", "OUT.png", "OUT"],
    "simulate": ["simulate", "sample:laptop", "--drop", "--seconds", "0.05", "--engine", "reduced"]
    + ["--out", "OUT.npz", "OUT.obj", "OUT.yaml"],
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_says_in_which_frame_space_and_engine(box, tmp_path, capsys, name):
    words = [word.replace("IN", box).replace("OUT", str(tmp_path / "made" / "a")) for word in REPORTS[name]]
    main([*words, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["unit"] is not None
    assert told["up"] is not None
    assert ("space" in told) == (name in ("articulate", "pose", "sample", "simulate"))
    assert ("engine" in told) == (name == "simulate")
    listed = [Path(path) for path in told.get("files", [])]
    assert all(path.exists() for path in listed)
    assert set(listed) == {path for path in (tmp_path / "made").rglob("*") if path.is_file()}
    main(words)
    spoken = capsys.readouterr().out
    assert re.search(r"unit +m", spoken)
    assert re.search(r"\by up|up +y", spoken)
    for key in ("space", "engine"):
        assert key not in told or f"{key} {told[key]}" in spoken.lower()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["convert", "a.obj", "b.glb"], "a.obj --out b.glb"),
        (["render", "a.obj", "b.png"], "a.obj --out b.png"),
        (["data", "preview", "set", "sheet.png"], "set --out sheet.png"),
        (["convert", "a.obj", "--out", "b.glb", "--from-up=z"], "use --up"),
        (["inspect", "a.obj", "--fix", "b.obj"], "use --out"),
        (["simulate", "a.obj", "--save-scene", "a.yaml"], "use --out"),
        (["train", "deformation", "--data", "set", "--out", "run"], "its inputs come first"),
        (["train", "deformation", "--out", "run"], "at least one data set"),
    ],
)
def test_what_was_said_before_gets_one_helpful_sentence(args, words, capsys):
    with pytest.raises(SystemExit) as end:
        main(args)
    told = capsys.readouterr()
    assert (end.value.code, told.out) == (2, "")
    assert words in told.err
    assert told.err.count("\n") == 1


def test_all_outputs_are_written_or_none(box, tmp_path, capsys):
    (tmp_path / "old.obj").write_text("old")
    (tmp_path / "meshes").write_text("a file where a folder is needed")
    with pytest.raises(SystemExit):
        main(["convert", box, "--out", *(str(tmp_path / name) for name in ("old.obj", "new.ply", "meshes/a.glb"))])
    with pytest.raises(SystemExit):
        main(["convert", box, "--out", str(tmp_path / "old.obj"), str(tmp_path / "a.glb"), "--clip", "none"])
    assert (tmp_path / "old.obj").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "meshes", "old.obj"]
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["convert", "IN", "--out", "fine.obj", "IN"],
        ["inspect", "IN", "--out", "IN"],
        ["simulate", "IN", "--drop", "--space", "rigid", "--seconds", "0.05", "--engine", "reduced", "--out", "IN"],
    ],
    ids=lambda words: words[0],
)
def test_an_input_is_overwritten_only_by_force(words, box, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = Path(box).read_bytes()
    words = [word.replace("IN", box) for word in words]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "--force" in capsys.readouterr().err
    assert Path(box).read_bytes() == before
    assert not Path("fine.obj").exists()
    main([*words, "--force"])
    assert Path(box).exists()


def test_a_file_that_is_named_twice_is_refused(box, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["convert", box, "--out", str(tmp_path / "a.obj"), str(tmp_path / "in" / ".." / "a.obj")])
    assert "named twice" in capsys.readouterr().err
