"""What a run shows while it learns: a live table where somebody watches, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

ROWS = 15
"""Evaluations that stay in the table."""

PLAIN = ("step", "relative", "nats", "train", "pairs_per_second", "eta", "seconds")


class Screen:
    """Takes the figures of a run: ``pulse`` between evaluations, a call at each of them."""

    def __init__(self, say: Callable[[str], None], live: bool | None = None) -> None:
        self.say = say
        self.live: Live | None = None
        self.rows: list[dict[str, Any]] = []
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

    def __call__(self, figures: dict[str, Any]) -> None:
        """The figures of an evaluation."""
        self.rows = [*self.rows, figures][-ROWS:]
        if self.live is not None:
            self.live.update(self.table())
            return
        names = ["relative", "nats", "train", *watched(figures)]
        columns = "  ".join(f"{name} {figures[name]:.3f}" for name in names)
        rate, left = figures["pairs_per_second"], figures["eta"] / 60
        self.say(f"step {figures['step']:6d}  {columns}  {rate:.0f} pairs/s  {left:.0f} min left")

    def pulse(self, figures: dict[str, Any]) -> None:
        """The figures so far of the steps since the last evaluation."""
        if self.live is not None:
            self.live.update(self.table(figures))

    def table(self, now: dict[str, Any] | None = None) -> Table:
        """One row per evaluation; the last one is still running."""
        from rich.table import Table

        rows = [*self.rows, *([now] if now is not None else [])]
        names = list(dict.fromkeys(name for row in rows for name in watched(row)))
        table = Table(title="shares of the displacement; 1 is 'nothing moves'", title_style="dim")
        for name in ("step", "loss", "nats", "train", *names, "pairs/s", "left"):
            table.add_column(name, justify="right")
        for row in rows:
            errors = [f"{row[name]:.3f}" if name in row else "…" for name in names]
            rate, left = f"{row['pairs_per_second']:.0f}", f"{row['eta'] / 60:.0f} min"
            table.add_row(
                str(row["step"]), f"{row['relative']:.3f}", f"{row['nats']:.0f}", f"{row['train']:.3f}", *errors,
                rate, left, style="dim" if row is now else None,
            )  # fmt: skip
        return table


def watched(figures: dict[str, Any]) -> list[str]:
    """Names of the watched sets among the figures."""
    return [name for name in figures if name not in PLAIN]
