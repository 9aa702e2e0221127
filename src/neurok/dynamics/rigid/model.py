"""From bodies and a world to a MuJoCo model: bodies, joints, masses, and shapes that touch.

All MuJoCo bodies of an object have the object's frame at rest, in metres, so joints and masses are written down as they
are, and a body's transform is that of its node.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core.assembly import ASSEMBLY
from neurok.dynamics.body import Body
from neurok.dynamics.colliders import obstacle_pieces, part_pieces
from neurok.dynamics.condition import Obstacle, World
from neurok.dynamics.masses import inertial_of, sheet_thickness
from neurok.dynamics.reduced.build import Bound, gravity_of
from neurok.dynamics.reduced.config import DEFAULTS, ReducedConfig
from neurok.dynamics.reduced.dry_friction import joint_friction
from neurok.dynamics.reduced.loads import Damping, LimitWell
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.decimate import decimate
from neurok.geometry.joint_tree import BASE_DOF

UNLIMITED = 1e6
"""[rad or m]; farther than any joint goes, for limits on one side only."""


@dataclass(frozen=True)
class MujocoConfig:
    """The rigid engine."""

    longest_step: float = 1 / 240
    """[s]; twice MuJoCo's own default, since contacts are foreseen."""

    impedance: float = 0.999
    """Share of an acceleration that a contact, a limit or dry friction takes away (MuJoCo's ``solimp``): as hard as
    MuJoCo solves well. What leans on a slope creeps by the rest."""

    hard_friction: float = 10.0
    """How much harder friction is than contact (MuJoCo's ``impratio``), against creep."""

    recovery: float = 0.2
    """Share of a penetration that is undone in one step."""

    sight: float = 2.0
    """Contacts are foreseen this many times as far as the fastest body comes in one step: both may move."""

    look_steps: int = 4
    """How far contacts are foreseen is worked out anew after so many steps."""

    travel: float = 0.05
    """How far anything may move in one step, as a share of the smallest object's size; else the step is cut ..."""

    max_pieces: int = 8
    """... into so many at most."""

    bounce_steps: float = 4.0
    """Slower than what gravity adds in so many steps nothing bounces, so that things come to rest."""

    limit_phase: float = 0.25
    """Phase [rad] of a bounce off a joint's limit in one step, where limits keep the energy."""

    massless: float = 1e-9
    """Mass of parts that have none, as a share of the object's: MuJoCo wants some."""

    overlap: float = ASSEMBLY.overlap
    """Parts of one object that are deeper in each other at rest than this share of its size never touch ..."""

    apart: float = ASSEMBLY.apart
    """... and parts that hang on each other by a joint do only if they are farther apart than this."""

    corners: int = 1000
    """Of one convex piece; MuJoCo looks at few of them at a time, so round things need not be coarse."""

    obstacle_faces: int = 2000
    """Faces of an obstacle that is not convex, each of which is a plate; more are thinned out."""

    plate: float = 0.01
    """Thickness of these plates, as a share of the obstacle's size."""

    reduced: ReducedConfig = DEFAULTS
    """What both engines share: stiffness of pins and grabs, rubbing of joints, faces that feel the wind."""


DEFAULT = MujocoConfig()


@dataclass(frozen=True, eq=False)
class Shape:
    """One convex piece, in mesh units and the object's frame at rest."""

    vertices: Float[np.ndarray, "n 3"]
    friction: float | None = None
    """Coulomb's coefficient of its material; ``None`` where no material is named."""

    restitution: float = 0.0
    """Speed that its material keeps in a bounce."""


def body_shapes(bound: Bound, hollow: bool, config: MujocoConfig) -> dict[int, list[Shape]]:
    """Convex pieces of the parts on each node of a body, with their hollows where something may come into them."""
    body, mesh = bound.body, bound.body.mesh
    sheets = sheet_thickness(body)
    out: dict[int, list[Shape]] = {}
    for part, node in enumerate(bound.mechanics.part_nodes.tolist()):  # type: ignore[attr-defined]
        mine = mesh.face_parts == part
        faces = mesh.faces[mine]
        made = _made_of(body, np.unique(faces))
        thickness = float(sheets[mine].mean()) if len(faces) else None
        pieces = part_pieces(mesh.vertices, faces, hollow, thickness, config.corners)
        out.setdefault(node, []).extend(replace(made, vertices=vertices) for vertices, _ in pieces)
    return out


