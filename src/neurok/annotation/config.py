"""When a motion is implausible: every limit that flags, with its unit and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

ACTIONS = {"stand": 0.0, "drop": 1.0, "throw": 2.0, "tilt": 0.0, "drag": 3.0, "wind": 3.0}
"""What is done to each object: it stands on the ground, and the five actions of ``neurok simulate --act``; and when
that is over, so that it may come to rest [√(size / g)]."""

GIVES = (
    ("fabric", 0.35), ("leather", 0.5), ("foam", 1.5), ("wood", 0.1), ("metal", 0.1), ("ceramic", 0.1),
    ("plastic", 0.1), ("composite", 0.1), ("rubber", 4.0), ("paper", 0.1), ("plant", 0.3), ("tissue", 0.8),
)  # fmt: skip
"""Elongation at break by the family of the library, the middle of handbook ranges, but never below 10 %: in reduced
coordinates stiff parts share handles with the soft ones beside them, and less is not seen (set). Families that flow or
crumble by nature are not named."""


@dataclass(frozen=True)
class TrialConfig:
    """How an object is tried and followed. Sizes are the diagonal of its box."""

    falls: float = 5.0
    """How long each run lasts [√(size / g)]: a throw flies for about two, a gust or a hand lasts three."""

    least_seconds: float = 1.0
    """No run is shorter [s]: small things settle slower than they fall."""

    fps: float = 24.0
    """Frames per second [1/s]."""

    share: float = 0.99
    """Of the edges of a part, so many must keep to its limit of stretch: single ones are noise of the mesh."""

    samples: int = 400
    """Points and pairs of each part that are followed, and an eighth of its edges."""

    touching: float = 0.005
    """Parts touch at rest where they are closer than this [sizes]."""

    late: float = 0.2
    """Share of a run that its end is judged by."""

    extends: float = 0.1
    """Directions in which a part extends by less than this share of its length say nothing about squashing."""


@dataclass(frozen=True)
class LimitConfig:
    """From where on a motion is flagged.

    Limits marked (set) were chosen on four fifths of a household set by looking at the runs they flag; the others
    follow from what they mean.
    """

    flat: float = 0.6
    """A soft part that ends at less than this share of its extent in some direction has flowed (set)."""

    spread: float = 1.6
    """... or at more than this share (set)."""

    bend: float = 0.04
    """Parts that are stiff bend by less than this share of their size, in the root mean square; less is not seen
    (set)."""

    apart: float = 0.03
    """Parts that touch at rest open up by less than this share of the object's size, on average (set)."""

    still: float = 0.002
    """What falls, is thrown or pulled moves by more than this [sizes]."""

    gives: float = 1e-4
    """What is soft stretches, bends or is squashed by more than this share in the hardest of the runs (set)."""

    yielding: float = 1e6
    """Materials up to this modulus [Pa] are expected to give visibly: foam, cushions, flesh; stiffer ones when they are
    sheets, which depends on their shape."""

    deep: float = 0.005
    """Depth in the ground [sizes]."""

    resting: float = 0.02
    """Mean speed below which an object rests [sizes per second]."""

    patience: float = 2.0
    """How long things may shake after the action is over before anyone complains [√(size / g)]."""

    settling: float = 0.8
    """What shakes comes to rest if its mean speed at the end of a run is below this share of that shortly before."""

    heavy: float = 400.0
    """Mass by the volume of the box [kg/m³]: furniture has 10 to 100, thick stoneware 500 (set)."""

    light: float = 3.0
    """The same from below: a rattan chair has 15, an empty bag of cloth 6 (set)."""

    filled: float = 2.0
    """Mass that an engine moves beside that of the surfaces, open ones as sheets: more means that something hollow was
    filled ..."""

    dense: float = 75.0
    """... which is right for a cushion, and is only told from this mass by the volume of the box on [kg/m³] (set)."""

    sags: float = 0.05
    """Height that a standing object loses under its own weight, as a share of it (set)."""

    leans: float = 20.0
    """By how much an object tips that nobody touches [degrees]: half of what makes it fall."""

    floats: float = 0.02
    """Height above the ground at the end [sizes]: contact shapes are convex and may hover a little."""

    stretch: tuple[tuple[str, float], ...] = GIVES
    """Elongation that each family of materials takes."""

    def takes(self, family: str) -> float | None:
        """The elongation that a family takes; ``None`` where there is no limit."""
        return dict(self.stretch).get(family)


TRIAL, LIMITS = TrialConfig(), LimitConfig()
