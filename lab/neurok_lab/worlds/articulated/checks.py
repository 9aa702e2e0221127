"""Whether an articulated object is sound: exact distances and overlaps between its closed solids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neurok.core import Articulation, Asset
from neurok.geometry import lie
from neurok.geometry.topology import degenerate_faces, face_components, is_watertight

TOUCH = 0.012
"""Largest gap between a part and its parent, as a share of the object's size."""

DEPTH = 0.015
"""Deepest new overlap along the motion, as a share of the object's size."""

BUTTON = 0.04
"""Travel of a push button at most, as a share of the object's size."""

STATES = (0.25, 0.6, 1.0)
"""Where along its range a joint is tried."""

SIZES = (0.01, 4.0)
"""Plausible diagonals [m]."""


@dataclass(frozen=True, eq=False)
class CheckedSolid:
    """One connected piece of the mesh, at rest or moved from there."""

    part: int
    vertices: np.ndarray
    faces: np.ndarray
    rest: CheckedSolid | None = None
    transform: np.ndarray | None = None
    """The motion from ``rest`` to here."""

    @cached_property
    def bounds(self) -> np.ndarray:
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @cached_property
    def body(self) -> Any:
        """As a manifold, or None when it is not closed."""
        import manifold3d

        if self.rest is not None and self.transform is not None:
            body = self.rest.body
            return None if body is None else body.transform(np.ascontiguousarray(self.transform[:3]))
        if not is_watertight(self.faces):
            return None
        mesh = manifold3d.Mesh64(
            np.ascontiguousarray(self.vertices), np.ascontiguousarray(self.faces.astype(np.uint64))
        )
        body = manifold3d.Manifold(mesh)
        return body if body.status() == manifold3d.Error.NoError and body.num_tri() else None

    @cached_property
    def overlaps(self) -> dict[CheckedSolid, float]:
        """How deep it overlaps others, remembered because every state of a joint is compared with rest."""
        return {}

    def moved(self, transform: np.ndarray) -> CheckedSolid:
        return CheckedSolid(self.part, lie.apply(transform, self.vertices), self.faces, self, transform)


def check_articulated(asset: Asset) -> list[str]:
    """Reasons to reject the object; none when it is sound."""
    articulation = asset.articulation
    if articulation is None or articulation.dof == 0:
        return ["nothing moves"]
    reasons = _check_mesh(articulation)
    if reasons:
        return reasons
    solids = split_solids(articulation)
    size = articulation.mesh.size
    for part, joint in enumerate(articulation.joints):
        own = [s for s in solids if s.part == part]
        if not own:
            reasons.append("a part is empty")
            continue
        if joint.parent >= 0 and not _touches(own, _group(solids, articulation, joint.parent), TOUCH * size):
            reasons.append("a part floats")
        if joint.dof:
            reasons += _check_motion(articulation, solids, part, size)
    return sorted(set(reasons))


def split_solids(articulation: Articulation) -> list[CheckedSolid]:
    """The pieces of the mesh that share vertices, with their parts."""
    mesh, parts = articulation.mesh, articulation.vertex_parts
    label = face_components(mesh.vertices, mesh.faces, weld=False)
    ends = np.cumsum(np.bincount(label))[:-1]
    solids = []
    for rows in np.split(np.argsort(label, kind="stable"), ends):
        used, local = np.unique(mesh.faces[rows], return_inverse=True)
        solids.append(CheckedSolid(int(parts[used[0]]), mesh.vertices[used], local.reshape(-1, 3)))
    return solids


def _check_mesh(articulation: Articulation) -> list[str]:
    mesh = articulation.mesh
    reasons = []
    if not SIZES[0] <= mesh.size <= SIZES[1]:
        reasons.append("the size is implausible")
    if degenerate_faces(mesh.vertices, mesh.faces).any():
        reasons.append("a face is degenerate")
    limits = articulation.limits
    if not np.isfinite(limits[[j.kind != "continuous" for j in articulation.joints if j.dof]]).all():
        reasons.append("a limit is missing")
    return reasons


def _group(solids: list[CheckedSolid], articulation: Articulation, parent: int) -> list[CheckedSolid]:
    """The solids of the parent and, should it be empty, of what carries it."""
    while parent >= 0:
        found = [s for s in solids if s.part == parent]
        if found:
            return found
        parent = articulation.joints[parent].parent
    return []


