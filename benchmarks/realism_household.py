"""Can generated household objects be told from real ones? A small classifier on shape and colour, cross-validated.

Run: NEUROK_DATA=... python benchmarks/realism_household.py [--each 1] [--store FEATURES.npz]; real models are read from
``household/sweethome3d`` there; for each of them ``each`` generated ones of the same category are drawn. Of both the
same is measured: points spread evenly over the surface with their colours, not triangles, names or numbers of parts.
"""

from __future__ import annotations

import argparse
import os
from datetime import date
from pathlib import Path

import numpy as np

from neurok.core import Mesh
from neurok.core.select import regions_of
from neurok.data.household_real import mean_colour, real_models
from neurok.families.household import asset_of, draw
from neurok.geometry.sampling import sample_surface
from neurok.io import load

POINTS = 1500
PAIRS = 4000
FOLDS = 5
SEED = 11
"""Of generated objects: none that was learned from."""

NAMES = (
    "width / longest", "height / longest", "depth / longest", "faces along axes", "faces upwards", "faces downwards",
    "lopsided x", "lopsided z", "height 10 %", "height 50 %", "height 90 %", "from middle 10 %", "from middle 50 %",
    "from middle 90 %", *(f"distances {k}" for k in range(8)), "red", "green", "blue", "saturation", "brightness",
    "spread of colours", "colours",
)  # fmt: skip


def features(mesh: Mesh) -> np.ndarray:
    """What is known of an object, whatever its size and triangles."""
    rng = np.random.default_rng(0)
    drawn = sample_surface(np.asarray(mesh.vertices, dtype=np.float64), mesh.faces, POINTS, rng)
    points = drawn.interpolate(np.asarray(mesh.vertices, dtype=np.float64))
    low, high = np.quantile(points, 0.002, axis=0), np.quantile(points, 0.998, axis=0)
    size = float((high - low).max())
    points = (points - (low + high) / 2.0) / size
    corners = np.asarray(mesh.vertices, dtype=np.float64)[mesh.faces[drawn.face_ids]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    away = np.linalg.norm(points, axis=1)
    pairs = rng.integers(POINTS, size=(PAIRS, 2))
    apart = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    regions = regions_of(mesh)
    table = np.array([mean_colour(mesh, region) for region in regions])
    owner = np.zeros(len(mesh.faces), dtype=int)
    for number, region in enumerate(regions):
        owner[region.faces] = number
    colours = table[owner[drawn.face_ids]]
    return np.array([
        *(high - low) / size,
        (np.abs(normals).max(axis=1) > 0.985).mean(), (normals[:, 1] > 0.9).mean(), (normals[:, 1] < -0.9).mean(),
        *np.abs(points.mean(axis=0)[[0, 2]]),
        *np.quantile(points[:, 1], (0.1, 0.5, 0.9)), *np.quantile(away, (0.1, 0.5, 0.9)),
        *np.histogram(apart, np.linspace(0.0, 1.2, 9))[0] / PAIRS,
        *colours.mean(axis=0), np.ptp(colours, axis=1).mean(), colours.mean(), colours.std(axis=0).mean(),
        float(len(np.unique(np.round(table, 1), axis=0))),
    ])  # fmt: skip


def gathered(library: Path, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, categories, and whether real."""
    rows, kinds, real = [], [], []
    for number, model in enumerate(real_models(library)):
        rows.append(features(load(model.path).mesh))
        kinds.append(model.category)
        real.append(True)
        for index in range(each):
            rng = np.random.default_rng([SEED, number, index])
            rows.append(features(asset_of(draw(model.category, rng)).mesh))
            kinds.append(model.category)
            real.append(False)
        print(f"{number + 1} {model.category} {model.path.stem}", flush=True)
    return np.array(rows), np.array(kinds), np.array(real)


def probabilities(train: np.ndarray, is_real: np.ndarray, test: np.ndarray, ridge: float = 3.0) -> np.ndarray:
    """Of being real, by logistic regression on features and their squares (Newton steps, a ridge, equal weight)."""
    mean, scale = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-9)
    wide = lambda x: np.clip((x - mean) / scale, -4.0, 4.0)  # noqa: E731
    full = lambda x: np.column_stack([np.ones(len(x)), wide(x), wide(x) ** 2 - 1.0])  # noqa: E731
    a, weight = full(train), np.where(is_real, 0.5 / is_real.mean(), 0.5 / (1.0 - is_real.mean()))
    found, hold = np.zeros(a.shape[1]), ridge * np.eye(a.shape[1])
    hold[0, 0] = 1e-6
    for _ in range(15):
        p = 1.0 / (1.0 + np.exp(-np.clip(a @ found, -30, 30)))
        slope = a.T @ (weight * (p - is_real)) + hold @ found
        found -= np.linalg.solve((a * (weight * p * (1 - p))[:, None]).T @ a + hold, slope)
    return 1.0 / (1.0 + np.exp(-np.clip(full(test) @ found, -30, 30)))


def area_under_curve(score: np.ndarray, is_real: np.ndarray) -> float:
    """Chance that a real one scores above a generated one."""
    above = score[is_real][:, None] - score[~is_real][None]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--store", type=Path, help="features that were measured before")
    args = parser.parse_args()
    if args.store is not None and args.store.exists():
        with np.load(args.store) as data:
            rows, kinds, real = data["rows"], data["kinds"], data["real"]
    else:
        library = Path(os.environ.get("NEUROK_DATA", "data")) / "household" / "sweethome3d"
        rows, kinds, real = gathered(library, args.each)
        if args.store is not None:
            np.savez(args.store, rows=rows, kinds=kinds, real=real)
    group = np.cumsum(real) - 1  # a real model and those drawn beside it are in one fold
    fold = np.random.default_rng(0).permutation(group.max() + 1)[group] % FOLDS
    score = np.zeros(len(rows))
    for one in range(FOLDS):
        is_test = fold == one
        score[is_test] = probabilities(rows[~is_test], real[~is_test], rows[is_test])
    right = (score > 0.5) == real
    print("| category | real | told right [%] | AUC |\n|---|---|---|---|")
    for kind in [*np.unique(kinds), None]:
        mine = np.ones(len(kinds), dtype=bool) if kind is None else kinds == kind
        share = 50.0 * (right[mine & real].mean() + right[mine & ~real].mean())
        curve = area_under_curve(score[mine], real[mine])
        print(f"| {kind or 'all'} | {int((mine & real).sum())} | {share:.0f} | {curve:.2f} |")
    alone = np.array([area_under_curve(rows[:, k], real) for k in range(rows.shape[1])])
    print("\nAlone (AUC; below 0.5: generated ones have more):")
    for k in np.argsort(-np.abs(alone - 0.5))[:8]:
        print(f"- {NAMES[k]}: {alone[k]:.2f} (real {rows[real, k].mean():.3f}, generated {rows[~real, k].mean():.3f})")
    print(f"\nAMD EPYC, 2 cores; {date.today()}; `realism_household.py --each {args.each}`")


if __name__ == "__main__":
    main()
