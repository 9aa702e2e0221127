"""The folder of a batch: what was made of each object, and one report of all.

::

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

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from neurok.annotation.records import Source
from neurok.errors import NeurokError
from neurok.io.files import write_files
from neurok.staging import PREFIX

VERSION = 1
RECORD = "record.json"
PICTURE = "picture.jpg"
SCRATCH = ".work"
"""Where objects are worked on."""


@dataclass(frozen=True)
class Settings:
    """What is done to every object; the same settings make the same files."""

    command: str
    flags: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    """Suffixes of the files that are made of each object."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"neurok_batch": VERSION, **json.loads(json.dumps(asdict(self)))}


@dataclass(frozen=True)
class Store:
    """The files of a batch."""

    folder: Path

    def claim(self, settings: Settings) -> None:
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
            write_files(mark, {mark.name: to_bytes(settings.as_dict())})
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        for left in self.folder.glob(f"**/{PREFIX}*"):
            left.unlink(missing_ok=True)

    @property
    def scratch(self) -> Path:
        return self.folder / SCRATCH

    def of(self, source: Source) -> Path:
        """The folder of one object."""
        return self.folder / "assets" / source.key

    def record(self, source: Source) -> dict[str, Any] | None:
        """How it went with an object; nothing if it is not done, or its file has changed since."""
        found = read_json(self.of(source) / RECORD)
        return found if found is not None and found.get("digest") == digest_of(source) else None

    def keep(self, source: Source, record: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        """Write what was made of an object, its record last."""
        folder = self.of(source)
        shutil.rmtree(folder, ignore_errors=True)
        write_files(folder / RECORD, {RECORD: to_bytes(record), **files})

    def note_time(self, source: Source, seconds: float, memory: float) -> None:
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


def digest_of(source: Source) -> str:
    """Of what an object's file holds; of a missing one, that it is missing."""
    try:
        return hashlib.sha256(source.path.read_bytes()).hexdigest()[:16]
    except OSError:
        return "unreadable"


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file of ours says; nothing when it is missing or damaged."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def to_bytes(value: Mapping[str, Any]) -> bytes:
    """JSON of which the same value gives the same bytes."""
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
