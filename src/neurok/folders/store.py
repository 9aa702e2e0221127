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
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from neurok.errors import FormatError, NeurokError, brief, require
from neurok.io.files import read_bytes, write_files
from neurok.io.formats import MESHES
from neurok.staging import PREFIX, staged

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
    url: str = ""
    """Where it lies if not in a folder of this machine: any URL that fsspec reads; ``path`` is then its name alone."""

    @property
    def digest(self) -> str:
        """Of what its file holds, or of what its storage says of it; of a missing one, that it is missing."""
        if self.url:
            files, name = opened(self.url)
            try:
                return hashlib.sha256(str(files.ukey(name)).encode()).hexdigest()[:16]
            except Exception:  # every storage has errors of its own
                return "unreadable"
        try:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]
        except OSError:
            return "unreadable"

    def absolute(self) -> ObjectFile:
        """The same, wherever it is read from."""
        return self if self.url else replace(self, path=self.path.absolute())


def is_url(where: str | Path) -> bool:
    """Whether a place is a URL of some storage."""
    return "://" in str(where)


def opened(url: str) -> tuple[Any, str]:
    """The storage behind a URL, and the name in it.

    Raises:
        NeurokError: If there is none of that kind.
    """
    require("fsspec", "cluster")
    import fsspec

    try:
        return fsspec.core.url_to_fs(url)
    except Exception as error:
        raise NeurokError(f"'{url}' cannot be reached: {brief(str(error), 120)}.") from None


def fetched(source: ObjectFile, folder: Path) -> ObjectFile:
    """The same object with its file on this machine."""
    if not source.url:
        return source
    files, name = opened(source.url)
    path = folder / source.path.name
    try:
        path.write_bytes(files.cat_file(name))
    except Exception as error:
        raise NeurokError(f"'{source.url}' cannot be read: {brief(str(error), 120) or type(error).__name__}.") from None
    return replace(source, path=path)


def links_outside(folder: Path) -> list[Path]:
    """Models of a folder that are links, or lie behind links, to somewhere outside of it."""
    root = folder.resolve()
    return [path for path in _models(folder) if not path.resolve().is_relative_to(root)]


def _models(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in MODELS and path.is_file()]


def find_sources(where: str | Path) -> list[ObjectFile]:
    """The objects of a folder, or of a manifest: a .csv with the columns ``file`` and perhaps ``category``, or a .txt
    with a path or URL in each line; both relative to their folder. What a list names is read wherever it lies; links of
    a folder that lead out of it are left out, since whoever packed the folder may not mean what the user means.

    Raises:
        NeurokError: If it holds none.
    """
    if is_url(where):
        return _keyed(_stored(str(where)), Path())
    where = Path(where)
    if where.is_dir():
        outside = set(links_outside(where))
        found: list[tuple[Path | str, str]] = [(path, "") for path in _models(where) if path not in outside]
        root = where
    elif where.suffix.lower() in (".csv", ".txt"):
        found, root = _listed(where), where.parent
    else:
        raise NeurokError(f"'{where}' is no folder and no list of objects (.csv or .txt).")
    if not found:
        raise NeurokError(f"'{where}' holds no object; known are {', '.join(MODELS)}.")
    return _keyed(found, root)


def _stored(url: str) -> list[tuple[Path | str, str]]:
    """The URLs of a list, or of all objects below a URL."""
    files, root = opened(url)
    if root.endswith((".csv", ".txt")):
        rows = _rows(files.cat_file(root), Path(root))
        return [(name if is_url(name) else f"{url.rpartition('/')[0]}/{name}", kind) for name, kind in rows]
    found = sorted(name for name in files.find(root) if name.lower().endswith(MODELS))
    if not found:
        raise NeurokError(f"'{url}' holds no object; known are {', '.join(MODELS)}.")
    return [(files.unstrip_protocol(name), "") for name in found]


def _listed(path: Path) -> list[tuple[Path | str, str]]:
    rows = _rows(read_bytes(path), path)
    return [(name if is_url(name) else path.parent / name, category) for name, category in rows]


def _rows(data: bytes, path: Path) -> list[tuple[str, str]]:
    text = data.decode("utf-8-sig", errors="replace")
    if path.suffix.lower() == ".txt":
        rows = [(line.strip(), "") for line in text.splitlines() if line.strip()]
    else:
        table = list(csv.DictReader(text.splitlines()))
        if not table or "file" not in table[0]:
            raise FormatError(f"'{path}' needs a column 'file', and may have one 'category'.")
        rows = [((row["file"] or "").strip(), (row.get("category") or "").strip()) for row in table]
    return [(name, category) for name, category in rows if name]


