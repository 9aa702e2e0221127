"""From pieces to bodies: the grouping networks are asked in eight views, and pieces of one body are clustered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from neurok.articulation.ensemble import VIEWS
from neurok.articulation.features import PartClouds, describe_parts, find_copies
from neurok.articulation.pieces_cut import PIECE_CLOUDS, cut_pieces, join_tiny
from neurok.articulation.pieces_network import STATIC, PieceModel
from neurok.articulation.views import stack_clouds, turned
from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.config import MOVING_PIECE
from neurok.core import Mesh


@dataclass(frozen=True)
class PieceCalibration:
    """Slope and offset that take log-odds of the network to calibrated ones, fitted on watched objects."""

    moves: tuple[float, float] = (1.0, 0.0)
    affinity: tuple[float, float] = (1.0, 0.0)
    anything: tuple[float, float] = (1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Grouper:
    """Grouping networks of one task, as they are shipped; they answer together."""

    members: tuple[PieceModel, ...]
    calibration: PieceCalibration = field(default_factory=PieceCalibration)


@dataclass(frozen=True)
class GroupConfig:
    """From answers to bodies. Chosen on watched objects."""

    moves: float = MOVING_PIECE
    """Pieces that are likelier to move than this are not of the base."""

    linked: float = 0.0
    """Clusters are joined while their mean log-odds of being one body is above this."""

    surest: float = 9.0
    """Log-odds are cut off here."""


GROUPS = GroupConfig()


@dataclass(frozen=True, eq=False)
class PieceOdds:
    """What the network says of the pieces of an object: log-odds."""

    areas: Float[np.ndarray, " P"]
    moves: Float[np.ndarray, " P"]
    """That the body of a piece moves against what carries it."""

    affinity: Float[np.ndarray, "P P"]
    """That two pieces are of one body."""

    anything: float
    """That anything moves at all."""

    copies: Int[np.ndarray, " P"] | None = None
    """Pieces of one number are copies of each other; nobody is of anybody where this is not given."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Bodies of an object; of a raw mesh the base is 0."""

    labels: Int[np.ndarray, " P"]
    """Body of each piece."""

    moves: Float[np.ndarray, " B"]
    """Log-odds that each body moves; minus infinity for what is known to be the base."""

    anything: float
    """Log-odds that anything moves."""

    @property
    def chance(self) -> float:
        """Probability that anything moves."""
        return float(1.0 / (1.0 + np.exp(-self.anything)))


@torch.no_grad()
def piece_odds(grouper: Grouper, clouds: PartClouds, views: Sequence[np.ndarray] = tuple(VIEWS)) -> PieceOdds:
    """The answers of all views and networks together."""
    shown = [turned(clouds, None, view)[0] for view in views]
    parts = stack_clouds(shown, clouds.points.shape[1], np.random.default_rng(0))
    answers, calibration = [member(parts) for member in grouper.members], grouper.calibration
    moves = torch.cat([moving_odds(some.moves) for some in answers]).mean(dim=0).numpy().astype(np.float64)
    affinity = torch.cat([some.affinity for some in answers]).mean(dim=0).numpy().astype(np.float64)
    (slope, offset), (pair_slope, pair_offset) = calibration.moves, calibration.affinity
    mean = float(torch.cat([some.anything for some in answers]).mean())
    anything = calibration.anything[0] * mean + calibration.anything[1]
    paired = pair_slope * (affinity + affinity.T) / 2 + pair_offset
    return PieceOdds(clouds.areas, slope * moves + offset, paired, anything, find_copies(clouds))


def moving_odds(logits: torch.Tensor) -> torch.Tensor:
    """Log-odds of moving from logits of standing still and of all ways to move."""
    return torch.logsumexp(logits[..., STATIC + 1 :], dim=-1) - logits[..., STATIC]


