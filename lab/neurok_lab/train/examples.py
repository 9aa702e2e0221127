"""Examples of parts with their joints, and of pieces with their bodies: where objects come from, what they become, and
how that is kept on disk."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from jaxtyping import Int

from neurok.bodyplan.bodies import find_parts
from neurok.bodyplan.search import search_joints
from neurok.core import Articulation, Joint, Mesh
from neurok.errors import NeurokError
from neurok.io import load as load_asset
from neurok.io.files import read_bytes, write_files
from neurok.io.partnet import MOBILITY
from neurok.learned.joint_network import KINDS, SLIDE, TURN
from neurok.learned.part_features import PartClouds, describe_parts
from neurok.learned.part_views import Labels, labels_of, make_labels
from neurok_lab.data.shards import MANIFEST, Item, ShardSet
from neurok_lab.data.still import (
    UNSEEN_FAMILIES,
    category,
    hold_out,
    moving_files,
    named_files,
    named_joints,
    object_name,
    static_files,
)
from neurok_lab.train.deformation import licenses_of
from neurok_lab.train.versions import FORMS, Form, PieceDataConfig, drawn_pieces, pieces, plain_pieces, posed

Teacher = Literal["joints", "search"]
Source = Literal["real", "generated", "static"]
SOURCES: tuple[Source, ...] = ("real", "generated", "static")
Loaded = tuple[Mesh, tuple[Joint, ...] | None]
Report = Callable[[str], None]

JOINT_VERSION, PIECE_VERSION = 2, 4
"""Of prepared examples; those of others are made anew."""

SELF_MADE = "joints"
"""Word of the provenance of an object whose joints were found, not known; they teach nothing that we do not know."""


@dataclass(frozen=True)
class Thing:
    """An object that becomes examples when its turn comes."""

    name: str
    source: Source
    load: Callable[[], Loaded]
    """The mesh with its parts, and its joints if any are known: those that we found ourselves are not, and what stands
    still has none."""

    @property
    def is_real(self) -> bool:
        return self.source == "real"

    @property
    def rng(self) -> np.random.Generator:
        """Randomness that follows from the name alone."""
        return np.random.default_rng(int(hashlib.sha256(self.name.encode()).hexdigest()[:12], 16))


def find_things(folder: str | Path, everything: bool = False) -> list[Thing]:
    """The objects of a data set, or of a folder of files, that may be trained on: held-out ones only if asked for."""
    if "://" in str(folder) or (Path(folder) / MANIFEST).exists():
        return _from_shards(folder, everything)
    paths = _files(folder)
    training = sorted(paths) if everything else hold_out(paths)[0]
    if not training:
        raise NeurokError(f"'{folder}' holds no objects to train on: neither a data set nor .npz, .glb or .urdf files.")
    return [Thing(name, "real", partial(_read, paths[name])) for name in training]


def describe_data(folder: str | Path) -> dict[str, Any]:
    """Name, number of objects and licences of a data set or a folder of files, for the card of what learns from it."""
    if "://" in str(folder) or (Path(folder) / MANIFEST).exists():
        return licenses_of(folder)
    paths = _files(folder)
    terms = load_asset(next(iter(paths.values()))).provenance.get("license", "not stated in the files")
    return {"name": Path(folder).name, "items": len(paths), "licenses": {terms: len(paths)}}


def _files(folder: str | Path) -> dict[str, Path]:
    """Files by their names, and PartNet-Mobility folders by theirs."""
    endings = (".npz", ".glb", ".gltf", ".urdf", ".obj")
    whole = {path.parent for path in Path(folder).rglob(MOBILITY)}
    files = (path for path in sorted(Path(folder).rglob("*")) if path.suffix in endings)
    return {path.stem: path for path in files if not whole & set(path.parents)} | {path.name: path for path in whole}


def _read(path: Path) -> Loaded:
    asset = load_asset(path)
    if asset.articulation is not None and SELF_MADE not in asset.provenance:
        return asset.articulation.mesh, asset.articulation.joints
    return find_parts(asset), None


def _from_shards(folder: str | Path, everything: bool) -> list[Thing]:
    things: list[Thing] = []
    real: list[Thing] = []
    for item in ShardSet.open(folder):
        is_held_out = item.info["family"] in UNSEEN_FAMILIES and not everything
        if item.info["kind"] != "articulated" or is_held_out:
            continue
        if item.info["source"].startswith("neurok"):
            things.append(Thing(_generated_name(item), "generated", partial(_of_item, item)))
        else:
            real.append(Thing(object_name(item.info["source"]), "real", partial(_of_item, item)))
    names = [thing.name for thing in real]
    training = set(names if everything else hold_out(names)[0])
    return things + [thing for thing in real if thing.name in training]


def _of_item(item: Item) -> Loaded:
    joints = item.asset().articulation
    assert joints is not None
    return joints.mesh, None if SELF_MADE in item.info["provenance"] else joints.joints


def _generated_name(item: Item) -> str:
    """Family and seed, so that two generated data sets can share prepared examples; samples have no seed."""
    seed = item.info["provenance"].get("seed", str(item.index))
    return f"{item.info['family']}_{seed.replace('/', '-')}"


Made = TypeVar("Made", bound="Example | PieceExample")


def prepared(
    path: Path, kind: type[Made], make: Callable[[], list[Made]], name: str, report: Report | None = None
) -> list[Made]:
    """What an object gives to learn from, computed once and kept in a file; one that fails is told, and gives none."""
    if not path.exists():
        try:
            made = make()
        except (NeurokError, ValueError, np.linalg.LinAlgError) as error:
            made = []
            if report is not None:
                report(f"{name} is left out: {error}")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files(path, {path.name: encode(made)})
    return decode(path, kind)


NOUNS = {"clouds": PartClouds, "labels": Labels}
"""Fields of examples that are made of arrays themselves; an example is stored with their fields beside its own."""


def encode(examples: Sequence[Example | PieceExample]) -> bytes:
    """Examples as one NPZ file."""
    arrays: dict[str, np.ndarray] = {"names": np.array([example.name for example in examples], dtype=str)}
    for k, example in enumerate(examples):
        for noun in (example, *(getattr(example, name) for name in NOUNS if hasattr(example, name))):
            for field in fields(noun):
                if field.name not in (*NOUNS, "name", "folder"):
                    value = np.asarray(getattr(noun, field.name))
                    arrays[f"{k}.{field.name}"] = value.astype(np.float32) if value.dtype == np.float64 else value
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def decode(path: Path, kind: type[Made]) -> list[Made]:
    """The examples of a file."""
    with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as arrays:

        def take(noun: Any, k: int) -> dict[str, Any]:
            """Arrays by the names of fields; single values as what they are."""
            names = [field.name for field in fields(noun) if f"{k}.{field.name}" in arrays]
            found = {name: arrays[f"{k}.{name}"] for name in names}
            return {name: value if value.ndim else value.item() for name, value in found.items()}

        names = {field.name for field in fields(kind)}
        return [
            kind(
                name=str(name), **take(kind, k), **{n: noun(**take(noun, k)) for n, noun in NOUNS.items() if n in names}
            )
            for k, name in enumerate(arrays["names"])
        ]


MOST_PARTS = 24  # objects of more parts are not learned from: attention grows with their square
MOST_CANDIDATES = 40  # of each part; a search holds hundreds valid, most of them hardly likely
ASIDE_FIRST, ASIDE_EVERY = 4, 8
"""Of so many real objects, sorted by name, one is watched and calibrated with, not learned from: this one first."""


@dataclass(frozen=True)
class JointDataConfig:
    """What to learn joints from."""

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
    folder: int = 0
    """Which of the data sets it is from."""

    @property
    def object(self) -> str:
        """The name of the object without that of its version."""
        return self.name.rsplit(".", 1)[0]

    @property
    def version(self) -> str:
        """``rest``, ``posed``, ``pieces`` or ``search``."""
        return self.name.rsplit(".", 1)[1]


def joint_examples(thing: Thing, config: JointDataConfig) -> list[Example]:
    """From true joints: as stored, in another state, and cut into connected pieces; from the search: as stored."""
    mesh, joints = thing.load()
    if config.teacher == "search":
        clouds = describe_parts(mesh)
        labels = search_labels(clouds, mesh)
        return [Example(f"{thing.name}.search", clouds, labels, thing.is_real)]
    if joints is None:
        return []
    rng = thing.rng
    versions = [("rest", mesh, joints), ("posed", *posed(Articulation(mesh, joints), rng))]
    if thing.is_real:  # the pieces of generated objects tell little: their details are connected to what carries them
        versions.append(("pieces", *pieces(mesh, joints)))
    found = []
    for label, shape, links in versions:
        clouds = describe_parts(shape)
        found.append(Example(f"{thing.name}.{label}", clouds, labels_of(clouds, links), thing.is_real))
    return found


def search_labels(clouds: PartClouds, mesh: Mesh) -> Labels:
    """What the search holds valid, the best of each part, weighted by its scores."""
    search = search_joints(mesh)
    row_of = {int(part): row for row, part in enumerate(clouds.parts)}
    kinds, parents = np.zeros((len(row_of), len(KINDS))), np.full(len(row_of), -1)
    rows, weights = [], []
    for part, row in row_of.items():
        above = search.parents[part]
        parents[row] = row if above < 0 else row_of.get(above, -1)
        if above < 0:
            kinds[row, 0] = 1.0
        for candidate in search.hypotheses[part][:MOST_CANDIDATES]:
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
class ExampleSplit:
    """Examples to learn from, and real objects as stored to watch: of every eighth, and of categories left out."""

    train: list[Example]
    watch: list[Example]
    left_out: list[Example]


def split_examples(config: JointDataConfig, cache: Path, report: Report | None = None) -> ExampleSplit:
    """What the data sets hold; nothing is watched of a search."""
    split = ExampleSplit([], [], [])
    left, known = {_plain(name) for name in config.leave_out}, set[str]()
    for place, folder in enumerate(config.folders):
        things = some_things(folder, config.limit, everything=config.everything)
        aside = _aside(folder, config)
        for example in prepare_joints(things, config, cache, report):
            known |= _names(example.object)
            if left & _names(example.object):
                if example.is_real and example.version == "rest":
                    split.left_out.append(example)
            elif example.object not in aside:
                split.train.append(replace(example, folder=place))
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
    return set(names[ASIDE_FIRST::ASIDE_EVERY])


def prepare_joints(
    things: Iterable[Thing], config: JointDataConfig, cache: Path, report: Report | None = None
) -> Iterator[Example]:
    """Examples of objects, kept in a folder; those that fail or are no puzzle are told and left out."""
    for thing in things:
        path = cache / f"{thing.name}.{config.teacher}.{JOINT_VERSION}.npz"
        for example in prepared(path, Example, partial(joint_examples, thing, config), thing.name, report):
            if 2 <= len(example.clouds.parts) <= MOST_PARTS:
                yield example


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


def piece_examples(thing: Thing, config: PieceDataConfig) -> list[PieceExample]:
    """Versions of an object; the same name gives the same ones."""
    mesh, joints = thing.load()
    rng, found = thing.rng, [plain_pieces(mesh, joints)]
    count, handles = (some[SOURCES.index(thing.source)] for some in (config.versions, config.handles))
    for version in range(1, count):
        shape, links = mesh, joints
        if links is not None and rng.random() < config.posed:
            shape, links = posed(Articulation(mesh, links), rng)
        found.append(drawn_pieces(shape, links, rng, config, version >= count - handles))
    names = (f"{thing.name}.{number}" for number in range(len(found)))
    source: Source = "static" if joints is None else thing.source
    return [PieceExample(name, *one, source) for name, one in zip(names, found, strict=True) if one is not None]


def plain_examples(thing: Thing, forms: Sequence[Form] = FORMS) -> list[PieceExample]:
    """An object as its file has it in several forms, called by their names; what has one piece is left out."""
    mesh, joints = thing.load()
    forms = [form for form in forms if form != "named" or mesh.part_ids is not None]
    found = [(form, plain_pieces(mesh, joints, form)) for form in forms]
    return [PieceExample(f"{thing.name}.{form}", *one, thing.source) for form, one in found if one is not None]


def prepare_pieces(
    things: Iterable[Thing], config: PieceDataConfig | None, cache: Path, report: Report | None = None
) -> Iterator[PieceExample]:
    """Examples of objects, kept in a folder; those that fail are told and left out. Without a configuration they are as
    their files have them, in all forms."""
    for thing in things:
        path = cache / f"{thing.source}.{thing.name}.{PIECE_VERSION}{'.plain' if config is None else ''}.npz"
        make = partial(plain_examples, thing) if config is None else partial(piece_examples, thing, config)
        yield from prepared(path, PieceExample, make, thing.name, report)


SEED = 19  # of generated objects to learn pieces from
WATCH_EVERY = 10  # of so many static files to learn from one is watched instead


@dataclass(frozen=True)
class PieceSources:
    """Folders and numbers of what to learn from; held-out objects, categories and families are not read."""

    annotated: tuple[str, ...] = ()
    """Folders of objects with true joints."""

    static: tuple[str, ...] = ()
    """Folders of objects that stand still; every fifth of each is kept aside."""

    named: tuple[str, ...] = ()
    """Folders of objects whose files name their doors and drawers; every fifth of each is watched instead."""

    unlabelled: tuple[str, ...] = ()
    """Folders of objects of which some may move; where the plan is sure, its answers are labels (self-training)."""

    sure: float = 0.75
    """Probability of all that a plan says, from which on it is a label: that nothing moves, or that something does and
    of every joint. What it brings is in docs/lab/notebook_joints.md."""

    generated: int = 4
    """Objects of each generated family."""

    leave_out: tuple[str, ...] = ()
    """Categories of annotated objects that are watched instead, so that settings can be chosen for new ones."""

    everything: bool = False
    """Learn from held-out objects and files too: for use, with nothing left to measure by."""


def training_things(sources: PieceSources) -> list[Thing]:
    """What is learned from."""
    aside = {thing.name for thing in watched(sources)}
    found: list[Thing] = []
    for folder in sources.annotated:
        found += [replace(thing, source="real") for thing in find_things(folder, sources.everything)]
    for folder in sources.static:
        learned, kept = static_files(folder)
        found += [_of_file(path, "static", _still) for path in (*learned, *(kept if sources.everything else ()))]
    for folder in sources.named:
        found += [_of_file(path, "real", _named) for path in named_files(folder)[0]]
    known = aside | {thing.name for thing in found}
    for folder in sources.unlabelled:
        some = [_of_file(path, "real", partial(_self_labelled, sources=sources)) for path in moving_files(folder)]
        found += [thing for thing in some if thing.name not in known]
    found = [thing for thing in found if thing.name not in aside]
    return found + list(_generated(sources))


def watched(sources: PieceSources) -> list[Thing]:
    """What is watched and calibrated with: annotated objects that the articulation network keeps aside as well, some
    that name what moves, and some static ones."""
    annotated = watched_things(JointDataConfig(sources.annotated)) if sources.annotated else []
    found = [replace(thing, source="real") for thing in annotated]
    for folder in sources.annotated:
        left = (thing for thing in find_things(folder) if category(thing.name) in sources.leave_out)
        known = {thing.name for thing in found}
        found += [replace(thing, source="real") for thing in left if thing.name not in known]
    for folder in sources.static:
        found += [_of_file(path, "static", _still) for path in static_files(folder)[0][::WATCH_EVERY]]
    for folder in sources.named:
        found += [_of_file(path, "real", _named) for path in named_files(folder)[1]]
    return found


def _of_file(path: Path, source: Source, read: Callable[[Path], Loaded]) -> Thing:
    return Thing(f"{path.parent.name}_{path.stem}", source, partial(read, path))


def _still(path: Path) -> Loaded:
    return load_asset(path).mesh, None


def _named(path: Path) -> Loaded:
    mesh = load_asset(path).mesh
    return mesh, named_joints(mesh, path.stem)


def _self_labelled(path: Path, sources: PieceSources) -> Loaded:
    """An object with the joints of its own plan, by networks that know no held-out object unless all may be known."""
    from neurok.inference.plan import study

    twin = "" if sources.everything else "_held_out"
    found = study(
        load_asset(path).mesh,
        joint_weights=f"articulation{twin}",
        piece_weights=f"pieces{twin}",
        given_parts=False,
    )
    chance = found.groups.chance if found.groups is not None else 0.5
    joints = [body.joint.probability for body in found.plan.moving if body.joint is not None]
    if joints and min(*joints, chance) >= sources.sure:
        return found.plan.mesh, found.plan.articulation.joints
    if chance <= 1.0 - sources.sure:
        return found.plan.mesh, None
    raise NeurokError(f"'{path.name}' is not learned from: its plan is not sure of what moves.")


def _generated(sources: PieceSources) -> Iterator[Thing]:
    from neurok.catalogue import MOVING_TEN, SOFT_TWELVE
    from neurok_lab.worlds.articulated import FAMILIES

    for index in range(sources.generated):
        for family in FAMILIES:
            if sources.everything or family not in UNSEEN_FAMILIES:
                yield Thing(f"{family}_{SEED}-{index}", "generated", partial(_family, family, SEED, index))
        for kinds, source in ((MOVING_TEN, SOURCES[1]), (SOFT_TWELVE, SOURCES[2])):
            for kind in kinds:
                yield Thing(f"household {kind}_{SEED}-{index}", source, partial(_household, kind, SEED, index))


def _family(name: str, seed: int, index: int) -> Loaded:
    from neurok_lab.worlds.articulated import generate

    asset = generate(name, seed, index)[0]
    if asset is None or asset.articulation is None:
        raise NeurokError(f"No object {index} of the family {name} passes its checks.")
    return asset.articulation.mesh, asset.articulation.joints


def _household(kind: str, seed: int, index: int) -> Loaded:
    from neurok.catalogue import asset_of, generate

    asset = asset_of(generate(kind, seed, index)[0])
    return asset.mesh, None if asset.articulation is None else asset.articulation.joints
