"""The sheet of an annotation: one page with every object, its materials, its flags and where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from neurok.annotation.page import page
from neurok.annotation.records import Annotation, Row, Source, Store, read_json
from neurok.io.files import write_files

ORDER = ("failed", "flagged", "edited", "proposed", "accepted")
"""What needs a person comes first."""


def write_sheet(sources: Sequence[Source], store: Store) -> Path:
    """Write ``index.html``; pictures and films stay beside it."""
    cards = sorted(
        ((_state(store, source.key), source.key) for source in sources),
        key=lambda item: (ORDER.index(item[0]), item[1]),
    )
    counts = Counter(state for state, _ in cards)
    body = "\n".join(_card(store, key, state) for state, key in cards)
    intro = f"{len(sources)} objects. {_flag_line(store, sources)}"
    text = page("Materials", intro, {state: counts[state] for state in ORDER}, body)
    path = store.folder / "index.html"
    write_files(path, {path.name: text.encode()})
    return path


def _state(store: Store, key: str) -> str:
    status, found = store.status(key), store.check(key)
    if status in ("failed", "accepted"):
        return status
    if found is not None and found["problem"]:
        return "failed"
    if found is not None and found["flags"]:
        return "flagged"
    return status


def _flag_line(store: Store, sources: Sequence[Source]) -> str:
    found = [check for source in sources if (check := store.check(source.key)) is not None]
    if not found:
        return "None was checked yet."
    kinds = Counter(kind for check in found for kind in {flag["kind"] for flag in check.get("flags", [])})
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    return f"{len(found)} checked; flags: {escape(told) or 'none'}."


def _card(store: Store, key: str, state: str) -> str:
    note, found = store.annotation(key), store.check(key) or {}
    problem = (note.problem if note is not None else "It has no proposals.") or found.get("problem", "")
    pictures = "".join(_image(store, key, name) for name in ("look.jpg", "materials.jpg"))
    mass = f"{found['mass']:.3g} kg, {found['moves']}" if "mass" in found else ""
    runs = _details(store, key) if (store.of(key) / "runs.jpg").exists() else ""
    return (
        f'<article data-state="{state}"><h2>{escape(key)} <span class="{state}">{state}</span>'
        f"<small>{escape(mass)}</small></h2>\n<div class=row><div class=pictures>{pictures}</div>"
        f"<div class=words>{f'<p class=problem>{escape(problem)}</p>' if problem else ''}"
        f"{_flags(store, key, found.get('flags', []))}{_table(store, key, note)}{runs}</div></div></article>"
    )


def _image(store: Store, key: str, name: str) -> str:
    path = store.of(key) / name
    return f'<img loading="lazy" src="{_link(store, path)}" alt="{escape(key)}">' if path.exists() else ""


def _details(store: Store, key: str) -> str:
    return f"<details><summary>all runs</summary>{_image(store, key, 'runs.jpg')}</details>"


def _flags(store: Store, key: str, flags: Sequence[dict[str, Any]]) -> str:
    """Each run that has flags: its film, and their sentences."""
    out = []
    for run in dict.fromkeys(flag["run"] for flag in flags):
        film = store.of(key) / f"{run}.mp4"
        video = f'<video src="{_link(store, film)}" muted loop autoplay playsinline></video>' if film.exists() else ""
        told = "".join(
            f"<li><b>{escape(flag['kind'])}</b> {escape(flag['sentence'])}</li>" for flag in flags if flag["run"] == run
        )
        out.append(f"<div class=flag>{video}<ul>{told}</ul></div>")
    return "".join(out)


def _table(store: Store, key: str, note: Annotation | None) -> str:
    if note is None or not note.rows:
        return ""
    changed, colors = store.changed(key), _colors(store, key)
    rows = "".join(_line(row, changed.get(row.part), colors) for row in note.rows)
    return f"<table><tr><th>part<th>material<th>confidence<th>reason</tr>{rows}</table>"


def _line(row: Row, change: tuple[str, str] | None, colors: dict[str, str]) -> str:
    now = row.material if change is None else change[1]
    tint = f'<i style="background:{colors.get(now, "#ccc")}"></i>'
    told = escape(now) if change is None else f"<del>{escape(row.material)}</del> {escape(now)}"
    sure = "by hand" if change is not None else f"{row.confidence:.2f}"
    low = ' class="low"' if change is None and row.confidence < 0.5 else ""
    return f"<tr><td>{escape(row.part)}<td>{tint}{told}<td{low}>{sure}<td>{escape(row.reason)}</tr>"


def _colors(store: Store, key: str) -> dict[str, str]:
    """The colour that each material has in the picture, in the order of the file."""
    from neurok.rendering.palette import part_color

    data = read_json(store.materials(key)) or {}
    names = [entry.get("name", "") for entry in data.get("materials", [])]
    return {name: "#" + "".join(f"{round(255 * x):02x}" for x in part_color(i)) for i, name in enumerate(names)}


def _link(store: Store, path: Path) -> str:
    return quote(path.relative_to(store.folder).as_posix())
