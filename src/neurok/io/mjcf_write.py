"""MJCF out: one body per part, visible meshes by surface, convex pieces for contact."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from neurok.core import Asset, Mesh, Surface, Texture
from neurok.core.material import DEFAULT_FRICTION
from neurok.geometry import lie
from neurok.geometry.decomposition import CollisionSolid
from neurok.geometry.topology import degenerate_faces
from neurok.io.files import Files
from neurok.io.materials_file import LABEL
from neurok.io.materials_file import pack_parts as pack
from neurok.io.physics import (
    UNBOUNDED,
    ExportBody,
    Physics,
    bodies,
    finite_limits,
    is_base,
    safe_stem,
    servo_gains,
    stl_bytes,
    untouching_bodies,
    words,
)
from neurok.io.surfaces import srgb_from_linear
from neurok.io.xml import Element, clean_name, unique_names

VISUAL = {"contype": "0", "conaffinity": "0", "group": "1"}
CONTACT = {"group": "3", "rgba": "0.5 0.5 0.5 0.4", "solref": "0.004 1", "solimp": "0.95 0.99 0.001"}
"""Harder than MuJoCo's own: a ball must not sink through a thin wall. Two steps of 2 ms are the shortest it takes."""


def write(asset: Asset, path: Path, **options: Any) -> Files:
    """The object as an MJCF model and a folder of meshes; ``options`` are fields of ``Physics``."""
    physics = Physics(**options)
    parts = bodies(asset, physics, taken=("world",))
    model = etree.Element("mujoco", model=clean_name(asset.mesh.name))
    etree.SubElement(model, "compiler", angle="radian", autolimits="true")
    etree.SubElement(model, "option", integrator="implicitfast")
    book = _Assets(etree.SubElement(model, "asset"), f"{safe_stem(path.stem)}_meshes", {path.name: b""})
    world = etree.SubElement(model, "worldbody")
    elements: dict[int, Element] = {}
    slides = unique_names([f"{body.joint_name}_slide" for body in parts], tuple(b.joint_name for b in parts))
    waiting = list(range(len(parts)))
    while waiting:
        i = waiting.pop(0)
        body = parts[i]
        if body.joint.parent >= 0 and body.joint.parent not in elements:
            waiting.append(i)  # its parent comes later in the list
            continue
        above = elements[body.joint.parent] if body.joint.parent >= 0 else world
        elements[i] = _body(above, body, slides[i], book, physics.free_base and is_base(body.joint))
    _exclude(model, asset, parts)
    if physics.servo:
        _servos(model, parts, slides)
    packed = pack([body.name for body in parts], [body.material for body in parts])
    if packed:
        etree.SubElement(etree.SubElement(model, "custom"), "text", name=LABEL, data=packed)
    book.files[path.name] = etree.tostring(model, pretty_print=True, xml_declaration=True, encoding="utf-8")
    if physics.scene:
        book.files |= scene_file(asset, path)
    return book.files


def _exclude(model: Element, asset: Asset, parts: list[ExportBody]) -> None:
    """Bodies of one object that never touch; parts that are welded to each other do not anyway."""
    pairs = untouching_bodies(asset, parts)
    if pairs:
        contact = etree.SubElement(model, "contact")
        for one, two in pairs:
            etree.SubElement(contact, "exclude", body1=parts[one].name, body2=parts[two].name)


def _servos(model: Element, parts: list[ExportBody], slides: list[str]) -> None:
    """A position servo for each joint value."""
    actuator = etree.SubElement(model, "actuator")
    for body, slide in zip(parts, slides, strict=True):
        if not body.joint.dof:
            continue
        assert body.losses is not None
        limits = body.joint.limits
        stiffness, damping = servo_gains(body.losses, limits)
        names = [body.joint_name, slide][: body.joint.dof]
        for k, name in enumerate(names):
            low, high = finite_limits(*limits[k])
            fields = {"name": f"{name}_servo", "joint": name, "kp": words(stiffness[k]), "kv": words(damping[k])}
            if abs(low) < UNBOUNDED and abs(high) < UNBOUNDED:
                fields["ctrlrange"] = words((low, high))
            force = float(body.losses.effort[k])
            etree.SubElement(actuator, "position", fields | {"forcerange": words((-force, force))})


