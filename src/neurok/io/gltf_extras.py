"""What glTF has no words for (joints, limits, origins), kept in the ``extras`` of a file.

``scenes[0].extras.neurok`` holds ``version``, ``name``, ``parts`` (node of each part), ``source_up`` and
``source_unit`` (the frame the object had before it was written), ``provenance``, ``articulation`` and ``materials``
(the attribute ``_MATERIAL`` of each vertex counts in them); ``animations[i].extras.neurok`` holds ``fps`` and
``frames``. All lengths are metres, y is up.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset, Clip, Inertial, Joint, Material, MaterialField, Mesh, Skin
from neurok.core.mesh import UpAxis, frame_change

VERSION = 1


def in_frame(asset: Asset, up: UpAxis = "y", unit: float = 1.0) -> Asset:
    """The same object with another up axis and unit: mesh, clips, handles, joints and masses."""
    mesh = asset.mesh
    if mesh.up == up and mesh.unit == unit:
        return asset
    turn, scale = frame_change(mesh.up, up), mesh.unit / unit
    moved = mesh.in_frame(up, unit)
    clips = tuple(_clip_in_frame(clip, moved, turn, scale) for clip in asset.clips)
    joints = asset.articulation
    if joints is not None:
        inertials = joints.inertials and tuple(i and _inertial_in_frame(i, turn, scale) for i in joints.inertials)
        turned = tuple(_joint_in_frame(joint, turn, scale) for joint in joints.joints)
        joints = Articulation(joints.mesh.in_frame(up, unit), turned, inertials, joints.name)
    return replace(asset, mesh=moved, clips=clips, articulation=joints)


def _clip_in_frame(clip: Clip, rest: Mesh, turn: np.ndarray, scale: float) -> Clip:
    skin = clip.skin
    if skin is not None:
        transforms = skin.transforms.copy()
        transforms[..., :3, :3] = turn @ transforms[..., :3, :3] @ turn.T
        transforms[..., :3, 3] = transforms[..., :3, 3] @ turn.T * scale
        skin = Skin(skin.weights, transforms)
    positions = clip.positions @ (turn.T * scale).astype(clip.positions.dtype)
    return Clip(clip.rest.in_frame(rest.up, rest.unit), positions, clip.fps, clip.name, skin)


def _joint_in_frame(joint: Joint, turn: np.ndarray, scale: float) -> Joint:
    reach = scale if joint.kind == "prismatic" else 1.0
    return replace(
        joint,
        axis=turn @ joint.axis,
        origin=turn @ joint.origin * scale,
        lower=joint.lower * reach,
        upper=joint.upper * reach,
        slide_lower=joint.slide_lower * scale,
        slide_upper=joint.slide_upper * scale,
    )


def _inertial_in_frame(inertial: Inertial, turn: np.ndarray, scale: float) -> Inertial:
    return Inertial(inertial.mass, turn @ inertial.center * scale, turn @ inertial.inertia @ turn.T)


def scene_extras(asset: Asset, source: Mesh, part_nodes: list[int]) -> dict[str, Any]:
    """What to store beside the scene."""
    extras: dict[str, Any] = {
        "version": VERSION,
        "name": asset.mesh.name,
        "parts": part_nodes,
        "source_up": source.up,
        "source_unit": source.unit,
    }
    if asset.provenance:
        extras["provenance"] = {str(k): str(v) for k, v in sorted(asset.provenance.items())}
    if asset.materials is not None:
        extras["materials"] = [asdict(material) for material in asset.materials.materials]
    if asset.articulation is not None:
        extras["articulation"] = _pack_articulation(asset.articulation)
    return extras


def _pack_articulation(articulation: Articulation) -> dict[str, Any]:
    joints = [
        {
            "kind": joint.kind,
            "name": joint.name,
            "parent": joint.parent,
            "axis": joint.axis.tolist(),
            "origin": joint.origin.tolist(),
            "limits": [_finite(v) for v in (joint.lower, joint.upper)],
            "slide_limits": [_finite(v) for v in (joint.slide_lower, joint.slide_upper)],
            "damping": joint.damping,
        }
        for joint in articulation.joints
    ]
    packed: dict[str, Any] = {"name": articulation.name, "joints": joints}
    if articulation.inertials is not None:
        packed["inertials"] = [
            i and {"mass": i.mass, "center": i.center.tolist(), "inertia": i.inertia.tolist()}
            for i in articulation.inertials
        ]
    return packed


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def unpack_materials(packed: list[dict[str, Any]], ids: np.ndarray) -> MaterialField:
    """The materials that ``scene_extras`` stored; whatever is wrong with them raises."""
    return MaterialField(tuple(Material(**record) for record in packed), ids.astype(np.int64))


def unpack_articulation(packed: dict[str, Any], mesh: Mesh) -> Articulation:
    """The joints that ``scene_extras`` stored; whatever is wrong with them raises."""
    joints = []
    for record in packed["joints"]:
        lower, upper = record["limits"]
        slide_lower, slide_upper = record["slide_limits"]
        joint = Joint(
            record["kind"],
            int(record["parent"]),
            record["axis"],
            record["origin"],
            -math.inf if lower is None else float(lower),
            math.inf if upper is None else float(upper),
            -math.inf if slide_lower is None else float(slide_lower),
            math.inf if slide_upper is None else float(slide_upper),
            str(record["name"]),
            float(record["damping"]),
        )
        axis = np.asarray(record["axis"], dtype=np.float64)
        axis.flags.writeable = False
        object.__setattr__(joint, "axis", axis)  # normalising twice would change the last bit
        joints.append(joint)
    inertials = packed.get("inertials")
    if inertials is not None:
        inertials = tuple(
            i and Inertial(float(i["mass"]), np.array(i["center"]), np.array(i["inertia"])) for i in inertials
        )
    return Articulation(mesh, tuple(joints), inertials, str(packed["name"]))
