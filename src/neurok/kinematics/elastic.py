"""The reduced elastic space of a soft object: its softest vibration modes, carried by a few handles.

Finite elements on a lattice, with the stiffness of the material in each cell, give the modes. Each mode twists every
handle, and vertices follow handles by weights that are smooth where the object is soft and equal where it is stiff. So
large bends turn instead of stretching, the elastic energy is a small constant matrix, and a step of a simulation costs
the same whatever the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.material import STANDARD_GRAVITY, MaterialField
from neurok.core.mesh import Mesh
from neurok.geometry.topology import unique_edges
from neurok.kinematics.elastic_modes import ElasticModes, elastic_modes
from neurok.kinematics.lattice import LATTICE, Lattice, LatticeConfig, spread_points
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.space import KinematicSpace, lifted_features
from neurok.kinematics.strain_limits import StrainLimits, strain_limits


@dataclass(frozen=True)
class ElasticSpaceConfig:
    """How an elastic space is cut down from a lattice."""

    modes: int = 16
    """Vibration modes that are kept."""

    handles: int = 24
    smooth: float = 0.35
    """Over which distance weights pass from one handle to the next, in mean distances of handles; by eye."""

    ridge: float = 1e-4
    """Twists of handles stay small unless they explain this share of a mode more."""

    amplitude: float = 10.0
    """What a coordinate of 1 moves the liveliest point by, in sizes of the object."""

    visible_sag: float = 4e-4
    """An object is soft if its own weight deforms it by more than this share of its size: a fall over half its size
    then squashes it by the root of this, a fiftieth."""

    lattice: LatticeConfig = LATTICE


ELASTIC_SPACE = ElasticSpaceConfig()


@dataclass(frozen=True, eq=False)
class ElasticSpace(ScrewSpace):
    """Poses of an elastic object: handles move by exp(Σ_d q_d screws_hd), and cost ½ qᵀ K q."""

    stiffness: Float[np.ndarray, "D D"] = field(default_factory=lambda: np.zeros((0, 0)))
    """K [J]."""

    viscosity: Float[np.ndarray, " D"] = field(default_factory=lambda: np.zeros(0))
    """Of each coordinate [J s]."""

    reach: Float[np.ndarray, " D"] = field(default_factory=lambda: np.zeros(0))
    """Largest amplitude of each coordinate alone."""

    strain_limits: StrainLimits | None = field(default=None)
    """What all coordinates together must not exceed."""

    frequencies: Float[np.ndarray, " D"] = field(default_factory=lambda: np.zeros(0))
    """[Hz]."""

    inertia: tuple[Float[np.ndarray, "K K"], Float[np.ndarray, " K"]] | None = field(default=None)
    """CᵀMC and CᵀM1 of the whole lattice, its inside included [kg, mesh units]."""

    @property
    def kind(self) -> str:
        return "elastic"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"mode {k} ({frequency:.2g} Hz)" for k, frequency in enumerate(self.frequencies))

    @property
    def limits(self) -> Float[np.ndarray, "D 2"]:
        return np.stack([-self.reach, self.reach], axis=1)

    @property
    def limit_softness(self) -> float:
        return 0.1 * float(self.reach.min(initial=1.0))

    @property
    def damping(self) -> Float[np.ndarray, " D"]:
        return self.viscosity

    @property
    def bends(self) -> Bool[np.ndarray, " V"]:
        return np.ones(self.rest.vertex_count, dtype=bool)

    def sample(self, count: int, seed: int = 0) -> Float[np.ndarray, "N D"]:
        """States with the spread of equal energy in every mode, the softest at a third of its reach."""
        rng = np.random.default_rng(seed)
        rates = 2 * np.pi * self.frequencies
        spread = self.reach[:1] / 3.0 * rates[:1] / np.maximum(rates, 1e-12)
        return np.clip(rng.normal(size=(count, self.dim)) * spread, -self.reach, self.reach)

    @property
    def sag(self) -> float:
        """How far the object gives way under its own weight, as a share of its size: that of its softest mode."""
        if not self.dim:
            return 0.0
        return STANDARD_GRAVITY / (2 * np.pi * self.frequencies[0]) ** 2 / (self.rest.size * self.rest.unit)


def elastic_space(
    mesh: Mesh,
    materials: MaterialField,
    thickness: Float[np.ndarray, " F"],
    fixed: Int[np.ndarray, " n"] | None = None,
    bends: KinematicSpace | None = None,
    *,
    membrane: Float[np.ndarray, " F"] | None = None,
    hard: Bool[np.ndarray, " V"] | None = None,
    most_sag: float = np.inf,
    config: ElasticSpaceConfig = ELASTIC_SPACE,
) -> ElasticSpace:
    """The elastic space of a mesh.

    Args:
        mesh: The object at rest.
        materials: Material of each vertex.
        thickness: Of sheets, for each face, in mesh units.
        fixed: Vertices that stay where they are; without any the object floats.
        bends: Poses of its own, as those of its animation, whose directions join the modes.
        membrane: E t of the sheet in each face, which resists being stretched in its plane [N/m].
        hard: Vertices of what is rigid: each connected piece of it moves as one, exactly.
        most_sag: Share of its size by which its own weight deforms it at most; all of it is stiffer if it must be.
        config: Numbers of modes and handles.
    """
    lattice = Lattice.of(mesh, materials, thickness, membrane, config.lattice)
    clamped = np.zeros(len(lattice.nodes), dtype=bool)
    if fixed is not None and len(fixed):
        clamped = lattice.near(_clamped_points(mesh, fixed, lattice))
    extra = None if bends is None else _own_fields(mesh, bends, lattice)
    modes = elastic_modes(lattice, clamped, config.modes, extra)
    least = STANDARD_GRAVITY / (most_sag * mesh.size * mesh.unit)
    modes = replace(modes, values=modes.values * max(1.0, least / max(float(modes.values[0]), 1e-300)))
    return _carried(mesh, lattice, modes, np.zeros(mesh.vertex_count, dtype=bool) if hard is None else hard, config)


def joined_parts(mesh: Mesh, parts: list[tuple[ElasticSpace, Bool[np.ndarray, " V"]]]) -> ElasticSpace:
    """The elastic spaces of some parts as one space of the whole mesh, in which all else stands still."""
    from scipy.linalg import block_diag

    counts, dims = [len(space.centers) for space, _ in parts], [space.dim for space, _ in parts]
    handles, dim = 1 + sum(counts), sum(dims)
    weights, centers = np.zeros((mesh.vertex_count, handles)), np.zeros((handles, 3))
    screws = np.zeros((handles, 6, dim))
    weights[:, 0] = 1.0
    centers[0] = mesh.bounds.mean(axis=0)
    row, column = 1, 0
    for (space, mine), count, size in zip(parts, counts, dims, strict=True):
        weights[mine, 0] = 0.0
        weights[mine, row : row + count] = space.weights
        centers[row : row + count] = space.centers
        screws[row : row + count, :, column : column + size] = space.screws
        row, column = row + count, column + size
    joined = lambda name: np.concatenate([getattr(space, name) for space, _ in parts])  # noqa: E731
    return ElasticSpace(
        rest=mesh,
        weights=weights,
        centers=centers,
        screws=screws,
        facts={"coordinates": float(dim), "handles": float(handles)},
        stiffness=block_diag(*[space.stiffness for space, _ in parts]),
        viscosity=joined("viscosity"),
        reach=joined("reach"),
        strain_limits=_joined_limits([space for space, _ in parts]),
        frequencies=joined("frequencies"),
    )


def _joined_limits(spaces: list[ElasticSpace]) -> StrainLimits | None:
    """The limits of several spaces whose coordinates stand side by side."""
    starts = np.cumsum([0, *(space.dim for space in spaces)]).tolist()
    known = [
        space.strain_limits.beside(start, starts[-1] - start - space.dim)
        for space, start in zip(spaces, starts, strict=False)
        if space.strain_limits is not None
    ]
    if not known:
        return None
    columns = zip(*((one.rows, one.steepness, one.fall) for one in known), strict=True)
    return StrainLimits(*(np.concatenate(column) for column in columns))


def _clamped_points(mesh: Mesh, fixed: Int[np.ndarray, " n"], lattice: Lattice) -> Float[np.ndarray, "m 3"]:
    """Fixed vertices, and points of the edges and faces between them, closer together than cells are wide."""
    mask = np.zeros(mesh.vertex_count, dtype=bool)
    mask[fixed] = True
    edges = unique_edges(mesh.faces)
    edges = edges[mask[edges].all(axis=1)]
    faces = np.concatenate([mesh.faces[mask[mesh.faces].all(axis=1)], edges[:, [0, 1, 1]]])
    points = mesh.vertices[fixed] * mesh.unit
    if not len(faces):
        return points
    dense, _ = spread_points(mesh.vertices * mesh.unit / lattice.sides, faces)
    return np.concatenate([points, dense * lattice.sides])


def _own_fields(mesh: Mesh, bends: KinematicSpace, lattice: Lattice) -> Float[np.ndarray, "D N 3"]:
    """How poses of its own would move the nodes [m]: as the nearest vertices."""
    from scipy.spatial import cKDTree

    slopes = bends.shape(np.zeros((1, bends.dim)))[1][0]
    nearest = cKDTree(mesh.vertices * mesh.unit).query(lattice.nodes)[1]
    moved = slopes[:, nearest] if bends.features is None else bends.features[nearest] @ slopes
    return np.asarray(moved * mesh.unit)


def _carried(
    mesh: Mesh, lattice: Lattice, modes: ElasticModes, hard: Bool[np.ndarray, " V"], config: ElasticSpaceConfig
) -> ElasticSpace:
    """Modes of the lattice as twists of handles."""
    rigid = _rigid_pieces(lattice, hard, config.handles // 2)
    labels, centers = _handles(lattice, modes, rigid, config)
    shares = _weights(lattice, labels, rigid, len(centers), config)
    screws, error = _twists(lattice, shares, centers, modes, config.ridge)
    largest = np.linalg.norm(modes.fields, axis=2).max(axis=1)
    scale = config.amplitude * mesh.size * mesh.unit / np.maximum(largest, 1e-300)
    screws = screws * scale
    weights = _followed(lattice, shares, rigid, mesh.vertices * mesh.unit, hard)
    mass = lattice.node_masses
    features = lifted_features(lattice.nodes / mesh.unit, shares)
    screws[:, 3:] /= mesh.unit
    count = len(scale)
    space = ElasticSpace(
        rest=mesh,
        weights=weights,
        centers=centers / mesh.unit,
        screws=screws,
        facts={
            "coordinates": float(count),
            "handles": float(len(centers)),
            "cells": float(len(lattice.cells)),
            "mode_error": error,
        },
        stiffness=np.diag(modes.values * scale**2),
        viscosity=2.0 * modes.damping * np.sqrt(modes.values) * scale**2,
        frequencies=np.sqrt(modes.values) / (2 * np.pi),
        inertia=(features.T @ (mass[:, None] * features), features.T @ mass),
    )
    limits = strain_limits(space, shares, modes.values * scale**2, np.sqrt(modes.values), float(mass.sum()))
    return replace(space, reach=limits.reach(), strain_limits=limits)


def _rigid_pieces(lattice: Lattice, hard: Bool[np.ndarray, " V"], most: int) -> Int[np.ndarray, " N"]:
    """The rigid piece of each node, the heaviest first and at most so many, or -1."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    out = np.full(len(lattice.nodes), -1)
    bricks = lattice.bricks[hard[lattice.vertices]]
    if not len(bricks):
        return out
    pairs = (np.repeat(bricks[:, 0], 8), bricks.reshape(-1))
    graph = coo_matrix((np.ones(len(pairs[0])), pairs), (len(out), len(out)))
    label, used = connected_components(graph, directed=False)[1], np.unique(bricks)
    mass = np.bincount(label[used], weights=lattice.node_masses[used], minlength=int(label.max()) + 1)
    heavy = np.argsort(-mass, kind="stable")[: min(most, int((mass > 0).sum()))]
    number = np.full(len(mass), -1)
    number[heavy] = np.arange(len(heavy))
    out[used] = number[label[used]]
    return out


