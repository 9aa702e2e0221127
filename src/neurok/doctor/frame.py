"""In which unit and with which axis up an object is read: what the user says, else the file, else a sure guess."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurok.core import Asset
from neurok.core.mesh import AXIS_INDEX, UpAxis
from neurok.doctor.guess import DEFAULTS, UNITS, Guess, GuessConfig, guess_unit, guess_up, unit_name
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
        guess = guess_unit(float(np.ptp(mesh.bounds, axis=0).max()), mesh.unit, is_stated=is_stated, config=config)
        unit = mesh.unit
        if guess.confidence >= config.sure and not math.isclose(METRES.get(guess.value, unit), unit):
            unit = METRES[guess.value]
            notes.append(_unit_note(asset, guess))
    if up is None:
        up = mesh.up
        guess = None if is_stated else guess_up(mesh, mesh.faces, config=config)
        if guess is not None and guess.value != up and guess.confidence >= config.sure:
            up = parse_up(guess.value)
            notes.append(_up_note(asset, guess))
    if up == mesh.up and unit == mesh.unit:
        return Framed(asset, tuple(notes))
    return Framed(asset.relabelled(up, unit), tuple(notes))


def _unit_note(asset: Asset, guess: Guess) -> str:
    mesh = asset.mesh
    longest = float(np.ptp(mesh.bounds, axis=0).max())
    return (
        f"'{mesh.name}' would be {longest * mesh.unit:.3g} m long if its unit were {unit_name(mesh.unit)}, "
        f"so it is read in {guess.value} ({longest * METRES[guess.value]:.3g} m); give its unit to read it otherwise."
    )


def _up_note(asset: Asset, guess: Guess) -> str:
    name = asset.mesh.name
    return f"'{name}' is stood upright with {guess.value} up, since {guess.reason}; give its up axis to turn it otherwise."
