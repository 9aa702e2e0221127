"""Every number that shapes a body plan, with its unit and where it comes from.

*Share of the object* means a share of the diagonal of its bounding box. *By eye*: set on a handful of objects when the
step was written, and not measured since. *Training objects*: chosen by what it does to the annotated training objects
of PartNet-Mobility; held-out ones were not looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

SIMULATED = 0.25
"""Joints of a plan that are less likely do not move in a simulation or an export: one that should not be there is seen
at once, in a list of poses it is only one too many. By eye, on sofas and cupboards of the household set."""


@dataclass(frozen=True)
class ContactConfig:
    """How parts are sampled, what touches, and what is small."""

    reach: float = 0.01
    """Parts closer than this touch [share of the object]. By eye."""

    small_part: float = 0.12
    """Smaller parts are knobs, buttons and details [share of the object]. By eye; the ranking is fitted with it."""

    least_points: int = 256
    """Samples of a part at least, so that small ones have a shape too. By eye."""

    most_points: int = 3000
    """Samples of a part at most: what a search in under a second affords."""

    total_points: int = 16_000
    """Samples of the object, shared by area. What a search in under a second affords."""

    patch: float = 1.5
    """A sample stands for its tangent plane as far as this [spacings of the samples]. By eye."""

    lone_reach: float = 1.5
    """A part that touches nothing touches its nearest neighbour within this [least gaps]. By eye."""

    turned_box: float = 0.9
    """A turned box must be smaller than this share of the one along the world's axes to be taken. By eye."""


@dataclass(frozen=True)
class BodiesConfig:
    """Which connected components are parts. All but ``embedded`` by what it does to the training objects."""

    contacts: ContactConfig = field(default_factory=ContactConfig)
    """``small_part`` says which components are details and join what they touch most, unless they are knobs."""

    knob: float = 0.03
    """A knob, a button or a small wheel is at least this large [share of the object] ..."""

    knob_width: float = 0.65
    """... at least this wide [share of its length] ..."""

    knob_thickness: float = 0.05
    """... and at least this thick [share of its width]."""

    most_knobs: int = 20
    """More components of such a shape are keys of a keyboard, bolts or ornaments: details again."""

    embedded: float = 0.5
    """A component with more of its surface on another one belongs to it [share of its surface]. By eye."""

    embedded_disc: float = 0.8
    """The same for a disc (a lid, a dial, a turntable), which may sit deeper in what carries it."""

    disc_width: float = 0.95
    """Discs are at least this wide [share of their length]."""

    panel_thickness: float = 0.25
    """A panel is at most this thick [share of its width]."""

    largest_panel: float = 0.7
    """A larger panel is a wall [share of the object]."""

    behind: float = 0.05
    """What stands behind a panel and belongs to it touches it with more than this [share of its surface]."""

    beyond: float = 0.1
    """It touches things beyond the outline of the panel with no more than this [share of its surface]."""

    larger: float = 0.95
    """A panel carries what is smaller than this [share of the panel's size]."""

    tray: float = 0.1
    """Something larger belongs to a panel if it touches it with more than this [share of its surface] ..."""

    tray_panel: float = 0.2
    """... and the panel it with more than this [share of the panel's surface]."""

    margin: float = 0.02
    """How far something may stand out over the outline of what it is behind [share of the object]."""

    under: float = 0.25
    """How deep something below a panel may reach into it [margins]."""

    lying: float = 0.5
    """A panel lies flat if its normal is nearer to up than this [cosine]."""

    most_pieces: int = 250
    """Beyond that many components the smallest join the nearest large one: bounds the time of broken files."""


@dataclass(frozen=True)
class TreeConfig:
    """Which part is the base and which carries which. By eye, checked on training objects."""

    weak_contact: float = 0.3
    """Cost of a contact without surface beside one of the largest surface, whose cost is 1."""

    base_size: float = 0.5
    """What the size of a part [share of the object] says for the base, beside its share of the area."""

    base_degree: float = 0.7
    """What the share of parts it touches says for the base."""

    base_stands: float = 0.4
    """What standing on the ground says for the base ..."""

    base_fall: float = 20.0
    """... and how fast that falls with the height [1 / share of the object]: to nothing at a twentieth."""


@dataclass(frozen=True)
class CopyConfig:
    """Which parts are shifted copies of each other. By eye; the answers of keyboards stay what they were without it."""

    many: int = 24
    """Objects of more parts than this are not tried part by part where parts are copies."""

    same_shape: float = 0.002
    """How far vertices of copies may differ [share of the object]."""

    same_contact: float = 0.02
    """How far the places where copies touch their carrier may differ [share of the object]."""


@dataclass(frozen=True)
class LineConfig:
    """Which lines are tried. By eye."""

    snap: float = 0.9962
    """Directions nearer than this to an axis of the world become it [cosine, five degrees]."""

    same_direction: float = 0.9986
    """Nearer directions are one [cosine, three degrees]."""

    same_place: float = 0.008
    """Nearer parallel lines are one [share of the object]."""

    contact_width: float = 0.2
    """A contact has a direction across it if it is wider than this [share of its length]."""

    most_directions: int = 400
    """Directions that are tried for all parts together. Beyond it, as in a heap of leaves, parts keep those of their
    box, of the world and of their strongest contacts. More than objects of 32 parts have; about ten seconds."""

    fewest_directions: int = 4
    """Directions that every part keeps."""


