"""The sheet of a batch: one page with a picture of every object, its joints, how sure they are, and what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from neurok.annotation.page import page
from neurok.batch.store import PICTURE, Store
from neurok.bodyplan.config import SIMULATED
from neurok.io.files import write_files

ORDER = ("bug", "crash", "failed", "memory", "time", "diverged", "unsure", "ok")
"""What needs a person comes first."""

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
PLAIN = ("faces", "parts", "bytes", "mass", "frames", "space", "engine", "method", "status", "is_usable", "unit", "up")
"""Figures that are shown where a command tells them as one word or number."""

ROWS_SHOWN = 12


def write_sheet(store: Store, records: Sequence[dict[str, Any]], total: int) -> None:
    """Write ``index.html``; pictures stay beside it."""
    cards = sorted(((state_of(record), record) for record in records), key=lambda one: ORDER.index(one[0]))
    counts = Counter(state for state, _ in cards)
    intro = f"{len(records)} of {total} objects are done."
    body = "\n".join(_card(record, state) for state, record in cards)
    text = page("Batch", intro, {state: counts[state] for state in ORDER}, body)
    path = store.folder / "index.html"
    write_files(path, {path.name: text.encode()})


def state_of(record: dict[str, Any]) -> str:
    """How it went; what went well but is not sure is set apart."""
    unsure = any(0.0 <= joint.get("confidence", 1.0) < SIMULATED for joint in _moving(record))
    return "unsure" if record["status"] == "ok" and (unsure or record["warnings"]) else record["status"]


def _card(record: dict[str, Any], state: str) -> str:
    key, figures = record["asset"], record["figures"]
    shown = [(name, figures[name]) for name in PLAIN if isinstance(figures.get(name), str | int | float)]
    facts = ", ".join(f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in shown)
    notes = [record["message"]] if record["message"] else []
    notes += [*record["warnings"], *figures.get("notes", [])]
    told = "".join(f"<p class=problem>{escape(note)}</p>" for note in dict.fromkeys(notes))
    return (
        f'<article data-state="{state}"><h2>{escape(key)} <span class="{state}">{state}</span>'
        f"<small>{escape(facts)}</small></h2>\n<div class=row><div class=pictures>{_picture(record)}</div>"
        f"<div class=words>{told}{_joints(record)}{_files(record)}</div></div></article>"
    )


def _picture(record: dict[str, Any]) -> str:
    names = [name for name in record["files"] if name.lower().endswith(PICTURES)]
    chosen = PICTURE if PICTURE in names else next(iter(names), None)
    return (
        "" if chosen is None else f'<img loading="lazy" src="{_link(record, chosen)}" alt="{escape(record["asset"])}">'
    )


def _moving(record: dict[str, Any]) -> list[dict[str, Any]]:
    joints = record["figures"].get("joints")
    found = [joint for joint in joints if isinstance(joint, dict)] if isinstance(joints, list) else []
    return [joint for joint in found if joint.get("type", joint.get("kind")) != "fixed"]


def _joints(record: dict[str, Any]) -> str:
    moving = _moving(record)
    if not moving:
        return ""
    rows = "".join(_row(joint) for joint in moving[:ROWS_SHOWN])
    more = f"<p>and {len(moving) - ROWS_SHOWN} more</p>" if len(moving) > ROWS_SHOWN else ""
    return f"<table><tr><th>part<th>joint<th>confidence<th>on</tr>{rows}</table>{more}"


def _row(joint: dict[str, Any]) -> str:
    sure = joint.get("confidence")
    low = ' class="low"' if sure is not None and sure < SIMULATED else ""
    told = "" if sure is None else f"{sure:.2f}"
    kind, parent = str(joint.get("type", joint.get("kind", ""))), str(joint.get("parent", ""))
    return f"<tr><td>{escape(str(joint.get('part', '')))}<td>{escape(kind)}<td{low}>{told}<td>{escape(parent)}</tr>"


def _files(record: dict[str, Any]) -> str:
    names = [name for name in record["files"] if "/" not in name and name != PICTURE]
    links = ", ".join(f'<a href="{_link(record, name)}">{escape(name)}</a>' for name in names)
    return f"<p>{links}</p>" if links else ""


def _link(record: dict[str, Any], name: str) -> str:
    return quote(f"assets/{record['asset']}/{name}")
