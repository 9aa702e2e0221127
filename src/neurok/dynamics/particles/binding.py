"""From bodies and a world to what the solver takes: particles with laws, sheets, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.dynamics.body import Body
from neurok.dynamics.colliders import DistanceField
from neurok.dynamics.condition import Condition, World
from neurok.dynamics.particles.constitution import SHEET, SHELL, SOLID, material_parameters, stiff_solids
from neurok.dynamics.particles.engine_config import PARTICLES, ParticleEngineConfig
from neurok.dynamics.particles.filling import Filling, fill
from neurok.dynamics.particles.skinning import EmbeddedSurface, Grains, embed, grains_of, radii, soft_skin
from neurok.dynamics.particles.solver import least_heights, sheet_step
from neurok.dynamics.particles.state import Law, Obstacle, ParticleSet, Plane, SheetSet, SoftSkin, Surroundings
from neurok.dynamics.reduced.build import gravity_of, mechanics_of, start_of
from neurok.dynamics.soft import as_built
from neurok.geometry import lie

SMALLEST_CELLS = 6
"""Along the longest side of the smallest object at least: cells are made smaller for it ..."""

REFINE = 2.0
"""... by up to this factor."""

JOINED = 1.05
"""Stiff particles closer than this are of one rigid part [cells]: nothing could pass between them anyway."""

FEWEST_RIGID = 6
"""Rigid parts of fewer particles are made of something soft instead: they have no inertia to speak of."""

APART = 1.2
"""Pieces of one object farther from each other than this at the start touch as objects do [cells] ..."""

APART_SHARE = 0.05
"""... if they have at least this share of its particles; smaller ones go with their neighbour."""

LED_SHARE = 0.2
"""A stiff part that is held over this share of its size cannot turn: it is led as a whole."""

NARROW = 0.5
"""Triangles of sheets lower than this are softened in their plane, and hinges with shorter arms in bending, so that
they take the steps of this height [cells]: the tip of a leaf carries little but itself."""

SHEET_DAMPING = 0.3
"""Of sheets against the rate of their strain, in steps: what explicit steps bear."""

FIELD_CELLS = 96
"""Most cells of an obstacle's distance field along its longest side."""


@dataclass(frozen=True, eq=False)
class StartState:
    """One body at the start."""

    vertices: Float[np.ndarray, "V 3"]
    """[m]."""

    pose: Float[np.ndarray, "4 4"]
    """From the object's frame to the world's, in mesh units."""

    velocity: Float[np.ndarray, "3"]
    """[m/s]."""

    spin: Float[np.ndarray, "3"]
    """About its centre of mass [rad/s]."""

    more: Float[np.ndarray, "V 3"] | None
    """Of each vertex, besides [m/s]; ``None`` where it is zero."""

    def velocities_at(
        self, points: Float[np.ndarray, "P 3"], masses: Float[np.ndarray, " P"]
    ) -> Float[np.ndarray, "P 3"]:
        """Of particles; each gets what the vertex nearest to it has of its own."""
        from scipy.spatial import cKDTree

        centre = masses @ points / masses.sum()
        out = self.velocity + np.cross(self.spin, points - centre)
        if self.more is not None:
            out = out + self.more[cKDTree(self.vertices).query(points)[1]]
        return out


def start_state(body: Body) -> StartState:
    """The start of a body; wished positions are met as far as its joints allow."""
    mesh, start = body.mesh, body.condition.start
    unit, free = mesh.unit, body.free
    pose = np.eye(4) if body.placement is None else np.array(body.placement)
    velocity, spin = (np.array(vector) if free else np.zeros(3) for vector in (start.velocity * unit, start.spin))
    wish = start.velocities
    if start.q is None and start.qdot is None and start.positions is None:
        vertices, more = lie.apply(pose, mesh.vertices) * unit, None
    else:
        plain = replace(body, condition=Condition(replace(start, velocities=None)))
        mechanics = mechanics_of(plain)
        pose, q, qdot = start_of(plain, mechanics)
        vertices = mechanics.positions(pose, q) * unit
        base = mechanics.dim - body.poses.dim
        qdot[:base] = 0.0
        more = None
        if np.any(qdot):
            motion = mechanics.motion(pose, q[None], qdot[None])
            more = mechanics.points(np.arange(mesh.vertex_count)).velocities(motion)[0] * unit
    if wish is not None:
        more = np.zeros_like(vertices) if more is None else more
        more[wish.vertices] = wish.values * unit
    return StartState(vertices, pose, velocity, spin, more)


