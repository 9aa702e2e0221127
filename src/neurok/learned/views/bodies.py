"""From votes to bodies: points of one body put together, faces labelled by them, and what each body is said to do.

Grouping is a multicut: spots of the surface are nodes, what views say of pairs of cells are signed edges, and the base
is a node of its own that everything hangs on by how surely it stands still. Edges are contracted, the strongest sum
first, while any is positive (greedy additive edge contraction; Keuper et al., 2015).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix
from scipy.spatial import cKDTree

from neurok.core import Mesh
from neurok.geometry.operators import face_areas, face_normals
from neurok.geometry.patches import edge_bends
from neurok.learned.views.sight import Votes


@dataclass(frozen=True)
class GroupingConfig:
    """How votes become bodies. Chosen on held-out objects of the packs."""

    spot: float = 0.045
    """Votes within a cube of this side whose normals point alike are one node [sizes of the object]."""

    still: float = 1.0
    """What the log-odds of standing still count beside those of being of one body."""

    boxes: float = 2.0
    """What it counts that two nodes tell of the same box ..."""

    alike: float = 0.5
    """... if these overlap by more than this [intersection over union]."""

    same_box: float = 0.6
    """Clusters whose boxes overlap by more than this are one body [intersection over union]."""

    inside: float = 0.7
    """A cluster of which more than this lies in the box of another one that moves alike is of it."""

    surest: float = 5.0
    """Log-odds are cut off here."""

    least: int = 24
    """Votes that a body has at least."""

    normal: float = 0.04
    """How far apart opposite normals are where faces look for votes [sizes of the object, halved]."""

    near: int = 6
    """Votes that a face listens to."""

    far: float = 2.5
    """Votes farther than this from a face say less of it than that it is hidden, and so of the base [nodes]."""

    smooth: float = 4.0
    """What neighbours across an edge without a bend count beside a face's own votes ..."""

    crease: float = 0.6
    """... and how fast that fades with the bend [rad]."""

    rounds: int = 12
    """Times that faces listen to their neighbours."""


GROUPING = GroupingConfig()

BODY_ODDS = (0.31, 1.23, 0.79, -3.12)
"""What each sign of a body counts in the log-odds that its best line is right.

A logistic regression, objects counting alike, on the 52 bodies found in 51 objects that the network has not learned
from, melted into one surface of 64, 96 or 128 cells: every third held-out object of PartNet-Mobility in seen
categories, some of the packs, and 25 static ones, of which one got a body. Right is a velocity field with a cosine
above 0.8: the joint is, even if its body ends a little beside the truth. The line's own probability told nothing more.
With objects left out one by one, 10 of 17 bodies above one half are right, none of them in a static object. The weights
have learned on since then; fitted anew they found fewer joints of PartNet-Mobility at the same precision."""


@dataclass(frozen=True, eq=False)
class SeenBodies:
    """What moves by the votes; body 0 is the base."""

    labels: Int[np.ndarray, " N"]
    """Body of each vote."""

    signs: Float[np.ndarray, "B 4"]
    """What tells whether a body moves as a whole: one, mean log-odds that its votes move, the logarithm of its share of
    all votes, and how much of the object is said to move, since where everything may move nothing is known; zeros for
    the base."""

    @property
    def moves(self) -> Float[np.ndarray, " B"]:
        """Log-odds that each body moves as a whole; minus infinity for the base."""
        return np.where(np.arange(len(self.signs)) > 0, self.signs @ np.array(BODY_ODDS), -np.inf)


def group_votes(votes: Votes, config: GroupingConfig = GROUPING) -> SeenBodies:
    """Bodies of what is said of a surface."""
    nodes = _nodes(votes, config.spot)
    count = int(nodes.max(initial=-1)) + 1
    first, second, weights = _edges(votes, nodes, count, config)
    owner = contracted(count + 1, first, second, weights)
    labels = _of_one_box(votes, owner[nodes], int(owner[count]), config)
    moving, sizes = np.unique(labels[labels != owner[count]], return_counts=True)
    bodies = [k for k, size in sorted(zip(moving, sizes, strict=True), key=lambda one: -one[1]) if size >= config.least]
    out, signs, anything = np.zeros(len(votes), dtype=np.int64), [np.zeros(len(BODY_ODDS))], votes.chances.mean()
    for number, k in enumerate(bodies, start=1):
        mine = labels == k
        out[mine] = number
        moving = np.clip(votes.moves[mine], -config.surest, config.surest).mean()
        signs.append(np.array([1.0, moving, np.log(mine.mean()), anything]))
    return SeenBodies(out, np.array(signs))


