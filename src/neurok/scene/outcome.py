"""Whether somebody who sees the frames of a run would believe them: checks of the outcome, the same for all engines.

An engine says that it diverged when its numbers fail. Numbers may be fine where the picture is not: a stiff part
bends, parts come apart, something sinks into the ground, is thrown about by contact, or never comes to rest. Such a run
has the status ``implausible``; its message says what is wrong, where, and what to try.

A part is followed by some of its vertices. The affine map that fits them best tells how it is squashed or drawn out;
the rigid one, how far it bends; edges tell stretch, and pairs of points that touch at rest tell whether parts come
apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import MaterialField, Mesh, Rollout
from neurok.core.material import STANDARD_GRAVITY
from neurok.core.material_library import library
from neurok.core.select import Region, regions_of
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Ground, World
from neurok.dynamics.masses import face_masses
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import unique_edges
from neurok.scene.placing import mass_of


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


ELONGATION_AT_BREAK = (
    ("fabric", 0.35), ("leather", 0.5), ("foam", 1.5), ("wood", 0.1), ("metal", 0.1), ("ceramic", 0.1),
    ("plastic", 0.1), ("composite", 0.1), ("rubber", 4.0), ("paper", 0.1), ("plant", 0.3), ("tissue", 0.8),
)  # fmt: skip
"""By the family of the library, the middle of handbook ranges, but never below 10 %: in reduced coordinates stiff
parts share handles with the soft ones beside them, and less is not seen (set). Families that flow or crumble by nature
are not named."""

FLOWING = ("fluid", "sand", "plasticine")
"""Kinds of materials that lose their shape by nature."""


@dataclass(frozen=True)
class OutcomeConfig:
    """From where on a motion is not believed.

    Limits marked (set) were chosen on four fifths of a household set by looking at the runs they flag; the others
    follow from what they mean.
    """

    bend: float = 0.04
    """Parts that are stiff bend by less than this share of their size, in the root mean square; less is not seen
    (set)."""

    apart: float = 0.03
    """Parts that touch at rest open up by less than this share of the object's size, on average (set)."""

    stretch: tuple[tuple[str, float], ...] = ELONGATION_AT_BREAK
    """Elongation that each family of materials takes."""

    sunk: float = 0.05
    """Depth in the ground or another body that anybody sees [sizes]: 15 pixels of an object drawn 300 pixels large."""

    resting: float = 0.02
    """Mean speed below which an object rests [sizes per second]."""

    settling: float = 0.8
    """What shakes comes to rest if its mean speed at the end of a run is below this share of that shortly before."""

    patience: float = 2.0
    """How long things may shake after all loads are over before anyone complains [√(size / g)]."""

    surplus: float = 0.25
    """Speed of the centre of mass beyond what loads and gravity can give it, as a share of that: contact of engines
    gives back a little more than it took."""

    def takes(self, family: str) -> float | None:
        """The elongation that a family takes; ``None`` where there is no limit."""
        return dict(self.stretch).get(family)


OUTCOME = OutcomeConfig()


@dataclass(frozen=True)
class Fault:
    """One thing that nobody would believe."""

    kind: str
    part: str
    value: float
    sentence: str


def judged(
    rollouts: Sequence[Rollout], bodies: Sequence[Body], world: World, config: OutcomeConfig = OUTCOME
) -> tuple[Rollout, ...]:
    """The same rollouts; where all of them claim to be ok and one is not believable, all are ``implausible``."""
    if any(rollout.status != "ok" for rollout in rollouts):
        return tuple(rollouts)
    faults = list(_flight(rollouts, bodies, world, config))
    for rollout, body in zip(rollouts, bodies, strict=True):
        faults += faults_of(rollout, body, world, config)
    if not faults:
        return tuple(rollouts)
    message = f"{' '.join(fault.sentence for fault in faults[:MOST_TOLD])} {ADVICE}"
    kinds = ", ".join(dict.fromkeys(fault.kind for fault in faults))
    return tuple(
        replace(one, status="implausible", message=message, report={**one.report, "faults": kinds}) for one in rollouts
    )


