"""The flags ``--unit`` and ``--up`` of every command that loads an object, and what they do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from neurok.core import Asset

UnitFlag = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="m|cm|mm|in|METRES",
        help="The unit of the object's file; by default as the file says, unless that is surely wrong.",
    ),
]
UpFlag = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="x|y|z", help="The axis of the file that points up; by default as the file says, or a sure guess."
    ),
]


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
