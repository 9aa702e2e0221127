"""What is our fault says so, with a file to send along; what is not, does not."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from neurok import cli


def test_a_bug_is_one_sentence_with_exit_code_70(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cli, "_run", lambda args: [][1])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["inspect", "x.obj"])
    assert ended.value.code == 70
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "this is a bug (IndexError)" in said
    report = Path(said.split("'")[1]).read_text()
    assert "Traceback" in report


def test_developers_can_ask_for_the_traceback(monkeypatch):
    monkeypatch.setattr(cli, "_run", lambda args: [][1])
    monkeypatch.setenv("NEUROK_TRACEBACK", "1")
    with pytest.raises(IndexError):
        cli.main(["inspect"])


@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
def test_closed_streams_are_no_bug(monkeypatch, tmp_path, closed):
    for name in closed:
        monkeypatch.setattr(sys, name, None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["convert", str(tmp_path / "none.obj"), str(tmp_path / "o.glb")])
    assert ended.value.code == 2
    cli.main(["--version"])


def test_a_full_disk_behind_stderr_keeps_the_exit_code(monkeypatch, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        with pytest.raises(SystemExit) as ended:
            cli.main(["convert", str(tmp_path / "none.obj"), str(tmp_path / "o.glb")])
        assert ended.value.code == 2
        full.close = lambda: None


def test_warnings_of_libraries_do_not_reach_users(monkeypatch, capsys):
    monkeypatch.setattr(sys, "warnoptions", [])
    monkeypatch.setattr(cli, "_run", lambda args: warnings.warn("numpy's own words", stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        cli.main(["inspect"])
    assert not capsys.readouterr().err


def test_a_file_that_may_not_grow_is_no_bug(tmp_path):
    """Also where it is stderr, so that nobody can be told."""
    resource = pytest.importorskip("resource")

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    line = [sys.executable, "-m", "neurok", "simulate", "sample:pillow", "--seconds", "0.05", "--out", "pillow.glb"]
    with (tmp_path / "stderr").open("w") as told:
        done = subprocess.run(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=told, preexec_fn=limited)
    assert done.returncode == 2
    assert (tmp_path / "stderr").stat().st_size == 20
    assert not (tmp_path / "pillow.glb").exists()