def _of_one_box(
    votes: Votes, labels: Int[np.ndarray, " N"], base: int, config: GroupingConfig
) -> Int[np.ndarray, " N"]:
    """The same clusters, but those that no view sees to hang together are one if they tell of the same box, or if one
    lies in the box that the other tells of and moves alike."""
    out, kept = labels.copy(), list[int]()
    found, sizes = np.unique(labels[labels != base], return_counts=True)
    rows = {int(k): np.flatnonzero(labels == k) for k in found}
    boxes = {k: (np.median(votes.low[some], axis=0), np.median(votes.high[some], axis=0)) for k, some in rows.items()}
    ways = {k: _way(votes, some) for k, some in rows.items()}
    for k in found[np.argsort(-sizes, kind="stable")].tolist():
        alike = [float(overlap(*(side[None] for side in (*boxes[k], *boxes[other])))[0]) for other in kept]
        for place, other in enumerate(kept):
            low, high = boxes[other]
            points = votes.points[rows[k]]
            inside = ((points > low - config.spot / 2) & (points < high + config.spot / 2)).all(axis=1).mean()
            if ways[k] == ways[other] and inside > config.inside:
                alike[place] = max(alike[place], float(inside))
        if alike and max(alike) > config.same_box:
            out[rows[k]] = kept[int(np.argmax(alike))]
        else:
            kept.append(k)
    return out


def _way(votes: Votes, some: Int[np.ndarray, " M"]) -> tuple[bool, int]:
    """Whether most of some votes say that it turns, and about which axis."""
    return bool(votes.turns[some].mean() > 0), int(votes.axes[some].mean(axis=0).argmax())


def _nodes(votes: Votes, side: float) -> Int[np.ndarray, " N"]:
    """The node of each vote: its cube, and which way its normal points."""
    cube = np.floor(votes.points / side).astype(np.int64)
    facing = np.abs(votes.normals).argmax(axis=1)
    sign = votes.normals[np.arange(len(votes)), facing] > 0
    keys = np.concatenate([cube, (2 * facing + sign)[:, None]], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


def _edges(
    votes: Votes, nodes: np.ndarray, count: int, config: GroupingConfig
) -> tuple[Int[np.ndarray, " E"], Int[np.ndarray, " E"], Float[np.ndarray, " E"]]:
    """Edges between nodes, and from each node to the base, which is the last; means of what is said, times the root of
    how often: votes of one place are not independent."""
    ends = nodes[votes.pairs]
    said = np.clip(votes.same, -config.surest, config.surest)
    keep = ends[:, 0] != ends[:, 1]
    key = np.sort(ends[keep], axis=1) @ np.array([count, 1])
    unique, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, said[keep]) / times
    first, second = unique // count, unique % count
    many = np.bincount(nodes, minlength=count)
    average = lambda values: np.bincount(nodes, values, count) / np.maximum(many, 1)  # noqa: E731
    moves = average(np.clip(votes.moves, -config.surest, config.surest))
    low = np.stack([average(votes.low[:, k]) for k in range(3)], axis=1)
    high = np.stack([average(votes.high[:, k]) for k in range(3)], axis=1)
    both = 1.0 / (1.0 + np.exp(-np.minimum(moves[first], moves[second])))
    mean = mean + config.boxes * both * (overlap(low[first], high[first], low[second], high[second]) - config.alike)
    base = np.full(count, count)
    weights = np.concatenate([mean * np.sqrt(times), -config.still * moves * np.sqrt(many)])
    return np.concatenate([first, np.arange(count)]), np.concatenate([second, base]), weights


def overlap(
    low: Float[np.ndarray, "N 3"], high: Float[np.ndarray, "N 3"], other: np.ndarray, higher: np.ndarray
) -> Float[np.ndarray, " N"]:
    """Intersection over union of boxes; thin ones count as a little thick."""
    thick = 0.03
    shared = np.maximum(np.minimum(high, higher) - np.maximum(low, other) + thick, 0.0).prod(axis=1)
    own, its = (np.maximum(b - a, 0.0) + thick for a, b in ((low, high), (other, higher)))
    return shared / np.maximum(own.prod(axis=1) + its.prod(axis=1) - shared, 1e-12)


