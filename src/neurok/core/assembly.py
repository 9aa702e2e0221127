"""How the parts of one object meet: what rubs in their joints, and which of them may touch.

Engines and exports read these answers; none decides again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float

from neurok.core.articulation import Articulation, Inertial
from neurok.core.material import STANDARD_GRAVITY
from neurok.geometry.convex import Piece, separation
from neurok.geometry.operators import second_moment


@dataclass(frozen=True)
class AssemblyConfig:
    """What joints and touching parts are like where nobody says so."""

    rubbing: float = 4.0
    """Rate at which joints without damping of their own come to rest in a world with contact [1/s]: a pushed door
    stops within a second."""

    friction: float = 0.3
    """Coefficient of dry friction of joints in a world with contact: wood on wood, unoiled steel."""

    bearing: float = 0.05
    """Radius of a hinge as a share of the size of what it carries; its torque is coefficient · weight · radius."""

    armature: float = 0.01
    """Inertia of what a joint itself is made of (pins, rails, rotors), as a share of that of what it carries. Only in
    exports: it keeps light parts calm at the long steps that simulators take."""

    strength: float = 10.0
    """Most force of a joint's motor, as a multiple of the weight it carries, for hinges at the reach of that."""

    overlap: float = 1e-4
    """Parts of one object that are deeper in each other at rest than this share of its size never touch ..."""

    apart: float = 1e-3
    """... and parts that hang on each other by a joint do only if they are farther apart than this."""


ASSEMBLY = AssemblyConfig()


@dataclass(frozen=True, eq=False)
class JointLosses:
    """What each joint value has to overcome, in SI units where the object is in metres."""

    inertia: Float[np.ndarray, " D"]
    """Of all that it moves, at rest [kg m^2] or [kg]."""

    damping: Float[np.ndarray, " D"]
    """[N m s/rad] or [N s/m]."""

    friction: Float[np.ndarray, " D"]
    """[N m] or [N]."""

    armature: Float[np.ndarray, " D"]
    """[kg m^2] or [kg]."""

    weight: Float[np.ndarray, " D"]
    """What gravity can ask of it: the weight it moves, for hinges times the reach of that [N m] or [N]."""

    def of(self, slot: slice) -> JointLosses:
        """Of some joint values."""
        return JointLosses(*(getattr(self, field.name)[slot] for field in fields(self)))

    @property
    def effort(self) -> Float[np.ndarray, " D"]:
        """Most force of a motor [N m] or [N]."""
        return ASSEMBLY.strength * self.weight


SMOOTH = AssemblyConfig(rubbing=0.0, friction=0.0, armature=0.0)
"""Joints that resist by the damping that they name, and nothing else."""


def joint_losses(
    articulation: Articulation, inertials: Sequence[Inertial], config: AssemblyConfig = ASSEMBLY
) -> JointLosses:
    """What resists each joint value of an object in metres, whose parts have these masses; own damping counts first."""
    tree, count = articulation.tree, articulation.dof
    moments = np.zeros((count + 1, 4, 4))
    for node, inertial in zip(articulation.part_nodes, inertials, strict=True):
        moments[node] += second_moment(inertial.mass, inertial.center, inertial.inertia)
    moved = np.einsum("nd,nij->dij", tree.ancestors, moments)
    inertia = np.einsum("dij,djk,dik->d", tree.generators, moved, tree.generators)
    weight = STANDARD_GRAVITY * moved[:, 3, 3]
    reach = np.zeros(count)
    nodes, vertices = articulation.part_nodes[articulation.vertex_parts], articulation.mesh.vertices
    for k in range(count):
        mine = vertices[tree.ancestors[nodes, k] > 0]
        reach[k] = float(np.ptp(mine, axis=0).max()) if len(mine) else 0.0
    own = np.array([joint.damping for joint in articulation.joints for _ in range(joint.dof)], dtype=np.float64)
    slides = articulation.is_length
    return JointLosses(
        inertia,
        np.where(own == 0, config.rubbing * inertia, own),
        config.friction * weight * np.where(slides, 1.0, config.bearing * reach),
        config.armature * inertia,
        weight * np.where(slides, 1.0, reach),
    )


def untouching(
    articulation: Articulation, pieces: Sequence[Sequence[Piece]], config: AssemblyConfig = ASSEMBLY
) -> set[tuple[int, int]]:
    """Pairs of nodes whose parts never touch: in each other at rest, or joined.

    Our own engine lets joined parts touch that are well apart at rest; other simulators take limits alone for that, and
    rounder shapes would block what the limits allow.

    Args:
        articulation: The object; nodes are those of its tree, 0 is what stands still.
        pieces: Convex pieces of each part, in the object's frame at rest.
        config: How deep.
    """
    size = articulation.mesh.size
    by_node: dict[int, list[Piece]] = {}
    for node, mine in zip(articulation.part_nodes.tolist(), pieces, strict=True):
        by_node.setdefault(node, []).extend(mine)
    boxes = {n: [(p[0].min(axis=0), p[0].max(axis=0)) for p in mine] for n, mine in by_node.items()}
    out: set[tuple[int, int]] = set()
    nodes = sorted(by_node)
    carriers = carriers_of(articulation)
    for i, one in enumerate(nodes):
        for two in nodes[i + 1 :]:
            joined = carriers.get(two) == one
            if joined or _closer(by_node[one], boxes[one], by_node[two], boxes[two], -config.overlap * size):
                out.add((one, two))
    return out


def carriers_of(articulation: Articulation) -> dict[int, int]:
    """The node of parts on which each node with parts hangs; the turn of a cylindrical joint holds nothing."""
    out: dict[int, int] = {}
    for part, joint in enumerate(articulation.joints):
        if joint.dof:
            above = int(articulation.part_nodes[joint.parent]) if joint.parent >= 0 else 0
            out[int(articulation.part_nodes[part])] = above
    return out


def _closer(one: list[Piece], one_boxes: list, two: list[Piece], two_boxes: list, least: float) -> bool:  # type: ignore[type-arg]
    """Whether any piece of one is nearer to one of the other than ``least``."""
    reach = max(least, 0.0)
    for piece, (low, high) in zip(one, one_boxes, strict=True):
        for other, (other_low, other_high) in zip(two, two_boxes, strict=True):
            near = (low - reach <= other_high).all() and (other_low - reach <= high).all()
            if near and separation(piece, other)[0] < least:
                return True
    return False