def _made_of(body: Body, vertices: Int[np.ndarray, " n"]) -> Shape:
    """Friction and restitution of a part: the means over its vertices."""
    nothing = Shape(np.zeros((0, 3)))
    if body.materials is None or not len(vertices):
        return nothing
    stuff = body.materials.take(vertices)
    ratio = stuff.damping_ratio
    kept = np.exp(-np.pi * ratio / np.sqrt(1.0 - ratio**2))
    return replace(nothing, friction=float(stuff.friction.mean()), restitution=float(kept.mean()))


def obstacle_shapes(obstacle: Obstacle, config: MujocoConfig) -> list[Shape]:
    """Hulls of the pieces that are convex, and a plate for each face of the others."""
    mesh = obstacle.mesh
    hulls, rough = obstacle_pieces(mesh)
    out = [Shape(vertices) for vertices, _ in hulls]
    if rough is None:
        return out
    vertices, faces = mesh.vertices, mesh.faces[rough]
    if len(faces) > config.obstacle_faces:
        vertices, faces, _ = decimate(vertices, faces, config.obstacle_faces)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > 1e-12 * mesh.size**2
    inward = -config.plate * mesh.size * normals[good] / lengths[good, None]
    plates = np.concatenate([corners[good], corners[good] + inward[:, None]], axis=1)
    return out + [Shape(plate) for plate in plates]


def ground_height(bounds: Sequence[Bound], normal: Float[np.ndarray, "3"]) -> float:
    """The lowest point of all bodies at the start."""
    lows = [
        (bound.mechanics.positions(bound.pose, bound.q)[np.unique(bound.body.mesh.faces)] @ normal).min()
        for bound in bounds
    ]
    return float(min(lows))


@dataclass(eq=False)
class Scene:
    """A MuJoCo model under construction, and what its parts are called."""

    mujoco: Any
    spec: Any
    config: MujocoConfig
    step: float
    """The time step [s]."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    """By the name of the geom; the ground has none."""

    groups: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Of each geom: index of the object it belongs to, or -1, and its MuJoCo body."""

    @property
    def hardness(self) -> dict[str, Any]:
        """How contacts and limits give way: they take all speed away in one step."""
        d = self.config.impedance
        return {"solref": [2.0 * self.step, 1.0], "solimp": [d, d, 1e-3, 0.5, 2.0]}


def build(bounds: Sequence[Bound], world: World, config: MujocoConfig, step: float) -> Scene:
    """Everything but what holds bodies, which changes while they move."""
    import mujoco

    spec = mujoco.MjSpec()
    scene = Scene(mujoco, spec, config, step)
    _options(scene, gravity_of(world, bounds[0].body) * bounds[0].body.mesh.unit)
    if world.ground is not None:
        _add_ground(scene, bounds, world)
    for number, obstacle in enumerate(world.obstacles):
        unit = bounds[0].body.mesh.unit
        for k, shape in enumerate(obstacle_shapes(obstacle, config)):
            _add_shape(scene, spec.worldbody, f"obstacle {number}/{k}", shape, unit, obstacle.friction, -1, priority=1)
    hollow = len(bounds) > 1 or len(world.obstacles) > 0
    for index, bound in enumerate(bounds):
        _add_body(scene, index, bound, world, hollow)
    spec.worldbody.add_site(name="world")
    _exclude(scene, bounds)
    _pair(scene)
    return scene


def compiled(scene: Scene) -> Any:
    """The model, or a sentence about why MuJoCo cannot build it."""
    try:
        return scene.spec.compile()
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise NeurokError(f"MuJoCo cannot build this scene ({reason}); use the engine 'reduced'.") from None


def _options(scene: Scene, gravity: Float[np.ndarray, "3"]) -> None:
    mujoco, option, compiler = scene.mujoco, scene.spec.option, scene.spec.compiler
    option.timestep, option.gravity = scene.step, gravity
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = scene.config.hard_friction
    bits = mujoco.mjtDisableBit
    # Which parts of an object touch is decided by what they do at rest; a lost run is ours to report.
    option.disableflags = int(bits.mjDSBL_FILTERPARENT) | int(bits.mjDSBL_AUTORESET)
    compiler.degree, compiler.inertiafromgeom, compiler.alignfree = False, 0, False
    compiler.boundmass, compiler.boundinertia, compiler.balanceinertia = 0.0, 0.0, True


