"""Subjects: objects boiled down to the few hundred points and the motion that training needs.

A subject holds up to ``HANDLES`` patches of its surface with ``POINTS`` samples each, and a motion that says where
those points go: joints (posed on the fly) or the frames of a clip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.core.mesh import AXIS_INDEX
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.handles import Handles, find_handles
from neurok.geometry.joint_tree import AT_REST, JointTree
from neurok.geometry.operators import face_areas

HANDLES = 32
POINTS = 32


@dataclass(frozen=True, eq=False)
class JointMotion:
    """The joints of an articulated object as plain arrays, so that batches of states are posed at once."""

    is_turn: np.ndarray
    is_slide: np.ndarray
    parents: Int[np.ndarray, " P"]
    order: tuple[int, ...]
    axes: Float[np.ndarray, "P 3"]
    origins: Float[np.ndarray, "P 3"]
    lower: Float[np.ndarray, " P"]
    upper: Float[np.ndarray, " P"]
    point_parts: Int[np.ndarray, "H N"]
    handle_parts: Int[np.ndarray, " H"]

    @staticmethod
    def of(articulation: Articulation, point_parts: Int[np.ndarray, "H N"]) -> JointMotion:
        joints = articulation.joints
        kinds = np.array([j.kind for j in joints])
        reach = 0.3 * articulation.mesh.size
        limits = np.array([_range(j, reach) for j in joints])
        majority = np.array([np.bincount(row, minlength=len(joints)).argmax() for row in point_parts])
        return JointMotion(
            np.isin(kinds, ["revolute", "continuous", "cylindrical"]),
            kinds == "prismatic",
            np.array([j.parent for j in joints]),
            articulation.order,
            np.array([j.axis for j in joints]),
            np.array([j.origin for j in joints]),
            limits[:, 0],
            limits[:, 1],
            point_parts,
            majority,
        )

    @property
    def can_move(self) -> np.ndarray:
        return (self.is_turn | self.is_slide) & (self.upper > self.lower)

    def moves(self, handles: Bool[np.ndarray, " H"]) -> bool:
        """Whether any of these handles belongs to a part that can move, or to one carried by such a part."""
        carried = self._tree.ancestors[1:] @ self.can_move > 0
        return bool(carried[self.handle_parts[handles]].any())

    @cached_property
    def _tree(self) -> JointTree:
        """Who carries whom, a node for each part."""
        return JointTree(self.parents + 1, np.zeros((len(self.parents), 4, 4)))

    def transforms(self, q: Float[np.ndarray, "S P"], scale: Float[np.ndarray, "3"]) -> Float[np.ndarray, "S P 4 4"]:
        """Rigid motion of every part of the stretched object; ``q`` has one value per part."""
        axes = self.axes * scale
        turns = lie.turn_generator(axes / np.linalg.norm(axes, axis=1, keepdims=True), self.origins * scale)
        slides = lie.slide_generator(axes * self.is_slide[:, None])
        generators = np.where(self.is_turn[:, None, None], turns, slides)
        return replace(self._tree, generators=generators).nodes(AT_REST, q)[:, 1:]


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Where the points stand in every frame of a clip; frame 0 is the rest state."""

    frames: Float[np.ndarray, "T H N 3"]


@dataclass(frozen=True, eq=False)
class Subject:
    """One object, ready for training."""

    points: Float[np.ndarray, "H N 3"]
    """Samples of each handle's patch at rest, in the unit of the mesh."""

    groups: Int[np.ndarray, " H"]
    areas: Float[np.ndarray, " H"]
    """Share of the surface that each handle stands for; zero for absent handles."""

    motion: JointMotion | FrameMotion
    up: int = 1
    name: str = "object"

    @property
    def present(self) -> np.ndarray:
        return self.areas > 0


@dataclass(frozen=True, eq=False)
class Patches:
    """Samples of a mesh, handle by handle; rows beyond the last handle are padding."""

    handles: Handles
    points: Float[np.ndarray, "H N 3"]
    faces: Int[np.ndarray, "H N"]
    barycentric: Float[np.ndarray, "H N 3"]
    groups: Int[np.ndarray, " H"]
    areas: Float[np.ndarray, " H"]