@dataclass(frozen=True, eq=False)
class Occupant:
    """One object among the particles."""

    body: Body
    filling: Filling
    surface: EmbeddedSurface
    grains: Grains
    where: slice
    """Its particles among all."""

    size: float
    """Longest side of its box [m]."""

    rigid_count: int
    masses: Float[np.ndarray, " P"]
    relax: Float[np.ndarray, " P"]
    """Rate at which motion within the object dies away [1/s]."""

    loose: Bool[np.ndarray, " P"]
    led: Bool[np.ndarray, " P"]
    """Those of stiff parts that are pinned or led as a whole: they go where they are told, and have no mass of
    their own to swing."""

    skins: tuple[Float[np.ndarray, "n 3"], ...]
    """Corners of each rigid part at the start [m]: where it touches the ground."""

    skin: SoftSkin
    """Where solids that bend do."""


@dataclass(frozen=True, eq=False)
class BoundScene:
    """Everything the solver takes, and how to read it back."""

    occupants: tuple[Occupant, ...]
    particles: ParticleSet
    sheets: SheetSet | None
    surroundings: Surroundings
    cell: float
    """[m]."""

    unit: float
    """Metres per mesh unit."""


def cell_for(bodies: Sequence[Body], config: ParticleEngineConfig = PARTICLES) -> float:
    """Width of a cell [m]."""
    sides = [float(np.ptp(body.mesh.bounds, axis=0).max()) * body.mesh.unit for body in bodies]
    wanted, small = max(sides) / config.cells, min(sides) / SMALLEST_CELLS
    return max(min(wanted, small), wanted / REFINE)


def bind(bodies: Sequence[Body], world: World, config: ParticleEngineConfig = PARTICLES) -> BoundScene:
    """All bodies as particles, at the moment they start."""
    cell, unit = cell_for(bodies, config), bodies[0].mesh.unit
    occupants: list[Occupant] = []
    sets: list[ParticleSet] = []
    first = rigid = apart = 0
    for body in bodies:
        occupant, particles = _occupied(body, apart, first, rigid, cell, config)
        occupants.append(occupant)
        sets.append(particles)
        first, rigid = first + len(particles), rigid + occupant.rigid_count
        apart = int(particles.body.max()) + 1
    everything = ParticleSet.join(sets)
    surroundings = surroundings_of(bodies, world, cell)
    sheets = _sheets(occupants, everything, cell)
    if sheets is not None:
        step = sheet_step(everything, sheets, cell, config.solver)
        sheets = replace(sheets, damping=SHEET_DAMPING * step)
    return BoundScene(tuple(occupants), everything, sheets, surroundings, cell, unit)


def _occupied(
    body: Body, index: int, first: int, first_rigid: int, cell: float, config: ParticleEngineConfig
) -> tuple[Occupant, ParticleSet]:
    start = start_state(body)
    filling = fill(body, start.vertices, cell, config)
    materials = as_built(body).take(filling.vertex)
    used = start.vertices[np.unique(body.mesh.faces)]
    size = float(np.ptp(used, axis=0).max())
    stiff = (filling.fill == SHELL) | ((filling.fill != SHEET) & stiff_solids(materials, size, config.stiffest))
    rigid = _rigid_parts(body, filling, stiff, cell)
    led = _led(body, start.vertices, filling, rigid)
    rigid = np.where(led, -1, rigid)
    rigid[rigid >= 0] = np.unique(rigid[rigid >= 0], return_inverse=True)[1].reshape(-1)
    depth = np.maximum(1.5 * filling.pieces.thickness[filling.piece], cell)
    found, relax = material_parameters(materials, filling.fill, rigid >= 0, size, depth, cell, config.stiffest)
    left = stiff & (rigid < 0)
    found["young"] = _eased(found["law"], found["young"], materials.density, left)
    found["viscosity"] = np.where(left, 0.0, found["viscosity"])
    masses = _masses(body, filling)
    named = np.where(rigid >= 0, rigid + first_rigid, -1)
    loose = np.isin(found["law"], (Law.GRANULAR, Law.FLUID))
    surface = embed(filling, start.vertices, named)
    particles = ParticleSet(
        positions=filling.points,
        velocities=start.velocities_at(filling.points, masses),
        volumes=filling.volumes,
        masses=masses,
        damping=np.full(filling.count, body.damping),
        body=index + _apart(filling, rigid, cell),
        rigid=named,
        radius=radii(filling, surface, loose),
        **found,
    )
    occupant = Occupant(
        body,
        filling,
        surface,
        grains_of(body.mesh, start.vertices, filling, loose, start.pose),
        slice(first, first + filling.count),
        size,
        int(rigid.max(initial=-1)) + 1,
        masses,
        np.where((rigid >= 0) | led, 0.0, relax),
        loose,
        led,
        tuple(surface.corners(body.mesh.faces, first_rigid + part) for part in range(int(rigid.max(initial=-1)) + 1)),
        soft_skin(filling, surface, (filling.fill == SOLID) & (rigid < 0) & ~loose, body.mesh.faces),
    )
    return occupant, particles


