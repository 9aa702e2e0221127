"""URDF out: one link per part, meshes with their pictures beside it, convex pieces for collisions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from lxml import etree

from neurok.core import Articulation, Asset, Inertial, Joint
from neurok.core.assembly import carriers_of
from neurok.geometry import lie
from neurok.geometry.convex import Piece, Primitive, clipped, convex_hull, enclosing, hull_volume, separation
from neurok.geometry.decomposition import CollisionSolid
from neurok.io.files import Files
from neurok.io.materials_file import LABEL
from neurok.io.materials_file import pack_parts as pack
from neurok.io.physics import (
    ExportBody,
    Physics,
    as_articulation,
    bodies,
    finite_limits,
    plausible,
    safe_stem,
    untouching_bodies,
    words,
)
from neurok.io.xml import Element, clean_name, unique_names

VELOCITY = 10.0
"""URDF demands one of every limited joint [rad/s or m/s]."""

REST_GAP = 1e-3
"""How far shapes that must not touch are cut back, as a share of the object's size ..."""

KEPT = 0.3
"""... unless less than this share of a shape would stay; then it is left out."""

SWEPT = 49
"""Places at which shapes that move are cut: every 4 degrees of a right angle to both sides, or closer."""

UPRIGHT = 1e-9
"""Cosine of the pitch below which roll and yaw turn about the same axis: all of it is told as roll."""


def write(asset: Asset, path: Path, **options: Any) -> Files:
    """The object as ``robot.urdf`` and a folder of meshes; ``options`` are fields of ``Physics``.

    Simulators let parts of one object touch unless they hang on each other, and MuJoCo even then if what carries them
    stands still. Shapes that overlap at rest are cut back, since URDF cannot say that they do not touch.
    """
    physics = Physics(**options)
    articulation = as_articulation(asset)
    roots = [i for i, joint in enumerate(articulation.joints) if joint.parent < 0]
    needs_world = len(roots) > 1 or articulation.joints[roots[0]].kind != "fixed"
    # Only the root may be called "world": MuJoCo takes any link of that name for the ground.
    is_world = not needs_world and articulation.part_names[roots[0]] == "world"
    parts = bodies(asset, physics, taken=() if is_world else ("world",))
    _cut_back(asset, parts)
    folder = f"{safe_stem(path.stem)}_meshes"
    robot = etree.Element("robot", name=clean_name(asset.mesh.name))
    # MuJoCo would drop the folder from file names and fuse fixed links.
    etree.SubElement(etree.SubElement(robot, "mujoco"), "compiler", strippath="false", fusestatic="false")
    files: Files = {path.name: b""}
    for body in parts:
        _link(robot, body, folder, files)
    if needs_world:
        etree.SubElement(robot, "link", name="world")
    _joints(robot, parts, "world" if needs_world else None)
    _materials(robot, parts)
    files[path.name] = etree.tostring(robot, pretty_print=True, xml_declaration=True, encoding="utf-8")
    return files


def _cut_back(asset: Asset, parts: list[ExportBody]) -> None:
    """Take from shapes what lies in parts that must not touch them; the lighter part gives way.

    What moves on something that stands still is cut wherever its joint brings it, so that it moves as freely as where
    a format can say that the two never touch.
    """
    articulation = as_articulation(asset).in_frame("z", 1.0)
    origins = [joint.origin for joint in articulation.joints]
    carriers = carriers_of(articulation)
    gap = REST_GAP * articulation.mesh.size
    for one, two in untouching_bodies(asset, parts):
        nodes = sorted((parts[one].node, parts[two].node))
        if nodes[0] > 0 and carriers.get(nodes[1]) == nodes[0]:
            continue  # every simulator leaves out what hangs on each other and moves
        moving = two if parts[one].node == 0 else one if parts[two].node == 0 else None
        if moving is None:
            moving = min((one, two), key=lambda i: parts[i].inertial.mass)
        still = one if moving == two else two
        is_joined = nodes[0] == 0 and carriers.get(nodes[1]) == 0
        places = articulation.transforms(_path(articulation, parts[moving].node if is_joined else 0))
        for back in np.linalg.inv(places[:, moving]) @ places[:, still]:
            pieces = [
                (lie.apply(back, vertices + origins[still]) - origins[moving], faces)
                for vertices, faces in map(_around, parts[still].solids)
            ]
            _clear(parts[moving].solids, pieces, gap)


