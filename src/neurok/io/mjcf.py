"""MJCF models, read through MuJoCo's own compiler once every file they name is known to lie in their folder."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset, Inertial, Joint
from neurok.errors import FormatError, brief
from neurok.io import xml
from neurok.io.files import read_bytes, rehearse
from neurok.io.mjcf_geoms import body_pieces
from neurok.io.mjcf_guard import check_references
from neurok.io.part_materials import LABEL, unpack
from neurok.io.urdf_pieces import assemble


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
    import mujoco

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
    import mujoco

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
    import mujoco

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
