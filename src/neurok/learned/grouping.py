"""From pieces to bodies: the grouping networks are asked in eight views, and pieces of one body are clustered.

Pieces are connected components, few enough and none too tiny. A mesh that is one surface, or nearly so (scans, sculpts,
shapes made by generators), is cut into patches along its creases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree
from scipy.spatial.distance import squareform

from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.config import MOVING_PIECE
from neurok.bodyplan.plan import connected_pieces
from neurok.core import Mesh
from neurok.geometry.decimate import decimate
from neurok.geometry.operators import face_areas
from neurok.geometry.patches import cut_patches
from neurok.learned.ensemble import VIEWS
from neurok.learned.grouping_network import STATIC, PieceConfig, PieceModel
from neurok.learned.joint_network import JointConfig
from neurok.learned.part_features import CloudConfig, PartClouds, describe_parts, find_copies
from neurok.learned.part_views import stack_clouds, turned
from neurok.learned.task import Task, members_of, odds_in

PIECE_CLOUDS = CloudConfig(points=96, view_points=96, dense_points=12_000, frame_only=True)
"""What the grouping network sees of each piece; many pieces need fewer points than few parts. Trained with."""

# Which components count as pieces. Trained with; buttons are lost if more is joined.
SEEN_PIECES = 64  # Pieces at most: attention grows with their square.
LEAST_AREA = 2e-4  # A component is tiny if it has less of the surface than this ...
LEAST_SIZE = 0.012  # ... and its box is smaller than this [diagonals of the object].
SIZE_WEIGHT = 0.2  # Where there are too many, those are kept that have most area, plus this times their squared size.
SINGLE_SHARE = 0.995  # A component with more of the surface than this is a single surface, and cut into patches ...
FINEST_FACES = 8_000  # ... after it was reduced to so many faces, if it has more: noise has creases, too.

# From answers to bodies. Chosen on watched objects.
LINKED = 0.0  # Clusters are joined while their mean log-odds of being one body is above this.
SUREST = 9.0  # Log-odds are cut off here.
SAME_OFFSET = 0.03  # Offsets that differ by less are the same [unit box]: as far as samples of a small piece may err.


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

    centers: Float[np.ndarray, "P 3"] | None = None
    """Middle of each piece [unit box]."""


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
    centers = 0.5 * (clouds.points.min(axis=1) + clouds.points.max(axis=1))
    return PieceOdds(clouds.areas, slope * moves + offset, paired, anything, find_copies(clouds), centers)


def moving_odds(logits: torch.Tensor) -> torch.Tensor:
    """Log-odds of moving from logits of standing still and of all ways to move."""
    return torch.logsumexp(logits[..., STATIC + 1 :], dim=-1) - logits[..., STATIC]


def group_pieces(odds: PieceOdds) -> Groups:
    """Bodies from odds: pieces are told by their likes and their copies as well, then those that move are clustered.

    Clusters are joined, the likeliest first, while the mean of the odds of their pairs is above a threshold. If nothing
    is left of the base, the largest body is it.
    """
    count, limit = len(odds.moves), SUREST
    moves, affinity = np.clip(odds.moves, -limit, limit), np.clip(odds.affinity, -limit, limit)
    alike = 1.0 / (1.0 + np.exp(-affinity))
    np.fill_diagonal(alike, 1.0)
    weight = alike**2 * np.sqrt(odds.areas)[None]
    smooth = weight @ moves / weight.sum(axis=1)
    if odds.copies is not None:
        counts = np.bincount(odds.copies, minlength=count)
        smooth = (np.bincount(odds.copies, smooth, count) / np.maximum(counts, 1))[odds.copies]
    moving = np.flatnonzero(smooth > np.log(MOVING_PIECE / (1.0 - MOVING_PIECE)))
    clusters = linked_clusters(affinity, moving, LINKED)
    if odds.copies is not None and odds.centers is not None:
        clusters = share_among_copies(clusters, odds.areas, odds.copies, odds.centers)
    if len(moving) == count:
        largest = max(range(len(clusters)), key=lambda k: float(odds.areas[clusters[k]].sum()))
        clusters.pop(largest)
    labels, sure = np.zeros(count, dtype=np.int64), [-np.inf]
    for number, cluster in enumerate(clusters, start=1):
        labels[cluster] = number
        chance = np.average(1.0 / (1.0 + np.exp(-smooth[cluster])), weights=odds.areas[cluster] + 1e-12)
        sure.append(float(np.log(chance / (1.0 - chance))))
    return Groups(labels, np.array(sure), odds.anything)


def share_among_copies(
    clusters: list[list[int]],
    areas: Float[np.ndarray, " P"],
    copies: Int[np.ndarray, " P"],
    centers: Float[np.ndarray, "P 3"],
) -> list[list[int]]:
    """The clusters of which copies are made up alike: if the upper doors are two bodies with two hinges each, so are
    the lower ones.

    The largest piece of a cluster is its core. Where it is the only one of its kind in some cluster, and never a mere
    detail, every copy of it is the core of a cluster of its own. Pieces join a core if copies of them stand to half of
    such cores in the same way (or as in a mirror) and go with them; what is left of a cluster that falls apart goes
    with the nearest.
    """
    cores = [max(cluster, key=lambda piece: float(areas[piece])) for cluster in clusters]
    single = {core: set(c) for core, c in zip(cores, clusters, strict=True) if np.sum(copies[c] == copies[core]) == 1}
    owner = np.full(len(copies), -1)
    for cluster, core in zip(clusters, cores, strict=True):
        owner[cluster] = core
    carried = {int(copies[p]) for p in np.flatnonzero(owner >= 0) if copies[owner[p]] != copies[p]}
    for kind in sorted({int(copies[core]) for core in single} - carried):
        known = [core for core in single if copies[core] == kind]
        seeds = np.flatnonzero((copies == kind) & (owner >= 0))
        if len(seeds) < 2:
            continue
        offsets = np.abs(centers[:, None] - centers[seeds])
        votes: dict[tuple[int, ...], int] = {}
        for seed in known:
            column = int(np.flatnonzero(seeds == seed)[0])
            for key in {_place(int(copies[p]), offsets[p, column]) for p in single[seed] if p != seed}:
                votes[key] = votes.get(key, 0) + 1
        broken = {int(owner[seed]) for seed in seeds if owner[seed] != seed}
        for piece in range(len(copies)):
            if copies[piece] == kind:
                owner[piece] = piece if owner[piece] >= 0 else -1
                continue
            order = np.argsort(np.linalg.norm(offsets[piece], axis=1), kind="stable")
            told = [k for k in order if 2 * votes.get(_place(int(copies[piece]), offsets[piece, k]), 0) >= len(known)]
            if told and (owner[piece] in (-1, piece) or copies[owner[piece]] == kind):
                owner[piece] = seeds[told[0]]
            elif int(owner[piece]) in broken:
                owner[piece] = seeds[order[0]]
    return [np.flatnonzero(owner == core).tolist() for core in dict.fromkeys(owner[owner >= 0].tolist())]


def _place(copy: int, offset: Float[np.ndarray, "3"]) -> tuple[int, ...]:
    """Which shape stands where."""
    return (copy, *np.round(offset / SAME_OFFSET).astype(int).tolist())


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


def find_groups(mesh: Mesh, grouper: Grouper) -> FaceGroups | None:
    """Bodies of a mesh whose parts nobody knows; nothing for a mesh of one piece."""
    pieces = cut_pieces(mesh)
    if int(pieces.max(initial=0)) == 0:
        return None
    clouds = describe_parts(label_faces(mesh, pieces), config=PIECE_CLOUDS)
    if len(clouds.parts) < 2:
        return None
    groups = group_pieces(piece_odds(grouper, clouds))
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
    of_piece = np.full(int(pieces.max()) + 1, -SUREST)
    of_piece[clouds.parts] = np.clip(odds.moves, -SUREST, SUREST)
    moves = np.full(mesh.part_count, -SUREST)
    moves[mesh.face_parts] = of_piece[pieces]
    return Groups(np.arange(mesh.part_count), moves, odds.anything)


def cut_pieces(mesh: Mesh) -> Int[np.ndarray, " F"]:
    """A piece for each face, numbered from 0: components of the plan, tiny ones and too many joined to the nearest, or
    patches where nearly all of the mesh is one component."""
    return join_tiny(mesh, cut_single(mesh, connected_pieces(mesh)))


def is_single_surface(mesh: Mesh) -> bool:
    """Whether nearly all of a mesh is one component."""
    areas = np.bincount(connected_pieces(mesh), face_areas(mesh.vertices, mesh.faces))
    return bool(areas.max(initial=0.0) > SINGLE_SHARE * areas.sum())


def cut_single(mesh: Mesh, labels: Int[np.ndarray, " F"]) -> Int[np.ndarray, " F"]:
    """The same pieces, but a single surface in patches; numbered by first appearance."""
    areas = face_areas(mesh.vertices, mesh.faces)
    share = np.bincount(labels, areas) / max(float(areas.sum()), 1e-300)
    largest = int(share.argmax()) if len(share) else 0
    if not len(share) or share[largest] <= SINGLE_SHARE:
        return labels
    mine = np.flatnonzero(labels == largest)
    faces = mesh.faces[mine]
    if len(faces) <= FINEST_FACES:
        patches = cut_patches(mesh.vertices, faces)
    else:
        coarse, triangles, _ = decimate(mesh.vertices, faces, FINEST_FACES)
        near = cKDTree(coarse[triangles].mean(axis=1)).query(mesh.vertices[faces].mean(axis=1))[1]
        patches = cut_patches(coarse, triangles)[near]
    out = labels.copy()
    out[mine] = len(share) + patches
    first = np.unique(out, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first[1]))
    return np.asarray(rank[first[2].reshape(-1)])


def join_tiny(mesh: Mesh, labels: Int[np.ndarray, " F"]) -> Int[np.ndarray, " F"]:
    """The same pieces without the tiny ones, and at most so many."""
    count = int(labels.max(initial=0)) + 1
    if count == 1:
        return labels
    corners, areas = mesh.vertices[mesh.faces], face_areas(mesh.vertices, mesh.faces)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, labels, corners.min(axis=1))
    np.maximum.at(high, labels, corners.max(axis=1))
    diagonal = max(float(np.linalg.norm(high.max(axis=0) - low.min(axis=0))), 1e-300)
    size = np.linalg.norm(high - low, axis=1) / diagonal
    share = np.bincount(labels, areas, count) / max(float(areas.sum()), 1e-300)
    score = share + SIZE_WEIGHT * size**2
    kept = np.flatnonzero((share >= LEAST_AREA) | (size >= LEAST_SIZE))
    if len(kept) == 0:
        kept = np.array([int(score.argmax())])
    kept = kept[np.argsort(-score[kept], kind="stable")][:SEEN_PIECES]
    target = _nearest_kept(corners, labels, np.isin(np.arange(count), kept), diagonal)
    return np.unique(target[labels], return_inverse=True)[1].reshape(-1)


def _nearest_kept(
    corners: Float[np.ndarray, "F 3 3"], labels: Int[np.ndarray, " F"], is_kept: np.ndarray, diagonal: float
) -> Int[np.ndarray, " P"]:
    """For each piece itself if it is kept, or the kept piece that most of its faces are nearest to."""
    target = np.arange(len(is_kept))
    if is_kept.all():
        return target
    mine = np.flatnonzero(is_kept[labels])
    # Corners and middles: large faces have few of either, but what is tiny sits near some of them.
    places = np.concatenate([corners[mine].reshape(-1, 3), corners[mine].mean(axis=1)])
    owners = np.concatenate([np.repeat(labels[mine], 3), labels[mine]])
    others = np.flatnonzero(~is_kept[labels])
    gaps, near = cKDTree(places).query(corners[others].mean(axis=1))
    votes = np.zeros((len(is_kept), len(is_kept)))
    np.add.at(votes, (labels[others], owners[near]), np.exp(-gaps / (0.01 * diagonal)) + 1e-12)
    return np.where(is_kept, target, votes.argmax(axis=1))


def _build(card: dict[str, Any]) -> Grouper:
    configs = [{**config, "encoder": JointConfig(**config["encoder"])} for config in card["piece_members"]]
    members = tuple(PieceModel(PieceConfig(**config)) for config in configs)
    return Grouper(members, PieceCalibration(**odds_in(card["piece_calibration"])))


def _describe(model: Any) -> dict[str, Any] | None:
    if not isinstance(model, Grouper):
        return None
    members = [asdict(member.config) for member in model.members]
    return {"piece_members": members, "piece_calibration": asdict(model.calibration)}


TASK = Task(_build, _describe, members_of)
