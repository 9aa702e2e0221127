"""What touch says of motion: parts of an object rarely leave what they touch, nor sink into it.

The prior of the network is blind to the exact geometry at hand. Here it is conditioned on the contacts between
connected components: a motion is the less likely the faster it parts surfaces that touch, along their normal, so that
sliding is free. Contacts that the prior parts anyway, as the free edge of a door does, have little say.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.handles import Handles
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface

SAMPLES = 6000
NEAR = 0.02
"""Surfaces this close touch, as a share of the size."""

MOST = 40
"""Contacts of one pair of components that are looked at."""

TIGHT = 0.015
"""How far a contact that holds may part at one standard deviation, as a share of the size."""

LOOSE = 0.1
"""Contacts that part by more than this hold no longer."""

ROUNDS = 2
"""More would hold ever more contacts, since each makes others part less."""


def contact_rows(
    mesh: Mesh, handles: Handles, slopes: Float[np.ndarray, "D K 3"], seed: int = 0
) -> list[Float[np.ndarray, "_ D"]]:
    """For each pair of components that touch: how fast every coordinate parts its contacts, for a size of one.

    Args:
        mesh: The object at rest.
        handles: Of the mesh; their groups are the components.
        slopes: Derivatives of the transforms of the handles by the coordinates.
        seed: Of the samples of the surface.
    """
    samples = sample_surface(mesh.vertices, mesh.faces, SAMPLES, np.random.default_rng(seed))
    points, owners = samples.interpolate(mesh.vertices), handles.face_groups[samples.face_ids]
    gaps, near = cKDTree(points).query(points, k=12, distance_upper_bound=NEAR * mesh.size)
    found = np.isfinite(gaps) & (owners[np.minimum(near, len(points) - 1)] != owners[:, None])
    first = np.flatnonzero(found.any(axis=1))
    other = near[first, found[first].argmax(axis=1)]
    normals = face_normals(mesh.vertices, mesh.faces)[samples.face_ids[first]]
    speeds = [_speeds(handles, points[rows], owners[rows], slopes) for rows in (first, other)]
    parting = np.einsum("pdc,pc->pd", speeds[0] - speeds[1], normals) / mesh.size
    pairs = np.sort(np.stack([owners[first], owners[other]], axis=1), axis=1)
    _, which = np.unique(pairs, axis=0, return_inverse=True)
    out = []
    for pair in range(int(which.max(initial=-1)) + 1):
        members = np.flatnonzero(which == pair)
        out.append(parting[members[:: max(1, len(members) // MOST)]])
    return out


def _speeds(
    handles: Handles,
    points: Float[np.ndarray, "P 3"],
    owners: Int[np.ndarray, " P"],
    slopes: Float[np.ndarray, "D K 3"],
) -> Float[np.ndarray, "P D 3"]:
    """How points move with each coordinate."""
    index, weight = handles.weights(points, owners)
    each = slopes.reshape(len(slopes), -1, 4, 3)[:, index]
    lifted = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    return np.einsum("dpkrc,pk,pr->pdc", each, weight, lifted, optimize=True)


def held(contacts: list[Float[np.ndarray, "_ D"]], dim: int) -> Float[np.ndarray, "D D"]:
    """Covariance of N(0, I) given that contacts hold; rounds of reweighting decide which ones do."""
    covariance: np.ndarray = np.eye(dim)
    for _ in range(ROUNDS):
        precision = np.eye(dim)
        for rows in contacts:
            parted = np.einsum("pd,de,pe->p", rows, covariance, rows)
            trust = 1.0 / (1.0 + parted / LOOSE**2) ** 2
            precision += (rows * trust[:, None]).T @ rows / (len(rows) * TIGHT**2)
        covariance = np.linalg.inv(precision)
    return covariance