def _clear(solids: list[CollisionSolid], pieces: list[Piece], gap: float) -> None:
    """Cut shapes back, in place, until they are ``gap`` away from all of some pieces."""
    boxes = [np.array([[piece[0].min(axis=0), piece[0].max(axis=0)] for piece in each]).reshape(-1, 2, 3)
             for each in (map(_around, solids), pieces)]  # fmt: skip
    mine, others = boxes
    near = (mine[None, :, 0] - gap <= others[:, None, 1]).all(axis=2)
    near &= (others[:, None, 0] - gap <= mine[None, :, 1]).all(axis=2)
    kept: dict[int, CollisionSolid | None] = dict(enumerate(solids))
    for other, k in np.argwhere(near).tolist():
        if (solid := kept[k]) is not None:
            kept[k] = _without(solid, pieces[other], gap)
    solids[:] = [solid for solid in kept.values() if solid is not None]


def _path(articulation: Articulation, node: int) -> Float[np.ndarray, "T D"]:
    """Joint values at rest, and then those that bring one node from end to end of its range."""
    rest = np.zeros((1, articulation.dof))
    rows = [rest]
    for part, slot in enumerate(articulation.slots):
        if node and int(articulation.part_nodes[part]) == node and articulation.joints[part].dof:
            for k in range(slot.start, slot.stop):
                low, high = articulation.ranges[k]
                along = np.repeat(rest, SWEPT, axis=0)
                along[:, k] = np.linspace(low, high, SWEPT)
                rows.append(along)
    return np.concatenate(rows)


def _without(solid: CollisionSolid, other: Piece, gap: float) -> CollisionSolid | None:
    """A shape cut back until it is ``gap`` away from another; ``None`` where hardly anything would be left."""
    vertices, faces = own = _around(solid)
    apart, normal = separation(other, own)
    if apart >= gap:
        return solid
    height = float((other[0] @ normal).max()) + gap
    left = clipped(vertices[faces], normal, height)
    piece = convex_hull(left.reshape(-1, 3), 0.0) if len(left) else None
    if piece is None or hull_volume(piece) < KEPT * hull_volume(solid.piece):
        return None
    return CollisionSolid(piece)


@lru_cache(maxsize=4096)
def _around(solid: CollisionSolid) -> Piece:
    """A convex piece that holds all of a shape: round primitives are a little larger than the piece they stand for."""
    return solid.piece if solid.primitive is None else enclosing(solid.primitive)


def _joints(robot: Element, parts: list[ExportBody], world: str | None) -> None:
    """The joints of all parts; roots hang on the ``world`` link, if there is one."""
    names = [body.name for body in parts]
    carriages = unique_names([f"{name}_slide" for name in names], tuple(names))
    slides = unique_names([f"{body.joint_name}_slide" for body in parts], tuple(b.joint_name for b in parts))
    for body, carriage, slide_name in zip(parts, carriages, slides, strict=True):
        joint, offset = body.joint, body.offset
        parent = names[joint.parent] if joint.parent >= 0 else world
        if parent is None:
            continue
        if joint.kind == "cylindrical":
            # URDF has no such joint: a weightless carriage slides, and the part turns on it.
            weightless = plausible(Inertial(0.0, np.zeros(3), np.zeros((3, 3))))
            _weight(etree.SubElement(robot, "link", name=carriage), weightless)
            slide = replace(joint, kind="prismatic", lower=joint.slide_lower, upper=joint.slide_upper)
            _joint(robot, slide, slide_name, parent, carriage, offset, body, 1)
            parent, offset, joint = carriage, np.zeros(3), replace(joint, kind="revolute")
        _joint(robot, joint, body.joint_name, parent, body.name, offset, body, 0)


def _link(robot: Element, body: ExportBody, folder: str, files: Files) -> None:
    from neurok.io import obj

    link = etree.SubElement(robot, "link", name=body.name)
    _weight(link, body.inertial)
    if body.mesh is None:
        return
    visual = etree.SubElement(link, "visual")
    etree.SubElement(visual, "origin", xyz="0 0 0", rpy="0 0 0")
    _mesh(visual, f"{folder}/{body.file_name}.obj")
    written = obj.write(Asset(body.mesh), Path(f"{body.file_name}.obj"))
    files.update({f"{folder}/{name}": data for name, data in written.items()})
    for k, solid in enumerate(body.solids):
        collision = etree.SubElement(link, "collision")
        if solid.primitive is not None:
            _primitive(collision, solid.primitive)
            continue
        name = f"{folder}/{body.file_name}_hull_{k}.obj"
        files[name] = _plain_obj(solid.piece)
        etree.SubElement(collision, "origin", xyz="0 0 0", rpy="0 0 0")
        _mesh(collision, name)


