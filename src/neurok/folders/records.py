"""The folder of an annotation: what was found, proposed, checked and said about each object, in small files.

::

    DIR/index.html                      the sheet
    DIR/assets/ASSET/annotation.json    proposals of one object, and whether they are accepted
    DIR/assets/ASSET/materials.json     its materials as they are now; may be edited by hand
    DIR/assets/ASSET/check.json         what the actions showed
    DIR/accepted/ASSET.json             materials that a person accepted, for simulate --materials

No file holds a time or a date: the same objects give the same bytes, in one go or after interruptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Literal

from neurok.core import Asset, MaterialField
from neurok.core.select import regions_of
from neurok.errors import NeurokError, counted
from neurok.folders.sheet import Card, Low, image, link, problem, table, write_sheet
from neurok.folders.store import FolderStore, ObjectFile, read_json, write_json
from neurok.inference.materials import BY_HAND, Proposal, Proposals
from neurok.io import load
from neurok.io.formats import MESHES
from neurok.io.materials_file import read_materials, write_materials

VERSION = 1
MODELS = (*MESHES, ".urdf", ".mjcf")
Status = Literal["failed", "proposed", "edited", "accepted"]


@dataclass(frozen=True)
class AnnotationRow:
    """What was proposed for one part."""

    part: str
    material: str
    confidence: float
    reason: str
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Annotation:
    """What is known of one object beside its materials."""

    asset: str
    file: str
    digest: str
    proposer: str
    rows: tuple[AnnotationRow, ...] = ()
    problem: str = ""
    """One sentence, if it has no proposals."""

    accepted: bool = False


@dataclass(frozen=True)
class AnnotationStore(FolderStore):
    """The files of an annotation."""

    def accepted(self, key: str, suffix: str = ".json") -> Path:
        return self.folder / "accepted" / f"{key}{suffix}"

    def materials(self, key: str) -> Path:
        return self.of(key) / "materials.json"

    def annotation(self, key: str) -> Annotation | None:
        """What is known of an object; nothing if its file is missing or damaged."""
        data = read_json(self.of(key) / "annotation.json")
        if data is None or data.pop("neurok_annotation", None) != VERSION:
            return None
        try:
            rows = tuple(
                AnnotationRow(**{**row, "alternatives": _pairs(row["alternatives"])}) for row in data.pop("rows")
            )
            return Annotation(**data, rows=rows)
        except (KeyError, TypeError, ValueError):
            return None

    def write(self, note: Annotation) -> None:
        path = self.of(note.asset) / "annotation.json"
        write_json(path, {"neurok_annotation": VERSION, **asdict(note)})

    def check(self, key: str) -> dict[str, Any] | None:
        """What the actions showed, if they were run."""
        return read_json(self.of(key) / "check.json")

    def clear(self, key: str) -> None:
        """Remove what an older check left."""
        folder = self.of(key)
        for old in [folder / "check.json", folder / "runs.jpg", *folder.glob("*.mp4"), *folder.glob(".neurok-*")]:
            old.unlink(missing_ok=True)

    def load(self, source: ObjectFile) -> tuple[Asset, Proposals]:
        """An object and its materials as they are now: as proposed, or set by hand since.

        Raises:
            NeurokError: If it has no proposals, or the file of its materials was spoilt.
        """
        note = self.annotation(source.key)
        if note is None or note.problem:
            raise NeurokError(note.problem if note else f"'{source.key}' has no proposals yet; run --propose.")
        asset = load(source.path)
        field = read_materials(self.materials(source.key), asset.mesh)
        entries = (read_json(self.materials(source.key)) or {}).get("parts", {})
        return asset, _current(asset, note, field, entries)

    def keep(self, source: ObjectFile, proposals: Proposals) -> None:
        """Write the materials of an object."""
        write_materials(proposals.field, proposals.mesh, self.materials(source.key), proposals.records())

    def changed(self, key: str) -> dict[str, tuple[str, str]]:
        """Parts whose material is not the proposed one: both names."""
        note, data = self.annotation(key), read_json(self.materials(key))
        if note is None or data is None or not isinstance(data.get("parts"), dict):
            return {}
        now = {
            part: entry.get("material") if isinstance(entry, dict) else entry for part, entry in data["parts"].items()
        }
        return {
            row.part: (row.material, str(now[row.part]))
            for row in note.rows
            if row.part in now and now[row.part] != row.material
        }

    def status(self, key: str) -> Status:
        """Where an object stands."""
        note = self.annotation(key)
        if note is None or note.problem:
            return "failed"
        if note.accepted:
            return "accepted"
        return "edited" if self.changed(key) else "proposed"


def rows_of(proposals: Proposals) -> tuple[AnnotationRow, ...]:
    """Proposals as they are written down."""
    return tuple(
        AnnotationRow(item.region.name, item.material.name, round(item.confidence, 3), item.reason, item.alternatives)
        for item in proposals.items
    )


def _current(asset: Asset, note: Annotation, field: MaterialField, entries: dict[str, Any]) -> Proposals:
    """What was proposed where that still holds; elsewhere what somebody set, with the reason given for it."""
    rows = {row.part: row for row in note.rows}
    items = []
    for region in regions_of(asset.mesh):
        ids = field.ids[region.vertices]
        material = field.materials[int(ids[0]) if len(ids) else int(field.ids[0])]
        row = rows.get(region.name)
        if row is not None and row.material == material.name:
            items.append(Proposal(region, material, row.confidence, row.reason, row.alternatives))
        else:
            before = () if row is None else ((row.material, row.confidence),)
            entry = entries.get(region.name)
            why = entry.get("reason", BY_HAND) if isinstance(entry, dict) else BY_HAND
            reason = BY_HAND if row is not None and why == row.reason else str(why)
            items.append(Proposal(region, material, 1.0, reason, before))
    return Proposals(asset.mesh, tuple(items))


def accept(store: AnnotationStore, key: str, wanted: bool) -> None:
    """Note that materials are accepted, or not any more."""
    note = store.annotation(key)
    if note is not None and note.accepted != wanted:
        store.write(replace(note, accepted=wanted))
    if not wanted:
        for path in (store.accepted(key), store.accepted(key, ".glb")):
            path.unlink(missing_ok=True)


def _pairs(items: Iterable[Any]) -> tuple[tuple[str, float], ...]:
    return tuple((str(name), float(share)) for name, share in items)


ORDER = ("failed", "flagged", "edited", "proposed", "accepted")
"""Where an object stands on the sheet; what needs a person comes first."""


def write_materials_sheet(sources: Sequence[ObjectFile], store: AnnotationStore) -> None:
    """The sheet: every object with its materials, its flags and where it stands."""
    found = [check for source in sources if (check := store.check(source.key)) is not None]
    kinds = Counter(kind for check in found for kind in {flag["kind"] for flag in check.get("flags", [])})
    flags = escape(", ".join(f"{kind} {count}" for kind, count in kinds.most_common())) or "none"
    checked = f"{len(found)} checked; flags: {flags}." if found else "None was checked yet."
    cards = (_card(store, key) for key in sorted(source.key for source in sources))
    write_sheet(store.folder, "Materials", f"{counted(len(sources), 'object')}. {checked}", ORDER, cards)


def _card(store: AnnotationStore, key: str) -> Card:
    note, found = store.annotation(key), store.check(key) or {}
    wrong = (note.problem if note is not None else "It has no proposals.") or found.get("problem", "")
    pictures = "".join(image(key, name) for name in ("look.jpg", "materials.jpg") if (store.of(key) / name).exists())
    mass = f"{found['mass']:.3g} kg, {found['moves']}" if "mass" in found else ""
    words = [problem(wrong)] if wrong else []
    words += [_flags(store, key, found.get("flags", [])), _parts(store, key, note)]
    if (store.of(key) / "runs.jpg").exists():
        words.append(f"<details><summary>all runs</summary>{image(key, 'runs.jpg')}</details>")
    return Card(key, _state(store.status(key), found), mass, pictures, "".join(words))


def _state(status: str, check: dict[str, Any]) -> str:
    if status in ("failed", "accepted") or not check:
        return status
    return "failed" if check["problem"] else "flagged" if check["flags"] else status


def _flags(store: AnnotationStore, key: str, flags: Sequence[dict[str, Any]]) -> str:
    """Each run that has flags: its film, and their sentences."""
    out = []
    for run in dict.fromkeys(flag["run"] for flag in flags):
        has_film = (store.of(key) / f"{run}.mp4").exists()
        video = f'<video src="{link(key, f"{run}.mp4")}" muted loop autoplay playsinline></video>' if has_film else ""
        items = "".join(
            f"<li><b>{escape(flag['kind'])}</b> {escape(flag['sentence'])}</li>" for flag in flags if flag["run"] == run
        )
        out.append(f"<div class=flag>{video}<ul>{items}</ul></div>")
    return "".join(out)


def _parts(store: AnnotationStore, key: str, note: Annotation | None) -> str:
    """The materials of the parts, each with the colour that it has in the picture."""
    from neurok.rendering.palette import part_color

    if note is None or not note.rows:
        return ""
    data, changed = read_json(store.materials(key)) or {}, store.changed(key)
    names = [entry.get("name", "") for entry in data.get("materials", [])]
    colors = {name: "#" + "".join(f"{round(255 * x):02x}" for x in part_color(i)) for i, name in enumerate(names)}

    def cells(row: AnnotationRow) -> list[str]:
        is_changed, now = row.part in changed, changed.get(row.part, ("", row.material))[1]
        tint = f'<i style="background:{colors.get(now, "#ccc")}"></i>'
        name = f"<del>{escape(row.material)}</del> {escape(now)}" if is_changed else escape(now)
        sure = "by hand" if is_changed else (Low if row.confidence < 0.5 else str)(f"{row.confidence:.2f}")
        return [escape(row.part), f"{tint}{name}", sure, escape(row.reason)]

    return table(("part", "material", "confidence", "reason"), map(cells, note.rows))
