"""Examples of parts and their joints: annotated ones, and ones that the search alone has labelled."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from neurok.articulation.features import PartClouds, describe_parts
from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.articulation.parts import find_parts, label_faces
from neurok.articulation.search import search_joints
from neurok.articulation.views import Labels, labels_of, make_labels
from neurok.core import Articulation, Joint, Mesh
from neurok.data.shards import MANIFEST, ShardSet
from neurok.data.splits import UNSEEN_FAMILIES, hold_out
from neurok.errors import NeurokError
from neurok.geometry import rigid
from neurok.geometry.operators import face_areas
from neurok.io.files import read_bytes, write_files

Teacher = Literal["joints", "search"]
MOST_PARTS = 24
MOST_CANDIDATES = 40
"""Of each part; a search holds hundreds valid, most of them hardly likely."""

VERSION = 1


@dataclass(frozen=True, eq=False)
class Example:
    """One object, or one state of it, and what is known of its joints."""

    name: str
    clouds: PartClouds
    labels: Labels
    is_real: bool


@dataclass(frozen=True)
class Thing:
    """An object that becomes examples when its turn comes."""

    name: str
    is_real: bool
    load: Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]


def find_things(folder: str | Path) -> list[Thing]:
    """The objects of a data set, or of a folder of files, that may be trained on; held-out ones are left out."""
    if "://" in str(folder) or (Path(folder) / MANIFEST).exists():
        return _from_shards(folder)
    paths = {
        p.stem: p for p in sorted(Path(folder).rglob("*")) if p.suffix in (".npz", ".glb", ".gltf", ".urdf", ".obj")
    }
    training, _, _ = hold_out(paths)
    if not training:
        raise NeurokError(f"'{folder}' holds no objects to train on: neither a data set nor .npz, .glb or .urdf files.")
    return [Thing(name, True, _file_loader(paths[name])) for name in training]


def _file_loader(path: Path) -> Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.io import load as load_asset

        asset = load_asset(path)
        if asset.articulation is not None:
            return asset.articulation.mesh, asset.articulation.joints
        return find_parts(asset), None

    return load


def _from_shards(folder: str | Path) -> list[Thing]:
    things: list[Thing] = []
    real: list[Thing] = []
    for item in ShardSet.open(folder):
        if item.info["kind"] != "articulated" or item.info["family"] in UNSEEN_FAMILIES:
            continue

        def load(item=item) -> tuple[Mesh, tuple[Joint, ...] | None]:  # type: ignore[no-untyped-def]
            joints = item.asset().articulation
            return joints.mesh, joints.joints

        is_real = not item.info["source"].startswith("neurok")
        name = Path(item.info["source"]).stem if is_real else f"{item.info['family']}_{item.index}"
        (real if is_real else things).append(Thing(name, is_real, load))
    training = set(hold_out([thing.name for thing in real])[0])
    return things + [thing for thing in real if thing.name in training]


def make_examples(thing: Thing, teacher: Teacher) -> list[Example]:
    """From true joints: as stored, in another state, and cut into connected pieces; from the search: as stored."""
    mesh, joints = thing.load()
    if teacher == "search":
        clouds = describe_parts(mesh)
        return [Example(f"{thing.name}.search", clouds, search_labels(clouds, mesh), thing.is_real)]
    if joints is None:
        return []
    rng = np.random.default_rng(int(hashlib.sha256(thing.name.encode()).hexdigest()[:12], 16))
    versions = [("rest", mesh, joints), ("posed", *posed(Articulation(mesh, joints), rng))]
    if thing.is_real:  # the pieces of generated objects tell little: their details are connected to what carries them
        versions.append(("pieces", *pieces(mesh, joints)))
    found = []
    for label, shape, links in versions:
        clouds = describe_parts(shape)
        found.append(Example(f"{thing.name}.{label}", clouds, labels_of(clouds, links), thing.is_real))
    return found


def search_labels(clouds: PartClouds, mesh: Mesh) -> Labels:
    """All that the search holds valid, weighted by its scores."""
    search = search_joints(mesh)
    row_of = {int(part): row for row, part in enumerate(clouds.parts)}
    kinds, parents = np.zeros((len(row_of), len(KINDS))), np.full(len(row_of), -1)
    rows, weights = [], []
    for part, row in row_of.items():
        above = search.parents[part]
        parents[row] = row if above < 0 else row_of.get(above, -1)
        if above < 0:
            kinds[row, 0] = 1.0
        for candidate in search.candidates[part][:MOST_CANDIDATES]:
            kinds[row, KINDS.index(candidate.kind)] += candidate.score
            if candidate.kind == "fixed":
                continue
            move = SLIDE if candidate.kind == "prismatic" else TURN
            scale = 1.0 if move == TURN else clouds.scale
            ends = (candidate.lower / scale, candidate.upper / scale)
            limits = ends if candidate.kind in ("revolute", "prismatic") else (np.nan, np.nan)
            rows.append((row, move, clouds.turn @ candidate.axis, clouds.to_box(candidate.origin), limits))
            weights.append(candidate.score)
    kinds /= np.maximum(kinds.sum(axis=1, keepdims=True), 1e-12)
    return make_labels(kinds, parents, rows, weights)


def posed(articulation: Articulation, rng: np.random.Generator) -> tuple[Mesh, tuple[Joint, ...]]:
    """Another state of the object as its rest: axes move with their parents, limits are counted from the new zero."""
    ranges = articulation.limits.copy()
    ranges[~np.isfinite(ranges)] = 0.0
    q = ranges[:, 0] + rng.random(len(ranges)) * (ranges[:, 1] - ranges[:, 0])
    q *= rng.random(len(q)) < 0.6
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
                origin=rigid.apply(above, joint.origin[None])[0],
                lower=joint.lower - shift,
                upper=joint.upper - shift,
            )
        )
    return articulation.pose(q), tuple(joints)


def pieces(mesh: Mesh, joints: tuple[Joint, ...]) -> tuple[Mesh, tuple[Joint, ...]]:
    """The object as one would get it without labels: connected pieces, of which the largest of a part has its joint."""
    from neurok.articulation.parts import merge_components

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


def split_examples(
    folders: Iterable[str | Path],
    teacher: Teacher,
    cache: Path,
    limit: int | None = None,
    seed: int = 0,
    report: Callable[[str], None] | None = None,
) -> tuple[list[Example], list[Example]]:
    """Examples to learn from, and those of every eighth real object to watch; nothing is watched of a search."""
    train: list[Example] = []
    watch: list[Example] = []
    for folder in folders:
        things = _some_things(folder, limit, seed)
        aside = _aside(things, teacher)
        for example in prepare(things, teacher, cache, report):
            name, version = example.name.rsplit(".", 1)
            if name not in aside:
                train.append(example)
            elif version == "rest":
                watch.append(example)
    return train, watch


def watched_things(
    folders: Iterable[str | Path], teacher: Teacher, limit: int | None = None, seed: int = 0
) -> list[Thing]:
    """The objects that ``split_examples`` keeps aside."""
    found: list[Thing] = []
    for folder in folders:
        things = _some_things(folder, limit, seed)
        aside = _aside(things, teacher)
        found += [thing for thing in things if thing.name in aside]
    return found


def _some_things(folder: str | Path, limit: int | None, seed: int) -> list[Thing]:
    things = find_things(folder)
    if limit is None or limit >= len(things):
        return things
    return [things[int(i)] for i in np.sort(np.random.default_rng(seed).permutation(len(things))[:limit])]


def _aside(things: list[Thing], teacher: Teacher) -> set[str]:
    return set(sorted(thing.name for thing in things if thing.is_real)[4::8]) if teacher == "joints" else set()


def prepare(
    things: Iterable[Thing], teacher: Teacher, cache: Path, report: Callable[[str], None] | None = None
) -> Iterator[Example]:
    """Examples, computed once and kept in a folder; objects that fail or are no puzzle are told and left out."""
    for thing in things:
        path = cache / f"{thing.name}.{teacher}.{VERSION}.npz"
        if not path.exists():
            try:
                made = make_examples(thing, teacher)
            except (NeurokError, ValueError, np.linalg.LinAlgError) as error:
                made = []
                if report is not None:
                    report(f"{thing.name} is left out: {error}")
            cache.mkdir(parents=True, exist_ok=True)
            write_files(path, {path.name: encode(made)})
        for example in decode(path):
            if 2 <= len(example.clouds.parts) <= MOST_PARTS:
                yield example


def encode(examples: list[Example]) -> bytes:
    """Examples as one NPZ file."""
    arrays: dict[str, np.ndarray] = {"names": np.array([example.name for example in examples], dtype=str)}
    for k, example in enumerate(examples):
        arrays[f"{k}.is_real"] = np.array(example.is_real)
        for noun in (example.clouds, example.labels):
            for field in fields(noun):
                value = np.asarray(getattr(noun, field.name))
                arrays[f"{k}.{field.name}"] = value.astype(np.float32) if value.dtype == np.float64 else value
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def decode(path: Path) -> list[Example]:
    with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as arrays:
        found = []
        for k, name in enumerate(arrays["names"]):
            take = lambda noun, k=k: {f.name: arrays[f"{k}.{f.name}"] for f in fields(noun)}  # noqa: E731
            clouds = take(PartClouds)
            clouds["scale"] = float(clouds["scale"])
            labels = Labels(**take(Labels))
            found.append(Example(str(name), PartClouds(**clouds), labels, bool(arrays[f"{k}.is_real"])))
        return found
