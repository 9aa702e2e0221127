"""What a run says: a log with a line of JSON for each evaluation, a learning curve, and a live table or plain lines."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurok.io.files import write_files

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


Line = dict[str, Any]
"""``step``, ``seconds`` and ``eta`` [s], ``per_second`` (what batches hold), means of the steps since the last line
(``training``) and figures of the averaged weights on watched sets (``watched``)."""


def read_log(path: Path) -> list[Line]:
    """All lines; none where there is no log."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write_line(path: Path, line: Line) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as log:
        log.write(json.dumps(line) + "\n")


def drop_lines(path: Path, first: int) -> None:
    """Forget the lines from a step on, and one that was not written to its end: they will be written again."""
    kept = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            kept += [text] if json.loads(text)["step"] < first else []
        except json.JSONDecodeError:
            break
    if path.exists():
        write_files(path, {path.name: "".join(f"{text}\n" for text in kept).encode()})


SIZE = (1000, 600)
LEFT, TOP, RIGHT, BOTTOM = 70, 30, 830, 545
"""Edges of the plot."""

FINE = 2
"""Drawn larger and shrunk, for smooth lines."""

COLORS = ("#4c4c4c", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")
TICKS = [digit * 10.0**power for power in range(-6, 4) for digit in (1, 2, 5)]


def draw_curve(rows: list[dict[str, float]], path: Path, title: str) -> None:
    """Write a PNG of all figures over their ``step``, with a logarithmic axis."""
    from PIL import Image, ImageDraw, ImageFont

    names = [name for name in rows[-1] if name != "step"]
    series = {name: [(row["step"], row[name]) for row in rows if row.get(name, 0) > 0] for name in names}
    values = [value for points in series.values() for _, value in points]
    last = max(1, *(row["step"] for row in rows))
    low = max([tick for tick in TICKS if tick <= min(values, default=0.1)], default=TICKS[0])
    high = min([tick for tick in TICKS if tick > max(values, default=1.0)], default=TICKS[-1])
    image = Image.new("RGB", (SIZE[0] * FINE, SIZE[1] * FINE), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13 * FINE)

    def spot(step: float, value: float) -> tuple[float, float]:
        height = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return FINE * (LEFT + (RIGHT - LEFT) * step / last), FINE * (BOTTOM - (BOTTOM - TOP) * height)

    def write(x: float, y: float, text: str, anchor: str, fill: str = "#333333") -> None:
        pen.text((FINE * x, FINE * y), text, fill=fill, font=font, anchor=anchor)

    for tick in TICKS:
        if low <= tick <= high:
            pen.line([spot(0, tick), spot(last, tick)], fill="#dddddd", width=FINE)
            write(LEFT - 8, spot(0, tick)[1] / FINE, f"{tick:g}", "rm")
    for quarter in range(5):
        write(LEFT + (RIGHT - LEFT) * quarter / 4, BOTTOM + 8, f"{last * quarter / 4:.0f}", "ma")
    pen.rectangle([spot(0, high), spot(last, low)], outline="#333333", width=FINE)
    write(LEFT, TOP - 8, title, "ls")
    write((LEFT + RIGHT) / 2, BOTTOM + 30, "step", "ma")
    for number, (name, points) in enumerate(series.items()):
        color, spots = COLORS[number % len(COLORS)], [spot(*point) for point in points]
        if len(spots) > 1:
            pen.line(spots, fill=color, width=2 * FINE, joint="curve")
        for x, y in spots[-1:]:
            pen.ellipse([x - 4 * FINE, y - 4 * FINE, x + 4 * FINE, y + 4 * FINE], fill=color)
        label = f"{name} {points[-1][1]:.3f}" if points else name
        write(RIGHT + 14, TOP + 8 + 22 * number, label, "la", color)
    buffer = io.BytesIO()
    image.resize(SIZE, Image.Resampling.LANCZOS).save(buffer, "PNG")
    write_files(path, {path.name: buffer.getvalue()})


ROWS = 15
"""Evaluations that stay in the table."""


class Screen:
    """Takes the lines of a run: ``pulse`` between evaluations, a call at each of them.

    ``unit`` names what batches hold, ``title`` says what the figures mean. A live table is shown where somebody
    watches, plain lines are said elsewhere.
    """

    def __init__(self, say: Callable[[str], None], unit: str, title: str, live: bool | None = None) -> None:
        self.say, self.unit, self.title = say, unit, title
        self.live: Live | None = None
        self.rows: list[Line] = []
        if sys.stderr.isatty() if live is None else live:
            from rich.console import Console
            from rich.live import Live

            self.live = Live(console=Console(stderr=True), refresh_per_second=2)

    def __enter__(self) -> Screen:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, line: Line) -> None:
        """The figures of an evaluation."""
        self.rows = [*self.rows, line][-ROWS:]
        self.pulse()
        if self.live is None:
            columns = "  ".join(f"{name} {value:.3f}" for name, value in _figures(line).items())
            rate = f"{line['per_second']:.0f} {self.unit}/s"
            self.say(f"step {line['step']:6d}  {columns}  {rate}  {line['eta'] / 60:.0f} min left")

    def pulse(self, line: Line | None = None) -> None:
        """The figures so far of the steps since the last evaluation."""
        if self.live is not None:
            self.live.update(self.table(line))

    def table(self, now: Line | None = None) -> Table:
        """One row per evaluation; the last one is still running."""
        from rich.table import Table

        rows = [*self.rows, *([now] if now is not None else [])]
        names = list(dict.fromkeys(name for row in rows for name in _figures(row)))
        table = Table("step", *names, f"{self.unit}/s", "left", title=self.title, title_style="dim")
        for row in rows:
            figures = _figures(row)
            cells = [f"{figures[name]:.3f}" if name in figures else "…" for name in names]
            rate, left = f"{row['per_second']:.0f}", f"{row['eta'] / 60:.0f} min"
            table.add_row(str(row["step"]), *cells, rate, left, style="dim" if row is now else None)
        return table


def _figures(line: Line) -> dict[str, float]:
    return {**line["training"], **line.get("watched", {})}