def _add_ground(scene: Scene, bounds: Sequence[Bound], world: World) -> None:
    assert world.ground is not None
    mesh = bounds[0].body.mesh
    normal = mesh.up_vector if world.ground.normal is None else world.ground.normal
    height = ground_height(bounds, normal) if world.ground.height is None else world.ground.height
    first, second = lie.across(np.asarray(normal, dtype=np.float64))
    scene.spec.worldbody.add_geom(
        name="ground",
        type=scene.mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        pos=normal * height * mesh.unit,
        quat=lie.matrix_to_quaternion(np.column_stack([first, second, normal])),
        friction=[world.ground.friction, 0.0, 0.0],
        condim=3,
        priority=1,
        **scene.hardness,
    )
    scene.groups["ground"] = (-1, "world")


def _add_shape(
    scene: Scene, body: Any, name: str, shape: Shape, unit: float, friction: float, index: int, priority: int = 0
) -> None:
    mesh = scene.spec.add_mesh(name=name, uservert=(shape.vertices * unit).reshape(-1))
    mesh.inertia = scene.mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    body.add_geom(
        name=name,
        type=scene.mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        mass=0.0,
        friction=[friction if shape.friction is None else shape.friction, 0.0, 0.0],
        condim=3,
        priority=priority,
        **scene.hardness,
    )
    scene.shapes[name], scene.groups[name] = shape, (index, body.name)


def _add_body(scene: Scene, index: int, bound: Bound, world: World, hollow: bool) -> None:
    """An object: its base, and what hangs on it."""
    mechanics: Any = bound.mechanics
    tree, unit = mechanics.tree, bound.body.mesh.unit
    shapes, losses = body_shapes(bound, hollow, scene.config), joint_friction(bound, world, scene.config.reduced)
    carriers = {0, *mechanics.part_nodes.tolist()}
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents, start=1):
        children.setdefault(int(parent), []).append(node)
    base = scene.spec.worldbody.add_body(
        name=node_name(index, 0), pos=bound.pose[:3, 3] * unit, quat=lie.matrix_to_quaternion(bound.pose[:3, :3])
    )
    if bound.body.free:
        base.add_freejoint(name=joint_name(index, 0))

    def furnish(body: Any, node: int) -> None:
        _weigh(scene, body, mechanics.moments[node], bound)
        for k, shape in enumerate(shapes.get(node, [])):
            _add_shape(scene, body, f"{index}/{node}/{k}", shape, unit, world.friction, index)

    def hang(parent: Any, node: int, before: list[int]) -> None:
        joints = [*before, node]
        if node not in carriers:
            # The turn of a cylindrical joint carries nothing but its slide.
            for child in children.get(node, []):
                hang(parent, child, joints)
            return
        body = parent.add_body(name=node_name(index, node))
        for joint in joints:
            _add_joint(scene, body, index, joint, bound, losses)
        furnish(body, node)
        for child in children.get(node, []):
            hang(body, child, [])

    furnish(base, 0)
    for child in children.get(0, []):
        hang(base, child, [])


def _weigh(scene: Scene, body: Any, moment: Float[np.ndarray, "4 4"], bound: Bound) -> None:
    """Mass, centre and principal inertia of a node."""
    mechanics, mesh = bound.mechanics, bound.body.mesh
    inertial = inertial_of(moment, mesh.unit)
    spread = 0.5 * np.trace(inertial.inertia) * np.eye(3) - inertial.inertia
    values, axes = np.linalg.eigh(spread)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    values = np.maximum(values, 0.0)
    least = scene.config.massless * mechanics.mass
    body.explicitinertial = True
    body.mass, body.ipos = max(inertial.mass, least), inertial.center * mesh.unit
    body.iquat = lie.matrix_to_quaternion(axes)
    body.inertia = np.maximum(values.sum() - values, least * (scene.config.apart * mesh.size * mesh.unit) ** 2)


def _add_joint(scene: Scene, body: Any, index: int, node: int, bound: Bound, losses: Float[np.ndarray, " D"]) -> None:
    """One coordinate: its screw, limits, damping and dry friction."""
    mechanics: Any = bound.mechanics
    unit = bound.body.mesh.unit
    generator = mechanics.tree.generators[node - 1]
    spin = lie.screw_twists(generator)[:3]
    turns = bool(np.any(spin))
    place = node - 1 + (BASE_DOF if bound.body.free else 0)
    scale = 1.0 if turns else unit
    joint = body.add_joint(
        name=joint_name(index, node),
        type=scene.mujoco.mjtJoint.mjJNT_HINGE if turns else scene.mujoco.mjtJoint.mjJNT_SLIDE,
        axis=spin if turns else generator[:3, 3],
        pos=np.cross(spin, generator[:3, 3]) * unit if turns else np.zeros(3),
        damping=joint_damping(bound)[place] * (unit**2 if turns else 1.0),
        frictionloss=losses[place] * (unit**2 if turns else unit),
    )
    d = scene.config.impedance
    joint.solimp_limit = joint.solimp_friction = [d, d, 1e-3, 0.5, 2.0]
    joint.solref_friction = [2.0 * scene.step, 1.0]
    for well in (load for load in bound.loads if isinstance(load, LimitWell)):
        low, high = (float(np.clip(side[place] * scale, -UNLIMITED, UNLIMITED)) for side in (well.lower, well.upper))
        joint.limited = int(low > -UNLIMITED or high < UNLIMITED)
        joint.range = [low, high]
        elastic = [-((scene.config.limit_phase / scene.step) ** 2), 0.0]
        joint.solref_limit = [2.0 * scene.step, 1.0] if well.feels_rates else elastic


