"""URDF robots: links become parts, joints an articulation in one object frame (metres, z up)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Inertial, Joint, Mesh, Surface
from neurok.errors import FormatError
from neurok.geometry import lie
from neurok.io import xml
from neurok.io.files import read_bytes, resolve_inside
from neurok.io.materials_file import LABEL
from neurok.io.materials_file import unpack_parts as unpack
from neurok.io.physics import UNBOUNDED
from neurok.io.pieces import PlacedMesh, assemble, box, capsule, colored
from neurok.io.surfaces import texture_from_bytes

KINDS = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed"}


def read(path: Path) -> Asset:
    """The robot with every joint at zero."""
    return from_xml(xml.parse(read_bytes(path, xml.MAX_XML_BYTES), f"'{path}'"), path)


def from_xml(robot: xml.Element, path: Path) -> Asset:
    """The robot of a parsed file; meshes are looked up in the folder of ``path``."""
    what = f"'{path}'"
    if robot.tag != "robot":
        raise FormatError(f"{what} is not a URDF: its root element is <{robot.tag}>, not <robot>.")
    links = _by_name(robot, "link", what)
    joints = _by_name(robot, "joint", what)
    if not links:
        raise FormatError(f"{what} has no <link>.")
    notes: list[str] = []
    parents = _parents(links, joints, what)
    object_from_link = _rest_poses(links, parents, what)
    names = list(links)
    resources = Resources.of(robot, path.parent, what, notes)
    pieces = [
        piece
        for i, (name, link) in enumerate(links.items())
        for piece in link_pieces(link, i, object_from_link[name], resources)
    ]
    mesh = assemble(pieces, names, what, up="z", name=robot.get("name") or path.stem)
    articulation = Articulation(
        mesh,
        tuple(_joint(name, parents.get(name), names, object_from_link[name], what, notes) for name in names),
        tuple(_inertial(link, object_from_link[name], what) for name, link in links.items()),
        name=mesh.name,
    )
    stored = robot.find(LABEL)
    materials = None if stored is None else unpack(stored.get("data"), mesh, notes)
    source = {"source": path.name}
    return Asset(mesh, (), articulation, materials, source, tuple(dict.fromkeys(notes)))


def _by_name(robot: xml.Element, tag: str, what: str) -> dict[str, xml.Element]:
    found: dict[str, xml.Element] = {}
    for element in robot.findall(tag):
        name = element.get("name")
        if not name:
            raise FormatError(f"{what} has a <{tag}> without a name.")
        if name in found:
            raise FormatError(f"{what} has two <{tag}> elements named '{name}'; names must differ.")
        found[name] = element
    return found


def _parents(
    links: dict[str, xml.Element], joints: dict[str, xml.Element], what: str
) -> dict[str, tuple[str, xml.Element]]:
    """The parent link and the joint of every link that has one; a tree with one root, or a sentence."""
    parents: dict[str, tuple[str, xml.Element]] = {}
    for name, joint in joints.items():
        ends = []
        for tag in ("parent", "child"):
            element = joint.find(tag)
            end = None if element is None else element.get("link")
            if end not in links:
                raise FormatError(f"Joint '{name}' of {what} has the {tag} '{end}', which is not a link of it.")
            ends.append(end)
        parent, child = ends
        if child in parents:
            raise FormatError(f"Link '{child}' of {what} is the child of two joints; a URDF must be a tree.")
        parents[child] = (parent, joint)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        given = "none, so its joints form a cycle" if not roots else ", ".join(f"'{r}'" for r in roots[:5])
        raise FormatError(f"{what} must have one root link, but has {given}.")
    return parents


def _rest_poses(
    links: dict[str, xml.Element], parents: dict[str, tuple[str, xml.Element]], what: str
) -> dict[str, Pose]:
    """Where every link stands when all joints are zero."""
    children: dict[str, list[str]] = {}
    for child, (parent, _) in parents.items():
        children.setdefault(parent, []).append(child)
    root = next(name for name in links if name not in parents)
    poses = {root: np.eye(4)}
    stack = [root]
    while stack:
        name = stack.pop()
        for child in children.get(name, []):
            joint = parents[child][1]
            poses[child] = poses[name] @ origin_pose(joint, f"Joint '{joint.get('name')}' of {what}")
            stack.append(child)
    lost = [name for name in links if name not in poses]
    if lost:
        raise FormatError(f"The joints of {what} form a cycle: {', '.join(lost[:5])} are not connected to a root.")
    return poses


def _joint(
    name: str, above: tuple[str, xml.Element] | None, names: list[str], pose: Pose, what: str, notes: list[str]
) -> Joint:
    if above is None:
        return Joint(name="root")
    parent, element = above
    label = element.get("name")
    here = f"Joint '{label}' of {what}"
    kind, index = element.get("type"), names.index(parent)
    if element.find("mimic") is not None:
        notes.append(f"Joint '{label}' follows another joint (mimic); it is kept as a joint of its own.")
    if kind in ("floating", "planar"):
        notes.append(f"Joint '{label}' is {kind}; '{name}' is fixed to '{parent}' instead.")
        kind = "fixed"
    if kind not in KINDS:
        allowed = ", ".join([*KINDS, "floating", "planar"])
        raise FormatError(f"{here} has the type '{kind}'; allowed are {allowed}.")
    direction = xml.numbers(element.find("axis"), "xyz", (1.0, 0.0, 0.0), here)
    if kind != "fixed" and not np.linalg.norm(direction) > 0:
        raise FormatError(f"{here} has an axis of length zero.")
    low, high = _limits(element, kind, here)
    return Joint(
        KINDS[kind],  # type: ignore[arg-type]
        index,
        axis=(0.0, 0.0, 1.0) if kind == "fixed" else pose[:3, :3] @ direction,  # type: ignore[arg-type]
        origin=pose[:3, 3],
        lower=low,
        upper=high,
        name=label,
        damping=max(0.0, xml.number(element.find("dynamics"), "damping", 0.0, here)),
    )


def _limits(element: xml.Element, kind: str, here: str) -> tuple[float, float]:
    """Lower and upper limit; those beyond ``UNBOUNDED`` are none."""
    if kind not in ("revolute", "prismatic"):
        return -math.inf, math.inf
    limit = element.find("limit")
    low, high = xml.number(limit, "lower", 0.0, here), xml.number(limit, "upper", 0.0, here)
    if low > high:
        raise FormatError(f"{here} has lower limit {low} above upper limit {high}.")
    return (low if low > -UNBOUNDED else -math.inf), (high if high < UNBOUNDED else math.inf)


def _inertial(link: xml.Element, pose: Pose, what: str) -> Inertial | None:
    """Mass properties in the object's frame; ``None`` where the file gives no mass."""
    element = link.find("inertial")
    if element is None:
        return None
    here = f"The inertial of link '{link.get('name')}' of {what}"
    mass = xml.number(element.find("mass"), "value", 0.0, here)
    if mass < 0:
        raise FormatError(f"{here} has the negative mass {mass}.")
    if mass == 0:
        return None
    tensor = element.find("inertia")
    xx, yy, zz, xy, xz, yz = (xml.number(tensor, key, 0.0, here) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    frame = pose @ origin_pose(element, here)
    turn = frame[:3, :3]
    return Inertial(mass, frame[:3, 3], turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T)


Pose = Float[np.ndarray, "4 4"]


@dataclass(frozen=True)
class Resources:
    """What the links of one robot share: its folder, its named materials, meshes read so far."""

    folder: Path
    what: str
    notes: list[str]
    materials: dict[str, Surface] = field(default_factory=dict)
    meshes: dict[Path, Mesh] = field(default_factory=dict)

    @staticmethod
    def of(robot: xml.Element, folder: Path, what: str, notes: list[str]) -> Resources:
        resources = Resources(folder, what, notes)
        # A material defined inside a link may be named by any other.
        for element in robot.iter("material"):
            surface = resources.define(element)
            if surface is not None:
                resources.materials.setdefault(element.get("name") or "", surface)
        return resources

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


def link_pieces(link: xml.Element, part: int, pose: np.ndarray, resources: Resources) -> list[PlacedMesh]:
    """The visual geometry of a link, or its collision geometry where it has no other."""
    name = link.get("name")
    pieces = []
    for element in link.findall("visual") or link.findall("collision"):
        here = f"Link '{name}' of {resources.what}"
        mesh, scale = _geometry(element, here, resources)
        material = element.find("material")
        surface = None
        if material is not None:
            surface = resources.define(material) or resources.materials.get(material.get("name") or "")
        if mesh.surfaces and any(s.texture for s in mesh.surfaces):
            surface = None  # the mesh's own pictures say more than one colour
        placement = pose @ origin_pose(element, here) @ lie.compose(np.diag(scale), np.zeros(3))
        pieces.append(PlacedMesh(part, mesh, placement, surface))
    if not link.findall("visual") and pieces:
        resources.notes.append(f"Link '{name}' has no visual geometry; its collision geometry is shown.")
    return pieces


def _geometry(element: xml.Element, here: str, resources: Resources) -> tuple[Mesh, np.ndarray]:
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
        return resources.mesh(shape.get("filename") or ""), scale
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
        from neurok.io.interchange import read_collada

        return replace(read_collada(path).mesh, up="y", unit=1.0)
    if suffix not in (".stl", ".ply", ".glb", ".gltf", ".off"):
        raise FormatError(f"'{path}' cannot be a mesh of a robot: .obj, .stl, .ply, .glb, .gltf, .off, .dae are read.")
    from neurok.io import formats

    return formats.load(path).mesh
