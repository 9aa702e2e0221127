"""Versions of an object with true joints: in another state, cut into connected pieces, as one surface, with handles
added; and of what has no parts: pieces as files have or name them, some split, merged, gone or full of holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.bodies import label_faces, merge_components
from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.level_set import MELT, MeltConfig, melted
from neurok.geometry.operators import face_areas, face_normals
from neurok.geometry.topology import split_by_face_label
from neurok.learned.grouping import PIECE_CLOUDS, cut_pieces, join_tiny
from neurok.learned.grouping_network import SLIDES, STATIC, TURNS
from neurok.learned.part_features import PartClouds, describe_parts
from neurok_lab.worlds.articulated.families import rested_at


def posed(articulation: Articulation, rng: np.random.Generator, moved: float = 0.6) -> tuple[Mesh, tuple[Joint, ...]]:
    """Another state of the object as its rest: axes move with their parents, limits are counted from the new zero.

    ``moved`` is the share of the joints that leave their rest (set by hand).
    """
    ranges = articulation.limits.copy()
    ranges[~np.isfinite(ranges)] = 0.0
    q = ranges[:, 0] + rng.random(len(ranges)) * (ranges[:, 1] - ranges[:, 0])
    q *= rng.random(len(q)) < moved
    moved_to = rested_at(articulation, q)
    return moved_to.mesh, moved_to.joints


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


def single_surface(mesh: Mesh, config: MeltConfig = MELT) -> tuple[Mesh, Int[np.ndarray, " G"]]:
    """Everything as one surface without parts, and the old face that each of its faces is nearest to."""
    vertices, faces, owners = melted(mesh.vertices, mesh.faces, config)
    return Mesh(vertices, faces, up=mesh.up, name=mesh.name), owners


def with_true_parts(mesh: Mesh, face_parts: Int[np.ndarray, " F"], true: Articulation) -> Articulation:
    """The joints of an object on another mesh of it whose faces know their parts; a part may have no face left."""
    source, faces, part_ids = split_by_face_label(mesh.faces, face_parts)
    cut = replace(mesh, vertices=mesh.vertices[source], faces=faces, part_ids=part_ids, part_names=true.mesh.part_names)
    return replace(true, mesh=cut)


def melted_truth(true: Articulation, config: MeltConfig = MELT) -> Articulation:
    """An object with joints as one surface, whose faces still know their parts."""
    mesh, owners = single_surface(true.mesh, config)
    return with_true_parts(mesh, true.mesh.face_parts[owners], true)


WAYS_OUT = 48
"""Directions in which a face is looked at from outside; a Fibonacci sphere."""


def outer_shell(true: Articulation) -> Articulation:
    """An object with joints without what is hidden: faces whose middle can be seen from outside, on either side."""
    from neurok.learned.views.camera import Scene

    mesh, scene = true.mesh, Scene(true.mesh)
    turns, heights = np.arange(WAYS_OUT) * np.pi * (3.0 - np.sqrt(5.0)), (np.arange(WAYS_OUT) + 0.5) / WAYS_OUT * 2 - 1
    flat = np.sqrt(1.0 - heights**2)
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    seen = np.zeros(mesh.face_count, dtype=bool)
    for way in np.stack([flat * np.cos(turns), heights, flat * np.sin(turns)], axis=1).astype(np.float32):
        left = np.flatnonzero(~seen)
        starts = (middles[left] + 1e-4 * mesh.size * way).astype(np.float32)
        hit = scene.scene.run(starts, np.tile(way, (len(left), 1)), query="DISTANCE")
        seen[left[(hit <= 0) | (hit > 1e30)]] = True
    surfaces = None if mesh.face_surfaces is None else mesh.face_surfaces[seen]
    kept = replace(mesh, faces=mesh.faces[seen], face_surfaces=surfaces, part_ids=None, part_names=())
    return with_true_parts(kept, mesh.face_parts[seen], true)


BOX = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
    + [[1, 3, 5], [3, 7, 5]]
)
"""Faces of a box whose corners count up in x, then y, then z."""


# How large what is added is. By eye.
HANDLE_MOST = 3  # Things that are added at most, each once, or twice where the object is symmetric about its middle.
HANDLE_LENGTH = (0.05, 0.25)  # Their length [diagonals of the object].
HANDLE_THICKNESS = (0.06, 0.25)  # Their thickness [lengths].
HANDLE_HEIGHT = (0.15, 0.7)  # How far they stand out [lengths].
HANDLE_ARCHED = 0.7  # Share that are arches on two feet; the others are blocks.
HANDLE_TWICE = 0.4  # Share that are added on the other side as well, if there is something of the same body.


def with_handles(mesh: Mesh, rng: np.random.Generator) -> tuple[Mesh, Int[np.ndarray, " G"]]:
    """The shape with things that stand on its surface, after its own faces, and the face that each face goes with.

    Vertices lose their colours and texture coordinates, and parts are not told.
    """
    areas, normals = face_areas(mesh.vertices, mesh.faces), face_normals(mesh.vertices, mesh.faces)
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    low, high = mesh.vertices[mesh.faces].min(axis=(0, 1)), mesh.vertices[mesh.faces].max(axis=(0, 1))
    diagonal, centre = float(np.linalg.norm(high - low)), (low + high) / 2
    vertices, faces, goes_with = [mesh.vertices], [mesh.faces], [np.arange(mesh.face_count)]
    for _ in range(int(rng.integers(1, HANDLE_MOST + 1))):
        face = int(rng.choice(len(areas), p=areas / areas.sum()))
        outward = normals[face] * (1.0 if normals[face] @ (middles[face] - centre) >= 0 else -1.0)
        spots = [(face, outward)]
        if rng.random() < HANDLE_TWICE:
            flip = np.where(np.abs(outward) == np.abs(outward).max(), -1.0, 1.0)
            away = np.linalg.norm(middles - (centre + flip * (middles[face] - centre)), axis=1)
            if away.min() < 0.05 * diagonal:
                spots.append((int(away.argmin()), flip * outward))
        thing, along = _shape(diagonal, rng), rng.normal(size=3) * np.array([1.0, 0.2, 1.0])
        for spot, up in spots:
            start = sum(len(some) for some in vertices)
            vertices.append(middles[spot] + thing[0] @ _frame(up, along))
            faces.append(thing[1] + start)
            goes_with.append(np.full(len(thing[1]), spot))
    owners = np.concatenate(goes_with)
    grown = Mesh(
        np.concatenate(vertices),
        np.concatenate(faces),
        surfaces=mesh.surfaces,
        face_surfaces=None if mesh.face_surfaces is None else mesh.face_surfaces[owners],
        unit=mesh.unit,
        up=mesh.up,
        name=mesh.name,
    )
    return grown, owners


def _shape(diagonal: float, rng: np.random.Generator) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """An arch or a block that stands on the plane z = 0, along x."""
    length = diagonal * rng.uniform(*HANDLE_LENGTH)
    thick, high = length * rng.uniform(*HANDLE_THICKNESS), length * rng.uniform(*HANDLE_HEIGHT)
    if rng.random() >= HANDLE_ARCHED:
        corners = np.indices((2, 2, 2)).reshape(3, -1).T[:, ::-1] * np.array([length, thick, high])
        return corners - np.array([length / 2, thick / 2, 0.05 * high]), BOX
    roundness = rng.uniform(0.3, 1.0)  # from a bar on two posts to half an ellipse
    turns = np.linspace(0.0, np.pi, 9)
    x, z = np.cos(turns), np.sin(turns)
    path = np.stack([np.sign(x) * np.abs(x) ** roundness * length / 2, 0 * x, z**roundness * high], axis=1)
    across = np.gradient(path, axis=0)
    across = np.stack([across[:, 2], 0 * x, -across[:, 0]], axis=1)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    sides = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    rings = np.stack([path + thick / 2 * (a * across + b * np.array([0.0, 1.0, 0.0])) for a, b in sides], axis=1)
    start, nexts = np.arange(8)[:, None] * 4 + np.arange(4), np.arange(8)[:, None] * 4 + (np.arange(4) + 1) % 4
    one = np.stack([start, nexts, start + 4], axis=-1).reshape(-1, 3)
    two = np.stack([nexts, nexts + 4, start + 4], axis=-1).reshape(-1, 3)
    ends = np.array([[0, 2, 1], [0, 3, 2], [32, 33, 34], [32, 34, 35]])
    return rings.reshape(-1, 3), np.concatenate([one, two, ends])


def _frame(up: Float[np.ndarray, " 3"], along: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "3 3"]:
    """Rows: a direction in the surface nearest to the one wanted, the third one, and the way out."""
    first = along - (along @ up) * up
    first = first / max(float(np.linalg.norm(first)), 1e-9)
    return np.stack([first, np.cross(up, first), up])


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


class LabelledPieces(NamedTuple):
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


def plain_pieces(mesh: Mesh, joints: tuple[Joint, ...] | None, form: Form = "raw") -> LabelledPieces | None:
    """An object as its file has it; nothing for what has one piece."""
    face_bodies, moves = _truth(mesh, joints)
    raw = _raw(mesh)
    if form == "melted":
        raw, owners = single_surface(mesh, MeltConfig())
        face_bodies = face_bodies[owners]
    return _described(raw, join_tiny(raw, mesh.face_parts) if form == "named" else cut_pieces(raw), face_bodies, moves)


def drawn_pieces(
    mesh: Mesh,
    joints: tuple[Joint, ...] | None,
    rng: np.random.Generator,
    config: PieceDataConfig,
    handles: bool = False,
) -> LabelledPieces | None:
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
        raw, owners = single_surface(raw, melt)
        face_bodies, pieces = face_bodies[owners], cut_pieces(raw)
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


def _described(
    raw: Mesh, pieces: Int[np.ndarray, " F"], face_bodies: Int[np.ndarray, " F"], moves: Int[np.ndarray, " B"]
) -> LabelledPieces | None:
    if int(pieces.max(initial=0)) == 0:
        return None
    clouds = describe_parts(label_faces(raw, pieces), config=PIECE_CLOUDS)
    owners = _owners(pieces, face_bodies, face_areas(raw.vertices, raw.faces), len(moves))[clouds.parts]
    return LabelledPieces(clouds, owners, moves[owners]) if len(owners) > 1 else None


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
