"""The plain and the articulated layout of an NPZ file (described in ``archive``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.core.arrays import frozen_array
from neurok.errors import FormatError
from neurok.geometry.topology import split_by_face_label
from neurok.io.names import unique_names

LICENSE = "PartNet-Mobility terms of use: research only, no redistribution"
_JOINT_KEYS = ("parent", "joint_type", "axis", "origin", "lower", "upper")


def read_plain(arrays: Mapping[str, np.ndarray], path: Path) -> Asset:
    """A mesh, its parts and joints as far as the arrays are there."""
    if "vertices" not in arrays or "faces" not in arrays:
        raise FormatError(
            f"'{path}' holds no mesh: it needs the arrays 'vertices' and 'faces', but has {sorted(arrays)[:8]}."
        )
    vertices = frozen_array(arrays["vertices"], np.float64, (None, 3), "vertices")
    faces = frozen_array(arrays["faces"], np.int64, (None, 3), "faces")
    mesh = Mesh(vertices, faces, name=path.stem)
    if "face_part" not in arrays:
        return Asset(mesh)
    labels = frozen_array(arrays["face_part"], np.int64, (len(faces),), "face_part")
    names = tuple(map(str, np.atleast_1d(arrays["part_name"]))) if "part_name" in arrays else ()
    names = names or tuple(f"part_{i}" for i in range(int(labels.max()) + 1))
    if labels.min() < 0 or labels.max() >= len(names):
        raise FormatError(f"'{path}' is damaged: face_part must lie in 0..{len(names) - 1}.")
    source, new_faces, part_ids = split_by_face_label(faces, labels)
    mesh = Mesh(vertices[source], new_faces, part_ids=part_ids, part_names=tuple(unique_names(names)), name=path.stem)
    given = [key for key in _JOINT_KEYS if key in arrays]
    if not given:
        return Asset(mesh)
    if len(given) < len(_JOINT_KEYS):
        raise FormatError(f"'{path}' has joints without {', '.join(sorted(set(_JOINT_KEYS) - set(given)))}.")
    provenance = {"license": LICENSE}
    if "category" in arrays:
        provenance["category"] = str(arrays["category"].reshape(-1)[0]) if arrays["category"].size else ""
    joints, notes = _joints(arrays, names, path)
    return Asset(mesh, articulation=Articulation(mesh, joints, name=path.stem), provenance=provenance, notes=notes)


def _joints(
    arrays: Mapping[str, np.ndarray], names: tuple[str, ...], path: Path
) -> tuple[tuple[Joint, ...], tuple[str, ...]]:
    count = len(names)
    parent = frozen_array(arrays["parent"], np.int64, (count,), "parent")
    axis = frozen_array(arrays["axis"], np.float64, (count, 3), "axis")
    origin = frozen_array(arrays["origin"], np.float64, (count, 3), "origin")
    lower = frozen_array(arrays["lower"], np.float64, (count,), "lower")
    upper = frozen_array(arrays["upper"], np.float64, (count,), "upper")
    kinds = [str(kind) for kind in np.atleast_1d(arrays["joint_type"])]
    if len(kinds) != count:
        raise FormatError(f"'{path}' is damaged: it has {len(kinds)} joint types for {count} parts.")
    joints, notes = [], []
    for i, kind in enumerate(kinds):
        if kind == "fixed":
            joints.append(Joint("fixed", int(parent[i]), name=names[i]))
            continue
        low, high = sorted((float(lower[i]), float(upper[i])))
        if lower[i] > upper[i]:
            notes.append(f"The limits of joint '{names[i]}' were reversed and have been swapped.")
        if kind == "continuous":
            low, high = -math.inf, math.inf
        joints.append(Joint(kind, int(parent[i]), axis[i], origin[i], low, high, name=names[i]))  # type: ignore[arg-type]
    return tuple(joints), tuple(notes)
