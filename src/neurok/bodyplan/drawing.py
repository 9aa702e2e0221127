"""A picture of a body plan: bodies in colours, contacts as dots, axes as thick as they are likely, and a legend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neurok.bodyplan.plan import BodyPlan

LEGEND = 420
"""Width of the legend [pixels]."""

ROW = 20
"""Height of one of its lines [pixels]."""


def draw_plan(plan: BodyPlan, width: int = 960, height: int = 720) -> np.ndarray:
    """The picture as an array of pixels."""
    from PIL import Image, ImageDraw

    from neurok import rendering
    from neurok.rendering.markers import Axis, Ball, joint_markers

    markers: list[Any] = []
    joints = plan.articulation
    likely = {body.name: body.joint.probability for body in plan.bodies if body.joint is not None}
    moving = [name for name, joint in zip(joints.part_names, joints.joints, strict=True) if joint.kind != "fixed"]
    for marker, name in zip(joint_markers(joints), moving, strict=False):
        thickness = 0.006 + 0.012 * min(1.0, likely.get(name, 1.0))
        markers.append(replace(marker, thickness=thickness) if isinstance(marker, Axis) else marker)
    markers += [Ball(pair.center, (0.95, 0.65, 0.15), 0.012) for pair in plan.contacts.pairs]
    picture = rendering.render_mesh(plan.mesh, width, height, colors="parts", markers=markers)
    sheet = Image.new("RGB", (width + LEGEND, height), (255, 255, 255))
    sheet.paste(Image.fromarray(np.asarray(picture)[..., :3]), (0, 0))
    pen = ImageDraw.Draw(sheet)
    lines = _legend(plan)
    room = height // ROW - 1
    if len(lines) > room:
        lines = [*lines[: room - 1], (None, f"and {len(lines) - room + 1} more")]
    for k, (color, text) in enumerate(lines):
        top = ROW // 2 + k * ROW
        if color is not None:
            pen.rectangle([width + 8, top + 3, width + 20, top + 15], fill=color)
        pen.text((width + 28, top), text, fill=(20, 20, 20))
    return np.asarray(sheet)


def _legend(plan: BodyPlan) -> list[tuple[tuple[int, int, int] | None, str]]:
    from neurok.rendering.palette import part_color

    lines: list[tuple[tuple[int, int, int] | None, str]] = [
        (None, f"{len(plan.bodies)} bodies, {len(plan.moving)} joints, {len(plan.contacts.pairs)} contacts")
    ]
    for k, body in enumerate(plan.bodies):
        said = "base" if body.parent < 0 else f"on {plan.bodies[body.parent].name}: "
        if body.joint is not None:
            said += f"{body.joint.kind}, {body.joint.probability:.2f}"
        elif body.parent >= 0:
            said += "bends" if body.bends else "fixed"
        red, green, blue = (int(255 * value) for value in part_color(k))
        lines.append(((red, green, blue), f"{body.name[:24]} {said}"[:60]))
    return lines


def save_plan_picture(plan: BodyPlan, path: Path) -> None:
    """Write the picture."""
    from neurok import rendering

    rendering.save_image(draw_plan(plan), path)
