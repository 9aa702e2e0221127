"""How the card of some weights describes their model, and how the model is built again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neurok.errors import NeurokError

if TYPE_CHECKING:
    from torch import nn


def _alone(model: Any) -> dict[str, nn.Module]:
    return {"": model}


@dataclass(frozen=True)
class Task:
    """What a network is for; the hub loads and saves weights by it."""

    build: Callable[[dict[str, Any]], Any]
    """The untrained model that a card describes."""

    describe: Callable[[Any], dict[str, Any] | None]
    """What a card says of a model; nothing where the model is of another task."""

    modules: Callable[[Any], dict[str, nn.Module]] = _alone
    """The networks of a model by the prefix of their tensors."""


def members_of(model: Any) -> dict[str, nn.Module]:
    """Networks that answer together, numbered."""
    return {f"{number}.": member for number, member in enumerate(model.members)}


def odds_in(said: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Slope and offset of calibrated log-odds, by what they are for."""
    odds = {name: (float(slope), float(offset)) for name, (slope, offset) in said.items()}
    if not all(math.isfinite(number) for pair in odds.values() for number in pair):
        raise NeurokError("its calibration has numbers that are not finite")
    return odds
