"""Swatches of procedural surfaces for ``docs/materials.md``, and generated objects beside real models in one light.

    NEUROK_DATA=... python benchmarks/sheet_surfaces.py [--only swatches beside]

Generated objects are of seed 0, and real ones the first two of their category by name that are not held out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from PIL import Image

from neurok.catalogue.appearance import natural_rgb, recipe_of, rgb_of
from neurok.generation.verb import generate
from neurok.io import load
from neurok.modelling.builder import mesh_of_pieces
from neurok.modelling.shapes import slab, sphere
from neurok.modelling.surfaces import linear
from neurok.modelling.textures import pbr, unwrapped
from neurok.rendering import contact_sheet, render_mesh, save_image
from neurok_lab.data.household_real import real_models

SWATCHES = (
    "oak", "walnut", "pine", "beech", "bamboo", "rattan", "cork", "linen", "wool", "silk", "denim", "canvas", "burlap",
    "velvet:crimson", "knit:mustard", "carpet:navy", "fur:brown", "leather", "suede", "steel", "brass", "copper",
    "cast iron", "steel:red", "ceramic:blue", "terracotta", "glass", "marble", "granite", "concrete", "abs:orange",
    "cardboard",
)  # fmt: skip
"""Materials of the library, after a colon the colour where it is not their own."""

BESIDE = {
    "sofa": ("a brown leather sofa", "a grey linen sofa on oak legs"),
    "chair": ("a wooden chair with a red seat", "a walnut chair"),
    "bed": ("an oak double bed with a white mattress and two pillows", "a walnut bed with a grey blanket"),
    "vase": ("a blue porcelain vase", "a terracotta vase"),
}


@dataclass
class Sheets:
    """Draw them."""

    only: tuple[str, ...] = ("swatches", "beside")
    """Which sheets."""

    out: Path = Path("docs/images")
    """Where they go."""

    def run(self) -> None:
        for name in self.only:
            pictures, columns = (list(_swatches()), 8) if name == "swatches" else (list(_beside()), 4)
            path = self.out / f"surfaces_{name}.jpg"
            save_image(contact_sheet(pictures, columns=columns), path.with_suffix(".png"))
            Image.open(path.with_suffix(".png")).convert("RGB").save(path, quality=80)
            path.with_suffix(".png").unlink()
            print(path)


def _swatches() -> Iterator[np.ndarray]:
    for entry in SWATCHES:
        material, _, word = entry.partition(":")
        rgb = rgb_of(word) if word else natural_rgb(material)
        surface = pbr(recipe_of(material, rgb, grain=not word), linear(rgb), entry)
        solids = [slab((-0.17, 0.0, -0.11), (0.17, 0.03, 0.11), 0.002), sphere(0.08, 64, 32).move(0.0, 0.11, 0.0)]
        solids = solids[1:] if material == "glass" else solids  # a clear face on the ground flickers with it
        pieces = [(unwrapped(solid, surface), surface, 0) for solid in solids]
        yield render_mesh(mesh_of_pieces(pieces, ["swatch"], entry), 200, 170)[..., :3]


def _beside() -> Iterator[np.ndarray]:
    real = real_models(Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d")
    for category, prompts in BESIDE.items():
        for text in prompts:
            (made,) = generate(text, seed=0)
            yield render_mesh(made.asset.mesh, 360, 300)[..., :3]
        mine = sorted(
            (one for one in real if one.category == category and not one.is_kept_aside), key=lambda one: one.path
        )
        for model in mine[:2]:
            yield render_mesh(load(model.path).mesh, 360, 300)[..., :3]


if __name__ == "__main__":
    tyro.cli(Sheets).run()
