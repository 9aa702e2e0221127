"""Versions of an object without its parts: pieces as the file has them, as it names them, or as one surface; with some
split, merged, gone or full of holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from neurok.articulation.features import PartClouds, describe_parts
from neurok.articulation.pieces_network import SLIDES, STATIC, TURNS
from neurok.articulation.pieces_predict import PIECE_CLOUDS, cut_pieces, join_tiny
from neurok.bodyplan.bodies import label_faces
from neurok.core import Joint, Mesh
from neurok.data.single_surface import single_surface
from neurok.geometry.operators import face_areas
from neurok.geometry.single_surface import MeltConfig
from neurok.train.pieces_handles import with_handles

Form = Literal["raw", "named", "melted"]
FORMS: tuple[Form, ...] = ("raw", "named", "melted")
"""What the pieces are: connected components, the parts that the file names, or patches of everything as one surface."""


@dataclass(frozen=True)
class PieceDataConfig:
    """How far examples go from what files hold; the first version of each object is as the file has it. By eye."""

    versions: tuple[int, int, int] = (8, 3, 3)
    """Versions of each real, generated and static object ..."""

    handles: tuple[int, int, int] = (2, 1, 1)
    """... the last so many of which have handles and feet added."""

    posed: float = 0.6
    """Share of the versions in another state of their joints."""

    named: float = 0.2
    """Share of the versions whose pieces are the parts that the file names ..."""

    melted: float = 0.25
    """... and of those that are one surface ..."""

    cells: tuple[int, int] = (28, 48)
    """... with so many cells along their longest side."""

    faces: int = 3_000
    """Faces of such a surface."""

    emptied: float = 0.1
    """Share from which all that moves is taken away: what is left stands still ..."""

    thinned: float = 0.15
    """... and share from which some of it is."""

    holed: float = 0.25
    """Share that lack faces ..."""

    holes: float = 0.15
    """... and the largest share of the faces that they lack."""

    plain: float = 0.3
    """Share that hide which surface a face has: what is welded stays one piece."""

    split: float = 0.3
    """Share in which some pieces are cut in two ..."""

    merged: float = 0.35
    """... and in which some pieces of one body that touch become one."""

    touch: float = 0.02
    """Pieces nearer than this touch [unit box]."""


class Pieces(NamedTuple):
    """What the network is shown, and the truth about it."""

    clouds: PartClouds
    bodies: Int[np.ndarray, " P"]
    moves: Int[np.ndarray, " P"]


def bodies_of(joints: Sequence[Joint]) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " B"]]:
    """The rigid body of each part, 0 for what is fixed to a root, and what each body does."""
    bodies = np.full(len(joints), -1)
    moves = [STATIC]

    def find(part: int) -> int:
        if bodies[part] < 0:
            joint = joints[part]
            above = find(joint.parent) if joint.parent >= 0 else 0
            if joint.kind == "fixed":
                bodies[part] = above
            else:
                moves.append(SLIDES if joint.kind == "prismatic" else TURNS)
                bodies[part] = len(moves) - 1
        return int(bodies[part])

    for part in range(len(joints)):
        find(part)
    return bodies, np.array(moves)


def plain_pieces(mesh: Mesh, joints: tuple[Joint, ...] | None, form: Form = "raw") -> Pieces | None:
    """An object as its file has it; nothing for what has one piece."""
    face_bodies, moves = _truth(mesh, joints)
    faces = _as_surface(mesh, face_bodies, MeltConfig()) if form == "melted" else (_raw(mesh), face_bodies)
    pieces = join_tiny(faces[0], mesh.face_parts) if form == "named" else cut_pieces(faces[0])
    return _described(faces[0], pieces, faces[1], moves)


def drawn_pieces(
    mesh: Mesh,
    joints: tuple[Joint, ...] | None,
    rng: np.random.Generator,
    config: PieceDataConfig,
    handles: bool = False,
) -> Pieces | None:
    """Another version of an object, if asked for with handles added; nothing for what has one piece left."""
    face_bodies, moves = _truth(mesh, joints)
    form = FORMS[int(np.searchsorted([1.0 - config.named - config.melted, 1.0 - config.melted], rng.random()))]
    if form == "named" and mesh.part_ids is None:
        form = "raw"
    kept = _kept_faces(face_bodies, len(moves), rng, config)
    if kept.sum() < 4:
        return None
    raw, face_bodies, named = _raw(mesh, kept), face_bodies[kept], mesh.face_parts[kept]
    if handles:
        raw, goes_with = with_handles(raw, rng)
        face_bodies, named = face_bodies[goes_with], named[goes_with]
    if form == "melted":
        melt = MeltConfig(int(rng.integers(*config.cells)), faces=config.faces, samples=20_000)
        raw, face_bodies = _as_surface(raw, face_bodies, melt)
        pieces = cut_pieces(raw)
    elif form == "named":
        pieces = join_tiny(raw, np.unique(named, return_inverse=True)[1].reshape(-1))
    else:
        hidden = raw.face_surfaces is not None and rng.random() < config.plain
        pieces = cut_pieces(replace(raw, face_surfaces=None, surfaces=raw.surfaces[:1]) if hidden else raw)
        if rng.random() < config.split:
            pieces = join_tiny(raw, split_some(raw, pieces, rng))
    found = _described(raw, pieces, face_bodies, moves)
    if found is None or form == "named" or len(found.bodies) < 3 or rng.random() >= config.merged:
        return found
    may = (found.clouds.pairs[..., 0] < config.touch) & (found.bodies[:, None] == found.bodies)
    groups = np.arange(int(pieces.max()) + 1)
    groups[found.clouds.parts] = found.clouds.parts[merge_some(may, rng)]
    return _described(raw, np.unique(groups[pieces], return_inverse=True)[1].reshape(-1), face_bodies, moves)


def _truth(mesh: Mesh, joints: tuple[Joint, ...] | None) -> tuple[Int[np.ndarray, " F"], Int[np.ndarray, " B"]]:
    """The body of each face, and what each body does."""
    if joints is None:
        return np.zeros(mesh.face_count, dtype=np.int64), np.array([STATIC])
    bodies, moves = bodies_of(joints)
    return bodies[mesh.face_parts], moves


def _raw(mesh: Mesh, kept: np.ndarray | None = None) -> Mesh:
    """The mesh without names of parts, and without some faces."""
    kept = np.ones(mesh.face_count, dtype=bool) if kept is None else kept
    surfaces = None if mesh.face_surfaces is None else mesh.face_surfaces[kept]
    return replace(mesh, faces=mesh.faces[kept], part_ids=None, part_names=(), face_surfaces=surfaces)


def _as_surface(
    mesh: Mesh, face_bodies: Int[np.ndarray, " F"], config: MeltConfig
) -> tuple[Mesh, Int[np.ndarray, " G"]]:
    """Everything as one surface, and the body of each of its faces."""
    surface, owners = single_surface(mesh, config)
    return surface, face_bodies[owners]


def _described(
    raw: Mesh, pieces: Int[np.ndarray, " F"], face_bodies: Int[np.ndarray, " F"], moves: Int[np.ndarray, " B"]
) -> Pieces | None:
    if int(pieces.max(initial=0)) == 0:
        return None
    clouds = describe_parts(label_faces(raw, pieces), config=PIECE_CLOUDS)
    owners = _owners(pieces, face_bodies, face_areas(raw.vertices, raw.faces), len(moves))[clouds.parts]
    return Pieces(clouds, owners, moves[owners]) if len(owners) > 1 else None


def _kept_faces(
    face_bodies: Int[np.ndarray, " F"], count: int, rng: np.random.Generator, config: PieceDataConfig
) -> np.ndarray:
    gone = np.zeros(count, dtype=bool)
    chance = rng.random()
    if chance < config.emptied:
        gone[1:] = True
    elif chance < config.emptied + config.thinned:
        gone[1:] = rng.random(count - 1) < rng.uniform(0.0, 1.0)
    kept = ~gone[face_bodies]
    if rng.random() < config.holed:
        kept &= rng.random(len(kept)) >= rng.uniform(0.0, config.holes)
    return kept


def _owners(
    pieces: Int[np.ndarray, " F"], bodies: Int[np.ndarray, " F"], areas: Float[np.ndarray, " F"], count: int
) -> Int[np.ndarray, " P"]:
    """The body that each piece shares most area with."""
    shared = np.zeros((int(pieces.max()) + 1, count))
    np.add.at(shared, (pieces, bodies), areas + 1e-300)
    return shared.argmax(axis=1)


def split_some(mesh: Mesh, pieces: Int[np.ndarray, " F"], rng: np.random.Generator) -> Int[np.ndarray, " F"]:
    """Some of the larger pieces cut in two across a random axis, between faces."""
    middles, areas = mesh.vertices[mesh.faces].mean(axis=1), face_areas(mesh.vertices, mesh.faces)
    share = np.bincount(pieces, areas) / max(float(areas.sum()), 1e-300)
    often, out, count = rng.uniform(0.1, 0.7), pieces.copy(), len(share)
    for piece in np.flatnonzero(share > 0.02):
        mine = np.flatnonzero(pieces == piece)
        if rng.random() > often or len(mine) < 8:
            continue
        along = middles[mine, int(rng.integers(3))]
        beyond = along > np.quantile(along, rng.uniform(0.2, 0.8)) + 1e-12
        if beyond.any() and not beyond.all():
            out[mine[beyond]] = count
            count += 1
    return out


def merge_some(may: np.ndarray, rng: np.random.Generator) -> Int[np.ndarray, " P"]:
    """A group for each piece: some join one of those they may join."""
    groups, often = np.arange(len(may)), rng.uniform(0.05, 0.9)
    for piece in range(len(may)):
        others = np.flatnonzero(may[piece] & (np.arange(len(may)) != piece))
        if len(others) and rng.random() < often:
            groups[groups == groups[piece]] = groups[rng.choice(others)]
    return groups
