"""Examples of pieces whose bodies are known: annotated objects without their parts, and things that stand still."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.articulation.features import PartClouds, describe_parts
from neurok.articulation.pieces_cut import PIECE_CLOUDS, cut_pieces, join_tiny
from neurok.articulation.pieces_network import SLIDES, STATIC, TURNS
from neurok.bodyplan.bodies import label_faces
from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.operators import face_areas
from neurok.io.files import read_bytes
from neurok.train.articulation_versions import posed
from neurok.train.example_cache import make_once

Source = Literal["real", "generated", "static"]
SOURCES: tuple[Source, ...] = ("real", "generated", "static")
VERSION = 1
"""Of prepared examples; those of others are made anew."""


@dataclass(frozen=True)
class PieceDataConfig:
    """How far examples go from what files hold; the first version of each object is as the file has it. By eye."""

    versions: tuple[int, int, int] = (4, 2, 2)
    """Versions of each real, generated and static object."""

    posed: float = 0.6
    """Share of the versions in another state of their joints."""

    emptied: float = 0.08
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


@dataclass(frozen=True)
class PieceThing:
    """An object that becomes examples when its turn comes."""

    name: str
    source: Source
    load: Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]
    """The mesh, and its joints unless it stands still."""


@dataclass(frozen=True, eq=False)
class PieceExample:
    """The pieces of one version of an object, and the truth about them."""

    name: str
    clouds: PartClouds
    bodies: Int[np.ndarray, " P"]
    """Body of each piece; 0 is the base."""

    moves: Int[np.ndarray, " P"]
    """``STATIC``, ``TURNS`` or ``SLIDES``."""

    source: Source

    @property
    def object(self) -> str:
        return self.name.rsplit(".", 1)[0]


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


def make_examples(thing: PieceThing, config: PieceDataConfig) -> list[PieceExample]:
    """Versions of an object; the same name gives the same ones."""
    mesh, joints = thing.load()
    rng = np.random.default_rng(int(hashlib.sha256(thing.name.encode()).hexdigest()[:12], 16))
    found = []
    for number in range(config.versions[SOURCES.index(thing.source)]):
        shape, links = mesh, joints
        if links is not None and number > 0 and rng.random() < config.posed:
            shape, links = posed(Articulation(mesh, links), rng)
        example = _version(f"{thing.name}.{number}", thing.source, shape, links, rng, config if number > 0 else None)
        if example is not None:
            found.append(example)
    return found


def plain_example(name: str, mesh: Mesh, joints: tuple[Joint, ...] | None, source: Source) -> PieceExample | None:
    """An object as its file has it."""
    return _version(name, source, mesh, joints, np.random.default_rng(0), None)


def _version(
    name: str,
    source: Source,
    mesh: Mesh,
    joints: tuple[Joint, ...] | None,
    rng: np.random.Generator,
    config: PieceDataConfig | None,
) -> PieceExample | None:
    """One version; as the file has it without a configuration. Nothing for what has no pieces or is taken away."""
    bodies, moves = bodies_of(joints) if joints is not None else (np.zeros(1, dtype=np.int64), np.array([STATIC]))
    face_bodies = bodies[mesh.face_parts] if joints is not None else np.zeros(mesh.face_count, dtype=np.int64)
    kept = np.ones(mesh.face_count, dtype=bool)
    if config is not None:
        kept = _kept_faces(face_bodies, len(moves), rng, config)
        if kept.sum() < 4:
            return None
    raw = replace(
        mesh,
        faces=mesh.faces[kept],
        part_ids=None,
        part_names=(),
        face_surfaces=None if mesh.face_surfaces is None else mesh.face_surfaces[kept],
    )
    face_bodies = face_bodies[kept]
    cut = raw
    if config is not None and raw.face_surfaces is not None and rng.random() < config.plain:
        cut = replace(raw, face_surfaces=None, surfaces=raw.surfaces[:1])
    pieces = cut_pieces(cut)
    if config is not None and rng.random() < config.split:
        pieces = join_tiny(raw, split_some(raw, pieces, rng))
    clouds = describe_parts(label_faces(raw, pieces), config=PIECE_CLOUDS)
    areas = face_areas(raw.vertices, raw.faces)
    owners = _owners(pieces, face_bodies, areas, len(moves))
    if config is not None and len(clouds.parts) > 2 and rng.random() < config.merged:
        near = np.full((len(owners), len(owners)), np.inf)
        near[np.ix_(clouds.parts, clouds.parts)] = clouds.pairs[..., 0]
        groups = merge_some((near < config.touch) & (owners[:, None] == owners), rng)
        pieces = np.unique(groups[pieces], return_inverse=True)[1].reshape(-1)
        clouds = describe_parts(label_faces(raw, pieces), config=PIECE_CLOUDS)
        owners = _owners(pieces, face_bodies, areas, len(moves))
    mine = owners[clouds.parts]
    return PieceExample(name, clouds, mine, moves[mine], source) if len(mine) > 1 else None


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


def prepare(
    things: Iterable[PieceThing], config: PieceDataConfig, cache: Path, report: Callable[[str], None] | None = None
) -> Iterator[PieceExample]:
    """Examples, computed once and kept in a folder; objects that fail are told and left out."""
    for thing in things:
        path = cache / f"{thing.source}.{thing.name}.{VERSION}.npz"
        make_once(path, partial(make_examples, thing, config), encode, thing.name, report)
        yield from decode(path)


def encode(examples: list[PieceExample]) -> bytes:
    """Examples as one NPZ file."""
    arrays: dict[str, np.ndarray] = {"names": np.array([example.name for example in examples], dtype=str)}
    for k, example in enumerate(examples):
        arrays |= {f"{k}.bodies": example.bodies, f"{k}.moves": example.moves, f"{k}.source": np.array(example.source)}
        for field in fields(example.clouds):
            value = np.asarray(getattr(example.clouds, field.name))
            arrays[f"{k}.{field.name}"] = value.astype(np.float32) if value.dtype == np.float64 else value
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def decode(path: Path) -> list[PieceExample]:
    with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as arrays:
        found = []
        for k, name in enumerate(arrays["names"]):
            clouds = {field.name: arrays[f"{k}.{field.name}"] for field in fields(PartClouds)}
            clouds["scale"] = float(clouds["scale"])
            truth = arrays[f"{k}.bodies"], arrays[f"{k}.moves"]
            found.append(PieceExample(str(name), PartClouds(**clouds), *truth, str(arrays[f"{k}.source"])))  # type: ignore[arg-type]
        return found
