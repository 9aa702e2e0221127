"""An object as simulators want it: bodies with their own frames, mass, hulls and names (metres, z up).

What exports can be asked for is the same in URDF, MJCF and USD; what each of them cannot hold is said.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Inertial, Joint, Material, Mesh
from neurok.core.assembly import ASSEMBLY, SMOOTH, JointLosses, joint_losses, untouching
from neurok.core.material import DEFAULT_DENSITY, DEFAULT_FRICTION, SHEET_SHARE
from neurok.errors import NeurokError
from neurok.geometry.convex import Piece
from neurok.geometry.decomposition import CollisionSolid, collision_solids
from neurok.geometry.operators import mass_properties
from neurok.io import xml
from neurok.io.materials_file import part_materials

ROBOTS = (".urdf", ".xml", ".mjcf", ".usd", ".usda", ".usdc", ".usdz")
"""Formats of simulators."""


SERVO_RATE = 20.0
"""How fast a position servo comes to its target [1/s]: within a third of a second."""

SERVO_SAG = 0.01
"""How far it may give way under the weight that it carries, as a share of its range."""


@dataclass(frozen=True)
class Physics:
    """How an object is written for simulators."""

    density: float = DEFAULT_DENSITY
    """Where it has no materials [kg/m^3]."""

    mass: float | None = None
    """Of the whole object [kg], instead of what its materials say."""

    rubs: bool = True
    """Whether joints that name no damping rub as those of our own engines do, or move for ever."""

    free_base: bool = False
    """Whether the whole object can move, or stands fixed where it is."""

    servo: bool = False
    """Whether each joint has a servo that brings it to a target."""

    scene: bool = False
    """Whether a scene with ground and light is written beside an MJCF file."""


def servo_gains(losses: JointLosses, ranges: Float[np.ndarray, "D 2"]) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of critically damped servos: quick enough, and stiff enough for the weight they carry."""
    span = np.where(np.isfinite(ranges).all(axis=1), ranges[:, 1] - ranges[:, 0], math.pi)
    inertia = losses.inertia + losses.armature
    need = (losses.weight + losses.friction) / (SERVO_SAG * np.maximum(span, 1e-3))
    stiffness = np.maximum(inertia * SERVO_RATE**2, need)
    return stiffness, np.maximum(2.0 * np.sqrt(stiffness * inertia) - losses.damping, 0.0)


def resized(asset: Asset, size: float) -> Asset:
    """The object with the longest side of its box ``size`` metres long; masses of its file grow with its volume."""
    if not (math.isfinite(size) and size > 0):
        raise NeurokError(f"size must be positive [m], got {size}.")
    now = float(np.ptp(asset.mesh.vertices, axis=0).max()) * asset.mesh.unit
    if not now > 0:
        raise NeurokError("An object without extent cannot be given a size.")
    share = size / now
    out = asset.relabelled(asset.mesh.up, asset.mesh.unit * share)
    if out.articulation is None or out.articulation.inertials is None:
        return out
    heavier = tuple(
        each and Inertial(each.mass * share**3, each.center, each.inertia * share**5)
        for each in out.articulation.inertials
    )
    return replace(out, articulation=replace(out.articulation, inertials=heavier))


def welded(articulation: Articulation, parts: set[int]) -> Articulation:
    """The same with the joints of some parts fixed."""
    joints = tuple(
        replace(joint, kind="fixed") if part in parts else joint for part, joint in enumerate(articulation.joints)
    )
    return replace(articulation, joints=joints)


def left_out(asset: Asset, suffix: str, physics: Physics) -> list[str]:
    """What a format of simulators cannot hold of an object, one sentence each."""
    suffix = suffix.lower()
    if suffix not in ROBOTS:
        return []
    notes = []
    has_joints = asset.articulation is not None and asset.articulation.dof > 0
    if suffix == ".urdf":
        notes.append(
            "URDF cannot say which shapes do not touch: those that overlap what they do not hang on by a moving "
            "joint are cut back."
        )
        if physics.servo and has_joints:
            notes.append("URDF has no servos: their force is the effort of each joint, gains are left out.")
        if physics.free_base:
            notes.append("URDF leaves it to the simulator whether the base is free; MuJoCo holds it fixed.")
    both = asset.articulation is not None and any(joint.dof > 1 for joint in asset.articulation.joints)
    if suffix.startswith(".usd") and both:
        notes.append("Dry friction and armature of joints that turn and slide are left out: USD has no names for them.")
    if suffix in (".urdf", ".xml", ".mjcf") and asset.materials is not None:
        notes.append(f"Bounce of materials is left out of contacts: '{suffix}' files have no restitution.")
    return notes


