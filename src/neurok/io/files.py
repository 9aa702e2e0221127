"""Reading with limits, writing without half-written files, and names that must differ from each other."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote

from neurok.errors import FormatError, NeurokError, shown
from neurok.sandbox import SANDBOX, Ended, Limits
from neurok.staging import staged, together

MAX_FILE_BYTES = 2 * 1024**3
"""Larger files are refused before they are read."""

MAX_UNPACKED_BYTES = 2 * 1024**3
"""What all that is packed in a file may unpack to."""

MAX_RATIO = 100
"""Largest factor by which a large file may grow; positions of real objects shrink by 2 to 20 times."""

SMALL_BYTES = 64 * 1024**2
"""What unpacks to less may grow by any factor."""

Files = dict[str, bytes]
"""What a writer makes: contents by path relative to the folder of the main file, the main file first."""


NUMBER_PLACE = re.compile(r"%0?\d{0,2}d")
"""Where a file name like ``walk_%04d.obj`` takes the number of a frame."""

_SIGNATURES: tuple[tuple[bytes, str, tuple[str, ...]], ...] = (
    (b"glTF", "GLB", (".glb", ".vrm")),
    (b"ply\n", "PLY", (".ply",)),
    (b"ply\r", "PLY", (".ply",)),
    (b"PK\x03\x04", "zip archive", (".npz", ".usdz", ".zip")),
    (b"POINTCACHE2", "PC2", (".pc2",)),
    (b"PXR-USDC", "USD", (".usd", ".usdc")),
    (b"#usda", "USD text", (".usd", ".usda")),
    (b"<?xml", "XML", (".xml", ".urdf", ".mjcf", ".dae")),
    (b"\x89PNG", "PNG picture", ()),
    (b"\xff\xd8\xff", "JPEG picture", ()),
    (b"GIF8", "GIF picture", ()),
    (b"%PDF", "PDF", ()),
    (b"Kaydara FBX", "FBX", (".fbx",)),
    (b"BLENDER", "Blender", ()),
    (b"\x1f\x8b", "gzip", ()),
)
"""First bytes, what they announce, and the suffixes they may stand under."""


def is_pattern(path: Path) -> bool:
    """Whether the file name has a place for the number of a frame."""
    return NUMBER_PLACE.search(path.name) is not None


def path_kind(path: Path) -> Literal["file", "folder", "nothing"]:
    """What lies at a path, or one clear sentence when that cannot be known."""
    try:
        if path.is_dir():
            return "folder"
        if path.exists() and not path.is_file():
            raise NeurokError(f"'{path}' is neither a file nor a folder; pipes and devices are not read.")
        return "file" if path.exists() else "nothing"
    except (OSError, ValueError) as error:
        raise NeurokError(f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def check_content(path: Path) -> None:
    """Refuse a file whose first bytes belong to another format than its suffix says."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise NeurokError(f"'{path}' cannot be read: {error.strerror or error}.") from error
    for signature, kind, suffixes in _SIGNATURES:
        if head.startswith(signature) and path.suffix.lower() not in suffixes:
            hint = f"rename it to '{path.stem}{suffixes[0]}'" if suffixes else "neurok cannot read such files"
            raise FormatError(f"'{path}' is a {kind} file, not what its suffix '{path.suffix}' says; {hint}.")


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The whole file, or one clear sentence."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise FormatError(f"'{path}' is a folder, not a file.")
        if size > limit:
            raise FormatError(f"'{path}' has {size / 1e9:.1f} GB; at most {limit / 1e9:.1f} GB are read.")
        if size == 0:
            raise FormatError(f"'{path}' is empty.")
        return path.read_bytes()
    except FileNotFoundError:
        raise NeurokError(f"There is no file '{path}'.") from None
    except (OSError, ValueError) as error:
        raise NeurokError(f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def check_growth(path: Path, unpacked: int, packed: int) -> None:
    """Refuse a file whose packed pieces hold, or say that they hold, more than its size warrants: the one guard of
    every compressed thing, asked before memory is taken.

    Raises:
        FormatError: If the pieces unpack to too much.
    """
    if unpacked > MAX_UNPACKED_BYTES:
        raise FormatError(
            f"'{path}' would unpack to {unpacked / 1e9:.1f} GB; {MAX_UNPACKED_BYTES / 1e9:.1f} GB are allowed."
        )
    if unpacked > SMALL_BYTES and unpacked > MAX_RATIO * packed:
        raise FormatError(
            f"'{path}' would unpack to {unpacked / 1e9:.2g} GB, {unpacked / max(packed, 1):.0f} times its size; "
            f"real objects shrink by {MAX_RATIO} times at most, so it is not read."
        )


def decoding_limits(size: int, seconds: float = 20.0, ratio: int = 64) -> Limits:
    """What a decoder of others may take for a file: the largest of public collections pass ten times over with 1 GiB
    and ``ratio`` times the size in memory, ``seconds`` and one more for each 5 MB of computing."""
    return Limits(cpu=seconds + size / 5e6, memory=1024**3 + ratio * size)


def read_card(path: Path) -> dict[str, Any]:
    """The card of weights, a file that holds one JSON object."""
    try:
        card = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"The card '{path}' is damaged: {reason}; install or copy it again.") from error
    if not isinstance(card, dict):
        raise FormatError(f"The card '{path}' is damaged: it must hold one JSON object; install or copy it again.")
    return card


