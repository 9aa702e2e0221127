"""The geometry of one USD prim as triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Authored, Mesh, Surface
from neurok.errors import FormatError
from neurok.io.polygons import split_corners, triangulate
from neurok.io.urdf_pieces import box, capsule

Corners = Int[np.ndarray, "F 3"]
Read = tuple[Mesh, Int[np.ndarray, " V"]]
"""A mesh and the point of the prim behind each of its vertices."""


def read_shape(prim: Any, time: Any, surface_of: Callable[[Any], Surface | None], notes: list[str]) -> Read | None:
    """A mesh or simple shape at one time; ``None`` for what has no triangles."""
    from pxr import UsdGeom

    if prim.IsA(UsdGeom.Mesh):
        return _mesh(prim, time, surface_of, notes)
    shape = _solid(prim, time)
    if shape is None:
        notes.append(f"'{prim.GetPath()}' is a {prim.GetTypeName()}, which is left out.")
        return None
    surface = surface_of(prim) or _display_surface(prim, time)
    placed = Mesh(shape.vertices, shape.faces, surfaces=(surface,) if surface else (), name=prim.GetName())
    return placed, np.arange(placed.vertex_count)


def _solid(prim: Any, time: Any) -> Mesh | None:
    """Cubes, spheres, cylinders and capsules."""
    kind = prim.GetTypeName()
    get = lambda name: float(prim.GetAttribute(name).Get(time))  # noqa: E731
    if kind == "Cube":
        return box(np.full(3, get("size") / 2))
    if kind == "Sphere":
        return capsule(get("radius"), 0.0)
    if kind not in ("Cylinder", "Capsule"):
        return None
    shape = capsule(get("radius"), get("height") / 2, rounded=kind == "Capsule")
    turns = {"X": 1, "Y": 2, "Z": 0}[prim.GetAttribute("axis").Get(time) or "Z"]
    return shape.with_vertices(np.roll(shape.vertices, turns, axis=1))


def _mesh(prim: Any, time: Any, surface_of: Callable[[Any], Surface | None], notes: list[str]) -> Read | None:
    where = f"'{prim.GetPath()}'"
    points = _array(prim, "points", time, (-1, 3))
    counts, indices = (_array(prim, n, time, (-1,), int) for n in ("faceVertexCounts", "faceVertexIndices"))
    if len(points) == 0 or len(counts) == 0:
        notes.append(f"{where} is an empty mesh and is left out.")
        return None
    if counts.min() < 0 or counts.sum() != len(indices) or indices.min(initial=0) < 0 or indices.max() >= len(points):
        raise FormatError(f"{where} is damaged: its faces name points that do not exist.")
    corners, polygon = triangulate(counts, indices, points)
    if len(corners) == 0:
        notes.append(f"{where} has no faces and is left out.")
        return None
    if prim.GetAttribute("orientation").Get(time) == "leftHanded":
        corners = corners[:, ::-1]
    faces = indices[corners]
    uv = _primvar(prim, ("st", "st0", "UVMap", "map1"), time, corners, faces, polygon, 2, where)
    second = None if uv is None else _primvar(prim, ("st1",), time, corners, faces, polygon, 2, where)
    uv = uv if second is None else np.concatenate([uv, second], axis=2)
    colors = _colors(prim, time, corners, faces, polygon, where)
    source, faces, uv, colors = _split(faces, uv, colors, len(points))
    surfaces, face_surfaces = _surfaces(prim, polygon, len(counts), surface_of)
    is_double = bool(prim.GetAttribute("doubleSided").Get(time))
    surfaces = tuple(replace(surface, double_sided=is_double) for surface in surfaces)
    sets = () if uv is None else tuple(_flipped(uv[:, k : k + 2]) for k in range(0, uv.shape[1], 2))
    vertices, normals = points[source], _normals(prim, time, source, len(points))
    authored = Authored(None if normals is None else vertices, normals, uv_sets=sets)
    if uv is not None:
        uv = _flipped(_base_coordinates(sets, surfaces, faces, face_surfaces))
    mesh = Mesh(
        vertices,
        faces,
        authored=authored if authored.count else None,
        uv=uv,
        vertex_colors=colors,
        surfaces=surfaces,
        face_surfaces=face_surfaces,
        name=prim.GetName(),
    )
    return mesh, source


def _array(prim: Any, name: str, time: Any, shape: tuple[int, ...], kind: type = float) -> np.ndarray:
    value = prim.GetAttribute(name).Get(time)
    return np.array([] if value is None else value, dtype=np.float64 if kind is float else np.int64).reshape(shape)


def _primvar(
    prim: Any,
    names: tuple[str, ...],
    time: Any,
    corners: Corners,
    faces: Corners,
    polygon: Int[np.ndarray, " F"],
    width: int,
    where: str,
) -> Float[np.ndarray, "F 3 C"] | None:
    """A value for each corner, whichever way the primvar is spread over the mesh."""
    from pxr import UsdGeom

    api = UsdGeom.PrimvarsAPI(prim)
    found = next((api.GetPrimvar(name) for name in names if api.GetPrimvar(name).HasValue()), None)
    if found is None:
        return None
    flat = found.ComputeFlattened(time)
    if flat is None:
        return None
    values = np.array(flat, dtype=np.float64).reshape(-1, width)
    spread = found.GetInterpolation()
    at = {"faceVarying": corners, "vertex": faces, "varying": faces}.get(spread)
    if at is None:
        at = np.repeat(polygon[:, None], 3, axis=1) if spread == "uniform" else np.zeros_like(faces)
    if at.max() >= len(values) or not np.isfinite(values).all():
        raise FormatError(f"{where} has a primvar '{names[0]}' that does not fit its faces.")
    return values[at]


def _colors(
    prim: Any, time: Any, corners: Corners, faces: Corners, polygon: Int[np.ndarray, " F"], where: str
) -> Float[np.ndarray, "F 3 4"] | None:
    rgb = _primvar(prim, ("displayColor",), time, corners, faces, polygon, 3, where)
    if rgb is None:
        return None
    alpha = _primvar(prim, ("displayOpacity",), time, corners, faces, polygon, 1, where)
    return np.clip(np.concatenate([rgb, np.ones((*rgb.shape[:2], 1)) if alpha is None else alpha], axis=2), 0.0, 1.0)


def _split(
    faces: Corners, uv: np.ndarray | None, colors: np.ndarray | None, count: int
) -> tuple[Int[np.ndarray, " V"], Corners, np.ndarray | None, np.ndarray | None]:
    """Copy points whose corners differ in texture coordinates or colour."""
    given = [array for array in (uv, colors) if array is not None]
    if not given:
        return np.arange(count), faces, None, None
    rows = np.concatenate(given, axis=2).reshape(len(faces) * 3, -1)
    table, code = np.unique(rows, axis=0, return_inverse=True)
    source, faces, kept = split_corners(faces, code.reshape(faces.shape), count)
    values = table[kept]
    width = 0 if uv is None else uv.shape[2]
    return (
        source,
        faces,
        values[:, :width] if uv is not None else None,
        values[:, width:] if colors is not None else None,
    )


def _flipped(uv: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
    """Texture coordinates with v counted from the other side."""
    return np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])


def _normals(prim: Any, time: Any, source: Int[np.ndarray, " V"], count: int) -> Float[np.ndarray, "V 3"] | None:
    """Unit normals of the vertices, if the prim has one for each point."""
    from pxr import UsdGeom

    shape = UsdGeom.Mesh(prim)
    if shape.GetNormalsInterpolation() not in ("vertex", "varying"):
        return None
    normals = _array(prim, "normals", time, (-1, 3))
    if len(normals) != count or not np.isfinite(normals).all():
        return None
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, size, out=np.zeros_like(normals), where=size > 1e-12)[source]


def _base_coordinates(
    sets: tuple[np.ndarray, ...],
    surfaces: tuple[Surface, ...],
    faces: Corners,
    face_surfaces: Int[np.ndarray, " F"] | None,
) -> Float[np.ndarray, "V 2"]:
    """Where each surface looks its base colour up: its own set of coordinates, moved as its picture asks."""
    out = np.array(sets[0], dtype=np.float64)
    for number, surface in enumerate(surfaces):
        placed = surface.finish and surface.finish.maps.get("base_color")
        if not placed or placed.placing == (0, b""):
            continue
        own = faces if face_surfaces is None else faces[face_surfaces == number]
        uv = sets[min(placed.uv_set, len(sets) - 1)][own]
        out[own] = uv if placed.transform is None else uv @ placed.transform[:, :2].T + placed.transform[:, 2]
    return out


def _surfaces(
    prim: Any, polygon: Int[np.ndarray, " F"], polygon_count: int, surface_of: Callable[[Any], Surface | None]
) -> tuple[tuple[Surface, ...], Int[np.ndarray, " F"] | None]:
    """The look of the prim, and of the subsets of faces that have their own."""
    from pxr import UsdShade

    whole = surface_of(prim)
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    if not subsets:
        return ((whole,) if whole else ()), None
    surfaces = [whole or Surface()]
    of_polygon = np.zeros(polygon_count, dtype=np.int64)
    for subset in subsets:
        own = surface_of(subset.GetPrim())
        indices = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
        if own is None or len(indices) == 0:
            continue
        if indices.min() < 0 or indices.max() >= polygon_count:
            raise FormatError(f"'{subset.GetPath()}' names faces that do not exist.")
        of_polygon[indices] = len(surfaces)
        surfaces.append(own)
    return tuple(surfaces), of_polygon[polygon]


def _display_surface(prim: Any, time: Any) -> Surface | None:
    """A simple shape's display colour as its surface."""
    value = prim.GetAttribute("primvars:displayColor").Get(time)
    if not value:
        return None
    red, green, blue = (min(max(float(x), 0.0), 1.0) for x in value[0])
    return Surface("display", (red, green, blue, 1.0))
