"""Blow at the built-in cabinet while one door is held: the free one opens, the pinned one stays. As a scene file."""

import argparse
from pathlib import Path

import numpy as np

import neurok
from neurok.rendering import clip_sheet, save_image
from neurok.scene.description import Scene, SceneObject, ScenePin, SceneWorld
from neurok.scene.files import read_scene, write_scene
from neurok.scene.run import SceneRun, run_scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/wind"))
    out = parser.parse_args().out

    cabinet = SceneObject("sample:cabinet", pins=(ScenePin("door_2/left"),), joint_damping=1.0)
    scene = Scene((cabinet,), SceneWorld(wind=(0.0, 0.0, 9.0)), seconds=2.0)
    write_scene(scene, out / "wind.yaml")
    print((out / "wind.yaml").read_text())

    run = run_scene(read_scene(out / "wind.yaml"))
    neurok.save(run.asset(), out / "wind.glb")
    save_image(clip_sheet(run.clip(), 8), out / "wind.png")
    check(scene, run)


def check(scene: Scene, run: SceneRun) -> None:
    """The file holds the whole scene, the free door opened and the pinned one did not."""
    assert run.ready.scene == scene
    assert run.rollout.status == "ok", run.rollout.message
    assert run.rollout.q is not None
    free, pinned = run.rollout.q[-1, :2]
    print(f"free door {np.degrees(free):.0f} degrees, pinned door {np.degrees(pinned):.2f} degrees")
    assert free < -0.5
    assert abs(pinned) < 0.02


if __name__ == "__main__":
    main()
