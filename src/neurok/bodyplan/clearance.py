"""Whether a state of an object is free: no two bodies have gone through each other on the way there from rest.

The answer of the search for joints, asked of pairs of bodies: points of one travel in short steps through the frame of
the other, and what lies deeper at rest than the clearance does not count. Either body may go first; a state is free
if one of both orders is. What a body does against its carriers and against what stands still is a matter of limits.
By the same test a tour shows each joint in turn, behind what must be open for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.bodyplan.config import CLEARANCE, ClearanceConfig
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.sweep import Mover
from neurok.core import Articulation
from neurok.geometry import lie
from neurok.geometry.joint_tree import AT_REST

SHOWN_SLIDE = 0.3
"""How far a slide without limits is shown [share of the object]. By eye."""

SHOWN_TURN = math.pi / 2
"""How far a turn with one limit is shown [rad]. By eye."""


@dataclass(frozen=True, eq=False)
class Clearance:
    """The bodies of an articulation, ready to be asked about states. A body is all that one node of the tree moves."""

    articulation: Articulation
    config: ClearanceConfig = CLEARANCE

    @cached_property
    def bodies(self) -> dict[int, tuple[int, ...]]:
        """Parts with a surface that each node moves, but for what stands still; none where there are too many."""
        joints, mesh = self.articulation, self.articulation.mesh
        shown = np.bincount(mesh.face_parts, minlength=len(joints.joints)) > 0
        nodes = {int(node) for node in joints.part_nodes[shown]} - {0}
        found = {node: tuple(np.flatnonzero((joints.part_nodes == node) & shown).tolist()) for node in sorted(nodes)}
        return found if len(found) <= self.config.most_bodies else {}

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Bodies neither of which carries the other."""
        above = self.articulation.tree.ancestors.astype(bool)
        nodes = list(self.bodies)
        return tuple(
            (a, b) for k, a in enumerate(nodes) for b in nodes[k + 1 :] if not (above[a, b - 1] or above[b, a - 1])
        )

    @cached_property
    def _movers(self) -> dict[int, Mover]:
        mesh = self.articulation.mesh
        return {node: Mover(mesh, contact_graph(mesh), parts) for node, parts in self.bodies.items()}

    def is_free(self, q: Float[np.ndarray, " D"]) -> bool:
        return self.blocked(q) is None

    def blocked(self, q: Float[np.ndarray, " D"]) -> tuple[int, int] | None:
        """The first two bodies that go through each other on every way to ``q``, as nodes; nothing if it is free."""
        q = np.asarray(q, dtype=np.float64)
        for a, b in self.pairs:
            if self._meet(a, b, q):
                return a, b
        return None

    def names(self, pair: tuple[int, int]) -> tuple[str, str]:
        """Two bodies by the names of their first parts."""
        first, second = (self.articulation.part_names[self.bodies[node][0]] for node in pair)
        return first, second

    def freed(self, q: Float[np.ndarray, " D"]) -> tuple[Float[np.ndarray, " D"], tuple[tuple[str, str], ...]]:
        """A state near ``q``, between it and rest, that is free, and who had to wait for whom.

        Of two bodies the one goes back that keeps more of its way; both rest where neither can.
        """
        q, waits = np.array(q, dtype=np.float64), list[tuple[str, str]]()
        for _ in range(2 * len(self.pairs)):
            pair = self.blocked(q)
            if pair is None:
                return q, tuple(dict.fromkeys(waits))
            ways = [(self._free_share(q, *order), order) for order in (pair, pair[::-1])]
            share, (waiting, other) = max(ways, key=lambda way: way[0])
            mine = self._own(waiting, other)
            both = mine | self._own(other, waiting)
            q = np.where(both, 0.0, q) if share < 0 else np.where(mine, share * q, q)
            waits.append(self.names((waiting, other)))
        return (q if self.is_free(q) else np.zeros_like(q)), tuple(dict.fromkeys(waits))

    def _free_share(self, q: Float[np.ndarray, " D"], waiting: int, other: int) -> float:
        """How much of its way one body can keep beside the other; -1 where it would have to rest and even then meets
        it."""
        mine = self._own(waiting, other)
        if not q[mine].any() or self._meet(waiting, other, np.where(mine, 0.0, q)):
            return -1.0
        low, high = 0.0, 1.0
        for _ in range(self.config.bisections):
            middle = 0.5 * (low + high)
            meets = self._meet(waiting, other, np.where(mine, middle * q, q))
            low, high = (low, middle) if meets else (middle, high)
        return low

    def _own(self, node: int, other: int) -> Bool[np.ndarray, " D"]:
        """Coordinates that move one body and not the other."""
        above = self.articulation.tree.ancestors
        return (above[node] > 0) & ~(above[other] > 0)

    def _meet(self, a: int, b: int, q: Float[np.ndarray, " D"]) -> bool:
        """Whether two bodies go through each other, whoever goes first."""
        if not (q[self._own(a, b)].any() or q[self._own(b, a)].any()):
            return False
        if self._are_apart(a, b, q):
            return False
        return all(self.cross(a, b, path) for path in self._paths(a, b, q))

    def _paths(self, a: int, b: int, q: Float[np.ndarray, " D"]) -> list[Float[np.ndarray, "T D"]]:
        """From rest to ``q``, one body after the other; one way only where one of them rests."""
        mine, other = np.where(self._own(a, b), q, 0.0), np.where(self._own(b, a), q, 0.0)
        leg = np.linspace(0.0, 1.0, self.config.steps + 1)[:, None]
        ways = [
            np.concatenate([leg * mine, mine + leg[1:] * other]),
            np.concatenate([leg * other, other + leg[1:] * mine]),
        ]
        return ways if mine.any() and other.any() else [leg * (mine + other)]

    def _frames(self, path: Float[np.ndarray, "T D"], a: int, b: int) -> Float[np.ndarray, "T 4 4"]:
        """How one body moves in the frame of another, in shares of the object about its middle."""
        nodes = self.articulation.tree.nodes(AT_REST, path)
        out = lie.inverse(nodes[:, b]) @ nodes[:, a]
        middle, size = self._movers[a].middle, self._movers[a].size
        out[:, :3, 3] = (out[:, :3, 3] + out[:, :3, :3] @ middle - middle) / size
        return out

    def _are_apart(self, a: int, b: int, q: Float[np.ndarray, " D"]) -> bool:
        """Whether the boxes of all places that both get to are apart, which is seen at once."""
        boxes = []
        for node, other in ((a, b), (b, a)):
            path = np.linspace(0.0, 1.0, self.config.steps + 1)[:, None] * np.where(self._own(node, other), q, 0.0)
            nodes = self.articulation.tree.nodes(AT_REST, path)[:, node]
            vertices = self.articulation.mesh.vertices[np.unique(self._faces(node))]
            corners = (
                np.array(np.meshgrid(*np.stack([vertices.min(axis=0), vertices.max(axis=0)], axis=1))).reshape(3, -1).T
            )
            places = lie.apply(nodes, corners).reshape(-1, 3)
            boxes.append((places.min(axis=0), places.max(axis=0)))
        (low, high), (other_low, other_high) = boxes
        return bool((low > other_high).any() or (high < other_low).any())

    def _faces(self, node: int) -> Int[np.ndarray, "F 3"]:
        mesh = self.articulation.mesh
        return mesh.faces[np.isin(mesh.face_parts, self.bodies[node])]

    def cross(self, a: int, b: int, path: Float[np.ndarray, "T D"]) -> bool:
        """Whether more points of either body go through the other than is forgiven."""
        for mine, other in ((a, b), (b, a)):
            points = self._movers[mine].own_points
            if len(points) == 0:
                continue
            moved = lie.apply(self._frames(path, mine, other), points)[None]
            first, _ = self._movers[other].own_surface.first_crossing(moved.astype(np.float32))
            if float((first[0] < len(path)).mean()) > self.config.crossing:
                return True
        return False