def scene_file(asset: Asset, path: Path) -> Files:
    """A scene that includes the object's file, on a floor under its lowest point and in light."""
    mesh = asset.mesh.in_frame("z", 1.0)
    low, size = float(mesh.vertices[:, 2].min()), mesh.size
    scene = etree.Element("mujoco", model=f"{clean_name(asset.mesh.name)} scene")
    etree.SubElement(scene, "include", file=path.name)
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    etree.SubElement(scene, "statistic", center=words(middle), extent=words(1.2 * size))
    visual = etree.SubElement(scene, "visual")
    etree.SubElement(visual, "headlight", diffuse="0.6 0.6 0.6", ambient="0.3 0.3 0.3", specular="0 0 0")
    assets = etree.SubElement(scene, "asset")
    etree.SubElement(
        assets,
        "texture",
        type="skybox",
        builtin="gradient",
        rgb1="0.3 0.5 0.7",
        rgb2="0 0 0",
        width="512",
        height="3072",
    )
    etree.SubElement(
        assets, "texture", name="scene_ground", type="2d", builtin="checker", rgb1="0.5 0.5 0.55", rgb2="0.4 0.4 0.45",
        width="300", height="300",
    )  # fmt: skip
    etree.SubElement(
        assets, "material", name="scene_ground", texture="scene_ground", texuniform="true",
        texrepeat=words((2.0 / size, 2.0 / size)), reflectance="0.1",
    )  # fmt: skip
    world = etree.SubElement(scene, "worldbody")
    above = middle + np.array([0.0, 0.0, 3.0 * size])
    etree.SubElement(world, "light", pos=words(above), dir="0 0 -1", type="directional")
    etree.SubElement(
        world, "geom", name="scene_ground", type="plane", size="0 0 0.05", pos=words((0.0, 0.0, low)),
        material="scene_ground", friction=words((DEFAULT_FRICTION, 0.005, 0.0001)),
        solref=CONTACT["solref"], solimp=CONTACT["solimp"],
    )  # fmt: skip
    name = f"{path.stem}_scene{path.suffix}"
    return {name: etree.tostring(scene, pretty_print=True, xml_declaration=True, encoding="utf-8")}


def _body(above: Element, body: ExportBody, slide_name: str, book: _Assets, free: bool) -> Element:
    element = etree.SubElement(above, "body", name=body.name, pos=words(body.offset))
    inertial, m = body.inertial, body.inertial.inertia
    full = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
    etree.SubElement(
        element, "inertial", pos=words(inertial.center), mass=words(inertial.mass), fullinertia=words(full)
    )
    joint = body.joint
    if free:
        etree.SubElement(element, "freejoint", name=f"{body.name}_free")
    if joint.kind in ("prismatic", "cylindrical"):
        limits = (joint.lower, joint.upper)
        if joint.kind == "cylindrical":
            limits = (joint.slide_lower, joint.slide_upper)
        _joint(element, body, "slide", body.joint_name if joint.kind == "prismatic" else slide_name, limits)
    if joint.kind in ("revolute", "continuous", "cylindrical"):
        limits = (-math.inf, math.inf) if joint.kind == "continuous" else (joint.lower, joint.upper)
        _joint(element, body, "hinge", body.joint_name, limits)
    if body.mesh is not None:
        for mesh, surface in _by_surface(body.mesh):
            name = book.mesh(body.file_name, obj_bytes(mesh), ".obj")
            etree.SubElement(
                element, "geom", {"type": "mesh", "mesh": name, "material": book.material(surface)} | VISUAL
            )
    for solid in body.solids:
        etree.SubElement(element, "geom", _shape(solid, body, book) | CONTACT | _contact_fields(body))
    return element


def _shape(solid: CollisionSolid, body: ExportBody, book: _Assets) -> dict[str, str]:
    """A convex shape: a primitive where it is one, and else a mesh."""
    primitive = solid.primitive
    if primitive is None:
        return {"type": "mesh", "mesh": book.mesh(f"{body.file_name}_contact", stl_bytes(solid.piece), ".stl")}
    half = 0.5 * primitive.size
    size = {"box": half, "cylinder": half[[0, 2]], "sphere": half[:1]}[primitive.kind]
    turn = lie.matrix_to_quaternion(primitive.pose[:3, :3])
    return {"type": primitive.kind, "size": words(size), "pos": words(primitive.pose[:3, 3]), "quat": words(turn)}


def _contact_fields(body: ExportBody) -> dict[str, str]:
    """Density and friction of what touches; the mass is stated by the body. Torsion and rolling stay MuJoCo's own."""
    friction = {"friction": words((body.friction, 0.005, 0.0001))}
    return friction if body.material is None else {"density": words(body.material.density)} | friction


