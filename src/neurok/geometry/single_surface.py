"""Pieces melted into one surface, as a scan, a sculpt or a generator of shapes would have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage
from scipy.spatial import cKDTree

from neurok.geometry.decimate import decimate
from neurok.geometry.level_set import level_set
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.geometry.voxels import shell_grid


@dataclass(frozen=True)
class MeltConfig:
    """How fine the surface is. By eye."""

    cells: int = 64
    """Cells along the longest side: what is nearer than one grows together."""

    blur: float = 0.7
    """Standard deviation by which creases are rounded [cells] ..."""

    thin: float = 0.6
    """... but a cell of the object never falls below this occupancy (the surface is at 0.5): legs and sheets stay."""

    faces: int = 5_000
    """Faces that are left of it."""

    samples: int = 40_000
    """Places of the old surface that the new faces are compared with."""


MELT = MeltConfig()


def melted(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    config: MeltConfig = MELT,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, " G"]]:
    """The outside of everything within half a cell of the surface, filled where nothing gets in, and the nearest old
    face of each new one."""
    used = vertices[faces.reshape(-1)]
    low, high = used.min(axis=0), used.max(axis=0)
    cell = max(float((high - low).max()), 1e-12) / config.cells
    low = low - 3.5 * cell
    shape = tuple(int(n) for n in np.ceil((high - low) / cell).astype(int) + 4)
    full = ndimage.binary_fill_holes(shell_grid(vertices, faces, low, cell, shape))
    rounded = ndimage.gaussian_filter(full.astype(np.float64), config.blur)
    values = 0.5 - np.maximum(rounded, config.thin * full)
    middle = low + 0.5 * cell
    points, triangles = level_set(values, middle, middle + cell * (np.array(shape) - 1.0))
    if len(triangles) > config.faces:
        points, triangles = decimate(points, triangles, config.faces)[:2]
    areas = face_areas(vertices, faces)
    count = int(config.samples)
    samples = sample_surface(vertices, faces, count, np.random.default_rng(0) if rng is None else rng)
    places, owners = samples.interpolate(vertices), samples.face_ids
    small = np.flatnonzero(areas > 0)
    places = np.concatenate([places, vertices[faces[small]].mean(axis=1)])
    owners = np.concatenate([owners, small])
    return points, triangles, owners[cKDTree(places).query(points[triangles].mean(axis=1))[1]]
