"""What a run shows while it learns: a live table where somebody watches, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from neurok.train.log import Line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

ROWS = 15
"""Evaluations that stay in the table."""


class Screen:
    """Takes the lines of a run: ``pulse`` between evaluations, a call at each of them.

    ``unit`` names what batches hold, ``title`` says what the figures mean.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, line: Line) -> None:
        """The figures of an evaluation."""
        self.rows = [*self.rows, line][-ROWS:]
        if self.live is not None:
            self.live.update(self.table())
            return
        columns = "  ".join(f"{name} {value:.3f}" for name, value in _figures(line).items())
        rate = f"{line['per_second']:.0f} {self.unit}/s"
        self.say(f"step {line['step']:6d}  {columns}  {rate}  {line['eta'] / 60:.0f} min left")

    def pulse(self, line: Line) -> None:
        """The figures so far of the steps since the last evaluation."""
        if self.live is not None:
            self.live.update(self.table(line))

    def table(self, now: Line | None = None) -> Table:
        """One row per evaluation; the last one is still running."""
        from rich.table import Table

        rows = [*self.rows, *([now] if now is not None else [])]
        names = list(dict.fromkeys(name for row in rows for name in _figures(row)))
        table = Table(title=self.title, title_style="dim")
        for name in ("step", *names, f"{self.unit}/s", "left"):
            table.add_column(name, justify="right")
        for row in rows:
            figures = _figures(row)
            cells = [f"{figures[name]:.3f}" if name in figures else "…" for name in names]
            rate, left = f"{row['per_second']:.0f}", f"{row['eta'] / 60:.0f} min"
            table.add_row(str(row["step"]), *cells, rate, left, style="dim" if row is now else None)
        return table


def _figures(line: Line) -> dict[str, float]:
    return {**line["training"], **line.get("watched", {})}
