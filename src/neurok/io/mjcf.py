"""MJCF models, read through MuJoCo's own compiler once every file they name is known to lie in their folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from neurok.core import Articulation, Asset, Inertial, Joint, Mesh, Surface, Texture
from neurok.errors import FormatError, brief
from neurok.geometry import lie
from neurok.io import xml
from neurok.io.files import read_bytes, rehearse, resolve_inside
from neurok.io.materials_file import LABEL
from neurok.io.materials_file import unpack_parts as unpack
from neurok.io.parsing import split_corners
from neurok.io.pieces import PlacedMesh, assemble, box, capsule, colored


def read(path: Path) -> Asset:
    """The model in its reference pose; a URDF under the suffix .xml is read as one."""
    what = f"'{path}'"
    root = xml.parse(read_bytes(path, xml.MAX_XML_BYTES), what)
    if root.tag == "robot":
        from neurok.io import urdf

        return urdf.from_xml(root, path)
    if root.tag not in ("mujoco", "mujocoinclude"):
        raise FormatError(f"{what} is XML, but neither MJCF nor URDF: its root element is <{root.tag}>.")
    check_references(root, path.parent, path.parent, what)
    trial = rehearse(path, "neurok.io.mjcf:try_model", "mujoco", seconds=60.0)
    if trial.damage or trial.refusal is not None:
        raise FormatError(f"MuJoCo cannot compile '{path}': {trial.damage or brief(trial.refusal or '')}.")
    notes: list[str] = []
    model, data = _compile(path, notes)
    return _asset(model, data, path, notes)


def try_model(path: str) -> None:
    """Compile a model and leave it, in the sandbox."""
    _compiled(path, [])


def _compile(path: Path, notes: list[str]) -> tuple[Any, Any]:
    """The model and its state in the reference pose."""
    try:
        return _compiled(str(path), notes)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"MuJoCo cannot compile '{path}': {brief(reason)}.") from error


def _compiled(path: str, notes: list[str]) -> tuple[Any, Any]:
    before = mujoco.get_mju_user_warning()
    # Without a listener MuJoCo leaves a log file in the working folder.
    mujoco.set_mju_user_warning(lambda text: notes.append(f"MuJoCo warns: {text}"))
    try:
        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        return model, data
    finally:
        mujoco.set_mju_user_warning(before)


def _asset(model: Any, data: Any, path: Path, notes: list[str]) -> Asset:
    names: list[str] = []
    joints: list[Joint] = []
    inertials: list[Inertial | None] = []
    pieces = []
    part_of_body: dict[int, int] = {}
    for body in range(model.nbody):
        name = model.body(body).name or f"body_{body}"
        parent = part_of_body.get(int(model.body_parentid[body]), -1) if body else -1
        part = len(names)
        own = body_pieces(model, data, body, part, notes)
        if body == 0 and not own:
            continue
        for label, joint in _chain(model, data, body, name, parent, part, notes):
            names.append(label)
            joints.append(joint)
            inertials.append(None)
        part_of_body[body] = len(names) - 1
        if body:
            inertials[-1] = Inertial(
                float(model.body_mass[body]), data.xipos[body], _inertia(model.body_inertia[body], data.ximat[body])
            )
        pieces += [piece.on(len(names) - 1) for piece in own]
    mesh = assemble(pieces, xml.unique_names(names), f"'{path}'", up="z", name=path.stem)
    articulation = Articulation(mesh, tuple(joints), tuple(inertials), name=mesh.name)
    materials = unpack(_text(model, LABEL), mesh, notes)
    source = {"source": path.name}
    return Asset(mesh, (), articulation, materials, source, tuple(dict.fromkeys(notes)))


def _text(model: Any, name: str) -> str | None:
    """A custom text of a model."""
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXT, name)
    if index < 0:
        return None
    start, size = int(model.text_adr[index]), int(model.text_size[index])
    return bytes(model.text_data)[start : start + size].decode(errors="replace").rstrip("\0")


def _inertia(diagonal: np.ndarray, axes: np.ndarray) -> np.ndarray:
    turn = axes.reshape(3, 3)
    return (turn * diagonal) @ turn.T


def _chain(
    model: Any, data: Any, body: int, name: str, parent: int, part: int, notes: list[str]
) -> list[tuple[str, Joint]]:
    """The joints of a body, outermost first; all but the last carry empty parts."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    moves = [move for j in range(first, first + count) for move in _moves(model, data, j, name, notes)]
    merged = _cylinder(moves)
    if merged is not None:
        moves = [merged]
    if not moves:
        return [(name, Joint(parent=parent, origin=data.xpos[body]))]
    labels = [f"{name}/{move['name']}" for move in moves[:-1]] + [name]
    parents = itertools.chain([parent], itertools.count(part))
    return [(label, Joint(parent=above, **move)) for label, above, move in zip(labels, parents, moves, strict=False)]