UNBOUNDED = 1e6
"""Limits this far out stand for none, since URDF cannot say infinity."""

LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-10
"""Simulators refuse moving bodies lighter than about this [kg], [kg m^2]."""


@dataclass(frozen=True, eq=False)
class ExportBody:
    """One part in its own frame: parallel to the object's, at the part's joint."""

    name: str
    file_name: str
    """The name with only letters that every file system takes."""

    joint: Joint
    joint_name: str
    offset: Float[np.ndarray, "3"]
    """Where the frame stands: from the parent's frame, or from the object's for a root."""

    mesh: Mesh | None
    solids: list[CollisionSolid]
    """Convex shapes that stand in for it in collisions."""

    inertial: Inertial
    material: Material | None = None
    """What most of it is made of, where the object has materials."""

    node: int = 0
    """The node of the object's tree that moves it; 0 stands still."""

    losses: JointLosses | None = None
    """Of its own joint values: none, one, or the turn and the slide of a cylindrical joint."""

    @property
    def friction(self) -> float:
        """Coulomb's coefficient of its surface."""
        return DEFAULT_FRICTION if self.material is None else self.material.friction


def bodies(asset: Asset, physics: Physics, taken: tuple[str, ...] = ()) -> list[ExportBody]:
    """The parts of an object as bodies; ``taken`` are names that the format keeps for itself.

    With a mass of the whole object parts are weighed as always, and then made heavier or lighter alike.
    """
    density, mass = physics.density, physics.mass
    if not (np.isfinite(density) and density > 0):
        raise NeurokError(f"density must be positive [kg/m^3], got {density}.")
    if mass is not None and not (np.isfinite(mass) and mass > 0):
        raise NeurokError(f"mass must be positive [kg], got {mass}.")
    articulation = as_articulation(asset).in_frame("z", 1.0)
    mesh, joints = articulation.mesh, articulation.joints
    names = xml.unique_names(articulation.part_names, taken)
    joint_names = xml.unique_names(
        [name if joint.name == "joint" else joint.name for name, joint in zip(names, joints, strict=True)]
    )
    file_names = xml.unique_names([re.sub(r"[^A-Za-z0-9_.-]+", "_", name).lower()[:60] for name in names])
    materials: list[Material | None] = [None] * len(joints)
    face_density, sheet = np.full(mesh.face_count, density), np.full(mesh.face_count, SHEET_SHARE * mesh.size)
    if asset.materials is not None and len(asset.materials.ids) == mesh.vertex_count:
        face_density = asset.materials.density[mesh.faces].mean(axis=1)
        usual = asset.materials.thickness[mesh.faces].mean(axis=1)
        sheet = np.where(np.isnan(usual), sheet, usual)
        materials = part_materials(asset.materials, mesh)
    masks = [mesh.face_parts == i for i in range(len(joints))]
    parts = [mesh.submesh(mask, name) if mask.any() else None for mask, name in zip(masks, names, strict=True)]
    given = articulation.inertials or (None,) * len(joints)
    inertials = [
        known or _weigh(part, face_density[mask], sheet[mask])
        for known, part, mask in zip(given, parts, masks, strict=True)
    ]
    total = sum(inertial.mass for inertial in inertials)
    if mass is not None and total > 0:
        share = mass / total
        inertials = [Inertial(share * each.mass, each.center, share * each.inertia) for each in inertials]
    inertials = [plausible(each) for each in inertials]
    losses = joint_losses(articulation, inertials, ASSEMBLY if physics.rubs else SMOOTH)
    out = []
    for i, (joint, part, inertial) in enumerate(zip(joints, parts, inertials, strict=True)):
        parent = joints[joint.parent].origin if joint.parent >= 0 else np.zeros(3)
        solids = [] if part is None else collision_solids(part.vertices, part.faces, float(sheet[masks[i]].mean()))
        out.append(
            ExportBody(
                names[i],
                file_names[i],
                joint,
                joint_names[i],
                joint.origin - parent,
                None if part is None else _alone(part.with_vertices(part.vertices - joint.origin)),
                [solid.moved(-joint.origin) for solid in solids],
                replace(inertial, center=inertial.center - joint.origin),
                materials[i],
                int(articulation.part_nodes[i]),
                losses.of(articulation.slots[i]),
            )
        )
    return out


