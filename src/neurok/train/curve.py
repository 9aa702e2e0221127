"""The learning curve of a run, drawn from its log."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

from neurok.io.files import write_files

CURVE = "curve.png"
SIZE = (1000, 600)
EDGES = (70, 30, 830, 545)
"""Left, top, right and bottom of the plot."""

FINE = 2
"""Drawn larger and shrunk, for smooth lines."""

COLORS = ("#4c4c4c", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")
FIGURES = ("step", "nats", "seconds", "pairs_per_second", "eta", "relative")
"""What a log line holds beside errors; errors are shares of the displacement, so that they fit one axis."""


def read_log(path: Path) -> list[dict[str, Any]]:
    """Lines of a log in the order of their steps; a step that was repeated after an interruption counts once."""
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [line for _, line in sorted({line["step"]: line for line in lines}.items())]


def draw_curve(log: list[dict[str, Any]], path: Path) -> None:
    """Write a PNG of all errors over steps, with a logarithmic axis."""
    from PIL import Image, ImageDraw, ImageFont

    names = [name for name in log[-1] if name not in FIGURES]
    series = {name: [(row["step"], row[name]) for row in log if row.get(name, 0) > 0] for name in names}
    values = [value for points in series.values() for _, value in points]
    place = _Axes(max(row["step"] for row in log), min(values, default=0.1), max(values, default=1.0))
    image = Image.new("RGB", (SIZE[0] * FINE, SIZE[1] * FINE), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13 * FINE)
    left, top, right, bottom = (edge * FINE for edge in EDGES)
    for value in place.ticks:
        y = place.y(value)
        pen.line([(left, y), (right, y)], fill="#dddddd", width=FINE)
        pen.text((left - 8 * FINE, y), f"{value:g}", fill="#333333", font=font, anchor="rm")
    for quarter in range(5):
        x = left + (right - left) * quarter / 4
        pen.text((x, bottom + 8 * FINE), f"{place.last * quarter / 4:.0f}", fill="#333333", font=font, anchor="ma")
    pen.rectangle([left, top, right, bottom], outline="#333333", width=FINE)
    pen.text((left, top - 8 * FINE), "point error / displacement", fill="#333333", font=font, anchor="ls")
    pen.text(((left + right) / 2, bottom + 30 * FINE), "step", fill="#333333", font=font, anchor="ma")
    for number, (name, points) in enumerate(series.items()):
        color, spots = COLORS[number % len(COLORS)], [place.at(*point) for point in points]
        if len(spots) > 1:
            pen.line(spots, fill=color, width=2 * FINE, joint="curve")
        for x, y in spots[-1:]:
            pen.ellipse([x - 4 * FINE, y - 4 * FINE, x + 4 * FINE, y + 4 * FINE], fill=color)
        label = f"{name} {points[-1][1]:.3f}" if points else name
        pen.text((right + 14 * FINE, top + (8 + 22 * number) * FINE), label, fill=color, font=font)
    buffer = io.BytesIO()
    image.resize(SIZE, Image.Resampling.LANCZOS).save(buffer, "PNG")
    write_files(path, {path.name: buffer.getvalue()})


class _Axes:
    """From figures to pixels."""

    def __init__(self, last: float, low: float, high: float) -> None:
        steps = [digit * 10.0**power for power in range(-6, 4) for digit in (1, 2, 5)]
        self.last = max(last, 1)
        self.low = max([s for s in steps if s <= low], default=steps[0])
        self.high = min([s for s in steps if s > high], default=steps[-1])
        self.ticks = [s for s in steps if self.low <= s <= self.high]

    def at(self, step: float, value: float) -> tuple[float, float]:
        left, _, right, _ = EDGES
        return FINE * (left + (right - left) * step / self.last), self.y(value)

    def y(self, value: float) -> float:
        _, top, _, bottom = EDGES
        height = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return FINE * (bottom - (bottom - top) * height)
