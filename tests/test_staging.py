"""Files into place, all or none."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from neurok.errors import NeurokError
from neurok.staging import scratch, staged, together


def write(path: Path, text: str) -> None:
    with staged(path) as temporary:
        temporary.write_text(text)


def write_all(folder: Path, *names: str, then: Callable[[], object]) -> None:
    with together():
        for name in names:
            write(folder / name, "new")
        then()


def test_nothing_appears_before_the_end_and_everything_at_it(tmp_path):
    with together():
        write(tmp_path / "a", "1")
        with together():
            write(tmp_path / "deep" / "b", "2")
        assert not (tmp_path / "a").exists()
        assert not (tmp_path / "deep" / "b").exists()
    assert (tmp_path / "a").read_text() == "1"
    assert (tmp_path / "deep" / "b").read_text() == "2"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "deep"]


def test_a_fault_in_between_leaves_everything_as_it_was(tmp_path):
    write(tmp_path / "a", "old")
    with pytest.raises(ZeroDivisionError):
        write_all(tmp_path, "a", "deep/b", then=lambda: 1 // 0)
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


def test_when_the_last_one_cannot_be_renamed_the_others_are_put_back(tmp_path):
    write(tmp_path / "a", "old")
    with pytest.raises(NeurokError, match="cannot be written"):
        write_all(tmp_path, "a", "b", "c", then=(tmp_path / "c").mkdir)
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_of_a_file_that_is_written_twice_the_last_one_counts(tmp_path):
    with together():
        write(tmp_path / "a", "1")
        write(tmp_path / "a", "2")
    assert (tmp_path / "a").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_killed_writers_left_is_swept(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = [tmp_path / f".neurok-{gone.pid}-abc.glb", tmp_path / ".neurok-old.glb"]
    alive = tmp_path / f".neurok-{os.getpid()}-xyz.glb"
    for path in (*left, alive):
        path.write_text("half")
    os.utime(left[1], (0, 0))
    write(tmp_path / "a", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, "a"])


def test_a_scratch_folder_is_gone_afterwards_and_so_are_those_of_killed_processes(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    work = "import os\nfrom neurok.staging import scratch\nwith scratch() as folder:\n"
    work += "    (folder / 'part.usdc').write_text('half')\n    os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", work], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with scratch() as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert not list(tmp_path.iterdir())