def untouching_bodies(asset: Asset, parts: list[ExportBody]) -> list[tuple[int, int]]:
    """Pairs of bodies that never touch each other, and would if nobody said so."""
    articulation = as_articulation(asset).in_frame("z", 1.0)
    pieces = [
        [(solid.piece[0] + joint.origin, solid.piece[1]) for solid in body.solids]
        for body, joint in zip(parts, articulation.joints, strict=True)
    ]
    apart = untouching(articulation, pieces)
    shaped = [i for i, body in enumerate(parts) if body.solids]
    return [(i, j) for i in shaped for j in shaped if i < j and tuple(sorted((parts[i].node, parts[j].node))) in apart]


def is_base(joint: Joint) -> bool:
    """Whether this is the joint of a part on which the object stands."""
    return joint.parent < 0 and joint.kind == "fixed"


def as_articulation(asset: Asset) -> Articulation:
    """The object's joints, with limits around its rest; without any, all parts are fixed to the first."""
    if (known := asset.articulation) is not None:
        return replace(known, joints=tuple(joint.around_rest for joint in known.joints))
    mesh = asset.mesh
    if not mesh.part_names:
        mesh = replace(mesh, part_ids=np.zeros(mesh.vertex_count, dtype=np.int64), part_names=(mesh.name,))
    return Articulation(mesh, tuple(Joint(parent=min(i, 1) - 1) for i in range(mesh.part_count)), name=mesh.name)


def _alone(part: Mesh) -> Mesh:
    """A part as an object of its own: no labels, only the surfaces it uses.

    It is called y-up because mesh files are: its coordinates must be written as they are.
    """
    part = replace(part, part_ids=None, part_names=(), up="y")
    if part.face_surfaces is None:
        return part
    used, ids = np.unique(part.face_surfaces, return_inverse=True)
    surfaces = tuple(part.surfaces[i] for i in used)
    return replace(part, surfaces=surfaces, face_surfaces=ids.reshape(-1))


def _weigh(part: Mesh | None, density: Float[np.ndarray, " F"], thickness: Float[np.ndarray, " F"]) -> Inertial:
    if part is None:
        return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    return Inertial(*mass_properties(part.vertices, part.faces, density, thickness))


def plausible(inertial: Inertial) -> Inertial:
    """Mass properties that a solid body can have: simulators refuse zero mass and broken triangle inequalities."""
    values, axes = np.linalg.eigh(0.5 * (inertial.inertia + inertial.inertia.T))
    values = np.maximum(values, max(LEAST_INERTIA, 1e-4 * float(values.max(initial=0.0))))
    values += max(0.0, 1.001 * values[2] - values[0] - values[1])
    return Inertial(max(inertial.mass, LEAST_MASS), inertial.center, (axes * values) @ axes.T)


def finite_limits(low: float, high: float) -> tuple[float, float]:
    """Limits that robot files can state; one that leaves no room gets a hair, or MuJoCo would drop it."""
    low, high = max(low, -UNBOUNDED), min(high, UNBOUNDED)
    return low, max(high, low + 1e-6)


def stl_bytes(piece: Piece) -> bytes:
    """A convex piece as binary STL."""
    vertices, faces = piece
    record = np.zeros(len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    record["corners"] = vertices[faces]
    normals = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    record["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return b"convex piece".ljust(80, b" ") + np.uint32(len(faces)).tobytes() + record.tobytes()


def words(values: np.ndarray | tuple[float, ...] | list[float] | float) -> str:
    """Numbers as an attribute; zero without a sign."""
    return " ".join(f"{float(v) + 0.0:.12g}" for v in np.atleast_1d(np.asarray(values, dtype=np.float64)))


def safe_stem(stem: str) -> str:
    """A file's stem as the prefix of the folder of its meshes."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", stem) or "object"
