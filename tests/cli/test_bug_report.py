"""What is our fault says so, with a file to send along; what is not, does not."""

from __future__ import annotations

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