@dataclass(frozen=True)
class SweepConfig:
    """How parts are moved along lines, and what stops them. By eye; counts are what a search in a second affords."""

    clearance: float = 0.006
    """Depth of penetration that is forgiven [share of the object]."""

    grazing: float = 0.12
    """A path at a smaller angle runs along a surface instead of through it [sine]."""

    overshoot: float = 1.001
    """Steps are longer by this factor: what ends exactly on a surface has gone through it."""

    collides: float = 0.07
    """Share of points that must cross before it counts: files are not exact, and small clashes are common."""

    first_angles: tuple[float, ...] = (5.0, 10.0, 15.0)
    """Angles tried on every line [deg]."""

    later_angles: tuple[float, ...] = (20, 30, 40, 50, 60, 75, 90, 105, 120, 135, 150, 165, 180)
    """Angles tried where the first are free [deg]."""

    window: int = 4
    """Later angles are tried so many at a time: most lines have met something by then."""

    slide_steps: int = 20
    """Steps of a slide, evenly up to the length of the part along it."""

    early_step: int = 3
    """Step after which ``early_crossing`` is taken: 15 degrees, or a seventh of the length."""

    own_points: int = 72
    """Points of the part that are followed."""

    other_points: int = 128
    """Points of the rest that are followed: half of them close by, half anywhere the part may get to."""

    attachment_points: int = 64
    """Points of the part that may keep it attached: half where it touches at rest, half anywhere."""

    close_by: float = 0.15
    """How far *close by* goes [sizes of the part]."""

    may_get_to: float = 1.1
    """How far the part may get to, for points of the rest [sizes of the part]."""

    within_reach: float = 1.2
    """The same for its triangles, a little farther [sizes of the part]."""

    neighbours: int = 48
    """Own samples that tell on which side of the other surface a point lies."""

    interpenetration: float = 0.2
    """Points with more of these samples on either side are left out: the surfaces pass through each other."""

    grid_cells: int = 80
    """Cells along the object of the grid that tells whether parts are near; a part within two cells is attached."""

    grid_margin: int = 3
    """Cells around the object, so that a step outside needs no test."""


@dataclass(frozen=True)
class EvidenceConfig:
    """Widths of the evidence for each line. By eye; ``priors.json`` is fitted with these: others need another fit."""

    hinge_width: float = 0.03
    """Contact nearer to a line than this may be its hinge; the same for centroids [share of the object]."""

    near_width: float = 0.02
    """How fast nearness of the contact and of its middle fades [share of the object]."""

    disc_width: float = 0.05
    """The same for the middle of a flat contact across the line [share of the object]."""

    edge_variance: float = 0.1
    """How fast being along an edge or a face of the box fades [squared half widths]."""

    middle_variance: float = 0.05
    """How fast being along the middle of the box fades [squared half widths]."""

    same_direction: float = 0.98
    """Lines nearer than this to a side of the box, or to up, are along it [cosine, eleven degrees]."""

    level: float = 0.2
    """Lines farther than this from up are level [cosine]."""

    low_edge: float = 0.5
    """Level lines lie at a low or high edge beyond this height over the middle [half heights]."""

    half_round: float = 0.5
    """Roundness beyond which a part is round at least in part."""

    stuck_turn: float = 0.2
    """A turn of less than this does not open [rad]."""

    wide_turn: float = 0.75
    """A turn of more than this does [rad]."""

    stuck_slide: float = 0.1
    """A slide of less than this is blocked [lengths of the part]."""

    wide_slide: float = 0.3
    """A slide of more than this is open [lengths of the part]."""

    long_slide: float = 0.5
    """A slide of more than this is as free as can be [lengths of the part]."""

    tip: float = 0.06
    """The end of a part along a direction, where a handle may be [share of its length]."""

    tip_share: float = 0.02
    """How fast being a tip fades with its share of the surface."""

    same_box: float = 0.06
    """Boxes whose half lengths differ by less are the same [share of the longest half length]."""

    round_middle: float = 0.3
    """Roundness is measured about lines that are at least this much along the middle of the box."""

    round_angles: tuple[float, ...] = (0.6, 1.3, 2.6)
    """Angles by which a part is turned to see whether it maps onto itself [rad]; no simple share of a full turn."""

    round_points: int = 64
    """Points of the part that are turned for it."""

    round_width: float = 0.02
    """How fast roundness fades with the gap [share of the part's box]."""

    handle_height: float = 0.6
    """Higher points are a handle or another protrusion [half thicknesses of the box] ..."""

    handle_share: float = 0.25
    """... unless they are more of the part than this."""

    thinnest: float = 0.02
    """Sides of a box count as at least this long where lines are placed in it [share of the box]."""

    outside: float = 3.0
    """Lines farther off the middle of the box count as this far [half widths]."""


