"""Joints behind the motion of a file: how its bones or nodes hang on each other, read off what they do.

A clip with a skin gives the rigid motion of every handle in every frame. Handles hang on the one against which a point
of theirs stands still (rigs often hang feet on the ground instead); how they turn about it, and slide, are their
joints. Nodes with one joint each make an ``Articulation``, a skin a ``SkinnedSpace``; frames of the clip are poses of
both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.articulation import Articulation, Joint
from neurok.core.clip import Clip, Skin
from neurok.core.mesh import Mesh
from neurok.geometry import lie
from neurok.geometry.joint_tree import JointTree
from neurok.io.files import unique_names
from neurok.kinematics.articulated import ArticulatedSpace, SkinnedSpace
from neurok.kinematics.space import KinematicSpace

# What counts as motion, and what as a joint. Lengths are shares of the object's size.
STILL = 1e-4  # A node that moves no vertex farther than this stands still: files store rounded numbers
RIGID_MOTION = 1e-3  # A coordinate that moves what hangs on it less far is left out, of nodes
BONE_MOTION = 4e-3  # ... and of bones, which have many: less than half a hundredth of a figure is not seen
PIVOT_SLIP = 5e-3  # A point of a handle that moves less than this against another one is a joint between them
GAP_PRICE = 0.1
"""Price of the distance between two handles, beside how far their joint moves: neighbours are joined first."""

PIVOT_PRIOR = 1e-6
"""Weight of the place where two handles meet in finding their joint, beside that of the motion: it decides only what
the motion leaves open."""

WHOLE_TURN = 0.95 * 2.0 * math.pi  # A node that turns farther than this has no limits [rad]
MARGIN = 0.1  # Bones may turn farther than they were seen to, by this share of their range
FEW_FRAMES = 48  # Frames from which the tree is found


@dataclass(frozen=True, eq=False)
class _Hinge:
    """How one handle moves against what carries it: screws from the outermost, and their values in every frame."""

    generators: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    axes: list[tuple[np.ndarray, np.ndarray, bool]] = field(default_factory=list)
    """Direction, a point of it, whether it is a slide."""

    @property
    def slides(self) -> int:
        return sum(slide for _, _, slide in self.axes)


def tracked_space(mesh: Mesh, clips: tuple[Clip, ...]) -> KinematicSpace | None:
    """The joints behind the clips of a mesh; ``None`` where no rigid handles move it."""
    skins = [clip.skin for clip in clips if clip.frame_count > 1 and clip.skin is not None]
    if not skins:
        return None
    first = skins[0]
    skins = [skin for skin in skins if _is_same(skin, first)]
    rig = _HandleRig(mesh, first, [skin.transforms for skin in skins])
    return None if not rig.moves else rig.jointed() if rig.is_rigid else rig.skinned(*rig.parents())


def _is_same(a: Skin, b: Skin) -> bool:
    if (a.bind is None) != (b.bind is None) or not np.array_equal(a.weights, b.weights):
        return False
    return a.bind is None or b.bind is None or np.array_equal(a.bind.vertices, b.bind.vertices)


class _HandleRig:
    """Handles, their motion from rest, and the tree they hang in."""

    def __init__(self, mesh: Mesh, skin: Skin, motions: list[np.ndarray]) -> None:
        self.mesh, self.size = mesh, mesh.size
        self.weights = np.asarray(skin.weights, dtype=np.float64)
        self.starts = np.cumsum([0, *(len(frames) for frames in motions)])
        motion = np.concatenate(motions)
        self.held = np.broadcast_to(mesh.vertices[:, None], (*self.weights.shape, 3))
        if skin.bind is not None:
            motion = motion @ lie.inverse(skin.bind.transforms)
            self.held = np.einsum("hij,vj->vhi", skin.bind.transforms[:, :3, :3], skin.bind.vertices)
            self.held = self.held + skin.bind.transforms[:, :3, 3]
        self.motion: Float[np.ndarray, "T H 4 4"] = motion
        shares = self.weights.sum(axis=0)
        used = np.maximum(shares, 1e-12)
        self.centers = np.einsum("vh,vhi->hi", self.weights, self.held) / used[:, None]
        away = ((self.held - self.centers) ** 2).sum(axis=2)
        self.radii = np.sqrt((self.weights * away).sum(axis=0) / used)
        self.shares = shares / shares.sum()
        self.few = np.unique(np.linspace(0, len(motion) - 1, FEW_FRAMES).round().astype(np.int64))

    @property
    def is_rigid(self) -> bool:
        """Whether every vertex follows one handle, and every face too."""
        owners = self.weights.argmax(axis=1)
        whole = bool((self.weights.max(axis=1) > 1.0 - 1e-4).all())
        return whole and bool((owners[self.mesh.faces] == owners[self.mesh.faces[:, :1]]).all())

    @property
    def moves(self) -> bool:
        return bool((self._ways(self.motion) > STILL * self.size).any())

    def _ways(self, motion: Float[np.ndarray, "T H 4 4"]) -> Float[np.ndarray, " H"]:
        """How far each handle takes what hangs on it, at most."""
        shift = np.linalg.norm(lie.apply_each(motion, self.centers) - self.centers, axis=-1)
        turn = np.linalg.norm(motion[..., :3, :3] - np.eye(3), axis=(-1, -2)) / math.sqrt(2.0)
        return (shift + turn * self.radii).max(axis=0)

    def parents(self) -> tuple[Int[np.ndarray, " H"], list[int]]:
        """Who carries whom (-1 for the root), and an order in which carriers come first."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree, shortest_path

        count = len(self.centers)
        if count == 1:
            return np.array([-1]), [0]
        costs = self._pair_costs()
        tree = minimum_spanning_tree(csr_matrix(costs + 1e-9 * (1.0 - np.eye(count))))
        links = shortest_path(tree, directed=False, unweighted=True)
        still = self._ways(self.motion) <= STILL * self.size
        root = (
            int(np.argmax(np.where(still, self.shares, -1.0))) if still.any() else int((links @ self.shares).argmin())
        )
        order, before = breadth_first_order(tree, root, directed=False)
        return np.where(before < 0, -1, before), order.tolist()

    def _pair_costs(self) -> Float[np.ndarray, "H H"]:
        """How far the best joint of two handles moves against one of them, and how far they lie apart."""
        count, frames = len(self.centers), self.motion[self.few]
        costs = np.zeros((count, count))
        for a in range(count):
            against = lie.inverse(frames[:, a])[:, None] @ frames
            meeting = np.stack([self._meeting(a, b) for b in range(count)])
            pivots = _pivots(against, meeting, PIVOT_PRIOR)
            slips = np.linalg.norm(lie.apply_each(against, pivots) - pivots, axis=-1).max(axis=0)
            gaps = np.maximum(0.0, np.linalg.norm(self.centers - self.centers[a], axis=1))
            costs[a] = slips / self.size + GAP_PRICE * gaps / self.size
        return np.maximum(costs, costs.T)

    def _meeting(self, a: int, b: int) -> Float[np.ndarray, "3"]:
        """Where two handles meet: the middle of what follows both, or of their centres."""
        both = self.weights[:, a] * self.weights[:, b]
        if both.sum() > 1e-6 and a != b:
            return both @ self.held[:, b] / both.sum()
        return 0.5 * (self.centers[a] + self.centers[b])

    def hinge(self, handle: int, parent: int, least: float) -> _Hinge:
        """The joint of a handle on its carrier, or on the world."""
        motion = self.motion[:, handle]
        place = self.centers[handle] if parent < 0 else self._meeting(parent, handle)
        if parent >= 0:
            motion = lie.inverse(self.motion[:, parent]) @ motion
        out = _Hinge()
        pivot = _pivots(motion[self.few, None], place[None], PIVOT_PRIOR)[0]
        slides = lie.apply(motion, pivot[None])[:, 0] - pivot
        if np.linalg.norm(slides, axis=1).max() > max(PIVOT_SLIP * self.size, least * self.size):
            for axis in np.linalg.svd(slides[self.few], full_matrices=True)[2]:
                values = slides @ axis
                if np.abs(values).max() > least * self.size:
                    _add(out, lie.slide_generator(axis), values, (axis, pivot, True))
        reach = self.radii[handle] + float(np.linalg.norm(self.centers[handle] - pivot))
        for axis, values in _turns(motion[:, :3, :3], self.few, self.starts):
            if np.abs(values).max() * reach > least * self.size:
                _add(out, lie.turn_generator(axis, pivot), values, (axis, pivot, False))
        return out

    def jointed(self) -> KinematicSpace:
        """Rigid nodes on joints; with bones if the motion of one is no joint, as that of a link of a track."""
        parents, order = self.parents()
        joints: list[Joint] = [Joint()] * len(order)
        owners = self.weights.argmax(axis=1)
        names = _names(self.mesh, owners, len(order))
        for handle in order:
            hinge = self.hinge(handle, int(parents[handle]), RIGID_MOTION)
            if len(hinge.axes) > 1:
                return self.skinned(parents, order, mixes=hinge.slides == 0)
            joints[handle] = _joint(hinge, int(parents[handle]), names[handle])
        labelled = replace(self.mesh, part_ids=owners, part_names=names)
        return ArticulatedSpace(Articulation(labelled, tuple(joints), name=self.mesh.name))

    def skinned(self, parents: Int[np.ndarray, " H"], order: list[int], mixes: bool = True) -> SkinnedSpace:
        """Bones on joints of one to six coordinates each."""
        nodes, carriers = np.zeros(len(order), dtype=np.int64), list[int]()
        hinges: list[_Hinge] = []
        names: list[str] = []
        for handle in order:
            parent = int(parents[handle])
            hinge = self.hinge(handle, parent, BONE_MOTION)
            node = 0 if parent < 0 else int(nodes[parent])
            for number, (_, _, slide) in enumerate(hinge.axes):
                carriers.append(node)
                node = len(carriers)
                names.append(f"bone {handle}/{'slide' if slide else 'turn'} {number}")
            nodes[handle] = node
            hinges.append(hinge)
        generators = [generator for hinge in hinges for generator in hinge.generators]
        tree = JointTree(np.array(carriers, dtype=np.int64), np.array(generators).reshape(-1, 4, 4))
        moments = np.stack([row for hinge in hinges for row in hinge.values], axis=1)
        low, high = np.minimum(moments.min(axis=0), 0.0), np.maximum(moments.max(axis=0), 0.0)
        more = MARGIN * (high - low)
        lifted = np.concatenate([self.held, np.ones((*self.weights.shape, 1))], axis=2)
        features = (self.weights[:, :, None] * lifted).reshape(len(lifted), -1)
        bounds = np.stack([low - more, high + more], axis=1)
        at_rest = np.abs(self.held - self.mesh.vertices[:, None])[self.weights > 1e-3].max(initial=0.0)
        weights = self.weights if at_rest <= STILL * self.size else None
        return SkinnedSpace(self.mesh, tree, nodes, features, bounds, tuple(names), "bones", weights, moments, mixes)


