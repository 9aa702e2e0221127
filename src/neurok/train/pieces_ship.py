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
from neurok.train.pieces_data import plain_example
from neurok.train.pieces_sources import PieceSources, watched

PIECES = {
    "what": "bodies of raw meshes: which connected pieces move together, which belong to the base, and whether "
    "anything moves at all",
    "metrics_meaning": "of watched objects: shares of pieces that rightly move or stand still, of pairs of which one "
    "moves that are rightly told apart, and of objects of which it is rightly told whether anything moves",
    "limits": [
        "Pieces are connected components: what is welded into one surface is one piece, and its joints are not found.",
        "Up must be known; learned from furniture, appliances, tools and containers.",
        "Knobs and buttons are often taken for parts of the base; drawers among legs are missed.",
        "Static objects it has learned from are furniture and household things.",
    ],
}


def pieces_to_ship(
    model: PieceModel, origin: dict[str, Any], data: Sequence[str | Path] = ()
) -> tuple[Grouper, dict[str, Any]]:
    """The network with its calibration, and facts for the card; ``data`` are folders of annotated objects, if moved."""
    sources = restored(PieceSources(), origin.get("sources", {}))
    if data:
        sources = replace(sources, annotated=tuple(map(str, data)))
    found = (plain_example(thing.name, *thing.load(), thing.source) for thing in watched(sources))
    examples = [example for example in found if example is not None]
    facts = {"learned_from": origin.get("objects", []), **PIECES}
    if not examples:
        return Grouper(model), {**facts, "calibrated_on": None}
    calibration, told = calibrate(model, examples)
    return Grouper(model, calibration), {**facts, "calibrated_on": told}
