"""In which unit and with which axis up every command reads an object, and how it says so."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurok.core import Asset, Mesh
    from neurok.model import Model


def load_framed(path: str, unit: str | None = None, up: str | None = None) -> Asset:
    """The object in a file, in the frame that is given or surely right; guesses are told on stderr."""
    from neurok.io import load

    return told(load(path), path, unit, up)


def told(asset: Asset, path: str, unit: str | None = None, up: str | None = None) -> Asset:
    """The same object in the frame that is given or surely right; guesses are told on stderr."""
    from neurok.doctor.frame import framed, parse_unit, parse_up
    from neurok.io.formats import states_frame

    found = framed(
        asset,
        is_stated=states_frame(path),
        unit=None if unit is None else parse_unit(unit),
        up=None if up is None else parse_up(up),
    )
    for note in found.notes:
        print(f"neurok: {note}", file=sys.stderr)
    return found.asset


def understood(path: str, unit: str | None = None, up: str | None = None, **known: Any) -> Model:
    """The object in a file as all commands understand it; guesses about its frame are told on stderr."""
    from neurok.model import understand

    model = understand(path, unit=unit, up=up, **known)
    for note in model.notes:
        print(f"neurok: {note}", file=sys.stderr)
    return model


def frame_facts(mesh: Mesh) -> dict[str, Any]:
    """The frame of an object for ``--json``: metres per unit, and the axis that points up."""
    return {"unit": mesh.unit, "up": mesh.up}


def frame_words(mesh: Mesh) -> str:
    """The same for people."""
    from neurok.doctor.guess import unit_name

    return f"unit {unit_name(mesh.unit)}, {mesh.up} up"
