"""Runs of both autoencoders, of parts and of whole objects, by name."""

from __future__ import annotations

from dataclasses import replace

from neurok.errors import NeurokError
from neurok.generation.part_set import PartRows, statistics_of
from neurok.train.parts import RECIPES, PartRecipe, PartTraining, find_recipe
from neurok.train.parts_data import Samples
from neurok.train.vecset import VecsetRecipe, VecsetTraining

AutoencoderRecipe = PartRecipe | VecsetRecipe


def recipe_named(name: str, samples: Samples) -> AutoencoderRecipe:
    """A recipe whose model knows the mean and spread of the numbers that it learns."""
    if name == "vecset":
        return VecsetRecipe()
    if name not in RECIPES:
        raise NeurokError(f"There is no recipe '{name}' for parts; known are {', '.join(RECIPES)} and vecset.")
    recipe = find_recipe(name)
    mean, scale = statistics_of(samples.train[0])
    return replace(recipe, model=replace(recipe.model, code_mean=mean, code_scale=scale))


def training_of(recipe: AutoencoderRecipe, samples: Samples) -> PartTraining | VecsetTraining:
    """The task of the loop."""
    (parts, objects), (watched, watched_objects) = samples.train, samples.watch
    if isinstance(recipe, VecsetRecipe):
        return VecsetTraining(recipe, objects, watched_objects)
    balance = recipe.view.balance
    return PartTraining(recipe, PartRows.of(parts, balance), PartRows.of(watched, balance))
