"""Which generated families look unlike real articulated objects? A small classifier per category, cross-validated.

    NEUROK_DATA=... python benchmarks/realism_articulated.py [--each 30] [--write docs/lab/notebook_joints.md]

Real objects are the training objects of PartNet-Mobility; held-out ones are not read. Every moving part is described
by what the joint model sees of it: sizes, place, shape and contact of its point cloud in the unit box of the object,
and by its true joint. The classifier (logistic regression on the features and their squares) tells real parts from
generated ones of the same category; all parts of an object are in one fold. An area under the curve (AUC) of 0.5 means
that they cannot be told apart. Beside it are the features that tell most on their own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from figures import replace_block, stamp
from realism_household import area_under_curve, probabilities

from neurok.core import Articulation
from neurok.io import load
from neurok.learned.part_features import PartClouds, describe_parts
from neurok_lab.data.still import category, data_folder, hold_out
from neurok_lab.worlds.articulated import generate

FAMILIES = {
    "Bottle": ("bottle", "dispenser"),
    "Box": ("box",),
    "Bucket": ("bucket",),
    "Camera": ("camera",),
    "CoffeeMachine": ("coffee_machine",),
    "Door": ("door",),
    "Faucet": ("faucet",),
    "Laptop": ("laptop",),
    "Microwave": ("microwave",),
    "Oven": ("oven",),
    "Refrigerator": ("refrigerator",),
    "Safe": ("safe",),
    "StorageFurniture": ("cupboard", "sideboard", "nightstand", "wardrobe", "chest_of_drawers", "bookcase"),
    "Switch": ("switch",),
    "Table": ("table", "desk"),
    "TrashCan": ("trash_can",),
    "WashingMachine": ("washing_machine",),
    "Window": ("window",),
}
"""Generated families of each category."""

NAMES = (
    "parts of the object", "moving parts", "object width", "object height", "object depth", "part width", "part height",
    "part depth", "longest side", "thinnest side", "area", "x of centre", "y of centre", "z of centre",
    "faces along axes", "points near others", "median gap", "turns", "slides", "turns without end", "range",
    "axis upright", "axis front to back", "distance of the axis from the centre",
)  # fmt: skip
NEAR = 0.01
"""Distance at which a point counts as near another part [longest side of the object]."""

FOLDS, SEED, LEAST = 5, 23, 4
"""Folds; seed of generated objects, none that was learned from; real parts that a category needs at least."""


class Described(NamedTuple):
    rows: np.ndarray
    """Features of the moving parts of one object."""

    category: str
    is_real: bool


def features(articulation: Articulation) -> np.ndarray:
    """One row for each moving part."""
    clouds = describe_parts(articulation.mesh)
    joints = [articulation.joints[part] for part in clouds.parts]
    size = np.ptp(clouds.points.reshape(-1, 3), axis=0)
    moving = sum(joint.kind != "fixed" for joint in joints)
    rows = []
    for row, joint in enumerate(joints):
        if joint.kind == "fixed":
            continue
        rows.append([len(joints), moving, *size, *_shape(clouds, row), *_joint(clouds, row, joint)])
    return np.array(rows).reshape(len(rows), len(NAMES))


def _shape(clouds: PartClouds, row: int) -> list[float]:
    points, normals, gaps = clouds.points[row], clouds.normals[row], clouds.gaps[row]
    sides = np.ptp(points, axis=0)
    along = (np.abs(normals).max(axis=1) > 0.985).mean()
    center = points.mean(axis=0)
    return [*sides, sides.max(), sides.min(), clouds.areas[row], abs(center[0]), *center[1:], along,
            (gaps < NEAR).mean(), np.median(gaps)]  # fmt: skip


def _joint(clouds: PartClouds, row: int, joint) -> list[float]:  # type: ignore[no-untyped-def]
    axis = clouds.turn @ joint.axis
    offset = clouds.points[row].mean(axis=0) - clouds.to_box(joint.origin)
    is_turn = joint.kind in ("revolute", "continuous")
    room = joint.upper - joint.lower if joint.kind in ("revolute", "prismatic") else 2 * np.pi
    away = np.linalg.norm(np.cross(offset, axis)) if is_turn else 0.0
    range_ = room / np.pi if is_turn else room / clouds.scale
    return [float(joint.kind == "revolute"), float(joint.kind == "prismatic"), float(joint.kind == "continuous"),
            min(float(range_), 2.0), abs(axis[1]), abs(axis[2]), away]  # fmt: skip


def gathered(folder: Path, each: int) -> list[Described]:
    """Training objects that are real, and for each category so many generated ones."""
    paths = {path.stem: path for path in sorted(folder.glob("*.npz"))}
    found = []
    for name in hold_out(paths)[0]:
        if category(name) in FAMILIES:
            found.append(Described(features(load(paths[name]).articulation), category(name), True))
    for kind, families in FAMILIES.items():
        for number in range(each):
            asset, _ = generate(families[number % len(families)], SEED, number)
            if asset is not None:
                found.append(Described(features(asset.articulation), kind, False))
    return found


def compared(some: list[Described]) -> tuple[float, float, list[str]]:
    """AUC of the classifier, share of objects told right, and the features that tell most."""
    rows = np.concatenate([one.rows for one in some])
    owner = np.repeat(np.arange(len(some)), [len(one.rows) for one in some])
    is_real = np.array([one.is_real for one in some])
    fold = np.zeros(len(some), dtype=int)
    for truth in (True, False):  # every fold has some of both
        mine = np.flatnonzero(is_real == truth)
        fold[np.random.default_rng(0).permutation(mine)] = np.arange(len(mine)) % FOLDS
    score = np.zeros(len(rows))
    for one in range(FOLDS):
        test = fold[owner] == one
        score[test] = probabilities(rows[~test], is_real[owner][~test], rows[test])
    mean = np.bincount(owner, weights=score) / np.bincount(owner)
    right = np.mean([((mean > 0.5) == is_real)[is_real == truth].mean() for truth in (True, False)])
    alone = np.array([area_under_curve(rows[:, k], is_real[owner]) for k in range(rows.shape[1])])
    order = np.argsort(-np.abs(alone - 0.5))[:4]
    real = is_real[owner]
    telling = [
        f"{NAMES[k]} {np.median(rows[real, k]):.2g} / {np.median(rows[~real, k]):.2g}"
        for k in order
        if abs(alone[k] - 0.5) > 0.1
    ]
    return area_under_curve(mean, is_real), float(right), telling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=30, help="generated objects of each category")
    parser.add_argument("--write", type=Path, help="a page whose block 'realism' gets the table")
    args = parser.parse_args()
    described = gathered(data_folder(None, "partnet_mobility/train"), args.each)
    columns = ("category", "real objects", "told right", "AUC", "features that tell most (medians, real / generated)")
    lines = [f"| {' | '.join(columns)} |", "|---|---|---|---|---|"]
    table = []
    for kind in FAMILIES:
        some = [one for one in described if one.category == kind and len(one.rows)]
        real = sum(one.is_real for one in some)
        if real >= LEAST:
            table.append((kind, real, *compared(some)))
    for kind, real, curve, right, telling in sorted(table, key=lambda row: -row[2]):
        lines.append(f"| {kind} | {real} | {right:.2f} | {curve:.2f} | {'; '.join(telling)} |")
    curves = np.array([row[2] for row in table])
    lines.append(f"| mean | {sum(row[1] for row in table)} | {np.mean([row[3] for row in table]):.2f} | "
                 f"{curves.mean():.2f} | |")  # fmt: skip
    text = "\n".join(lines) + f"\n\n{stamp()}"
    print(text)
    if args.write:
        replace_block(args.write, "realism", text)


if __name__ == "__main__":
    main()
