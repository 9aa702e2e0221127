"""One page of cards that hide and show by where they stand, without anything beside it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

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


def page(title: str, intro: str, counts: Mapping[str, int], body: str) -> str:
    """The whole page: ``counts`` of the states of the cards, in their order, become buttons."""
    head = "".join(
        f'<button data-state="{state}" class="{state}">{count} {state}</button>'
        for state, count in counts.items()
        if count
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style></head>\n<body>\n<header><h1>{escape(title)}</h1>"
        f"<p>{intro}</p><nav>{head}</nav></header>\n"
        f"<main>\n{body}\n</main>\n<script>\n{SCRIPT}</script></body></html>\n"
    )
