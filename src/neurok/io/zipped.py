"""A zip archive of a folder with one object: unpacked within limits, read, and forgotten."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from neurok.core import Asset
from neurok.errors import FormatError, MeshError, NeurokError, shown
from neurok.io.files import MAX_FILE_BYTES, resolve_inside
from neurok.io.npz_arrays import MAX_RATIO, MAX_UNPACKED_BYTES, SMALL_BYTES, member_bytes

MAX_ENTRIES = 20_000
MODELS = (
    ".urdf",
    ".mjcf",
    ".glb",
    ".gltf",
    ".usdz",
    ".usd",
    ".usdc",
    ".usda",
    ".fbx",
    ".dae",
    ".obj",
    ".ply",
    ".stl",
    ".off",
)
"""Files that may be the object, those that say most first: robots name the meshes beside them."""


def read(path: Path) -> Asset:
    """The object in an archive: the one model nearest to its top, of the kind that says most.

    Raises:
        FormatError: If the archive is damaged, grows too much, leads outside its folder, or holds no or several models.
    """
    from neurok.io.formats import load

    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory(prefix="neurok-zip-") as scratch:
            entries = _entries(archive, path)
            folder = Path(scratch)
            model = _model([entry.filename for entry in entries], path)
            for entry in entries:
                target = resolve_inside(folder, _quoted(entry.filename))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(member_bytes(archive, entry))
            try:
                asset = load(folder / model)
            except NeurokError as error:
                told = f"In '{path}': {str(error).replace(f'{scratch}/', '')}"
                raise MeshError(told, error.draft) if isinstance(error, MeshError) else FormatError(told) from None
            return replace(asset, provenance={**asset.provenance} | {"source": path.name})
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise FormatError(f"'{path}' is not a zip archive that can be read: {error}.") from error


def _quoted(name: str) -> str:
    return name.replace("%", "%25")


def _entries(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The files of an archive that may be unpacked."""
    found = [e for e in archive.infolist() if not e.is_dir() and not e.filename.startswith("__MACOSX/")]
    total, packed = sum(e.file_size for e in found), max(path.stat().st_size, 1)
    if len(found) > MAX_ENTRIES:
        raise FormatError(f"'{path}' holds {len(found):,} files; at most {MAX_ENTRIES:,} are read.")
    if total > min(MAX_UNPACKED_BYTES, MAX_FILE_BYTES) or (total > SMALL_BYTES and total > MAX_RATIO * packed):
        raise FormatError(f"'{path}' would unpack to {total / 1e9:.2f} GB, {total / packed:.0f} times its size.")
    if any(e.flag_bits & 1 for e in found):
        raise FormatError(f"'{path}' is encrypted; unpack it first.")
    return found


def _model(names: list[str], path: Path) -> str:
    """The file that is the object."""
    for suffix in MODELS:
        fitting = [name for name in names if PurePosixPath(name).suffix.lower() == suffix]
        if not fitting:
            continue
        depth = min(name.count("/") for name in fitting)
        nearest = [name for name in fitting if name.count("/") == depth]
        if len(nearest) > 1:
            listed = ", ".join(shown(name) for name in nearest[:5])
            raise FormatError(f"'{path}' holds {len(nearest)} objects ({listed} ...); unpack it and choose one.")
        return nearest[0]
    raise FormatError(f"'{path}' holds no object; one of {', '.join(MODELS)} is looked for.")
