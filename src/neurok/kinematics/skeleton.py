"""A skeleton for what bends, from its surface alone: rings along the body are bones, and where rings meet they turn.

Distances along the surface from one end of the object cut it into rings; a ring that falls apart is where limbs branch
off. Each ring is a bone, held by the ring before it at the middle of what they share. Bones blend smoothly into each
other, so limbs bend and keep their girth. Figures, animals, plants and cloth are cut the same way.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial import cKDTree

from neurok.core.clip import BoneTree
from neurok.core.mesh import Mesh
from neurok.geometry import lie
from neurok.geometry.joint_tree import JointTree
from neurok.geometry.sampling import sample_surface
from neurok.geometry.topology import face_components, vertex_labels
from neurok.kinematics.articulated import SkinnedSpace

# How finely a surface is cut, and how far its bones turn. Chosen on training animations.
SAMPLES = 1600  # Points of the surface on which distances run
NEIGHBOURS = 8  # Points that each is joined to
LONGEST_LINK = 2.5  # ... if they are nearer than this [median distance of neighbours]
RING_COUNTS = (18, 15, 12, 10, 8, 6, 4)
"""Rings from one end to the other; the finest cut with few enough bones is taken."""

MOST_BONES = 34

FEWEST_SAMPLES = 12  # A ring of fewer points belongs to the one before it
BLEND_WIDTH = 0.35  # How far bones reach into each other [widths of a ring]
INFLUENCES = 4  # Bones that a vertex follows at most: as many as engines and viewers take
BEND_LIMIT = math.radians(100.0)  # Farthest turn of a bone against the one that holds it [rad]
TWIST_LIMIT = math.radians(60.0)  # The same about its own length
SHIFT_LIMIT = 2.0  # How far the whole may be shifted where that is asked for [sizes]
PRIOR_WEIGHT = 1e-5
"""Weight of |q|² in fitting a pose, against squared distances in the unit box: bones turn only where they must."""

SAMPLE_SPREAD = 0.08
"""Standard deviation of samples, as a share of the way to a limit. By eye, on training animals: they stay on their
feet."""


def skeleton_space(mesh: Mesh, loose: bool = False) -> SkinnedSpace | None:
    """The poses of a mesh on bones found from its surface; ``None`` where there are not two bones.

    Args:
        mesh: What bends.
        loose: Whether the whole may also move and turn, as a target in another place demands.
    """
    cut = _RingCut(mesh)
    if cut.count < 2:
        return None
    parents, order = cut.tree()
    weights = cut.vertex_weights()
    carriers, generators, bounds, names = list[int](), list[np.ndarray](), list[tuple[float, float]](), list[str]()
    nodes, node, pivots = np.zeros(cut.count, dtype=np.int64), 0, cut.centers.copy()
    if loose:
        for kind in (lie.slide_generator(np.eye(3)), lie.turn_generator(np.eye(3), np.tile(cut.middle, (3, 1)))):
            far = SHIFT_LIMIT * mesh.size if not generators else math.pi
            for generator in kind:
                carriers.append(node)
                generators.append(generator)
                bounds.append((-far, far))
                node = len(carriers)
        names += [f"whole/{word} {axis}" for word in ("slide", "turn") for axis in "xyz"]
    for bone in order:
        parent = int(parents[bone])
        if parent >= 0:
            pivots[bone] = pivot = cut.pivot(parent, bone)
            node = int(nodes[parent])
            along = cut.centers[bone] - pivot
            along = along / max(float(np.linalg.norm(along)), 1e-12) if along.any() else np.eye(3)[0]
            first, second = lie.across(along)
            for word, axis, far in (
                ("bend", first, BEND_LIMIT),
                ("bend", second, BEND_LIMIT),
                ("twist", along, TWIST_LIMIT),
            ):
                carriers.append(node)
                generators.append(lie.turn_generator(axis, pivot))
                bounds.append((-far, far))
                node = len(carriers)
                names.append(f"bone {bone}/{word} {len(carriers)}")
        nodes[bone] = node
    tree = JointTree(np.array(carriers, dtype=np.int64), np.stack(generators))
    space = SkinnedSpace.of_weights(mesh, tree, nodes, weights, np.array(bounds), tuple(names), "skeleton")
    bones = BoneTree(parents, pivots, tuple(f"bone_{bone}" for bone in range(cut.count)))
    return replace(space, loose=loose, spread=SAMPLE_SPREAD, prior_pull=PRIOR_WEIGHT, bone_tree=bones)


class _RingCut:
    """A surface cut into rings: samples, their ring, and how rings blend."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        samples = sample_surface(mesh.vertices, mesh.faces, SAMPLES, np.random.default_rng(0))
        self.points = samples.interpolate(mesh.vertices)
        pieces = face_components(mesh.vertices, mesh.faces)
        self.vertex_pieces = vertex_labels(mesh.faces, pieces, mesh.vertex_count)
        self.pieces = self.vertex_pieces[samples.faces[:, 0]]
        self.graph = self._graph()
        self.away = self._distances()
        self.labels = self._rings()
        self.count = int(self.labels.max()) + 1
        self.middle = self.points.mean(axis=0)
        self.weights = self._blended()
        shares = self.weights.sum(axis=0)
        self.centers = self.weights.T @ self.points / np.maximum(shares, 1e-12)[:, None]
        self.shares = shares / shares.sum()

    def _graph(self) -> csr_matrix:
        """Neighbours on one piece, and the shortest links that join pieces."""
        points = self.points
        away, near = cKDTree(points).query(points, k=NEIGHBOURS + 1)
        limit = LONGEST_LINK * float(np.median(away[:, -1]))
        rows = np.repeat(np.arange(len(points)), NEIGHBOURS)
        columns, lengths = near[:, 1:].reshape(-1), away[:, 1:].reshape(-1)
        kept = (self.pieces[rows] == self.pieces[columns]) & (lengths <= limit)
        shape = (len(points), len(points))
        graph = coo_matrix((lengths[kept] + 1e-9, (rows[kept], columns[kept])), shape=shape).tocsr()
        graph = graph.maximum(graph.T)
        count, groups = connected_components(graph, directed=False)
        if count > 1:
            graph = graph.maximum(self._bridges(groups, count))
        return graph

    def _bridges(self, groups: Int[np.ndarray, " N"], count: int) -> csr_matrix:
        """Links between groups that do not hang together, each to its nearest, until all do."""
        ends = np.zeros((count, count))
        where: dict[tuple[int, int], tuple[int, int]] = {}
        for group in range(count):
            mine, others = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
            away, near = cKDTree(self.points[mine]).query(self.points[others])
            order = np.argsort(away, kind="stable")
            for k in order[np.unique(groups[others][order], return_index=True)[1]]:
                other = int(groups[others[k]])
                ends[group, other] = away[k] + 1e-9
                where[group, other] = (int(mine[near[k]]), int(others[k]))
        tree = minimum_spanning_tree(csr_matrix(ends)).tocoo()
        links = [where[a, b] for a, b in zip(tree.row.tolist(), tree.col.tolist(), strict=True)]
        rows, columns = np.array(links).T
        shape = (len(self.points), len(self.points))
        found = coo_matrix((tree.data, (rows, columns)), shape=shape).tocsr()
        return found.maximum(found.T)

    def _distances(self) -> Float[np.ndarray, " N"]:
        """Along the surface, from one end of the object."""
        start = int(np.argmax(dijkstra(self.graph, indices=0)))
        return dijkstra(self.graph, indices=int(np.argmax(dijkstra(self.graph, indices=start))))

    def _rings(self) -> Int[np.ndarray, " N"]:
        found = np.zeros(len(self.points), dtype=np.int64)
        for levels in RING_COUNTS:
            band = np.minimum((levels * self.away / max(float(self.away.max()), 1e-12)).astype(np.int64), levels - 1)
            rows, columns = self.graph.nonzero()
            same = band[rows] == band[columns]
            inside = coo_matrix((np.ones(int(same.sum())), (rows[same], columns[same])), shape=self.graph.shape)
            found = self._merged(connected_components(inside, directed=False)[1])
            self.width = float(self.away.max()) / levels
            if found.max() < MOST_BONES:
                break
        return found

    def _merged(self, labels: Int[np.ndarray, " N"]) -> Int[np.ndarray, " N"]:
        """Without rings of few points: each joins the neighbour it shares most links with."""
        rows, columns = self.graph.nonzero()
        while True:
            sizes = np.bincount(labels)
            small = int(np.argmin(np.where(sizes > 0, sizes, len(labels) + 1)))
            if sizes[small] >= FEWEST_SAMPLES or (sizes > 0).sum() == 1:
                return np.unique(labels, return_inverse=True)[1].reshape(-1)
            links = (labels[rows] == small) & (labels[columns] != small)
            labels = np.where(labels == small, np.bincount(labels[columns[links]]).argmax(), labels)

    def _blended(self) -> Float[np.ndarray, "N H"]:
        """How much samples follow bones: their ring, spread over neighbours; what is small follows as a whole."""
        links = (self.graph > 0).astype(np.float64) + diags(np.ones(len(self.points)))
        walk = diags(1.0 / np.asarray(links.sum(axis=1)).reshape(-1)) @ links
        out = np.eye(self.count)[self.labels]
        spacing = float(np.median(self.graph.data))
        for _ in range(max(2, round((BLEND_WIDTH * self.width / spacing) ** 2))):
            out = walk @ out
        for piece in np.unique(self.pieces):
            mine = self.pieces == piece
            if np.linalg.norm(np.ptp(self.points[mine], axis=0)) < 1.5 * self.width:
                out[mine] = out[mine].mean(axis=0)
        return out / out.sum(axis=1, keepdims=True)

    def vertex_weights(self, near: int = 4) -> Float[np.ndarray, "V H"]:
        """The same at the vertices, from the nearest samples of their piece."""
        vertices = self.mesh.vertices
        out = np.zeros((len(vertices), self.count))
        for piece in np.unique(self.vertex_pieces):
            mine, some = self.vertex_pieces == piece, np.flatnonzero(self.pieces == piece)
            some = some if len(some) else np.arange(len(self.points))
            away, index = cKDTree(self.points[some]).query(vertices[mine], k=min(near, len(some)))
            away, index = away.reshape(mine.sum(), -1), index.reshape(mine.sum(), -1)
            share = 1.0 / (away + 0.1 * self.width / near)
            rows = self.weights[some[index]]
            out[mine] = (share[..., None] * rows).sum(axis=1) / share.sum(axis=1, keepdims=True)
        if self.count > INFLUENCES:
            weakest = np.argpartition(out, -INFLUENCES, axis=1)[:, :-INFLUENCES]
            np.put_along_axis(out, weakest, 0.0, axis=1)
        return out / out.sum(axis=1, keepdims=True)

    def tree(self) -> tuple[Int[np.ndarray, " H"], list[int]]:
        """Who holds whom, from the bone nearest the middle of the whole outward."""
        rows, columns = self.graph.nonzero()
        a, b = self.labels[rows], self.labels[columns]
        links = np.zeros((self.count, self.count))
        np.add.at(links, (a[a != b], b[a != b]), 1.0)
        price = np.where(links > 0, 1.0 / np.maximum(links, 1e-9), 0.0)
        found = minimum_spanning_tree(csr_matrix(price))
        far = np.linalg.norm(self.centers - self.middle, axis=1)
        root = int((far - 0.2 * self.mesh.size * self.shares / self.shares.max()).argmin())
        order, before = breadth_first_order(found, root, directed=False)
        return np.where(before < 0, -1, before), order.tolist()

    def pivot(self, a: int, b: int) -> Float[np.ndarray, "3"]:
        """The middle of what two bones share."""
        both = self.weights[:, a] * self.weights[:, b]
        return (
            both @ self.points / max(float(both.sum()), 1e-300)
            if both.any()
            else 0.5 * (self.centers[a] + self.centers[b])
        )
