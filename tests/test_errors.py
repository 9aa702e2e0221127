"""Sentences that all packages share: counts, nearest words, and how short nouns describe themselves."""

from __future__ import annotations

import numpy as np
import pytest

import neurok
from neurok.errors import NeurokError, check_choice, counted, did_you_mean


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [(1, "part", "1 part"), (2, "part", "2 parts"), (0, "joint", "0 joints"), (3, "body", "3 bodies"),
     (1, "vertex", "1 vertex"), (4000, "vertex", "4,000 vertices")],
)  # fmt: skip
def test_nouns_follow_their_number(count, noun, words):
    assert counted(count, noun) == words


def test_a_slip_of_the_pen_is_answered_with_the_word_that_is_meant():
    assert "drop" in did_you_mean("drpo", ["wind", "drop"])
    assert did_you_mean("xyzzy", ["wind", "drop"]) == ""


def test_a_choice_that_is_none_names_all_of_them_and_the_nearest():
    with pytest.raises(NeurokError, match=r"engine must be one of auto, mujoco, got 'mujco'\. Did you mean 'mujoco'\?"):
        check_choice("engine", "mujco", ["auto", "mujoco"])
    check_choice("engine", "auto", ["auto", "mujoco"])


@pytest.mark.parametrize("word", ["drpo", "Drop", ""])
def test_python_refuses_an_unknown_action_as_the_command_does(word):
    with pytest.raises(NeurokError, match="act must be one of drop, throw, tilt, drag, wind"):
        neurok.simulate("sample:laptop", act=word)


def test_nouns_describe_themselves_in_a_line():
    asset = neurok.load("sample:cabinet")
    model = neurok.understand(asset)
    rollout = neurok.Rollout(asset.mesh, 0.1, positions=np.tile(asset.mesh.vertices, (3, 1, 1)))
    clip = rollout.clip()
    joints = asset.articulation
    for thing in (asset, asset.mesh, model, model.plan, rollout, clip, joints):
        text = repr(thing)
        assert len(text) < 200
        assert "\n" not in text
        assert asset.mesh.name in text
