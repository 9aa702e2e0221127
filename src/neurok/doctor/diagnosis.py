"""What a mesh is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from neurok.core import Mesh
from neurok.doctor import anatomy
from neurok.doctor.anatomy import check_winding
from neurok.doctor.frame import Guess, guess_unit, guess_up
from neurok.geometry.operators import face_areas
from neurok.geometry.topology import degenerate_faces, face_components, row_ids

Severity = Literal["error", "warning", "info"]

SMALLEST_SIZE = 1e-3
LARGEST_SIZE = 1e3
"""Objects whose longest side is outside this range [m] are taken for a mistake of units."""

FARTHEST = 1e3
"""Distance from the origin, in sizes of the object, beyond which single precision shows."""

KINDS: Mapping[str, tuple[Severity, str, str]] = MappingProxyType(
    {
        "empty": ("error", "there is no triangle to work with", "nothing: this mesh cannot be repaired"),
        "non_finite_vertices": (
            "error",
            "vertices that are NaN, infinite or absurdly far: {n}",
            "drop them and their faces",
        ),
        "index_out_of_range": ("error", "faces that name vertices that do not exist: {n}", "drop these faces"),
        "non_finite_attributes": (
            "error",
            "texture coordinates or colours that are not numbers: {n}",
            "set them to 0 (coordinates) or white",
        ),
        "bad_labels": (
            "error",
            "part or surface numbers that name nothing, or faces that span two parts: {n}",
            "use part or surface 0, and cut faces off at the border of a part",
        ),
        "degenerate_faces": ("warning", "faces without area: {n}", "drop them"),
        "duplicate_faces": ("warning", "faces that repeat another one: {n}", "keep one of each"),
        "inconsistent_winding": (
            "warning",
            "edges between faces that look to opposite sides: {n}",
            "turn the minority round",
        ),
        "inside_out": ("warning", "closed pieces that are inside out: {n}", "turn them round"),
        "absurd_scale": ("warning", "the longest side measures {size} m", "scale it to a likely size in metres"),
        "far_from_origin": (
            "warning",
            "it lies {n} times its own size away from the origin, too far for single precision",
            "move it to the origin",
        ),
        "unreferenced_vertices": ("info", "vertices that belong to no face: {n}", "drop them"),
        "duplicate_vertices": (
            "info",
            "vertices that repeat a neighbour in position, texture coordinate, colour and part: {n}",
            "merge those joined by an edge; pieces that only touch stay apart",
        ),
        "non_manifold_edges": ("info", "edges that join more than two faces: {n}", "nothing; only volumes suffer"),
        "holes": ("info", "open borders: {n}", "nothing; the surface is used as it is"),
    }
)
"""Every kind of problem: how bad it is, what it means, and what neurok does about it."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    kind: str
    count: int
    severity: Severity
    """``error``: cannot be used as it is; ``warning``: results may suffer; ``info``: good to know."""

    sentence: str
    remedy: str
    """What the repair does about it."""


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found; figures are of the faces that can be used at all."""

    name: str
    vertices: int
    faces: int
    parts: tuple[str, ...]
    surfaces: tuple[str, ...]
    textures: int
    components: int
    """Pieces that hang together by shared vertices or edges, inside one part."""

    is_watertight: bool
    volume: float | None
    """[m^3]; None unless watertight."""

    area: float
    """[m^2]."""

    bounds: tuple[tuple[float, float, float], tuple[float, float, float]]
    """Lowest and highest corner, in the file's own unit."""

    size: tuple[float, float, float]
    """Sides of the box [m]."""

    unit: Guess
    up: Guess
    problems: tuple[Problem, ...]

    @property
    def is_usable(self) -> bool:
        """Whether the mesh works as it is."""
        return all(problem.severity != "error" for problem in self.problems)

    @property
    def is_repairable(self) -> bool:
        return all(problem.kind != "empty" for problem in self.problems)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        from dataclasses import asdict

        return {**asdict(self), "is_usable": self.is_usable, "is_repairable": self.is_repairable}


