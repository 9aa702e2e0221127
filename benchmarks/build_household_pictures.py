"""Take the pictures that the image encoder learns from, and say how long each took.

Run: python benchmarks/build_household_pictures.py OUT --store FOLDER [--train 350] [--test 40] [--categories A,B]
FOLDER is a store of household things (neurok.data.household). OUT gets a store of pictures each for its ``train`` and
``test`` instances, and ``real_train`` and ``real_test`` with the models of ``household/sweethome3d`` in the folder that
NEUROK_DATA names. Stores that were begun go on. ``--prefix moving_`` puts further categories into stores of their own;
``--sheets`` only draws what is there.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from neurok.data.household import read_households
from neurok.data.household_pictures import (
    PictureConfig,
    PictureSet,
    Sitter,
    assembly_sitters,
    build_pictures,
    file_sitters,
)
from neurok.data.household_real import real_models
from neurok.families.household import split_of
from neurok.families.household.categories import Split
from neurok.rendering import contact_sheet, save_image


def real_sitters(aside: bool) -> list[Sitter]:
    """Real models, those kept aside for tests or the others."""
    root = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    models = [model for model in real_models(root) if model.is_kept_aside == aside]
    return file_sitters([(model.path.relative_to(root), model.category) for model in models], root)


def made_sitters(store: Path, categories: list[str], split: Split, count: int) -> list[Sitter]:
    """The first so many of each category of a split."""
    every = [s for s in assembly_sitters(read_households(store)) if split_of(s.index) == split]
    kinds = categories or sorted({s.category for s in every})
    chosen = [s for kind in kinds for s in [s for s in every if s.category == kind][:count]]
    return sorted(chosen, key=lambda sitter: sitter.index)


def build(folder: Path, sitters: list[Sitter], views: int) -> None:
    if not sitters:
        return
    start, busy = time.perf_counter(), time.process_time()

    def progress(done: int, total: int) -> None:
        spent = time.perf_counter() - start
        print(f"{folder.name}: shard {done} of {total}, {spent:.0f} s", flush=True)

    count = build_pictures(folder, sitters, PictureConfig(views=views), progress)
    wall, cpu = time.perf_counter() - start, time.process_time() - busy
    each = f"{1e3 * cpu / count:.0f} ms of CPU, {1e3 * wall / count:.0f} ms in all per picture"
    print(
        f"{folder.name}: {len(sitters)} objects, {count} pictures; {each}, the making of objects included", flush=True
    )


def sheet(folder: Path, count: int = 96) -> None:
    """Pictures spread over a store, as they are on white."""
    if not folder.exists():
        return
    pictures = PictureSet.open(folder)
    chosen = pictures.batch(np.unique(np.linspace(0, len(pictures) - 1, count).astype(int)))
    alpha = chosen[..., 3:] / 255.0
    images = list((chosen[..., :3] * alpha + 255.0 * (1.0 - alpha)).astype(np.uint8))
    save_image(contact_sheet(images, 16), folder.with_suffix(".jpg"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--store", type=Path, help="folder of household things; without it only real models are taken")
    parser.add_argument("--categories", default="", help="all of the store unless given")
    parser.add_argument("--train", type=int, default=350, help="objects of each category")
    parser.add_argument("--test", type=int, default=40)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--sheets", action="store_true", help="only draw sheets of what is there")
    told = parser.parse_args()
    if told.sheets:
        for name in (f"{told.prefix}train", f"{told.prefix}test", "real_train", "real_test"):
            sheet(told.out / name)
        return
    categories = [name for name in told.categories.split(",") if name]
    if told.store is None:
        build(told.out / "real_train", real_sitters(aside=False), 4)
        build(told.out / "real_test", real_sitters(aside=True), 4)
        return
    build(told.out / f"{told.prefix}test", made_sitters(told.store, categories, "test", told.test), 2)
    build(told.out / f"{told.prefix}train", made_sitters(told.store, categories, "train", told.train), 3)


if __name__ == "__main__":
    main()