def _eased(
    law: Int[np.ndarray, " P"],
    young: Float[np.ndarray, " P"],
    density: Float[np.ndarray, " P"],
    left: Bool[np.ndarray, " P"],
) -> Float[np.ndarray, " P"]:
    """Young's modulus, where what is ``left`` over of stiff things is no stiffer than what it sits in: a button would
    shorten all steps otherwise."""
    others = (law < Law.SHEET) & ~left
    if not others.any():
        return young
    fastest = float((young[others] / density[others]).max())
    return np.where(left, np.minimum(young, fastest * density), young)


def _masses(body: Body, filling: Filling) -> Float[np.ndarray, " P"]:
    """Of each particle [kg]; what is said of vertices or parts counts over materials."""
    masses = filling.volumes * filling.densities
    if body.masses is not None:
        return masses * (float(body.masses.sum()) / float(masses.sum()))
    joints = body.poses.articulation
    if joints is None or joints.inertials is None:
        return masses
    part = filling.pieces.part[filling.piece]
    for index, known in enumerate(joints.inertials):
        mine = part == index
        if known is not None and known.mass > 0 and mine.any():
            masses[mine] *= known.mass / float(masses[mine].sum())
    return masses


def _rigid_parts(body: Body, filling: Filling, stiff: Bool[np.ndarray, " P"], cell: float) -> Int[np.ndarray, " P"]:
    """The rigid part of each particle, from 0, or -1: stiff ones that hang together, unless a joint is between them."""
    from scipy.spatial import cKDTree

    out = np.full(filling.count, -1)
    chosen = np.flatnonzero(stiff)
    if not len(chosen):
        return out
    node = np.zeros(len(chosen), dtype=np.int64)
    joints = body.poses.articulation
    if joints is not None and joints.dof:
        node = joints.part_nodes[filling.pieces.part[filling.piece[chosen]]]
    pairs = cKDTree(filling.points[chosen]).query_pairs(JOINED * cell, output_type="ndarray")
    label = _linked(pairs[node[pairs[:, 0]] == node[pairs[:, 1]]], len(chosen))
    enough = (np.bincount(label) >= FEWEST_RIGID)[label]
    out[chosen[enough]] = np.unique(label[enough], return_inverse=True)[1].reshape(-1)
    return out