def _keyed(found: Sequence[tuple[Path | str, str]], root: Path) -> list[ObjectFile]:
    """Sources with a name each; two files of one name keep their suffix."""
    base = os.path.abspath(root)
    names = [_relative(place, base) for place, _ in found]
    stems = Counter(str(PurePosixPath(name).with_suffix("")) for name in names)
    keys = [n if stems[s := str(PurePosixPath(n).with_suffix(""))] > 1 else s for n in names]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise NeurokError(f"'{twice[0]}' is listed twice.")
    return [
        ObjectFile(key, Path(place), category)
        if isinstance(place, Path)
        else ObjectFile(key, Path(place.rpartition("/")[2]), category, place)
        for key, (place, category) in zip(keys, found, strict=True)
    ]


def _relative(place: Path | str, root: str) -> str:
    """The name below a folder; that of a URL has its storage left out."""
    if isinstance(place, str):
        inner = PurePosixPath(place.partition("://")[2])
        return str(inner.relative_to("/") if inner.is_absolute() else inner).replace("..", "__")
    path = os.path.abspath(place)
    inside = path.startswith(root + os.sep)
    return Path(os.path.relpath(path, root) if inside else os.path.basename(path)).as_posix()


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
    """The files of a batch, in a folder or below a URL."""

    url: str = ""
    """Where they lie if not in ``folder``, which then holds only what is worked on."""

    @staticmethod
    def at(out: str | Path) -> BatchStore:
        """The store of a place."""
        if not is_url(out):
            return BatchStore(Path(out).absolute())
        return BatchStore(Path(tempfile.mkdtemp(prefix="neurok-batch-")), str(out).rstrip("/"))

    def read(self, name: str) -> bytes | None:
        """What a file holds; nothing if it is not there."""
        if not self.url:
            try:
                return (self.folder / name).read_bytes()
            except OSError:
                return None
        files, root = opened(self.url)
        try:
            return bytes(files.cat_file(f"{root}/{name}"))
        except OSError:
            return None

    def write(self, name: str, contents: Iterable[bytes]) -> None:
        """A file of many pieces; it appears when it is whole."""
        if not self.url:
            with staged(self.folder / name) as path, path.open("wb") as file:
                file.writelines(contents)
            return
        files, root = opened(self.url)
        files.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        with files.open(f"{root}/{name}", "wb") as file:
            for piece in contents:
                file.write(piece)

    def claim(self, settings: BatchSettings) -> None:
        """Refuse a folder that holds something else; clean up what a killed batch left.

        Raises:
            NeurokError: If the folder holds another batch, or is none.
        """
        where = self.url or self.folder
        if self.folder.exists() and not self.folder.is_dir():
            raise NeurokError(f"'{where}' is not a folder; name one, it is made if it does not exist.")
        mark = self.read("batch.json")
        if mark is not None:
            if _parsed(mark) != settings.as_dict():
                raise NeurokError(f"'{where}' holds a batch of another command or flags; choose another folder.")
        elif self._holds_anything():
            raise NeurokError(f"'{where}' holds something else than a batch; choose another folder.")
        else:
            self.write("batch.json", [json_bytes(settings.as_dict())])
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.tidy()

    def _holds_anything(self) -> bool:
        if not self.url:
            return self.folder.exists() and any(self.folder.iterdir())
        files, root = opened(self.url)
        return bool(files.exists(root) and files.ls(root))

    @property
    def scratch(self) -> Path:
        return self.folder / SCRATCH

    def record(self, source: ObjectFile) -> dict[str, Any] | None:
        """How it went with an object; nothing if it is not done."""
        found = self.read(f"assets/{source.key}/{RECORD}")
        return None if found is None else _parsed(found)

    def is_done(self, source: ObjectFile, again: Sequence[str] = ()) -> bool:
        """Whether an object has a record, its file has not changed since, and it did not end in one of some states."""
        found = self.record(source)
        return found is not None and found.get("digest") == source.digest and str(found.get("status")) not in again

    def keep(self, source: ObjectFile, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        """Write what was made of an object, its record last."""
        if self.url:
            for name, data in {**files, RECORD: json_bytes(record)}.items():
                self.write(f"assets/{source.key}/{name}", [data])
            return
        folder = self.of(source.key)
        shutil.rmtree(folder, ignore_errors=True)
        write_files(folder / RECORD, {RECORD: json_bytes(record), **files})

    def note_time(self, source: ObjectFile, seconds: float, memory: float) -> None:
        """Note what an object took."""
        line = {"asset": source.key, "seconds": round(seconds, 3), "memory_mb": round(memory / 1e6)}
        with (self.folder / "times.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def write_report(self, records: Iterable[dict[str, Any]]) -> None:
        """Write all records into one file, one after the other."""
        lines = (json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in records)
        self.write("report.jsonl", (line.encode() for line in lines))
        times = self.folder / "times.jsonl"
        if self.url and times.exists():
            self.write("times.jsonl", [times.read_bytes()])


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file of ours says; nothing when it is missing or damaged."""
    try:
        return _parsed(path.read_bytes())
    except OSError:
        return None


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file of ours."""
    write_files(path, {path.name: json_bytes(value)})


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON of which the same value gives the same bytes."""
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