MOST_TOLD = 3
"""Faults that a message names; more say the same again."""

ADVICE = "Look at the frames before you use them; name its materials or --space rigid, or try another engine."


def faults_of(
    rollout: Rollout, body: Body, world: World, config: OutcomeConfig = OUTCOME, following: TrialConfig = TRIAL
) -> list[Fault]:
    """What is wrong with the motion of one object; grains of sand and water are left out."""
    if rollout.positions is None or rollout.frame_count < 2 or rollout.grains:
        return []
    probes = probes_of(body.mesh, body.stuff, following)
    is_rigid = body.poses.stiffness is None and rollout.report.get("engine") != "particles"
    figures = measure(rollout, body, world.ground, probes, following, is_rigid=is_rigid)
    return [
        *_depth(rollout, body, world, config),
        *_unrest(figures, body, world, config),
        *_parts(figures, body, config),
    ]


def _parts(figures: dict[str, Any], body: Body, config: OutcomeConfig) -> Iterator[Fault]:
    """Stiff parts that bend, and any part that is inverted, torn or has come off."""
    for region in regions_of(body.mesh):
        found = figures["parts"].get(region.name)
        if found is None or not len(region.vertices):
            continue
        ids = body.stuff.ids[region.vertices]
        material = body.stuff.materials[int(np.bincount(ids).argmax())]
        if material.kind in FLOWING:
            continue
        name = f"{region.name} ({material.name})"
        entry = library().get(material.name)
        takes = None if entry is None else config.takes(entry.family)
        if found["squash"][0] < 0.0:
            yield Fault("inverted", region.name, found["squash"][0], f"{name} is turned inside out.")
        if not material.is_soft and found["bend"][0] > config.bend:
            sentence = f"{name} bends by {found['bend'][0]:.0%} of its size though it is stiff."
            yield Fault("bends", region.name, found["bend"][0], sentence)
        if takes is not None and found["stretch"][0] > takes:
            sentence = f"{name} is stretched by {found['stretch'][0]:.0%} and would tear at {takes:.0%}."
            yield Fault("torn", region.name, found["stretch"][0], sentence)
        if found["apart"][0] > config.apart:
            sentence = f"{name} leaves what it touches by {found['apart'][0]:.0%} of the object's size."
            yield Fault("apart", region.name, found["apart"][0], sentence)


def _depth(rollout: Rollout, body: Body, world: World, config: OutcomeConfig) -> Iterator[Fault]:
    """What goes into the ground, as the frames show it, or into another body, as the engine reports."""
    depth = float(rollout.report.get("max_penetration") or 0.0) / (body.mesh.size * body.mesh.unit)
    ground = world.ground
    if ground is not None and ground.height is not None and rollout.positions is not None:
        normal = body.mesh.up_vector if ground.normal is None else np.asarray(ground.normal)
        lowest = float((rollout.positions[:, np.unique(body.mesh.faces)] @ normal).min())
        depth = max(depth, (float(ground.height) - lowest) / body.mesh.size)
    if depth > config.sunk:
        yield Fault("sunk", "", depth, f"'{body.name}' goes {depth:.0%} of its size into what it touches.")


def _unrest(figures: dict[str, Any], body: Body, world: World, config: OutcomeConfig) -> Iterator[Fault]:
    """What is free on a ground and still shakes within itself long after everything that moves it is over."""
    if world.ground is None or not body.free:
        return
    unit = math.sqrt(body.mesh.size * body.mesh.unit / STANDARD_GRAVITY)
    before, last = figures["shake"]
    due = figures["seconds"] >= _loads_end(body, world) + (FALL + config.patience) * unit
    if due and last > max(config.resting, config.settling * before):
        sentence = f"'{body.name}' still shakes by {last:.0%} of its size in a second and does not slow down."
        yield Fault("unrest", "", last, sentence)


FALL = 2.0
"""How long a drop or a throw flies [√(size / g)]."""


