"""Training runs by name: functions of nothing that return a configuration."""

from __future__ import annotations

from dataclasses import replace

from neurok.data.view import ViewConfig
from neurok.deformation.handles import HandleConfig
from neurok.errors import NeurokError
from neurok.train.config import TrainConfig


def base() -> TrainConfig:
    """The shipped model: an hour or two on one core."""
    return TrainConfig()


def smoke() -> TrainConfig:
    """A minute, to see that everything works."""
    model = HandleConfig(width=32, heads=2, context_depth=1, pose_depth=1, decoder_depth=1)
    view = ViewConfig(subjects=4, targets=2)
    return replace(base(), model=model, view=view, steps=60, warmup=5, evaluate_every=20, kl_start=10, kl_ramp=20)


RECIPES = {"base": base, "smoke": smoke}


def find_recipe(name: str) -> TrainConfig:
    """The configuration of that name."""
    if name not in RECIPES:
        raise NeurokError(f"There is no training recipe '{name}'; known are {', '.join(RECIPES)}.")
    return RECIPES[name]()