def _moves(model: Any, data: Any, j: int, body: str, notes: list[str]) -> list[dict[str, Any]]:
    """One MuJoCo joint as joints of ours, without their parents."""
    kinds = mujoco.mjtJoint
    kind = int(model.jnt_type[j])
    name = model.joint(j).name or f"{body}_joint"
    if kind == kinds.mjJNT_FREE:
        notes.append(f"Body '{body}' is free; it is fixed where it stands.")
        return []
    dof, start = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
    fields: dict[str, Any] = {"origin": data.xanchor[j].copy(), "damping": float(np.ravel(model.dof_damping[dof])[0])}
    if kind == kinds.mjJNT_BALL:
        notes.append(f"The ball joint '{name}' of body '{body}' became three hinges.")
        frame = data.xmat[model.jnt_bodyid[j]].reshape(3, 3)
        return [fields | {"kind": "continuous", "axis": frame[:, i], "name": f"{name}_{'xyz'[i]}"} for i in range(3)]
    # MuJoCo counts from the reference value, we from the pose in the file.
    low, high = model.jnt_range[j] - model.qpos0[start] if model.jnt_limited[j] else (-np.inf, np.inf)
    hinge = "revolute" if model.jnt_limited[j] else "continuous"
    return [
        fields
        | {
            "kind": hinge if kind == kinds.mjJNT_HINGE else "prismatic",
            "axis": data.xaxis[j].copy(),
            "name": name,
            "lower": float(low),
            "upper": float(high),
        }
    ]


