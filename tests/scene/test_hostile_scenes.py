"""Scene files that no reader should walk through end in one short sentence."""

from __future__ import annotations

import pytest

from neurok.errors import NeurokError, shown
from neurok.scene.files import read_scene

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
