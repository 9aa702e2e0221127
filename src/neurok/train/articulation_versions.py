"""Other versions of an object with true joints: in another state, and cut into connected pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.bodies import label_faces, merge_components
from neurok.core import Articulation, Joint, Mesh
from neurok.geometry import lie
from neurok.geometry.operators import face_areas


def posed(articulation: Articulation, rng: np.random.Generator, moved: float = 0.6) -> tuple[Mesh, tuple[Joint, ...]]:
    """Another state of the object as its rest: axes move with their parents, limits are counted from the new zero.

    ``moved`` is the share of the joints that leave their rest (set by hand).
    """
    ranges = articulation.limits.copy()
    ranges[~np.isfinite(ranges)] = 0.0
    q = ranges[:, 0] + rng.random(len(ranges)) * (ranges[:, 1] - ranges[:, 0])
    q *= rng.random(len(q)) < moved
    transforms = articulation.transforms(q)
    joints = []
    for joint, slot in zip(articulation.joints, articulation.slots, strict=True):
        above = transforms[joint.parent] if joint.parent >= 0 else np.eye(4)
        value = q[slot]
        shift = float(value[0]) if len(value) and joint.kind in ("revolute", "prismatic") else 0.0
        joints.append(
            replace(
                joint,
                axis=above[:3, :3] @ joint.axis,
                origin=lie.apply(above, joint.origin[None])[0],
                lower=joint.lower - shift,
                upper=joint.upper - shift,
            )
        )
    return articulation.pose(q), tuple(joints)


def pieces(mesh: Mesh, joints: tuple[Joint, ...]) -> tuple[Mesh, tuple[Joint, ...]]:
    """The object as one would get it without labels: connected pieces, of which the largest of a part has its joint."""
    cut = label_faces(mesh, merge_components(replace(mesh, part_ids=None, part_names=())))
    return cut, joints_of_pieces(cut.face_parts, mesh.face_parts, face_areas(mesh.vertices, mesh.faces), joints)


def joints_of_pieces(
    piece_of: Int[np.ndarray, " F"],
    part_of: Int[np.ndarray, " F"],
    areas: Float[np.ndarray, " F"],
    joints: tuple[Joint, ...],
) -> tuple[Joint, ...]:
    """True joints for another cut of the same faces: a piece belongs to the part it shares most area with."""
    count = int(piece_of.max()) + 1
    shared = np.zeros((count, len(joints)))
    np.add.at(shared, (piece_of, part_of), areas)
    owner, total = shared.argmax(axis=1), shared.sum(axis=1)
    main = {
        part: int(np.where(owner == part, total, -1.0).argmax()) for part in range(len(joints)) if (owner == part).any()
    }
    found = []
    for piece in range(count):
        part = int(owner[piece])
        if main[part] != piece:
            found.append(Joint("fixed", main[part], name=f"piece_{piece}"))
            continue
        above = joints[part].parent
        while above >= 0 and above not in main:  # a part that vanished in the cut hands its children up
            above = joints[above].parent
        found.append(replace(joints[part], parent=main[above] if above >= 0 else -1))
    roots = [piece for piece, joint in enumerate(found) if joint.parent < 0]
    return tuple(
        Joint("fixed", roots[0], name=joint.name) if joint.parent < 0 and piece != roots[0] else joint
        for piece, joint in enumerate(found)
    )
