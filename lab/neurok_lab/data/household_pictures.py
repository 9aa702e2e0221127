"""Pictures of household things from random views: what an image encoder learns from.

A store is a folder of shards, each a ``.npy`` of RGBA pictures (read through the page cache, a few at a time) with a
``.json`` that says what each of them shows. Every view follows from the seed, the name of the object and the number of
the view alone, and a shard is written whole or not at all, so that a build that was killed goes on where it stood.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from neurok.catalogue import Assembly, asset_of
from neurok.core import Mesh
from neurok.errors import FormatError, NeurokError
from neurok.generation.pictures import SIDE, CameraView, take_pictures
from neurok.io import load
from neurok.io.files import write_files

HELD_OUT = "held_out"
"""Folder below a store with pictures of instances that are watched, not learned from."""


@dataclass(frozen=True)
class PictureConfig:
    """What is taken of each object."""

    side: int = SIDE
    views: int = 3
    """Pictures of one object."""

    seed: int = 0
    shard_objects: int = 32


# Where pictures are taken from; ranges are drawn from evenly.
FRONT_SHARE = 0.8  # chance of a view from the front, as people photograph furniture; from all around otherwise
FRONT_AZIMUTH = 75.0  # largest turn of a view from the front, to either side [degrees]
ELEVATION = (5.0, 40.0)  # [degrees]: from a seated to a standing person's eyes
FOV = (16.0, 48.0)  # [degrees]: from a long lens to that of a telephone
MARGIN = (0.03, 0.12)  # share of the picture left free on each side
LIGHT_TURN = (-25.0, 120.0)  # of the lights against the camera [degrees]; at 48 the key light is on the camera's side
SKY_SHARE = 0.35  # chance of a picture with the shade of the sky, which takes twice the time
GROUND_SHARE = 0.5  # chance of a shadow on the ground, half transparent


@dataclass(frozen=True)
class Sitter:
    """An object that pictures are taken of; it is made only when they are."""

    name: str
    """Unique in its store: ``chair 0/12``, or the name of a file."""

    category: str
    make: Callable[[], Mesh] = field(repr=False, compare=False)


@dataclass(frozen=True)
class PictureRow:
    """What one picture of a store shows."""

    name: str
    category: str
    view: int


def draw_views(name: str, config: PictureConfig) -> list[CameraView]:
    """The views of an object."""
    out = []
    for number in range(config.views):
        rng = np.random.default_rng([config.seed, zlib.crc32(name.encode()), number])
        reach = FRONT_AZIMUTH if rng.random() < FRONT_SHARE else 180.0
        spans = ((-reach, reach), ELEVATION, FOV, MARGIN, LIGHT_TURN)
        with_sky, with_ground = rng.random(2) < (SKY_SHARE, GROUND_SHARE)
        azimuth, elevation, fov, margin, turn = (float(rng.uniform(low, high)) for low, high in spans)
        out.append(CameraView(azimuth, elevation, fov, margin, turn, bool(with_sky), bool(with_ground)))
    return out


def assembly_sitters(assemblies: Iterable[Assembly]) -> list[Sitter]:
    """Household things by their names, such as ``chair 0/12``; categories take turns.

    A store that is not finished has then as many of each.
    """
    drawn: dict[tuple[int, int], list[Sitter]] = {}
    for assembly in assemblies:
        start, _, index = assembly.name.rpartition("/")
        sitter = Sitter(assembly.name, assembly.category, partial(_make, assembly))
        drawn.setdefault((int(start.rpartition(" ")[2]), int(index)), []).append(sitter)
    return [sitter for place in sorted(drawn) for sitter in drawn[place]]


def _make(assembly: Assembly) -> Mesh:
    fresh = replace(assembly, parts=tuple(replace(part) for part in assembly.parts))  # solids are let go afterwards
    return asset_of(fresh).mesh


def file_sitters(files: Iterable[tuple[str | Path, str]], root: str | Path) -> list[Sitter]:
    """Models in files below ``root``, each with its category, named by their paths there."""
    return [Sitter(str(file), category, partial(_read, Path(root) / file)) for file, category in files]


def _read(path: Path) -> Mesh:
    return load(path).mesh


def build_pictures(
    folder: str | Path,
    sitters: Sequence[Sitter],
    config: PictureConfig | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Take pictures of all objects into a store; shards that are there already are left as they are.

    Args:
        progress: Called with the shards done and their total.

    Returns:
        How many pictures the store holds.
    """
    config, folder = config or PictureConfig(), Path(folder)
    size = config.shard_objects
    groups = [sitters[start : start + size] for start in range(0, len(sitters), size)]
    total = 0
    for number, group in enumerate(groups):
        stem = f"pictures-{number:05d}"
        if not _is_made(folder / f"{stem}.json", group, config):
            _write_shard(folder, stem, group, config)
        total += len(group) * config.views
        if progress is not None:
            progress(number + 1, len(groups))
    return total


