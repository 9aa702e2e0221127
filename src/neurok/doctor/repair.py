"""Mending a mesh: every step says what it did, and a mended mesh needs no second visit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Asset, Authored, Clip, Mesh
from neurok.doctor import anatomy
from neurok.doctor.anatomy import check_winding
from neurok.doctor.diagnosis import is_absurd, offset_ratio, place_corners
from neurok.errors import MeshError
from neurok.geometry.topology import degenerate_faces, face_components, split_by_face_label

LIKELY_SCALES = (1e-3, 1e-2, 0.0254, 1e3, 1e2)
"""Scales that undo the usual confusions of units."""

LIKELY_SIZE = (0.05, 10.0)
"""Longest side of a likely object [m]."""

_MAX_ROUNDS = 12


@dataclass(frozen=True, eq=False)
class Repair:
    """A mended mesh and how it came from the old one: ``new = scale * old[source] + offset``."""

    mesh: Mesh
    notes: tuple[str, ...]
    """What was done, one sentence each; empty when the mesh was fine."""

    source: Int[np.ndarray, " V"]
    """Index of the old vertex behind each new one."""

    scale: float
    offset: Float[np.ndarray, "3"]


def repair(mesh: Mesh) -> tuple[Mesh, list[str]]:
    """The mended mesh and what was done to it.

    Raises:
        MeshError: If no usable triangle is left.
    """
    mended = mend(mesh)
    return mended.mesh, list(mended.notes)


def mend(mesh: Mesh) -> Repair:
    """Like ``repair``, and tells which old vertex each new one was, so that motion can follow."""
    work = _Work.of(mesh)
    notes: list[str] = []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for _ in range(_MAX_ROUNDS):
            done = [note for step in STEPS if (note := step(work))]
            notes += done
            if not done:
                break
    if len(work.faces) == 0:
        raise _nothing_left(mesh)
    if not notes:
        return Repair(mesh, (), np.arange(len(mesh.vertices)), 1.0, np.zeros(3))
    return Repair(work.mesh(), tuple(notes), work.source, work.scale, work.offset)


def mended_asset(asset: Asset, mended: Repair) -> Asset:
    """The asset around its mended mesh: clips and joints take part in whatever happened to the vertices."""
    if not mended.notes:
        return asset
    scale, offset, source = mended.scale, mended.offset, mended.source
    is_moved = scale != 1.0 or offset.any()
    clips = []
    for clip in asset.clips:
        skin = clip.skin and (None if is_moved else clip.skin.at_vertices(source))
        clips.append(Clip(mended.mesh, clip.positions[:, source] * scale + offset, clip.fps, clip.name, skin))
    joints = asset.articulation
    if joints is not None:
        moved = tuple(joint.moved(np.eye(3), scale, offset) for joint in joints.joints)
        joints = Articulation(mended.mesh, moved, None if is_moved else joints.inertials, joints.name)
    materials = asset.materials
    if materials is not None:
        materials = materials.take(source)
    return replace(asset, mesh=mended.mesh, clips=tuple(clips), articulation=joints, materials=materials)


@dataclass
class _Work:
    """The mesh on the table: loose arrays that the steps change."""

    draft: Mesh
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    uv: Float[np.ndarray, "V 2"] | None
    vertex_colors: Float[np.ndarray, "V 4"] | None
    part_ids: Int[np.ndarray, " V"] | None
    part_names: tuple[str, ...]
    face_surfaces: Int[np.ndarray, " F"] | None
    source: Int[np.ndarray, " V"]
    unit: float
    scale: float
    offset: Float[np.ndarray, "3"]

    surfaces: tuple = ()

    @staticmethod
    def of(mesh: Mesh) -> _Work:
        names = mesh.part_names
        if mesh.part_ids is not None and not names:
            names = tuple(f"part_{i}" for i in range(max(int(mesh.part_ids.max(initial=0)), 0) + 1))
        count = len(mesh.vertices)
        return _Work(
            mesh, mesh.vertices, mesh.faces, mesh.uv, mesh.vertex_colors, mesh.part_ids, names, mesh.face_surfaces,
            np.arange(count), mesh.unit, 1.0, np.zeros(3), mesh.surfaces,
        )  # fmt: skip

    def keep_faces(self, keep: Bool[np.ndarray, " F"]) -> None:
        self.faces = self.faces[keep]
        if self.face_surfaces is not None:
            self.face_surfaces = self.face_surfaces[keep]

    def take_vertices(self, index: Int[np.ndarray, " W"]) -> None:
        self.vertices, self.source = self.vertices[index], self.source[index]
        self.uv = None if self.uv is None else self.uv[index]
        self.vertex_colors = None if self.vertex_colors is None else self.vertex_colors[index]
        self.part_ids = None if self.part_ids is None else self.part_ids[index]

    def move(self, scale: float, offset: Float[np.ndarray, "3"]) -> None:
        self.vertices = self.vertices * scale + offset
        self.scale, self.offset = self.scale * scale, self.offset * scale + offset

    def mesh(self) -> Mesh:
        return Mesh(
            self.vertices, self.faces, self.uv, self.vertex_colors, self.part_ids, self.part_names,
            self.surfaces, self.face_surfaces, self.unit, self.draft.up, self.draft.name, self.authored(),
        )  # fmt: skip

    def authored(self) -> Authored | None:
        """What the file says of the vertices that are left; normals only while the faces are the file's own."""
        given = self.draft.authored
        if given is None or np.array_equal(self.faces, self.draft.faces):
            return given and given.at(self.source)
        return given.at(self.source).without_directions()


