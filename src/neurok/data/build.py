"""Build a data set: deterministic in (seed, index), whatever the number of workers and interruptions.

The unit of work is a shard, made by a pure function; one process writes finished shards under their final names, so a
build that was killed goes on where it stood and ends with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from neurok.core import Asset
from neurok.data.codec import encode_asset, encode_subject
from neurok.data.recipes import Recipe
from neurok.data.shards import MANIFEST, VERSION, Item, shard_name, write_shard
from neurok.data.sources import Source, find_sources
from neurok.data.subject import subject_of
from neurok.errors import NeurokError, require
from neurok.io.files import write_files

SLOT_STRIDE = 100
"""Numbers kept for one source; a file with more clips is cut."""

Progress = Callable[[int, int], None]
"""Called with the shards done and their total."""


@dataclass(frozen=True)
class Plan:
    """Everything a worker needs to make any shard."""

    recipe: Recipe
    seed: int
    sources: tuple[Source, ...]

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
) -> dict[str, Any]:
    """Make (or finish) the data set in a folder and return its manifest.

    Args:
        recipe: What to make.
        out: A local folder; it may hold an interrupted build of the same recipe and seed.
        seed: Same seed, same bytes.
        workers: Processes on this machine.
        ray_address: ``local`` or the address of a Ray cluster to work on instead.
        progress: Told how many shards are done.
    """
    if workers < 1:
        raise NeurokError(f"workers must be 1 or more, got {workers}.")
    folder = Path(out)
    plan = Plan(recipe, seed, tuple(s for f in recipe.folders for s in find_sources(f)))
    if plan.slots == 0:
        raise NeurokError(f"The recipe '{recipe.name}' makes nothing by itself; add folders of real assets with --add.")
    _claim(folder, plan)
    entries: dict[int, dict[str, Any]] = {}
    missing = []
    for number in range(plan.shard_count):
        entry = _finished(folder, number)
        entries.update({number: entry} if entry else {})
        missing += [] if entry else [number]
    if progress is not None:
        progress(len(entries), plan.shard_count)
    for made in _work(plan, missing, workers, ray_address):
        entries[made.number] = _store(folder, made)
        if progress is not None:
            progress(len(entries), plan.shard_count)
    manifest = _manifest(plan, [entries[n] for n in range(plan.shard_count)])
    write_files(folder / MANIFEST, {MANIFEST: _json(manifest)})
    for number in range(plan.shard_count):
        (folder / f"{shard_name(number)}.json").unlink(missing_ok=True)
    return manifest


def make_shard(plan: Plan, number: int) -> Made:
    """One shard, from nothing but the plan and its number."""
    items: list[Item] = []
    rejected: Counter[str] = Counter()
    tally: Counter[str] = Counter()
    start = number * plan.recipe.shard_size
    for slot in range(start, min(start + plan.recipe.shard_size, plan.slots)):
        assets, reasons, kind = _make(plan, slot)
        rejected.update(reasons)
        for part, asset in enumerate(assets):
            items.append(_item(slot * SLOT_STRIDE + part, asset, kind))
            tally.update([f"{items[-1].info['kind']}/{items[-1].info['family']}"])
    return Made(number, write_shard(items), len(items), dict(sorted(rejected.items())), dict(sorted(tally.items())))


def _make(plan: Plan, slot: int) -> tuple[list[Asset], list[str], str]:
    recipe = plan.recipe
    if slot < recipe.articulated + recipe.soft:
        if slot < recipe.articulated:
            from neurok.data.articulated import FAMILIES as families
            from neurok.data.articulated import generate

            kind, place = "articulated", slot
        else:
            from neurok.data.soft import SOFT_FAMILIES as families
            from neurok.data.soft import generate

            kind, place = "soft", slot - recipe.articulated
        names = [name for name in families if not recipe.families or name in recipe.families]
        asset, reasons = generate(names[place % len(names)], plan.seed, place)
        return ([] if asset is None else [asset]), reasons, kind
    source = plan.sources[slot - recipe.articulated - recipe.soft]
    try:
        assets = source.read()[:SLOT_STRIDE]
        return assets, ([] if assets else ["source without motion"]), "real"
    except NeurokError:
        return [], ["source that cannot be read"], "real"


def _item(index: int, asset: Asset, kind: str) -> Item:
    mesh, joints = asset.mesh, asset.articulation
    info = {
        "kind": kind if kind != "real" else ("articulated" if joints is not None else "soft"),
        "family": asset.provenance.get("family") or asset.provenance.get("category") or "unknown",
        "license": asset.provenance.get("license", "generated by neurok, Apache-2.0"),
        "source": asset.provenance.get("source", "neurok"),
        "provenance": {str(k): str(v) for k, v in asset.provenance.items()},
        "vertices": mesh.vertex_count,
        "faces": mesh.face_count,
        "parts": mesh.part_count,
        "joints": [] if joints is None else [j.kind for j in joints.joints if j.dof],
        "frames": asset.clips[0].frame_count if asset.clips else 0,
    }
    return Item(index, info, encode_asset(asset), encode_subject(subject_of(asset, seed=index)))


def _work(plan: Plan, numbers: list[int], workers: int, ray_address: str | None) -> Iterator[Made]:
    if ray_address is not None:
        yield from _work_on_ray(plan, numbers, workers, ray_address)
    elif workers == 1:
        for number in numbers:
            yield make_shard(plan, number)
    else:
        # Fresh interpreters: simulators and their threads do not survive a fork.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
            waiting: set[Future[Made]] = set()
            queue = iter(numbers)
            try:
                for number in queue:
                    waiting.add(pool.submit(make_shard, plan, number))
                    if len(waiting) >= workers + 1:
                        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _work_on_ray(plan: Plan, numbers: list[int], workers: int, address: str) -> Iterator[Made]:
    require("ray", "cluster")
    import ray

    fresh = not ray.is_initialized()
    if fresh:
        local = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {"address": address}
        ray.init(log_to_driver=False, logging_level=40, **local)
    try:
        task = ray.remote(num_cpus=1, max_retries=3)(make_shard)
        waiting = []
        for number in numbers:
            waiting.append(task.remote(plan, number))
            if len(waiting) > 2 * max(workers, int(ray.cluster_resources().get("CPU", 1))):
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        if fresh:
            ray.shutdown()


def _one_thread() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"


def _claim(folder: Path, plan: Plan) -> None:
    """Refuse a folder that holds another build; clean up what a killed one left half-written."""
    recipe = replace(plan.recipe, folders=())
    wish = {"recipe": repr(recipe), "seed": plan.seed, "sources": [Path(s.path).name for s in plan.sources]}
    mark = folder / "build.json"
    if mark.exists():
        if json.loads(mark.read_text()) != wish:
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
    manifest = folder / MANIFEST
    if note.exists():
        entry = json.loads(note.read_text())
    elif manifest.exists():
        entry = json.loads(manifest.read_text())["shards"][number]
    else:
        return None
    return entry if hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"] else None


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


def _manifest(plan: Plan, entries: list[dict[str, Any]]) -> dict[str, Any]:
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
