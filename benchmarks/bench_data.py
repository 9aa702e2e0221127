"""The data engine in figures: speed of the training view, and diversity beside real PartNet-Mobility objects.

    python benchmarks/bench_data.py DATASET [--real FOLDER]

DATASET is a folder made by ``neurok data build``; FOLDER holds PartNet-Mobility objects (.npz), and defaults to
``partnet_mobility/train`` below NEUROK_DATA. Writes ``benchmarks/results/data.md`` and ``docs/images/diversity.png``.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np
from figures import write_table

from neurok.core import Articulation
from neurok.learned.view import ViewConfig, pairs
from neurok_lab.data.shards import ShardSet
from neurok_lab.data.still import find_sources

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = ("revolute", "prismatic", "continuous")


def view_speed(data: ShardSet, seconds: float = 6.0) -> tuple[float, int, float]:
    """Pairs of 256 points per second on one core, and how long the subjects took to read."""
    start = time.perf_counter()
    subjects = [item.subject() for item in data]
    reading = time.perf_counter() - start
    batches = pairs(subjects, ViewConfig(), np.random.default_rng(0))
    next(batches)
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        count += next(batches).displaced.shape[0] * ViewConfig().targets
    return count / (time.perf_counter() - start), len(subjects), reading


def traits(articulation: Articulation) -> dict[str, list[float]]:
    """What is compared: parts, joint kinds, ranges, and how far points move at random joint values."""
    rng = np.random.default_rng(0)
    limits, size = articulation.limits, articulation.mesh.size
    low = np.where(np.isfinite(limits[:, 0]), limits[:, 0], -np.pi)
    high = np.where(np.isfinite(limits[:, 1]), limits[:, 1], np.pi)
    moving = [joint for joint in articulation.joints if joint.dof]
    out: dict[str, list[float]] = {"parts": [len(articulation.joints)], "turn": [], "slide": [], "displacement": []}
    for joint, (a, b) in zip(moving, np.stack([low, high], axis=1), strict=False):
        if joint.kind == "revolute":
            out["turn"].append(float(np.degrees(b - a)))
        elif joint.kind == "prismatic":
            out["slide"].append(float((b - a) / size))
    for _ in range(3):
        moved = articulation.pose(low + rng.random(len(low)) * (high - low)).vertices - articulation.mesh.vertices
        out["displacement"].append(float(np.linalg.norm(moved, axis=1).mean() / size))
    out["kinds"] = [KINDS.index(joint.kind) for joint in moving if joint.kind in KINDS]
    return out


def gather(articulations) -> dict[str, list[float]]:
    total: dict[str, list[float]] = {}
    for articulation in articulations:
        for key, values in traits(articulation).items():
            total.setdefault(key, []).extend(values)
    return total


def plot(ours: dict[str, list[float]], real: dict[str, list[float]], path: Path) -> None:
    figure, axes = plt.subplots(1, 5, figsize=(18, 3.4))
    titles = {
        "kinds": "joint kinds",
        "parts": "parts per object",
        "turn": "range of hinges [degrees]",
        "slide": "range of slides / size",
        "displacement": "mean displacement / size",
    }
    for axis, (key, title) in zip(axes, titles.items(), strict=True):
        both = [ours[key], real[key]]
        if key == "kinds":
            shares = [np.bincount(np.array(v, dtype=int), minlength=len(KINDS)) / max(1, len(v)) for v in both]
            places = np.arange(len(KINDS))
            axis.bar(places - 0.2, shares[0], 0.4, label="neurok families", color="#2a7f8e")
            axis.bar(places + 0.2, shares[1], 0.4, label="PartNet-Mobility", color="#d98a3d")
            axis.set_xticks(places, KINDS)
        else:
            top = np.quantile(np.concatenate(both), 0.99)
            bins = np.arange(0.5, min(top, 24) + 1.5) if key == "parts" else np.linspace(0, top, 24)
            clipped = [np.minimum(v, bins[-1] - 1e-9) for v in both]
            names, colors = ["neurok families", "PartNet-Mobility"], ["#2a7f8e", "#d98a3d"]
            axis.hist(clipped, bins, density=True, label=names, color=colors)
        axis.set_title(title)
        axis.set_yticks([])
    axes[0].legend(frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    default = Path(os.environ["NEUROK_DATA"]) / "partnet_mobility/train" if "NEUROK_DATA" in os.environ else None
    parser.add_argument("--real", type=Path, default=default)
    arguments = parser.parse_args()

    data = ShardSet.open(arguments.dataset)
    speed, subjects, reading = view_speed(data)
    rows: list[list[object]] = [
        ["items", f"{len(data)} ({data.manifest['bytes'] / 1e6:.0f} MB in {len(data.manifest['shards'])} shards)"],
        ["turned away while building", sum(data.manifest["rejected"].values())],
        ["training view", f"{speed:.0f} pairs/s of 256 points on one core"],
        ["subjects read", f"{subjects / reading:.0f} per second"],
    ]
    ours = gather(a for item in data.stream(0, kind="articulated") if (a := item.asset().articulation) is not None)
    if arguments.real is not None:
        real = gather(asset.articulation for source in find_sources(arguments.real) for asset in source.read())
        plot(ours, real, Path(__file__).parents[1] / "docs/images/diversity.png")
        for name, values in (("neurok families", ours), ("PartNet-Mobility", real)):
            kinds = Counter(KINDS[int(k)] for k in values["kinds"])
            mix = ", ".join(f"{kind} {kinds[kind] / len(values['kinds']):.0%}" for kind in KINDS)
            rows.append([f"joints of {name}", mix])
            medians = {key: float(np.median(values[key])) for key in ("parts", "turn", "slide", "displacement")}
            shares = (
                f"slides {medians['slide']:.2f} of the size, displacement {medians['displacement']:.3f} of the size"
            )
            rows.append(
                [f"medians of {name}", f"{medians['parts']:.0f} parts, hinges {medians['turn']:.0f}°, {shares}"]
            )
    write_table("data", ["figure", "value"], rows)


if __name__ == "__main__":
    main()