@dataclass(frozen=True)
class LimitConfig:
    """From a free range to limits: things rarely use all the room they have, and small clashes rarely stop them."""

    least_turn: float = math.radians(10.0)
    """What a hinge must at least allow [rad]. By eye."""

    least_slide: float = 0.08
    """What a slide must at least allow [lengths of the part]. By eye."""

    widest_turn: float = math.radians(90.0)
    """Most hinges that meet nothing stop here [rad]. By eye."""

    turn_play: float = 0.3
    """A way back smaller than this is play, not range [rad]. By eye."""

    slide: float = 0.8
    """How far a part slides out [lengths of the part]. By eye."""

    slide_back: float = 0.5
    """It slides backward as well if more than this is free there [lengths of the part]. By eye."""

    slide_scrape: float = 0.1
    """If more than this is free it slides all the way: drawers scrape along [lengths of the part]. By eye."""

    button: float = 0.6
    """How far a button sinks in [heights of the button]. By eye."""

    button_direction: float = 0.9
    """A small part that slides nearer than this to the normal of its contact is a button [cosine]. By eye."""

    slack: float = 0.01
    """How much wider than at rest the gap to the carrier may get [share of the object]. By eye."""

    loose: float = 0.25
    """A slide that a network knows and that loses its carrier within this share of its way keeps its limits: lids are
    lifted off, and drawers that are a mere front have nothing to run in. By eye, on training objects kept aside."""

    contact_steps: int = 24
    """Values tried between rest and a limit. By eye."""

    contact_points: int = 600
    """Points of the part that are followed, about. By eye."""

    contact_play: float = 0.2
    """A way back shorter than this is noise [share of the way forth]. By eye, on training objects kept aside."""


RANKING = Path(__file__).parent / "priors.json"
"""Weights of the evidence; ``ranking`` tells how they are made."""


@dataclass(frozen=True)
class SearchConfig:
    """The search for joints: its steps, and how their findings become probabilities."""

    contacts: ContactConfig = field(default_factory=ContactConfig)
    tree: TreeConfig = field(default_factory=TreeConfig)
    copies: CopyConfig = field(default_factory=CopyConfig)
    lines: LineConfig = field(default_factory=LineConfig)
    sweep: SweepConfig = field(default_factory=SweepConfig)
    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)
    limits: LimitConfig = field(default_factory=LimitConfig)
    ranking: Path = RANKING
    """Weights of the evidence. Fitted to training objects and generated families."""

    shortest: float = 0.02
    """Parts count as at least this long along a slide [share of the object]. By eye."""

    coincident_direction: float = 0.996
    """Lines nearer in direction [cosine, five degrees] ..."""

    coincident_place: float = 0.02
    """... and in place [share of the object] add up their probabilities. By eye."""

    same_axis: float = 0.999
    """A turn and a slide nearer than this in direction are one cylindrical joint [cosine, 2.6 degrees]. By eye."""

    cylindrical: float = 0.5
    """Probability of a cylindrical joint [shares of the less likely of its turn and its slide]. By eye."""

    fixed: float = 0.5
    """A part is held fixed beyond this probability; below it the likeliest motion comes first. A majority."""

    fixed_rank: float = 0.99
    """What being fixed has at most then [shares of the likeliest motion]: just behind it."""


@dataclass(frozen=True)
class TourConfig:
    """When a door must be opened for what stands behind it. By eye."""

    points: int = 1_200
    """Points on each part that tell whether it meets another."""

    meets: float = 0.02
    """A part meets another if more than this share of its points comes to lie in it."""

    away: float = 4.0
    """Points farther than this from the other at rest are well away from it [spacings of its points]."""

    steps: int = 24
    """Values tried between rest and the far end."""

    most_parts: int = 24
    """Objects of more moving parts, like keyboards, are shown without asking what stands in the way of what."""

    slide: float = 0.3
    """How far a slide without limits is shown [share of the object]."""

    turn: float = math.pi / 2
    """How far a turn with one limit is shown [rad]."""


@dataclass(frozen=True)
class ClearanceConfig:
    """When two bodies of one object count as passing through each other. By eye, as in the search."""

    crossing: float = 0.07
    """Share of the points of a body that must cross the other: that of ``SweepConfig.collides``."""

    steps: int = 12
    """Steps from rest to a state, for each of the two bodies."""

    bisections: int = 6
    """How finely a body that must wait is drawn back: to a sixty-fourth of its way."""

    tries: int = 12
    """States drawn before one that is not free is drawn back."""

    most_bodies: int = 24
    """Objects of more moving bodies, like keyboards, are not asked: their keys do not reach each other."""


CONTACT = ContactConfig()
CLEARANCE = ClearanceConfig()
BODIES = BodiesConfig()
TREE = TreeConfig()
COPIES = CopyConfig()
LINES = LineConfig()
SWEEP = SweepConfig()
EVIDENCE = EvidenceConfig()
LIMITS = LimitConfig()
SEARCH = SearchConfig()
TOUR = TourConfig()
