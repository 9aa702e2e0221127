"""Shards: tar files of a few dozen items each, with a manifest that names them all and their checksums.

A data set is a folder, or any fsspec URL, with ``manifest.json`` and ``shard-00000.tar`` ... Each item has three
members: ``00001200.json`` (what it is and where it comes from), ``00001200.npz`` (the asset) and
``00001200.subject.npz`` (for training). Tar files are read front to back, so they stream from anywhere; shuffling
happens between shards and in a buffer. Positions of a mesh are kept in float32 and motion in steps of a 65,534th of its
largest displacement, stored as changes from frame to frame: finer than any simulation is true, a quarter of the size.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neurok.core import Asset
from neurok.errors import FormatError, NeurokError, brief, require, shown
from neurok.io import archive
from neurok.io.npz_arrays import pack, unpack
from neurok.learned.subject import FrameMotion, JointMotion, Subject

_WHERE = Path("item.npz")
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading damaged arrays raises."""

JOINT_ARRAYS = ("is_turn", "is_slide", "axes", "origins", "lower", "upper")
JOINT_NUMBERS = ("parents", "point_parts", "handle_parts")


def encode_asset(asset: Asset) -> bytes:
    """The asset without what rounding to float32 loses."""
    arrays = unpack(next(iter(archive.write(asset, _WHERE).values())), _WHERE)
    small = {}
    for name, array in arrays.items():
        if name.startswith("clip") and name.endswith("_positions"):
            small.update(_pack_motion(name, array))
        elif array.dtype == np.float64:
            small[name] = array.astype(np.float32)
        elif array.dtype == np.int64 and array.size:
            small[name] = array.astype(
                np.min_scalar_type(int(array.max()) if array.min() >= 0 else -int(abs(array).max()) - 1)
            )
        else:
            small[name] = array
    return pack(small)


def decode_asset(data: bytes) -> Asset:
    """The asset of an item."""
    with _damage_told():
        arrays = unpack(data, _WHERE)
        for name in [n for n in arrays if n.endswith("_positions_steps")]:
            stem = name.removesuffix("_steps")
            steps = np.cumsum(arrays.pop(name).astype(np.int64), axis=0)
            arrays[stem] = steps * float(arrays.pop(f"{stem}_unit")) + arrays.pop(f"{stem}_first").astype(np.float64)
        return archive.from_arrays(arrays, _WHERE)


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        raise FormatError(f"An item of the data set is damaged ({brief(str(error))}); build it again.") from error


def _pack_motion(name: str, positions: np.ndarray) -> dict[str, np.ndarray]:
    first = positions[0].astype(np.float32)
    offsets = positions - first.astype(np.float64)
    unit = max(float(np.abs(offsets).max()) / 32767, 1e-12)
    steps = np.rint(offsets / unit).astype(np.int32)
    changes = np.diff(steps, axis=0, prepend=0)
    fits = np.abs(changes).max() <= 32767
    return {
        f"{name}_steps": changes.astype(np.int16 if fits else np.int32),
        f"{name}_unit": np.array(unit),
        f"{name}_first": first,
    }


def encode_subject(subject: Subject) -> bytes:
    """What training reads of an item."""
    text = json.dumps({"up": subject.up, "name": subject.name}, sort_keys=True).encode()
    arrays = {
        "header": np.frombuffer(text, dtype=np.uint8),
        "points": subject.points,
        "groups": subject.groups.astype(np.int8),
        "areas": subject.areas,
    }
    if isinstance(subject.motion, FrameMotion):
        return pack(arrays | _pack_motion("frames", subject.motion.frames))
    motion = {name: np.asarray(getattr(subject.motion, name)) for name in (*JOINT_ARRAYS, *JOINT_NUMBERS, "order")}
    return pack(arrays | motion)


def decode_subject(data: bytes) -> Subject:
    """The subject of an item."""
    with _damage_told():
        arrays = unpack(data, _WHERE)
        header = json.loads(arrays["header"].tobytes())
        motion: JointMotion | FrameMotion
        if "frames_steps" in arrays:
            steps = np.cumsum(arrays["frames_steps"].astype(np.int64), axis=0)
            motion = FrameMotion((steps * float(arrays["frames_unit"]) + arrays["frames_first"]).astype(np.float32))
        else:
            plain = {name: arrays[name] for name in JOINT_ARRAYS}
            whole = {name: arrays[name].astype(np.int64) for name in JOINT_NUMBERS}
            motion = JointMotion(**plain, **whole, order=tuple(arrays["order"].tolist()))
        return Subject(
            arrays["points"],
            arrays["groups"].astype(np.int64),
            arrays["areas"],
            motion,
            int(header["up"]),
            str(header["name"]),
        )


MANIFEST = "manifest.json"
VERSION = 1
WORDS = ("kind", "family", "license", "source")
"""What every item says of itself."""

MANIFEST_FIELDS = {"bytes": int, "recipe": str, "seed": int, "tally": dict, "rejected": dict}
SHARD_NAME = re.compile(r"shard-\d{5,}\.tar")


@dataclass(frozen=True)
class Item:
    """One member of a data set."""

    index: int
    info: dict[str, Any]
    """``family``, ``kind``, ``license``, ``source`` and the figures of the item."""

    asset_bytes: bytes
    subject_bytes: bytes

    def asset(self) -> Asset:
        return decode_asset(self.asset_bytes)

    def subject(self) -> Subject:
        return decode_subject(self.subject_bytes)


