"""What the reader of pictures learns from: renders of generated objects and of real models, on grounds of all kinds.

Real models are kept aside by the checksum of their names, one in five, whatever library they come from; Poly Haven's
and the scans are never learned from.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch.nn import functional

from neurok.catalogue.asset import asset_of
from neurok.catalogue.captions import main_part
from neurok.catalogue.categories import split_of
from neurok.catalogue.parts import Assembly
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.core import Mesh
from neurok.generation.framing import framed
from neurok.generation.picture_reader import MASK, SIDE, PictureReader, ReaderConfig
from neurok.io import load
from neurok.learned.views.trunk import CHANNELS
from neurok_lab.data.augmentation import AugmentationConfig, augment
from neurok_lab.data.household import drawn
from neurok_lab.data.household_pictures import (
    PictureConfig,
    PictureRow,
    PictureSet,
    Sitter,
    build_pictures,
    draw_views,
)
from neurok_lab.data.household_real import is_kept_aside, real_models

SEED = 11
"""Of the generated objects; those that evaluation draws have another, and other numbers."""

SORTED = ("sweethome3d", "kenney-furniture-kit", "aws-small-house", "makehuman-hats")
"""Libraries of ``household`` with a list of their categories."""

NAMED = {
    "bed": r"bed_|Bed_", "bin": r"trashcan|Trashcan|TrashCan_", "box": r"cardboardBox|Box_",
    "chair": r"armchair|chair_|Chair_|Couch_Small|Stool",
    "cabinet": r"bookcase|cabinet|Drawer|NightStand|kitchenCabinet|bathroomCabinet|Wardrobe|Bookshelf|TVCab|Storage",
    "desk": r"desk", "door": r"doorway|Door_", "fridge": r"kitchenFridge|Kitchen_Fridge|Refrigerator_",
    "lamp": r"lamp|Light_", "laptop": r"laptop|Laptop_", "love seat": r"Couch_Medium",
    "microwave": r"kitchenMicrowave|Microwave_", "pillow": r"pillow_", "plant": r"Houseplant|cactus",
    "sofa": r"couch|Couch_L", "table": r"sideTable$|table|Table_", "teddy bear": r"^bear$",
}  # fmt: skip
"""How names of models in libraries without such a list begin."""

UNSORTED = {
    "household/kenney-furniture-kit": "*.glb", "household/aws-small-house/other": "*.glb", "furniture_glb": "*.gl*",
    "articulated_packs": "*_infinigen_*.npz",
}  # fmt: skip
"""Libraries without a list: patterns of what is taken. PartNet-Mobility is left out, which allows research only."""


def category_of(stem: str) -> str | None:
    """What the name of a model says it is."""
    plain = stem.removeprefix("quaternius__")
    return next((category for category, pattern in NAMED.items() if re.match(pattern, plain)), None)


def real_sitters(data: Path) -> list[Sitter]:
    """Real models to learn from, of all libraries that are there."""
    found: dict[Path, str] = {}
    for name in SORTED:
        root = data / "household" / name
        if (root / "categories.csv").exists():
            models = [one for one in real_models(root) if one.category in CATEGORIES]
            found |= {one.path: one.category for one in models if one.is_learned}
    listed = {one.path for name in SORTED if (data / "household" / name / "categories.csv").exists()
              for one in real_models(data / "household" / name) if one.category}  # fmt: skip
    for folder, pattern in UNSORTED.items():
        for path in sorted((data / folder).rglob(pattern)):
            category = None if path in listed else category_of(path.stem)
            if category is not None and not is_kept_aside(path.name):
                found[path] = category
    return [Sitter(path.name, category, partial(_painted, path)) for path, category in found.items()]


def _painted(path: Path) -> Mesh:
    """A model of a file; one without colours has a random one on each part."""
    mesh = load(path).mesh
    if path.suffix != ".npz":
        return mesh
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    parts = np.zeros(len(mesh.vertices), dtype=int) if mesh.part_ids is None else np.asarray(mesh.part_ids)
    base, own = rng.uniform(0.02, 0.9, (2, 1, 3))
    grey = rng.uniform(0.0, 1.0)
    colours = np.where(rng.random((parts.max() + 1, 1)) < 0.6, base, rng.uniform(0.02, 0.9, (parts.max() + 1, 3)))
    colours = grey * colours.mean(axis=1, keepdims=True) + (1.0 - grey) * (0.8 * colours + 0.2 * own)
    return replace(mesh, vertex_colors=np.concatenate([colours, np.ones((len(colours), 1))], axis=1)[parts])


def generated_sitters(split: str, count: int) -> list[Sitter]:
    """The first objects of each category of one half of the data; categories take turns."""
    numbers = [k for k in range(20 * count) if split_of(k) == split][:count]
    return [Sitter(f"{c} {SEED}/{k}", c, partial(_made, c, k)) for k in numbers for c in CATEGORIES]


def _made(category: str, number: int) -> Mesh:
    return asset_of(drawn(category, SEED, number)).mesh


VIEWS, WATCHED = 3, 6
"""Pictures of each object, and watched objects of each category."""

BUSY = {"generated": 1, "real": 1, "watch": 1}
"""Pictures on grounds of all kinds, beside one as after a cut-out, that are made of each render of a store."""


def take_all(data: Path, cache: Path, objects: int, tell: Callable[[str], None]) -> None:
    """Render what is not there yet."""
    config = PictureConfig(side=SIDE, views=VIEWS)
    sets = {
        "generated": (generated_sitters("train", objects), config),
        "real": (real_sitters(data), config),
        "watch": (generated_sitters("test", min(WATCHED, objects)), replace(config, views=1)),
    }
    for name, (sitters, one) in sets.items():
        if sitters:
            tell(f"{name}: {build_pictures(cache / name, sitters, one)} pictures")


@dataclass(frozen=True, eq=False)
class Labels:
    """What is true of some pictures, row by row; of real models only the category is known."""

    category: Int[np.ndarray, " N"]
    is_listed: Bool[np.ndarray, " N"]
    counts: UInt8[np.ndarray, "N P"]
    style: Bool[np.ndarray, "N S"]
    material: Int[np.ndarray, " N"]
    proportions: Float[np.ndarray, "N 2"]
    view: Float[np.ndarray, "N 2"]
    """Azimuth and elevation [rad]."""


def labels_of(rows: Sequence[PictureRow], config: ReaderConfig) -> Labels:
    """Of the rows of a store."""
    count = len(rows)
    out = Labels(
        np.array([config.categories.index(row.category) for row in rows]),
        np.array([GENERATED.search(row.name) is not None for row in rows]),
        np.zeros((count, len(config.parts)), dtype=np.uint8),
        np.zeros((count, len(config.styles)), dtype=bool),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, 2), dtype=np.float32),
        np.zeros((count, 2), dtype=np.float32),
    )
    for number, row in enumerate(rows):
        if out.is_listed[number]:
            assembly = _assembly(row.name)
            for part in assembly.parts:
                out.counts[number, config.parts.index(part.name)] += min(part.repeat.total, 60)
            out.style[number] = [word in assembly.style for word in config.styles]
            main = assembly.parts[main_part(assembly)].appearance.visible_material
            out.material[number] = config.materials.index(main)
            size = np.ptp(assembly.bounds, axis=0)
            out.proportions[number] = np.log(size[1:] / size[0])
            view = draw_views(row.name, PictureConfig(side=SIDE, views=row.view + 1))[row.view]
            out.view[number] = np.radians([view.azimuth, view.elevation])
    return out


@lru_cache(maxsize=64)
def _assembly(name: str) -> Assembly:
    category, _, number = name.rpartition("/")
    return drawn(category.rpartition(" ")[0], SEED, int(number))


GENERATED = re.compile(r" \d+/\d+$")
"""Names of generated objects end so."""


def words_in(cache: Path) -> ReaderConfig:
    """All words that the generated objects of a folder have."""
    names = dict.fromkeys(row.name for name in ("generated", "watch") for row in PictureSet.open(cache / name).rows)
    found = [_assembly(name) for name in names]
    parts = sorted({part.name for one in found for part in one.parts})
    styles = sorted({word for one in found for word in one.style})
    materials = sorted({one.parts[main_part(one)].appearance.visible_material for one in found})
    return ReaderConfig(tuple(CATEGORIES), tuple(parts), tuple(styles), tuple(materials))


def describe(data: Path) -> list[dict[str, Any]]:
    """What the card says of the libraries that are there."""
    rows = {
        "": ("neurok.catalogue", "Apache-2.0"),
        "household/sweethome3d": ("Sweet Home 3D furniture library", "CC0-1.0, CC-BY-3.0, CC-BY-3.0-US"),
        "household/kenney-furniture-kit": ("Kenney furniture kit", "CC0-1.0"),
        "household/aws-small-house": ("AWS RoboMaker small house", "MIT-0"),
        "household/makehuman-hats": ("MakeHuman community hats", "CC0-1.0"),
        "furniture_glb": ("Quaternius and KayKit furniture", "CC0-1.0"),
        "articulated_packs": ("Infinigen articulated objects", "BSD-3-Clause (generator)"),
    }
    held = "one model in five by name; of Sweet Home 3D one in three of the others, too, to choose by"
    return [
        {"name": name, "licenses": [licence], "held_out": held if place else "instances of the test split"}
        for place, (name, licence) in rows.items()
        if (data / place).is_dir()
    ]


@dataclass(frozen=True, eq=False)
class Maps:
    """What the trunk sees of all pictures of a store, on several grounds."""

    fine: Float[np.ndarray, "M 40 s s"]
    coarse: Float[np.ndarray, "M 112 z z"]
    deep: Float[np.ndarray, "M 320 y y"]
    masks: UInt8[np.ndarray, "M K K"]
    rows: Int[np.ndarray, " M"]
    """Which picture of the store each is made of; those after a cut-out come first."""

    cut: int
    """How many these are."""


CHUNK = 32


def maps_of(reader: PictureReader, store: PictureSet, busy: int, folder: Path) -> Maps:
    """Kept in a folder: they take longer than learning from them."""
    files = {name: folder / f"maps-{name}.npy" for name in ("fine", "coarse", "deep", "masks")}
    count = len(store)
    total, side = count * (1 + busy), SIDE // 8
    shapes = {
        name: (total, channels, side // 2**k, side // 2**k)
        for k, (name, channels) in enumerate(zip(("fine", "coarse", "deep"), CHANNELS[1:], strict=True))
    } | {"masks": (total, MASK, MASK)}
    rows = np.tile(np.arange(count), 1 + busy)
    if all(path.exists() for path in files.values()):
        found = {name: np.load(path, mmap_mode="r") for name, path in files.items()}
        if all(found[name].shape == shapes[name] for name in files):
            return Maps(**found, rows=rows, cut=count)
    drafts = {name: path.with_suffix(".draft") for name, path in files.items()}
    kinds = dict.fromkeys(files, np.float16) | {"masks": np.uint8}
    out = {name: np.lib.format.open_memmap(drafts[name], "w+", kinds[name], shapes[name]) for name in files}
    generator, rng = torch.Generator().manual_seed(0), np.random.default_rng(0)
    for start in range(0, total, CHUNK):
        chosen = rows[start : start + CHUNK]
        others = torch.from_numpy(store.batch(rng.integers(count, size=CHUNK)))
        raw = framed(torch.from_numpy(store.batch(chosen)))
        usual = CUT if start + CHUNK <= count else GROUNDS
        pictures, alpha = augment(raw, generator, usual, others)
        maps = reader.maps(pictures)
        at = slice(start, start + len(chosen))
        out["fine"][at], out["coarse"][at], out["deep"][at] = (one.half().numpy() for one in maps)
        share = functional.adaptive_avg_pool2d(alpha, MASK)
        out["masks"][at] = (255.0 * share).round().byte().numpy()
    for name, path in files.items():
        out[name].flush()
        drafts[name].rename(path)
    return maps_of(reader, store, busy, folder)


CUT = AugmentationConfig(plain=1.0, scale=(0.97, 1.03), shift=0.02, turn=2.0, blur=0.2)
"""Pictures as they are after a cut-out."""

GROUNDS = AugmentationConfig(plain=0.1, scale=(0.5, 1.1), shift=0.16)
"""Pictures as people take them."""
