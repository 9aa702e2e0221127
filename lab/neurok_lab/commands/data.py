"""``neurok data``: build data sets of moving and of household objects, say what they hold, and show them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, NeededOut, RayFlag, SeedFlag, arg
from neurok.cli.outputs import counting, progress, say

if TYPE_CHECKING:
    from neurok.core import Asset, Mesh
    from neurok_lab.data.still import StillSource


@dataclass
class DataBuild:
    """Build a data set of moving objects; run again after an interruption, it continues."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder for the shards and their manifest."""

    recipe: str = "small"
    """What to build: tiny, brief, small, medium, joints (rigid objects only), or real (only the folders of --add and
    --articulate)."""

    add: Annotated[tyro.conf.UseAppendAction[tuple[tuple[Path, ...], ...]], arg("FOLDER ...")] = ()
    """Folders of real assets to include: PartNet-Mobility, NPZ, URDF, MJCF, animated glTF, mesh sequences."""

    articulate: Annotated[tyro.conf.UseAppendAction[tuple[tuple[Path, ...], ...]], arg("FOLDER ...")] = ()
    """Folders of static meshes with parts (GLB, OBJ, USD, ...): their joints are predicted."""

    workers: int = 2
    """Processes on this machine."""

    ray: RayFlag = None
    seed: SeedFlag = 0
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok_lab.data.build import build, find_recipe

        recipe = replace(
            find_recipe(self.recipe), folders=tuple(str(folder) for folders in self.add for folder in folders)
        )
        start = time.perf_counter()
        try:
            with counting("shards", json=self.json) as tell:
                manifest = build(recipe, self.out, self.seed, self.workers, self.ray, tell, self._still())
        except KeyboardInterrupt:
            print(f"Finished shards are kept in {self.out}; the same command goes on from there.", file=sys.stderr)
            raise
        seconds = time.perf_counter() - start
        say(
            f"{manifest['items']} items in {len(manifest['shards'])} shards, {manifest['bytes'] / 1e6:.0f} MB, "
            f"{seconds:.0f} s, in {self.out}",
            json=self.json,
        )
        for reason, count in manifest["rejected"].items():
            say(f"  turned away: {count} x {reason}", json=self.json)
        keys = ("recipe", "seed", "items", "bytes", "tally", "rejected")
        return {"out": str(self.out), "seconds": seconds, **{key: manifest[key] for key in keys}}

    def _still(self) -> list[StillSource]:
        """The files whose joints are to be found, and who finds them."""
        folders = [folder for several in self.articulate for folder in several]
        if not folders:
            return []
        from neurok_lab.data.annotate import SelfMade
        from neurok_lab.data.still import find_still_sources

        return find_still_sources(folders, SelfMade.by())


