"""URDF out: one link per part, meshes with their pictures beside it, convex pieces for collisions."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from neurok.core import Asset, Inertial, Joint
from neurok.core.material import DEFAULT_DENSITY
from neurok.io.files import Files
from neurok.io.part_materials import LABEL, pack
from neurok.io.urdf_bodies import (
    Body,
    as_articulation,
    bodies,
    finite_limits,
    lawful,
    safe_stem,
    stl_bytes,
    words,
)
from neurok.io.xml import Element, clean_name, unique_names

EFFORT, VELOCITY = 1e5, 10.0
"""URDF demands them of every limited joint [N m or N], [rad/s or m/s].

Simulators cut forces off at the effort, so it is more than it takes to lift the heaviest lid.
"""


def write(asset: Asset, path: Path, *, density: float = DEFAULT_DENSITY) -> Files:
    """The object as ``robot.urdf`` and a folder of meshes; ``density`` [kg/m^3] where the object has no materials."""
    articulation = as_articulation(asset)
    roots = [i for i, joint in enumerate(articulation.joints) if joint.parent < 0]
    needs_world = len(roots) > 1 or articulation.joints[roots[0]].kind != "fixed"
    # Only the root may be called "world": MuJoCo takes any link of that name for the ground.
    is_world = not needs_world and articulation.part_names[roots[0]] == "world"
    parts = bodies(asset, density, taken=() if is_world else ("world",))
    folder = f"{safe_stem(path.stem)}_meshes"
    robot = etree.Element("robot", name=clean_name(asset.mesh.name))
    _tell_mujoco(etree.SubElement(robot, "mujoco"))
    files: Files = {path.name: b""}
    for body in parts:
        _link(robot, body, folder, files)
    if needs_world:
        etree.SubElement(robot, "link", name="world")
    _joints(robot, parts, "world" if needs_world else None)
    _materials(robot, parts)
    files[path.name] = etree.tostring(robot, pretty_print=True, xml_declaration=True, encoding="utf-8")
    return files


def _tell_mujoco(element: Element) -> None:
    """What MuJoCo would do otherwise: drop the folder from file names, fuse fixed links, let parts jam.

    It alone lets the links of a fixed object touch their parent, and hulls of a cabinet and its drawers overlap at
    rest. Alone in its file the object has nothing else to touch; where it is attached to a scene, the scene's options
    hold.
    """
    etree.SubElement(element, "compiler", strippath="false", fusestatic="false")
    etree.SubElement(etree.SubElement(element, "option"), "flag", contact="disable")


def _joints(robot: Element, parts: list[Body], world: str | None) -> None:
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
            weightless = lawful(Inertial(0.0, np.zeros(3), np.zeros((3, 3))))
            _weight(etree.SubElement(robot, "link", name=carriage), weightless)
            slide = replace(joint, kind="prismatic", lower=joint.slide_lower, upper=joint.slide_upper)
            _joint(robot, slide, slide_name, parent, carriage, offset)
            parent, offset, joint = carriage, np.zeros(3), replace(joint, kind="revolute")
        _joint(robot, joint, body.joint_name, parent, body.name, offset)


def _link(robot: Element, body: Body, folder: str, files: Files) -> None:
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
    for k, piece in enumerate(body.hulls):
        name = f"{folder}/{body.file_name}_hull_{k}.stl"
        files[name] = stl_bytes(piece)
        collision = etree.SubElement(link, "collision")
        etree.SubElement(collision, "origin", xyz="0 0 0", rpy="0 0 0")
        _mesh(collision, name)


def _materials(robot: Element, parts: list[Body]) -> None:
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


def _joint(robot: Element, joint: Joint, name: str, parent: str, child: str, offset: np.ndarray) -> None:
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
    etree.SubElement(element, "axis", xyz=words(joint.axis))
    limit = {"effort": words(EFFORT), "velocity": words(VELOCITY)}
    if kind != "continuous":
        low, high = finite_limits(low, high)
        limit |= {"lower": words(low), "upper": words(high)}
    etree.SubElement(element, "limit", limit)
    if joint.damping:
        etree.SubElement(element, "dynamics", damping=words(joint.damping), friction="0")
