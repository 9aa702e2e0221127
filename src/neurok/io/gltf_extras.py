"""What glTF has no words for (joints, limits, origins), kept in the ``extras`` of a file.

``scenes[0].extras.neurok`` holds ``version``, ``name``, ``parts`` (node of each part), ``source_up`` and
``source_unit`` (the frame the object had before it was written), ``provenance``, ``articulation`` and ``materials``
(the attribute ``_MATERIAL`` of each vertex counts in them, ``_YOUNG`` and the like hold numbers that vary);
``animations[i].extras.neurok`` holds ``fps`` and ``frames``. All lengths are metres, y is up.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Articulation, Asset, Inertial, Joint, Material, MaterialField, Mesh
from neurok.core.material import VALUES

VERSION = 1


UNSAID = -1.0
"""No number of a material is this; it stands for "as in the library", since accessors must not hold NaN."""

MATERIAL_ATTRIBUTES = ("_MATERIAL", *(f"_{name.upper()}" for name in VALUES))


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


def material_attributes(field: MaterialField, chosen: Int[np.ndarray, " n"]) -> dict[str, np.ndarray]:
    """Custom attributes of some vertices: which material, and numbers that vary within it."""
    numbers = {"_MATERIAL": field.ids[chosen]} | {
        f"_{name.upper()}": np.where(np.isnan(value), UNSAID, value)[chosen] for name, value in field.values.items()
    }
    return {name: value.astype(np.float32) for name, value in numbers.items()}


def unpack_materials(packed: list[dict[str, Any]], columns: Float[np.ndarray, "V 8"]) -> MaterialField:
    """The materials that ``scene_extras`` and ``material_attributes`` stored; whatever is wrong with them raises."""
    numbers = zip(VALUES, np.where(columns[:, 1:] == UNSAID, np.nan, columns[:, 1:]).T, strict=True)
    values = {name: value for name, value in numbers if not np.isnan(value).all()}
    ids = np.maximum(columns[:, 0], 0.0).astype(np.int64)
    return MaterialField(tuple(Material(**record) for record in packed), ids, values)


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