def diagnose(mesh: Mesh, *, is_stated: bool = False) -> Diagnosis:
    """Look at a mesh, or at the draft that a ``MeshError`` carries; never raises for what it finds there.

    ``is_stated`` says that its format knows units and axes (``io.formats.states_frame``).
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _examine(mesh, is_stated)


def _examine(mesh: Mesh, is_stated: bool) -> Diagnosis:
    found: dict[str, int] = {}
    sound = anatomy.sound_vertices(mesh.vertices)
    found["non_finite_vertices"] = int((~sound).sum())
    within = anatomy.faces_in_range(mesh.faces, len(mesh.vertices))
    found["index_out_of_range"] = int((~within).sum())
    found["non_finite_attributes"] = sum(
        int((~np.isfinite(array).all(axis=1)).sum()) for array in (mesh.uv, mesh.vertex_colors) if array is not None
    )
    usable = within.copy()
    usable[within] = sound[mesh.faces[within]].all(axis=1)
    referenced = np.zeros(len(mesh.vertices), dtype=bool)
    referenced[mesh.faces[within].reshape(-1)] = True
    found["unreferenced_vertices"] = int((~referenced & sound).sum())
    found["bad_labels"] = _bad_labels(mesh, np.flatnonzero(usable))
    flat = np.zeros(len(mesh.faces), dtype=bool)
    flat[usable] = degenerate_faces(mesh.vertices, mesh.faces[usable])
    found["degenerate_faces"] = int(flat.sum())
    solid = np.flatnonzero(usable & ~flat)
    return _describe(mesh, solid, found, is_stated)


def _bad_labels(mesh: Mesh, usable: np.ndarray) -> int:
    count = 0
    if mesh.part_ids is not None:
        top = len(mesh.part_names) or int(mesh.part_ids.max(initial=-1)) + 1
        count += int(((mesh.part_ids < 0) | (mesh.part_ids >= top)).sum())
        corner = mesh.part_ids[mesh.faces[usable]]
        count += int((corner != corner[:, :1]).any(axis=1).sum())
    if mesh.face_surfaces is not None:
        count += int(((mesh.face_surfaces < 0) | (mesh.face_surfaces >= max(1, len(mesh.surfaces)))).sum())
    return count


def _describe(mesh: Mesh, solid: np.ndarray, found: dict[str, int], is_stated: bool) -> Diagnosis:
    faces, surfaces = mesh.faces[solid], anatomy.face_surfaces(mesh)[solid]
    twins = anatomy.twin_faces(anatomy.vertex_classes(mesh)[faces], surfaces)
    found["duplicate_faces"] = int(twins.sum())
    faces, solid = faces[~twins], solid[~twins]
    facts: dict[str, Any]
    if len(faces):
        found["duplicate_vertices"] = _mergeable(mesh, faces, solid)
        facts = {**_form(mesh, faces, found), **_extent(mesh, faces, found, is_stated)}
    else:
        found["empty"] = 1
        nowhere, unknown = (0.0, 0.0, 0.0), Guess("unknown", 0.0, "there is nothing to look at")
        facts = {"components": 0, "is_watertight": False, "volume": None, "area": 0.0}
        facts |= {"bounds": (nowhere, nowhere), "size": nowhere, "unit": unknown, "up": unknown}
    return Diagnosis(
        name=mesh.name,
        vertices=len(mesh.vertices),
        faces=len(mesh.faces),
        parts=tuple(mesh.part_names),
        surfaces=tuple(surface.name for surface in mesh.surfaces),
        textures=sum(surface.texture is not None for surface in mesh.surfaces),
        problems=_problems(found, max(facts["size"])),
        **facts,
    )


def _form(mesh: Mesh, faces: np.ndarray, found: dict[str, int]) -> dict[str, Any]:
    """How the surface hangs together."""
    parts = np.zeros(len(faces), dtype=np.int64) if mesh.part_ids is None else mesh.part_ids[faces[:, 0]]
    components = face_components(mesh.vertices, faces, parts)
    half = anatomy.HalfEdges.of(place_corners(mesh.vertices, faces, components))
    winding = check_winding(mesh.vertices, faces, half)
    found["inconsistent_winding"], found["inside_out"] = winding.clashes, winding.inside_out
    found["non_manifold_edges"] = len(np.unique(half.edge[half.uses > 2]))
    found["holes"] = anatomy.boundary_loops(half)
    watertight = bool((half.uses == 2).all()) and winding.clashes == 0
    a, b, c = (mesh.vertices[faces[:, i]] - mesh.vertices[faces[0, 0]] for i in range(3))
    volume = float(np.einsum("fd,fd->", a, np.cross(b, c))) / 6.0 * mesh.unit**3
    return {
        "components": int(components.max()) + 1,
        "is_watertight": watertight,
        "volume": volume if watertight else None,
        "area": float(face_areas(mesh.vertices, faces).sum()) * mesh.unit**2,
    }


def _extent(mesh: Mesh, faces: np.ndarray, found: dict[str, int], is_stated: bool) -> dict[str, Any]:
    """Where it is, how large, and in which frame."""
    used = mesh.vertices[np.unique(faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    size = (high - low) * mesh.unit
    found["absurd_scale"] = int(is_absurd(float(size.max())))
    found["far_from_origin"] = offset_ratio(low, high)
    return {
        "bounds": (_triple(low), _triple(high)),
        "size": _triple(size),
        "unit": guess_unit(float((high - low).max()), mesh.unit, is_stated=is_stated),
        "up": guess_up(mesh, faces, is_stated=is_stated),
    }


def _problems(found: dict[str, int], longest: float) -> tuple[Problem, ...]:
    return tuple(
        Problem(kind, found[kind], severity, sentence.format(n=f"{found[kind]:,}", size=f"{longest:.3g}"), remedy)
        for kind, (severity, sentence, remedy) in KINDS.items()
        if found.get(kind, 0)
    )


def place_corners(vertices: np.ndarray, faces: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Corner numbers by position, kept apart between components: how the surface hangs together in space."""
    places = row_ids(vertices)[faces].astype(np.int64)
    keys = places * (int(components.max(initial=0)) + 1) + components[:, None]
    return np.unique(keys, return_inverse=True)[1].reshape(-1, 3)


