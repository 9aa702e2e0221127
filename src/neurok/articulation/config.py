"""What the networks see of a part, and how much the search counts beside them: the numbers that somebody varies.

*Unit box*: the object's longest side is 1. *Trained with*: the shipped weights have learned from such inputs, so that
another value needs other weights. *Folds*: chosen on training objects that networks and ranking had left out
(``docs/notebook/articulation.md``). *By eye*: set on a handful of objects and not measured since.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CloudConfig:
    """How many points a network sees of each part. Trained with."""

    points: int = 256
    """Points kept of each part; views draw from them."""

    view_points: int = 128
    """Points of each part that a network sees of a view."""

    dense_points: int = 24_000
    """Points of the whole object that gaps are measured to."""

    frame_only: bool = False
    """Whether an axis may only have the directions of the object's frame: enough where nobody asks for axes."""


@dataclass(frozen=True)
class FusionConfig:
    """How much the search counts beside the networks, from 0 to 1."""

    kinds: float = 0.5
    """Weight of the search in the kind of a joint. Folds."""

    axes: float = 0.5
    """Weight of the search in the direction of an axis on which views agree. Folds."""

    pivots: float = 0.5
    """Weight of the search in the place of a hinge. Folds."""

    doubtful_axes: float = 0.7
    """Weight of the search in the direction of an axis on which views disagree. Folds."""


CLOUDS = CloudConfig()
FUSION = FusionConfig()
