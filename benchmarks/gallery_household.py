"""Sheets of household things: for each category generated ones, and real ones beside them where there are any.

Run: python benchmarks/gallery_household.py [--out FOLDER] [CATEGORY ...]; writes one JPEG for each category to
docs/images/household. Categories that move are shown at rest, and below each row with their joints moved.
Real models are read from ``household/sweethome3d`` in the folder that NEUROK_DATA names; one in five, chosen by a hash
of its name, is held out and never shown.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
from pathlib import Path

import numpy as np
from PIL import Image

from neurok.catalogue import CATEGORIES, MOVING_TEN, asset_of, generate
from neurok.core import Asset, Mesh
from neurok.io import load
from neurok.rendering import contact_sheet, render_mesh

SEED, COUNT, COLUMNS, SIZE = 5, 21, 7, 150
HELD_OUT = 5
NAMES = {"potted plant": "plant"}


def real_files(category: str) -> list[Path]:
    """Real models of a category that were looked at while the makers were written."""
    root = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
    if not (root / "categories.csv").exists():
        return []
    with (root / "categories.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if NAMES.get(row["category"], row["category"]) == category]
    held = lambda file: int(hashlib.sha256(file.encode()).hexdigest(), 16) % HELD_OUT == 0  # noqa: E731
    return [root / row["file"] for row in rows if not held(row["file"])]


def moved(asset: Asset) -> Mesh:
    """Doors and lids open, drawers out one further than the next, what stands open nearly closed, arms bent."""
    moving = asset.articulation
    if moving is None:
        return asset.mesh
    low, high = moving.ranges.T
    slides = np.where(moving.is_length, 0.95 - 0.28 * (np.cumsum(moving.is_length) % 4), 0.9)
    both_ways = np.where(-low > high + 0.3, 0.75 * low, 0.35 * high)
    return moving.pose(np.where(low < -0.2, both_ways, slides * high))


def moving_sheet(category: str, folder: Path) -> None:
    """Rows of things at rest, each above the same things with their joints moved."""
    assets = [asset_of(generate(category, SEED, index)[0]) for index in range(2 * COLUMNS)]
    images = []
    for start in (0, COLUMNS):
        row = assets[start : start + COLUMNS]
        images += [render_mesh(asset.mesh, SIZE, SIZE) for asset in row]
        images += [render_mesh(moved(asset), SIZE, SIZE) for asset in row]
    labels = ([""] * COLUMNS + ["moved"] * COLUMNS) * 2
    _save(folder, category, images, labels)


def still_sheet(category: str, folder: Path) -> None:
    """Real ones first, then generated ones."""
    meshes = [load(path).mesh for path in real_files(category)[:COLUMNS]]
    labels = ["real"] * len(meshes)
    made = [generate(category, SEED, index)[0] for index in range(COUNT)]
    meshes += [asset_of(assembly).mesh for assembly in made]
    labels += [""] * len(made)
    images = [render_mesh(mesh, SIZE, SIZE) for mesh in meshes]
    while len(labels) % COLUMNS:
        place = labels.index("") if "" in labels else len(labels)
        images.insert(place, np.full_like(images[0], 255))
        labels.insert(place, " ")
    _save(folder, category, images, labels)


def _save(folder: Path, category: str, images: list[np.ndarray], labels: list[str]) -> None:
    path = folder / f"{category.replace(' ', '_')}.jpg"
    Image.fromarray(contact_sheet(images, COLUMNS, labels)).save(path, quality=85, optimize=True)
    print(f"{path}: {len(images)} pictures, {path.stat().st_size // 1000} kB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("categories", nargs="*", default=list(CATEGORIES))
    parser.add_argument("--out", type=Path, default=Path("docs/images/household"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for category in args.categories:
        (moving_sheet if category in MOVING_TEN else still_sheet)(category, args.out)


if __name__ == "__main__":
    main()
