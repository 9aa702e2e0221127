import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from neurok.errors import NeurokError
from neurok.learned.view import ViewConfig
from neurok_lab.train.deformation import RECIPES, DeformationRecipe, DeformationTraining, Split
from neurok_lab.train.log import read_log
from neurok_lab.train.loop import LOG, train


@pytest.mark.slow
def test_half_precision_learns(subjects, tmp_path):
    view = ViewConfig(subjects=2, targets=4, points=4, augment=False)
    recipe = replace(RECIPES["smoke"], view=view, bf16=True, steps=80, evaluate_every=10, warmup=5, decay=0.0)
    train(DeformationTraining(replace(recipe, kl_start=1000), Split(subjects[:1], {})), tmp_path)
    losses = [line["training"]["relative"] for line in read_log(tmp_path / LOG)]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.7 * losses[0]


def test_ablations_differ_in_one_choice_alone():
    full = RECIPES["ablate_full"]
    assert full.kl_start + full.kl_ramp <= full.steps / 2
    for name in RECIPES:
        if name.startswith("ablate_"):
            other = RECIPES[name]
            assert replace(other, model=full.model, view=full.view) == full
            assert replace(other.view, augment=True) == full.view
    assert replace(RECIPES["ablate_no_dual"].model, dual_quaternions=True) == full.model


def test_a_recipe_survives_json_and_one_of_handles_gets_a_sentence():
    values = asdict(RECIPES["smoke"])
    assert DeformationRecipe.from_dict(json.loads(json.dumps(values))) == RECIPES["smoke"]
    with pytest.raises(NeurokError, match="network with handles"):
        DeformationRecipe.from_dict({**values, "model": {"decoder": "handles"}})


def test_an_unknown_recipe_gets_a_sentence():
    with pytest.raises(NeurokError, match="known are base"):
        RECIPES["big"]
