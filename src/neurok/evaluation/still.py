"""Objects that stand still: how many of them are given a joint all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neurok.core import Articulation, Joint
from neurok.data.still import static_files
from neurok.errors import NeurokError
from neurok.evaluation.articulation import JointSource

STILL = "objects that stand still"
FOLDERS = ("household/sweethome3d", "household/kenney-furniture-kit", "household/aws-small-house", "furniture_glb")
"""Where they are from; those that nothing has learned from are measured."""

SURE = 0.5
"""A joint that is likelier than this is said to be there."""

Row = dict[str, Any]


def find_still_sources(folder: Callable[[str], Path], limit: int | None = None) -> list[JointSource]:
    """Objects kept aside of the folders that are there; none where there are no such folders."""
    found = []
    for inside in FOLDERS:
        try:
            kept = static_files(folder(inside))[1]
        except NeurokError:
            continue
        found += [JointSource(f"{path.parent.name}_{path.stem}", STILL, partial(_load, path)) for path in kept]
    if limit is not None and limit < len(found):
        found = [found[int(i)] for i in np.unique(np.linspace(0, len(found) - 1, limit).round())]
    return found


def _load(path: Path) -> Articulation:
    """The object with the parts of its file, all of them fixed."""
    from neurok.io import load

    mesh = load(path).mesh
    joints = [Joint("fixed", -1 if part == 0 else 0) for part in range(mesh.part_count)]
    return Articulation(mesh, tuple(joints))


def summarise_still(rows: Iterable[Row]) -> list[Row]:
    """One row for each method."""
    rows = list(rows)
    out = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        out.append(
            {
                "group": STILL,
                "method": method,
                "objects": len(mine),
                "moving": sum(row["sure"] > 0 for row in mine),
                "share": float(np.mean([row["sure"] > 0 for row in mine])),
                "sure": float(np.mean([row["sure"] for row in mine])),
                "any": sum(row["coordinates"] > 0 for row in mine),
            }
        )
    return out


STILL_COLUMNS = {
    "method": ("method", "{}"),
    "objects": ("objects", "{}"),
    "moving": (f"with a joint above {SURE}", "{}"),
    "share": ("share", "{:.2f}"),
    "sure": (f"joints above {SURE} an object", "{:.2f}"),
    "any": ("with any joint in the plan", "{}"),
}
"""Columns of the table."""