def _followed(
    lattice: Lattice,
    shares: Float[np.ndarray, "N H"],
    rigid: Int[np.ndarray, " N"],
    points: Float[np.ndarray, "V 3"],
    hard: Bool[np.ndarray, " V"],
) -> Float[np.ndarray, "V H"]:
    """Shares of the handles at the vertices; what is hard follows the nearest rigid piece alone."""
    from scipy.spatial import cKDTree

    out = np.asarray(lattice.interpolation(points) @ shares)
    nodes = np.flatnonzero(rigid >= 0)
    if len(nodes):
        out[hard] = np.eye(shares.shape[1])[rigid[nodes[cKDTree(lattice.nodes[nodes]).query(points[hard])[1]]]]
    return out


def _handles(
    lattice: Lattice, modes: ElasticModes, rigid: Int[np.ndarray, " N"], config: ElasticSpaceConfig
) -> tuple[Int[np.ndarray, " N"], Float[np.ndarray, "H 3"]]:
    """Rigid pieces, and other nodes that move alike and lie together, by k-means on places and softest motions."""
    from scipy.cluster.vq import kmeans2

    places = lattice.nodes - lattice.nodes.mean(axis=0)
    places = places / np.sqrt((places**2).sum(axis=1).mean())
    soft = modes.fields / np.sqrt(modes.values)[:, None, None]
    moves = np.moveaxis(soft, 0, 1).reshape(len(places), -1)
    moves = moves / max(float(np.sqrt((moves**2).sum(axis=1).mean())), 1e-300)
    labels, pieces = rigid.copy(), int(rigid.max()) + 1
    free = np.flatnonzero(rigid < 0)
    count = min(config.handles - pieces, len(free))
    if count:
        rows = np.concatenate([places, 0.5 * moves], axis=1)[free]
        labels[free] = pieces + kmeans2(rows, count, minit="++", seed=0, iter=20)[1]
    labels = np.unique(labels, return_inverse=True)[1]
    mass = np.bincount(labels, weights=lattice.node_masses)
    centers = np.stack(
        [np.bincount(labels, weights=lattice.node_masses * lattice.nodes[:, i]) for i in range(3)], axis=1
    )
    return labels, centers / mass[:, None]


