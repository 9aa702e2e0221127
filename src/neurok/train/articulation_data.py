"""Examples of parts and their joints: annotated ones, and ones that the search alone has labelled."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neurok.articulation.features import PartClouds, describe_parts
from neurok.articulation.network import KINDS, SLIDE, TURN
from neurok.articulation.views import Labels, labels_of, make_labels
from neurok.bodyplan.bodies import find_parts
from neurok.bodyplan.search import search_joints
from neurok.core import Articulation, Joint, Mesh
from neurok.data.shards import MANIFEST, Item, ShardSet
from neurok.data.still import UNSEEN_FAMILIES, category, hold_out, object_name
from neurok.errors import NeurokError
from neurok.io.files import read_bytes
from neurok.io.partnet import MOBILITY
from neurok.train.articulation_versions import pieces, posed
from neurok.train.deformation_data import licenses_of
from neurok.train.example_cache import make_once

Teacher = Literal["joints", "search"]
VERSION = 2
"""Of prepared examples; those of others are made anew."""

SELF_MADE = "joints"
"""Word of the provenance of an object whose joints were found, not known; they teach nothing that we do not know."""


@dataclass(frozen=True)
class JointDataConfig:
    """What to learn joints from; numbers without another word are set by hand."""

    folders: tuple[str, ...]
    """Data sets made by ``neurok data build``, or folders of files."""

    teacher: Teacher = "joints"
    """Learn the joints that the data has, or (labels hidden) whatever the search holds valid."""

    limit: int | None = None
    """At most so many objects of each data set, drawn at random but always the same ones."""

    leave_out: tuple[str, ...] = ()
    """Categories, generated families and objects not to learn from."""

    everything: bool = False
    """Learn from held-out objects too."""

    most_parts: int = 24
    """Objects of more parts are not learned from: attention grows with their square."""

    most_candidates: int = 40
    """Of each part; a search holds hundreds valid, most of them hardly likely."""

    aside_every: int = 8
    """Of so many real objects, sorted by name, one is watched and calibrated with, not learned from ..."""

    aside_first: int = 4
    """... beginning with this one."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise NeurokError(f"limit must be at least 1, got {self.limit}.")


@dataclass(frozen=True, eq=False)
class Example:
    """One object, or one state of it, and what is known of its joints."""

    name: str
    clouds: PartClouds
    labels: Labels
    is_real: bool
    source: int = 0
    """Which of the data sets it is from."""

    @property
    def object(self) -> str:
        """The name of the object without that of its version."""
        return self.name.rsplit(".", 1)[0]

    @property
    def version(self) -> str:
        """``rest``, ``posed``, ``pieces`` or ``search``."""
        return self.name.rsplit(".", 1)[1]


@dataclass(frozen=True)
class Thing:
    """An object that becomes examples when its turn comes."""

    name: str
    is_real: bool
    load: Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]
    """The mesh with its parts, and its joints if it has any that are known: those that we found ourselves are not."""


def find_things(folder: str | Path, everything: bool = False) -> list[Thing]:
    """The objects of a data set, or of a folder of files, that may be trained on: held-out ones only if asked for."""
    if "://" in str(folder) or (Path(folder) / MANIFEST).exists():
        return _from_shards(folder, everything)
    paths = _files(folder)
    training = sorted(paths) if everything else hold_out(paths)[0]
    if not training:
        raise NeurokError(f"'{folder}' holds no objects to train on: neither a data set nor .npz, .glb or .urdf files.")
    return [Thing(name, True, _file_loader(paths[name])) for name in training]


def describe_data(folder: str | Path) -> dict[str, Any]:
    """Name, number of objects and licences of a data set or a folder of files, for the card of what learns from it."""
    if "://" in str(folder) or (Path(folder) / MANIFEST).exists():
        return licenses_of(folder)
    from neurok.io import load as load_asset

    paths = _files(folder)
    terms = load_asset(next(iter(paths.values()))).provenance.get("license", "not stated in the files")
    return {"name": Path(folder).name, "items": len(paths), "licenses": {terms: len(paths)}}


def _files(folder: str | Path) -> dict[str, Path]:
    """Files by their names, and PartNet-Mobility folders by theirs."""
    endings = (".npz", ".glb", ".gltf", ".urdf", ".obj")
    whole = {path.parent for path in Path(folder).rglob(MOBILITY)}
    files = (path for path in sorted(Path(folder).rglob("*")) if path.suffix in endings)
    return {path.stem: path for path in files if not whole & set(path.parents)} | {path.name: path for path in whole}


def _file_loader(path: Path) -> Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.io import load as load_asset

        asset = load_asset(path)
        if asset.articulation is not None and SELF_MADE not in asset.provenance:
            return asset.articulation.mesh, asset.articulation.joints
        return find_parts(asset), None

    return load


def _from_shards(folder: str | Path, everything: bool) -> list[Thing]:
    things: list[Thing] = []
    real: list[Thing] = []
    for item in ShardSet.open(folder):
        is_held_out = item.info["family"] in UNSEEN_FAMILIES and not everything
        if item.info["kind"] != "articulated" or is_held_out:
            continue

        def load(item=item) -> tuple[Mesh, tuple[Joint, ...] | None]:  # type: ignore[no-untyped-def]
            joints = item.asset().articulation
            return joints.mesh, None if SELF_MADE in item.info["provenance"] else joints.joints

        is_real = not item.info["source"].startswith("neurok")
        name = object_name(item.info["source"]) if is_real else _generated_name(item)
        (real if is_real else things).append(Thing(name, is_real, load))
    names = [thing.name for thing in real]
    training = set(names if everything else hold_out(names)[0])
    return things + [thing for thing in real if thing.name in training]