def _cylinder(moves: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A turn and a slide along the same axis are one cylindrical joint."""
    if len(moves) != 2:
        return None
    turn, slide = sorted(moves, key=lambda move: move["kind"] == "prismatic")
    if turn["kind"] == "prismatic" or slide["kind"] != "prismatic":
        return None
    if np.linalg.norm(turn["axis"] - slide["axis"]) > 1e-9:
        return None
    return turn | {"kind": "cylindrical", "slide_lower": slide["lower"], "slide_upper": slide["upper"]}


VISIBLE_GROUPS = 3
"""Geoms of groups 0, 1 and 2 are shown; higher ones usually hold collision shapes."""

PLAIN = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's own default colour: a geom that has it takes its material's."""


def body_pieces(model: Any, data: Any, body: int, part: int, notes: list[str]) -> list[PlacedMesh]:
    """What a body looks like: its visible geoms, or the hidden ones when it has no others."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = [g for g in range(first, first + count) if model.geom_rgba[g, 3] > 0]
    shown = [g for g in geoms if model.geom_group[g] < VISIBLE_GROUPS]
    pieces = []
    for geom in shown or geoms:
        mesh = _shape(model, geom, notes)
        if mesh is not None:
            placement = lie.compose(data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom])
            pieces.append(PlacedMesh(part, mesh, placement, _geom_surface(model, geom)))
    return pieces


def _shape(model: Any, geom: int, notes: list[str]) -> Mesh | None:
    kinds = mujoco.mjtGeom
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == kinds.mjGEOM_MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    if kind == kinds.mjGEOM_BOX:
        return box(size)
    if kind == kinds.mjGEOM_SPHERE:
        return capsule(float(size[0]), 0.0)
    if kind == kinds.mjGEOM_CAPSULE:
        return capsule(float(size[0]), float(size[1]))
    if kind == kinds.mjGEOM_CYLINDER:
        return capsule(float(size[0]), float(size[1]), rounded=False)
    if kind == kinds.mjGEOM_ELLIPSOID:
        ball = capsule(1.0, 0.0)
        return ball.with_vertices(ball.vertices * size)
    notes.append(f"A geom of the kind '{kinds(kind).name.removeprefix('mjGEOM_').lower()}' was left out.")
    return None


def _mesh(model: Any, index: int) -> Mesh:
    start, count = int(model.mesh_vertadr[index]), int(model.mesh_vertnum[index])
    face_start, face_count = int(model.mesh_faceadr[index]), int(model.mesh_facenum[index])
    vertices = model.mesh_vert[start : start + count].astype(np.float64)
    faces = model.mesh_face[face_start : face_start + face_count].astype(np.int64)
    uv = None
    if model.mesh_texcoordadr[index] >= 0:
        at = int(model.mesh_texcoordadr[index])
        table = model.mesh_texcoord[at : at + int(model.mesh_texcoordnum[index])].astype(np.float64)
        corners = model.mesh_facetexcoord[face_start : face_start + face_count].astype(np.int64)
        old, faces, code = split_corners(faces, corners, count)
        vertices, uv = vertices[old], table[code] * [1.0, -1.0] + [0.0, 1.0]
    return Mesh(vertices, faces, uv=uv, name=model.mesh(index).name or "mesh")


def _geom_surface(model: Any, geom: int) -> Surface:
    color, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    if material < 0:
        return colored(color)
    if np.allclose(color, PLAIN):
        color = model.mat_rgba[material]
    surface = colored(color, model.mat(material).name or "surface")
    picture = int(model.mat_texid[material][mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if picture < 0 or model.tex_type[picture] != mujoco.mjtTexture.mjTEXTURE_2D:
        return surface
    height, width, channels = (int(x[picture]) for x in (model.tex_height, model.tex_width, model.tex_nchannel))
    if channels not in (3, 4):
        return surface
    start = int(model.tex_adr[picture])
    pixels = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    return replace(surface, texture=Texture.from_pixels(pixels, model.tex(picture).name or "texture"))


COUNTS = ("width", "height", "nrow", "ncol", "count", "nchannel")
MAX_COUNT = 8192
MAX_NESTED_FILES = 200
MAX_COPIES = 8192


def check_references(root: xml.Element, folder: Path, top: Path, what: str, seen: set[Path] | None = None) -> None:
    """Refuse files outside ``top``, absurd sizes and plugins, in this file and those it includes.

    Args:
        root: The parsed model.
        folder: Where its own references start.
        top: The folder nothing may leave.
        what: The file, for the sentence of an error.
        seen: Files already checked.
    """
    seen = set() if seen is None else seen
    _check_copies(root, what)
    folders: dict[str, set[str]] = {"mesh": {""}, "texture": {""}}
    for compiler in _compilers(root, folder, top, set()):
        both = compiler.get("assetdir", "")
        folders["mesh"].add(compiler.get("meshdir", both))
        folders["texture"].add(compiler.get("texturedir", both))
    for element in root.iter():
        if element.tag == "plugin":
            raise FormatError(f"{what} asks for a MuJoCo plugin, which is code and is not loaded.")
        _check_counts(element, what)
        for key, reference in element.attrib.items():
            if not (key.startswith("file") and reference):
                continue
            kind = "texture" if element.tag == "texture" else "mesh"
            # Any of the folders may be the one that MuJoCo takes, so none may lead outside.
            for prefix in () if element.tag in ("include", "model") else folders[kind] - {""}:
                _inside(folder, top, f"{prefix}/{reference}")
            target = _inside(folder, top, reference)
            if element.tag in ("include", "model") and target.is_file() and target not in seen:
                seen.add(target)
                if len(seen) > MAX_NESTED_FILES:
                    raise FormatError(f"{what} includes more than {MAX_NESTED_FILES} files.")
                nested = xml.parse(read_bytes(target, xml.MAX_XML_BYTES), f"'{target}'")
                # An included file's paths start at the including one's folder, an attached model's at its own.
                start = folder if element.tag == "include" else target.parent
                _carry_folders(root, nested)
                check_references(nested, start, top, f"'{target}'", seen)


def _inside(folder: Path, top: Path, reference: str) -> Path:
    if folder == top:
        return resolve_inside(top, reference)
    resolve_inside(top, reference.lstrip("./") or reference)  # refuses absolute paths and foreign schemes
    target = (folder / reference).resolve()
    if not target.is_relative_to(top.resolve()):
        raise FormatError(
            f"The file refers to '{reference}', which lies outside its folder; only files below are read."
        )
    return target


def _compilers(root: xml.Element, folder: Path, top: Path, seen: set[Path]) -> Iterator[xml.Element]:
    """Every ``compiler`` of a model and of what it includes: those of inner files hold for outer ones too."""
    yield from root.iter("compiler")
    for element in root.iter("include"):
        target = _inside(folder, top, element.get("file") or "")
        if target.is_file() and target not in seen and len(seen) < MAX_NESTED_FILES:
            seen.add(target)
            yield from _compilers(xml.parse(read_bytes(target, xml.MAX_XML_BYTES), f"'{target}'"), folder, top, seen)


def _check_copies(element: xml.Element, what: str, copies: float = 1.0) -> None:
    """Refuse nested ``replicate`` elements that multiply to more than any model needs."""
    if element.tag == "replicate":
        copies *= max(1.0, _number(element.get("count")))
        if copies > MAX_COPIES:
            raise FormatError(f"{what} replicates a body {copies:.3g} times; at most {MAX_COPIES} copies are read.")
    for child in element:
        _check_copies(child, what, copies)


def _number(text: str | None) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 1.0  # MuJoCo says what is wrong with it


def _carry_folders(outer: xml.Element, inner: xml.Element) -> None:
    """The mesh and texture folders of the outer file also hold in what it includes."""
    for compiler in outer.iter("compiler"):
        inner.insert(0, inner.makeelement("compiler", dict(compiler.attrib)))


def _check_counts(element: xml.Element, what: str) -> None:
    for key in COUNTS:
        for word in (element.get(key) or "").split():
            try:
                too_many = float(word) > MAX_COUNT
            except ValueError:
                continue  # MuJoCo says what is wrong with it
            if too_many:
                raise FormatError(f"{what} asks for {key}={word} in <{element.tag}>; at most {MAX_COUNT} is allowed.")
