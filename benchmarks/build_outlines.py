"""Outlines of pictures with the lists of their objects: writes ``generation/outlines.npz``.

    python benchmarks/build_outlines.py STORE PICTURES [--add]

Both are made by ``neurok data household --out STORE --pictures PICTURES``. With ``--add`` the outlines that are there
are kept. Tells how often the nearest other outline is of the same category.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

from neurok.catalogue.record import record_of
from neurok.generation.framing import on_plain
from neurok.generation.silhouettes import ASPECT, OUTLINES, known_outlines, outline_of
from neurok_lab.data.household import read_households
from neurok_lab.data.household_pictures import PictureSet


@dataclass
class Build:
    """Write the file."""

    store: tyro.conf.Positional[Path]
    """Folder of objects."""

    pictures: tyro.conf.Positional[Path]
    """Folder of their pictures."""

    add: bool = False
    """Keep the outlines that are there."""

    def run(self) -> None:
        objects = {one.name: one for one in read_households(self.store)}
        found = [(row.name, picture) for row, picture in PictureSet.open(self.pictures) if row.name in objects]
        known = known_outlines() if self.add else None
        outlines = [] if known is None else list(known.outlines)
        aspects = [] if known is None else known.aspects.tolist()
        records = [] if known is None else list(known.records)
        owners = [] if known is None else known.owners.tolist()
        numbers: dict[str, int] = {}
        for name, picture in found:
            plain = on_plain(torch.from_numpy(np.array(picture))[None])[0].permute(1, 2, 0).double().numpy()
            outline, aspect = outline_of(plain)
            outlines.append(np.round(255 * outline).astype(np.uint8))
            aspects.append(aspect)
            owners.append(numbers.setdefault(name, len(records)))
            if owners[-1] < len(records):  # another view of an object that is there
                continue
            text = json.dumps(rounded(record_of(objects[name])), separators=(",", ":"))
            records.append(gzip.compress(text.encode(), 9, mtime=0))
        categories = np.array([
            *([] if known is None else known.categories), *(objects[name].category for name, _ in found)
        ])  # fmt: skip
        np.savez_compressed(
            OUTLINES,
            outlines=np.stack(outlines),
            aspects=np.array(aspects),
            categories=categories,
            owners=np.array(owners),
            lengths=np.array([len(record) for record in records]),
            records=np.frombuffer(b"".join(records), dtype=np.uint8),
        )
        flat = np.stack(outlines).reshape(len(outlines), -1) / 255.0
        apart = distances(flat) / 16
        apart = np.hypot(apart, ASPECT * np.subtract.outer(np.array(aspects), np.array(aspects)))
        apart[np.equal.outer(owners, owners)] = np.inf
        right = float((categories[apart.argmin(axis=1)] == categories).mean())
        size = OUTLINES.stat().st_size / 1e6
        print(f"{OUTLINES}: {len(outlines)} outlines, {size:.1f} MB; nearest other right {right:.2f}")


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
