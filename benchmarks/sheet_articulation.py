"""A sheet of 24 held-out objects with their predicted joints, right and wrong ones marked.

Run: python benchmarks/sheet_articulation.py [OUT.png] [--data=FOLDER] [--method=METHOD]; the folder, NEUROK_DATA
unless given, holds partnet_mobility/train. Each object is shown with its joints moved through part of their predicted
range. A rod is the axis of a turn, an arrow the way of a slide; green is right (kind, axis within 10 degrees, hinge
within a twentieth of the diagonal), red is wrong. The frame is green when all moving parts are right, amber when some
are, red when none is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.core import Articulation
from neurok.geometry.operators import face_areas
from neurok.rendering import Renderer, contact_sheet, save_image
from neurok.rendering.markers import Arrow, Axis, Marker
from neurok_lab.data.still import data_folder
from neurok_lab.evaluation.articulation import JointSource, find_joint_method, find_joint_sources
from neurok_lab.evaluation.joint_scores import Guess, is_right, score_parts

COUNT, COLUMNS, SIZE, BORDER = 24, 6, 260, 6
RIGHT, WRONG, PARTLY = (0.15, 0.60, 0.25), (0.85, 0.20, 0.15), (0.95, 0.65, 0.10)


def states(articulation: Articulation) -> np.ndarray:
    """Every joint at two thirds of its longer way, a wheel an eighth of a turn on."""
    values = []
    for joint in articulation.joints:
        for low, high in joint.limits:
            far = high if abs(high) > abs(low) else low
            values.append(0.6 * far if np.isfinite(far) else np.pi / 4)
    return np.array(values)


def marker(answer: Hypothesis, right: bool, size: float) -> Marker:
    color = RIGHT if right else WRONG
    if answer.kind == "prismatic":
        way = answer.axis * (1.0 if abs(answer.upper) >= abs(answer.lower) else -1.0)
        return Arrow(answer.origin, way, color, 0.3 * size, 0.014)
    return Axis(answer.origin, answer.axis, color, 0.45 * size, 0.014)


def picture(source: JointSource, method) -> tuple[np.ndarray, str]:  # type: ignore[no-untyped-def]
    truth = source.load()
    answers = method.run(truth.mesh, False)
    rows = score_parts(truth, Guess(answers, truth.mesh.face_parts), face_areas(truth.mesh.vertices, truth.mesh.faces))
    right = {row["part"]: is_right(row) for row in rows}
    moving = [row for row in rows if row["kind"] != "fixed"]
    good = sum(is_right(row) for row in moving)
    names = truth.part_names
    joints = tuple(answer.joint(name) for answer, name in zip(answers, names, strict=True))
    found = Articulation(truth.mesh, joints)
    size = truth.mesh.size
    marks = [marker(a, right.get(names[a.part], False), size) for a in answers if a.kind != "fixed"]
    with Renderer(truth.mesh, width=SIZE, height=SIZE, colors="parts", fit_to=[truth.mesh.vertices]) as renderer:
        image = np.array(renderer.render(found.pose(states(found)).vertices, markers=marks))
    color = RIGHT if good == len(moving) else (PARTLY if good else WRONG)
    rim = np.ones(image.shape[:2], dtype=bool)
    rim[BORDER:-BORDER, BORDER:-BORDER] = False
    image[rim, :3] = (np.array(color) * 255).astype(np.uint8)
    return image, f"  {source.name.rsplit('_', 1)[0]} {good}/{len(moving)}"


def choose(sources: list[JointSource]) -> list[JointSource]:
    """Two thirds from seen categories, one third from unseen ones, spread evenly over the sorted names."""
    chosen: list[JointSource] = []
    for group, count in (("seen categories", COUNT - COUNT // 3), ("unseen categories", COUNT // 3)):
        mine = [source for source in sources if source.group == group]
        chosen += [mine[int(i)] for i in np.linspace(0, len(mine) - 1, min(count, len(mine))).round()]
    return chosen


def main(data: Path, out: Path, method: str) -> None:
    chosen = choose(find_joint_sources(data / "partnet_mobility" / "train"))
    run = find_joint_method(method, [source.name for source in chosen])
    images, labels = zip(*(picture(source, run) for source in chosen), strict=True)
    save_image(contact_sheet(images, COLUMNS, labels), out)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    flags = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--") and "=" in word)
    target = Path(words[0]) if words else Path("docs/images/articulation_sheet.png")
    folder = data_folder(Path(flags["data"]) if "data" in flags else None)
    main(folder, target, flags.get("method", "learned"))