def _joint(element: Element, body: ExportBody, kind: str, name: str, limits: tuple[float, float]) -> None:
    low, high = finite_limits(*limits)
    joint, losses = body.joint, body.losses
    assert losses is not None
    k = 1 if joint.kind == "cylindrical" and kind == "slide" else 0
    fields = {
        "name": name,
        "type": kind,
        "axis": words(joint.axis),
        "damping": words(losses.damping[k]),
        "frictionloss": words(losses.friction[k]),
        "armature": words(losses.armature[k]),
    }
    if low <= -UNBOUNDED and high >= UNBOUNDED:
        fields["limited"] = "false"
    else:
        fields["range"] = words((low, high))
    etree.SubElement(element, "joint", fields)


def _by_surface(mesh: Mesh) -> list[tuple[Mesh, Surface]]:
    """One mesh for each surface, since a geom has one material; faces without area are left out."""
    solid = ~degenerate_faces(mesh.vertices, mesh.faces)
    surfaces = mesh.surfaces or (Surface(),)
    ids = np.zeros(mesh.face_count, dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    out = []
    for i, surface in enumerate(surfaces):
        mask = solid & (ids == i)
        if mask.any():
            piece = mesh.submesh(mask)
            out.append((piece, _tinted(surface, piece)))
    return out


def _tinted(surface: Surface, mesh: Mesh) -> Surface:
    """Vertex colours have no place in MJCF; their mean tints the surface."""
    if mesh.vertex_colors is None:
        return surface
    red, green, blue, alpha = map(float, mesh.vertex_colors.mean(axis=0) * surface.base_color)
    return replace(surface, base_color=(red, green, blue, alpha))


def obj_bytes(mesh: Mesh) -> bytes:
    """Positions, texture coordinates and triangles as OBJ; MuJoCo demands four vertices at least."""
    vertices, uv = mesh.vertices, mesh.uv
    if len(vertices) < 4:
        vertices = np.concatenate([vertices, vertices[:1]])
        uv = None if uv is None else np.concatenate([uv, uv[:1]])
    out = io.BytesIO()
    np.savetxt(out, vertices, fmt="v %.9g %.9g %.9g")
    corner = "%d"
    if uv is not None:
        np.savetxt(out, uv, fmt="vt %.7g %.7g")
        corner = "%d/%d"
    faces = np.repeat(mesh.faces + 1, 1 if uv is None else 2, axis=1)
    np.savetxt(out, faces, fmt=f"f {corner} {corner} {corner}")
    return out.getvalue()


class _Assets:
    """The ``<asset>`` section and the files behind it, while a model is being written."""

    def __init__(self, element: Element, folder: str, files: Files) -> None:
        self.element, self.folder, self.files = element, folder, files
        self.names: set[str] = set()
        self.materials: dict[Surface, str] = {}
        self.textures: dict[Texture, str] = {}

    def _new(self, name: str) -> str:
        [name] = unique_names([name], tuple(self.names))
        self.names.add(name)
        return name

    def mesh(self, stem: str, data: bytes, suffix: str) -> str:
        name = self._new(f"{stem}_mesh" if suffix == ".obj" else stem)
        file = f"{self.folder}/{name}{suffix}"
        self.files[file] = data
        # Thin and flat meshes have no volume; the bodies state their mass themselves.
        etree.SubElement(self.element, "mesh", name=name, file=file, inertia="shell")
        return name

    def material(self, surface: Surface) -> str:
        if surface not in self.materials:
            name = self._new(surface.name)
            fields = {"name": name, "rgba": words(srgb_from_linear(np.array([surface.base_color]))[0])}
            if surface.texture is not None:
                fields["texture"] = self._texture(surface.texture)
            self.materials[surface] = name
            etree.SubElement(self.element, "material", fields | {"specular": words(0.5 * (1 - surface.roughness))})
        return self.materials[surface]

    def _texture(self, texture: Texture) -> str:
        if texture not in self.textures:
            name = self._new("texture")
            file = f"{self.folder}/{name}.png"
            is_png = texture.data[:8] == b"\x89PNG\r\n\x1a\n"
            self.files[file] = texture.data if is_png else Texture.from_pixels(texture.pixels()).data
            etree.SubElement(self.element, "texture", name=name, type="2d", file=file)
            self.textures[texture] = name
        return self.textures[texture]
