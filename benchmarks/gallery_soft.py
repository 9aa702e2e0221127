"""Contact sheets of the soft families: each row is one clip, its rest shape and four moments.

python benchmarks/gallery_soft.py docs/images/families_soft --rows 2
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np

from neurok.core import Asset
from neurok.rendering import Renderer, contact_sheet, save_image
from neurok_lab.worlds.soft import SOFT_FAMILIES, make_soft
from neurok_lab.worlds.soft.checks import check_clip, jitter_share, motion_share
from neurok_lab.worlds.soft.scene import DivergedError


def row(asset: Asset, width: int, height: int) -> list[np.ndarray]:
    """Pictures of the rest shape and of four later frames."""
    clip = asset.clips[0]
    chosen = np.round(np.linspace(0, clip.frame_count - 1, 5)).astype(int)[1:]
    poses = [clip.rest.vertices, *(np.asarray(clip.positions[i], dtype=np.float64) for i in chosen)]
    everything = np.concatenate([clip.rest.vertices[None], clip.positions])
    with Renderer(clip.rest, width=width, height=height, fit_to=everything, quality="fast") as renderer:
        return [renderer.render(pose) for pose in poses]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="start of the file names")
    parser.add_argument("--families", default=",".join(SOFT_FAMILIES))
    parser.add_argument("--rows", type=int, default=2, help="clips of each family")
    parser.add_argument("--per-sheet", type=int, default=4, help="families on one sheet")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="index of the first clip")
    parser.add_argument("--size", type=int, default=240)
    args = parser.parse_args()
    names, faults = args.families.split(","), Counter()
    for start in range(0, len(names), args.per_sheet):
        images, labels = [], []
        for name in names[start : start + args.per_sheet]:
            for index in range(args.first, args.first + args.rows):
                key = np.random.SeedSequence([args.seed, index, *name.encode()])
                begin = time.perf_counter()
                try:
                    asset = make_soft(name, np.random.Generator(np.random.PCG64(key)))
                except DivergedError as error:
                    print(f"{name}[{index}] {error}", flush=True)
                    faults.update(["diverged"])
                    continue
                seconds, clip, wrong = time.perf_counter() - begin, asset.clips[0], check_clip(asset)
                faults.update(wrong or ["good"])
                positions = np.asarray(clip.positions, dtype=np.float64)
                print(
                    f"{name}[{index}] {seconds:.2f} s, {clip.rest.vertex_count} vertices, {clip.frame_count} frames, "
                    f"{asset.provenance['excitation']}, motion {motion_share(clip, positions):.2f}, "
                    f"jitter {jitter_share(positions, clip.rest.size):.2f} {' '.join(wrong)}",
                    flush=True,
                )
                images += row(asset, args.size, args.size)
                labels += [f"{name} {' '.join(wrong)}", asset.provenance["excitation"], "", "", ""]
        suffix = "" if len(names) <= args.per_sheet else f"_{start // args.per_sheet + 1}"
        save_image(contact_sheet(images, 5, labels), Path(f"{args.out}{suffix}.png"))
    print(dict(faults))


if __name__ == "__main__":
    main()
