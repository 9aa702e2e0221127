"""What of glTF files passes through neurok: GLB to GLB unchanged and written anew, and over USD.

Run ``NEUROK_DATA=... python benchmarks/bench_passing.py``, or give files. Every material is compared by value with the
source, pictures by their bytes, by a parser of its own (``gltf_by_value``); the Khronos validator (npm
``gltf-validator``, folder by ``--validator``) judges what is written. ``--usd-every N`` sends every N-th file of a set
over USD.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from figures import write_table
from gltf_by_value import File, leaves, same, textures

from neurok.core import Asset, Surface
from neurok.core.surface import ROLES
from neurok.errors import NeurokError
from neurok.io import load, save

SETS = ("khronos_glb", "household", "furniture_glb", "animated_glb", "articulated_urdf")
VALIDATOR = """
const v=require('gltf-validator'),fs=require('fs');
(async()=>{const out={};for(const f of JSON.parse(fs.readFileSync(0))){
const r=await v.validateBytes(new Uint8Array(fs.readFileSync(f)),{maxIssues:50});
out[f]=r.issues.messages.filter(m=>m.severity===0).map(m=>m.code)}console.log(JSON.stringify(out))})();
"""


def faults(paths: list[Path], folder: Path | None) -> dict[str, list[str]]:
    """Codes of the validator's errors by file."""
    if folder is None:
        return {}
    environment = {**os.environ, "NODE_PATH": str(folder / "node_modules")}
    done = subprocess.run(
        ["node", "-e", VALIDATOR], input=json.dumps([str(path) for path in paths]), capture_output=True, text=True,
        env=environment, check=True,
    )  # fmt: skip
    return {path: codes for path, codes in json.loads(done.stdout).items() if codes}


def passes_unchanged(source: Path, target: Path, count: Counter[str]) -> None:
    """GLB to GLB: all of the file."""
    start = time.process_time()
    save(load(source), target)
    count["milliseconds"] += round(1e3 * (time.process_time() - start))
    before, after = File(source), File(target)
    mine, theirs = after.materials(), before.materials()
    count["materials"] += len(theirs)
    count["properties"] += leaves(theirs)
    count["pictures"] += textures(theirs)
    count["materials kept"] += sum(map(same, mine, theirs)) if len(mine) == len(theirs) else 0
    count["scenes kept"] += same(after.scene() | {"meshes": None}, before.scene() | {"meshes": None})
    count["attributes kept"] += not before.attributes() - after.attributes()


def passes_anew(asset: Asset, source: Path, target: Path, count: Counter[str]) -> None:
    """The same object written as if it had changed: its materials."""
    save(replace(asset, origin=None), target)
    theirs, mine = File(source).used_materials(), File(target).used_materials()
    count["materials shown"] += len(theirs)
    for material in theirs:
        count["materials kept anew"] += any(
            same(material | {"extras": None}, other | {"extras": None}) for other in mine
        )


def passes_usd(asset: Asset, folder: Path, count: Counter[str]) -> None:
    """Over USD: what a preview surface can say, surface by surface; motion is left at home."""
    save(replace(asset, clips=()), folder / "between.usdc")
    again = load(folder / "between.usdc")
    found: dict[str, list[Surface]] = {}
    for surface in again.mesh.surfaces:
        found.setdefault(surface.name, []).append(surface)
    count["usd faces"] += asset.mesh.face_count == again.mesh.face_count
    count["usd files"] += 1
    for surface in asset.mesh.surfaces:
        count["usd surfaces"] += 1
        best = max((_usd_score(surface, other) for other in found.get(surface.name, [])), default=(0, 0))
        wanted = _usd_score(surface, surface)
        count["usd said"] += wanted[0]
        count["usd kept"] += best[0]
        count["usd pictures"] += wanted[1]
        count["usd pictures kept"] += best[1]


