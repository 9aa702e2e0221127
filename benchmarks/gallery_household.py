"""Sheets of household things: for each category generated ones, and real ones beside them where there are any.

Run: python benchmarks/gallery_household.py [OUT_FOLDER]; writes one JPEG for each category to docs/images/household.
Real models are read from ``household/sweethome3d`` in the folder that NEUROK_DATA names; one in five, chosen by a hash
of its name, is held out and never shown.
"""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from neurok.families.household import CATEGORIES, asset_of, generate
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


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
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
        path = folder / f"{category.replace(' ', '_')}.jpg"
        Image.fromarray(contact_sheet(images, COLUMNS, labels)).save(path, quality=85, optimize=True)
        print(
            f"{path}: {labels.count('real')} real, {len(made)} generated, {path.stat().st_size // 1000} kB", flush=True
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images/household"))
