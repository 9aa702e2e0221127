"""How pictures before walls are read: renders of real models before plain, shaded and textured grounds.

Run: python benchmarks/photos_generation.py [--weights generation] [--limit 18]
Models are those of ``household/sweethome3d``, in the folder that NEUROK_DATA names, that are kept aside. For each
ground it tells how many were cut out, and of how many the reader of pictures names the right category first.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch

from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.photo import Photo, photo_of
from neurok.generation.pictures import take_pictures
from neurok.generation.verb import categories_seen, understand
from neurok.generation.writing import Generator
from neurok.hub import load_model
from neurok.io import load
from neurok_lab.data.augmentation import BACKGROUNDS
from neurok_lab.data.household_pictures import PictureConfig, draw_views
from neurok_lab.data.household_real import real_models
from neurok_lab.evaluation.tables import spread

SIDE, ROOM = 224, 0.2
"""Pixels of a picture's side, and the share that is left free around the render."""


@torch.no_grad()
def category_of(model: Generator, photo: Photo) -> str:
    """The category that the reader of pictures takes for the likeliest."""
    likely = categories_seen(model, understand("", photo))
    return max(likely, key=likely.__getitem__)


def before(picture: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """A render with alpha in the middle of a picture."""
    out, start = ground.copy(), (len(ground) - len(picture)) // 2
    part = out[start : start + len(picture), start : start + len(picture)]
    alpha = picture[..., 3:] / 255.0
    part[:] = picture[..., :3] / 255.0 * alpha + part * (1.0 - alpha)
    return out.clip(0.0, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--weights", default="generation")
    parser.add_argument("--limit", type=int, default=18)
    told = parser.parse_args()
    torch.set_num_threads(1)
    root = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    models = [one for one in real_models(root) if one.is_kept_aside and one.category in CATEGORIES]
    network = load_model(told.weights, "generation")
    side = round(SIDE * (1.0 - ROOM))
    generator = torch.Generator().manual_seed(0)
    rows: dict[str, list[tuple[bool, bool]]] = {"transparent": []}
    for model in spread(models, told.limit):
        (view,) = draw_views(model.path.name, PictureConfig(views=1))
        (picture,) = take_pictures(load(model.path), [view], side)
        photos = {"transparent": photo_of(picture)}
        for kind in BACKGROUNDS:
            ground = kind(1, SIDE, generator)[0].permute(1, 2, 0).double().numpy()
            photos[kind.__name__.strip("_").replace("_", " ")] = photo_of(before(picture, ground))
        for name, photo in photos.items():
            is_right = category_of(network, photo) == model.category
            rows.setdefault(name, []).append((photo.status != "whole", is_right))
    print("| ground | pictures | cut out | category |\n|---|---|---|---|")
    for name, found in rows.items():
        cut, right = np.mean(found, axis=0)
        print(f"| {name} | {len(found)} | {cut:.2f} | {right:.2f} |")


if __name__ == "__main__":
    main()
