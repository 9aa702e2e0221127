"""Targets to reach: an object at rest and in a state that nobody tells the methods about, and how near they come."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Articulation, Asset, Clip, Mesh
from neurok.core.mesh import UnitBox
from neurok.errors import NeurokError
from neurok.geometry.distance import nearest_distances, volumetric_iou
from neurok.geometry.sampling import SurfaceSamples, sample_surface
from neurok.geometry.topology import face_components, unique_edges
from neurok_lab.data.still import UNSEEN_FAMILIES, hold_out
from neurok_lab.evaluation.tables import spread


def solid_faces(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Int[np.ndarray, "G 3"]:
    """Faces that enclose what the object seems to enclose.

    A face that appears again with the same corners is dropped, since a doubled surface encloses nothing; neighbours
    are made to agree; and each component is turned so that its volume is positive.
    """
    from neurok.doctor.anatomy import HalfEdges, check_winding

    faces = faces[np.sort(np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1])]
    place = np.unique(vertices, axis=0, return_inverse=True)[1].reshape(-1)
    flip = check_winding(vertices, faces, HalfEdges.of(place[faces])).flip
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    component = face_components(vertices, faces)
    corners = vertices[faces]
    middles = corners.mean(axis=1)
    sizes = np.bincount(component)
    centers = np.stack([np.bincount(component, weights=middles[:, k]) / sizes for k in range(3)], axis=1)
    local = corners - centers[component][:, None]
    volume = np.einsum("fd,fd->f", local[:, 0], np.cross(local[:, 1], local[:, 2]))
    inward = np.bincount(component, weights=volume) < 0
    return np.where(inward[component][:, None], faces[:, ::-1], faces)


def is_closed(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> bool:
    """Every edge, by the places of its ends, belongs to an even number of faces."""
    place = np.unique(vertices[faces.reshape(-1)], axis=0, return_inverse=True)[1].reshape(-1, 3)
    edges = np.sort(place[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all())


SUITES = ("partnet", "animated", "families", "soft")
UNTRAINED_SEED = 90_001
"""Seed of the generated test objects; training data is built from others."""

MEMBERS = 3
"""Objects of each held-out family."""


@dataclass(frozen=True, eq=False)
class Case:
    """One object in its unit box (longest side of the rest mesh 1, centred), and the state to reach."""

    name: str
    group: str
    rest: Mesh
    """Without labels of parts: methods must not know them."""

    target: Float[np.ndarray, "V 3"]
    """True vertex positions, for scoring alone."""

    articulation: Articulation | None = None
    """The true joints, for upper bounds and for drawing true states."""

    other_clips: tuple[Clip, ...] = ()
    """Other motions of the same object."""


@dataclass(frozen=True)
class CaseSource:
    """A case that is loaded when its turn comes; ``load`` gives None when the object has nothing that moves."""

    name: str
    group: str
    load: Callable[[], Case | None]


def find_cases(suite: str, data: Callable[[str], Path], limit: int | None = None) -> list[CaseSource]:
    """The cases of a suite; ``data`` says where a named data set lies and is only asked where one is needed.

    With a limit, cases are taken evenly from the whole suite.
    """
    if suite == "partnet":
        sources = _partnet(data("partnet_mobility/train"))
    elif suite == "animated":
        sources = _animated(data("animated_glb"))
    elif suite == "families":
        from neurok_lab.worlds.articulated import FAMILIES

        sources = _generated(FAMILIES, "articulated")
    elif suite == "soft":
        from neurok_lab.worlds.soft import SOFT_FAMILIES

        sources = _generated(SOFT_FAMILIES, "soft")
    else:
        raise NeurokError(f"There is no suite {suite!r}; known are {', '.join(SUITES)}.")
    if not sources:
        raise NeurokError(f"The data of suite '{suite}' holds no test objects; at least five objects are needed.")
    return spread(sources, limit)


def held_out_paths(folder: Path) -> dict[str, list[tuple[str, Path]]]:
    """Names and paths of held-out PartNet-Mobility objects by group: every fifth, and whole categories."""
    paths = {path.stem: path for path in folder.iterdir() if path.suffix == ".npz" or path.is_dir()}
    _, seen, unseen = hold_out(paths)
    groups = {"seen categories": seen, "unseen categories": unseen}
    return {group: [(name, paths[name]) for name in names] for group, names in groups.items()}


def _partnet(folder: Path) -> list[CaseSource]:
    groups = held_out_paths(folder).items()
    return [
        CaseSource(name, group, partial(_from_file, path, name, group)) for group, some in groups for name, path in some
    ]


def _animated(folder: Path) -> list[CaseSource]:
    paths = {path.stem: path for path in folder.glob("*.gl*")}
    _, held, _ = hold_out(paths)
    return [CaseSource(name, "animated", partial(_from_file, paths[name], name, "animated")) for name in held]


def _from_file(path: Path, name: str, group: str) -> Case | None:
    from neurok.io import load

    return case_of(load(path), name, group)


def _generated(families: Iterable[str], kind: str) -> list[CaseSource]:
    """Members of the families that training never sees."""

    def load(name: str, member: int) -> Case | None:
        from neurok_lab.worlds import articulated, soft

        generate = articulated.generate if kind == "articulated" else soft.generate
        for attempt in range(4):
            asset, _ = generate(name, UNTRAINED_SEED, member + MEMBERS * attempt)
            if asset is not None:
                return case_of(asset, f"{name}_{member}", "held-out families")
        return None

    held = [name for name in families if name in UNSEEN_FAMILIES]
    group = "held-out families"
    return [CaseSource(f"{n}_{k}", group, partial(load, n, k)) for n in held for k in range(MEMBERS)]


def case_of(asset: Asset, name: str, group: str) -> Case | None:
    """A random state of all joints, or the farthest frame of a random clip; the name decides the draw."""
    rng = seeded(name)
    if asset.articulation is not None and asset.articulation.dof:
        joints = boxed_articulation(asset.articulation)
        state = joints.pose(random_states(joints, 1, rng)[0]).vertices
        return Case(name, group, unlabelled(joints.mesh), state, joints)
    moving = [clip for clip in asset.clips if clip.frame_count > 1]
    if not moving:
        return None
    chosen = moving[int(rng.integers(len(moving)))]
    center, size = box_of(chosen.rest)

    def into_box(x: np.ndarray) -> np.ndarray:
        return (x.astype(np.float64) - center) / size

    rest = unlabelled(chosen.rest.with_vertices(into_box(chosen.rest.vertices)))
    others = tuple(
        Clip(rest, into_box(clip.positions), clip.fps, clip.name)
        for clip in moving
        if clip is not chosen and clip.rest.vertex_count == rest.vertex_count
    )
    frames = into_box(chosen.positions)
    moved = np.linalg.norm(frames - rest.vertices, axis=2).mean(axis=1)
    return Case(name, group, rest, frames[int(moved.argmax())], None, others)


def seeded(name: str, *more: int) -> np.random.Generator:
    """Randomness that depends on a name alone, the same on every machine."""
    return np.random.default_rng([zlib.crc32(name.encode()), *more])


def box_of(mesh: Mesh) -> tuple[Float[np.ndarray, "3"], float]:
    """Centre and longest side of the bounding box."""
    box = UnitBox.around(mesh.vertices[np.unique(mesh.faces)])
    return box.center, box.size


def unlabelled(mesh: Mesh) -> Mesh:
    """The mesh without its parts; what the file says of surfaces stays."""
    return replace(mesh, part_ids=None, part_names=())


def boxed_articulation(articulation: Articulation) -> Articulation:
    """The same object scaled to its unit box, joints included."""
    center, size = box_of(articulation.mesh)
    joints = tuple(joint.moved(np.eye(3), 1.0 / size, -center / size) for joint in articulation.joints)
    mesh = articulation.mesh.with_vertices((articulation.mesh.vertices - center) / size)
    return Articulation(mesh, joints, name=articulation.name)


def state_ranges(articulation: Articulation) -> Float[np.ndarray, "D 2"]:
    """From where to where each joint value is drawn: its limits; half a turn or 30 % of the size without any."""
    ranges = articulation.limits.copy()
    row = 0
    for joint in articulation.joints:
        for k in range(joint.dof):
            slides = joint.kind == "prismatic" or k == 1
            far = 0.3 * articulation.mesh.size if slides else (np.pi if joint.kind == "continuous" else np.pi / 2)
            ranges[row] = np.where(np.isfinite(ranges[row]), ranges[row], [-far, far])
            row += 1
    return ranges


def random_states(articulation: Articulation, count: int, rng: np.random.Generator) -> Float[np.ndarray, "N D"]:
    """Joint values, uniform within the limits."""
    low, high = state_ranges(articulation).T
    return low + rng.random((count, articulation.dof)) * (high - low)


POINTS = 10_000
RESOLUTION = 64


@dataclass(frozen=True)
class Score:
    """Chamfer distances in units of the box, and overlap of volumes."""

    chamfer_l1: float
    """Mean nearest-neighbour distance, averaged over both directions."""

    chamfer_l2: float
    """The same of squared distances."""

    iou: float
    """Shared over joint cells of a 64-cell grid; cells inside, and cells the surface passes through."""

    motion_error: float
    """Mean distance of surface points from where they truly are: a shape can be right with its points misplaced."""

    edge_error: float
    """Mean difference of the lengths of edges from the true ones, against the lengths at rest."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Scores predictions of one case, always with the same samples."""

    case: Case
    points: int = POINTS

    @cached_property
    def given(self) -> Float[np.ndarray, "N 3"]:
        """The target as methods see it: a cloud without order, other points than those that score."""
        return self._sample(self.case.target, 1)

    @cached_property
    def _truth(self) -> Float[np.ndarray, "N 3"]:
        return self._sample(self.case.target, 2)

    @cached_property
    def _solid_faces(self) -> Int[np.ndarray, "F 3"]:
        return solid_faces(self.case.rest.vertices, self.case.rest.faces)

    def _sample(self, vertices: Float[np.ndarray, "V 3"], stream: int) -> Float[np.ndarray, "N 3"]:
        rng = seeded(self.case.name, stream)
        return sample_surface(vertices, self.case.rest.faces, self.points, rng).interpolate(vertices)

    def score(self, vertices: Float[np.ndarray, "V 3"]) -> Score:
        """Judge predicted positions of the rest mesh's vertices."""
        predicted = self._sample(vertices, 3)
        there, back = nearest_distances(predicted, self._truth), nearest_distances(self._truth, predicted)
        overlap = volumetric_iou(
            (vertices, self._solid_faces), (self.case.target, self._solid_faces), RESOLUTION, shell=True
        )
        return Score(
            0.5 * float(there.mean() + back.mean()),
            0.5 * float((there**2).mean() + (back**2).mean()),
            overlap,
            float(np.linalg.norm(self._tracked.interpolate(vertices - self.case.target), axis=1).mean()),
            float(np.abs(self._lengths(vertices) - self._lengths(self.case.target)).sum() / self._rest_length),
        )

    @cached_property
    def _tracked(self) -> SurfaceSamples:
        return sample_surface(self.case.rest.vertices, self.case.rest.faces, self.points, seeded(self.case.name, 5))

    @cached_property
    def _edges(self) -> Int[np.ndarray, "E 2"]:
        return unique_edges(self.case.rest.faces)

    @cached_property
    def _rest_length(self) -> float:
        return float(self._lengths(self.case.rest.vertices).sum())

    def _lengths(self, vertices: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, " E"]:
        return np.linalg.norm(vertices[self._edges[:, 0]] - vertices[self._edges[:, 1]], axis=1)

    @cached_property
    def no_motion(self) -> Score:
        """The score of the rest shape."""
        return self.score(self.case.rest.vertices)

    @cached_property
    def floor(self) -> Score:
        """The score of the truth: what finite samples alone cost."""
        return self.score(self.case.target)
