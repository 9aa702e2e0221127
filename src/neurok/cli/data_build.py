"""``neurok data build``: make a 4D data set."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, RayFlag, SeedFlag, arg
from neurok.cli.report import counting, say

if TYPE_CHECKING:
    from neurok.data.still import Source


@dataclass
class DataBuild:
    """Build a data set of moving objects; run again after an interruption, it continues."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder for the shards and their manifest."""

    recipe: str = "small"
    """What to build: tiny, small, medium, joints (rigid objects only), or real (only the folders of --add and
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
        from neurok.data.build import build, find_recipe

        recipe = replace(
            find_recipe(self.recipe), folders=tuple(str(folder) for folders in self.add for folder in folders)
        )
        start = time.perf_counter()
        try:
            with counting("shards", json=self.json) as progress:
                manifest = build(recipe, self.out, self.seed, self.workers, self.ray, progress, self._still())
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

    def _still(self) -> list[Source]:
        """The files whose joints are to be found, and who finds them."""
        folders = [folder for several in self.articulate for folder in several]
        if not folders:
            return []
        from neurok.data.still import find_still_sources
        from neurok.inference.annotate import SelfMade

        return find_still_sources(folders, SelfMade.by())
