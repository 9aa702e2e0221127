"""``neurok render`` as a person calls it."""

import json

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from neurok import cli
from neurok.core import Articulation, Clip, Joint, Mesh
from neurok.errors import MissingDependencyError
from neurok.io import save
from neurok.rendering.context import gl_stage

SQUARE = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
QUAD = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.fixture(autouse=True)
def egl():
    try:
        return gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")


@pytest.fixture
def still(tmp_path):
    save(Mesh(SQUARE, QUAD), tmp_path / "still.npz")
    return str(tmp_path / "still.npz")


@pytest.fixture
def moving(tmp_path):
    mesh = Mesh(SQUARE, QUAD)
    save(Clip(mesh, SQUARE + np.linspace(0, 1, 6)[:, None, None], fps=12.0, name="slide"), tmp_path / "moving.npz")
    return str(tmp_path / "moving.npz")


def run(capsys, *args):
    cli.main(["render", *args, "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


def test_a_still_has_the_asked_size_and_says_what_it_did(still, tmp_path, capsys):
    out = tmp_path / "a.png"
    figures = run(capsys, still, "--out", str(out), "--size", "120x90", "--view", "30,20", "--flat", "--parts")
    assert Image.open(out).size == (120, 90)
    assert (figures["frames"], figures["width"], figures["height"]) == (1, 120, 90)
    assert figures["out"] == str(out)
    assert figures["ms_per_frame"] > 0


def test_a_clip_becomes_a_film_at_its_own_pace(moving, tmp_path, capsys):
    figures = run(capsys, moving, "--out", str(tmp_path / "a.mp4"), "--size", "96x64")
    meta = next(imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4")))
    assert meta["size"] == (96, 64)
    assert meta["fps"] == pytest.approx(12.0)
    assert figures["frames"] == 6


@pytest.mark.parametrize(("words", "count"), [(["--sheet"], 6), (["--sheet", "3"], 3)])
def test_a_sheet_shows_moments_of_the_clip(moving, tmp_path, capsys, words, count):
    figures = run(capsys, moving, "--out", str(tmp_path / "a.png"), *words, "--size", "64x64")
    assert figures["frames"] == count
    assert Image.open(tmp_path / "a.png").size == (figures["width"], figures["height"])
    assert figures["width"] > 64


def test_an_object_that_does_not_move_is_turned_around(still, tmp_path, capsys):
    figures = run(capsys, still, "--out", str(tmp_path / "a.gif"), "--size", "48x48", "--fps", "4")
    film = Image.open(tmp_path / "a.gif")
    assert film.n_frames == figures["frames"] == 12
    film.seek(0)
    first = np.asarray(film.convert("RGB")).astype(int)
    film.seek(3)
    assert np.abs(first - np.asarray(film.convert("RGB"))).mean() > 5


def test_an_articulated_object_moves_its_joints(tmp_path, capsys):
    mesh = Mesh(
        np.concatenate([SQUARE, SQUARE + [2, 0, 0]]), np.concatenate([QUAD, QUAD + 4]), part_ids=np.repeat([0, 1], 4)
    )
    hinge = Joint("revolute", parent=0, axis=(0, 1, 0), origin=(1, 0, 0), lower=0.0, upper=1.5)
    save(Articulation(mesh, (Joint(), hinge)), tmp_path / "door.npz")
    figures = run(capsys, str(tmp_path / "door.npz"), "--out", str(tmp_path / "a.mp4"), "--size", "64x48")
    assert figures["frames"] == 48


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["a.avi"], "must end in"),
        (["a.mp4", "--sheet"], "must end in"),
        (["a.png", "--size", "wide"], "640x480"),
        (["a.png", "--view", "inside"], "three-quarter"),
        (["a.png", "--sheet"], "does not move"),
        (["a.mp4", "--clip", "dance"], "no animation 'dance'"),
    ],
)
def test_mistakes_end_in_one_sentence_and_no_file(still, tmp_path, capsys, args, words):
    with pytest.raises(SystemExit) as stop:
        cli.main(["render", still, "--out", str(tmp_path / args[0]), *args[1:]])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / args[0]).exists()
