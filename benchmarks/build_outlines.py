"""Outlines of pictures with the lists of their objects: writes ``generation/outlines.npz``.

    python benchmarks/build_outlines.py PICTURES [--add]

Pictures are a store of generated objects: the folder ``generated`` of the cache of ``neurok train pictures``. With
``--add`` the outlines that are there are kept. Tells how often the nearest other outline is of the same category.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from neurok.catalogue.parts import Assembly
from neurok.catalogue.record import assembly_of, record_of
from neurok.generation.silhouettes import ASPECT, GRID, OUTLINES, outline_of
from neurok_lab.data.household import drawn
from neurok_lab.data.household_pictures import PictureSet


@dataclass
class Build:
    """Write the file."""

    pictures: tyro.conf.Positional[Path]
    """Folder of pictures."""

    add: bool = False
    """Keep the outlines that are there."""

    def run(self) -> None:
        known = dict(np.load(OUTLINES)) if self.add else {}
        outlines, aspects, owners, categories, lengths = (
            list(known.get(name, ())) for name in ("outlines", "aspects", "owners", "categories", "lengths")
        )
        raw = known["records"].tobytes() if known else b""
        records = [raw[end - length : end] for end, length in zip(np.cumsum(lengths), lengths, strict=True)]
        numbers: dict[str, int] = {}
        for row, picture in PictureSet.open(self.pictures):
            outline, aspect = outline_of(np.asarray(picture)[..., 3] > 127)
            outlines.append(np.round(255 * outline).astype(np.uint8))
            aspects.append(aspect)
            categories.append(row.category)
            owners.append(numbers.setdefault(row.name, len(records)))
            if owners[-1] == len(records):  # otherwise another view of an object that is there
                text = json.dumps(rounded(record_of(named(row.name))), separators=(",", ":"))
                records.append(gzip.compress(text.encode(), 9, mtime=0))
        found = [assembly_of(json.loads(gzip.decompress(record))) for record in records]
        names = sorted({part.name for one in found for part in one.parts})
        counts = np.zeros((len(found), len(names)), dtype=np.uint8)
        for number, one in enumerate(found):
            for part in one.parts:
                counts[number, names.index(part.name)] += min(part.repeat.total, 60)
        np.savez_compressed(
            OUTLINES,
            outlines=np.stack(outlines),
            aspects=np.array(aspects),
            categories=np.array(categories),
            owners=np.array(owners),
            lengths=np.array([len(record) for record in records]),
            records=np.frombuffer(b"".join(records), dtype=np.uint8),
            names=np.array(names),
            counts=counts,
        )
        some = np.random.default_rng(0).permutation(len(outlines))[:4000]
        flat = np.stack(outlines)[some].reshape(len(some), -1) / 255.0
        ratio, owner = np.array(aspects)[some], np.array(owners)[some]
        apart = np.hypot(distances(flat) / GRID, ASPECT * np.subtract.outer(ratio, ratio))
        apart[np.equal.outer(owner, owner)] = np.inf
        kinds = np.array(categories)[some]
        right, size = float((kinds[apart.argmin(axis=1)] == kinds).mean()), OUTLINES.stat().st_size / 1e6
        told = f"{len(outlines)} outlines of {len(records)} objects, {size:.1f} MB"
        print(f"{OUTLINES}: {told}; nearest other right {right:.2f}")


def named(name: str) -> Assembly:
    """The generated object of a name such as ``chair 11/12``."""
    start, _, number = name.rpartition("/")
    category, _, seed = start.rpartition(" ")
    return drawn(category, int(seed), int(number))


def distances(rows: np.ndarray) -> np.ndarray:
    squares = (rows**2).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * rows @ rows.T, 0.0))


def rounded(value: object) -> object:
    """Numbers with five digits behind the point: hundredths of a millimetre."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


if __name__ == "__main__":
    tyro.cli(Build).run()