def _linked(pairs: Int[np.ndarray, "n 2"], count: int) -> Int[np.ndarray, " P"]:
    """The group of each of ``count`` things, where pairs of them are linked."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def _apart(filling: Filling, rigid: Int[np.ndarray, " P"], cell: float) -> Int[np.ndarray, " P"]:
    """Pieces of one object that start well apart, from 0: they touch as objects do, instead of growing together."""
    from scipy.spatial import cKDTree

    links = [cKDTree(filling.points).query_pairs(APART * cell, output_type="ndarray")]
    links += [filling.triangles[:, [a, b]] for a, b in ((0, 1), (1, 2))]
    order = np.argsort(rigid, kind="stable")
    same = (rigid[order][1:] == rigid[order][:-1]) & (rigid[order][1:] >= 0)
    links.append(np.column_stack([order[:-1][same], order[1:][same]]))
    label = _linked(np.concatenate(links), filling.count)
    large = np.bincount(label) >= APART_SHARE * filling.count
    mine = large[label]
    if not mine.any():
        return np.zeros(filling.count, dtype=np.int64)
    tree, names = cKDTree(filling.points[mine]), label[mine]
    for small in np.unique(label[~mine]):
        own = label == small
        away, near = tree.query(filling.points[own])
        label[own] = names[near[away.argmin()]]
    return np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _led(
    body: Body, vertices: Float[np.ndarray, "V 3"], filling: Filling, rigid: Int[np.ndarray, " P"]
) -> Bool[np.ndarray, " P"]:
    """Particles of rigid parts that are held hard over a good share of their size for the whole time."""
    from scipy.spatial import cKDTree

    hard = [pin.vertices for pin in body.condition.pins if pin.stiffness is None]
    hard += [drag.vertices for drag in body.condition.drags if drag.stiffness is None and drag.end is None]
    out = np.zeros(filling.count, dtype=bool)
    if not hard and not body.free and not body.condition.pins:
        heights = vertices @ body.mesh.up_vector
        hard = [np.flatnonzero(heights <= heights.min() + 1e-3 * np.ptp(heights))]
    for chosen in hard:
        part = rigid[cKDTree(filling.points).query(vertices[chosen])[1]]
        for index in np.unique(part[part >= 0]):
            mine = rigid == index
            extent = float(np.ptp(filling.points[mine], axis=0).max())
            held = float(np.ptp(vertices[chosen[part == index]], axis=0).max())
            if held >= LED_SHARE * extent:
                out |= mine
    return out


def _sheets(occupants: Sequence[Occupant], everything: ParticleSet, cell: float) -> SheetSet | None:
    """Triangles of all sheets. Stretching and bending have a stiffness each, so thickness follows from both.

    Narrow triangles, as in the tip of a leaf, are softened so that they need no shorter steps than others.
    """
    rows = [(one.filling, one.where.start) for one in occupants if len(one.filling.triangles)]
    if not rows:
        return None
    stretch = np.concatenate([filling.stretch for filling, _ in rows])
    bend = np.concatenate([filling.bend for filling, _ in rows])
    triangles = np.concatenate([filling.triangles + first for filling, first in rows])
    height, wanted = least_heights(everything.positions[triangles]), NARROW * cell
    stretch = stretch * np.clip(height / wanted, 1e-3, 1.0) ** 2
    thickness = np.sqrt(bend / stretch)
    return SheetSet.of(
        triangles,
        everything.positions,
        thickness=thickness,
        young=stretch / thickness,
        poisson=np.concatenate([filling.poisson for filling, _ in rows]),
        narrow=wanted,
    )


def surroundings_of(bodies: Sequence[Body], world: World, cell: float) -> Surroundings:
    """Gravity, ground and obstacles [m]."""
    mesh = bodies[0].mesh
    gravity = gravity_of(world, bodies[0]) * mesh.unit
    planes: tuple[Plane, ...] = ()
    if world.ground is not None:
        normal = mesh.up_vector if world.ground.normal is None else world.ground.normal
        height = ground_height(bodies, normal) if world.ground.height is None else world.ground.height * mesh.unit
        planes = (Plane(_triple(height * normal), _triple(normal), world.ground.friction),)
    obstacles = []
    for item in world.obstacles:
        vertices = item.mesh.vertices * item.mesh.unit
        extent = float(np.ptp(vertices[np.unique(item.mesh.faces)], axis=0).max())
        cells = int(np.clip(2.0 * extent / cell, 16, FIELD_CELLS))
        field = DistanceField.of(vertices, item.mesh.faces, cells)
        obstacles.append(Obstacle(field.values, _triple(field.origin), field.spacing, item.friction))
    return Surroundings(_triple(gravity), planes, tuple(obstacles), world.friction)


def ground_height(bodies: Sequence[Body], normal: Float[np.ndarray, "3"]) -> float:
    """Lowest point of all bodies along a normal, where they start [m]."""
    return min(float((start_state(body).vertices[np.unique(body.mesh.faces)] @ normal).min()) for body in bodies)


def _triple(values: Float[np.ndarray, "3"]) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
