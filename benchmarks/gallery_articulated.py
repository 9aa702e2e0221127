"""Contact sheets of every articulated family: two instances each, as stored closed and with all joints opened.

Run: python benchmarks/gallery_articulated.py [OUT_FOLDER]; writes families_articulated_1.jpg and so on,
and families_articulated.png with one opened instance of each.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from neurok.core import Articulation
from neurok.rendering import Renderer, contact_sheet
from neurok_lab.worlds.articulated import FAMILIES, generate

PER_SHEET, COLUMNS, SIZE, SMALL, SEED = 21, 12, 180, 120, 3


def extremes(articulation: Articulation) -> tuple[np.ndarray, np.ndarray]:
    """Joint values for the most closed and for a clearly open state."""
    limits = np.clip(articulation.limits, -np.pi, np.pi)
    endless = np.array([joint.kind == "continuous" for joint in articulation.joints if joint.dof])
    near = np.where(np.abs(limits[:, 0]) < np.abs(limits[:, 1]), limits[:, 0], limits[:, 1])
    far = np.where(np.abs(limits[:, 0]) < np.abs(limits[:, 1]), limits[:, 1], limits[:, 0])
    one_sided = np.minimum(np.abs(limits[:, 0]), np.abs(limits[:, 1])) < 0.35 * np.ptp(limits, axis=1)
    closed = np.where(endless | ~one_sided, 0.0, near)
    return closed, np.where(endless, 0.9, closed + 0.75 * (far - closed))


def pictures(name: str) -> list[np.ndarray]:
    """Closed and open, for two instances."""
    images: list[np.ndarray] = []
    index = 0
    while len(images) < 4:
        asset, _ = generate(name, SEED, index)
        index += 1
        if asset is None or asset.articulation is None:
            continue
        poses = [asset.articulation.pose(q).vertices for q in extremes(asset.articulation)]
        with Renderer(asset.mesh, width=SIZE, height=SIZE, fit_to=poses) as renderer:
            images += [renderer.render(pose) for pose in poses]
    return images


def main(folder: Path) -> None:
    names = sorted(FAMILIES)
    overview: list[np.ndarray] = []
    for start in range(0, len(names), PER_SHEET):
        chosen = names[start : start + PER_SHEET]
        images = [image for name in chosen for image in pictures(name)]
        labels = [label for name in chosen for label in (name.replace("_", " "), "", "", "")]
        path = folder / f"families_articulated_{start // PER_SHEET + 1}.jpg"
        # As PNG the soft shadows would weigh four times as much.
        Image.fromarray(contact_sheet(images, COLUMNS, labels)).save(path, quality=88, optimize=True)
        overview += [
            np.asarray(Image.fromarray(image).resize((SMALL, SMALL), Image.Resampling.LANCZOS))
            for image in images[1::4]
        ]
        print(f"{path}: {', '.join(chosen)}")
    Image.fromarray(contact_sheet(overview, COLUMNS, gap=2)).save(folder / "families_articulated.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images"))