def _loads_end(body: Body, world: World) -> float:
    """When the last load on a body is over [s]; never where something holds on."""
    condition = body.condition
    ends = [0.0, *(float(force.times[-1]) for force in condition.forces), *(blow.time for blow in condition.impulses)]
    ends += [math.inf if drag.end is None else drag.end for drag in condition.drags]
    if world.wind is not None:
        ends.append(math.inf if world.wind.until is None else world.wind.until)
    return max(ends)


def _flight(
    rollouts: Sequence[Rollout], bodies: Sequence[Body], world: World, config: OutcomeConfig
) -> Iterator[Fault]:
    """What is faster than all that acts on it could make it; what is struck leaves at up to twice the other's speed."""
    bounds = [_fastest(rollout, body, world) for rollout, body in zip(rollouts, bodies, strict=True)]
    shared = bounds[0] if len(bounds) == 1 else 2.0 * np.maximum.accumulate(np.max(bounds, axis=0))
    for rollout, body in zip(rollouts, bodies, strict=True):
        if not body.free or rollout.positions is None:
            continue
        speeds = np.linalg.norm(np.diff(_centres(rollout, body), axis=0), axis=1) / rollout.dt
        drift = body.mesh.size * body.mesh.unit / (rollout.frame_count * rollout.dt)  # across itself once in the run
        over = speeds - (1.0 + config.surplus) * shared - drift
        worst = int(np.argmax(over))
        if over[worst] > 0.0:
            fast = f"flies at {speeds[worst]:.3g} m/s, and nothing could make it faster than {shared[worst]:.3g}"
            yield Fault("flies off", "", float(speeds[worst]), f"'{body.name}' {fast}.")


def _centres(rollout: Rollout, body: Body) -> Float[np.ndarray, "T 3"]:
    """The middle of the surface in each frame [m]."""
    areas = face_areas(body.mesh.vertices, body.mesh.faces)
    weights = np.bincount(body.mesh.faces.ravel(), np.repeat(areas, 3), body.mesh.vertex_count)
    assert rollout.positions is not None
    return np.einsum("v,tvi->ti", weights / weights.sum(), rollout.positions) * body.mesh.unit


def _fastest(rollout: Rollout, body: Body, world: World) -> Float[np.ndarray, " n"]:
    """The largest speed that the middle of a body can have between two frames [m/s].

    v² = (v₀ + J / m)² + 2 g h: it starts with a velocity and a spin, which contact may turn into flight; blows and
    pushes add their impulse over the mass, wind and hands up to twice their own speed (an elastic blow) or what their
    spring holds, and gravity adds the height that it has fallen.
    """
    unit, condition = body.mesh.unit, body.condition
    seconds, mass = rollout.frame_count * rollout.dt, max(mass_of(body), 1e-12)
    gravity = -STANDARD_GRAVITY * body.mesh.up_vector if world.gravity is None else np.asarray(world.gravity)
    centres = _centres(rollout, body)
    fallen = np.maximum(0.0, (centres - centres[0]) @ gravity)[1:]
    speed = float(np.linalg.norm(condition.start.velocity)) * unit
    speed += float(np.linalg.norm(condition.start.spin)) * body.mesh.size * unit / 2.0
    speed += sum(float(np.linalg.norm(blow.vector)) for blow in condition.impulses) / mass
    for force in condition.forces:
        strongest = float(np.linalg.norm(force.vectors, axis=1).max())
        speed += strongest * (min(float(force.times[-1]), seconds) - float(force.times[0])) / mass
    for drag in condition.drags:
        ways = np.linalg.norm(np.diff(drag.path, axis=0), axis=1) * unit
        spring = 0.0 if drag.stiffness is None else float(ways.sum()) * math.sqrt(drag.stiffness / mass)
        speed += max(2.0 * float((ways / np.maximum(np.diff(drag.times), rollout.dt)).max(initial=0.0)), spring)
    speed += 0.0 if world.wind is None else 2.0 * float(np.linalg.norm(world.wind.velocity))
    return np.sqrt(speed**2 + 2.0 * fallen)
