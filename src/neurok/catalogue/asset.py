"""From a list of parts to an ``Asset``: mesh, names, looks, materials and joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from neurok.catalogue.appearance import material_of, surface_of
from neurok.catalogue.parts import Assembly, Part, placed
from neurok.core import Articulation, Asset, Joint, MaterialField, Surface
from neurok.modelling.builder import mesh_of_pieces
from neurok.modelling.shapes import Shape
from neurok.modelling.textures import unwrapped

STEP = np.array([0.7548776662, 0.5698402910])
"""Spreads parts evenly over a texture: the low-discrepancy sequence R2 of Roberts (2018)."""


def asset_of(assembly: Assembly, provenance: Mapping[str, str] | None = None) -> Asset:
    """The object as one mesh: each copy of a part is a part of the mesh; joints where parts have hinges."""
    pieces: list[tuple[Shape, Surface, int]] = []
    for number, part in enumerate(assembly.parts):
        surface, solid = surface_of(part.appearance), pictured(part)
        if solid.uv is not None:  # boards are not cut from one place
            solid = replace(solid, uv=solid.uv + number * STEP % 1.0)
        for pose in part.poses:
            pieces.append((placed(solid, pose), surface, len(pieces)))
    mesh = mesh_of_pieces(pieces, copy_names(assembly), assembly.category)
    owners = np.repeat(np.arange(len(assembly.parts)), [part.repeat.total for part in assembly.parts])
    materials = MaterialField(tuple(material_of(part.appearance) for part in assembly.parts), owners[mesh.part_ids])
    about = {"source": "neurok", "license": "Apache-2.0", "category": assembly.category, **(provenance or {})}
    if not any(part.hinge for part in assembly.parts):
        return Asset(mesh, materials=materials, provenance=about)
    articulation = Articulation(mesh, _joints(assembly, owners, mesh.part_names), name=assembly.category)
    return Asset(mesh, articulation=articulation, materials=materials, provenance=about)


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
    """The solid in its own axes, with texture coordinates where its surface has maps."""
    return unwrapped(part.solid, surface_of(part.appearance))


def _joints(assembly: Assembly, owners: np.ndarray, names: tuple[str, ...]) -> tuple[Joint, ...]:
    joints = []
    for owner, parent, name in zip(owners, copy_parents(assembly), names, strict=True):
        hinge = assembly.parts[owner].hinge
        if hinge is None:
            joints.append(Joint("fixed", int(parent), lower=0.0, upper=0.0, name=f"{name}_joint"))
            continue
        low, high = (-np.pi, np.pi) if hinge.kind == "continuous" else (hinge.lower, hinge.upper)
        place = (int(parent), np.asarray(hinge.axis), np.asarray(hinge.origin))
        joints.append(Joint(hinge.kind, *place, low, high, name=f"{name}_joint"))
    return tuple(joints)
