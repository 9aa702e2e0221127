"""How a motion is stored in glTF: moving nodes, bones, or a few morph targets with weights over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Articulation, Bind, BoneTree, Clip, Mesh, Skin
from neurok.errors import NeurokError
from neurok.geometry import lie

INFLUENCES = (4, 8)
"""Bones of a vertex: as many as every viewer takes, where these give the motion, else twice as many."""

PROBE = 64
"""Vertices that are tried first: most motions that are not rigid show it there."""


@dataclass(frozen=True, eq=False)
class PartMotion:
    """How one part moves in each clip: as a whole, by morph targets, or not at all."""

    pivot: Float[np.ndarray, "3"]
    """Where the part's node stands at rest."""

    transforms: tuple[Float[np.ndarray, "T 4 4"], ...] = ()
    """Rigid motion from rest, one entry per clip."""

    targets: Float[np.ndarray, "K V 3"] | None = None
    weights: tuple[Float[np.ndarray, "T K"], ...] = ()


@dataclass(frozen=True, eq=False)
class BoneMotion:
    """How bones carry all vertices."""

    joints: Int[np.ndarray, "V J"]
    """Bones of each vertex, 4 or 8; unused places have bone 0 and weight 0."""

    weights: Float[np.ndarray, "V J"]
    vertices: Float[np.ndarray, "V 3"]
    """Where the bones take hold of the vertices."""

    pivots: Float[np.ndarray, "H 3"]
    """Where each bone stands then."""

    rest: Float[np.ndarray, "H 4 4"]
    """Motion of each bone from there to rest."""

    transforms: tuple[Float[np.ndarray, "T H 4 4"], ...]
    """Motion from there, one entry per clip."""

    parents: Int[np.ndarray, " H"]
    """The bone that carries each; -1 for those that hang on nothing."""

    names: tuple[str, ...]

    def order(self) -> list[int]:
        """Carriers before what they carry."""
        return BoneTree(self.parents, self.pivots, self.names).order()

    def against_carriers(self, transforms: Float[np.ndarray, "T H 4 4"]) -> Float[np.ndarray, "T H 4 4"]:
        """Where bones stand in the frames of those that carry them."""
        stands = transforms @ lie.translation(self.pivots)
        carried = self.parents >= 0
        stands[:, carried] = lie.inverse(stands[:, self.parents[carried]]) @ stands[:, carried]
        return stands

    def resting_turns(self) -> Float[np.ndarray, "V 3 3"]:
        """How the bones turn the surface around each vertex on the way to rest."""
        return np.einsum("vj,vjab->vab", self.weights, self.rest[:, :3, :3][self.joints], optimize=True)


STILL = PartMotion(np.zeros(3))


def check_clips(mesh: Mesh, clips: tuple[Clip, ...]) -> None:
    for clip in clips:
        if clip.rest.vertex_count != mesh.vertex_count:
            raise NeurokError(
                f"Clip '{clip.name}' moves {clip.rest.vertex_count} vertices, but the mesh has {mesh.vertex_count}; "
                "all clips of one file must move the same mesh."
            )


def plan_motion(
    mesh: Mesh,
    clips: tuple[Clip, ...],
    part_vertices: list[Int[np.ndarray, " N"]],
    tolerance: float,
    articulation: Articulation | None = None,
) -> tuple[list[PartMotion], BoneMotion | None]:
    """The most compact way that keeps every vertex within ``tolerance`` (a length) in every frame of all clips.

    Parts that move as a whole become moving nodes; if some do not and the clips have handles that give the motion,
    all are carried by bones; otherwise those parts get morph targets.
    """
    check_clips(mesh, clips)
    if not clips:
        return [STILL] * len(part_vertices), None
    motions = [
        _rigid_motion(mesh, clips, chosen, tolerance, _pivot(mesh, chosen, articulation, part))
        for part, chosen in enumerate(part_vertices)
    ]
    if all(motion is not None for motion in motions):
        return [m for m in motions if m is not None], None
    bones = _bone_motion(mesh, clips, tolerance)
    if bones is not None:
        return [STILL] * len(part_vertices), bones
    return [
        _morph_motion(mesh, clips, chosen, tolerance) if motion is None else motion
        for motion, chosen in zip(motions, part_vertices, strict=True)
    ], None


def _pivot(
    mesh: Mesh, chosen: Int[np.ndarray, " N"], articulation: Articulation | None, part: int
) -> Float[np.ndarray, "3"]:
    """A hinge, where it is known, else the middle of the part: between frames viewers turn about it."""
    if articulation is not None and articulation.joints[part].dof:
        return articulation.joints[part].origin.astype(np.float32).astype(np.float64)
    if not len(chosen):
        return np.zeros(3)
    points = mesh.vertices[chosen]
    return (0.5 * (points.min(axis=0) + points.max(axis=0))).astype(np.float32).astype(np.float64)


