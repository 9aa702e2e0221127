"""Polish: what bends is fitted vertex by vertex, with cells that keep its edges as long as they were.

Closest points pull in both directions, ever harder, and far pairs are trusted ever less. Points of a cloud are not
spread as those of the surface are: a pull along the surface that is shorter than their spacing means nothing and would
only crumple it, so that part of each pull is slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree

from neurok.core.mesh import Mesh
from neurok.geometry.cells import Cells, Pulls, cells_of, cotangent_links, sample_rows
from neurok.geometry.decimate import decimate
from neurok.geometry.lie import apply, fit_rigid
from neurok.geometry.operators import vertex_areas
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import face_components, vertex_labels
from neurok.geometry.transfer import Transfer
from neurok.posing.validation import Judge

MAX_FACES = 5000
NEIGHBOURS = 12
"""Points of a cloud that say which way it faces."""


STIFF = 1.02
"""A component is taken to be rigid if that makes the distance around it no longer than this share of what it was."""

SAME = 1e-9
"""Places closer than this are the same, as a share of the size."""

SETTLE = 8
"""Rounds in which such a component settles on the target."""

FEWEST = 8
"""Points by which that can be told."""


@dataclass(frozen=True)
class PolishConfig:
    """From first to last; distances as shares of the longest side."""

    rounds: int
    pull: tuple[float, float]
    """Against the strength of all cells together."""

    trust: tuple[float, float]
    """Pairs as far apart as this count half."""

    ties: float = np.inf
    """Components hold on to each other where they are no farther apart than this, at rest and at the start."""

    samples: int = 2500
    slack: float = 1.0
    """Pulls along the surface count as far as they are longer than this, in spacings of the points."""


FROM_REST = PolishConfig(rounds=30, pull=(0.002, 0.2), trust=(0.5, 0.05))
FROM_POSE = PolishConfig(rounds=16, pull=(0.02, 0.2), trust=(0.1, 0.03), ties=0.03)
LAST = PolishConfig(rounds=6, pull=(0.2, 0.4), trust=(0.03, 0.03), ties=0.03, samples=5000, slack=0.5)


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points to reach, and which way the surface behind each faces (or away from that)."""

    points: Float[np.ndarray, "N 3"]

    @cached_property
    def tree(self) -> cKDTree:
        return cKDTree(self.points)

    @cached_property
    def normals(self) -> Float[np.ndarray, "N 3"]:
        near = self.points[self.tree.query(self.points, k=min(NEIGHBOURS, len(self.points)))[1]]
        spread = near - near.mean(axis=1, keepdims=True)
        return np.linalg.eigh(spread.swapaxes(1, 2) @ spread)[1][:, :, 0]


@dataclass(frozen=True, eq=False)
class Skin:
    """A coarser copy of a mesh, made of cells, and the ways to it and back."""

    mesh: Mesh

    @cached_property
    def face_owners(self) -> Int[np.ndarray, " F"]:
        """The component of each face."""
        return face_components(self.mesh.vertices, self.mesh.faces, self.mesh.face_surfaces)

    @cached_property
    def owners(self) -> Int[np.ndarray, " V"]:
        """The component of each vertex."""
        return vertex_labels(self.mesh.faces, self.face_owners, self.mesh.vertex_count)

    @property
    def component_count(self) -> int:
        return int(self.face_owners.max(initial=0)) + 1

    @cached_property
    def coarse(self) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"], Int[np.ndarray, " G"]]:
        return decimate(self.mesh.vertices, self.mesh.faces, MAX_FACES, self.face_owners)

    @cached_property
    def coarse_owners(self) -> Int[np.ndarray, " W"]:
        vertices, faces, groups = self.coarse
        return vertex_labels(faces, groups, len(vertices))

    @cached_property
    def cells(self) -> Cells:
        vertices, faces, groups = self.coarse
        return cells_of(cotangent_links(vertices, faces), vertices, faces, groups)

    @cached_property
    def to_coarse(self) -> Transfer:
        return Transfer.between(
            self.mesh.vertices, self.mesh.faces, self.coarse[0], self.face_owners, self.coarse_owners
        )

    @cached_property
    def to_mesh(self) -> Transfer:
        vertices, faces, groups = self.coarse
        return Transfer.between(vertices, faces, self.mesh.vertices, groups, self.owners)


def polished(
    skin: Skin,
    start: Float[np.ndarray, "V 3"],
    rigid: Bool[np.ndarray, " C"],
    cloud: Cloud,
    config: PolishConfig,
    seed: int = 0,
) -> Float[np.ndarray, "V 3"]:
    """Vertices pulled from a start to a cloud; components that are rigid stay exactly where they are."""
    if rigid.all():
        return start
    held, rng = rigid[skin.coarse_owners], np.random.default_rng(seed)
    samples = sample_surface(*skin.coarse[:2], config.samples, rng)
    thin = rng.permutation(len(cloud.points))[: config.samples]
    spacing = float(np.median(cKDTree(cloud.points[thin]).query(cloud.points[thin], k=2)[0][:, 1]))
    low, high = skin.mesh.bounds
    side, x = float((high - low).max()), skin.to_coarse(start)
    cells = skin.cells.loosened(x, config.ties * side)
    for pull, trust in zip(np.geomspace(*config.pull, config.rounds), np.geomspace(*config.trust, config.rounds)):
        pulls = _pulls(x, samples, cloud, thin, pull, trust * side, config.slack * spacing)
        x = cells.relaxed(x, pulls, held)
    return np.where(rigid[skin.owners][:, None], start, skin.to_mesh(x))


