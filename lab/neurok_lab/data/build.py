"""Build a data set by a recipe: deterministic in (seed, index), whatever the number of workers and interruptions.

The unit of work is a shard, made by a pure function; one process writes finished shards under their final names, so a
build that was killed goes on where it stood and ends with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.folders.processes import spread
from neurok.io.files import write_files
from neurok.learned.subject import subject_of
from neurok_lab.data.shards import MANIFEST, VERSION, Item, encode_asset, encode_subject, shard_name, write_shard
from neurok_lab.data.still import StillSource, find_sources
from neurok_lab.worlds import articulated, soft


@dataclass(frozen=True)
class Recipe:
    """Items are numbered articulated first, then soft, then those of the folders; families take turns."""

    name: str
    articulated: int
    soft: int
    shard_size: int = 32
    folders: tuple[str, ...] = ()
    """Folders of real assets to include: PartNet-Mobility, NPZ, URDF, MJCF, animated glTF, mesh sequences."""

    families: tuple[str, ...] = field(default=())
    """Only these families; all by default."""


# A few in a hundred are turned away by their checks, hence the odd numbers: at least 3,000 and 1,000 are left of small.
RECIPES = {
    "tiny": Recipe("tiny", 8, 2, shard_size=4),
    "brief": Recipe("brief", 936, 540),
    "small": Recipe("small", 3060, 1060),
    "medium": Recipe("medium", 20_400, 5_300, shard_size=64),
    "joints": Recipe("joints", 6_120, 0, shard_size=64),
    "real": Recipe("real", 0, 0),
}


def find_recipe(name: str) -> Recipe:
    """The recipe of that name."""
    try:
        return RECIPES[name]
    except KeyError:
        raise NeurokError(f"There is no recipe '{name}'; known are {', '.join(RECIPES)}.") from None


SLOT_STRIDE = 100
"""Numbers kept for one source; a file with more clips is cut."""

Progress = Callable[[int, int], None]
"""Called with the shards done and their total."""


@dataclass(frozen=True)
class BuildPlan:
    """Everything a worker needs to make any shard."""

    recipe: Recipe
    seed: int
    sources: tuple[StillSource, ...]

    @property
    def slots(self) -> int:
        return self.recipe.articulated + self.recipe.soft + len(self.sources)

    @property
    def shard_count(self) -> int:
        return -(-self.slots // self.recipe.shard_size)


@dataclass(frozen=True)
class Made:
    """A shard, and what was turned away while making it."""

    number: int
    data: bytes
    items: int
    rejected: dict[str, int]
    tally: dict[str, int]


def build(
    recipe: Recipe,
    out: str | Path,
    seed: int = 0,
    workers: int = 1,
    ray_address: str | None = None,
    progress: Progress | None = None,
    still: Sequence[StillSource] = (),
) -> dict[str, Any]:
    """Make (or finish) the data set in a folder and return its manifest.

    Args:
        recipe: What to make.
        out: A local folder; it may hold an interrupted build of the same recipe and seed.
        seed: Same seed, same bytes.
        workers: Processes on this machine.
        ray_address: ``local`` or the address of a Ray cluster to work on instead.
        progress: Told how many shards are done.
        still: Objects without motion, and who finds joints for them; they come last.
    """
    if workers < 1:
        raise NeurokError(f"workers must be 1 or more, got {workers}.")
    if seed < 0:
        raise NeurokError(f"The seed must be 0 or more, got {seed}.")
    folder = Path(out)
    plan = BuildPlan(recipe, seed, (*(s for f in recipe.folders for s in find_sources(f)), *still))
    if plan.slots == 0:
        raise NeurokError(
            f"The recipe '{recipe.name}' makes nothing by itself; add folders of real assets with --add, or of meshes "
            "without joints with --articulate."
        )
    for count, families in ((recipe.articulated, articulated.FAMILIES), (recipe.soft, soft.SOFT_FAMILIES)):
        if count and not _wanted(families, recipe):
            raise NeurokError(f"None of {', '.join(recipe.families)} is among the families: {', '.join(families)}.")
    _claim(folder, plan)
    entries: dict[int, dict[str, Any]] = {}
    missing = []
    for number in range(plan.shard_count):
        entry = _finished(folder, number)
        entries.update({number: entry} if entry else {})
        missing += [] if entry else [number]
    if progress is not None:
        progress(len(entries), plan.shard_count)
    for made in spread(partial(make_shard, plan), missing, workers, ray_address):
        entries[made.number] = _store(folder, made)
        if progress is not None:
            progress(len(entries), plan.shard_count)
    manifest = _manifest(plan, [entries[n] for n in range(plan.shard_count)])
    write_files(folder / MANIFEST, {MANIFEST: _json(manifest)})
    for number in range(plan.shard_count):
        (folder / f"{shard_name(number)}.json").unlink(missing_ok=True)
    return manifest


def make_shard(plan: BuildPlan, number: int) -> Made:
    """One shard, from nothing but the plan and its number."""
    items: list[Item] = []
    rejected: Counter[str] = Counter()
    tally: Counter[str] = Counter()
    start = number * plan.recipe.shard_size
    for slot in range(start, min(start + plan.recipe.shard_size, plan.slots)):
        assets, reasons = _make(plan, slot)
        rejected.update(reasons)
        for part, asset in enumerate(assets):
            items.append(_item(slot * SLOT_STRIDE + part, asset))
            tally.update([f"{items[-1].info['kind']}/{items[-1].info['family']}"])
    return Made(number, write_shard(items), len(items), dict(sorted(rejected.items())), dict(sorted(tally.items())))


def _make(plan: BuildPlan, slot: int) -> tuple[list[Asset], list[str]]:
    """The assets of a slot, and why others were turned away."""
    recipe = plan.recipe
    if slot < recipe.articulated:
        asset, reasons = articulated.generate(*_draw(articulated.FAMILIES, plan, slot))
    elif slot < recipe.articulated + recipe.soft:
        asset, reasons = soft.generate(*_draw(soft.SOFT_FAMILIES, plan, slot - recipe.articulated))
    else:
        assets, reasons = plan.sources[slot - recipe.articulated - recipe.soft].make()
        return assets[:SLOT_STRIDE], reasons
    return ([] if asset is None else [asset]), reasons


def _draw(families: Mapping[str, str], plan: BuildPlan, place: int) -> tuple[str, int, int]:
    """Family, seed and index of the instance at a place; families take turns."""
    names = _wanted(families, plan.recipe)
    return names[place % len(names)], plan.seed, place


def _wanted(families: Mapping[str, str], recipe: Recipe) -> list[str]:
    return [name for name in families if not recipe.families or name in recipe.families]


def _item(index: int, asset: Asset) -> Item:
    mesh, joints = asset.mesh, asset.articulation
    info = {
        "kind": "soft" if joints is None else "articulated",
        **{key: asset.provenance[key] for key in ("family", "license", "source")},
        "provenance": dict(asset.provenance),
        "vertices": mesh.vertex_count,
        "faces": mesh.face_count,
        "parts": mesh.part_count,
        "joints": [] if joints is None else [j.kind for j in joints.joints if j.dof],
        "frames": asset.clips[0].frame_count if asset.clips else 0,
    }
    return Item(index, info, encode_asset(asset), encode_subject(subject_of(asset, seed=index)))


def _claim(folder: Path, plan: BuildPlan) -> None:
    """Refuse a folder that holds another build; clean up what a killed one left half-written."""
    recipe = replace(plan.recipe, folders=())
    wish = {"recipe": repr(recipe), "seed": plan.seed, "sources": [Path(s.path).name for s in plan.sources]}
    finders = sorted({s.finder.name for s in plan.sources if s.finder is not None})
    wish |= {"finders": finders} if finders else {}
    mark = folder / "build.json"
    if folder.exists() and not folder.is_dir():
        raise NeurokError(f"'{folder}' is not a folder; name one for the data set, it is made if it does not exist.")
    if mark.exists():
        if _read_json(mark) != wish:
            raise NeurokError(
                f"'{folder}' holds a build with another recipe or seed; choose another folder or delete it."
            )
    elif folder.exists() and any(folder.glob("*.tar")):
        raise NeurokError(f"'{folder}' holds shards of something else; choose another folder.")
    else:
        write_files(mark, {mark.name: _json(wish)})
    for left in folder.glob(".neurok-*"):
        left.unlink(missing_ok=True)


def _finished(folder: Path, number: int) -> dict[str, Any] | None:
    """The manifest entry of a shard that is whole, from its note or from the manifest of a finished build."""
    path = folder / shard_name(number)
    if not path.exists():
        return None
    note = folder / f"{shard_name(number)}.json"
    entry = _read_json(note) if note.exists() else _entry(_read_json(folder / MANIFEST), number)
    if entry is None or hashlib.sha256(path.read_bytes()).hexdigest() != entry.get("sha256"):
        return None
    return entry


def _entry(manifest: dict[str, Any] | None, number: int) -> dict[str, Any] | None:
    shards = (manifest or {}).get("shards", [])
    return shards[number] if number < len(shards) else None


def _read_json(path: Path) -> dict[str, Any] | None:
    """What a file of ours says; nothing when it is missing or damaged."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _store(folder: Path, made: Made) -> dict[str, Any]:
    name = shard_name(made.number)
    entry = {
        "name": name,
        "sha256": hashlib.sha256(made.data).hexdigest(),
        "bytes": len(made.data),
        "items": made.items,
        "rejected": made.rejected,
        "tally": made.tally,
    }
    # The note first: a shard without one is made again, a note without a shard is harmless.
    write_files(folder / f"{name}.json", {f"{name}.json": _json(entry)})
    write_files(folder / name, {name: made.data})
    return entry


def _manifest(plan: BuildPlan, entries: list[dict[str, Any]]) -> dict[str, Any]:
    rejected: Counter[str] = Counter()
    tally: Counter[str] = Counter()
    for entry in entries:
        rejected.update(entry["rejected"])
        tally.update(entry["tally"])
    return {
        "version": VERSION,
        "recipe": plan.recipe.name,
        "seed": plan.seed,
        "items": sum(entry["items"] for entry in entries),
        "bytes": sum(entry["bytes"] for entry in entries),
        "tally": dict(sorted(tally.items())),
        "rejected": dict(sorted(rejected.items())),
        "shards": entries,
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True, indent=1) + "\n").encode()
