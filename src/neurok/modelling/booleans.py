"""Solids cut from and joined with each other."""

from __future__ import annotations

import numpy as np

from neurok.modelling.shapes import Shape


def difference(solid: Shape, *cutters: Shape) -> Shape:
    """``solid`` without the ``cutters``."""
    result = _manifold(solid)
    for cutter in cutters:
        result = result - _manifold(cutter)
    return _from_manifold(result)


def union(*solids: Shape) -> Shape:
    """One solid out of overlapping ones."""
    result = _manifold(solids[0])
    for other in solids[1:]:
        result = result + _manifold(other)
    return _from_manifold(result)


def intersection(solid: Shape, *others: Shape) -> Shape:
    """What all solids share."""
    result = _manifold(solid)
    for other in others:
        result = result ^ _manifold(other)
    return _from_manifold(result)


def _manifold(shape: Shape):  # type: ignore[no-untyped-def]
    import manifold3d

    solid = manifold3d.Manifold(
        manifold3d.Mesh64(np.ascontiguousarray(shape.vertices), np.ascontiguousarray(shape.faces.astype(np.uint64)))
    )
    assert solid.status() == manifold3d.Error.NoError, f"not a closed solid: {solid.status()}"
    return solid


def _from_manifold(solid) -> Shape:  # type: ignore[no-untyped-def]
    mesh = solid.to_mesh64()
    # Copies, because views would keep the library's own memory alive until the interpreter ends.
    return Shape(np.array(mesh.vert_properties, dtype=np.float64)[:, :3], np.array(mesh.tri_verts, dtype=np.int64))
