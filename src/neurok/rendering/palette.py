"""Pleasant colours for parts, and the look of what has none."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Surface
from neurok.core.surface import to_linear

CLAY = Surface(name="clay", base_color=(0.50, 0.44, 0.39, 1.0), roughness=0.75)
"""Meshes that say nothing about their look."""

PLAIN = Surface(name="plain", base_color=(1.0, 1.0, 1.0, 1.0), roughness=0.6)
"""Carries colours given per vertex."""

# fmt: off
PART_COLORS = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7",
    "#9c755f", "#86bcb6", "#d37295", "#8cd17d", "#499894", "#f1ce63", "#a0cbe8", "#d4a6c8",
)
# fmt: on
"""Told apart at a glance, in sRGB; beyond them, colours go round the hue circle."""


def part_colors(part_ids: Int[np.ndarray, " V"]) -> Float[np.ndarray, "V 4"]:
    """Linear-light RGBA of each vertex by its part."""
    count = int(part_ids.max(initial=0)) + 1
    table = np.array([part_color(i) for i in range(count)])
    return np.column_stack([to_linear(table), np.ones(count)])[part_ids]


def part_color(index: int) -> tuple[float, float, float]:
    """sRGB 0..1 of a part."""
    if index < len(PART_COLORS):
        text = PART_COLORS[index]
        red, green, blue = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
        return red, green, blue
    import colorsys

    return colorsys.hsv_to_rgb(index * 0.618034 % 1.0, 0.45 + 0.2 * (index % 3) / 2.0, 0.85)