def _generated_name(item: Item) -> str:
    """Family and seed, so that two generated data sets can share prepared examples; samples have no seed."""
    seed = item.info["provenance"].get("seed", str(item.index))
    return f"{item.info['family']}_{seed.replace('/', '-')}"


def make_examples(thing: Thing, config: JointDataConfig) -> list[Example]:
    """From true joints: as stored, in another state, and cut into connected pieces; from the search: as stored."""
    mesh, joints = thing.load()
    if config.teacher == "search":
        clouds = describe_parts(mesh)
        labels = search_labels(clouds, mesh, config.most_candidates)
        return [Example(f"{thing.name}.search", clouds, labels, thing.is_real)]
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


def search_labels(clouds: PartClouds, mesh: Mesh, most: int) -> Labels:
    """What the search holds valid, the best ``most`` of each part, weighted by its scores."""
    search = search_joints(mesh)
    row_of = {int(part): row for row, part in enumerate(clouds.parts)}
    kinds, parents = np.zeros((len(row_of), len(KINDS))), np.full(len(row_of), -1)
    rows, weights = [], []
    for part, row in row_of.items():
        above = search.parents[part]
        parents[row] = row if above < 0 else row_of.get(above, -1)
        if above < 0:
            kinds[row, 0] = 1.0
        for candidate in search.hypotheses[part][:most]:
            kinds[row, KINDS.index(candidate.kind)] += candidate.probability
            if candidate.kind == "fixed":
                continue
            move = SLIDE if candidate.kind == "prismatic" else TURN
            scale = 1.0 if move == TURN else clouds.scale
            ends = (candidate.lower / scale, candidate.upper / scale)
            limits = ends if candidate.kind in ("revolute", "prismatic") else (np.nan, np.nan)
            rows.append((row, move, clouds.turn @ candidate.axis, clouds.to_box(candidate.origin), limits))
            weights.append(candidate.probability)
    kinds /= np.maximum(kinds.sum(axis=1, keepdims=True), 1e-12)
    return make_labels(kinds, parents, rows, weights)


@dataclass(frozen=True, eq=False)
class Split:
    """Examples to learn from, and real objects as stored to watch: of every eighth, and of categories left out."""

    train: list[Example]
    watch: list[Example]
    left_out: list[Example]


def split_examples(config: JointDataConfig, cache: Path, report: Callable[[str], None] | None = None) -> Split:
    """What the data sets hold; nothing is watched of a search."""
    split = Split([], [], [])
    left, known = {_plain(name) for name in config.leave_out}, set[str]()
    for source, folder in enumerate(config.folders):
        things = some_things(folder, config.limit, everything=config.everything)
        aside = _aside(folder, config)
        for example in prepare(things, config, cache, report):
            known |= _names(example.object)
            if left & _names(example.object):
                if example.is_real and example.version == "rest":
                    split.left_out.append(example)
            elif example.object not in aside:
                split.train.append(replace(example, source=source))
            elif example.version == "rest":
                split.watch.append(example)
    if missing := [name for name in config.leave_out if _plain(name) not in known]:
        kinds = sorted({_plain(category(example.name)) for example in split.train})
        raise NeurokError(f"There is no object or category '{missing[0]}' to leave out; known categories are {kinds}.")
    return split


def _names(name: str) -> set[str]:
    """What an object can be left out by: its own name and that of its category."""
    return {_plain(name), _plain(category(name))}


def _plain(name: str) -> str:
    """``trashcan`` of ``TrashCan`` and of ``trash_can``, so that a category and its generated family are one."""
    return name.replace("_", "").lower()


def watched_things(config: JointDataConfig) -> list[Thing]:
    """The objects that ``split_examples`` keeps aside to watch."""
    found: list[Thing] = []
    for folder in config.folders:
        aside = _aside(folder, config)
        some = some_things(folder, config.limit, config.leave_out, config.everything)
        found += [thing for thing in some if thing.name in aside]
    return found


def some_things(
    folder: str | Path, limit: int | None, leave_out: Sequence[str] = (), everything: bool = False
) -> list[Thing]:
    """At most so many, drawn at random but always the same ones, so that runs with other seeds find them prepared."""
    things = find_things(folder, everything)
    if limit is not None and limit < len(things):
        things = [things[int(i)] for i in np.sort(np.random.default_rng(0).permutation(len(things))[:limit])]
    left = {_plain(name) for name in leave_out}
    return [thing for thing in things if not left & _names(thing.name)]


def _aside(folder: str | Path, config: JointDataConfig) -> set[str]:
    """Names of the objects of a data set that are watched, held-out ones never among them."""
    if config.teacher == "search":
        return set()
    names = sorted(thing.name for thing in some_things(folder, config.limit) if thing.is_real)
    return set(names[config.aside_first :: config.aside_every])


def prepare(
    things: Iterable[Thing], config: JointDataConfig, cache: Path, report: Callable[[str], None] | None = None
) -> Iterator[Example]:
    """Examples, computed once and kept in a folder; objects that fail or are no puzzle are told and left out."""
    for thing in things:
        path = cache / f"{thing.name}.{config.teacher}.{VERSION}.npz"
        make_once(path, partial(make_examples, thing, config), encode, thing.name, report)
        for example in decode(path):
            if 2 <= len(example.clouds.parts) <= config.most_parts:
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
