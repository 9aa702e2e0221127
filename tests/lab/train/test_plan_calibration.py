"""How sure plans are: fits in which every object counts alike."""

import numpy as np

from neurok_lab.train.calibration import alike_objects, logistic


def test_an_object_of_many_bodies_counts_as_one():
    owners = np.array([0, 1, 1, 1, 1, 2])
    counts = alike_objects(owners)
    assert np.allclose(np.bincount(owners, counts), 1.0)
    # Twenty buttons that are all right tell no more than one door that is wrong: even odds.
    owners, right = np.array([0] + [1] * 20), np.array([False] + [True] * 20)
    found = logistic(np.ones((21, 1)), right, counts=alike_objects(owners))
    assert abs(found[0]) < 1e-6


def test_weights_are_those_of_the_odds_that_made_the_answers():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.ones(20_000), rng.normal(size=(20_000, 2))])
    truth = np.array([0.5, 1.5, -0.7])
    right = rng.random(len(rows)) < 1.0 / (1.0 + np.exp(-rows @ truth))
    found = logistic(rows, right)
    assert np.allclose(found, truth, atol=0.08)