def _nothing_left(draft: Mesh) -> MeshError:
    return MeshError(
        f"Nothing of '{draft.name}' can be used: none of its {len(draft.faces)} faces is a triangle with area "
        "between existing, finite vertices. Export it again from the program it was made with.",
        draft,
    )


def _drop_broken(work: _Work) -> str | None:
    sound = anatomy.sound_vertices(work.vertices)
    within = anatomy.faces_in_range(work.faces, len(work.vertices))
    keep = within.copy()
    keep[within] = sound[work.faces[within]].all(axis=1)
    lost_vertices, lost_faces = int((~sound).sum()), int((~keep).sum())
    if not lost_vertices and not lost_faces:
        return None
    work.keep_faces(keep)
    renumber = np.cumsum(sound) - 1
    work.faces = renumber[work.faces]
    work.take_vertices(np.flatnonzero(sound))
    return f"Dropped vertices that were not numbers: {lost_vertices:,}, and faces without all corners: {lost_faces:,}."


def _mend_attributes(work: _Work) -> str | None:
    count = 0
    for name, value in (("uv", 0.0), ("vertex_colors", 1.0)):
        array = getattr(work, name)
        if array is not None and not np.isfinite(array).all():
            count += int((~np.isfinite(array).all(axis=1)).sum())
            setattr(work, name, np.where(np.isfinite(array), array, value))
    return f"Replaced texture coordinates or colours that were not numbers: {count:,}." if count else None


def _mend_labels(work: _Work) -> str | None:
    count = 0
    if work.face_surfaces is not None:
        wrong = (work.face_surfaces < 0) | (work.face_surfaces >= max(1, len(work.surfaces)))
        count += int(wrong.sum())
        work.face_surfaces = np.where(wrong, 0, work.face_surfaces)
    if work.part_ids is not None:
        wrong = (work.part_ids < 0) | (work.part_ids >= len(work.part_names))
        count += int(wrong.sum())
        work.part_ids = np.where(wrong, 0, work.part_ids)
        corner = work.part_ids[work.faces]
        spanning = int((corner != corner[:, :1]).any(axis=1).sum())
        if spanning:
            index, work.faces, parts = split_by_face_label(work.faces, corner[:, 0])
            work.take_vertices(index)
            work.part_ids = parts
        count += spanning
    return f"Corrected part or surface labels: {count:,}." if count else None


