"""Scene files that no reader should walk through end in one short sentence."""

from __future__ import annotations

import pytest

from neurok.errors import NeurokError, shown
from neurok.scene.description import Scene, SceneObject
from neurok.scene.files import read_scene
from neurok.scene.run import run_scene

BOMB = "[&a [x,x,x,x,x,x,x,x,x,x]" + "".join(
    f",&b{i} [{','.join(['*' + ('a' if i == 0 else f'b{i - 1}')] * 10)}]" for i in range(12)
)


@pytest.mark.parametrize(
    "line",
    [
        "seconds: " + BOMB + "]",
        "neurok_scene: " + BOMB + "]",
        "seconds: !!bool foo",
        'seed: !!int ""',
        "seconds: !!timestamp foo",
        "seed: " + "1" * 400,
    ],
)
def test_what_is_no_number_is_named_in_one_short_sentence(tmp_path, line):
    path = tmp_path / "scene.yaml"
    path.write_text(f'objects: [{{path: "sample:lamp"}}]\n{line}\n')
    with pytest.raises(NeurokError) as caught:
        read_scene(path)
    assert len(str(caught.value)) < 400 + len(str(path))
    assert "\n" not in str(caught.value)


def test_quoted_values_are_short_and_of_one_line():
    deep: list = []
    deep.append(deep)
    for value in ("a\nb" * 100, deep, {"k": ["x" * 500] * 500}, 10**5000, b"\0" * 900):
        text = shown(value)
        assert len(text) <= 80
        assert "\n" not in text
    assert shown("plain") == "'plain'"
    assert shown(12) == "12"


def test_a_sentence_is_one_bounded_line_whatever_it_quotes():
    said = str(NeurokError("The file '" + "x" * 5000 + "' says:\n" + "a b " * 5000))
    assert "\n" not in said
    assert len(said) <= 2000
    assert "x" * 100 not in said


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"fps": 1e-6}, "fps must be at least 0.5"),
        ({"seconds": 1e9, "fps": 1e-9}, "time steps"),
        ({"seconds": 1e6}, "frames"),
        ({"dt": 1e-12}, "dt must be at least"),
    ],
)
def test_endless_runs_are_refused_before_they_start(flags, word):
    with pytest.raises(NeurokError, match=word):
        run_scene(Scene((SceneObject("sample:laptop"),), engine="reduced", **flags))


def test_numbers_beyond_all_physics_are_refused():
    with pytest.raises(NeurokError, match="must lie within 1e"):
        Scene((SceneObject("sample:laptop", drop=1e30),))
