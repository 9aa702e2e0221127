"""From a list of parts to an ``Asset``: mesh, names, looks, materials and joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from jaxtyping import Int

from neurok.core import Articulation, Asset, Joint, MaterialField, Mesh
from neurok.families.household.looks import material_of, surface_of
from neurok.families.household.parts import Assembly, Part, placed
from neurok.geometry.topology import split_by_face_label
from neurok.modelling.shapes import Shape


def asset_of(assembly: Assembly, provenance: Mapping[str, str] | None = None) -> Asset:
    """The object as one mesh: each copy of a part is a part of the mesh; joints where parts have hinges."""
    shapes, owners = [], []
    for number, part in enumerate(assembly.parts):
        solid = pictured(part)
        shapes += [placed(solid, pose) for pose in part.poses]
        owners += [number] * len(part.poses)
    mesh = _mesh(assembly, shapes, np.array(owners))
    about = {"source": "neurok", "license": "Apache-2.0", "category": assembly.category, **(provenance or {})}
    materials = MaterialField(
        tuple(material_of(part.look) for part in assembly.parts),
        np.concatenate([np.full(len(shape.vertices), owner) for shape, owner in zip(shapes, owners, strict=True)]),
    )
    if not any(part.hinge for part in assembly.parts):
        return Asset(mesh, materials=materials, provenance=about)
    joints = _joints(assembly, np.array(owners), mesh.part_names)
    return Asset(
        mesh, articulation=Articulation(mesh, joints, name=assembly.category), materials=materials, provenance=about
    )


def copy_names(assembly: Assembly) -> list[str]:
    """One name for each copy: ``leg``, ``leg_2`` and so on."""
    seen: Counter[str] = Counter()
    names = []
    for part in assembly.parts:
        for _ in range(part.repeat.total):
            seen[part.name] += 1
            names.append(part.name if seen[part.name] == 1 else f"{part.name}_{seen[part.name]}")
    return names


def copy_parents(assembly: Assembly) -> Int[np.ndarray, " C"]:
    """The copy that each copy meets: of its parent's copies, the nearest one; -1 for the first part."""
    first = np.cumsum([0, *(part.repeat.total for part in assembly.parts)])
    out = []
    for part in assembly.parts:
        if part.parent < 0:
            out += [-1] * part.repeat.total
            continue
        others = assembly.parts[part.parent].copies
        for place in part.contacts:
            near = [float(np.linalg.norm(other.vertices - place, axis=1).min()) for other in others]
            out.append(int(first[part.parent]) + int(np.argmin(near)))
    return np.array(out)


def pictured(part: Part) -> Shape:
    """The solid in its own axes, with texture coordinates where it has a pattern."""
    if part.look.pattern == "plain":
        return part.solid
    return _mapped(part.solid, int(np.argmax(part.size)), 1.0 / part.look.tile)


def _mapped(shape: Shape, long: int, scale: float) -> Shape:
    """Texture coordinates projected along the nearest axis of each face; the long axis runs along v."""
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    label = np.abs(np.cross(b - a, c - a)).argmax(axis=1)
    old, faces, side = split_by_face_label(shape.faces, label)
    vertices = shape.vertices[old]
    pick = np.array([[u, v] if v == long or long not in (u, v) else [v, u] for u, v in ((2, 1), (0, 2), (0, 1))])[side]
    return Shape(vertices, faces, np.take_along_axis(vertices, pick, axis=1) * scale)


def _mesh(assembly: Assembly, shapes: list[Shape], owners: np.ndarray) -> Mesh:
    starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
    of_part = [surface_of(part.look) for part in assembly.parts]
    surfaces = list(dict.fromkeys(of_part))
    number = [surfaces.index(surface) for surface in of_part]
    uv = None
    if any(shape.uv is not None for shape in shapes):
        uv = np.concatenate([np.zeros((len(s.vertices), 2)) if s.uv is None else s.uv for s in shapes])
    return Mesh(
        np.concatenate([shape.vertices for shape in shapes]),
        np.concatenate([shape.faces + start for shape, start in zip(shapes, starts, strict=False)]),
        uv=uv,
        part_ids=np.concatenate([np.full(len(shape.vertices), k) for k, shape in enumerate(shapes)]),
        part_names=tuple(copy_names(assembly)),
        surfaces=tuple(surfaces),
        face_surfaces=np.concatenate(
            [np.full(len(shape.faces), number[owner]) for shape, owner in zip(shapes, owners, strict=True)]
        ),
        name=assembly.category,
    )


def _joints(assembly: Assembly, owners: np.ndarray, names: tuple[str, ...]) -> tuple[Joint, ...]:
    joints = []
    for owner, parent, name in zip(owners, copy_parents(assembly), names, strict=True):
        hinge = assembly.parts[owner].hinge
        if hinge is None:
            joints.append(Joint("fixed", int(parent), lower=0.0, upper=0.0, name=f"{name}_joint"))
            continue
        low, high = (-np.pi, np.pi) if hinge.kind == "continuous" else (hinge.lower, hinge.upper)
        joints.append(
            Joint(
                hinge.kind,
                int(parent),
                np.asarray(hinge.axis),
                np.asarray(hinge.origin),
                low,
                high,
                name=f"{name}_joint",
            )
        )
    return tuple(joints)
