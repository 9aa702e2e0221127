"""Drop the built-in laptop on a corner: it falls, tips, its lid swings, and it comes to rest."""

import argparse
from pathlib import Path

import numpy as np

import neurok
from neurok.dynamics import Ground
from neurok.geometry.lie import rotation_about
from neurok.rendering import clip_sheet, save_image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/drop"))
    out = parser.parse_args().out

    laptop = neurok.load("sample:laptop").articulation
    assert laptop is not None
    placement = rotation_about(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.array(np.radians(12)))
    placement[1, 3] = 0.25
    body = neurok.Body.of(laptop, free=True, placement=placement)
    world = neurok.World(ground=Ground(height=0.0, friction=0.6))

    rollout = neurok.simulate(body, world, seconds=2.0, fps=24)
    neurok.save(rollout, out / "drop.glb")
    save_image(clip_sheet(rollout.clip(), 8), out / "drop.png")
    check(rollout)


def check(rollout: neurok.Rollout) -> None:
    """It ended at rest, on the ground and not in it."""
    assert rollout.status == "ok", rollout.message
    assert rollout.positions is not None
    low = rollout.positions[..., 1].min(axis=1)
    creep = np.abs(rollout.positions[-1] - rollout.positions[-2]).max()
    size = rollout.rest.size
    print(f"lowest point from {low[0]:.3f} to {low[-1]:.4f} m; the last frame moved {1000 * creep:.3f} mm")
    assert abs(low[-1]) < 0.01 * size
    assert creep < 1e-3 * size
    assert rollout.report["max_penetration"] < 0.01 * size


if __name__ == "__main__":
    main()
