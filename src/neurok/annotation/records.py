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

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from neurok.core import Asset, MaterialField
from neurok.core.regions import regions_of
from neurok.data.still import SUFFIXES
from neurok.errors import FormatError, NeurokError
from neurok.inference.materials import BY_HAND, Proposal, Proposals
from neurok.io import load
from neurok.io.files import read_bytes, write_files
from neurok.io.materials_file import read_materials, write_materials

VERSION = 1
MODELS = (*SUFFIXES, ".urdf", ".mjcf")
Status = Literal["failed", "proposed", "edited", "accepted"]


@dataclass(frozen=True)
class Source:
    """One object of a collection."""

    key: str
    """Its name in the annotation: the path below the folder without suffix."""

    path: Path
    category: str = ""

    @property
    def digest(self) -> str:
        """Of the file's bytes."""
        return hashlib.sha256(read_bytes(self.path)).hexdigest()[:16]


@dataclass(frozen=True)
class Row:
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
    rows: tuple[Row, ...] = ()
    problem: str = ""
    """One sentence, if it has no proposals."""

    accepted: bool = False


def find_sources(where: str | Path) -> list[Source]:
    """The objects of a folder, or of a manifest: a .csv with the columns ``file`` and perhaps ``category``, or a .txt
    with a path in each line; both relative to their folder.

    Raises:
        NeurokError: If it holds none.
    """
    where = Path(where)
    if where.is_dir():
        found = [(path, "") for path in sorted(where.rglob("*")) if path.suffix.lower() in MODELS and path.is_file()]
        root = where
    elif where.suffix.lower() in (".csv", ".txt"):
        found, root = _listed(where), where.parent
    else:
        raise NeurokError(f"'{where}' is no folder and no list of objects (.csv or .txt).")
    if not found:
        raise NeurokError(f"'{where}' holds no object; known are {', '.join(MODELS)}.")
    return _keyed(found, root)


def _listed(path: Path) -> list[tuple[Path, str]]:
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    if path.suffix.lower() == ".txt":
        rows = [(line.strip(), "") for line in text.splitlines() if line.strip()]
    else:
        table = list(csv.DictReader(text.splitlines()))
        if not table or "file" not in table[0]:
            raise FormatError(f"'{path}' needs a column 'file', and may have one 'category'.")
        rows = [((row["file"] or "").strip(), (row.get("category") or "").strip()) for row in table]
    return [(path.parent / name, category) for name, category in rows if name]


def _keyed(found: list[tuple[Path, str]], root: Path) -> list[Source]:
    """Sources with a name each; two files of one name keep their suffix."""
    names = [_relative(path, root) for path, _ in found]
    stems = Counter(str(PurePosixPath(name).with_suffix("")) for name in names)
    keys = [n if stems[s := str(PurePosixPath(n).with_suffix(""))] > 1 else s for n in names]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise NeurokError(f"'{twice[0]}' is listed twice.")
    return [Source(key, path, category) for key, (path, category) in zip(keys, found, strict=True)]


def _relative(path: Path, root: Path) -> str:
    try:
        inside = path.resolve().relative_to(root.resolve())
    except ValueError:
        return path.name
    return inside.as_posix()


@dataclass(frozen=True)
class Store:
    """The files of an annotation."""

    folder: Path

    def of(self, key: str) -> Path:
        """The folder of one object."""
        return self.folder / "assets" / key

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
            rows = tuple(Row(**{**row, "alternatives": _pairs(row["alternatives"])}) for row in data.pop("rows"))
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

    def load(self, source: Source) -> tuple[Asset, Proposals]:
        """An object and its materials as they are now: as proposed, or set by hand since.

        Raises:
            NeurokError: If it has no proposals, or the file of its materials was spoilt.
        """
        note = self.annotation(source.key)
        if note is None or note.problem:
            raise NeurokError(note.problem if note else f"'{source.key}' has no proposals yet; run --propose.")
        asset = load(source.path)
        field = read_materials(self.materials(source.key), asset.mesh)
        said = (read_json(self.materials(source.key)) or {}).get("parts", {})
        return asset, _current(asset, note, field, said)

    def keep(self, source: Source, proposals: Proposals) -> None:
        """Write the materials of an object."""
        write_materials(proposals.field, proposals.mesh, self.materials(source.key), proposals.told())

    def changed(self, key: str) -> dict[str, tuple[str, str]]:
        """Parts whose material is not the proposed one: both names."""
        note, data = self.annotation(key), read_json(self.materials(key))
        if note is None or data is None or not isinstance(data.get("parts"), dict):
            return {}
        now = {part: said.get("material") if isinstance(said, dict) else said for part, said in data["parts"].items()}
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

    def tidy(self) -> None:
        """Remove what a killed run left half-written."""
        for left in self.folder.rglob(".neurok-*"):
            left.unlink(missing_ok=True)


def rows_of(proposals: Proposals) -> tuple[Row, ...]:
    """Proposals as they are written down."""
    return tuple(
        Row(item.region.name, item.material.name, round(item.confidence, 3), item.reason, item.alternatives)
        for item in proposals.items
    )


def _current(asset: Asset, note: Annotation, field: MaterialField, said: dict[str, Any]) -> Proposals:
    """What was proposed where that still holds; elsewhere what somebody set, with the reason given for it."""
    rows = {row.part: row for row in note.rows}
    items = []
    for region in regions_of(asset.mesh):
        ids = field.ids[region.vertices]
        stuff = field.materials[int(ids[0]) if len(ids) else int(field.ids[0])]
        row = rows.get(region.name)
        if row is not None and row.material == stuff.name:
            items.append(Proposal(region, stuff, row.confidence, row.reason, row.alternatives))
        else:
            before = () if row is None else ((row.material, row.confidence),)
            told = said.get(region.name)
            why = told.get("reason", BY_HAND) if isinstance(told, dict) else BY_HAND
            reason = BY_HAND if row is not None and why == row.reason else str(why)
            items.append(Proposal(region, stuff, 1.0, reason, before))
    return Proposals(asset.mesh, tuple(items))


def accept(store: Store, key: str, wanted: bool) -> None:
    """Note that materials are accepted, or not any more."""
    note = store.annotation(key)
    if note is not None and note.accepted != wanted:
        store.write(replace(note, accepted=wanted))
    if not wanted:
        for path in (store.accepted(key), store.accepted(key, ".glb")):
            path.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file of ours says; nothing when it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: Any) -> None:
    write_files(path, {path.name: (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()})


def _pairs(items: Iterable[Any]) -> tuple[tuple[str, float], ...]:
    return tuple((str(name), float(share)) for name, share in items)
