"""Training runs by name: functions of nothing that return a configuration."""

from __future__ import annotations

from dataclasses import replace

from neurok.data.view import ViewConfig
from neurok.deformation.handles import HandleConfig
from neurok.deformation.points import PointConfig
from neurok.errors import NeurokError
from neurok.train.config import TrainConfig


def base() -> TrainConfig:
    """The first part of the shipped model: half an hour on one core."""
    return TrainConfig()


def smoke() -> TrainConfig:
    """A minute, to see that everything works."""
    model = HandleConfig(width=32, heads=2, context_depth=1, slot_depth=1, slots=8)
    view = ViewConfig(subjects=4, targets=2)
    return replace(base(), model=model, view=view, steps=60, warmup=5, evaluate_every=20, kl_start=10, kl_ramp=20)


def polish() -> TrainConfig:
    """A few minutes of small steps, to go on from weights with ``--start-from``."""
    return replace(base(), steps=700, warmup=50, decay=1.0, matrix_rate=5e-4, rate=2e-4, kl_start=0, kl_ramp=1)


def more() -> TrainConfig:
    """Most of a base run again, to go on from its weights with ``--start-from``; the KL term is fully on."""
    return replace(base(), steps=5_000, warmup=100, decay=0.6, kl_start=0, kl_ramp=1)


def settle() -> TrainConfig:
    """The last stretch, from weights with ``--start-from``: ever smaller steps, and true motions are to be likely."""
    small = replace(base(), steps=4_000, warmup=100, decay=1.0, matrix_rate=2e-3, rate=1.3e-3)
    return replace(small, kl_start=0, kl_ramp=1, size_weight=0.0, surprise_weight=0.03)


def points() -> TrainConfig:
    """The paper's model at full length: three times the hours of the handle model."""
    return replace(base(), model=PointConfig(), kl_weight=6e-4, kl_start=1_000)


def ablation(model: HandleConfig | None = None, augment: bool = True) -> TrainConfig:
    """A short run whose small KL term is fully on at half time; all ablations differ in the named choice alone."""
    short = replace(base(), steps=600, warmup=60, kl_weight=6e-4, kl_start=60, kl_ramp=240, evaluate_every=200)
    return replace(short, model=model or HandleConfig(), view=ViewConfig(augment=augment))


def point_ablation(dual_quaternions: bool = True) -> TrainConfig:
    """As many steps of the paper's model, narrower and with fewer points; the KL term waits until it learns."""
    model = PointConfig(width=96, dual_quaternions=dual_quaternions)
    return replace(ablation(), model=model, view=ViewConfig(points=2), kl_start=150, kl_ramp=150)


RECIPES = {
    "base": base,
    "smoke": smoke,
    "more": more,
    "settle": settle,
    "polish": polish,
    "points": points,
    "ablate_full": ablation,
    "ablate_no_augmentation": lambda: ablation(augment=False),
    "ablate_no_rotations": lambda: ablation(HandleConfig(rotations=False)),
    "ablate_points": point_ablation,
    "ablate_points_no_dual": lambda: point_ablation(dual_quaternions=False),
}


def find_recipe(name: str) -> TrainConfig:
    """The configuration of that name."""
    if name not in RECIPES:
        raise NeurokError(f"There is no training recipe '{name}'; known are {', '.join(RECIPES)}.")
    return RECIPES[name]()