def _touches(own: list[CheckedSolid], others: list[CheckedSolid], gap: float) -> bool:
    for a in own:
        for b in others:
            apart = np.maximum(a.bounds[0] - b.bounds[1], b.bounds[0] - a.bounds[1]).max()
            if apart > gap or a.body is None or b.body is None:
                continue
            if a.body.min_gap(b.body, gap) < 0.999 * gap:
                return True
    return False


def _subtree(articulation: Articulation, part: int) -> set[int]:
    found = {part}
    for other in articulation.order:
        if articulation.joints[other].parent in found:
            found.add(other)
    return found


def _check_motion(articulation: Articulation, solids: list[CheckedSolid], part: int, size: float) -> list[str]:
    """Move one joint through its range, all others at rest."""
    joint = articulation.joints[part]
    moving_parts = _subtree(articulation, part)
    moving = [s for s in solids if s.part in moving_parts]
    # A button sinks into what carries it, where nobody models a hole.
    is_button = joint.kind == "prismatic" and np.abs(joint.limits).max() < BUTTON * size
    still = [s for s in solids if s.part not in moving_parts and not (is_button and s.part == joint.parent)]
    low, high = np.clip(joint.limits[0], -np.pi, np.pi)
    values = [end * share for end in (low, high) for share in STATES if abs(end) > 1e-9]
    if not values:
        return ["a joint cannot move"]
    reach = 0.0
    for value in values:
        q = np.zeros(articulation.dof)
        q[articulation.slots[part].start] = value
        transform = articulation.transforms(q)[part]
        moved = [s.moved(transform) for s in moving]
        shifts = [np.linalg.norm(m.vertices - s.vertices, axis=1).max() for m, s in zip(moved, moving, strict=True)]
        reach = max(reach, float(max(shifts)))
        if _collide(moving, moved, still, still, DEPTH * size):
            return ["parts collide along the motion"]
    return [] if 5e-4 * size < reach < 3.0 * size else ["the motion is too small or too large"]


def is_free(articulation: Articulation, q: np.ndarray) -> bool:
    """Whether the joints can stand at ``q``: no part enters another deeper than at rest, none loses its parent."""
    transforms = articulation.transforms(q)
    before = split_solids(articulation)
    after = [s.moved(transforms[s.part]) for s in before]
    size = articulation.mesh.size
    depth = DEPTH * size
    for part in range(len(articulation.joints)):
        own = [k for k, s in enumerate(before) if s.part == part]
        rest = [k for k, s in enumerate(before) if s.part > part]

        def pick(solids: list[CheckedSolid], index: list[int]) -> list[CheckedSolid]:
            return [solids[k] for k in index]

        if _collide(pick(before, own), pick(after, own), pick(before, rest), pick(after, rest), depth):
            return False
        parent = articulation.joints[part].parent
        if parent >= 0 and not _touches(pick(after, own), _group(after, articulation, parent), 0.9 * TOUCH * size):
            return False
    return True


def _collide(
    before: list[CheckedSolid],
    after: list[CheckedSolid],
    others_before: list[CheckedSolid],
    others_after: list[CheckedSolid],
    depth: float,
) -> bool:
    """Whether any pair of solids overlaps deeper after a motion than before it."""
    if not before or not others_after:
        return False
    a, b = (np.stack([s.bounds for s in group]) for group in (after, others_after))
    shared = np.minimum(a[:, None, 1], b[None, :, 1]) - np.maximum(a[:, None, 0], b[None, :, 0])
    for i, j in np.argwhere(shared.min(axis=-1) > depth):
        overlap = _overlap(after[i], others_after[j])
        if overlap > depth and overlap > _rest_overlap(before[i], others_before[j]) + depth:
            return True
    return False


def _rest_overlap(a: CheckedSolid, b: CheckedSolid) -> float:
    if b not in a.overlaps:
        a.overlaps[b] = _overlap(a, b)
    return a.overlaps[b]


def _overlap(a: CheckedSolid, b: CheckedSolid) -> float:
    """The least side of the box around what two solids share."""
    shared = np.minimum(a.bounds[1], b.bounds[1]) - np.maximum(a.bounds[0], b.bounds[0])
    if shared.min() <= 0 or a.body is None or b.body is None:
        return 0.0
    common = a.body ^ b.body
    if common.is_empty():
        return 0.0
    box = np.asarray(common.bounding_box())
    return float((box[3:] - box[:3]).min())