def _rigid_motion(
    mesh: Mesh, clips: tuple[Clip, ...], chosen: Int[np.ndarray, " N"], tolerance: float, pivot: Float[np.ndarray, "3"]
) -> PartMotion | None:
    """The part's motion as a whole, if it is one."""
    source = mesh.vertices[chosen]
    if not len(chosen):
        return STILL
    probe = np.unique(np.linspace(0, len(chosen) - 1, PROBE).astype(np.int64))
    for clip in clips:
        target = clip.positions[:, chosen[probe]]
        rough = lie.fit_rigid(source[probe], target.astype(np.float64))
        if _distance(lie.apply(rough, source[probe]), target) > 2.0 * tolerance:
            return None
    if all(_distance(clip.positions[:, chosen], source) <= 0.1 * tolerance for clip in clips):
        return STILL
    transforms = []
    for clip in clips:
        target = clip.positions[:, chosen]
        fitted = lie.fit_rigid(source, target.astype(np.float64))
        if _distance(lie.apply(fitted, source), target) > 0.9 * tolerance:
            return None
        transforms.append(fitted)
    return PartMotion(pivot, tuple(transforms))


def _distance(a: Float[np.ndarray, "T N 3"], b: np.ndarray) -> float:
    offset = a - b
    return float(np.sqrt(np.einsum("tvc,tvc->tv", offset, offset).max(initial=0.0)))


def _bone_motion(mesh: Mesh, clips: tuple[Clip, ...], tolerance: float) -> BoneMotion | None:
    """The handles behind the clips as bones, if all clips share them and eight per vertex are enough."""
    skins = [clip.skin for clip in clips if clip.skin is not None]
    if len(skins) != len(clips) or not all(_is_same_skin(skins[0], skin) for skin in skins[1:]):
        return None
    dense = np.asarray(skins[0].weights, dtype=np.float64)
    bind = skins[0].bind or Bind(mesh.vertices, np.tile(np.eye(4), (dense.shape[1], 1, 1)))
    tree = skins[0].tree or _no_tree(dense, bind)
    pivots = tree.pivots.astype(np.float32).astype(np.float64)
    rest, *motions = (_unstretched(t, pivots) for t in (bind.transforms, *(skin.transforms for skin in skins)))
    for most in INFLUENCES:
        joints, weights = _influences(dense, most)
        if _carries(joints, weights, bind, mesh, clips, (rest, *motions), tolerance):
            return BoneMotion(joints, weights, bind.vertices, pivots, rest, tuple(motions), tree.parents, tree.names)
    return None


def _no_tree(dense: Float[np.ndarray, "V H"], bind: Bind) -> BoneTree:
    """Bones side by side, each in the middle of what follows it."""
    load, count = dense.sum(axis=0)[:, None], dense.shape[1]
    middles = dense.T @ bind.vertices / np.maximum(load, 1e-12)
    return BoneTree(np.full(count, -1), middles, tuple(f"bone_{k}" for k in range(count)))


def _carries(
    joints: Int[np.ndarray, "V J"],
    weights: Float[np.ndarray, "V J"],
    bind: Bind,
    mesh: Mesh,
    clips: tuple[Clip, ...],
    motions: tuple[Float[np.ndarray, "*T H 4 4"], ...],
    tolerance: float,
) -> bool:
    """Whether bones with these weights give the rest shape, then every frame of all clips."""
    from scipy.sparse import csr_matrix

    rest, *moving = motions
    ends = np.arange(0, weights.size + 1, weights.shape[1])
    table = csr_matrix((weights.reshape(-1).astype(np.float64), joints.reshape(-1), ends), (len(weights), len(rest)))
    table.eliminate_zeros()

    def is_near(transforms: Float[np.ndarray, "H 4 4"], frame: Float[np.ndarray, "V 3"]) -> bool:
        blended = (table @ transforms[:, :3].reshape(len(transforms), 12)).reshape(-1, 3, 4)
        moved = (blended[..., :3] @ bind.vertices[:, :, None])[..., 0] + blended[..., 3]
        return _distance(moved[None], frame) <= 0.9 * tolerance

    return is_near(rest, mesh.vertices) and all(
        is_near(pose, frame)
        for clip, motion in zip(clips, moving, strict=True)
        for pose, frame in zip(motion, clip.positions, strict=True)
    )


def _unstretched(
    transforms: Float[np.ndarray, "*T H 4 4"], pivots: Float[np.ndarray, "H 3"]
) -> Float[np.ndarray, "*T H 4 4"]:
    """The rigid motions nearest to almost rigid ones; the pivots go exactly where they went."""
    turns = lie.quaternion_to_matrix(lie.matrix_to_quaternion(transforms[..., :3, :3]))
    moved = np.einsum("...hij,hj->...hi", transforms[..., :3, :3] - turns, pivots)
    return lie.compose(turns, transforms[..., :3, 3] + moved)


