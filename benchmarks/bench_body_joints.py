"""How much of what a learned space moves goes along the true joints: the prior alone, and with joints from geometry.

    python benchmarks/bench_body_joints.py [--data DIR] [--every 3] [--out benchmarks/results/body_joints.md]

DIR (or NEUROK_DATA) holds ``partnet_mobility/train``. Of the training objects only every so many are taken.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from bench_neural import markdown, stripped
from figures import RESULTS, stamp

import neurok
from neurok.core import Articulation
from neurok.data.splits import hold_out

STILL = 0.02
"""A part moves if its root mean square motion is more than this share of that of the liveliest part."""

FOUND = 0.9
"""Share of the motion along the true joint from which on the joint counts as found."""


def true_motions(articulation: Articulation) -> dict[int, np.ndarray]:
    """For each part that can move: how fast its vertices move with each joint on its way to the root."""
    rest, step = articulation.mesh.vertices, 1e-5
    fields = [(articulation.pose(step * unit).vertices - rest) / step for unit in np.eye(articulation.dof)]
    out = {}
    for part in range(len(articulation.joints)):
        rows = articulation.vertex_parts == part
        moving = [field[rows] for field in fields if np.abs(field[rows]).max(initial=0.0) > 1e-9]
        if moving:
            out[part] = np.stack([field.reshape(-1) for field in moving], axis=1)
    return out


def shares(articulation: Articulation, space: Any) -> list[float]:
    """For each part that truly moves the share of its motion along its true joints; 0 if it stands still."""
    rows = articulation.vertex_parts
    moves = np.einsum("vk,dkc->dvc", space.features, space.slopes_at_rest(), optimize=True)
    found, paces = [], []
    for part, true in true_motions(articulation).items():
        columns = moves[:, rows == part].reshape(space.dim, -1).T
        energy = float((columns**2).sum())
        basis = np.linalg.qr(true)[0]
        found.append(float(((basis.T @ columns) ** 2).sum()) / max(energy, 1e-300))
        paces.append(np.sqrt(energy / max(1, columns.shape[0] // 3)))
    return [share if pace > STILL * max(paces) else 0.0 for share, pace in zip(found, paces, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NEUROK_DATA", ""))
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "body_joints.md")
    options = parser.parse_args()
    folder = Path(options.data) / "partnet_mobility" / "train"
    train, seen, unseen = hold_out(path.stem for path in folder.glob("*.npz"))
    model, rows = neurok.load_model(), []
    for label, names in (("training", train[:: options.every]), ("held out, seen", seen), ("held out, unseen", unseen)):
        kinds: dict[str, list[float]] = {"the prior, 24 numbers": [], "the prior, reduced": [], "joints": []}
        dims: dict[str, list[int]] = {kind: [] for kind in kinds}
        for name in names:
            articulation = neurok.load(folder / f"{name}.npz").articulation
            if articulation is None or not articulation.dof:
                continue
            mesh = stripped(articulation.mesh)
            for kind, given in zip(kinds, ({"mode": "none", "touch": False}, {"touch": False}, {}), strict=True):
                space = neurok.infer(mesh, model=model, **given)
                kinds[kind] += shares(articulation, space)
                dims[kind].append(space.dim)
        for kind, values in kinds.items():
            rows.append(
                {
                    "objects": label,
                    "space": kind,
                    "parts that move": len(values),
                    "coordinates": float(np.mean(dims[kind])),
                    "share along the true joints": float(np.mean(values)),
                    f"more than {FOUND}": float(np.mean(np.array(values) > FOUND)),
                }
            )
            print(rows[-1], flush=True)
    options.out.write_text(f"{markdown('Motion along the true joints', rows)}\n{NOTES}\n{stamp()}\n")


NOTES = """Parts whose true joint moves. The motion of a space is that of all its coordinates at rest, each by a
standard deviation; a part that stands still in it counts as 0. No space is told of joints, parts or categories.
"""

if __name__ == "__main__":
    main()
