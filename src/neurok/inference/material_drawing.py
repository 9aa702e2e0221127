"""A picture of what an object is made of: a colour for each material, and a legend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from neurok.core import MaterialField, Mesh
from neurok.inference.materials import Proposals

LEGEND = 360
"""Width of the legend [pixels]."""

ROW = 20
"""Height of one of its lines [pixels]."""


def draw_materials(proposals: Proposals, width: int = 960, height: int = 720) -> np.ndarray:
    """The picture as an array of pixels."""
    from PIL import Image, ImageDraw

    from neurok import rendering
    from neurok.rendering.palette import part_color

    field = proposals.field
    picture = rendering.render_mesh(painted(proposals.mesh, field), width, height)
    sheet = Image.new("RGB", (width + LEGEND, height), (255, 255, 255))
    sheet.paste(Image.fromarray(np.asarray(picture)[..., :3]), (0, 0))
    pen = ImageDraw.Draw(sheet)
    top = ROW // 2
    for number, material in enumerate(field.materials):
        red, green, blue = (int(255 * value) for value in part_color(number))
        pen.rectangle([width + 8, top + 3, width + 20, top + 15], fill=(red, green, blue))
        figures = f"{material.young:.2g} Pa, {material.density:g} kg/m3"
        pen.text((width + 28, top), f"{material.name}: {figures}", fill=(20, 20, 20))
        top += ROW
        for item in proposals.items:
            if item.material == material and top < height - ROW:
                pen.text((width + 40, top), f"{item.region.name[:36]}  {item.confidence:.2f}", fill=(90, 90, 90))
                top += ROW - 5
    return np.asarray(sheet)


def painted(mesh: Mesh, field: MaterialField) -> Mesh:
    """The mesh in colours, one for each material of a field."""
    from neurok.rendering.palette import PLAIN, part_colors

    return replace(mesh, surfaces=(PLAIN,), face_surfaces=None, uv=None, vertex_colors=part_colors(field.ids))


def save_materials_picture(proposals: Proposals, path: Path) -> None:
    """Write the picture."""
    from neurok import rendering

    rendering.save_image(draw_materials(proposals), path)