def shard_name(number: int) -> str:
    return f"shard-{number:05d}.tar"


def write_shard(items: list[Item]) -> bytes:
    """The bytes of a shard; the same items give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for item in items:
            info = json.dumps(item.info, sort_keys=True).encode()
            for suffix, data in ((".json", info), (".npz", item.asset_bytes), (".subject.npz", item.subject_bytes)):
                member = tarfile.TarInfo(f"{item.index:08d}{suffix}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def read_shard(data: bytes, name: str = "shard") -> Iterator[Item]:
    """The items of a shard in order."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            members: dict[str, dict[str, bytes]] = {}
            for member in tar:
                stem, _, suffix = member.name.partition(".")
                handle = tar.extractfile(member)
                if handle is None:
                    raise FormatError(f"{name} holds something other than files; build it again.")
                members.setdefault(stem, {})[suffix] = handle.read()
                if len(members[stem]) == 3:
                    parts = members.pop(stem)
                    yield Item(int(stem), _info(parts["json"]), parts["npz"], parts["subject.npz"])
    except (tarfile.TarError, ValueError, KeyError, EOFError, RecursionError) as error:
        raise FormatError(f"{name} is damaged ({error}); delete it and build again.") from error


def _info(text: bytes) -> dict[str, Any]:
    """What an item says of itself; its words are words and its joints a list of them."""
    info = json.loads(text)
    if not isinstance(info, dict) or not all(isinstance(info.get(key), str) for key in WORDS):
        raise ValueError(f"an item does not say its {', '.join(WORDS)}")
    joints = info.get("joints")
    if not isinstance(joints, list) or not all(isinstance(kind, str) for kind in joints):
        raise ValueError("an item does not list its joints")
    return info


@dataclass(frozen=True, eq=False)
class ShardSet:
    """A finished data set, local or remote."""

    root: str
    manifest: dict[str, Any]

    @staticmethod
    def open(root: str | Path) -> ShardSet:
        """Read the manifest of a folder or URL."""
        try:
            manifest = json.loads(_fetch(str(root), MANIFEST))
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise FormatError(f"The manifest of '{root}' is damaged: {reason}.") from error
        version = manifest.get("version") if isinstance(manifest, dict) else None
        if version != VERSION:
            raise FormatError(f"'{root}' has version {shown(version)} of the layout; this neurok reads {VERSION}.")
        if problem := _manifest_problem(manifest):
            raise FormatError(f"The manifest of '{root}' is damaged: {problem}; build or copy the data set again.")
        return ShardSet(str(root), manifest)

    def __len__(self) -> int:
        return int(self.manifest["items"])

    def shard(self, number: int, verify: bool = False) -> list[Item]:
        """One shard, its checksum compared when asked."""
        entry = self.manifest["shards"][number]
        data = _fetch(self.root, entry["name"])
        if verify and hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise FormatError(f"{entry['name']} of '{self.root}' does not match its checksum; build or copy it again.")
        return list(read_shard(data, entry["name"]))

    def __iter__(self) -> Iterator[Item]:
        for number in range(len(self.manifest["shards"])):
            yield from self.shard(number)

    def stream(
        self, seed: int, buffer: int = 256, kind: Literal["articulated", "soft"] | None = None
    ) -> Iterator[Item]:
        """One pass in random order with only ``buffer`` items in memory; the order follows from the seed."""
        rng = np.random.default_rng(seed)
        held: list[Item] = []
        for number in rng.permutation(len(self.manifest["shards"])):
            for item in self.shard(int(number)):
                if kind is not None and item.info["kind"] != kind:
                    continue
                if len(held) < buffer:
                    held.append(item)
                    continue
                place = int(rng.integers(buffer))
                yield held[place]
                held[place] = item
        for place in rng.permutation(len(held)):
            yield held[int(place)]

    def verify(self) -> None:
        """Compare every shard with its checksum."""
        for number in range(len(self.manifest["shards"])):
            self.shard(number, verify=True)


def _manifest_problem(manifest: dict[str, Any]) -> str:
    """What is wrong with a manifest, in words; its shards may lie nowhere but beside it."""
    shards, items = manifest.get("shards"), manifest.get("items")
    if isinstance(items, bool) or not isinstance(items, int) or items < 0:
        return f"its number of items is {shown(items)}"
    if not isinstance(shards, list):
        return "it lists no shards"
    for key, kind in MANIFEST_FIELDS.items():
        if not isinstance(manifest.get(key), kind):
            return f"its {key} is {shown(manifest.get(key))}"
    for entry in shards:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not SHARD_NAME.fullmatch(name):
            return f"a shard is called {shown(name)}, and shards are called like {shard_name(0)}"
        if not isinstance(entry.get("sha256"), str):
            return f"{name} has no checksum"
    return ""


def _fetch(root: str, name: str) -> bytes:
    try:
        if "://" in root:
            require("fsspec", "cluster")
            import fsspec

            with fsspec.open(f"{root.rstrip('/')}/{name}", "rb") as remote:
                return remote.read()
        return (Path(root) / name).read_bytes()
    except FileNotFoundError:
        raise NeurokError(
            f"'{root}' has no {name}, so it is no finished data set; 'neurok data build --out {root}' finishes one."
        ) from None
    except (OSError, ValueError, ImportError) as error:  # fsspec: unknown protocols, protocols without their package
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise NeurokError(f"{name} of '{root}' cannot be read: {reason}.") from error
