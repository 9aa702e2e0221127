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
    """How much the search counts beside the networks, from 0 to 1, and when views agree."""

    kinds: float = 0.5
    """Weight of the search in the kind of a joint. Folds."""

    axes: float = 0.5
    """Weight of the search in the direction of an axis on which views agree. Folds."""

    pivots: float = 0.5
    """Weight of the search in the place of a hinge. Folds."""

    doubtful_axes: float = 0.7
    """Weight of the search in the direction of an axis on which views disagree. Folds."""

    agreed: float = 0.95
    """Views agree if no smaller share of them makes the same choice: networks that know a thing do. Folds."""

    steady: float = 0.1
    """Lengths of a turn that differ by more between views are guesses [share of the length]. Folds."""

    same_line: float = 0.03
    """The search speaks of the limits of a hinge if its line is nearer than this [unit box]. By eye."""

    one_sided: float = 0.05
    """A range is open on one side if the other is less than this [share of the larger side]. By eye."""

    cluster: float = 0.02
    """Pivots nearer than this support each other [unit box]. By eye: as near as is right in training."""

    apart: float = 2.0
    """Two pivots of one answer are at least this far apart [clusters]. By eye."""

    most_pivots: int = 4
    """Pivots that are told of each part."""

    network_floor: float = 1e-3
    """Least density of a pivot by the networks. By eye."""

    search_floor: float = 1e-2
    """Least density of a pivot by the search, which misses more. By eye."""


CLOUDS = CloudConfig()
FUSION = FusionConfig()
