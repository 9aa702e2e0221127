import dataclasses
import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

from neurok import __version__, cli
from neurok.cli import commands, main
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.io import save
from neurok_lab.data.still import data_folder


def run(*args, **options):
    """The real command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "neurok", *args], capture_output=True, text=True, **options)


@pytest.mark.parametrize("args", [["--help"], ["inspect", "--help"], ["convert", "--help"]], ids=" ".join)
def test_help_answers_without_the_heavy_packages(args):
    code = (
        "import sys\nfrom neurok.cli import main\n"
        f"try:\n    main({args!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'trimesh', 'scipy', 'warp', 'mujoco', 'moderngl'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_inspect_and_convert_never_load_torch(tmp_path):
    code = (
        "import sys\nfrom neurok.cli import main\n"
        "main(['inspect', 'sample:pillow', '--json'])\n"
        f"main(['convert', 'sample:pillow', '--out', {str(tmp_path / 'pillow.obj')!r}])\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_module_is_the_command_and_knows_its_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"neurok {__version__}\n")


def test_an_unknown_command_is_met_with_the_nearest_one(capsys):
    with pytest.raises(SystemExit) as end:
        main(["inspekt", "a.obj"])
    told = capsys.readouterr()
    assert end.value.code == 2
    assert told.out == ""
    assert "Did you mean 'inspect'?" in told.err


@pytest.mark.parametrize("words", [["--act", "drpo"], ["--act=drpo"]], ids=" ".join)
def test_a_word_that_a_flag_does_not_take_is_met_with_the_nearest_one(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(["simulate", "sample:laptop", "--out", "x.glb", *words])
    told = capsys.readouterr()
    assert (end.value.code, told.out) == (2, "")
    assert "Did you mean 'drop'?" in told.err
    assert "None" not in told.err


@pytest.mark.parametrize(
    "args", [["inspect"], ["inspect", "a.obj", "--bogus"], ["convert", "a.obj", "--out", "b.obj", "--out-up", "w"]]
)
def test_wrong_flags_end_with_two_and_leave_stdout_alone(args, capsys):
    with pytest.raises(SystemExit) as end:
        main(args)
    assert end.value.code == 2
    assert capsys.readouterr().out == ""


def test_the_overview_names_every_command(capsys):
    main([])
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in commands())


@pytest.mark.parametrize("name", commands())
def test_every_command_can_be_imported_explains_itself_and_has_json(name):
    module, class_name = commands()[name][0].split(":")
    command = getattr(importlib.import_module(module), class_name)
    fields = {field.name: field for field in dataclasses.fields(command)}
    assert fields["json"].default is False
    assert callable(command.run)
    assert command.__doc__
    assert not command.__doc__.startswith(class_name + "(")


def glb(tmp_path):
    path = tmp_path / "good.glb"
    save(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), path)
    return path.read_bytes()


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
BAD_FILES = {
    "empty.obj": b"",
    "empty.glb": b"",
    "words.obj": b"this is not a mesh at all\n",
    "words.ply": b"this is not a mesh at all\n",
    "picture.stl": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "no_faces.obj": TRIANGLE.encode(),
    "nan.obj": b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "index.obj": f"{TRIANGLE}f 1 2 9\n".encode(),
    "unknown.xyz": b"0 0 0",
    "truncated.glb": None,
    "wrong_suffix.obj": None,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input_gets_one_sentence_and_nothing_is_written(name, tmp_path, capsys):
    content = BAD_FILES[name]
    if content is None:
        whole = glb(tmp_path)
        content = whole[: len(whole) // 2] if name == "truncated.glb" else whole
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / name).write_bytes(content)
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["convert", str(folder / name), "--out", str(folder / "out.glb"), "--json"])
    told = capsys.readouterr()
    assert end.value.code == 2
    assert told.out == ""
    assert told.err.startswith("neurok: ")
    assert told.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("args", [["inspect", "missing.obj"], ["convert", "sample:nothing", "--out", "out.glb"]])
def test_a_missing_file_or_sample_is_one_line_through_the_real_command(args, tmp_path):
    done = run(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("neurok: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_json_is_strict_even_for_numbers_it_does_not_have(monkeypatch, capsys):
    @dataclasses.dataclass
    class Odd:
        """Give odd figures."""

        json: bool = False

        def run(self):
            return {"nan": float("nan"), "array": np.array([1.0, np.inf]), "whole": np.int64(3)}

    monkeypatch.setattr(sys.modules[__name__], "Odd", Odd, raising=False)
    monkeypatch.setattr(cli, "commands", lambda: {"odd": (f"{__name__}:Odd", "odd")})
    main(["odd", "--json"])
    strict = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    assert strict == {"nan": None, "array": [1.0, None], "whole": 3}


def test_a_reader_that_closes_early_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "neurok", "inspect", "sample:pillow", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_the_data_folder_comes_from_the_flag_then_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.delenv("NEUROK_DATA", raising=False)
    with pytest.raises(NeurokError, match="NEUROK_DATA"):
        data_folder(None)
    monkeypatch.setenv("NEUROK_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(tmp_path / "inner") == tmp_path / "inner"
    assert data_folder(None, "inner") == tmp_path / "inner"
    with pytest.raises(NeurokError, match="There is no folder"):
        data_folder(None, "absent")
    with pytest.raises(NeurokError, match="--data"):
        data_folder(tmp_path / "absent")