def _weights(
    lattice: Lattice,
    labels: Int[np.ndarray, " N"],
    rigid: Int[np.ndarray, " N"],
    count: int,
    config: ElasticSpaceConfig,
) -> Float[np.ndarray, "N H"]:
    """Shares of the handles at the nodes: their clusters, blurred through the material and never across gaps."""
    from scipy.sparse import coo_matrix, diags
    from scipy.sparse.linalg import splu

    bricks, nodes = lattice.bricks, len(lattice.nodes)
    stiff = np.clip(lattice.young / np.median(lattice.young), 0.1, 1e3)
    first, second = np.triu_indices(8, 1)
    near = np.abs(lattice.nodes[bricks[0, first]] - lattice.nodes[bricks[0, second]]) > 1e-9 * lattice.sides
    edges = near.sum(axis=1) == 1
    a, b = bricks[:, first[edges]].reshape(-1), bricks[:, second[edges]].reshape(-1)
    pull = np.repeat(stiff, edges.sum())
    ties = coo_matrix((pull, (a, b)), (nodes, nodes))
    ties = (ties + ties.T).tocsr()
    laplacian = diags(np.asarray(ties.sum(axis=1)).reshape(-1)) - ties
    spacing = (nodes / count) ** (1.0 / 3.0)
    matrix = diags(np.ones(nodes)) + (config.smooth * spacing) ** 2 / 4.0 * laplacian
    out = splu(matrix.tocsc()).solve(np.eye(count)[labels])
    out = np.where(out > 1e-3, out, 0.0)
    out[rigid >= 0] = np.eye(count)[labels[rigid >= 0]]
    return out / out.sum(axis=1, keepdims=True)


