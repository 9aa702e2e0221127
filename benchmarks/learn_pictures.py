"""Whether an image encoder can still learn: sixteen pictures by heart, words hidden, with a part list that has learned.

Run: python benchmarks/learn_pictures.py --store FOLDER --pictures FOLDER [--weights generation] [--steps 60]
Both folders are made by ``neurok data household --out FOLDER --pictures FOLDER``. Tells for the encoder of the weights
and for a fresh one how far its tokens of different pictures are apart, what its share of the gradient is, and how fast
the list is learned. An encoder that has fallen silent gives nearly the same tokens for all pictures, and learns slowly.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from neurok.generation.context import conditioning_of
from neurok.generation.framing import on_plain
from neurok.generation.image_encoder import ImageEncoder
from neurok.generation.part_list import PartListModel
from neurok.hub import load_model
from neurok_lab.data.household import read_households
from neurok_lab.train.generation import PartListRecipe, PartListTask
from neurok_lab.train.generation_data import ListExample, example_of, lists_of, with_pictures
from neurok_lab.train.loop import make_optimizers, set_rates

COUNT = 16


def some_examples(store: Path, pictures: Path) -> list[ListExample]:
    """Objects with pictures, drawn at random."""
    known = with_pictures([example_of(one) for one in read_households(store)], [pictures])
    shown = [one for one in known if one.pictures is not None]
    return [shown[k] for k in np.random.default_rng(0).permutation(len(shown))[:COUNT]]


def apart(encoder: ImageEncoder, seen: Tensor) -> float:
    """How far tokens of different pictures are apart, as a share of their size."""
    with torch.no_grad():
        tokens = encoder(seen).flatten(1)
    return float((tokens - tokens.mean(dim=0)).norm() / tokens.norm())


def learn(model: PartListModel, examples: list[ListExample], seen: Tensor, steps: int) -> None:
    """Learn the same batch again and again, and tell how it goes."""
    recipe = PartListRecipe(model=model.config, steps=steps, warmup=max(1, steps // 8), learns="all")
    task = PartListTask(model.config)
    task.model = model.requires_grad_(True)
    optimizers = make_optimizers(task, recipe)
    lists, asked = lists_of(examples), conditioning_of([None] * len(examples), dict(enumerate(seen)))
    image = model.context.image
    assert image is not None
    for step in range(steps):
        set_rates(optimizers, recipe, step)
        terms = task(lists, asked)
        for optimizer in optimizers:
            optimizer.zero_grad()
        terms.loss.backward()
        whole = float(torch.nn.utils.clip_grad_norm_(task.parameters(), recipe.clip))
        own = float(torch.stack([p.grad.norm() for p in image.parameters() if p.grad is not None]).norm())
        for optimizer in optimizers:
            optimizer.step()
        if step % 15 == 0 or step == steps - 1:
            told = f"nats {terms.parts['nats']:.2f}, of the category {terms.parts['category']:.2f}"
            share = own / min(whole, recipe.clip)
            print(f"  step {step}: {told}; gradient {whole:.1f}, the encoder's share {share:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, required=True)
    parser.add_argument("--weights", default="generation")
    parser.add_argument("--steps", type=int, default=60)
    told = parser.parse_args()
    torch.set_num_threads(1)
    examples = some_examples(told.store, told.pictures)
    seen = on_plain(torch.from_numpy(np.stack([one.pictures[0] for one in examples if one.pictures is not None])))
    for name in ("that of the weights", "a fresh one"):
        model = load_model(told.weights, "generation").part_list
        if name == "a fresh one":
            torch.manual_seed(0)
            model.context.image = ImageEncoder(model.config.context.width)
        assert model.context.image is not None
        print(f"{name}: tokens apart {apart(model.context.image, seen):.2f}")
        learn(model, examples, seen, told.steps)


if __name__ == "__main__":
    main()
