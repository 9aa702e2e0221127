"""Sheets: one page with a card for every object of a folder, which hide and show by where they stand.

``write_sheet`` lays out any cards; ``write_batch_sheet`` makes those of a batch: a picture of every object, its joints,
how sure they are, and what was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from neurok.bodyplan.config import SIMULATED
from neurok.folders.store import PICTURE, BatchStore
from neurok.io.files import write_files

STYLE = Path(__file__).with_name("sheet.css")

SCRIPT = """const off = new Set();
for (const button of document.querySelectorAll("nav button")) button.onclick = () => {
  const state = button.dataset.state;
  off.has(state) ? off.delete(state) : off.add(state);
  button.classList.toggle("off");
  for (const card of document.querySelectorAll("article")) card.hidden = off.has(card.dataset.state);
};
"""
"""Buttons that hide and show objects by where they stand."""

ORDER = ("bug", "crash", "failed", "memory", "time", "diverged", "unsure", "ok")
"""States of a batch; what needs a person comes first."""

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
PLAIN = ("faces", "parts", "bytes", "mass", "frames", "space", "engine", "method", "status", "is_usable", "unit", "up")
"""Figures that are shown where a command tells them as one word or number."""

ROWS_SHOWN = 12


@dataclass(frozen=True)
class Card:
    """One object on a sheet; all but its name, state and facts is HTML."""

    key: str
    state: str
    facts: str
    pictures: str
    words: str

    @property
    def html(self) -> str:
        return (
            f'<article data-state="{self.state}"><h2>{escape(self.key)} <span class="{self.state}">{self.state}</span>'
            f"<small>{escape(self.facts)}</small></h2>\n<div class=row><div class=pictures>{self.pictures}</div>"
            f"<div class=words>{self.words}</div></div></article>"
        )


def write_sheet(folder: Path, title: str, intro: str, order: Sequence[str], cards: Iterable[Card]) -> None:
    """Write ``index.html``; pictures stay beside it."""
    text = sheet_text(title, intro, order, cards)
    write_files(folder / "index.html", {"index.html": text.encode()})


def sheet_text(
    title: str, intro: str, order: Sequence[str], cards: Iterable[Card], counts: Mapping[str, int] | None = None
) -> str:
    """The page, sorted by the order of states; ``counts`` are those of all objects where some have no card."""
    sorted_cards = sorted(cards, key=lambda card: order.index(card.state))
    counts = counts or Counter(card.state for card in sorted_cards)
    buttons = "".join(
        f'<button data-state="{state}" class="{state}">{counts[state]} {state}</button>'
        for state in order
        if counts.get(state)
    )
    body = "\n".join(card.html for card in sorted_cards)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style></head>\n<body>\n<header><h1>{escape(title)}</h1>"
        f"<p>{intro}</p><nav>{buttons}</nav></header>\n"
        f"<main>\n{body}\n</main>\n<script>\n{SCRIPT}</script></body></html>\n"
    )


def image(key: str, name: str) -> str:
    """A picture of an object, which lies in its folder."""
    return f'<img loading="lazy" src="{link(key, name)}" alt="{escape(key)}">'


def link(key: str, name: str) -> str:
    """The address of a file of an object."""
    return quote(f"assets/{key}/{name}")


def problem(sentence: str) -> str:
    """A sentence that a person should read."""
    return f"<p class=problem>{escape(sentence)}</p>"


class Low(str):
    """A cell whose number should be doubted."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML."""
    marks = {True: '<td class="low">', False: "<td>"}
    lines = ("".join(f"{marks[isinstance(cell, Low)]}{cell}" for cell in row) for row in rows)
    return f"<table><tr><th>{'<th>'.join(head)}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


MOST_CARDS = 2000
"""Of each state on the sheet of a batch; no browser shows a million, and report.jsonl has them all."""


class SheetCards:
    """The cards of a batch and how many there would be of each state."""

    def __init__(self) -> None:
        self.cards: list[Card] = []
        self.counts: Counter[str] = Counter()

    def add(self, record: dict[str, Any]) -> None:
        """Count a record, and show it if there is room."""
        state = state_of(record)
        self.counts[state] += 1
        if self.counts[state] <= MOST_CARDS:
            self.cards.append(_card(record))


def write_batch_sheet(store: BatchStore, cards: SheetCards, count: int, total: int) -> None:
    """The sheet of a batch."""
    intro = f"{count} of {total} objects are done."
    if len(cards.cards) < count:
        intro += f" The first {MOST_CARDS} of each state are shown; report.jsonl has all."
    store.write("index.html", [sheet_text("Batch", intro, ORDER, cards.cards, cards.counts).encode()])


def _card(record: dict[str, Any]) -> Card:
    key, figures = record["asset"], record["figures"]
    shown = [(name, figures[name]) for name in PLAIN if isinstance(figures.get(name), str | int | float)]
    facts = ", ".join(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in shown)
    notes = dict.fromkeys([*filter(None, [record["message"]]), *record["warnings"], *figures.get("notes", [])])
    pictures = [name for name in record["files"] if name.lower().endswith(PICTURES)]
    chosen = PICTURE if PICTURE in pictures else next(iter(pictures), None)
    words = "".join(map(problem, notes)) + _joints(_moving(record)) + _files(record)
    return Card(key, state_of(record), facts, "" if chosen is None else image(key, chosen), words)


def state_of(record: dict[str, Any]) -> str:
    """How it went; what went well but is not sure is set apart."""
    unsure = any(0.0 <= joint.get("confidence", 1.0) < SIMULATED for joint in _moving(record))
    return "unsure" if record["status"] == "ok" and (unsure or record["warnings"]) else record["status"]


def _moving(record: dict[str, Any]) -> list[dict[str, Any]]:
    joints = record["figures"].get("joints")
    found = [joint for joint in joints if isinstance(joint, dict)] if isinstance(joints, list) else []
    return [joint for joint in found if joint.get("type", joint.get("kind")) != "fixed"]


def _joints(moving: Sequence[dict[str, Any]]) -> str:
    if not moving:
        return ""
    more = f"<p>and {len(moving) - ROWS_SHOWN} more</p>" if len(moving) > ROWS_SHOWN else ""
    return table(("part", "joint", "confidence", "on"), map(_row, moving[:ROWS_SHOWN])) + more


def _row(joint: dict[str, Any]) -> list[str]:
    sure = joint.get("confidence")
    confidence = "" if sure is None else Low(f"{sure:.2f}") if sure < SIMULATED else f"{sure:.2f}"
    kind = joint.get("type", joint.get("kind", ""))
    return [escape(str(joint.get("part", ""))), escape(str(kind)), confidence, escape(str(joint.get("parent", "")))]


def _files(record: dict[str, Any]) -> str:
    names = [name for name in record["files"] if "/" not in name and name != PICTURE]
    links = ", ".join(f'<a href="{link(record["asset"], name)}">{escape(name)}</a>' for name in names)
    return f"<p>{links}</p>" if links else ""