def is_absurd(longest: float) -> bool:
    """Whether the longest side [m] can only be a mistake of units."""
    return not SMALLEST_SIZE <= longest <= LARGEST_SIZE


def offset_ratio(low: np.ndarray, high: np.ndarray) -> int:
    """Distance from the origin in sizes of the object when that is too far, else 0."""
    size = float(np.linalg.norm(high - low))
    away = float(np.linalg.norm(0.5 * (low + high)))
    return int(min(away / size, 1e18)) if size > 0 and away > FARTHEST * size else 0


def _mergeable(mesh: Mesh, faces: np.ndarray, ids: np.ndarray) -> int:
    """Vertices that the repair would merge away."""
    draft = _view(mesh, faces, ids)
    target = anatomy.weld_map(draft)
    return int((target != np.arange(len(target))).sum())


def _view(mesh: Mesh, faces: np.ndarray, ids: np.ndarray) -> Mesh:
    """The same mesh with some of its faces, without checking it again: it may be a draft."""
    import copy

    view = copy.copy(mesh)
    object.__setattr__(view, "faces", faces)
    object.__setattr__(view, "face_surfaces", None if mesh.face_surfaces is None else mesh.face_surfaces[ids])
    return view


def _triple(array: np.ndarray) -> tuple[float, float, float]:
    return float(array[0]), float(array[1]), float(array[2])