def _plain_obj(piece: Piece) -> bytes:
    """A convex piece as OBJ, which all simulators read; Drake takes no STL."""
    vertices, faces = piece
    lines = [f"v {words(vertex)}" for vertex in vertices] + [f"f {a} {b} {c}" for a, b, c in faces + 1]
    return ("\n".join(lines) + "\n").encode()


def roll_pitch_yaw(turn: Float[np.ndarray, "3 3"]) -> tuple[float, float, float]:
    """Angles of a rotation about the fixed axes x, y, z, one after the other."""
    level = math.hypot(turn[2, 1], turn[2, 2])
    pitch = math.atan2(-turn[2, 0], level)
    if level < UPRIGHT:
        return math.atan2(-turn[1, 2], turn[1, 1]), pitch, 0.0
    return math.atan2(turn[2, 1], turn[2, 2]), pitch, math.atan2(turn[1, 0], turn[0, 0])


def _primitive(collision: Element, primitive: Primitive) -> None:
    angles = roll_pitch_yaw(primitive.pose[:3, :3])
    etree.SubElement(collision, "origin", xyz=words(primitive.pose[:3, 3]), rpy=words(angles))
    geometry = etree.SubElement(collision, "geometry")
    size = primitive.size
    if primitive.kind == "box":
        etree.SubElement(geometry, "box", size=words(size))
    elif primitive.kind == "cylinder":
        etree.SubElement(geometry, "cylinder", radius=words(0.5 * size[0]), length=words(size[2]))
    else:
        etree.SubElement(geometry, "sphere", radius=words(0.5 * size[0]))


def _materials(robot: Element, parts: list[ExportBody]) -> None:
    """URDF has masses and no more: friction goes where Gazebo looks for it, all figures to an element of our own."""
    for body in parts:
        if body.material is not None:
            friction = etree.SubElement(robot, "gazebo", reference=body.name)
            for name in ("mu1", "mu2"):
                coefficient: Any = etree.SubElement(friction, name)
                coefficient.text = words(body.material.friction)
    packed = pack([body.name for body in parts], [body.material for body in parts])
    if packed:
        etree.SubElement(robot, LABEL, data=packed)


def _mesh(element: Element, name: str) -> None:
    etree.SubElement(etree.SubElement(element, "geometry"), "mesh", filename=name)


def _weight(link: Element, inertial: Inertial) -> None:
    element = etree.SubElement(link, "inertial")
    etree.SubElement(element, "origin", xyz=words(inertial.center), rpy="0 0 0")
    etree.SubElement(element, "mass", value=words(inertial.mass))
    m = inertial.inertia
    keys = {"ixx": m[0, 0], "ixy": m[0, 1], "ixz": m[0, 2], "iyy": m[1, 1], "iyz": m[1, 2], "izz": m[2, 2]}
    etree.SubElement(element, "inertia", {key: words(value) for key, value in keys.items()})


def _joint(
    robot: Element, joint: Joint, name: str, parent: str, child: str, offset: np.ndarray, body: ExportBody, k: int
) -> None:
    """One joint value: the ``k``-th of a body."""
    low, high = joint.lower, joint.upper
    kind: str = joint.kind
    if kind == "revolute" and math.isinf(low) and math.isinf(high):
        kind = "continuous"
    element = etree.SubElement(robot, "joint", name=name, type=kind)
    etree.SubElement(element, "parent", link=parent)
    etree.SubElement(element, "child", link=child)
    etree.SubElement(element, "origin", xyz=words(offset), rpy="0 0 0")
    if kind == "fixed":
        return
    losses = body.losses
    assert losses is not None
    etree.SubElement(element, "axis", xyz=words(joint.axis))
    limit = {"effort": words(losses.effort[k]), "velocity": words(VELOCITY)}
    if kind != "continuous":
        low, high = finite_limits(low, high)
        limit |= {"lower": words(low), "upper": words(high)}
    etree.SubElement(element, "limit", limit)
    etree.SubElement(element, "dynamics", damping=words(losses.damping[k]), friction=words(losses.friction[k]))
