"""As-rigid-as-possible registration: cells stay as rigid as they can while the surface is pulled to the target."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.errors import require
from neurok.geometry.cells import Cells, Pulls, cells_of, sample_rows
from neurok.geometry.decimate import decimate
from neurok.geometry.sampling import sample_surface
from neurok.geometry.topology import face_components, vertex_labels
from neurok.geometry.transfer import Transfer

MAX_FACES = 5000


def rigid_cells_icp(
    rest: Mesh,
    target: Float[np.ndarray, "N 3"],
    rng: np.random.Generator,
    rounds: int = 40,
    count: int = 2500,
    pull: tuple[float, float] = (0.002, 0.2),
    trust: tuple[float, float] = (0.5, 0.05),
) -> Float[np.ndarray, "V 3"]:
    """Closest points in both directions pull on surface samples, ever harder, and far pairs are trusted ever less.

    Works on a coarser mesh with libigl's cotangent weights; neighbouring components are loosely tied. ``pull`` and
    ``trust`` (a distance in the unit box) go from their first value to their second.
    """
    groups = face_components(rest.vertices, rest.faces, rest.face_surfaces)
    coarse, faces, face_groups = decimate(rest.vertices, rest.faces, MAX_FACES, groups)
    cells = make_cells(coarse, faces, face_groups)
    samples = sample_surface(coarse, faces, count, rng)
    thin, tree = target[rng.permutation(len(target))[:count]], cKDTree(target)
    x = coarse.copy()
    for strength, reach in zip(np.geomspace(*pull, rounds), np.geomspace(*trust, rounds)):
        points = samples.interpolate(x)
        forward, near = tree.query(points)
        backward, owner = cKDTree(points).query(thin)
        away = np.concatenate([forward, backward])
        weight = strength / (1.0 + (away / reach) ** 2) / count
        select = sample_rows(samples, np.concatenate([np.arange(len(points)), owner]), len(coarse))
        x = cells.relaxed(x, Pulls(select, np.concatenate([target[near], thin]), weight))
    owners = vertex_labels(rest.faces, groups, rest.vertex_count)
    return Transfer.between(coarse, faces, rest.vertices, face_groups, owners)(x)


def make_cells(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], face_groups: Int[np.ndarray, " F"]
) -> Cells:
    """Cells with libigl's cotangents."""
    require("igl", "peers")
    import igl

    return cells_of(igl.cotmatrix(vertices, faces), vertices, faces, face_groups)