@dataclass
class DataHousehold:
    """Generate household objects as lists of parts, a file of JSON lines for each category; the same command continues.

    'neurok train generation' is trained on them.
    """

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the store."""

    count: int = 450
    """Objects of each category."""

    categories: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "all")] = ()
    """Which categories."""

    real: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Sorted real models with their categories.csv, of which pictures are taken, too."""

    pictures: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Also render pictures of the training objects into this folder, and one of each held-out object into its
    held_out/."""

    views: int = 2
    """Pictures of each object."""

    checked: bool = False
    """Only objects that pass all checks, at three times the cost."""

    seed: SeedFlag = 0
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.catalogue.vocabulary import CATEGORIES
        from neurok.errors import NeurokError
        from neurok_lab.data.household import build_households

        if self.real is not None and self.pictures is None:
            raise NeurokError("Real models are only pictured; say where to with --pictures.")
        names = self.categories or CATEGORIES
        with counting("objects", json=self.json) as tell:
            added = build_households(
                self.out, self.count, categories=names, seed=self.seed, checked=self.checked, progress=tell
            )
        say(f"{self.out}: {added} objects added, {self.count} of each of {len(names)} categories", json=self.json)
        taken = 0
        if self.pictures is not None:
            taken = self._take_pictures(self.pictures)
            say(f"{self.pictures}: {taken} pictures", json=self.json)
        return {"out": str(self.out), "added": added, "pictures": taken}

    def _take_pictures(self, pictures: Path) -> int:
        """Of all objects, and of real models."""
        from neurok.catalogue.categories import split_of
        from neurok_lab.data.household import number_of, read_households
        from neurok_lab.data.household_pictures import (
            HELD_OUT,
            PictureConfig,
            assembly_sitters,
            build_pictures,
            file_sitters,
        )
        from neurok_lab.data.household_real import real_models

        every, taken = read_households(self.out), 0
        real = [] if self.real is None else [one for one in real_models(self.real) if one.is_learned]
        files = [(one.path, one.category) for one in real]
        for split, folder, views in (("train", pictures, self.views), ("test", pictures / HELD_OUT, 1)):
            sitters = assembly_sitters(one for one in every if split_of(number_of(one)) == split)
            sitters += file_sitters(files, "") if split == "train" else []
            with counting("shards of pictures", json=self.json) as tell:
                taken += build_pictures(folder, sitters, replace(PictureConfig(), views=views), tell)
        return taken


@dataclass
class DataInfo:
    """Report the contents of a data set: families, joints, licences, and whether every checksum matches."""

    folder: Annotated[tyro.conf.Positional[str], arg("DATASET")]
    """Folder or fsspec URL of the data set."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok_lab.data.shards import ShardSet

        data = ShardSet.open(self.folder)
        licenses: Counter[str] = Counter()
        joints: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for number in range(len(data.manifest["shards"])):
            for item in data.shard(number, verify=True):
                licenses[item.info["license"]] += 1
                kinds[item.info["kind"]] += 1
                joints.update(item.info["joints"])
        manifest = data.manifest
        say(f"{len(data)} items in {len(manifest['shards'])} shards, {manifest['bytes'] / 1e6:.1f} MB", json=self.json)
        say(f"recipe {manifest['recipe']}, seed {manifest['seed']}; every checksum fits", json=self.json)
        tables = {"kinds": kinds, "joints": joints, "licences": licenses, "families": manifest["tally"]}
        for title, table in tables.items():
            say(f"{title}: " + ", ".join(f"{name} {count}" for name, count in table.items()), json=self.json)
        for reason, count in manifest["rejected"].items():
            say(f"turned away: {count} x {reason}", json=self.json)
        facts = {key: manifest[key] for key in ("bytes", "recipe", "seed", "tally", "rejected")}
        counts = {"kinds": dict(kinds), "joints": dict(joints), "licenses": dict(licenses)}
        return {"items": len(data), "shards": len(manifest["shards"]), **facts, **counts, "verified": True}


@dataclass
class DataPreview:
    """Draw a contact sheet of a data set: one row per item, one column per state."""

    folder: Annotated[tyro.conf.Positional[str], arg("DATASET")]
    """Folder or fsspec URL of the data set."""

    out: NeededOut
    """Pictures to write (.png, .jpg, .webp)."""

    items: int = 12
    """How many items, spread evenly over the data set."""

    states: int = 4
    """States of each, the rest state first."""

    seed: SeedFlag = 0
    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from itertools import islice

        from neurok.cli.outputs import check_outputs
        from neurok.errors import NeurokError
        from neurok.rendering import contact_sheet, render_mesh, save_image
        from neurok.rendering.files import STILLS
        from neurok.staging import together
        from neurok_lab.data.shards import ShardSet

        if self.items < 1 or self.states < 1:
            raise NeurokError(f"items and states must be 1 or more, got {self.items} and {self.states}.")
        check_outputs(self.out, known=STILLS, what="a picture")
        chosen = list(islice(ShardSet.open(self.folder).stream(self.seed, buffer=8 * self.items), self.items))
        images, labels = [], []
        for item in progress(chosen, "drawing", total=len(chosen), json=self.json):
            row = telling_states(item.asset(), self.states)
            images += [render_mesh(mesh, width=240, height=200) for mesh in row]
            labels += [item.info["family"]] + [""] * (len(row) - 1)
        sheet = contact_sheet(images, columns=self.states, labels=labels)
        with together():
            for path in self.out:
                save_image(sheet, path)
        files = [str(path) for path in self.out]
        say(f"{len(chosen)} items, {self.states} states each: {', '.join(files)}", json=self.json)
        return {"out": files[0], "files": files, "items": len(chosen), "states": self.states}


def telling_states(asset: Asset, count: int) -> list[Mesh]:
    """The rest state, then states that show the motion: joints at their far ends, or frames spread over the clip."""
    import numpy as np

    if asset.articulation is not None and asset.articulation.dof:
        joints = asset.articulation
        far = joints.sweep(3)[1]
        return [joints.pose(far * share) for share in np.linspace(0.0, 1.0, count)]
    if asset.clips:
        clip = asset.clips[0]
        chosen = np.linspace(0, clip.frame_count - 1, count).round().astype(int)[1:]
        return [asset.mesh, *(clip.mesh(int(frame)) for frame in chosen)]
    return [asset.mesh]
