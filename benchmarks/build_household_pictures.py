"""Take the pictures that the image encoder learns from, and say how long each took.

Run: python benchmarks/build_household_pictures.py OUT [--categories A,B] [--train 350] [--test 40] [--sheets]
OUT gets a store each for ``train`` and ``test`` instances, and ``real_train`` and ``real_test`` with the models of
``household/sweethome3d`` in the folder that NEUROK_DATA names. Stores that were begun go on. ``--prefix moving_`` puts
further categories into stores of their own.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np

from neurok.data.household_pictures import (
    PictureConfig,
    PictureSet,
    Sitter,
    build_pictures,
    file_sitters,
    household_sitters,
    is_kept_aside,
)
from neurok.families.household import CATEGORIES
from neurok.rendering import contact_sheet, save_image

NAMES = {"potted plant": "plant"}


def real_sitters(aside: bool) -> list[Sitter]:
    """Real models, those kept aside for tests or the others."""
    root = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    if not (root / "categories.csv").exists():
        return []
    with (root / "categories.csv").open() as lines:
        rows = [(row["file"], NAMES.get(row["category"], row["category"])) for row in csv.DictReader(lines)]
    return file_sitters([row for row in rows if is_kept_aside(Path(row[0]).stem) == aside], root)


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--categories", default=",".join(CATEGORIES))
    parser.add_argument("--train", type=int, default=350)
    parser.add_argument("--test", type=int, default=40)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--sheets", action="store_true", help="only draw sheets of what is there")
    told = parser.parse_args()
    names = [f"{told.prefix}train", f"{told.prefix}test", "real_train", "real_test"]
    if told.sheets:
        for name in names:
            sheet(told.out / name)
        return
    categories = told.categories.split(",")
    if not told.prefix:
        build(told.out / "real_train", real_sitters(aside=False), 4)
        build(told.out / "real_test", real_sitters(aside=True), 4)
    build(told.out / names[1], household_sitters(categories, told.test, "test"), 2)
    build(told.out / names[0], household_sitters(categories, told.train), 3)


if __name__ == "__main__":
    main()
