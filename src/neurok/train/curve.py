"""The learning curve of a run, drawn from its log."""

from __future__ import annotations

import io
import math
from pathlib import Path

from neurok.io.files import write_files

SIZE = (1000, 600)
EDGES = (70, 30, 830, 545)
"""Left, top, right and bottom of the plot."""

FINE = 2
"""Drawn larger and shrunk, for smooth lines."""

COLORS = ("#4c4c4c", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")


def draw_curve(rows: list[dict[str, float]], path: Path, title: str) -> None:
    """Write a PNG of all figures over their ``step``, with a logarithmic axis."""
    from PIL import Image, ImageDraw, ImageFont

    series = {
        name: [(row["step"], row[name]) for row in rows if row.get(name, 0) > 0] for name in rows[-1] if name != "step"
    }
    values = [value for points in series.values() for _, value in points]
    place = _Axes(max(row["step"] for row in rows), min(values, default=0.1), max(values, default=1.0))
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
    pen.text((left, top - 8 * FINE), title, fill="#333333", font=font, anchor="ls")
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
