"""Fits what the signs of a body that is seen in a single surface count (``neurok.learned.views.bodies.BODY_ODDS``).

    python benchmarks/fit_views.py DATA [--step 3] [--weights FILE]

Objects that the network has not learned from are melted into one surface of 64, 96 or 128 cells: every STEPth one of
PartNet-Mobility in seen categories, fewer of the packs, and static ones. Every body that is found is right if the
velocity field of its best line has a cosine above 0.8 with that of a true joint.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from neurok.core import Articulation
from neurok.core.articulation import cosines, joint_fields
from neurok.geometry.level_set import MeltConfig
from neurok.geometry.operators import face_areas
from neurok.hub import load_model
from neurok.inference import plan
from neurok.learned.views import source as seeing
from neurok.learned.views.bodies import SeenBodies
from neurok_lab.evaluation.cases import boxed_articulation
from neurok_lab.evaluation.motions import _without_seams
from neurok_lab.train.calibration import RIDGE, _left_out, alike_objects, logistic
from neurok_lab.train.versions import melted_truth
from neurok_lab.train.views_data import Source, find_sources

MATCH = 0.8
STEPS = {("partnet", "seen"): 1.0, ("packs", "seen"): 1.7, ("packs", "unseen"): 2.7, ("static", "seen"): 0.7}
"""How much rarer than ``--step`` says objects of each source are taken."""

APART = 5
"""Every so many-th object is left out: to be measured, and never tuned on."""


def picked(data: Path, step: int) -> Iterator[Source]:
    sources = find_sources(data)
    for (kind, split), rarer in STEPS.items():
        some = [one for one in sources if (one.kind, one.split) == (kind, split)]
        some = [one for place, one in enumerate(some) if place % APART != APART - 1]
        yield from some[:: max(1, round(step * rarer))]


def judged(true: Articulation, options: dict[str, object]) -> list[tuple[np.ndarray, bool]]:
    """The signs of every body with a line that can be driven, and whether that line is a true motion."""
    found: list[SeenBodies] = []
    group = seeing.group_votes

    def recorded(votes, *rest):  # type: ignore[no-untyped-def]
        found.append(group(votes, *rest))
        return found[-1]

    seeing.group_votes = recorded
    try:
        study = plan.study(_without_seams(true.mesh), least=0.0, **options)  # type: ignore[arg-type]
    finally:
        seeing.group_votes = group
    areas, fields, out = face_areas(true.mesh.vertices, true.mesh.faces), joint_fields(true), []
    for part, weighed in study.evidence.items():
        if not weighed.lines or not found:
            continue
        signs = found[-1].signs[int(np.abs(found[-1].moves - weighed.facts[2]).argmin())]
        bodies = [
            replace(one, joint=weighed.lines[0] if k == part else None) for k, one in enumerate(study.plan.bodies)
        ]
        moved = joint_fields(replace(study.plan, bodies=tuple(bodies)).articulation)[:1]
        out.append((signs, bool(cosines(moved, fields, areas).max(initial=0.0) > MATCH)))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--step", type=int, default=3)
    parser.add_argument("--weights", default=None)
    given = parser.parse_args()
    plan.STILL, seeing.FAINT = -1.0, -np.inf  # whatever is found counts
    options = {
        "joint_weights": load_model("articulation_held_out", "articulation"),
        "piece_weights": plan.find_grouper("pieces_held_out"),
        "view_weights": plan.find_viewer(given.weights),
    }
    signs, right, owners = [], [], []
    torch.set_num_threads(1)
    for number, (one, cells) in enumerate(zip(picked(given.data, given.step), itertools.cycle((64, 128, 96)))):
        true = boxed_articulation(one.load().in_frame(up="y"))
        for row, is_right in judged(
            melted_truth(true, MeltConfig(cells, faces=6_000 if cells == 64 else 10_000)), options
        ):
            signs.append(row)
            right.append(is_right)
            owners.append(number)
    rows, truth, of = np.array(signs), np.array(right), np.array(owners)
    counts = alike_objects(of)
    asked, chances = _left_out(rows, truth, of, counts)
    sure = truth[asked][chances >= 0.5]
    print(f"{len(rows)} bodies of {number + 1} objects, {truth.sum()} right")
    print(f"left out: {len(sure)} above one half, {sure.sum()} of them right")
    print(f"BODY_ODDS = {tuple(logistic(rows, truth, RIDGE, counts).round(2).tolist())}")


if __name__ == "__main__":
    main()