def _used_bounds(work: _Work) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    used = work.vertices[np.unique(work.faces)]
    return used.min(axis=0), used.max(axis=0)


def _mend_scale(work: _Work) -> str | None:
    if len(work.faces) == 0:
        return None
    low, high = _used_bounds(work)
    longest = float((high - low).max()) * work.unit
    if not is_absurd(longest) or longest == 0.0:
        return None
    likely = (s for s in LIKELY_SCALES if LIKELY_SIZE[0] <= longest * s <= LIKELY_SIZE[1])
    scale = next(likely, 1.0 / longest)
    work.move(scale * work.unit, np.zeros(3))
    work.unit = 1.0
    return f"Scaled by {scale:.4g}: the longest side was {longest:.3g} m and is {longest * scale:.3g} m now."


def _mend_offset(work: _Work) -> str | None:
    if len(work.faces) == 0:
        return None
    low, high = _used_bounds(work)
    if not offset_ratio(low, high):
        return None
    middle = 0.5 * (low + high)
    work.move(1.0, -middle)
    return f"Moved by ({', '.join(f'{-x:.6g}' for x in middle)}) to the origin, where single precision suffices."


def _drop_degenerate(work: _Work) -> str | None:
    flat = degenerate_faces(work.vertices, work.faces)
    work.keep_faces(~flat)
    return f"Dropped faces without area: {int(flat.sum()):,}." if flat.any() else None


def _drop_twins(work: _Work) -> str | None:
    classes = anatomy.vertex_classes(work)  # type: ignore[arg-type]
    twins = anatomy.twin_faces(classes[work.faces], anatomy.face_surfaces(work))  # type: ignore[arg-type]
    work.keep_faces(~twins)
    return f"Dropped faces that repeated another one: {int(twins.sum()):,}." if twins.any() else None


def _merge_vertices(work: _Work) -> str | None:
    target = anatomy.weld_map(work)  # type: ignore[arg-type]
    merged = int((target != np.arange(len(target))).sum())
    if not merged:
        return None
    work.faces = target[work.faces]
    kept, inverse = np.unique(target, return_inverse=True)
    work.faces = inverse.reshape(-1)[work.faces]
    work.take_vertices(kept)
    return f"Merged vertices into a neighbour that is alike in everything: {merged:,}."


def _turn_faces(work: _Work) -> str | None:
    if len(work.faces) == 0:
        return None
    parts = np.zeros(len(work.faces), dtype=np.int64) if work.part_ids is None else work.part_ids[work.faces[:, 0]]
    components = face_components(work.vertices, work.faces, parts)
    half = anatomy.HalfEdges.of(place_corners(work.vertices, work.faces, components))
    flip = check_winding(work.vertices, work.faces, half).flip
    if not flip.any():
        return None
    work.faces = np.where(flip[:, None], work.faces[:, [0, 2, 1]], work.faces)
    return f"Turned faces round so that neighbours agree and closed pieces look outwards: {int(flip.sum()):,}."


def _drop_unreferenced(work: _Work) -> str | None:
    used, inverse = np.unique(work.faces, return_inverse=True)
    lost = len(work.vertices) - len(used)
    if not lost or not len(work.faces):
        return None
    work.faces = inverse.reshape(-1, 3)
    work.take_vertices(used)
    return f"Dropped vertices that belonged to no face: {lost:,}."


STEPS: tuple[Callable[[_Work], str | None], ...] = (
    _drop_broken,
    _mend_attributes,
    _mend_labels,
    _mend_scale,
    _mend_offset,
    _drop_degenerate,
    _drop_twins,
    _merge_vertices,
    _turn_faces,
    _drop_unreferenced,
)
"""In this order: each step may rely on what the ones before it removed."""
