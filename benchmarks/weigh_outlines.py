"""What the network's doubt counts beside outlines: categories of pictures of real models, for several weights.

Run: python benchmarks/weigh_outlines.py [--views 3]
Models are those of ``household/sweethome3d``, in the folder that NEUROK_DATA names, that are watched: neither kept
aside nor learned from. No object is made: the category is that of the known object that would be taken.
``silhouettes.DOUBT`` was chosen by it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch

from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.photo import photo_of
from neurok.generation.picture_reader import SIDE
from neurok.generation.pictures import take_pictures
from neurok.generation.silhouettes import LEAST, known_outlines
from neurok.hub import load_model
from neurok.io import load
from neurok_lab.data.household_pictures import PictureConfig, draw_views
from neurok_lab.data.household_real import RealModel, real_models

WEIGHTS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.2, 0.5, 100.0)
"""From the outline alone to the network alone."""


def watched() -> list[RealModel]:
    """Models that nothing has learned from and that figures are not taken from."""
    root = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    return [one for one in real_models(root) if one.category in CATEGORIES and one.is_watched]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--views", type=int, default=3)
    told = parser.parse_args()
    torch.set_num_threads(1)
    reader, known = load_model("pictures", "pictures"), known_outlines()
    members = [np.flatnonzero(np.array(known.categories) == category) for category in CATEGORIES]
    outlines, doubts, truth = [], [], []
    for model in watched():
        views = draw_views(model.path.name, PictureConfig(views=told.views))
        for picture in take_pictures(load(model.path), views, SIDE):
            photo = photo_of(picture, reader)
            apart, likely = known.apart(photo.mask), photo.reading.categories
            outlines.append([apart[rows].min() for rows in members])
            doubts.append([-np.log(max(likely[category], LEAST)) for category in CATEGORIES])
            truth.append(CATEGORIES.index(model.category))
    print(f"{len(truth)} pictures\n\n| weight of a nat | category |\n|---|---|")
    for weight in WEIGHTS:
        found = (np.array(outlines) + weight * np.array(doubts)).argmin(axis=1)
        print(f"| {weight:g} | {np.mean(found == truth):.3f} |")


if __name__ == "__main__":
    main()
