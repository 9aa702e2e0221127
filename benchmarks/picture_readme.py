"""The picture at the top of the README: three built-in objects in motion.

python benchmarks/picture_readme.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import neurok
from neurok.cli import main as command
from neurok.core import Clip
from neurok.rendering import contact_sheet, render_clip, save_image

OUT = Path(__file__).parents[1] / "docs/images/readme.png"
FRAMES = 5


def simulated(folder: Path, *arguments: str) -> Clip:
    """The clip that a command line makes."""
    path = folder / "motion.npz"
    command(["simulate", *arguments, "--out", str(path)])
    return neurok.load_clip(path)


def row(clip: Clip) -> list[np.ndarray]:
    chosen = np.linspace(0, clip.frame_count - 1, FRAMES).round().astype(int)
    picked = Clip(clip.rest, clip.positions[chosen], clip.fps)
    return list(render_clip(picked, width=300, height=230))


def main() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laptop = simulated(folder, "sample:laptop", "--drop", "--seconds", "0.6")
        loads = ["--drag", "drawer_2:0,0,0.3", "--push", "door_2/left:0,0,4@0-0.3", "--joint-damping", "2"]
        cabinet = simulated(folder, "sample:cabinet", *loads, "--seconds", "0.9")
        lamp = simulated(folder, "sample:lamp", "--seconds", "0.5")
    rows = [image for clip in (laptop, cabinet, lamp) for image in row(clip)]
    OUT.parent.mkdir(exist_ok=True)
    save_image(contact_sheet(rows, columns=FRAMES), OUT)
    print(OUT)


if __name__ == "__main__":
    main()
