"""From evidence to probabilities."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurok.bodyplan.line_features import FEATURES, RANKING, line_logits, softmax
from neurok.bodyplan.search import search_joints
from solids import door_on_a_box


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.floats(-500, 500))
def test_probabilities_add_up_to_one_and_only_differences_of_logits_count(values, shift):
    values = np.array(values)
    found = softmax(values)
    assert found.sum() == pytest.approx(1.0)
    assert np.allclose(softmax(values + shift), found, atol=1e-9)
    assert found[np.argmax(values)] == found.max()


def test_two_logits_give_the_logistic_function():
    assert softmax(np.array([1.5, 0.0]))[0] == pytest.approx(1.0 / (1.0 + np.exp(-1.5)))


def test_features_are_weighed_by_their_names_and_unnamed_ones_not_at_all(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"fixed": {"stuck": 2.0, "one": -1.0}}))
    rows = np.zeros((3, len(FEATURES["fixed"])))
    rows[:, FEATURES["fixed"].index("one")] = 1.0
    rows[1, FEATURES["fixed"].index("stuck")] = 1.0
    rows[2, FEATURES["fixed"].index("size")] = 9.0
    assert line_logits("fixed", rows, path).tolist() == [-1.0, 1.0, -1.0]


def test_the_shipped_weights_name_every_feature_of_every_kind():
    table = json.loads(RANKING.read_text())
    assert {kind: tuple(row) for kind, row in table.items()} == FEATURES


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed"])
def test_the_search_follows_the_weights_it_is_given(kind, tmp_path):
    path = tmp_path / f"{kind}.json"
    path.write_text(json.dumps({name: {"one": 20.0 * (name == kind)} for name in FEATURES}))
    assert search_joints(door_on_a_box(), ranking=path).best(1).kind == kind