def _pulls(
    x: Float[np.ndarray, "W 3"],
    samples: SurfaceSamples,
    cloud: Cloud,
    thin: Int[np.ndarray, " M"],
    strength: float,
    trust: float,
    slack: float,
) -> Pulls:
    """Samples to their closest points of the cloud, and points of the cloud from their closest samples."""
    points = samples.interpolate(x)
    forward, near = cloud.tree.query(points)
    backward, owner = cKDTree(points).query(cloud.points[thin])
    rows, ends = np.concatenate([np.arange(len(points)), owner]), np.concatenate([near, thin])
    gap, normal = cloud.points[ends] - points[rows], cloud.normals[ends]
    out = normal * (gap * normal).sum(axis=1, keepdims=True)
    along = gap - out
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along *= np.maximum(0.0, 1.0 - slack / np.maximum(length, 1e-300))
    weight = strength / (1.0 + (np.concatenate([forward, backward]) / trust) ** 2) / len(points)
    return Pulls(sample_rows(samples, rows, len(x)), points[rows] + out + along, weight)


def stiffened(
    skin: Skin,
    vertices: Float[np.ndarray, "V 3"],
    judge: Judge,
    may: Bool[np.ndarray, " C"],
    must: Bool[np.ndarray, " C"] | None = None,
) -> Float[np.ndarray, "V 3"]:
    """The same vertices, with components moved rigidly: those that may be and fit as well so, and those that must."""
    must = np.zeros_like(may) if must is None else must
    straight = _straightened(skin, vertices, may | must, judge)
    before, after = (_distances(skin, x, judge) for x in (vertices, straight))
    # A point of the target belongs to the component that was nearest before, so that both are asked about the same.
    (there, back, owner), (there_now, back_now, _) = before, after
    sampled, count = skin.face_owners[judge.samples[1].face_ids], skin.component_count
    mean = lambda labels, values: np.bincount(labels, values, count) / np.maximum(np.bincount(labels, None, count), 1)  # noqa: E731
    bent, stiff = mean(sampled, there) + mean(owner, back), mean(sampled, there_now) + mean(owner, back_now)
    seen = np.minimum(np.bincount(sampled, None, count), np.bincount(owner, None, count)) >= FEWEST
    chosen = must | (may & seen & (stiff <= STIFF * bent))
    return np.where(chosen[skin.owners][:, None], straight, vertices)


def moved_rigidly(skin: Skin, vertices: Float[np.ndarray, "V 3"]) -> Bool[np.ndarray, " C"]:
    """Components whose vertices all follow one rigid motion."""
    rest, out = skin.mesh.vertices, np.ones(skin.component_count, dtype=bool)
    for component in range(len(out)):
        mine = np.flatnonzero(skin.owners == component)
        if len(mine):
            again = apply(fit_rigid(rest[mine], vertices[mine]), rest[mine])
            out[component] = np.abs(again - vertices[mine]).max() < SAME * skin.mesh.size
    return out


def _straightened(
    skin: Skin, vertices: Float[np.ndarray, "V 3"], which: Bool[np.ndarray, " C"], judge: Judge
) -> Float[np.ndarray, "V 3"]:
    """Some components moved rigidly, as they have moved on the whole, and then a little closer to the target."""
    rest, out = skin.mesh.vertices, vertices.copy()
    areas = vertex_areas(rest, skin.mesh.faces)
    members = {k: np.flatnonzero(skin.owners == k) for k in np.flatnonzero(which).tolist()}
    for mine in members.values():
        if areas[mine].sum() > 0:
            out[mine] = apply(fit_rigid(rest[mine], vertices[mine], areas[mine]), rest[mine])
    samples, tree, thin = judge.samples[0], judge.trees[0], judge.thin(0)
    sampled, points = skin.face_owners[samples.face_ids], samples.interpolate(rest)
    for _ in range(SETTLE):
        x = samples.interpolate(out)
        (forward, near), (backward, owner) = tree.query(x), cKDTree(x).query(thin)
        rows, places = np.concatenate([np.arange(len(x)), owner]), np.concatenate([tree.data[near], thin])
        trust = 1.0 / (1.0 + (np.concatenate([forward, backward]) / (FROM_POSE.trust[1] * judge.side)) ** 2)
        for component, mine in members.items():
            some = sampled[rows] == component
            if some.sum() >= 4 * FEWEST:
                out[mine] = apply(fit_rigid(points[rows[some]], places[some], trust[some]), rest[mine])
    return out


def _distances(
    skin: Skin, vertices: Float[np.ndarray, "V 3"], judge: Judge
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " M"], Int[np.ndarray, " M"]]:
    """From samples to held-back points, from those to samples, and the component that is nearest to each."""
    x = judge.samples[1].interpolate(vertices)
    back, near = cKDTree(x).query(judge.thin(1))
    return judge.trees[1].query(x)[0], back, skin.face_owners[judge.samples[1].face_ids[near]]
