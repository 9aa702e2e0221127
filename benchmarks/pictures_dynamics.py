"""The pictures of docs/dynamics.md: one strip of moments for each condition.

Run: python benchmarks/pictures_dynamics.py [--out docs/images] [NAME ...]
"""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path

import numpy as np

from neurok.core import Clip
from neurok.io.files import write_files
from neurok.rendering import contact_sheet, render_clip
from neurok.scene.description import (
    Scene,
    SceneDrag,
    SceneGround,
    SceneObject,
    ScenePin,
    ScenePush,
    SceneVelocity,
    SceneWorld,
)
from neurok.scene.run import run_scene

CABINET, LAMP, LAPTOP, PILLOW = (f"sample:{name}" for name in ("cabinet", "lamp", "laptop", "pillow"))
GROUND = SceneWorld(ground=SceneGround())

SCENES: dict[str, Scene] = {
    "gravity": Scene((SceneObject(LAMP, joint_damping=3.0),), seconds=1.2),
    "push": Scene(
        (SceneObject(CABINET, pushes=(ScenePush("door/right", (0.0, 0.0, 6.0)),), joint_damping=1.0),), seconds=0.9
    ),
    "velocity": Scene(
        (SceneObject(CABINET, velocities=(SceneVelocity("drawer", (0.0, 0.0, 0.5)),), joint_damping=1.5),), seconds=0.6
    ),
    "drag": Scene(
        (SceneObject(CABINET, drags=(SceneDrag("door_2/left", ((0.1, 0.0, 0.25), (0.35, 0.0, 0.4))),)),),
    ),
    "pin": Scene((SceneObject(LAMP, pins=(ScenePin("head/top"),), base="free", joint_damping=2.0),), seconds=1.5),
    "wind": Scene((SceneObject(CABINET, joint_damping=1.0),), SceneWorld(wind=(0.0, 0.0, 8.0)), seconds=0.6),
    "drop": Scene((SceneObject(LAPTOP, drop=0.25, rotation=(25.0, 0.0, 20.0)),), seconds=1.2),
    "ground": Scene(
        (SceneObject(CABINET, pushes=(ScenePush("top", (0.0, 0.0, 260.0), 0.0, 0.3),)),), GROUND, seconds=1.0
    ),
    "together": Scene(
        (
            SceneObject(CABINET, base="fixed"),
            SceneObject(PILLOW, position=(0.35, 0.9, 0.05), rotation=(10.0, 0.0, 5.0)),
        ),
        GROUND,
        seconds=0.8,
    ),
    "free": Scene(
        (SceneObject(LAPTOP, base="free", jolt=1.5),), SceneWorld(gravity=(0.0, 0.0, 0.0)), seconds=1.0, seed=4
    ),
}


def strip(clip: Clip, count: int = 5, width: int = 230, height: int = 190) -> np.ndarray:
    """Moments of a clip in one row."""
    chosen = np.round(np.linspace(0, clip.frame_count - 1, count)).astype(int)
    moments = Clip(clip.rest, clip.positions[chosen], clip.fps)
    images = list(render_clip(moments, width, height))
    return contact_sheet(images, count, [f"{i / clip.fps:.2f} s" for i in chosen])


def save_small(image: np.ndarray, path: Path) -> None:
    """Write a PNG with a palette, which is a third of the size."""
    from PIL import Image

    buffer = io.BytesIO()
    picture = Image.fromarray(image).convert("RGB").quantize(160, dither=Image.Dither.FLOYDSTEINBERG)
    picture.save(buffer, "PNG", optimize=True)
    write_files(path, {path.name: buffer.getvalue()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*SCENES, []], help="only these")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    for name in options.names or SCENES:
        begin = time.perf_counter()
        run = run_scene(SCENES[name])
        assert run.rollout.status == "ok", run.rollout.message
        path = options.out / f"dynamics_{name}.png"
        save_small(strip(run.clip()), path)
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB  {time.perf_counter() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
