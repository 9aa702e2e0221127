"""The grouping network as it is shipped: calibrated, with what its card says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurok.articulation.pieces_network import PieceModel
from neurok.articulation.pieces_predict import Grouper
from neurok.train.config import restored
from neurok.train.pieces_calibration import calibrate
from neurok.train.pieces_data import prepare
from neurok.train.pieces_sources import PieceSources, watched

EXAMPLES = "examples"
"""Folder of a run with what it has prepared."""

PIECES = {
    "what": "bodies of raw meshes: which connected pieces move together, which belong to the base, and whether "
    "anything moves at all",
    "metrics_meaning": "of watched objects: shares of pieces that rightly move or stand still, of pairs of which one "
    "moves that are rightly told apart, and of objects of which it is rightly told whether anything moves",
    "go_on": "neurok train pieces ... --recipe further --start-from THIS_FILE (the first of its networks)",
    "limits": [
        "Pieces are connected components; a single surface is cut along its creases, and parts in it that are flush "
        "with what carries them are not found.",
        "Up must be known; learned from furniture, appliances, tools and containers.",
        "Knobs and buttons are often taken for parts of the base; drawers among legs are missed.",
        "Static objects it has learned from are furniture and household things.",
    ],
}


def pieces_to_ship(
    members: tuple[PieceModel, ...], origin: dict[str, Any], data: Sequence[str | Path], cache: Path
) -> tuple[Grouper, dict[str, Any]]:
    """Networks with their calibration, and facts for the card; ``data`` are folders of annotated objects, if moved.
    Examples that are kept in the ``cache`` are taken from there."""
    sources = restored(PieceSources(), origin.get("sources", {}))
    if data:
        sources = replace(sources, annotated=tuple(map(str, data)))
    examples = list(prepare(watched(sources), None, cache))
    if not examples:
        return Grouper(members), {**PIECES, "calibrated_on": None}
    calibration, told = calibrate(members, examples)
    return Grouper(members, calibration), {**PIECES, "calibrated_on": told}