def patches_of(mesh: Mesh, seed: int = 0) -> Patches:
    """Find the handles of a mesh and sample the patch of each."""
    handles = find_handles(mesh.vertices, mesh.faces, HANDLES, mesh.face_surfaces)
    faces, barycentric, areas = _patch_samples(mesh.vertices, mesh.faces, handles, np.random.default_rng(seed))
    points = np.einsum("hnk,hnkd->hnd", barycentric, mesh.vertices[mesh.faces[faces]])
    groups = np.concatenate([handles.groups, np.full(HANDLES - handles.count, -1)])
    return Patches(handles, points, faces, barycentric, groups, areas)


def subject_of(asset: Asset, seed: int = 0) -> Subject:
    """Boil an asset down; it needs joints or a clip."""
    mesh, patches = asset.mesh, patches_of(asset.mesh, seed)
    corners = mesh.faces[patches.faces]
    motion: JointMotion | FrameMotion
    if asset.articulation is not None and asset.articulation.dof:
        motion = JointMotion.of(asset.articulation, asset.articulation.vertex_parts[corners[..., 0]])
    elif asset.clips:
        frames = np.concatenate([mesh.vertices[None], asset.clips[0].positions])
        places = np.einsum("hnk,thnkd->thnd", patches.barycentric, frames[:, corners], optimize=True)
        motion = FrameMotion(places.astype(np.float32))
    else:
        raise NeurokError(f"'{mesh.name}' has neither joints nor a clip; training needs something that moves.")
    return Subject(
        patches.points.astype(np.float32),
        patches.groups,
        patches.areas.astype(np.float32),
        motion,
        AXIS_INDEX[mesh.up],
        mesh.name,
    )


def _patch_samples(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], handles: Handles, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "H N"], Float[np.ndarray, "H N 3"], Float[np.ndarray, " H"]]:
    """``POINTS`` samples (face, barycentric) of every handle's patch, and the share of area of each patch."""
    areas = face_areas(vertices, faces)
    # Every group gets enough candidates, however small it is beside the others.
    per_group = np.bincount(handles.face_groups, weights=areas)
    boosted = areas / np.maximum(per_group[handles.face_groups], 1e-30) + areas / max(areas.sum(), 1e-30) * 8
    boosted = np.where(boosted > 0, boosted, 1e-12)
    face = rng.choice(len(faces), size=HANDLES * POINTS * 6, p=boosted / boosted.sum())
    u, v = rng.random((2, len(face)))
    root = np.sqrt(u)
    bary = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    points = np.einsum("nk,nkd->nd", bary, vertices[faces[face]])
    owner = _nearest_handle(handles, points, handles.face_groups[face])
    worth = (areas / boosted)[face]
    out_face = np.zeros((HANDLES, POINTS), dtype=np.int64)
    out_bary = np.full((HANDLES, POINTS, 3), 1 / 3)
    share = np.zeros(HANDLES)
    for h in range(handles.count):
        rows = np.flatnonzero(owner == h)
        if len(rows) == 0:
            own = np.flatnonzero(handles.face_groups == handles.groups[h])
            nearest = own[((vertices[faces[own]].mean(axis=1) - handles.centers[h]) ** 2).sum(axis=1).argmin()]
            out_face[h], share[h] = nearest, 1e-4
            continue
        chance = worth[rows] + 1e-30
        pick = rng.choice(rows, POINTS, p=chance / chance.sum(), replace=len(rows) < POINTS)
        out_face[h], out_bary[h], share[h] = face[pick], bary[pick], chance.sum()
    share[: handles.count] = np.maximum(share[: handles.count], 1e-4 * share.sum())
    return out_face, out_bary, share / share.sum()


def _nearest_handle(
    handles: Handles, points: Float[np.ndarray, "N 3"], groups: Int[np.ndarray, " N"]
) -> Int[np.ndarray, " N"]:
    apart = ((points[:, None] - handles.centers[None]) ** 2).sum(axis=-1)
    return np.where(groups[:, None] == handles.groups[None], apart, np.inf).argmin(axis=1)


def _range(joint: Joint, reach: float) -> tuple[float, float]:
    if joint.kind == "fixed":
        return 0.0, 0.0
    if joint.kind == "continuous":
        return -np.pi, np.pi
    far = reach if joint.kind == "prismatic" else np.pi / 2
    low = joint.lower if np.isfinite(joint.lower) else -far
    high = joint.upper if np.isfinite(joint.upper) else far
    return float(low), float(high)
