"""In which unit and with which axis up an object is read: what the user says, else the file, else a sure guess."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurok.core import Asset, Mesh
from neurok.core.mesh import AXIS_INDEX, UpAxis
from neurok.doctor.guess import DEFAULTS, UNITS, Guess, GuessConfig, guess_up, unit_name, unit_odds
from neurok.errors import NeurokError

METRES = {name: metres for name, (metres, _) in UNITS.items()} | {"inch": UNITS["in"][0]}
"""Units by their names."""


@dataclass(frozen=True, eq=False)
class Framed:
    """An object in the frame that is believed, and a sentence for each thing that is not as the file is read."""

    asset: Asset
    notes: tuple[str, ...] = ()


def parse_unit(text: str) -> float:
    """Metres per unit, out of a name or a number.

    Raises:
        NeurokError: If it is neither.
    """
    word = text.strip().lower()
    try:
        metres = METRES[word] if word in METRES else float(word)
    except ValueError:
        metres = math.nan
    if not (math.isfinite(metres) and metres > 0):
        raise NeurokError(f"{text!r} is no unit; write {', '.join(METRES)}, or how many metres one unit is.")
    return metres


def parse_up(text: str) -> UpAxis:
    """An axis out of its name."""
    word = text.strip().lower()
    if word not in AXIS_INDEX:
        raise NeurokError(f"{text!r} is no up axis; write {', '.join(AXIS_INDEX)}.")
    return word  # type: ignore[return-value]


def framed(
    asset: Asset,
    *,
    is_stated: bool,
    unit: float | None = None,
    up: UpAxis | None = None,
    config: GuessConfig = DEFAULTS,
) -> Framed:
    """The same numbers, read in the unit and with the up axis that are given, or else that are surely right.

    Args:
        asset: What was loaded.
        is_stated: Whether its format says what unit and axis it has (``io.formats.states_frame``). Its axis is then
            believed, and its unit unless that is absurd.
        unit: Metres per unit; guessed by default.
        up: Up axis; guessed by default.
        config: How sure a guess must be.
    """
    mesh, notes = asset.mesh, []
    if unit is None:
        unit = believed_unit(asset, is_stated=is_stated, config=config)
        notes += [_unit_note(asset, unit)] if unit != mesh.unit else []
    if up is None:
        guess = None if is_stated else guess_up(mesh, mesh.faces, config=config)
        is_sure = guess is not None and guess.value != mesh.up and guess.confidence >= config.sure
        notes += [_up_note(asset, guess)] if guess is not None and is_sure else []
        up = parse_up(guess.value) if guess is not None and is_sure else mesh.up
    if up == mesh.up and unit == mesh.unit:
        return Framed(asset)
    return Framed(asset.relabelled(up, unit), tuple(notes))


def believed_unit(asset: Asset, *, is_stated: bool, config: GuessConfig = DEFAULTS) -> float:
    """The unit an object is read in, or the likeliest where that one makes a size that is surely wrong [m]."""
    mesh = asset.mesh
    odds = unit_odds(_longest(mesh), mesh.unit, is_stated=is_stated, config=config)
    if not odds or odds[unit_name(mesh.unit)] > 1.0 - config.sure:
        return mesh.unit
    best = max(odds, key=lambda name: odds[name])
    return METRES.get(best, mesh.unit)


def _longest(mesh: Mesh) -> float:
    return float(np.ptp(mesh.bounds, axis=0).max())


def _unit_note(asset: Asset, unit: float) -> str:
    mesh, longest = asset.mesh, _longest(asset.mesh)
    return (
        f"'{mesh.name}' would be {longest * mesh.unit:.3g} m long if its unit were {unit_name(mesh.unit)}, "
        f"so it is read in {unit_name(unit)} ({longest * unit:.3g} m); give its unit to read it otherwise."
    )


def _up_note(asset: Asset, guess: Guess) -> str:
    name = asset.mesh.name
    return (
        f"'{name}' is stood upright with {guess.value} up, since {guess.reason}; give its up axis to turn it otherwise."
    )
