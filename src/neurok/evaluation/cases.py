"""Targets to reach: an object at rest, and the same object in a state that nobody tells the methods about."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.core import Articulation, Asset, Clip, Mesh
from neurok.core.unit_box import UnitBox
from neurok.data.still import UNSEEN_FAMILIES, hold_out
from neurok.errors import NeurokError

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
        from neurok.families.articulated import FAMILIES

        sources = _generated(FAMILIES, "articulated")
    elif suite == "soft":
        from neurok.families.soft import SOFT_FAMILIES

        sources = _generated(SOFT_FAMILIES, "soft")
    else:
        raise NeurokError(f"There is no suite {suite!r}; known are {', '.join(SUITES)}.")
    if not sources:
        raise NeurokError(f"The data of suite '{suite}' holds no test objects; at least five objects are needed.")
    if limit is not None and limit < len(sources):
        if limit < 1:
            raise NeurokError(f"limit must be at least 1, got {limit}.")
        sources = [sources[int(i)] for i in np.linspace(0, len(sources) - 1, limit).round()]
    return sources


def _partnet(folder: Path) -> list[CaseSource]:
    paths = {path.stem: path for path in folder.iterdir() if path.suffix == ".npz" or path.is_dir()}
    _, seen, unseen = hold_out(paths)
    return [
        CaseSource(name, group, partial(_from_file, paths[name], name, group))
        for group, names in (("seen categories", seen), ("unseen categories", unseen))
        for name in names
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
        from neurok.families import articulated, soft

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
    into_box = lambda x: (x.astype(np.float64) - center) / size  # noqa: E731
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
    joints = []
    for joint in articulation.joints:
        slides = joint.kind == "prismatic"
        joints.append(
            replace(
                joint,
                origin=(joint.origin - center) / size,
                lower=joint.lower / size if slides else joint.lower,
                upper=joint.upper / size if slides else joint.upper,
                slide_lower=joint.slide_lower / size,
                slide_upper=joint.slide_upper / size,
            )
        )
    mesh = articulation.mesh.with_vertices((articulation.mesh.vertices - center) / size)
    return Articulation(mesh, tuple(joints), name=articulation.name)


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
