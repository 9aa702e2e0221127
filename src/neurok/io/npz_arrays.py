"""Archives: arrays as ``numpy.savez`` lays them out, zipped folders with one object; no pickle and no bombs."""

from __future__ import annotations

import io
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from neurok.core import Asset
from neurok.errors import FormatError, MeshError, NeurokError, brief, shown
from neurok.io.files import check_growth, read_bytes, resolve_inside
from neurok.staging import scratch

MAX_ENTRIES = 20_000
BLOCK_BYTES = 1 << 20
"""What is unpacked of a member at once."""

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The archive that ``numpy.load`` reads; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            body = io.BytesIO()
            np.lib.format.write_array(body, np.ascontiguousarray(array).reshape(np.shape(array)), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=_FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, body.getvalue())
    return buffer.getvalue()


def unpack(data: bytes, path: Path) -> dict[str, np.ndarray]:
    """The arrays by name. Damage of any kind is one sentence; nothing is executed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {
                entry.filename.removesuffix(".npy"): _array(member_bytes(archive, entry))
                for entry in members(archive, path, len(data))
                if entry.filename.endswith(".npy")
            }
    except FormatError:
        raise
    except Exception as error:  # zipfile, zlib, bz2, lzma and numpy raise a dozen kinds for damaged bytes
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise FormatError(f"'{path}' is not an NPZ archive, or it is damaged: {reason.rstrip('.')}.") from error


def members(archive: zipfile.ZipFile, path: Path, size: int) -> list[zipfile.ZipInfo]:
    """The files of an archive of ``size`` bytes, if they may be unpacked."""
    found = [e for e in archive.infolist() if not e.is_dir() and not e.filename.startswith("__MACOSX/")]
    if len(found) > MAX_ENTRIES:
        raise FormatError(f"'{path}' holds {len(found):,} files; at most {MAX_ENTRIES:,} are read.")
    check_growth(path, sum(entry.file_size for entry in found), size)
    if any(entry.flag_bits & 1 for entry in found):
        raise FormatError(f"'{path}' is encrypted; unpack it first.")
    return found


def member_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """What a member holds, counted while it is unpacked: never more than it says, whatever its bytes would grow to."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Python unpacks these in blocks that may grow a millionfold before anyone can count.
        raise ValueError(f"{shown(entry.filename)} is packed by a method other than deflate; pack it again")
    blocks = []
    with archive.open(entry) as stream:
        while block := stream.read(BLOCK_BYTES):
            blocks.append(block)
    return b"".join(blocks)


def read_array(path: Path) -> np.ndarray:
    """The array of an ``.npy`` file; damage of any kind is one sentence."""
    data = read_bytes(path)
    try:
        return _array(data)
    except Exception as error:  # numpy parses the header as Python and raises whatever that raises
        reason = brief(str(error), 120) or type(error).__name__
        raise FormatError(f"'{path}' is no .npy file of numbers, or it is damaged: {reason}.") from error


def _array(data: bytes) -> np.ndarray:
    """One ``.npy`` file; its header is checked against its size before any memory is taken."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's own words about headers of Python 2
        shape, is_fortran, dtype = read_header(stream)
    if dtype.hasobject or dtype.fields is not None or dtype.kind not in "biufUS":
        raise ValueError("it holds something other than plain arrays of numbers and text")
    count = 1
    for length in shape:
        count *= int(length)
    body = data[stream.tell() :]
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(body):
        raise ValueError("an array has another size than it says")
    if count == 0 or dtype.itemsize == 0:
        return np.zeros(shape, dtype=dtype)
    array = np.frombuffer(body, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if is_fortran else array.reshape(shape)


MODELS = (
    ".urdf", ".mjcf", ".glb", ".gltf", ".usdz", ".usd", ".usdc", ".usda", ".fbx", ".dae", ".obj", ".ply", ".stl",
    ".off",
)  # fmt: skip
"""Files that may be the object, those that say most first: robots name the meshes beside them."""


def read_zip(path: Path) -> Asset:
    """The object in an archive: the one model nearest to its top, of the kind that says most.

    Raises:
        FormatError: If the archive is damaged, grows too much, leads outside its folder, or holds no or several models.
    """
    from neurok.io.formats import load

    try:
        with zipfile.ZipFile(path) as archive, scratch() as folder:
            entries = members(archive, path, path.stat().st_size)
            model = _model([entry.filename for entry in entries], path)
            for entry in entries:
                target = resolve_inside(folder, _quoted(entry.filename))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(member_bytes(archive, entry))
            try:
                asset = load(folder / model)
            except NeurokError as error:
                told = f"In '{path}': {str(error).replace(f'{folder}/', '')}"
                raise MeshError(told, error.draft) if isinstance(error, MeshError) else FormatError(told) from None
            return replace(asset, provenance={**asset.provenance} | {"source": path.name})
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise FormatError(f"'{path}' is not a zip archive that can be read: {error}.") from error


def _quoted(name: str) -> str:
    return name.replace("%", "%25")


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