def _usd_score(mine: Surface, other: Surface) -> tuple[int, int]:
    """Factors and pictures of a surface that another has too."""
    a, b = mine.whole_finish(), other.whole_finish()
    alike = [
        np.allclose(mine.base_color, other.base_color, atol=1e-6) or (mine.alpha_mode == "OPAQUE"
        and np.allclose(mine.base_color[:3], other.base_color[:3], atol=1e-6)),
        abs(mine.metallic - other.metallic) < 1e-6,
        abs(mine.roughness - other.roughness) < 1e-6,
        np.allclose(_glow(mine), _glow(other), atol=1e-5),
        mine.alpha_mode == other.alpha_mode,
        abs(a.alpha_cutoff - b.alpha_cutoff) < 1e-6 or mine.alpha_mode != "MASK",
    ]  # fmt: skip
    pictures = 0
    for role in ROLES:
        one, two = a.maps.get(role), b.maps.get(role)
        if one is None or two is None or one.lookup.texture.data != two.lookup.texture.data:
            continue
        near = (
            one.uv_set == two.uv_set and abs(one.strength - two.strength) < 1e-5 and one.lookup.wrap == two.lookup.wrap
        )
        pictures += near and (
            (one.transform is None) == (two.transform is None)
            and (one.transform is None or np.allclose(one.transform, two.transform, atol=1e-5))
        )
    return sum(map(bool, alike)), pictures


def _share(count: Counter[str], kept: str, of: str) -> str:
    return f"{count[kept]}/{count[of]}"


def _glow(surface: Surface) -> np.ndarray:
    return np.array(surface.emissive) * surface.whole_finish().emissive_strength


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--validator", type=Path, help="folder with node_modules/gltf-validator")
    parser.add_argument("--usd-every", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=SETS, help="folders of NEUROK_DATA")
    parser.add_argument("--unchanged", action="store_true", help="only GLB to GLB unchanged")
    options = parser.parse_args()
    data = Path(os.environ.get("NEUROK_DATA", "."))
    groups = {name: sorted(p for s in ("*.glb", "*.gltf") for p in (data / name).rglob(s)) for name in options.sets}
    if options.files:
        groups = {"files": options.files}
    rows, misses = [], []
    for name, paths in groups.items():
        if not paths:
            continue
        count: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            written = []
            for number, source in enumerate(paths):
                kept, anew = folder / f"{number}_kept.glb", folder / f"{number}_anew.glb"
                before = Counter(count)
                try:
                    passes_unchanged(source, kept, count)
                except NeurokError as error:
                    misses.append(f"{source.name}: {error}")
                    continue
                written.append(kept)
                if not options.unchanged:
                    asset = load(source)
                    passes_anew(asset, source, anew, count)
                    written.append(anew)
                    if number % options.usd_every == 0:
                        passes_usd(asset, folder, count)
                step = count - before
                if (
                    step["materials"] != step["materials kept"]
                    or step["materials shown"] != step["materials kept anew"]
                ):
                    misses.append(f"{source.name}: materials {dict(step)}")
                if not step["scenes kept"]:
                    misses.append(f"{source.name}: scene differs")
            wrong = faults(written, options.validator)
        misses += [
            f"{Path(path).name} of {paths[int(Path(path).name.split('_')[0])].name}: {codes}"
            for path, codes in wrong.items()
        ]
        rows.append([name, len(paths), count["materials"], count["properties"], count["pictures"]])
        rows[-1] += [_share(count, "materials kept", "materials"), f"{count['scenes kept']}/{len(paths)}"]
        rows[-1] += [
            _share(count, "materials kept anew", "materials shown"),
            len(wrong) if options.validator else "not run",
        ]
        rows[-1] += [
            _share(count, "usd kept", "usd said"),
            _share(count, "usd pictures kept", "usd pictures"),
            count["usd files"],
        ]
        rows[-1] += [f"{count['milliseconds'] / len(paths):.0f}"]
        print(rows[-1], flush=True)
    print("\n".join(misses))
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    columns = ["set", "files", "materials", "values in them", "pictures", "materials kept", "scenes kept"]
    columns += [
        "materials kept when written anew",
        "files with validator errors",
        "USD: factors kept",
        "USD: pictures kept",
    ]
    write_table("passing", [*columns, "over USD", "CPU ms per file, GLB to GLB"], rows)


if __name__ == "__main__":
    main()
