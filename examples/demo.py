"""Push a mesh that has no joints: the learned space says how it moves. An animated GLB, a film and a contact sheet."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import neurok
from neurok.dynamics import Condition, Force
from neurok.rendering import clip_sheet, render_clip, save_image, save_video


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"))
    out = parser.parse_args().out

    laptop = neurok.load("sample:laptop").mesh
    mesh = replace(laptop, part_ids=None, part_names=())
    space = neurok.infer(mesh)
    top = np.flatnonzero(mesh.vertices[:, 1] > mesh.bounds[1, 1] - 0.02 * mesh.size)
    push = Condition(forces=[Force.constant(top, (0.0, 0.0, -0.15), end=0.3)])
    body = neurok.Body.of(space, push, damping=1.5)
    rollout = neurok.simulate(body, neurok.World(gravity=np.zeros(3)), seconds=1.5)
    clip = rollout.clip()
    neurok.save(clip, out / "laptop.glb")
    save_video(render_clip(clip), out / "laptop.mp4", fps=24)
    save_image(clip_sheet(clip, 8), out / "laptop.png")
    check(out, space.dim)


def check(out: Path, coordinates: int) -> None:
    """The example did what it says."""
    again = neurok.load(out / "laptop.glb")
    moved = np.abs(again.clips[0].positions - again.clips[0].positions[0]).max()
    assert moved > 0.05 * again.mesh.size
    print(f"a mesh without joints, {coordinates} learned coordinates")
    for name in ("laptop.glb", "laptop.mp4", "laptop.png"):
        print(f"{out / name}  {(out / name).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