def _is_same_skin(a: Skin, b: Skin) -> bool:
    if (a.bind is None) != (b.bind is None) or not np.array_equal(a.weights, b.weights):
        return False
    if a.bind is None or b.bind is None:
        return True
    same = np.array_equal(a.bind.vertices, b.bind.vertices)
    return same and np.array_equal(a.bind.transforms, b.bind.transforms)


def _influences(dense: Float[np.ndarray, "V H"], most: int) -> tuple[Int[np.ndarray, "V J"], Float[np.ndarray, "V J"]]:
    """The strongest bones of each vertex, four or eight places, and their weights."""
    width = min(most, dense.shape[1])
    joints = np.argsort(-dense, axis=1, kind="stable")[:, :width]
    weights = np.take_along_axis(dense, joints, axis=1).clip(0.0)
    weights[weights < 1e-6] = 0.0
    slots = 4 if width <= 4 or not weights[:, 4:].any() else 8
    joints = np.pad(joints, ((0, 0), (0, max(0, slots - width))))[:, :slots]
    weights = np.pad(weights, ((0, 0), (0, max(0, slots - width))))[:, :slots]
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.where(weights > 0, joints, 0), weights


def _morph_motion(mesh: Mesh, clips: tuple[Clip, ...], chosen: Int[np.ndarray, " N"], tolerance: float) -> PartMotion:
    rest = mesh.vertices[chosen].astype(np.float32)
    displacements = np.concatenate([clip.positions[:, chosen] - rest for clip in clips])
    weights, targets = factorise_motion(displacements, 0.9 * tolerance)
    if not len(targets):
        return STILL
    ends = np.cumsum([clip.frame_count for clip in clips])[:-1]
    return PartMotion(np.zeros(3), targets=targets, weights=tuple(np.split(weights, ends)))


BLOCK = 8
"""Shapes that are subtracted at once while looking for how many are enough."""


def factorise_motion(
    displacements: Float[np.ndarray, "T V 3"], tolerance: float
) -> tuple[Float[np.ndarray, "T K"], Float[np.ndarray, "K V 3"]]:
    """Fewest singular shapes whose weighted sum is within ``tolerance`` of every vertex in every frame.

    Returns:
        Weights, scaled so that the largest of each shape is 1, and the shapes, both in single precision; their
        product in that precision keeps the promise, as far as single precision can.
    """
    frames, vertices = displacements.shape[:2]
    matrix = np.ascontiguousarray(displacements, dtype=np.float64).reshape(frames, -1)
    left, energies = _left_vectors(matrix)
    count = _enough(matrix, left, energies, tolerance)
    while True:
        weights, shapes = _balanced(left[:, :count], left[:, :count].T @ matrix)
        if count == left.shape[1] or _largest(matrix - weights @ shapes) <= tolerance:
            return weights, shapes.reshape(count, vertices, 3)
        count += 1


def _left_vectors(matrix: Float[np.ndarray, "T N"]) -> tuple[Float[np.ndarray, "T R"], Float[np.ndarray, " R"]]:
    """Orthonormal directions in time, the strongest first, and their energies; those without motion are left out."""
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0, -1.0, 1.0)
    rank = min(int((values > max(float(values[0]), 0.0) * 1e-15).sum()), matrix.shape[1])
    return vectors[:, :rank], values[:rank]


def _enough(
    matrix: Float[np.ndarray, "T N"],
    left: Float[np.ndarray, "T R"],
    energies: Float[np.ndarray, " R"],
    tolerance: float,
) -> int:
    """How many shapes are needed: subtract them a block at a time, then give back those that were too many."""
    missing = np.cumsum(energies[::-1])[::-1]
    count = int((missing > tolerance**2 * matrix.size / 3 * (1.0 + 1e-6)).sum())  # the mean error asks for these
    matrix, left = matrix.astype(np.float32), left.astype(np.float32)
    residual = matrix - left[:, :count] @ (left[:, :count].T @ matrix)
    while count < left.shape[1] and _largest(residual) > tolerance:
        block = left[:, count : count + BLOCK]
        loads = block.T @ matrix
        residual -= block @ loads
        count += block.shape[1]
        for spare in reversed(range(block.shape[1])):
            if _largest(residual) > tolerance:
                break
            residual += np.outer(block[:, spare], loads[spare])
            if _largest(residual) > tolerance:
                return count
            count -= 1
    return count


def _balanced(
    left: Float[np.ndarray, "T K"], loads: Float[np.ndarray, "K N"]
) -> tuple[Float[np.ndarray, "T K"], Float[np.ndarray, "K N"]]:
    scale = np.abs(left).max(axis=0)
    return (left / scale).astype(np.float32), (loads * scale[:, None]).astype(np.float32)


def _largest(residual: Float[np.ndarray, "T N"]) -> float:
    """Largest distance between a vertex and its copy."""
    offsets = residual.reshape(len(residual), -1, 3)
    return float(np.sqrt(np.einsum("tvc,tvc->tv", offsets, offsets).max(initial=0.0)))
