"""Objects of a folder, and the folder with what was made of each of them.

That of a batch::

    DIR/batch.json              what is done to the objects; a folder holds one batch
    DIR/assets/ASSET/           what was made of one object
    DIR/assets/ASSET/record.json  how it went; written last, so that an object with a record is done
    DIR/report.jsonl            all records, one in a line, in the order of the objects
    DIR/index.html              the sheet to look through
    DIR/times.jsonl             seconds and memory of each object, in the order in which they were done

Only ``times.jsonl`` holds times: all else has the same bytes in one go, after interruptions, and with any number of
workers.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from neurok.errors import FormatError, NeurokError
from neurok.io.files import read_bytes, write_files
from neurok.io.formats import MESHES
from neurok.staging import PREFIX

VERSION = 1
MODELS = (*MESHES, ".urdf", ".mjcf")
RECORD = "record.json"
PICTURE = "picture.jpg"
SCRATCH = ".work"
"""Where objects are worked on."""


@dataclass(frozen=True)
class ObjectFile:
    """One object of a collection."""

    key: str
    """Its name: the path below the folder without suffix."""

    path: Path
    category: str = ""

    @property
    def digest(self) -> str:
        """Of what its file holds; of a missing one, that it is missing."""
        try:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]
        except OSError:
            return "unreadable"


def links_outside(folder: Path) -> list[Path]:
    """Models of a folder that are links, or lie behind links, to somewhere outside of it."""
    root = folder.resolve()
    return [path for path in _models(folder) if not path.resolve().is_relative_to(root)]


def _models(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in MODELS and path.is_file()]


def find_sources(where: str | Path) -> list[ObjectFile]:
    """The objects of a folder, or of a manifest: a .csv with the columns ``file`` and perhaps ``category``, or a .txt
    with a path in each line; both relative to their folder. What a list names is read wherever it lies; links of a
    folder that lead out of it are left out, since whoever packed the folder may not mean what the user means.

    Raises:
        NeurokError: If it holds none.
    """
    where = Path(where)
    if where.is_dir():
        outside = set(links_outside(where))
        found, root = [(path, "") for path in _models(where) if path not in outside], where
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


def _keyed(found: list[tuple[Path, str]], root: Path) -> list[ObjectFile]:
    """Sources with a name each; two files of one name keep their suffix."""
    names = [_relative(path, root) for path, _ in found]
    stems = Counter(str(PurePosixPath(name).with_suffix("")) for name in names)
    keys = [n if stems[s := str(PurePosixPath(n).with_suffix(""))] > 1 else s for n in names]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise NeurokError(f"'{twice[0]}' is listed twice.")
    return [ObjectFile(key, path, category) for key, (path, category) in zip(keys, found, strict=True)]


def _relative(path: Path, root: Path) -> str:
    try:
        inside = path.resolve().relative_to(root.resolve())
    except ValueError:
        return path.name
    return inside.as_posix()


@dataclass(frozen=True)
class BatchSettings:
    """What is done to every object; the same settings make the same files."""

    command: str
    flags: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    """Suffixes of the files that are made of each object."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"neurok_batch": VERSION, **json.loads(json.dumps(asdict(self)))}


@dataclass(frozen=True)
class FolderStore:
    """A folder in which each object has one of its own."""

    folder: Path

    def of(self, key: str) -> Path:
        """The folder of one object."""
        return self.folder / "assets" / key

    def tidy(self) -> None:
        """Remove what a killed run left half-written."""
        for left in self.folder.glob(f"**/{PREFIX}*"):
            left.unlink(missing_ok=True)


@dataclass(frozen=True)
class BatchStore(FolderStore):
    """The files of a batch."""

    def claim(self, settings: BatchSettings) -> None:
        """Refuse a folder that holds something else; clean up what a killed batch left.

        Raises:
            NeurokError: If the folder holds another batch, or is none.
        """
        mark = self.folder / "batch.json"
        if self.folder.exists() and not self.folder.is_dir():
            raise NeurokError(f"'{self.folder}' is not a folder; name one, it is made if it does not exist.")
        if mark.exists():
            if read_json(mark) != settings.as_dict():
                raise NeurokError(f"'{self.folder}' holds a batch of another command or flags; choose another folder.")
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise NeurokError(f"'{self.folder}' holds something else than a batch; choose another folder.")
        else:
            write_json(mark, settings.as_dict())
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.tidy()

    @property
    def scratch(self) -> Path:
        return self.folder / SCRATCH

    def record(self, source: ObjectFile) -> dict[str, Any] | None:
        """How it went with an object; nothing if it is not done, or its file has changed since."""
        found = read_json(self.of(source.key) / RECORD)
        return found if found is not None and found.get("digest") == source.digest else None

    def keep(self, source: ObjectFile, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        """Write what was made of an object, its record last."""
        folder = self.of(source.key)
        shutil.rmtree(folder, ignore_errors=True)
        write_files(folder / RECORD, {RECORD: json_bytes(record), **files})

    def note_time(self, source: ObjectFile, seconds: float, memory: float) -> None:
        """Note what an object took."""
        line = {"asset": source.key, "seconds": round(seconds, 3), "memory_mb": round(memory / 1e6)}
        with (self.folder / "times.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def write_report(self, records: list[dict[str, Any]]) -> Path:
        """Write all records into one file."""
        path = self.folder / "report.jsonl"
        text = "".join(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in records)
        write_files(path, {path.name: text.encode()})
        return path


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file of ours says; nothing when it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file of ours."""
    write_files(path, {path.name: json_bytes(value)})


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON of which the same value gives the same bytes."""
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
