"""Every number that shapes the networks' inputs and how their answers become joints, with unit and origin.

*Unit box*: the object's longest side is 1. *Trained with*: the shipped weights have learned from such inputs, so that
another value needs other weights. *Folds*: chosen on training objects that networks and ranking had left out
(``docs/notebook/articulation.md``). *By eye*: set on a handful of objects and not measured since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from neurok.bodyplan.config import SearchConfig


@dataclass(frozen=True)
class CloudConfig:
    """What a network sees of each part. Trained with."""

    points: int = 256
    """Points kept of each part; views draw from them."""

    view_points: int = 128
    """Points of each part that a network sees of a view."""

    dense_points: int = 24_000
    """Points of the whole object that gaps are measured to."""

    reach: float = 0.15
    """Gaps are measured up to this [unit box]."""

    touch: float = 0.02
    """Parts nearer than this touch [unit box]."""

    nearest: float = 0.1
    """Where nothing touches, this share of the points counts as the contact: the nearest ones."""

    pair_reaches: tuple[float, float, float] = (0.01, 0.03, 0.08)
    """A pair is described by the shares of points nearer than these [unit box]."""

    same_direction: float = 0.9976
    """Nearer directions are one [cosine, four degrees]."""

    same_side: float = 0.98
    """Normals nearer than this belong to one flat side [cosine, eleven degrees]."""

    next_side: float = 0.9
    """The next flat side faces farther away than this [cosine, 26 degrees]."""

    least_contact: int = 4
    """Points from which a contact has directions."""

    most_contact: int = 2000
    """Points of another part that are looked at for them, at most."""

    thinnest: float = 0.02
    """Limits of slides are counted in extents of the part, which count as at least this [unit box]."""

    frame_only: bool = False
    """Whether an axis may only have the directions of the object's frame: enough where nobody asks for axes."""

    straight: float = 0.25
    """An object has upright sides if this share of them agrees on a turn about up."""

    askew: float = math.radians(2.0)
    """Smaller turns about up are left alone [rad]."""


@dataclass(frozen=True)
class UprightConfig:
    """When an object lies askew. By eye; found the frame of 19 training objects out of 19 that have one."""

    close: float = math.cos(math.radians(8.0))
    """Normals nearer than this to a direction belong to it, and a frame this near to up stands upright [cosine]."""

    facing: float = 0.4
    """Share of the surface that must face along the frame; round and grown things have none."""

    most_faces: int = 2000
    """Faces that are looked at: the largest."""


@dataclass(frozen=True)
class SearchEvidenceConfig:
    """How the hypotheses of the search are summed up for the network's options."""

    blocked: float = 0.2
    """Weight of a line along which the part collides or comes loose at once. By eye."""

    same_direction: float = math.cos(math.radians(8.0))
    """Lines nearer than this to a direction are along it [cosine]. By eye."""

    floor: float = 0.02
    """Share that is spread evenly over all options: the search may miss the true one. By eye."""


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


@dataclass(frozen=True)
class PredictionConfig:
    """All that shapes a prediction of joints beside the weights."""

    clouds: CloudConfig = field(default_factory=CloudConfig)
    upright: UprightConfig = field(default_factory=UprightConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    evidence: SearchEvidenceConfig = field(default_factory=SearchEvidenceConfig)
    fusion: FusionConfig = field(default_factory=FusionConfig)


@dataclass(frozen=True)
class LossConfig:
    """What the joint model is taught. By eye."""

    width: float = 0.02
    """How near an option must lie to a true axis to be right [unit box]."""

    nearest: float = 1e-3
    """Share of the nearest option where none is right."""

    most_limit: float = 3.0
    """Errors of limits count up to this [half turns, or extents of the part]."""

    label_direction: float = 0.985
    """True axes are taught by the direction nearest to them, if it is nearer than this [cosine, ten degrees]."""


@dataclass(frozen=True)
class RightConfig:
    """When a predicted joint counts as right; the tables of ``docs/articulation.md`` are made with these."""

    axis: float = 10.0
    """Angle between the axes at most [deg]."""

    pivot: float = 0.05
    """Distance of the axes at most [share of the object's diagonal]."""

    bins: int = 5
    """Bins of confidence of the calibration error."""


CLOUDS = CloudConfig()
UPRIGHT = UprightConfig()
SEARCH_EVIDENCE = SearchEvidenceConfig()
FUSION = FusionConfig()
PREDICTION = PredictionConfig()
LOSS = LossConfig()
RIGHT = RightConfig()
