"""What a motion does to an object: figures of the whole and of each of its parts, without units but sizes.

A part is followed by some of its vertices. The affine map that fits them best tells how it is squashed or drawn out;
the rigid one, how far it bends; edges tell stretch, and pairs of points that touch at rest tell whether parts come
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import MaterialField, Mesh, Rollout
from neurok.core.select import Region, regions_of
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Ground
from neurok.dynamics.masses import face_masses
from neurok.geometry.topology import unique_edges


@dataclass(frozen=True)
class TrialConfig:
    """How an object is tried and followed. Sizes are the diagonal of its box."""

    falls: float = 5.0
    """How long each run lasts [√(size / g)]: a throw flies for about two, a gust or a hand lasts three."""

    least_seconds: float = 1.0
    """No run is shorter [s]: small things settle slower than they fall."""

    fps: float = 24.0
    """Frames per second [1/s]."""

    share: float = 0.99
    """Of the edges of a part, so many must keep to its limit of stretch: single ones are noise of the mesh."""

    samples: int = 400
    """Points and pairs of each part that are followed, and an eighth of its edges."""

    touching: float = 0.005
    """Parts touch at rest where they are closer than this [sizes]."""

    late: float = 0.2
    """Share of a run that its end is judged by."""

    extends: float = 0.1
    """Directions in which a part extends by less than this share of its length say nothing about squashing."""


TRIAL = TrialConfig()


@dataclass(frozen=True, eq=False)
class PartProbe:
    """The vertices, edges and pairs by which one part is followed."""

    name: str
    vertices: Int[np.ndarray, " n"]
    edges: Int[np.ndarray, "e 2"]
    pairs: Int[np.ndarray, "k 2"]
    """Its own vertices, and those of others that they touch at rest."""


def probes_of(mesh: Mesh, field: MaterialField, config: TrialConfig) -> tuple[PartProbe, ...]:
    """What to follow of each part; an edge between two parts belongs to the softer one."""
    regions = regions_of(mesh)
    owner = np.zeros(mesh.vertex_count, dtype=np.int64)
    for number, region in enumerate(regions):
        owner[region.vertices] = number
    edges = unique_edges(mesh.faces)
    soft = np.where(field.young[edges[:, 0]] <= field.young[edges[:, 1]], edges[:, 0], edges[:, 1])
    of_edge = owner[soft]
    used = np.zeros(mesh.vertex_count, dtype=bool)
    used[mesh.faces] = True
    return tuple(
        PartProbe(
            region.name,
            _some(mine := region.vertices[used[region.vertices]], config.samples),
            _some(edges[of_edge == number], 8 * config.samples),
            _touching(mesh, mine, np.flatnonzero(used & (owner != number)), config),
        )
        for number, region in enumerate(regions)
    )


def _touching(
    mesh: Mesh, mine: Int[np.ndarray, " n"], others: Int[np.ndarray, " m"], config: TrialConfig
) -> Int[np.ndarray, "k 2"]:
    from scipy.spatial import cKDTree

    if not len(mine) or not len(others):
        return np.zeros((0, 2), dtype=np.int64)
    sampled = _some(mine, 8 * config.samples)
    gap, nearest = cKDTree(mesh.vertices[others]).query(mesh.vertices[sampled])
    close = gap <= config.touching * mesh.size
    return _some(np.column_stack([sampled[close], others[nearest[close]]]), config.samples)


def _some(items: np.ndarray, count: int) -> np.ndarray:
    """Evenly spread ones, at most so many."""
    return items[:: max(1, -(-len(items) // count))]


def measure(
    rollout: Rollout,
    body: Body,
    ground: Ground | None,
    probes: tuple[PartProbe, ...],
    config: TrialConfig,
    *,
    is_rigid: bool = False,
) -> dict[str, Any]:
    """All figures of one run, rounded: of the whole, and ``parts`` by name unless all of them are rigid."""
    mesh, positions = body.mesh, np.asarray(rollout.positions, dtype=np.float64)
    followed = np.unique(np.concatenate([probe.vertices for probe in probes]))
    joints = body.poses.articulation
    jointed = joints is not None and joints.dof > 0
    return {
        "status": rollout.status,
        "engine": str(rollout.report.get("engine", "")),
        "seconds": _round((len(positions) - 1) * rollout.dt),
        "depth": _round(float(rollout.report.get("max_penetration") or 0.0) / (mesh.size * mesh.unit)),
        **_whole(positions[:, followed], mesh, ground, rollout.dt, config),
        "parts": {
            probe.name: _part(probe, positions, mesh, jointed, config)
            for probe in probes
            if len(probe.vertices) and not is_rigid
        },
    }


def _whole(
    places: Float[np.ndarray, "T n 3"], mesh: Mesh, ground: Ground | None, dt: float, config: TrialConfig
) -> dict[str, float | list[float]]:
    up = mesh.up_vector if ground is None or ground.normal is None else ground.normal
    floor = 0.0 if ground is None or ground.height is None else float(ground.height)
    turns, _ = _rigid(places[:1], places)
    heights = places @ up
    tall = np.ptp(heights, axis=1)
    moved = np.linalg.norm(places - places[0], axis=2).mean(axis=1) / mesh.size
    unturned = np.einsum("tji,tnj->tni", turns, places - places.mean(axis=1, keepdims=True))
    return {
        "speed": _late_speeds(places, dt * mesh.size, config),
        "shake": _late_speeds(unturned, dt * mesh.size, config),
        "moved": _round(float(moved.max())),
        "lean": _round(float(np.degrees(np.arccos(np.clip(up @ turns[-1] @ up, -1.0, 1.0))))),
        "height": _round(float(tall[-1] / max(float(tall[0]), 1e-300))),
        "above": _round(float(heights[-1].min() - floor) / mesh.size),
    }


def _late_speeds(places: Float[np.ndarray, "T n 3"], scale: float, config: TrialConfig) -> list[float]:
    """Mean speed shortly before the end of a run, and at its end [sizes per second]."""
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=2).mean(axis=1) / scale
    late = max(1, round(config.late * len(speeds)))
    before = speeds[-2 * late : -late] if len(speeds) >= 2 * late else speeds
    return [_round(float(before.mean())), _round(float(speeds[-late:].mean()))]


def _part(
    probe: PartProbe, positions: Float[np.ndarray, "T V 3"], mesh: Mesh, jointed: bool, config: TrialConfig
) -> dict[str, float | list[float]]:
    rest, places = mesh.vertices[probe.vertices], positions[:, probe.vertices]
    squash, spread = _affine(rest, places, config.extends)
    length = max(float(np.linalg.norm(np.ptp(rest, axis=0))), 1e-3 * mesh.size)
    _, left = _rigid(rest[None], places)
    stretch = _stretch(probe.edges, positions, mesh, config)
    gap = np.zeros(len(positions)) if jointed else _gap(probe.pairs, positions, mesh)
    return {
        "squash": [_round(float(squash.min())), _round(float(squash[-1]))],
        "spread": [_round(float(spread.max())), _round(float(spread[-1]))],
        "stretch": [_round(float(stretch.max())), _round(float(stretch[-1]))],
        "bend": [_round(float(left.max()) / length), _round(float(left[-1]) / length)],
        "apart": [_round(float(gap.max())), _round(float(gap[-1]))],
    }


def _affine(
    rest: Float[np.ndarray, "n 3"], places: Float[np.ndarray, "T n 3"], extends: float
) -> tuple[Float[np.ndarray, " T"], Float[np.ndarray, " T"]]:
    """Least and largest stretch of the affine map that fits each frame, along directions in which the part extends.

    The least is negative where a solid part is turned inside out.
    """
    centred = rest - rest.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    wide = values > max(extends**2 * float(values[-1]), 1e-300)
    if not wide.any():
        return np.ones(len(places)), np.ones(len(places))
    along = centred @ axes[:, wide]
    moved = places - places.mean(axis=1, keepdims=True)
    maps = np.einsum("tni,nk->tik", moved, along) / values[wide]
    found = np.linalg.svd(maps, compute_uv=False)
    mirrored = np.linalg.det(maps @ axes.T) < 0 if wide.all() else np.zeros(len(maps), dtype=bool)
    return np.where(mirrored, -found[:, -1], found[:, -1]), found[:, 0]


def _rigid(
    rest: Float[np.ndarray, "1 n 3"], places: Float[np.ndarray, "T n 3"]
) -> tuple[Float[np.ndarray, "T 3 3"], Float[np.ndarray, " T"]]:
    """The rotation that fits each frame best, and the root mean square of what is left (Kabsch)."""
    a = rest - rest.mean(axis=1, keepdims=True)
    b = places - places.mean(axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(np.einsum("tni,tnj->tij", np.broadcast_to(a, b.shape), b))
    sign = np.ones((len(b), 3))
    sign[:, 2] = np.sign(np.linalg.det(u @ vt))
    turn = np.einsum("tki,tk,tjk->tij", vt, sign, u)
    left = b - np.einsum("tij,tnj->tni", turn, np.broadcast_to(a, b.shape))
    return turn, np.sqrt((left**2).sum(axis=2).mean(axis=1))


def _stretch(
    edges: Int[np.ndarray, "e 2"], positions: Float[np.ndarray, "T V 3"], mesh: Mesh, config: TrialConfig
) -> Float[np.ndarray, " T"]:
    """By how much the most stretched edges are longer, but for a few."""
    if not len(edges):
        return np.zeros(len(positions))
    rest = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    moved = np.linalg.norm(positions[:, edges[:, 0]] - positions[:, edges[:, 1]], axis=2)
    return np.quantile((moved - rest) / np.maximum(rest, 1e-3 * mesh.size), config.share, axis=1)


def _gap(pairs: Int[np.ndarray, "k 2"], positions: Float[np.ndarray, "T V 3"], mesh: Mesh) -> Float[np.ndarray, " T"]:
    """How far points have gone from those that they touch at rest, on average [sizes]."""
    if not len(pairs):
        return np.zeros(len(positions))
    rest = np.linalg.norm(mesh.vertices[pairs[:, 0]] - mesh.vertices[pairs[:, 1]], axis=1)
    now = np.linalg.norm(positions[:, pairs[:, 0]] - positions[:, pairs[:, 1]], axis=2)
    return np.asarray((now - rest).mean(axis=1) / mesh.size)


def weights_of(body: Body, regions: tuple[Region, ...]) -> dict[str, float]:
    """Mass of each part by its surface and thickness [kg]."""
    masses = face_masses(body)
    return {region.name: _round(float(masses[region.faces].sum())) for region in regions}


def _round(value: float) -> float:
    """Four digits: what is written must not depend on the last bits."""
    return float(f"{value:.4g}")
