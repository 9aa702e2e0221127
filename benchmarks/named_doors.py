"""Doors and drawers of files that name them, found in the raw meshes: the files that training keeps aside.

    python benchmarks/named_doors.py --named FOLDER [FOLDER ...] [--weights pieces_held_out]

A body is found if one that is likelier than not to move overlaps it by 0.75 of the area of both.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from neurok.bodyplan.config import STILL
from neurok.hub import load_model
from neurok.learned.grouping import Grouper, group_pieces, piece_odds
from neurok_lab.train.examples import PieceExample, PieceSources, prepare_pieces, watched

OVERLAP = 0.75
"""Share of the area of both bodies from which on one is the other."""


def found(grouper: Grouper, example: PieceExample) -> tuple[int, int, int]:
    """Bodies that are found, that move, and that are said to move."""
    odds = piece_odds(grouper, example.clouds)
    groups, areas = group_pieces(odds), example.clouds.areas
    said = np.flatnonzero(groups.moves > 0.0) if groups.chance >= STILL else []
    true = np.unique(example.bodies[example.moves > 0])

    def overlap(body: int, other: int) -> float:
        mine, theirs = example.bodies == body, groups.labels == other
        return float(areas[mine & theirs].sum() / max(areas[mine | theirs].sum(), 1e-12))

    hits = sum(any(overlap(body, other) > OVERLAP for other in said) for body in true)
    return hits, len(true), len(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--named", nargs="+", required=True, help="folders of files that name doors and drawers")
    parser.add_argument("--weights", default="pieces_held_out", help="of the grouping network")
    asked = parser.parse_args()
    grouper = load_model(asked.weights, "pieces")
    with tempfile.TemporaryDirectory() as cache:
        examples = list(prepare_pieces(watched(PieceSources(named=tuple(asked.named))), None, Path(cache)))
    for form in dict.fromkeys(example.name.rsplit(".", 1)[1] for example in examples):
        rows = np.array([found(grouper, one) for one in examples if one.name.endswith(form)])
        hits, true, said = rows.sum(axis=0)
        print(f"{form}: {hits} of {true} bodies of {len(rows)} files are found, {said} are said to move")


if __name__ == "__main__":
    main()