def _add(hinge: _Hinge, generator: np.ndarray, values: np.ndarray, axis: tuple[np.ndarray, np.ndarray, bool]) -> None:
    hinge.generators.append(generator)
    hinge.values.append(values)
    hinge.axes.append(axis)


def _joint(hinge: _Hinge, parent: int, name: str) -> Joint:
    if not hinge.axes:
        return Joint("fixed", parent, name=name)
    (axis, pivot, slide), values = hinge.axes[0], hinge.values[0]
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    if not slide and high - low > WHOLE_TURN:
        return Joint("continuous", parent, axis, pivot, name=name)
    return Joint("prismatic" if slide else "revolute", parent, axis, pivot, low, high, name=name)


def _pivots(
    motion: Float[np.ndarray, "T B 4 4"], places: Float[np.ndarray, "B 3"], pull: float
) -> Float[np.ndarray, "B 3"]:
    """The point of each motion that moves least; where that is open, the nearest to a place."""
    turn = motion[..., :3, :3] - np.eye(3)
    slip = (turn @ places[:, :, None])[..., 0] + motion[..., :3, 3]
    normal = np.einsum("tbki,tbkj->bij", turn, turn) / len(motion)
    normal += (pull * np.trace(normal, axis1=1, axis2=2)[:, None, None] + 1e-12) * np.eye(3)
    wanted = np.einsum("tbki,tbk->bi", turn, slip) / len(motion)
    return places - np.linalg.solve(normal, wanted[:, :, None])[..., 0]


