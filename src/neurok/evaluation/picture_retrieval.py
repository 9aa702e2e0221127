"""What pictures are compared with: the object of a store whose picture is nearest, by its colours or by its outline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8

from neurok.data.household import drawn
from neurok.data.household_pictures import PictureSet
from neurok.data.picture_augmentation import on_plain
from neurok.families.household.parts import Assembly


@dataclass(frozen=True)
class RetrievalConfig:
    """How pictures are compared."""

    cells: int = 14
    """Along the side of a picture whose mean colours are compared."""

    outline: int = 16
    """Cells of an outline along each side of the object's box."""

    aspect: float = 0.5
    """What the logarithm of height over width counts beside the outline."""


RETRIEVAL = RetrievalConfig()


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Pictures of known objects: what a network has to beat."""

    names: list[str]
    colours: Float[np.ndarray, "N C"]
    outlines: Float[np.ndarray, "N O"]

    @staticmethod
    def open(folder: Path) -> Retrieval:
        """All pictures of a store."""
        rows, pictures = zip(*PictureSet.open(folder), strict=True)
        return Retrieval(
            [row.name for row in rows],
            np.stack([colours_of(np.asarray(one)) for one in pictures]),
            np.stack([outline_of(np.asarray(one)[..., 3] > 127) for one in pictures]),
        )

    def by_colours(self, picture: UInt8[np.ndarray, "S S 4"]) -> Assembly:
        """The object whose picture has the most similar colours at the same places."""
        return self._object(self.colours - colours_of(picture))

    def by_outline(self, picture: UInt8[np.ndarray, "S S 4"]) -> Assembly:
        """The object whose outline is nearest."""
        return self._object(self.outlines - outline_of(picture[..., 3] > 127))

    def _object(self, apart: Float[np.ndarray, "N F"]) -> Assembly:
        category, _, numbers = self.names[int(np.linalg.norm(apart, axis=1).argmin())].rpartition(" ")
        seed, index = numbers.split("/")
        return drawn(category, int(seed), int(index))


def colours_of(picture: UInt8[np.ndarray, "S S 4"]) -> Float[np.ndarray, " C"]:
    """Mean colours of coarse cells, on a plain background."""
    plain = on_plain(torch.from_numpy(np.array(picture))[None])
    return torch.nn.functional.adaptive_avg_pool2d(plain, RETRIEVAL.cells).flatten().numpy()


def outline_of(mask: Bool[np.ndarray, "S S"]) -> Float[np.ndarray, " O"]:
    """How much of each cell of its box an object fills, and the logarithm of height over width; weighed."""
    cells = RETRIEVAL.outline
    if not mask.any():
        return np.zeros(cells**2 + 1)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    ends = [np.linspace(0, side, cells + 1) for side in box.shape]
    sums = np.pad(box.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    lines = np.stack([np.interp(ends[0], np.arange(len(sums)), column) for column in sums.T], axis=1)
    grid = np.stack([np.interp(ends[1], np.arange(lines.shape[1]), row) for row in lines])
    filled = np.clip(np.diff(np.diff(grid, axis=0), axis=1) * cells**2 / box.size, 0.0, 1.0)
    return np.append(filled / cells, RETRIEVAL.aspect * np.log(box.shape[0] / box.shape[1]))