def resolve_inside(folder: Path, reference: str) -> Path:
    """The file that ``reference`` (a relative URI) names; anything outside ``folder`` is refused."""
    plain = unquote(reference).replace("\\", "/")
    refused = FormatError(
        f"The file refers to {shown(reference)}, which lies outside its folder; only files in or below it are read."
    )
    if not plain or "\0" in plain or PurePosixPath(plain).is_absolute() or ":" in plain.split("/")[0]:
        raise refused
    try:
        target = (folder / plain).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise refused
        target.is_file()  # raises where the name itself cannot be that of a file
    except (OSError, ValueError, RuntimeError):
        raise refused from None
    return target


@dataclass(frozen=True)
class Trial:
    """What became of a file that a decoder of others opened in the sandbox."""

    damage: str = ""
    """What opening it did to the process, in words; empty if that survived."""

    refusal: str | None = None
    """Why its decoder refused it, in the decoder's own words; none if it was read."""


def rehearse(path: Path, decoder: str, library: str, seconds: float = 20.0) -> Trial:
    """Let a decoder (``module:function`` of a path) open a file in the sandbox; only what survives is opened here."""
    facts = path.stat()
    return _rehearse(str(path.resolve()), facts.st_size, facts.st_mtime_ns, decoder, library, seconds)


@lru_cache(maxsize=512)
def _rehearse(path: str, size: int, changed: int, decoder: str, library: str, seconds: float) -> Trial:
    """A file that has not changed is tried once."""
    try:
        SANDBOX.call(decoder, limits=decoding_limits(size, seconds), preload=(library,), path=path)
    except Ended as end:
        if end.cause == "fault":
            return Trial(refusal=end.text)
        return Trial(DAMAGE.get(end.cause, "its decoder broke off"))
    return Trial()


DAMAGE = {
    "memory": "it takes more memory than any file of its size should",
    "time": "it takes longer than any file of its size should",
}


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if path_kind(path) == "folder":
        raise NeurokError(f"'{path}' is a folder; name a file in it.")
    folder = Path(os.path.abspath(path)).parent
    while path_kind(folder) == "nothing" and folder != folder.parent:
        folder = folder.parent
    if path_kind(folder) != "folder" or not os.access(folder, os.W_OK):
        raise NeurokError(f"'{path}' cannot be written: '{folder}' is not a folder one may write to.")


def write_files(path: Path, files: Files) -> None:
    """Write all files beside ``path`` or none, the main one last."""
    with together():
        for name, data in reversed(files.items()):
            with staged(path.parent / name) as temporary:
                temporary.write_bytes(data)


def unique_names(names: Iterable[str], taken: Iterable[str] = (), key: Callable[[str], str] = str) -> list[str]:
    """The names, with the first free number behind those that repeat or are taken; equal ``key`` is a repetition."""
    used, out = set(taken), []
    next_number: dict[str, int] = {}
    for name in names:
        found, number = name, next_number.get(name, 2)
        while key(found) in used:
            found, number = f"{name}_{number}", number + 1
        next_number[name] = number
        used.add(key(found))
        out.append(found)
    return out
