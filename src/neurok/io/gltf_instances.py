"""One mesh shown many times by one node (EXT_mesh_gpu_instancing)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.geometry import lie
from neurok.io.gltf_document import Document, Record
from neurok.io.gltf_geometry import Geometry, merge
from neurok.io.gltf_nodes import REST, transform_matrices

NAMES = {"translation": "TRANSLATION", "rotation": "ROTATION", "scale": "SCALE"}


def instances(doc: Document, node: Record) -> Float[np.ndarray, "N 4 4"] | None:
    """Where a node shows its mesh, in its own frame; none when it shows it once, as usual."""
    found = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
    if found is None or "mesh" not in node:
        return None
    given = {name: doc.array(found["attributes"][key]) for name, key in NAMES.items() if key in found["attributes"]}
    counts = {len(values) for values in given.values()}
    if len(counts) != 1:
        raise doc.error(f"the instances of a node have {sorted(counts) or 'no'} places")
    count = counts.pop()
    columns = []
    for name, rest in REST:
        values = given.get(name, np.broadcast_to(np.array(rest), (count, len(rest)))).astype(np.float64)
        if values.shape != (count, len(rest)) or not np.isfinite(values).all():
            raise doc.error(f"the instances of a node have a damaged {name}")
        columns.append(values)
    return transform_matrices(*columns)


def repeated(shape: Geometry, places: Float[np.ndarray, "N 4 4"]) -> Geometry:
    """The mesh at every place, as one; copies have no normals of their own where they are stretched."""
    return merge([_placed(shape, place) for place in places])


def _placed(shape: Geometry, place: Float[np.ndarray, "4 4"]) -> Geometry:
    linear = place[:3, :3]
    scale = np.cbrt(abs(np.linalg.det(linear))) or 1.0
    is_even = np.allclose(linear @ linear.T, np.eye(3) * scale**2, atol=1e-5 * scale**2)
    normals = None if shape.normals is None or not is_even else shape.normals @ (linear / scale).T
    is_mirrored = np.linalg.det(linear) < 0
    return replace(
        shape,
        vertices=lie.apply(place, shape.vertices.astype(np.float64)),
        faces=shape.faces[:, ::-1] if is_mirrored else shape.faces,
        normals=normals,
        tangents=None,
        targets=None if shape.targets is None else shape.targets @ linear.T.astype(np.float32),
    )