def joint_damping(bound: Bound) -> Float[np.ndarray, " D"]:
    """Viscous coefficient of each coordinate, as the reduced engine has it."""
    found = [load.coefficients for load in bound.loads if isinstance(load, Damping)]
    return np.sum(found, axis=0) if found else np.zeros(bound.mechanics.dim)


def _exclude(scene: Scene, bounds: Sequence[Bound]) -> None:
    """Parts of one object that are in each other at rest, or joined and not apart, never touch."""
    if not any(bound.mechanics.dim > (BASE_DOF if bound.body.free else 0) for bound in bounds):
        return
    mujoco, config = scene.mujoco, scene.config
    model = compiled(scene)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    owners = np.array([scene.groups.get(model.geom(g).name, (-1, ""))[0] for g in range(model.ngeom)])
    sizes = np.array([bound.body.mesh.size * bound.body.mesh.unit for bound in bounds])
    done: set[tuple[int, int]] = set()
    for a in range(model.ngeom):
        for b in _within_reach(model, data, a, owners, float(config.apart * sizes[owners[a]])):
            one, two = sorted((int(model.geom_bodyid[a]), int(model.geom_bodyid[b])))
            if (one, two) in done:
                continue
            size = float(sizes[owners[a]])
            least = config.apart * size if model.body_parentid[two] == one else -config.overlap * size
            if mujoco.mj_geomDistance(model, data, a, b, size, None) < least:
                done.add((one, two))
                scene.spec.add_exclude(bodyname1=model.body(one).name, bodyname2=model.body(two).name)


def _within_reach(model: Any, data: Any, geom: int, owners: Int[np.ndarray, " G"], apart: float) -> list[int]:
    """Later geoms of other parts of the same object whose bounding spheres are less than ``apart`` away."""
    if owners[geom] < 0:
        return []
    later = np.arange(geom + 1, model.ngeom)
    later = later[(owners[later] == owners[geom]) & (model.geom_bodyid[later] != model.geom_bodyid[geom])]
    gaps = np.linalg.norm(data.geom_xpos[later] - data.geom_xpos[geom], axis=1)
    return later[gaps - model.geom_rbound[later] - model.geom_rbound[geom] < apart].tolist()


def _pair(scene: Scene) -> None:
    """Friction where MuJoCo's larger one of both is not the geometric mean, which is ours.

    Named pairs are looked at in every step, however far apart they are, so objects of one material have none: MuJoCo
    finds those that are near each other by sorting.
    """
    excluded = {frozenset((pair.bodyname1, pair.bodyname2)) for pair in scene.spec.excludes}
    alike: dict[tuple[bool, float], list[str]] = {}
    for geom in scene.spec.geoms:
        alike.setdefault((scene.groups[geom.name][0] < 0, float(geom.friction[0])), []).append(geom.name)
    for (a, ours), (b, theirs) in itertools.combinations(alike.items(), 2):
        if (a[0] and b[0]) or a[1] == b[1]:
            continue
        friction = math.sqrt(a[1] * b[1])
        for one, two in itertools.product(ours, theirs):
            bodies = frozenset((scene.groups[one][1], scene.groups[two][1]))
            named = any(name in scene.shapes and scene.shapes[name].friction is not None for name in (one, two))
            if named and len(bodies) == 2 and bodies not in excluded:
                coefficients = [friction, friction, 0.0, 0.0, 0.0]
                scene.spec.add_pair(geomname1=one, geomname2=two, friction=coefficients, condim=3, **scene.hardness)


def node_name(index: int, node: int) -> str:
    return f"{index}/{node}"


def joint_name(index: int, node: int) -> str:
    return f"joint {index}/{node}"
