"""Reading with limits, writing all or nothing."""

import os

import pytest

from neurok.errors import FormatError, NeurokError
from neurok.io import files


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "huge.obj").open("wb") as file:
        file.truncate(files.MAX_FILE_BYTES + 1)  # sparse: takes no room
    with pytest.raises(FormatError, match="at most"):
        files.read_bytes(tmp_path / "huge.obj")


def test_folders_empty_and_missing_files_get_one_sentence(tmp_path):
    (tmp_path / "empty").touch()
    for path, words in (
        (tmp_path, "folder"),
        (tmp_path / "empty", "empty"),
        (tmp_path / "no", "no file"),
        (tmp_path / "a\0b", "cannot"),
    ):
        with pytest.raises(NeurokError, match=words):
            files.read_bytes(path)


@pytest.mark.parametrize(
    "reference", ["../x", "/x", "a/../../x", "..%2fx", "%2e%2e/x", "..\\x", "C:/x", "http://x/y", "", "a\0b", "link/x"]
)
def test_nothing_outside_the_folder_is_reached(tmp_path, reference):
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to(tmp_path)
    with pytest.raises(FormatError, match="outside"):
        files.resolve_inside(home, reference)


def test_files_below_the_folder_are_reached(tmp_path):
    assert files.resolve_inside(tmp_path, "a/./b/../c%20d.png") == (tmp_path / "a" / "c d.png").resolve()


def test_writing_replaces_all_files_and_leaves_no_scraps(tmp_path):
    (tmp_path / "m.obj").write_text("old")
    files.write_files(tmp_path / "m.obj", {"m.obj": b"new", "pics/a.png": b"a"})
    assert (tmp_path / "m.obj").read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.png", "m.obj", "pics"]
    assert (tmp_path / "m.obj").stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_when_one_file_cannot_be_written_the_old_ones_stay(tmp_path):
    (tmp_path / "m.obj").write_text("old")
    (tmp_path / "pics").write_text("a file where a folder is needed")
    with pytest.raises(NeurokError, match="cannot be written"):
        files.write_files(tmp_path / "m.obj", {"m.obj": b"new", "m.mtl": b"m", "pics/a.png": b"a"})
    assert (tmp_path / "m.obj").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.obj", "pics"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.glb")
    with pytest.raises(NeurokError, match="neither a file nor a folder"):
        files.path_kind(tmp_path / "pipe.glb")