def contracted(
    count: int, first: Int[np.ndarray, " E"], second: Int[np.ndarray, " E"], weights: Float[np.ndarray, " E"]
) -> Int[np.ndarray, " N"]:
    """The cluster of each node of a signed graph: the edge of the largest sum is contracted while it is positive."""
    around: list[dict[int, float]] = [{} for _ in range(count)]
    for one, other, weight in zip(first.tolist(), second.tolist(), weights.tolist(), strict=True):
        around[one][other] = around[other][one] = around[one].get(other, 0.0) + weight
    heap = [
        (-weight, one, other)
        for one, some in enumerate(around)
        for other, weight in some.items()
        if one < other and weight > 0
    ]
    heapq.heapify(heap)
    owner = np.arange(count)
    while heap:
        weight, one, other = heapq.heappop(heap)
        if around[one].get(other) != -weight:
            continue  # one of the two is gone, or their sum has changed
        if len(around[one]) < len(around[other]):
            one, other = other, one
        owner[other] = one
        del around[one][other]
        for third, more in around[other].items():
            if third == one:
                continue
            del around[third][other]
            total = around[one].get(third, 0.0) + more
            around[one][third] = around[third][one] = total
            if total > 0:
                heapq.heappush(heap, (-total, min(one, third), max(one, third)))
        around[other] = {}
    while (owner[owner] != owner).any():
        owner = owner[owner]
    return owner


def label_faces(mesh: Mesh, votes: Votes, seen: SeenBodies, config: GroupingConfig = GROUPING) -> Int[np.ndarray, " F"]:
    """The body of each face: votes near it that look its way, then its neighbours, except across creases."""
    count = len(seen.signs)
    if count == 1:
        return np.zeros(mesh.face_count, dtype=np.int64)
    middles, normals = mesh.vertices[mesh.faces].mean(axis=1), face_normals(mesh.vertices, mesh.faces)
    tree = cKDTree(np.concatenate([votes.points, config.normal * votes.normals], axis=1))
    gaps, near = [], []
    for sign in (1.0, -1.0):  # faces of files may point inward
        found = tree.query(np.concatenate([middles, sign * config.normal * normals], axis=1), k=config.near)
        gaps.append(found[0])
        near.append(found[1])
    flip = gaps[1].mean(axis=1) < gaps[0].mean(axis=1)
    gap, index = np.where(flip[:, None], gaps[1], gaps[0]), np.where(flip[:, None], near[1], near[0])
    weight = np.exp(-gap / config.spot) + 1e-6
    unary = np.zeros((mesh.face_count, count))
    for k in range(config.near):
        np.add.at(unary, (np.arange(mesh.face_count), seen.labels[index[:, k]]), weight[:, k])
    unary[:, 0] += config.near * np.exp(-config.far)  # what nobody has seen from near stands still
    logits = np.log(unary / unary.sum(axis=1, keepdims=True) + 0.02)
    return _smoothed(mesh, logits, config)


def _smoothed(mesh: Mesh, logits: Float[np.ndarray, "F B"], config: GroupingConfig) -> Int[np.ndarray, " F"]:
    """Mean field of a Potts model whose edges are weak at creases."""
    pairs, bend, lengths = edge_bends(mesh.vertices, mesh.faces)
    if not len(pairs):
        return logits.argmax(axis=1)
    size = np.sqrt(np.maximum(face_areas(mesh.vertices, mesh.faces), 1e-18))
    strength = np.exp(-np.abs(bend) / config.crease) * np.minimum(lengths / size[pairs].min(axis=1), 2.0) / 3.0
    both = np.concatenate([pairs, pairs[:, ::-1]])
    links = coo_matrix((np.tile(strength, 2), both.T), shape=(len(logits), len(logits))).tocsr()
    belief = _normal(logits)
    for _ in range(config.rounds):
        belief = _normal(logits + config.smooth * (links @ belief))
    return np.asarray(belief.argmax(axis=1))


def _normal(logits: Float[np.ndarray, "F B"]) -> Float[np.ndarray, "F B"]:
    risen = np.exp(logits - logits.max(axis=1, keepdims=True))
    return risen / risen.sum(axis=1, keepdims=True)