def _turns(
    turns: Float[np.ndarray, "T 3 3"], few: Int[np.ndarray, " F"], starts: Int[np.ndarray, " C"]
) -> list[tuple[Float[np.ndarray, "3"], Float[np.ndarray, " T"]]]:
    """Axes and angles of successive turns that make up rotations; the second one is the smallest."""
    from scipy.spatial.transform import Rotation

    _, _, axes = np.linalg.svd(lie.rotation_vector(turns[few]), full_matrices=True)
    main, second = axes[0], axes[1]
    frame = np.stack([main, np.cross(second, main), second])
    angles = Rotation.from_matrix(frame @ turns @ frame.T).as_euler("XYZ")
    for start, stop in pairwise(starts.tolist()):
        angles[start:stop] = np.unwrap(angles[start:stop], axis=0)
    return [(axis, column) for axis, column in zip(frame, angles.T, strict=True)]


def _names(mesh: Mesh, owners: Int[np.ndarray, " V"], count: int) -> tuple[str, ...]:
    """Each handle by the part of the file that most of its vertices are of, each name once."""
    parts = mesh.part_ids if mesh.part_ids is not None else np.zeros(mesh.vertex_count, dtype=np.int64)
    found = []
    for handle in range(count):
        mine: Bool[np.ndarray, " V"] = owners == handle
        part = int(np.bincount(parts[mine]).argmax()) if mine.any() else 0
        found.append(mesh.part_names[part] if mesh.part_names else f"part_{part}")
    return tuple(unique_names(found))
