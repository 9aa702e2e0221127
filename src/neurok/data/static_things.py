"""Real objects that stand still: files of furniture and household things, and which of them are kept aside."""

from __future__ import annotations

import re
from pathlib import Path

from neurok.errors import NeurokError

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
