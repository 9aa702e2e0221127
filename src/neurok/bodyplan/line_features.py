"""What speaks for and against a line (free range, contact near the hinge, edges, roundness, openness), and how likely
each line is by it: one weight for each feature, kind by kind.

``priors.json`` holds the weights. ``neurok train ranking`` makes it: all lines of every part of an annotated object are
tried as the search does, and the weights are fitted so that the lines along which the part truly moves are likeliest
among them (a conditional logit with a ridge). Learned from are the training objects of PartNet-Mobility and generated
families; no held-out object is read. The widths below are those that it was fitted with: others need another fit. The
weights hold general habits of made things: doors turn about an edge that touches the frame, knobs about the line they
are round about, drawers slide out of where they are confined.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import PATCH, SMALL_PART, Box, ContactGraph, PartSamples
from neurok.bodyplan.lines import Lines
from neurok.bodyplan.sweep import FreeRange, trajectories

TURN_FEATURES = (
    "one", "free", "free_half", "one_sided", "full", "hinge", "near", "hinge_length", "corner", "face", "middle",
    "along_longest", "along_shortest", "upright", "round", "round_middle", "disc", "small_middle", "panel_edge",
    "handle", "early", "small", "thin", "touching", "hinge_edge", "centroid", "alone", "outer", "sibling", "low_edge",
    "high_edge", "tall", "tall_middle", "size", "round_upright", "carried", "contact_middle", "above", "half_round",
    "handle_along",
)  # fmt: skip
"""What is known of a line to turn about; the weights of ``priors.json`` have these names."""

SLIDE_FEATURES = (
    "one", "free", "free_part", "one_sided", "confined", "across", "along_contact", "upright", "along_longest",
    "along_shortest", "button", "small", "thin", "round", "touching", "early", "kept", "both", "big_across",
    "confined_free", "alone", "tip", "tall", "size", "round_upright", "above", "carried", "thin_along", "twins",
    "round_tall", "thin_free", "clash",
)  # fmt: skip
"""What is known of a line to slide along."""

FIXED_FEATURES = ("one", "small", "thin", "touching", "stuck", "round", "turns", "slides", "size", "carries", "above")
"""What is known of a part that may be fixed."""

FEATURES = {
    "revolute": TURN_FEATURES,
    "continuous": TURN_FEATURES,
    "prismatic": SLIDE_FEATURES,
    "fixed": FIXED_FEATURES,
}

RANKING = Path(__file__).parent / "priors.json"

# Widths of the evidence; by eye.
HINGE_WIDTH = 0.03  # Contact nearer to a line than this may be its hinge; the same for centroids [share of the object].
NEAR_WIDTH = 0.02  # How fast nearness of the contact and of its middle fades [share of the object].
DISC_WIDTH = 0.05  # The same for the middle of a flat contact across the line [share of the object].
EDGE_VARIANCE = 0.1  # How fast being along an edge or a face of the box fades [squared half widths].
MIDDLE_VARIANCE = 0.05  # How fast being along the middle of the box fades [squared half widths].
SAME_DIRECTION = 0.98  # Lines nearer than this to a side of the box, or to up, are along it [cosine, eleven degrees].
LEVEL = 0.2  # Lines farther than this from up are level [cosine].
LOW_EDGE = 0.5  # Level lines lie at a low or high edge beyond this height over the middle [half heights].
HALF_ROUND = 0.5  # Roundness beyond which a part is round at least in part.
STUCK_TURN = 0.2  # A turn of less than this does not open [rad].
WIDE_TURN = 0.75  # A turn of more than this does [rad].
STUCK_SLIDE = 0.1  # A slide of less than this is blocked [lengths of the part].
WIDE_SLIDE = 0.3  # A slide of more than this is open [lengths of the part].
LONG_SLIDE = 0.5  # A slide of more than this is as free as can be [lengths of the part].
TIP = 0.06  # The end of a part along a direction, where a handle may be [share of its length].
TIP_SHARE = 0.02  # How fast being a tip fades with its share of the surface.
SAME_BOX = 0.06  # Boxes whose half lengths differ by less are the same [share of the longest half length].
ROUND_MIDDLE = 0.3  # Roundness is measured about lines that are at least this much along the middle of the box.
# Angles by which a part is turned to see whether it maps onto itself [rad]; no simple share of a full turn.
ROUND_ANGLES = (0.6, 1.3, 2.6)
ROUND_POINTS = 64  # Points of the part that are turned for it.
ROUND_WIDTH = 0.02  # How fast roundness fades with the gap [share of the part's box].
HANDLE_HEIGHT = 0.6  # Higher points are a handle or another protrusion [half thicknesses of the box] ...
HANDLE_SHARE = 0.25  # ... unless they are more of the part than this.
THINNEST = 0.02  # Sides of a box count as at least this long where lines are placed in it [share of the box].
OUTSIDE = 3.0  # Lines farther off the middle of the box count as this far [half widths].


@dataclass(frozen=True, eq=False)
class PartFacts:
    """Figures of a part that its lines share."""

    box: Box
    size: float
    """Diagonal of the part over that of the object."""

    is_small: bool
    """A knob, a button or the like."""

    thin: float
    """1 for a sheet, 0 for a cube."""

    touching: float
    """Share of its surface in contact."""

    contact: Float[np.ndarray, "K 3"]
    """Where it touches its parent (or anything, if it does not touch the parent)."""

    normal: Float[np.ndarray, "3"]
    flat: float
    """1 where the contact lies in a plane, 0 where it wraps around the part."""

    alone: float
    """1 when it touches only its parent."""

    siblings: Float[np.ndarray, "M 3"]
    """Where it touches parts that neither carry it nor are carried by it."""

    carried: Float[np.ndarray, "N 3"]
    """Middles of the parts it carries."""

    middle: Float[np.ndarray, "3"]
    """Middle of the object."""

    above: float
    """Height over the middle of its parent, as a share of the object."""

    repeats: float
    """How many parts of the object have the same box: 0 for none, towards 1 for many."""


def part_facts(
    part: int, parents: tuple[int, ...], contacts: ContactGraph, samples: PartSamples, up: Float[np.ndarray, "3"]
) -> PartFacts:
    parent = parents[part]
    pairs = contacts.of(part)
    mine = [pair for pair in pairs if pair.other(part) == parent] or list(pairs)
    points = np.concatenate([pair.points for pair in mine]) if mine else samples.box.center[None]
    normal = max(mine, key=lambda pair: pair.share_of(part)).normal if mine else np.eye(3)[1]
    half = np.sort(samples.box.half)
    bounds = np.stack([c.bounds for c in contacts.samples if c is not None])
    carrier = contacts.samples[parent] if parent >= 0 else None
    spread = points - points.mean(axis=0)
    width = np.sqrt(np.maximum(np.linalg.eigvalsh(spread.T @ spread / len(points)), 0.0))
    return PartFacts(
        samples.box,
        samples.box.size / contacts.size,
        samples.box.size / contacts.size < SMALL_PART,
        float(1.0 - half[0] / max(half[1], 1e-300)),
        float(min(1.0, sum(pair.share_of(part) for pair in mine))),
        points,
        normal,
        float(1.0 - width[0] / max(width[1], 1e-300)),
        float(len(pairs) <= 1),
        _stacked([pair.points for pair in pairs if pair.other(part) != parent and parents[pair.other(part)] != part]),
        _stacked([c.box.center[None] for p, c in enumerate(contacts.samples) if c is not None and parents[p] == part]),
        0.5 * (np.min(bounds[:, 0], axis=0) + np.max(bounds[:, 1], axis=0)),
        float((samples.box.center - (carrier or samples).box.center) @ up) / contacts.size,
        1.0 - 1.0 / max(1, len(same_box_parts(part, contacts))),
    )


def same_box_parts(part: int, contacts: ContactGraph) -> list[int]:
    """Parts whose box has the same shape, size and axes, the part itself included."""
    present, axes, half = contacts.boxes
    mine = int(np.searchsorted(present, part))
    turned = np.abs(axes @ axes[mine].T) @ half[mine]
    alike = np.abs(turned - half).max(axis=1) < SAME_BOX * half[mine].max()
    return [int(p) for p in present[alike]]


def _stacked(points: list[np.ndarray]) -> Float[np.ndarray, "N 3"]:
    return np.concatenate(points) if points else np.zeros((0, 3))


def turn_evidence(
    facts: PartFacts,
    samples: PartSamples,
    lines: Lines,
    free_range: FreeRange,
    contacts: ContactGraph,
    up: Float[np.ndarray, "3"],
) -> Float[np.ndarray, "C K"]:
    """One row for each line, columns as ``TURN_FEATURES``."""
    axes, origins, size = lines.axes, lines.origins, contacts.size
    box = facts.box
    distance = line_distances(facts.contact, axes, origins) / size
    close = distance < HINGE_WIDTH
    hinge = close.mean(axis=1)
    hinge = hinge / max(float(hinge.max(initial=0.0)), 1e-9)
    near = np.exp(-distance.min(axis=1) / NEAR_WIDTH)
    along = facts.contact @ axes.T
    reach = 2.0 * np.abs(axes @ box.axes.T) @ box.half
    span = np.array([np.ptp(along[close[c], c]) if close[c].any() else 0.0 for c in range(len(axes))])
    length = np.minimum(1.0, span / np.maximum(reach, 1e-9 * size))
    place = _place_in_box(box, axes, origins)
    sides = np.sort(place, axis=1)[:, ::-1]
    corner = np.exp(-((sides[:, 0] - 1.0) ** 2 + (sides[:, 1] - 1.0) ** 2) / EDGE_VARIANCE)
    face = np.exp(-((sides[:, 0] - 1.0) ** 2 + sides[:, 1] ** 2) / EDGE_VARIANCE)
    middle = np.exp(-(sides[:, 0] ** 2 + sides[:, 1] ** 2) / MIDDLE_VARIANCE)
    rank = np.abs(axes @ box.axes.T)
    order = np.argsort(box.half)
    longest, shortest = rank[:, order[2]] > SAME_DIRECTION, rank[:, order[0]] > SAME_DIRECTION
    upright = np.abs(axes @ up) > SAME_DIRECTION
    disc = facts.flat * np.abs(axes @ facts.normal) ** 4
    disc = disc * np.exp(-line_distances(facts.contact.mean(axis=0)[None], axes, origins)[:, 0] / (DISC_WIDTH * size))
    rounds = roundness(samples, axes, origins, middle)
    low, high = free_range.low, free_range.high
    free = np.minimum(1.0, (low + high) / (np.pi / 2))
    free_half = np.minimum(1.0, (low + high) / np.pi)
    one_sided = (np.minimum(low, high) < STUCK_TURN) & (np.maximum(low, high) > WIDE_TURN)
    full = free_range.is_full
    small = np.full(len(axes), float(facts.is_small))
    thin = np.full(len(axes), facts.thin)
    centroid = np.exp(-line_distances(samples.center[None], axes, origins)[:, 0] / (HINGE_WIDTH * size))
    ones = np.ones(len(axes))
    edge = np.maximum(corner, face)
    center = box.center[None]
    outer = (line_distances(facts.middle[None], axes, origins)[:, 0] - _line_gap(facts.middle, box.center, axes)) / size
    sibling = (line_distances(facts.siblings, axes, origins) < HINGE_WIDTH * size).sum(axis=1)
    sibling = sibling / max(1, len(facts.siblings))
    level = np.abs(axes @ up) < LEVEL
    lift = (origins - center) @ up / np.maximum(np.abs(box.axes @ up) @ box.half, 1e-9 * size)
    tall = _tallness(box, axes)
    carried = (
        (line_distances(facts.carried, axes, origins).mean(axis=1) - line_distances(center, axes, origins)[:, 0])
        / box.size
        if len(facts.carried)
        else np.zeros(len(axes))
    )
    handle, bar, along_handle = handle_evidence(samples, box, axes, origins)
    contact_middle = -line_distances(facts.contact.mean(axis=0)[None], axes, origins)[:, 0]
    contact_middle = np.exp(contact_middle / (NEAR_WIDTH * size))
    columns = [
        ones, free, free_half, one_sided, full, hinge, near, length, corner, face, middle, longest, shortest, upright,
        rounds, rounds * middle, disc, small * middle, thin * ~shortest * edge, handle,
        free_range.early_crossing, small, thin, ones * facts.touching, hinge * edge, centroid, ones * facts.alone,
        outer, sibling, level * edge * (lift < -LOW_EDGE), level * edge * (lift > LOW_EDGE), tall,
        tall * middle, ones * np.log(facts.size),
        rounds * upright, carried, contact_middle, ones * facts.above, (rounds > HALF_ROUND) * middle,
        np.abs(axes @ along_handle) ** 2 * bar,
    ]  # fmt: skip
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def slide_evidence(
    facts: PartFacts,
    samples: PartSamples,
    axes: Float[np.ndarray, "D 3"],
    free_range: FreeRange,
    rounds: float,
    up: Float[np.ndarray, "3"],
) -> Float[np.ndarray, "D K"]:
    """One row for each direction, columns as ``SLIDE_FEATURES``."""
    box = facts.box
    reach = 2.0 * np.abs(axes @ box.axes.T) @ box.half
    low, high = free_range.low, free_range.high
    best = np.maximum(low, high)
    free = np.minimum(1.0, best / (WIDE_SLIDE * np.linalg.norm(reach.max())))
    free_part = np.minimum(1.0, best / np.maximum(LONG_SLIDE * reach, 1e-9))
    blocked = (np.maximum(low, high) < STUCK_SLIDE * reach).astype(np.float64)
    confined = (blocked.sum() - blocked) / max(1, len(axes) - 1)
    one_sided = (np.minimum(low, high) < STUCK_SLIDE * reach) & (best > WIDE_SLIDE * reach)
    both = np.minimum(low, high) > WIDE_SLIDE * reach
    across = np.abs(axes @ facts.normal) ** 4
    rank = np.abs(axes @ box.axes.T)
    order = np.argsort(box.half)
    longest, shortest = rank[:, order[2]] > SAME_DIRECTION, rank[:, order[0]] > SAME_DIRECTION
    upright = np.abs(axes @ up) > SAME_DIRECTION
    ones = np.ones(len(axes))
    small = ones * float(facts.is_small)
    columns = [
        ones, free, free_part, one_sided, confined, across, (1.0 - across) * facts.flat, upright, longest, shortest,
        small * across * (1.0 - rounds), small, ones * facts.thin, ones * rounds, ones * facts.touching,
        free_range.early_crossing, free_range.attached, both, (1.0 - small) * across, confined * free_part,
        ones * facts.alone, _tips(samples, axes),
        _tallness(box, axes), ones * np.log(facts.size), rounds * upright, ones * facts.above,
        ones * bool(len(facts.carried)), facts.thin * ~shortest, ones * facts.repeats, rounds * _tallness(box, axes),
        facts.thin * ~shortest * free_part, free_range.late_crossing,
    ]  # fmt: skip
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def fixed_evidence(facts: PartFacts, turns: FreeRange, slides: FreeRange, rounds: float) -> Float[np.ndarray, "1 K"]:
    """One row, columns as ``FIXED_FEATURES``."""
    turns_free = float(np.maximum(turns.low, turns.high).max(initial=0.0) > WIDE_TURN)
    slides_free = float(np.maximum(slides.low, slides.high).max(initial=0.0) > WIDE_SLIDE * facts.box.half.max())
    stuck = float(not turns_free and not slides_free)
    row = [1.0, float(facts.is_small), facts.thin, facts.touching, stuck, rounds, turns_free, slides_free]
    return np.array([[*row, np.log(facts.size), float(bool(len(facts.carried))), facts.above]])


def _line_gap(middle: np.ndarray, center: np.ndarray, axes: Float[np.ndarray, "C 3"]) -> Float[np.ndarray, " C"]:
    """Distance of the part's middle from the object's, seen along each axis."""
    return line_distances(middle[None], axes, np.broadcast_to(center, axes.shape))[:, 0]


def _tallness(box: Box, axes: Float[np.ndarray, "C 3"]) -> Float[np.ndarray, " C"]:
    """Length along the axis over the length across it, from 0 (a disc) towards 1 (a stick)."""
    along = np.abs(axes @ box.axes.T)
    length = along @ box.half
    across = np.sqrt(np.maximum((1.0 - along**2), 0.0) @ box.half**2 / 2.0)
    return length / np.maximum(length + across, 1e-300)


def _tips(samples: PartSamples, axes: Float[np.ndarray, "D 3"]) -> Float[np.ndarray, " D"]:
    """Whether the part ends in something small along each direction, as a drawer does in its handle."""
    along = samples.points @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    end = TIP * (high - low)
    share = np.minimum((along < low + end).mean(axis=0), (along > high - end).mean(axis=0))
    return np.exp(-share / TIP_SHARE)


def line_distances(
    points: Float[np.ndarray, "N 3"], axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"]
) -> Float[np.ndarray, "C N"]:
    """Distance of each point from each line."""
    # Products of matrices instead of an array of all offsets; around the middle of the points, where little cancels.
    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    points, origins = points - middle, origins - middle
    along = axes @ points.T - (origins * axes).sum(axis=1)[:, None]
    squares = (origins**2).sum(axis=1)[:, None] - 2.0 * origins @ points.T + (points**2).sum(axis=1)
    return np.sqrt(np.maximum(squares - along**2, 0.0))


def roundness(
    samples: PartSamples,
    axes: Float[np.ndarray, "C 3"],
    origins: Float[np.ndarray, "C 3"],
    middle: Float[np.ndarray, " C"],
) -> Float[np.ndarray, " C"]:
    """1 where turning the part about the line maps it onto itself; only lines through its middle are looked at."""
    out = np.zeros(len(axes))
    rows = np.flatnonzero(middle > ROUND_MIDDLE)
    if len(rows) == 0:
        return out
    angles = np.broadcast_to(np.array(ROUND_ANGLES), (len(rows), len(ROUND_ANGLES)))
    moved = trajectories(samples.spread(ROUND_POINTS), axes[rows], origins[rows], angles, turning=True)
    away, index = samples.tree.query(moved.reshape(-1, 3))
    height = np.abs(np.einsum("nd,nd->n", moved.reshape(-1, 3) - samples.points[index], samples.normals[index]))
    # Off the rim of a sample the tangent plane goes on for ever, so both distances have a say.
    gap = np.maximum(height, np.maximum(away - PATCH * samples.spacing, 0.0)).reshape(len(rows), -1)
    out[rows] = np.exp(-gap.mean(axis=1) / (ROUND_WIDTH * samples.box.size))
    return out


def handle_evidence(
    samples: PartSamples, box: Box, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"]
) -> tuple[Float[np.ndarray, " C"], float, Float[np.ndarray, "3"]]:
    """How much farther from the line than the part's middle its thin protrusion lies (hands pull far from a hinge),
    how much of a bar the protrusion is, and the direction of that bar."""
    thin = box.axes[int(np.argmin(box.half))]
    height = (samples.points - box.center) @ thin
    gain, bar, along = np.zeros(len(axes)), 0.0, np.zeros(3)
    for side in (-1.0, 1.0):
        tip = side * height > HANDLE_HEIGHT * float(box.half.min())
        if 0.0 < tip.mean() < HANDLE_SHARE:
            points = samples.points[tip]
            middle = points.mean(axis=0)
            away = line_distances(middle[None], axes, origins) - line_distances(box.center[None], axes, origins)
            gain += away[:, 0] / box.size
            width, frame = np.linalg.eigh((points - middle).T @ (points - middle))
            longer = 1.0 - np.sqrt(max(width[1], 0.0) / max(width[2], 1e-300))
            if longer > bar:
                bar, along = float(longer), frame[:, 2]
    return gain, bar, along


def _place_in_box(
    box: Box, axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"]
) -> Float[np.ndarray, "C 2"]:
    """Where each line passes the box: offset from the middle over half the width, along two sides across the line."""
    offset = origins - box.center
    offset = offset - np.einsum("cd,cd->c", offset, axes)[:, None] * axes
    along = np.abs(axes @ box.axes.T)
    out = np.zeros((len(axes), 2))
    sides = np.argsort(along, axis=1)[:, :2]
    for column in range(2):
        side = box.axes[sides[:, column]]
        half = np.maximum(box.half[sides[:, column]], THINNEST * box.size)
        out[:, column] = np.abs(np.einsum("cd,cd->c", offset, side)) / half
    return np.minimum(out, OUTSIDE)


@cache
def weights(kind: str, path: Path = RANKING) -> Float[np.ndarray, " K"]:
    """The weight of each feature for one kind of joint."""
    table = json.loads(path.read_text())
    return np.array([table[kind].get(name, 0.0) for name in FEATURES[kind]])


def line_logits(kind: str, evidence: Float[np.ndarray, "C K"], path: Path = RANKING) -> Float[np.ndarray, " C"]:
    """How much speaks for each line, on a log scale; ``path`` is the file of the weights."""
    return evidence @ weights(kind, path)


def softmax(values: Float[np.ndarray, " C"]) -> Float[np.ndarray, " C"]:
    """Probabilities of all hypotheses of one part, which add up to one."""
    powers = np.exp(values - values.max(initial=-np.inf))
    return powers / powers.sum()
