"""A sheet of raw meshes with what their plans say: 24 held-out objects, 12 that stand still, and 12 single surfaces.

Run: python benchmarks/sheet_raw.py [OUT.jpg] [--data=FOLDER]; the last dozen are every second of the first two dozen,
melted into one surface as a scan would have them. The folder, NEUROK_DATA unless given, holds
partnet_mobility/train and the folders of furniture. Parts of files are hidden. Bodies have colours and are moved
through part of their range by every joint that a simulation would move (above 0.25); a rod is the axis of a turn, an
arrow the way of a slide. Green joints do what a true one does (cosine of velocity fields above 0.9), red ones do not.
The frame is green when every true joint is found and nothing else, red when none is found, amber between; of what
stands still it is green when nothing moves.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sheet_articulation import BORDER, COLUMNS, PARTLY, RIGHT, SIZE, WRONG, choose, marker, states

from neurok.bodyplan.config import SIMULATED
from neurok.core.articulation import cosines, joint_fields
from neurok.data.still import data_folder
from neurok.evaluation.articulation import JointSource, find_joint_sources, plan_weights
from neurok.evaluation.cases import boxed_articulation, unlabelled
from neurok.evaluation.motions import MATCH, STILL, find_still_sources
from neurok.geometry.operators import face_areas
from neurok.inference.plan import plan
from neurok.rendering import Renderer, contact_sheet, save_image
from neurok.train.versions import single_surface, with_true_parts

STANDING = 12
"""Objects that stand still."""


def picture(source: JointSource, weights: dict[str, Any], surface: bool = False) -> tuple[np.ndarray, str]:
    true = boxed_articulation(source.load())
    if surface:
        mesh, owners = single_surface(true.mesh)
        found = plan(mesh, **weights).likely(SIMULATED)
        true = with_true_parts(mesh, true.mesh.face_parts[owners], true)
    else:
        found = plan(unlabelled(true.mesh), **weights).likely(SIMULATED)
    areas = face_areas(true.mesh.vertices, true.mesh.faces)
    fields = joint_fields(true)
    fields = fields[np.einsum("afk,afk,f->a", fields, fields, areas) > 1e-12]
    alike = cosines(joint_fields(found.articulation), fields, areas)
    fine = alike.max(axis=1, initial=0.0) > MATCH
    hits = int((alike.max(axis=0, initial=0.0) > MATCH).sum())
    held = [body.joint for body in found.bodies if body.joint is not None]
    mesh, size = found.mesh, found.mesh.size
    marks = [marker(joint, bool(right), size) for joint, right in zip(held, fine, strict=False)]
    with Renderer(mesh, width=SIZE, height=SIZE, colors="parts", fit_to=[mesh.vertices]) as renderer:
        image = np.array(renderer.render(found.articulation.pose(states(found.articulation)).vertices, markers=marks))
    wrong = int((~fine).sum())
    whole = hits == len(fields) and wrong == 0
    color = RIGHT if whole else (PARTLY if hits else WRONG)
    rim = np.ones(image.shape[:2], dtype=bool)
    rim[BORDER:-BORDER, BORDER:-BORDER] = False
    image[rim, :3] = (np.array(color) * 255).astype(np.uint8)
    score = f"{hits}/{len(fields)}" if source.group != STILL else "still"
    print(source.name, score, f"wrong {wrong}", flush=True)
    name = source.name.rsplit("_", 1)[1] if source.group == STILL else source.name.rsplit("_", 1)[0]
    return image, f"  {name[:16]} {score}" + (f" +{wrong}" if wrong else "")


def main(data: Path, out: Path) -> None:
    chosen = choose(find_joint_sources(data / "partnet_mobility" / "train"))
    weights = plan_weights([source.name for source in chosen])
    still = find_still_sources(lambda inside: data / inside, STANDING)
    pictures = [picture(source, weights) for source in (*chosen, *still)]
    pictures += [picture(source, weights, surface=True) for source in chosen[::2]]
    images, labels = zip(*pictures, strict=True)
    save_image(contact_sheet(images, COLUMNS, labels), out)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    flags = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--") and "=" in word)
    target = Path(words[0]) if words else Path("docs/images/raw_sheet.jpg")
    main(data_folder(Path(flags["data"]) if "data" in flags else None), target)