def _is_made(path: Path, group: Sequence[Sitter], config: PictureConfig) -> bool:
    if not path.exists():
        return False
    made = json.loads(path.read_text(encoding="utf-8"))
    same = all(made["config"][name] == value for name, value in asdict(config).items())
    return same and list(dict.fromkeys(row["name"] for row in made["rows"])) == [sitter.name for sitter in group]


def _write_shard(folder: Path, stem: str, group: Sequence[Sitter], config: PictureConfig) -> None:
    pixels, rows = [], []
    for sitter in group:
        views = draw_views(sitter.name, config)
        pixels.append(take_pictures(sitter.make(), views, config.side))
        rows += [PictureRow(sitter.name, sitter.category, number) for number in range(len(views))]
    text = json.dumps({"config": asdict(config), "rows": [asdict(row) for row in rows]})
    data = io.BytesIO()
    np.save(data, np.concatenate(pixels))
    main = folder / f"{stem}.json"
    write_files(main, {main.name: text.encode(), f"{stem}.npy": data.getvalue()})


@dataclass(frozen=True, eq=False)
class PictureSet:
    """One or several stores, read a few pictures at a time."""

    rows: tuple[PictureRow, ...]
    shards: tuple[np.ndarray, ...]
    """Pictures on disk, in the order of the rows."""

    @staticmethod
    def open(*folders: str | Path) -> PictureSet:
        """
        Raises:
            NeurokError: If a folder holds no pictures.
            FormatError: If a shard is damaged.
        """
        rows: list[PictureRow] = []
        shards = []
        for folder in map(Path, folders):
            files = sorted(folder.glob("pictures-*.json"))
            if not files:
                raise NeurokError(f"'{folder}' holds no pictures (pictures-00000.json and so on); build them first.")
            for file in files:
                new, pixels = _read_shard(file)
                rows += new
                shards.append(pixels)
        return PictureSet(tuple(rows), tuple(shards))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[PictureRow, UInt8[np.ndarray, "S S 4"]]]:
        yield from zip(self.rows, (picture for shard in self.shards for picture in shard), strict=True)

    def batch(self, numbers: Sequence[int] | np.ndarray) -> UInt8[np.ndarray, "B S S 4"]:
        """The pictures of some rows."""
        ends = np.cumsum([len(shard) for shard in self.shards])
        places = np.searchsorted(ends, np.asarray(numbers), side="right")
        return np.stack(
            [
                self.shards[place][number - ends[place]]  # counted from the shard's end
                for place, number in zip(places, np.asarray(numbers), strict=True)
            ]
        )

    def of_object(self) -> dict[str, list[int]]:
        """Row numbers of every object, by its name."""
        out: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            out.setdefault(row.name, []).append(number)
        return out


def _read_shard(file: Path) -> tuple[list[PictureRow], np.ndarray]:
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        rows = [PictureRow(row["name"], row["category"], row["view"]) for row in told["rows"]]
        pixels = np.load(file.with_suffix(".npy"), mmap_mode="r")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"'{file}' is damaged ({error}); delete it and build again.") from error
    if len(pixels) != len(rows):
        raise FormatError(f"'{file}' names {len(rows)} pictures, but there are {len(pixels)}; build it again.")
    return rows, pixels