def _twists(
    lattice: Lattice,
    shares: Float[np.ndarray, "N H"],
    centers: Float[np.ndarray, "H 3"],
    modes: ElasticModes,
    ridge: float,
) -> tuple[Float[np.ndarray, "H 6 D"], float]:
    """Twists of the handles that come closest to each mode in least squares by mass, and the share they miss."""
    count, nodes = len(centers), len(lattice.nodes)
    arms = lattice.nodes[:, None] - centers
    design = np.zeros((nodes, 3, count, 6))
    x, y, z = np.moveaxis(arms, 2, 0)
    for row, column, value in ((0, 1, z), (0, 2, -y), (1, 0, -z), (1, 2, x), (2, 0, y), (2, 1, -x)):
        design[:, row, :, column] = shares * value
    for axis in range(3):
        design[:, axis, :, 3 + axis] = shares
    radius = np.sqrt(
        (lattice.node_masses[:, None] * shares * (arms**2).sum(axis=2)).sum(axis=0) / (lattice.node_masses @ shares)
    )
    unit = np.concatenate([1.0 / np.repeat(radius[:, None], 3, axis=1), np.ones((count, 3))], axis=1).reshape(-1)
    flat = design.reshape(3 * nodes, 6 * count) * unit
    root = np.sqrt(np.repeat(lattice.node_masses, 3))
    flat = flat * root[:, None]
    wanted = (modes.fields.reshape(len(modes.fields), -1) * root).T
    gram = flat.T @ flat
    pull = ridge * np.diagonal(gram).mean() * np.eye(len(gram))
    found = np.linalg.solve(gram + pull, flat.T @ wanted)
    missed = np.linalg.norm(wanted - flat @ found, axis=0) / np.maximum(np.linalg.norm(wanted, axis=0), 1e-300)
    return (found * unit[:, None]).reshape(count, 6, -1), float(missed.mean())
