"""Solids cut from and joined with each other."""

from __future__ import annotations

import numpy as np

from neurok.modelling.shapes import Shape


def difference(solid: Shape, *cutters: Shape) -> Shape:
    """``solid`` without the ``cutters``."""
    result = to_manifold(solid)
    for cutter in cutters:
        result = result - to_manifold(cutter)
    return from_manifold(result)


def union(*solids: Shape) -> Shape:
    """One solid out of overlapping ones."""
    result = to_manifold(solids[0])
    for other in solids[1:]:
        result = result + to_manifold(other)
    return from_manifold(result)


def intersection(solid: Shape, *others: Shape) -> Shape:
    """What all solids share."""
    result = to_manifold(solid)
    for other in others:
        result = result ^ to_manifold(other)
    return from_manifold(result)


def to_manifold(shape: Shape):  # type: ignore[no-untyped-def]
    """A closed solid as ``manifold3d`` holds it."""
    import manifold3d

    solid = manifold3d.Manifold(
        manifold3d.Mesh64(np.ascontiguousarray(shape.vertices), np.ascontiguousarray(shape.faces.astype(np.uint64)))
    )
    assert solid.status() == manifold3d.Error.NoError, f"not a closed solid: {solid.status()}"
    return solid


def from_manifold(solid) -> Shape:  # type: ignore[no-untyped-def]
    mesh = solid.to_mesh64()
    # Copies, because views would keep the library's own memory alive until the interpreter ends.
    return Shape(np.array(mesh.vert_properties, dtype=np.float64)[:, :3], np.array(mesh.tri_verts, dtype=np.int64))