def group_pieces(odds: PieceOdds, config: GroupConfig = GROUPS) -> Groups:
    """Bodies from odds: pieces are told by their likes and their copies as well, then those that move are clustered.

    Clusters are joined, the likeliest first, while the mean of the odds of their pairs is above a threshold. If nothing
    is left of the base, the largest body is it.
    """
    count, limit = len(odds.moves), config.surest
    moves, affinity = np.clip(odds.moves, -limit, limit), np.clip(odds.affinity, -limit, limit)
    alike = 1.0 / (1.0 + np.exp(-affinity))
    np.fill_diagonal(alike, 1.0)
    weight = alike**2 * np.sqrt(odds.areas)[None]
    smooth = weight @ moves / weight.sum(axis=1)
    if odds.copies is not None:
        counts = np.bincount(odds.copies, minlength=count)
        smooth = (np.bincount(odds.copies, smooth, count) / np.maximum(counts, 1))[odds.copies]
    moving = np.flatnonzero(smooth > np.log(config.moves / (1.0 - config.moves)))
    clusters = linked_clusters(affinity, moving, config.linked)
    if len(moving) == count:
        largest = max(range(len(clusters)), key=lambda k: float(odds.areas[clusters[k]].sum()))
        clusters.pop(largest)
    labels, sure = np.zeros(count, dtype=np.int64), [-np.inf]
    for number, cluster in enumerate(clusters, start=1):
        labels[cluster] = number
        chance = np.average(1.0 / (1.0 + np.exp(-smooth[cluster])), weights=odds.areas[cluster] + 1e-12)
        sure.append(float(np.log(chance / (1.0 - chance))))
    return Groups(labels, np.array(sure), odds.anything)


def linked_clusters(affinity: Float[np.ndarray, "P P"], pieces: Int[np.ndarray, " M"], least: float) -> list[list[int]]:
    """Clusters of some pieces by average linkage: two are joined while their mean affinity is above ``least``."""
    if len(pieces) < 2:
        return [pieces.tolist()] if len(pieces) else []
    most = float(affinity.max())
    apart = squareform(most - affinity[np.ix_(pieces, pieces)], checks=False)
    owners = fcluster(linkage(apart, "average"), np.nextafter(most - least, -np.inf), "distance")
    first = sorted(set(owners.tolist()), key=owners.tolist().index)
    return [pieces[owners == owner].tolist() for owner in first]


@dataclass(frozen=True, eq=False)
class FaceGroups:
    """Bodies of a mesh by the grouping network."""

    face_bodies: Int[np.ndarray, " F"]
    """Body of each face; the base is 0."""

    groups: Groups
    face_patches: Int[np.ndarray, " F"]
    """What was looked at: connected pieces, or patches of a single surface."""

    def cuts(self, pieces: Int[np.ndarray, " F"]) -> bool:
        """Whether a body ends within one of these pieces."""
        count = int(self.face_bodies.max(initial=0)) + 1
        return len(np.unique(pieces * count + self.face_bodies)) > int(pieces.max(initial=0)) + 1

    def refined(self, pieces: Int[np.ndarray, " F"]) -> Int[np.ndarray, " F"]:
        """Pieces of which every one belongs to one body: as given, or patches where a body ends within one."""
        if not self.cuts(pieces):
            return pieces
        both = np.stack([pieces, self.face_patches], axis=1)
        return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)


def find_groups(mesh: Mesh, grouper: Grouper, config: GroupConfig = GROUPS) -> FaceGroups | None:
    """Bodies of a mesh whose parts nobody knows; nothing for a mesh of one piece."""
    pieces = cut_pieces(mesh)
    if int(pieces.max(initial=0)) == 0:
        return None
    clouds = describe_parts(label_faces(mesh, pieces), config=PIECE_CLOUDS)
    if len(clouds.parts) < 2:
        return None
    groups = group_pieces(piece_odds(grouper, clouds), config)
    of_piece = np.zeros(int(pieces.max()) + 1, dtype=np.int64)
    of_piece[clouds.parts] = groups.labels
    return FaceGroups(of_piece[pieces], groups, pieces)


def part_groups(mesh: Mesh, grouper: Grouper) -> Groups | None:
    """What the network says of the parts that a file names, each a body of its own; nothing where it sees fewer than
    two. Tiny parts do as the part they are joined to."""
    pieces = join_tiny(mesh, mesh.face_parts)
    clouds = describe_parts(label_faces(mesh, pieces), config=PIECE_CLOUDS)
    if len(clouds.parts) < 2:
        return None
    odds = piece_odds(grouper, clouds)
    of_piece = np.full(int(pieces.max()) + 1, -GROUPS.surest)
    of_piece[clouds.parts] = np.clip(odds.moves, -GROUPS.surest, GROUPS.surest)
    moves = np.full(mesh.part_count, -GROUPS.surest)
    moves[mesh.face_parts] = of_piece[pieces]
    return Groups(np.arange(mesh.part_count), moves, odds.anything)
