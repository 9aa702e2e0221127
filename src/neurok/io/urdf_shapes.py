"""The geometry and colours of URDF links."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh, Surface
from neurok.errors import FormatError
from neurok.geometry import lie
from neurok.io import xml
from neurok.io.files import read_bytes, resolve_inside
from neurok.io.mtl import texture_from_bytes
from neurok.io.urdf_pieces import Piece, box, capsule, colored

Pose = Float[np.ndarray, "4 4"]


@dataclass(frozen=True)
class Looks:
    """What the links of one robot share: its folder, its named materials, meshes read so far."""

    folder: Path
    what: str
    notes: list[str]
    materials: dict[str, Surface] = field(default_factory=dict)
    meshes: dict[Path, Mesh] = field(default_factory=dict)

    @staticmethod
    def of(robot: xml.Element, folder: Path, what: str, notes: list[str]) -> Looks:
        looks = Looks(folder, what, notes)
        # A material defined inside a link may be named by any other.
        for element in robot.iter("material"):
            surface = looks.define(element)
            if surface is not None:
                looks.materials.setdefault(element.get("name") or "", surface)
        return looks

    def define(self, element: xml.Element) -> Surface | None:
        """The surface a ``<material>`` describes; ``None`` when it only names one."""
        color, picture = element.find("color"), element.find("texture")
        name = element.get("name") or "surface"
        reference = None if picture is None else picture.get("filename")
        if color is None and reference is None:
            return None
        here = f"Material '{name}' of {self.what}"
        surface = colored(xml.numbers(color, "rgba", (1.0, 1.0, 1.0, 1.0), here), name)  # type: ignore[arg-type]
        if reference is None:
            return surface
        path = self.find(reference)
        return replace(surface, texture=texture_from_bytes(read_bytes(path), path.name))

    def find(self, reference: str) -> Path:
        """The file a reference names; ``package://NAME/FILE`` is looked for in the robot's folder."""
        if not reference.startswith("package://"):
            path = resolve_inside(self.folder, reference)
            if not path.is_file():
                raise FormatError(f"{self.what} refers to '{reference}', which is missing.")
            return path
        inside = reference.removeprefix("package://")
        for candidate in (inside.partition("/")[2], inside):
            path = resolve_inside(self.folder, candidate)
            if path.is_file():
                return path
        raise FormatError(
            f"{self.what} refers to '{reference}', which is not below its folder; "
            "put the URDF at the top of its package."
        )

    def mesh(self, reference: str) -> Mesh:
        """The mesh of a file, read once."""
        path = self.find(reference)
        if path not in self.meshes:
            self.meshes[path] = _load_mesh(path, self.folder)
        return self.meshes[path]


def origin_pose(element: xml.Element | None, what: str) -> Pose:
    """The pose in an ``<origin>`` child: fixed-axis roll, pitch, yaw, then the offset."""
    origin = None if element is None else element.find("origin")
    roll, pitch, yaw = xml.numbers(origin, "rpy", (0.0, 0.0, 0.0), what)
    x, y, z = np.eye(3)
    rotation = lie.axis_angle_matrix(z, yaw) @ lie.axis_angle_matrix(y, pitch) @ lie.axis_angle_matrix(x, roll)
    return lie.compose(rotation, xml.numbers(origin, "xyz", (0.0, 0.0, 0.0), what))


def link_pieces(link: xml.Element, part: int, pose: np.ndarray, looks: Looks) -> list[Piece]:
    """The visual geometry of a link, or its collision geometry where it has no other."""
    name = link.get("name")
    pieces = []
    for element in link.findall("visual") or link.findall("collision"):
        here = f"Link '{name}' of {looks.what}"
        mesh, scale = _geometry(element, here, looks)
        material = element.find("material")
        surface = None
        if material is not None:
            surface = looks.define(material) or looks.materials.get(material.get("name") or "")
        if mesh.surfaces and any(s.texture for s in mesh.surfaces):
            surface = None  # the mesh's own pictures say more than one colour
        placement = pose @ origin_pose(element, here) @ lie.compose(np.diag(scale), np.zeros(3))
        pieces.append(Piece(part, mesh, placement, surface))
    if not link.findall("visual") and pieces:
        looks.notes.append(f"Link '{name}' has no visual geometry; its collision geometry is shown.")
    return pieces


def _geometry(element: xml.Element, here: str, looks: Looks) -> tuple[Mesh, np.ndarray]:
    """The mesh of a ``<geometry>`` and the scale along its axes."""
    geometry = element.find("geometry")
    shape = None if geometry is None or len(geometry) == 0 else geometry[0]
    if shape is None:
        raise FormatError(f"{here} has an element without <geometry>.")
    unit = np.ones(3)
    if shape.tag == "mesh":
        scale = xml.numbers(shape, "scale", (1.0, 1.0, 1.0), here)
        if not np.abs(scale).min() > 0:
            raise FormatError(f"{here} scales a mesh to nothing.")
        return looks.mesh(shape.get("filename") or ""), scale
    if shape.tag == "box":
        return box(np.array(_positive(xml.numbers(shape, "size", (1.0, 1.0, 1.0), here), here)) / 2), unit
    if shape.tag not in ("sphere", "cylinder", "capsule"):
        raise FormatError(f"{here} has the shape <{shape.tag}>; mesh, box, cylinder, sphere and capsule are read.")
    radius = _positive(xml.numbers(shape, "radius", (1.0,), here), here)[0]
    if shape.tag == "sphere":
        return capsule(radius, 0.0), unit
    length = _positive(xml.numbers(shape, "length", (1.0,), here), here)[0]
    return capsule(radius, length / 2, rounded=shape.tag == "capsule"), unit


def _positive(values: np.ndarray, here: str) -> list[float]:
    if not values.min() > 1e-12:
        raise FormatError(f"{here} has a shape with the size {values.tolist()}; sizes must be positive.")
    return values.tolist()


def _load_mesh(path: Path, folder: Path) -> Mesh:
    """A mesh file in the coordinates it is written in, whatever its up axis."""
    suffix = path.suffix.lower()
    if suffix == ".obj":
        from neurok.io import obj

        return obj.read(path, root=folder).mesh
    if suffix == ".dae":
        from neurok.io import collada

        return replace(collada.read(path).mesh, up="y", unit=1.0)
    if suffix not in (".stl", ".ply", ".glb", ".gltf", ".off"):
        raise FormatError(f"'{path}' cannot be a mesh of a robot: .obj, .stl, .ply, .glb, .gltf, .off, .dae are read.")
    from neurok.io import formats

    return formats.load(path).mesh
