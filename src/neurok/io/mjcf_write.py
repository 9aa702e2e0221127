"""MJCF out: one body per part, visible meshes by surface, convex pieces for contact."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from lxml import etree

from neurok.core import Asset, Joint, Mesh, Surface, Texture
from neurok.core.material import DEFAULT_DENSITY
from neurok.geometry.topology import degenerate_faces
from neurok.io.colors import srgb_from_linear
from neurok.io.files import Files
from neurok.io.part_materials import LABEL, pack
from neurok.io.urdf_bodies import UNBOUNDED, Body, bodies, finite_limits, safe_stem, stl_bytes, words
from neurok.io.xml import Element, clean_name, unique_names

VISUAL = {"contype": "0", "conaffinity": "0", "group": "1"}
CONTACT = {"contype": "1", "conaffinity": "0", "group": "3", "rgba": "0.5 0.5 0.5 0.4"}
"""Parts touch the world but not each other: hulls of a cabinet and its drawers overlap at rest."""


def write(asset: Asset, path: Path, *, density: float = DEFAULT_DENSITY) -> Files:
    """The object as an MJCF model and a folder of meshes; ``density`` [kg/m^3] where it has no materials."""
    parts = bodies(asset, density, taken=("world",))
    model = etree.Element("mujoco", model=clean_name(asset.mesh.name))
    etree.SubElement(model, "compiler", angle="radian", autolimits="true")
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
        elements[i] = _body(above, body, slides[i], book)
    packed = pack([body.name for body in parts], [body.material for body in parts])
    if packed:
        etree.SubElement(etree.SubElement(model, "custom"), "text", name=LABEL, data=packed)
    book.files[path.name] = etree.tostring(model, pretty_print=True, xml_declaration=True, encoding="utf-8")
    return book.files


def _body(above: Element, body: Body, slide_name: str, book: _Assets) -> Element:
    element = etree.SubElement(above, "body", name=body.name, pos=words(body.offset))
    inertial, m = body.inertial, body.inertial.inertia
    full = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
    etree.SubElement(
        element, "inertial", pos=words(inertial.center), mass=words(inertial.mass), fullinertia=words(full)
    )
    joint = body.joint
    if joint.kind in ("prismatic", "cylindrical"):
        limits = (joint.lower, joint.upper)
        if joint.kind == "cylindrical":
            limits = (joint.slide_lower, joint.slide_upper)
        _joint(element, joint, "slide", body.joint_name if joint.kind == "prismatic" else slide_name, limits)
    if joint.kind in ("revolute", "continuous", "cylindrical"):
        limits = (-math.inf, math.inf) if joint.kind == "continuous" else (joint.lower, joint.upper)
        _joint(element, joint, "hinge", body.joint_name, limits)
    if body.mesh is not None:
        for mesh, surface in _by_surface(body.mesh):
            name = book.mesh(body.file_name, obj_bytes(mesh), ".obj")
            etree.SubElement(
                element, "geom", {"type": "mesh", "mesh": name, "material": book.material(surface)} | VISUAL
            )
    for piece in body.hulls:
        name = book.mesh(f"{body.file_name}_contact", stl_bytes(piece), ".stl")
        etree.SubElement(element, "geom", {"type": "mesh", "mesh": name} | CONTACT | _stuff(body))
    return element


def _stuff(body: Body) -> dict[str, str]:
    """Density and friction of what touches; the mass is stated by the body. Torsion and rolling stay MuJoCo's own."""
    if body.material is None:
        return {}
    return {"density": words(body.material.density), "friction": words((body.material.friction, 0.005, 0.0001))}


def _joint(element: Element, joint: Joint, kind: str, name: str, limits: tuple[float, float]) -> None:
    low, high = finite_limits(*limits)
    fields = {"name": name, "type": kind, "axis": words(joint.axis), "damping": words(joint.damping)}
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
