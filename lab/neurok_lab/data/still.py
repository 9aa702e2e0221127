"""Real objects on disk: where data sets lie, which are never trained on, files that move or stand still.

Finding joints is not the business of this room: it is told by whom (``JointFinder``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

from neurok.core import Asset, Joint, Mesh
from neurok.core.articulation import JointKind
from neurok.errors import NeurokError
from neurok.io import load
from neurok.io.formats import MESHES

VARIABLE = "NEUROK_DATA"


def data_folder(flag: Path | None, inside: str = "") -> Path:
    """The folder of data sets, or the folder ``inside`` it; one sentence when it is not there."""
    given = flag if flag is not None else os.environ.get(VARIABLE, "")
    if not str(given):
        raise NeurokError(f"No data folder was given; pass --data FOLDER or set the environment variable {VARIABLE}.")
    folder = Path(given).expanduser() / inside
    if not folder.is_dir():
        origin = "--data" if flag is not None else VARIABLE
        raise NeurokError(f"There is no folder '{folder}'; {origin} must name a folder of data sets.")
    return folder


UNSEEN_CATEGORIES = ("Cart", "Dishwasher", "KitchenPot")
"""Held out whole, so that results on them tell about categories the model has never met."""

UNSEEN_FAMILIES = (
    "cart", "dishwasher", "pot", "book", "crane", "toaster", "windmill", "quadruped", "bag", "curtain", "jelly",
)  # fmt: skip
"""Generated families held out whole; the first three are the unseen categories again, so that those stay unseen."""


def hold_out(names: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """Names like ``Laptop_10125`` for training, for testing in seen categories, and in unseen ones.

    Every fifth name of the sorted list is held out, besides the unseen categories.
    """
    ordered = sorted({PurePath(name).stem for name in names})
    unseen = [name for name in ordered if category(name) in UNSEEN_CATEGORIES]
    seen = [name for place, name in enumerate(ordered) if place % 5 == 0 and name not in set(unseen)]
    held = {*unseen, *seen}
    return [name for name in ordered if name not in held], seen, unseen


def object_name(source: str) -> str:
    """``Box_658`` of where an item comes from: the path of a file, or 'PartNet-Mobility' and the name of its folder."""
    return PurePath(source).stem.removeprefix("PartNet-Mobility ")


def category(name: str) -> str:
    """``Laptop`` of ``Laptop_10125``, ``Dishwasher`` of ``Dishwasher_maker_dishwasher-1``."""
    return PurePath(name).stem.split("_", 1)[0]


ENDINGS = (".glb", ".gltf", ".obj")

OPENING = (
    "antenna", "bin", "blender", "briefcase", "cabinet", "ceilingfan", "closed", "coffeemachine", "computer",
    "cupboard", "curtain", "deck", "desk", "door", "drawer", "dryer", "fan", "folding", "fridge", "futon", "high_chair",
    "junior", "captains", "kitchen", "laptop", "light", "lamp", "microwave", "mirror", "nightstand", "office", "oven",
    "pool", "radio", "refrigerator", "relax", "rocking", "shower", "sidetable", "sink", "stove", "suitcase",
    "television", "toilet", "trash", "wardrobe", "wash", "window", "bouncer", "lever", "mech_pack", "spiketrap",
    "tank_pack",
)  # fmt: skip
"""Words of file names whose objects open, turn or slide, or may: they are neither taught nor counted as static."""


def static_files(folder: str | Path) -> tuple[list[Path], list[Path]]:
    """Files of a folder whose names tell of nothing that moves: those to learn from, and every fifth, kept aside."""
    root = Path(folder)
    found = sorted(path for path in root.rglob("*") if path.suffix in ENDINGS and not _may_move(path.stem))
    if not found:
        raise NeurokError(f"'{folder}' holds no static objects: no .glb, .gltf or .obj file of such a name.")
    kept = [path for place, path in enumerate(found) if place % 5 == 0]
    return [path for path in found if path not in set(kept)], kept


def moving_files(folder: str | Path) -> list[Path]:
    """Files of a folder whose names tell of something that may move; how is not known."""
    return sorted(path for path in Path(folder).rglob("*") if path.suffix in ENDINGS and _may_move(path.stem))


def _may_move(name: str) -> bool:
    plain = name.lower()
    return any(re.search(word, plain) for word in OPENING)


MOVING: dict[str, JointKind] = {"door": "revolute", "drawer": "prismatic"}
"""Words in names of parts, and how such parts move."""

SURFACE = re.compile(r"[_|][^_|]*$")
"""End of a name that tells one surface of a part from another."""


def named_files(folder: str | Path) -> tuple[list[Path], list[Path]]:
    """Files of a folder that name something that moves: those to learn from, and every fifth, kept aside."""
    found = []
    for path in sorted(path for path in Path(folder).rglob("*") if path.suffix in ENDINGS):
        try:
            mesh = load(path).mesh
        except NeurokError:
            continue
        if named_joints(mesh, path.stem) is not None:
            found.append(path)
    if not found:
        raise NeurokError(f"'{folder}' holds no object with parts named as {' or '.join(MOVING)}.")
    return [path for place, path in enumerate(found) if place % 5], found[::5]


def named_joints(mesh: Mesh, name: str) -> tuple[Joint, ...] | None:
    """Joints of an object by the names of its parts, without axes and room to move; nothing where no part is named so.

    Parts that differ in the end of their names only are one body. A part that is called as the object is its base.
    """
    if mesh.part_ids is None:
        return None
    bodies = [SURFACE.sub("", part) for part in mesh.part_names]
    kinds = {body: None if body.lower() == name.lower() else _kind(body) for body in bodies}
    if all(kinds.values()) or not any(kinds.values()):
        return None
    base = next(part for part, body in enumerate(bodies) if kinds[body] is None)
    joints = []
    for part, body in enumerate(bodies):
        kind, first = kinds[body], bodies.index(body)
        if part == base:
            joints.append(Joint("fixed", -1))
        elif kind is None or part != first:
            joints.append(Joint("fixed", base if kind is None else first))
        else:
            joints.append(Joint(kind, base, lower=0.0, upper=0.0))
    return tuple(joints)


def _kind(body: str) -> JointKind | None:
    return next((kind for word, kind in MOVING.items() if word in body.lower()), None)


SINGLE_FILES = (".npz", ".urdf", ".xml", ".mjcf", ".glb", ".gltf", ".usd", ".usda", ".usdc")
SEQUENCES = (".obj", ".ply")
UNKNOWN_LICENSE = "unknown: as given with the source"
MOVES_ALREADY = "source that moves already: it belongs to --add"


@runtime_checkable
class JointFinder(Protocol):
    """Finds joints for an object that has none; a pure function that can be pickled."""

    @property
    def name(self) -> str:
        """What it is, so that a build is not finished by another one than began it."""
        ...

    def __call__(self, asset: Asset) -> tuple[Asset | None, list[str]]:
        """The object with joints, or None; and why joints, or all of it, were turned away."""
        ...


@dataclass(frozen=True)
class StillSource:
    """One thing on disk that may hold motion, or that stands still and is given joints by a finder."""

    path: str
    finder: JointFinder | None = None
    license: str = UNKNOWN_LICENSE

    def make(self) -> tuple[list[Asset], list[str]]:
        """One asset per motion, its joints or each of its clips, and what was turned away."""
        try:
            asset = load(self.path)
        except NeurokError:
            return [], ["source that cannot be read"]
        moves = asset.articulation is not None and asset.articulation.dof
        if self.finder is not None:
            return self._with_joints(asset, self.finder) if not moves and not asset.clips else ([], [MOVES_ALREADY])
        asset = replace(asset, provenance=self._provenance(asset, "unknown"))
        if moves:
            return [replace(asset, clips=())], []
        clips = [clip for clip in asset.clips if clip.frame_count > 1]
        made = [
            replace(asset, mesh=clip.rest, clips=(clip,), articulation=None,
                    provenance={**asset.provenance, "clip": clip.name})
            for clip in clips
        ]  # fmt: skip
        return made, ([] if made else ["source without motion"])

    def _with_joints(self, asset: Asset, finder: JointFinder) -> tuple[list[Asset], list[str]]:
        found, reasons = finder(asset)
        if found is None:
            return [], reasons
        told = self._provenance(found, "self_made", joints=f"found by neurok, {finder.name}")
        return [replace(found, clips=(), provenance=told)], reasons

    def _provenance(self, asset: Asset, family: str, **more: str) -> dict[str, str]:
        family = asset.provenance.get("category", family)
        return {"family": family, "license": self.license, "source": Path(self.path).name, **more, **asset.provenance}


def find_still_sources(folders: Sequence[str | Path], finder: JointFinder) -> list[StillSource]:
    """Every mesh below the folders, in the order of their names; their joints are to be found."""
    found = []
    for folder in folders:
        root = Path(folder)
        if not root.is_dir():
            raise NeurokError(f"'{folder}' is not a folder; give one that holds meshes.")
        paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in MESHES)
        if not paths:
            raise NeurokError(f"'{folder}' holds no mesh: {', '.join(MESHES)}.")
        found += [StillSource(str(path), finder) for path in paths]
    return found


def find_sources(folder: str | Path) -> list[StillSource]:
    """Every readable asset below a folder, in the order of their names.

    A folder with ``mobility_v2.json`` is one PartNet-Mobility object; numbered ``name_0001.obj`` files are a sequence,
    unless they are the meshes of a robot file beside their folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NeurokError(f"'{folder}' is not a folder; give one that holds assets.")
    found = [StillSource(path) for path in _paths(root)]
    if not found:
        raise NeurokError(
            f"'{folder}' holds no asset that can move: {', '.join(SINGLE_FILES)}, PartNet-Mobility folders or numbered "
            "mesh sequences."
        )
    return found


def _paths(folder: Path) -> Iterator[str]:
    if (folder / "mobility_v2.json").exists():
        yield str(folder)
        return
    patterns: dict[str, None] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not _is_of_a_robot(path):
                yield from _paths(path)
        elif path.suffix.lower() in SINGLE_FILES:
            yield str(path)
        elif path.suffix.lower() in SEQUENCES:
            digits = len(path.stem) - len(path.stem.rstrip("0123456789"))
            if digits:
                patterns[str(path.with_name(f"{path.stem[:-digits]}%0{digits}d{path.suffix}"))] = None
    yield from patterns


def _is_of_a_robot(folder: Path) -> bool:
    """Whether a folder holds the meshes of a URDF or MJCF file beside it, as ours do."""
    name = folder.name.removesuffix("_meshes")
    return name != folder.name and any(
        folder.with_name(name + suffix).exists() for suffix in (".urdf", ".xml", ".mjcf")
    )
