"""How sure the guesses of unit and up axis are: fits the weights of ``doctor/frame.py`` and measures what is acted on.

Files whose frame is known (glTF, URDF, PartNet-Mobility) are read as if their format said nothing, as they are and
turned on purpose. A fifth, chosen by the hash of the file's name, is kept aside.

    python benchmarks/fit_frames.py [FOLDER]        # $NEUROK_DATA by default
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from neurok.core import Asset
from neurok.core.mesh import AXIS_INDEX
from neurok.doctor.frame import framed, up_evidence
from neurok.errors import NeurokError
from neurok.io import load

MANY = ("animated_glb/*.glb", "furniture_glb/**/*.gl*", "household/**/*.glb", "khronos_glb/*.glb")
OTHERS = ("articulated_urdf/*/*.urdf", "partnet_mobility/*/")
IN_METRES = ("household", "articulated_urdf")
"""Folders whose files were measured; sizes of game assets mean little."""

SCALES = {"m": 1.0, "cm": 100.0, "mm": 1000.0, "in": 1.0 / 0.0254}
NAMES = ("lowest_at_zero", "standing", "lopsided")


@dataclass(frozen=True)
class Known:
    """A file whose frame is known."""

    name: str
    folder: str
    asset: Asset
    evidence: np.ndarray
    """A row for each axis."""

    @property
    def is_held(self) -> bool:
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 5 == 0


def read_all(root: Path) -> list[Known]:
    out = []
    for path in sorted(path for pattern in MANY + OTHERS for path in root.glob(pattern)):
        try:
            mesh = load(path).mesh
        except NeurokError:
            continue
        found = up_evidence(mesh, mesh.faces)
        rows = np.stack([found[axis] for axis in AXIS_INDEX])
        out.append(Known(path.name, path.relative_to(root).parts[0], Asset(mesh), rows))
    return out


def fit(known: list[Known]) -> np.ndarray:
    """Weights of the evidence by maximum likelihood: which of the three axes is up."""
    rows = np.stack([thing.evidence for thing in known])
    truth = np.array([AXIS_INDEX[thing.asset.mesh.up] for thing in known])

    def loss(weights: np.ndarray) -> float:
        scores = rows @ weights
        scores = scores - scores.max(axis=1, keepdims=True)
        chosen = scores[np.arange(len(truth)), truth] - np.log(np.exp(scores).sum(axis=1))
        return float(-chosen.mean() + 1e-3 * (weights**2).sum())

    return minimize(loss, np.zeros(rows.shape[2])).x


def up_row(known: list[Known], turn: bool) -> str:
    """Files read without a frame: how many of them stand upright afterwards."""
    right = wrong = left = 0
    for thing in known:
        mesh = thing.asset.mesh.in_frame("z" if turn else "y", thing.asset.mesh.unit)
        found = framed(Asset(replace(mesh, up="y")), is_stated=False, unit=mesh.unit).asset.mesh.up
        right += found == mesh.up and turn
        wrong += found not in (mesh.up, "y")
        wrong += not turn and found != "y"
        left += turn and found == "y"
    return f"{len(known)} | {right if turn else len(known) - wrong} | {wrong} | {left}"


def unit_row(known: list[Known], unit: str, is_stated: bool) -> str:
    """Files written in a unit and read in metres: in which unit they end."""
    ends = dict.fromkeys(SCALES, 0)
    for thing in known:
        mesh = thing.asset.mesh
        scaled = mesh.with_vertices(mesh.vertices * mesh.unit * SCALES[unit])
        metres = framed(Asset(replace(scaled, unit=1.0)), is_stated=is_stated, up=mesh.up).asset.mesh.unit
        ends[min(SCALES, key=lambda name: abs(SCALES[name] * metres - 1.0))] += 1
    return " | ".join(str(count) for count in ends.values())


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["NEUROK_DATA"])
    known = read_all(root)
    learned, held = [k for k in known if not k.is_held], [k for k in known if k.is_held]
    print("weights:", ", ".join(f"{n} {w:.2f}" for n, w in zip(NAMES, fit(learned), strict=True)), "\n")
    print("| up axis, format says nothing | files | upright | turned wrongly | left lying |\n|---|---|---|---|---|")
    for label, some in (("fitted", learned), ("kept aside", held)):
        print(f"| {label}, y up | {up_row(some, turn=False)} |")
        print(f"| {label}, z up | {up_row(some, turn=True)} |")
    measured = [k for k in known if k.folder in IN_METRES]
    print(f"\n| {len(measured)} files in metres, written in | format | read in m | cm | mm | in |\n{'|---' * 6}|")
    for unit in SCALES:
        for is_stated in (True, False):
            label = "says metres" if is_stated else "says nothing"
            print(f"| {unit} | {label} | {unit_row(measured, unit, is_stated)} |")


if __name__ == "__main__":
    main()
