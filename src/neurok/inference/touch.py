"""What touch says of motion: parts of an object rarely leave what they hang on.

The prior of the network is blind to the exact geometry at hand. Here it is conditioned on narrow contacts between
connected components, at a point or along a line, as of hinges, axles and ears: a motion is the less likely the faster
it parts them. Wide contacts have no say: a lid lies on its pot to be lifted, a drawer shuts against its frame to be
drawn. Nor have those that the prior parts anyway, as the free edge of a door.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.handles import Handles
from neurok.geometry.sampling import sample_surface

SAMPLES = 6000
NEAR = 0.02
"""Surfaces this close touch, as a share of the size."""

MOST = 40
"""Contacts of one pair of components that are looked at."""

TIGHT = 0.02
"""How far a contact that holds may part at one standard deviation, as a share of the size."""

TOGETHER = 0.3
"""Components that touch are one body if what parts them is less than this share of what they move by ..."""

LIKELY_TOGETHER = 0.7
"""... and for sampling and moving this: a pane that leaves its frame is worse than one that cannot."""

NARROW = 0.3
"""Contacts are narrow if they spread across less than this share of what moves there."""

LOOSE = 0.1
"""Contacts that part by more than this hold no longer."""

ROUNDS = 2
"""More would hold ever more contacts, since each makes others part less."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """Points of the surface that touch another component, with a partner there, by pair of components."""

    handles: Handles
    size: float
    points: Float[np.ndarray, "2 P 3"]
    owners: Int[np.ndarray, "2 P"]
    """Components of the points and of their partners."""

    pairs: tuple[Int[np.ndarray, " _"], ...]
    """Rows of the contacts of each pair of components."""

    @staticmethod
    def of(mesh: Mesh, handles: Handles, seed: int = 0) -> Contacts:
        """Find them on samples of the surface; components are the groups of the handles."""
        samples = sample_surface(mesh.vertices, mesh.faces, SAMPLES, np.random.default_rng(seed))
        points, owners = samples.interpolate(mesh.vertices), handles.face_groups[samples.face_ids]
        gaps, near = cKDTree(points).query(points, k=12, distance_upper_bound=NEAR * mesh.size)
        found = np.isfinite(gaps) & (owners[np.minimum(near, len(points) - 1)] != owners[:, None])
        first = np.flatnonzero(found.any(axis=1))
        other = near[first, found[first].argmax(axis=1)]
        both = np.stack([owners[first], owners[other]])
        _, which = np.unique(np.sort(both, axis=0), axis=1, return_inverse=True)
        rows = [np.flatnonzero(which.reshape(-1) == pair) for pair in range(int(which.max(initial=-1)) + 1)]
        return Contacts(
            handles,
            mesh.size,
            np.stack([points[first], points[other]]),
            both,
            tuple(members[:: max(1, len(members) // MOST)] for members in rows),
        )

    def speeds(self, slopes: Float[np.ndarray, "D K 3"]) -> Float[np.ndarray, "2 P D 3"]:
        """How fast the points and their partners move with each coordinate, for a size of one."""
        each = slopes.reshape(len(slopes), -1, 4, 3)
        out = []
        for points, owners in zip(self.points, self.owners, strict=True):
            index, weight = self.handles.weights(points, owners)
            lifted = np.concatenate([points, np.ones((len(points), 1))], axis=1)
            out.append(np.einsum("dpkrc,pk,pr->pdc", each[:, index], weight, lifted, optimize=True) / self.size)
        return np.stack(out)

    def partings(self, slopes: Float[np.ndarray, "D K 3"]) -> list[Float[np.ndarray, "_ D"]]:
        """For each pair of components that touch narrowly: how fast every coordinate parts their contacts."""
        speeds = self.speeds(slopes)
        parting = (speeds[0] - speeds[1]).swapaxes(1, 2)
        return [parting[rows].reshape(-1, parting.shape[2]) for rows in self.pairs if self._is_narrow(rows, speeds)]

    def _is_narrow(self, rows: Int[np.ndarray, " _"], speeds: Float[np.ndarray, "2 P D 3"]) -> bool:
        """Whether contacts lie along a line at most, measured by the component that moves more."""
        faster = int((speeds[:, rows] ** 2).sum(axis=(1, 2, 3)).argmax())
        body = self.handles.centers[self.handles.groups == self.owners[faster, rows[0]]]
        return bool(_breadth(self.points[faster, rows]) < NARROW * max(_breadth(body), 0.1 * self.size))

    def companions(self, slopes: Float[np.ndarray, "D K 3"], apart_by: float = TOGETHER) -> list[tuple[int, int]]:
        """Pairs of components that touch and part by less than a share of what they move at all."""
        speeds = self.speeds(slopes)
        apart = ((speeds[0] - speeds[1]) ** 2).sum(axis=(1, 2))
        way = 0.5 * (speeds**2).sum(axis=(0, 2, 3))
        as_one = [rows for rows in self.pairs if apart[rows].mean() < apart_by**2 * way[rows].mean()]
        return [(int(self.owners[0, rows[0]]), int(self.owners[1, rows[0]])) for rows in as_one]


def _breadth(points: Float[np.ndarray, "_ 3"]) -> float:
    """Spread of points along their second main direction."""
    return (
        float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1]) / len(points) ** 0.5
        if len(points) > 1
        else 0.0
    )


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
