"""Sheets of generated objects for ``docs/generation.md``: from words, from pictures, in motion, edited, and failures.

    python benchmarks/gallery_generation.py [--weights FILE] [--only words pictures moves actions edits]

Prompts stand below; nothing is picked: every row is seeds 0 to 3. Pictures are renders of held-out instances. About
15 minutes on one core.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from PIL import Image

from neurok.core import Articulation, Asset
from neurok.data.household_pictures import PictureConfig, draw_views, take_pictures
from neurok.data.picture_augmentation import on_plain
from neurok.evaluation.generation import GenerationSuite, held_out
from neurok.families.household.asset import asset_of
from neurok.inference.generate import generate
from neurok.inference.vary import vary
from neurok.io import save
from neurok.rendering import contact_sheet, render_mesh, save_image

WORDS = {
    "bag": "a brown leather handbag with a gold clasp",
    "bed": "an oak double bed with a white mattress and two pillows",
    "chair": "a wooden chair with a red seat",
    "crib": "a white crib with a mattress",
    "hat": "a straw sun hat with a black band",
    "headband": "a pink headband with a bow",
    "love seat": "a grey linen love seat on wooden legs",
    "pillow": "a striped blue pillow",
    "plant": "a potted plant in a terracotta pot",
    "sofa": "a green velvet sofa",
    "teddy bear": "a brown teddy bear with a red bow",
    "vase": "a blue porcelain vase",
    "cabinet": "a cabinet with two doors and three drawers",
    "table": "a round table with metal legs",
    "desk": "an oak desk with three drawers",
    "lamp": "a black desk lamp",
    "laptop": "a silver laptop",
    "box": "a wooden treasure chest",
    "microwave": "a white microwave",
    "fridge": "a steel fridge with two doors",
    "door": "a green front door with a brass handle",
    "bin": "a steel pedal bin",
}
ACTED = ("a soft pillow", "a teddy bear", "a wooden chair", "a potted plant", "a blue vase")
EDITS = (
    ("a red sofa on oak legs", ("make the legs metal", "a blue seat cushion", "wider")),
    ("a wooden chair with a red seat", ("taller back", "make the legs steel", "a green seat")),
    ("a cabinet with two doors", ("white doors", "brass handles", "taller")),
)
SIZE = {"width": 260, "height": 210}


@dataclass
class Gallery:
    """Draw the sheets."""

    weights: str = "generation"
    """Which weights."""

    out: Path = Path("docs/images/generation")
    """Where the sheets go."""

    only: tuple[str, ...] = ("words", "pictures", "moves", "actions", "edits")
    """Which sheets."""

    seeds: int = 4
    """Objects of each prompt."""

    def run(self) -> None:
        for name in self.only:
            rows = list(getattr(self, f"_{name}")())
            columns = max(map(len, rows))
            blank = np.full_like(rows[0][0], 255)
            flat = [image for row in rows for image in (*row, *[blank] * (columns - len(row)))]
            self.out.mkdir(parents=True, exist_ok=True)
            save_image(contact_sheet(flat, columns=columns), self.out / f"{name}.png")
            sheet = Image.open(self.out / f"{name}.png").convert("RGB")
            sheet.save(self.out / f"{name}.jpg", quality=82)
            (self.out / f"{name}.png").unlink()
            print(self.out / f"{name}.jpg")

    def _words(self) -> Iterator[list[np.ndarray]]:
        pairs = list(WORDS.values())
        for first, second in zip(pairs[::2], pairs[1::2], strict=True):
            found = [one for text in (first, second) for one in self._made(text)]
            yield [render_mesh(one.mesh, **SIZE) for one in found]

    def _pictures(self) -> Iterator[list[np.ndarray]]:
        for number, assembly in enumerate(held_out(GenerationSuite(each=1))):
            if number % 2 == 0 and number < 24:
                picture = take_pictures(asset_of(assembly), draw_views(assembly.name, PictureConfig(views=1)))
                import torch

                seen = on_plain(torch.from_numpy(picture))[0].permute(1, 2, 0).numpy()
                side = Image.fromarray((255 * seen).astype(np.uint8)).resize((SIZE["height"], SIZE["height"]))
                canvas = Image.new("RGB", (SIZE["width"], SIZE["height"]), (219, 219, 219))
                canvas.paste(side, ((SIZE["width"] - SIZE["height"]) // 2, 0))
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "picture.png"
                    Image.fromarray(picture[0]).save(path)
                    found = generate(image=path, weights=self.weights, count=3)
                yield [np.asarray(canvas), *(render_mesh(one.asset.mesh, **SIZE) for one in found)]

    def _moves(self) -> Iterator[list[np.ndarray]]:
        for name in ("cabinet", "desk", "fridge", "box", "laptop", "lamp"):
            row = []
            for asset in self._made(WORDS[name])[:2]:
                row += [render_mesh(asset.mesh, **SIZE), render_mesh(opened(asset).mesh, **SIZE)]
            yield row

    def _actions(self) -> Iterator[list[np.ndarray]]:
        from neurok.inference.spaces import learner
        from neurok.scene.description import Scene, SceneObject
        from neurok.scene.run import prepare_scene, run_ready

        for text, act in zip(ACTED, ("drop", "drag", "tilt", "wind", "throw"), strict=True):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "object.glb"
                save(self._made(text)[0], path)
                run = run_ready(prepare_scene(Scene((SceneObject(str(path), act=act),), seconds=1.5), learner(None)))
                clip = run.clip()
                frames = np.linspace(0, clip.frame_count - 1, 6).astype(int)
                yield [render_mesh(clip.mesh(int(frame)), **SIZE) for frame in frames]

    def _edits(self) -> Iterator[list[np.ndarray]]:
        for text, edits in EDITS:
            (base,) = generate(text, weights=self.weights)
            row = [render_mesh(base.asset.mesh, **SIZE)]
            for edit in edits:
                (changed,) = vary(base.assembly, edit=edit, weights=self.weights)
                row.append(render_mesh(changed.asset.mesh, **SIZE))
            yield row

    def _made(self, text: str) -> list[Asset]:
        return [one.asset for one in generate(text, weights=self.weights, count=self.seeds)]


def opened(asset: Asset) -> Asset:
    """The object with all joints most of the way to their farther limit."""
    joints: Articulation | None = asset.articulation
    if joints is None or not joints.dof:
        return asset
    far = np.where(np.abs(joints.limits[:, 1]) >= np.abs(joints.limits[:, 0]), joints.limits[:, 1], joints.limits[:, 0])
    return Asset(joints.pose(0.8 * far))


if __name__ == "__main__":
    tyro.cli(Gallery).run()
