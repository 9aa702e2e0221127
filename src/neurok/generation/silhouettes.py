"""Which known objects a picture is most like: by the outline of what it shows, and by what the reader says of it.

Beside outlines of some thousand renders of objects lie the lists of parts of these.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from neurok.catalogue.parts import Assembly
from neurok.catalogue.record import assembly_of
from neurok.generation.picture_reader import Reading

GRID = 16
"""Cells of an outline along each side of its box."""

OUTLINES = Path(__file__).with_name("outlines.npz")
ASPECT = 0.5  # what the logarithm of height over width counts beside the outline
DOUBT = 0.1
"""What a nat of the reader's doubt that an object is of a category counts beside the outline: with 0.02 outlines
overrule the category (``benchmarks/weigh_outlines.py``)."""

LISTED = 0.003
"""What a nat of doubt about parts and their counts counts; more hurts real models, whose parts are named otherwise."""

LEAST = 1e-5
"""Least probability of a category that is believed, and of presence or absence of a part with ``PRESENCE``."""

PRESENCE = 0.02


@dataclass(frozen=True)
class Ranked:
    """A known object, how far it is from what is seen, and what of that is the reader's doubt."""

    number: int
    cost: float
    disbelief: float


@dataclass(frozen=True, eq=False)
class Outlines:
    """Outlines of known objects, and the lists of these."""

    outlines: UInt8[np.ndarray, "N G G"]
    aspects: Float[np.ndarray, " N"]
    categories: list[str]
    owners: Int[np.ndarray, " N"]
    """Which object each is a view of."""

    records: list[bytes]
    """Of the objects: JSON, compressed."""

    names: tuple[str, ...]
    counts: UInt8[np.ndarray, "O P"]
    """How many parts of each name the objects have."""

    def apart(self, mask: Bool[np.ndarray, "H W"]) -> Float[np.ndarray, " N"]:
        """How far the outline of a mask is from each."""
        outline, aspect = outline_of(mask)
        apart = np.linalg.norm((self.outlines / 255.0 - outline).reshape(len(self.outlines), -1), axis=1) / GRID
        return np.asarray(np.hypot(apart, ASPECT * (self.aspects - aspect)))

    def disbelief(self, reading: Reading, likely: Mapping[str, float]) -> Float[np.ndarray, " N"]:
        """What the reader has against each: its category, its parts and their counts."""
        doubt = np.array([-np.log(max(likely.get(category, 0.0), LEAST)) for category in self.categories])
        there = np.array([reading.present.get(name, PRESENCE) for name in self.names]).clip(PRESENCE, 1.0 - PRESENCE)
        many = np.log([reading.counts.get(name, 1.0) for name in self.names])
        has = (self.counts > 0).astype(float)
        listed = -(has @ np.log(there) + (1.0 - has) @ np.log(1.0 - there))
        listed += (np.abs(np.log(np.maximum(self.counts, 1)) - many) * has) @ there
        return np.asarray(DOUBT * doubt + LISTED * listed[self.owners])

    def ranked(
        self, mask: Bool[np.ndarray, "H W"] | None, reading: Reading, likely: Mapping[str, float]
    ) -> list[Ranked]:
        """Objects, the best first; no mask says nothing about the outline."""
        disbelief = self.disbelief(reading, likely)
        cost = disbelief + (0.0 if mask is None else self.apart(mask))
        best: dict[int, Ranked] = {}
        for view in np.argsort(cost, kind="stable"):
            number = int(self.owners[view])
            best.setdefault(number, Ranked(number, float(cost[view]), float(disbelief[view])))
        return list(best.values())

    def object(self, number: int) -> Assembly:
        """One of the known objects."""
        return assembly_of(json.loads(gzip.decompress(self.records[number])))


@cache
def known_outlines() -> Outlines:
    """Those that are shipped."""
    with np.load(OUTLINES) as file:
        ends = np.cumsum(file["lengths"])
        raw = file["records"].tobytes()
        records = [raw[end - length : end] for end, length in zip(ends, file["lengths"], strict=True)]
        plain = (file["outlines"], file["aspects"], file["categories"].tolist(), file["owners"], records)
        return Outlines(*plain, tuple(file["names"].tolist()), file["counts"])


def outline_of(mask: Bool[np.ndarray, "H W"]) -> tuple[Float[np.ndarray, "G G"], float]:
    """How much of each cell of its box an object fills, and the logarithm of height over width."""
    if not mask.any():
        return np.zeros((GRID, GRID)), 0.0
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    ends = [np.linspace(0, side, GRID + 1) for side in box.shape]
    sums = np.pad(box.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    lines = np.stack([np.interp(ends[0], np.arange(len(sums)), column) for column in sums.T], axis=1)
    cells = np.stack([np.interp(ends[1], np.arange(lines.shape[1]), row) for row in lines])
    filled = np.diff(np.diff(cells, axis=0), axis=1) * GRID**2 / box.size
    return np.clip(filled, 0.0, 1.0), float(np.log(box.shape[0] / box.shape[1]))
