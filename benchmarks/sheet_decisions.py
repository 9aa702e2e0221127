"""What becomes of real files: each at rest, with its joints at their limits, after a drop and in the wind.

    python benchmarks/sheet_decisions.py FOLDER [--out OUT.jpg] [--only NAME ...] [--actions drop wind]

FOLDER holds the files and the truth.csv that ``neurok evaluate decisions`` reads. One row of pictures for each file;
under each picture stand what was decided (matter, mass), the status of the motion, and how many times faster than real
time the engine stepped (CPU seconds of the whole run, preparation included, are in the JSON lines that it prints).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro

import neurok
from neurok.core import Articulation, Mesh
from neurok.errors import NeurokError
from neurok.model import Model
from neurok.rendering import Renderer, contact_sheet, save_image
from neurok_lab.evaluation.decisions import Truth, mass_in_scene, read_truth

SIZE = 220
Panel = tuple[np.ndarray, str]


@dataclass
class Sheet:
    """Draw what becomes of each file of a folder."""

    folder: tyro.conf.Positional[Path]
    out: Path = Path("out/decisions.jpg")
    only: tuple[str, ...] = ()
    """Names of files, or parts of names."""

    actions: tuple[str, ...] = ("drop", "wind")
    rows: int = 11
    """Objects on one sheet; there are as many sheets as are needed."""

    seconds: float = 2.0
    report: list[dict] = field(default_factory=list, init=False)

    def run(self) -> None:
        truths = [
            one for one in read_truth(self.folder) if not self.only or any(word in one.name for word in self.only)
        ]
        for sheet, first in enumerate(range(0, len(truths), self.rows)):
            panels = [panel for one in truths[first : first + self.rows] for panel in self.panels(one)]
            images, labels = zip(*panels, strict=True)
            target = self.out.with_stem(f"{self.out.stem}_{sheet + 1}")
            target.parent.mkdir(parents=True, exist_ok=True)
            save_image(contact_sheet(images, 2 + len(self.actions), labels), target)

    def panels(self, truth: Truth) -> list[Panel]:
        model = neurok.understand(truth.path)
        asset = model.exported()
        joints = asset.articulation
        made = f"{model.matter} {mass_in_scene(model):.2g} kg"
        out = [(picture(asset.mesh, asset.mesh.vertices), f"{truth.name[:22]} {made}")]
        moved = asset.mesh.vertices if joints is None else opened(joints)
        out.append((picture(asset.mesh, moved), f"{0 if joints is None else joints.dof} joints"))
        return out + [self.acted(model, truth, action) for action in self.actions]

    def acted(self, model: Model, truth: Truth, action: str) -> Panel:
        begin = time.process_time()
        try:
            rollout = neurok.simulate(model, act=action, seconds=self.seconds)
        except NeurokError as error:
            print(json.dumps({"name": truth.name, "action": action, "error": str(error)}), flush=True)
            return np.full((SIZE, SIZE, 3), 255, np.uint8), f"{action}: {error}"[:30]
        spent = time.process_time() - begin
        print(
            json.dumps({"name": truth.name, "action": action, "status": rollout.status, "cpu": round(spent, 2)}),
            flush=True,
        )
        frame = rollout.frame_count // 2 if action == "wind" else -1
        clip = rollout.clip()
        return picture(clip.rest, clip.positions[frame]), f"{action}: {rollout.status}, {spent:.1f} s"


def opened(joints: Articulation) -> np.ndarray:
    """Vertices with every joint at the limit that is farther from rest, a turn without limits at a sixth of one."""
    values = []
    for joint in joints.joints:
        for low, high in joint.limits:
            far = high if abs(high) >= abs(low) else low
            values.append(far if np.isfinite(far) else np.pi / 3)
    return joints.pose(np.array(values)).vertices


def picture(mesh: Mesh, vertices: np.ndarray) -> np.ndarray:
    with Renderer(mesh, width=SIZE, height=SIZE, fit_to=[vertices]) as renderer:
        return np.array(renderer.render(vertices))


if __name__ == "__main__":
    tyro.cli(Sheet).run()
