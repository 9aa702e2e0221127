"""The moving picture at the top of the README: built-in and generated objects, each in motion.

python benchmarks/picture_readme.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import neurok
from neurok.cli import main as command
from neurok.core import Clip
from neurok.rendering import contact_sheet, render_clip

OUT = Path(__file__).parents[1] / "docs/images/readme.webp"
FPS, SECONDS = 15.0, 2.0
WIDTH, HEIGHT, COLUMNS = 300, 225, 3

MOTIONS = (
    ("sample:laptop", ["--act", "drop"]),
    ("sample:cabinet", ["--drag", "drawer_2:0,0,0.3", "--push", "door_2/left:0,0,4@0-0.3", "--joint-damping", "2"]),
    ("sample:pillow", ["--act", "drop"]),
    ("a red velvet sofa on oak legs", ["--act", "tilt"]),
    ("sample:lamp", []),
    ("a brown teddy bear", ["--act", "drop"]),
)
"""What is shown: an object or the words that make one, and what is done to it."""


def moved(folder: Path, thing: str, loads: list[str]) -> Clip:
    """The motion that command lines make of an object or of words."""
    if not thing.startswith("sample:"):
        command(["generate", "--text", thing, "--out", str(folder / "made.glb")])
        thing = str(folder / "made.glb")
    command(["simulate", thing, *loads, "--seconds", str(SECONDS), "--out", str(folder / "motion.npz")])
    return neurok.load_clip(folder / "motion.npz").resampled(FPS)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        rows = [
            list(render_clip(moved(Path(name), thing, loads), width=WIDTH, height=HEIGHT)) for thing, loads in MOTIONS
        ]
    count = min(len(row) for row in rows)
    frames = [
        Image.fromarray(np.asarray(contact_sheet([row[k] for row in rows], columns=COLUMNS))) for k in range(count)
    ]
    OUT.parent.mkdir(exist_ok=True)
    frames[0].save(
        OUT, save_all=True, append_images=frames[1:], duration=round(1000 / FPS), loop=0, quality=80, method=4
    )
    size = OUT.stat().st_size
    assert size < 2e6, f"{OUT.name} has {size} bytes"
    print(f"{OUT.name}: {count} frames, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