def tour(articulation: Articulation, frames_per_joint: int = 36) -> Float[np.ndarray, "T D"]:
    """Values of every frame; starts and ends at rest. A joint without limits makes one turn, or slides a little.

    The others rest, but for doors that a part would go through: they are opened before it and closed after it.
    """
    frames = max(12, frames_per_joint)
    # Half a beat of rest: evenly spaced pictures of the whole would otherwise meet every joint at rest.
    rows = [np.zeros((frames // 2, articulation.dof))]
    shown = _shown_values(articulation, frames)
    far = np.array([values[np.abs(values).argmax()] for values in shown])
    opening = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames // 2))
    for column, doors in enumerate(_doors(articulation, far)):
        block = np.zeros((frames, articulation.dof))
        block[:, doors] = far[doors]
        block[:, column] = shown[column]
        before = np.zeros((len(opening) if doors else 0, articulation.dof))
        before[:, doors] = np.outer(opening, far[doors]) if doors else 0.0
        rows += [before, block, before[::-1]]
    return np.concatenate([*rows, np.zeros((1, articulation.dof))])


def _shown_values(articulation: Articulation, frames: int) -> list[Float[np.ndarray, " T"]]:
    """What each value of the joints goes through."""
    found: list[np.ndarray] = []
    for joint in articulation.joints:
        for k in range(joint.dof):
            is_slide = joint.kind == "prismatic" or k == 1
            low, high = (float(x) for x in articulation.limits[len(found)])
            far = SHOWN_SLIDE * articulation.mesh.size if is_slide else SHOWN_TURN
            found.append(_there_and_back(low, high, is_slide, far, frames))
    return found


def _doors(articulation: Articulation, far: Float[np.ndarray, " D"]) -> list[list[int]]:
    """For each value of the joints those that must be at their far end lest its body goes through theirs."""
    clearance, moved = Clearance(articulation), articulation.tree.ancestors > 0
    found: list[list[int]] = [[] for _ in far]
    for pair in clearance.pairs:
        for body, other in (pair, pair[::-1]):
            for column in np.flatnonzero(moved[body] & ~moved[other]):
                path = (
                    np.linspace(0.0, 1.0, clearance.config.steps + 1)[:, None] * (np.arange(len(far)) == column) * far
                )
                if not clearance.cross(body, other, path):
                    continue
                for door in np.flatnonzero(moved[other] & ~moved[body]):
                    if not clearance.cross(body, other, path + (np.arange(len(far)) == door) * far):
                        found[column].append(int(door))
    return [list(dict.fromkeys(doors)) for doors in found]


def _there_and_back(low: float, high: float, is_slide: bool, far: float, frames: int) -> Float[np.ndarray, " T"]:
    if math.isinf(low) and math.isinf(high) and not is_slide:
        return np.linspace(0.0, 2.0 * np.pi, frames)
    low, high = (min(low, 0.0) if math.isfinite(low) else 0.0), (max(high, 0.0) if math.isfinite(high) else far)
    if low == 0.0 or high == 0.0:
        return (high or low) * _beat(frames)
    first = int(np.clip(round(frames * high / (high - low)), 6, frames - 6))
    return np.concatenate([high * _beat(first), low * _beat(frames - first)])


def _beat(frames: int) -> Float[np.ndarray, " T"]:
    """From zero to one and back."""
    return 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, frames))
