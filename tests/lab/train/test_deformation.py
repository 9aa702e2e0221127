from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from neurok.errors import NeurokError
from neurok.learned.deformation.handles import HandleConfig
from neurok.learned.deformation.points import PointConfig
from neurok.learned.view import ViewConfig, draw, stack
from neurok_lab.train.deformation import RECIPES, DeformationRecipe, DeformationTraining, Split
from neurok_lab.train.log import read_log
from neurok_lab.train.loop import LOG, train
from neurok_lab.train.losses import DeformationTask, PairTensors

POINTS = PointConfig(width=32, heads=2, tokens=4, latent=4, prior_depth=1, pose_depth=1, decoder_depth=1, octaves=4)


@pytest.mark.slow
def test_the_point_model_goes_on_as_well(subjects, tmp_path):
    task = DeformationTraining(replace(RECIPES["smoke"], model=POINTS, steps=4, evaluate_every=2), Split(subjects, {}))
    whole = train(task, tmp_path / "whole").state_dict()
    train(task, tmp_path / "parts", stop_at=1)
    parts = train(task, tmp_path / "parts", resume=True).state_dict()
    assert all(torch.equal(value, parts[name]) for name, value in whole.items())


@pytest.mark.slow
@pytest.mark.parametrize("model", [RECIPES["smoke"].model, POINTS], ids=lambda model: model.decoder)
def test_half_precision_learns(subjects, tmp_path, model):
    view = ViewConfig(subjects=2, targets=4, points=4, augment=False)
    recipe = replace(
        RECIPES["smoke"], model=model, view=view, bf16=True, steps=80, evaluate_every=10, warmup=5, decay=0.0
    )
    train(DeformationTraining(replace(recipe, kl_start=1000), Split(subjects[:1], {})), tmp_path)
    losses = [line["training"]["relative"] for line in read_log(tmp_path / LOG)]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.7 * losses[0]


def test_without_rotations_handles_only_shift(subjects):
    config = HandleConfig(width=32, heads=2, rotations=False)
    task = DeformationTask(config)
    batch = PairTensors.of(stack([draw(subjects[0], ViewConfig(targets=1), np.random.default_rng(0))]))
    motion = task.model.decode(task.model.encode_rest(batch.rest), torch.randn(1, task.model.latent_size))
    assert torch.equal(motion.rotations, torch.eye(3).expand(1, 32, 3, 3))
    assert float(motion.shifts.detach().abs().max()) > 0.01


def test_ablations_differ_in_one_choice_alone():
    full = RECIPES["ablate_full"]
    assert full.kl_start + full.kl_ramp <= full.steps / 2
    for name in RECIPES:
        if name.startswith("ablate_") and "points" not in name:
            other = RECIPES[name]
            assert replace(other, model=full.model, view=full.view) == full
            assert replace(other.view, augment=True) == full.view
    dual, plain = RECIPES["ablate_points"], RECIPES["ablate_points_no_dual"]
    assert plain != dual == replace(plain, model=dual.model)
    assert replace(plain.model, dual_quaternions=True) == dual.model
    assert dual.steps == full.steps
    assert dual.weights(dual.steps // 2) == full.weights(full.steps // 2)


def test_a_recipe_from_before_there_were_two_models_still_reads():
    values = asdict(RECIPES["smoke"])
    old = {k: v for k, v in asdict(HandleConfig()).items() if k not in ("decoder", "rotations")}
    assert DeformationRecipe.from_dict({**values, "model": old}) == replace(RECIPES["smoke"], model=HandleConfig())
    with pytest.raises(NeurokError, match="known are handles, points"):
        DeformationRecipe.from_dict({**values, "model": {"decoder": "none"}})


def test_an_unknown_recipe_gets_a_sentence():
    with pytest.raises(NeurokError, match="known are base"):
        RECIPES["big"]
