"""Scenes decide who is soft: by materials that are named or proposed, and by what is said of the space."""

import numpy as np
import pytest

from neurok.scene.description import Scene, SceneObject, ScenePin
from neurok.scene.run import prepare_scene


def placed(**fields):
    ready = prepare_scene(Scene((SceneObject("sample:pillow", drop="auto", **fields),)))
    return ready, ready.bodies[0]


def test_a_pillow_is_soft_without_a_word_and_says_so():
    ready, body = placed()
    assert body.poses.kind == "elastic"
    (of,) = ready.reports[0].matter
    assert of["is_soft"]
    assert of["reason"]


@pytest.mark.parametrize("fields", [{"space": "rigid"}, {"materials": {"all": "steel"}}])
def test_what_is_said_is_believed(fields):
    ready, body = placed(**fields)
    assert body.poses.dim == 0
    assert not ready.notes


@pytest.mark.slow
def test_a_stiff_thing_can_be_made_elastic():
    assert placed(space="elastic", materials={"all": "steel"})[1].poses.kind == "elastic"


@pytest.mark.slow
def test_a_pinned_pillow_is_held_by_its_modes():
    _, body = placed(pins=(ScenePin("all/bottom"),))
    assert not body.free
    assert not body.condition.pins
    still = body.mesh.vertices[:, 1] < np.quantile(body.mesh.vertices[:, 1], 0.02)
    moved = np.abs(body.poses.shape(np.zeros((1, body.poses.dim)))[1][0])
    slopes = np.abs(body.poses.features @ moved).max(axis=(0, 2))
    assert slopes[still].max() < 0.5 * slopes.max()
