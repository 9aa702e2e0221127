"""Joints without labels: try lines, move the part along them, keep what neither collides nor comes loose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.contacts import ContactGraph, PartSamples, contact_graph, find_tree, subtree
from neurok.bodyplan.hypothesis import BUTTON_DIRECTION, LEAST_SLIDE, LEAST_TURN, Hypothesis, slide_limits, turn_limits
from neurok.bodyplan.line_features import (
    RANKING,
    TURN_FEATURES,
    PartFacts,
    fixed_evidence,
    line_distances,
    line_logits,
    part_facts,
    same_box_parts,
    slide_evidence,
    softmax,
    turn_evidence,
)
from neurok.bodyplan.lines import Lines, directions, directions_of_parts, turning_lines
from neurok.bodyplan.sweep import FreeRange, Mover, try_slides, try_turns
from neurok.core import Mesh
from neurok.core.articulation import JointKind

SHORTEST = 0.02  # Parts count as at least this long along a slide [share of the object]. By eye.
COINCIDENT_DIRECTION = 0.996  # Lines nearer in direction [cosine, five degrees] ...
COINCIDENT_PLACE = 0.02  # ... and in place [share of the object] add up their probabilities. By eye.
# A turn and a slide nearer than this in direction are one cylindrical joint [cosine, 2.6 degrees]. By eye.
SAME_AXIS = 0.999
CYLINDRICAL = 0.5  # Probability of a cylindrical joint [shares of the less likely of its turn and its slide]. By eye.
# A part is held fixed beyond this probability; below it the likeliest motion comes first. A majority.
SURELY_FIXED = 0.5
FIXED_RANK = 0.99  # What being fixed has at most then [shares of the likeliest motion]: just behind it.


@dataclass(frozen=True, eq=False)
class Search:
    """What was tried for every part."""

    mesh: Mesh
    contacts: ContactGraph
    parents: tuple[int, ...]
    """The part that carries each part; -1 for the base."""

    hypotheses: tuple[tuple[Hypothesis, ...], ...]
    """For each part the valid hypotheses, best first; the base has none. ``fixed`` is always among the others'."""

    rejected: tuple[tuple[Hypothesis, ...], ...]
    """For each part what was tried and rejected, with a reason each, best first."""

    note: str = ""
    """What was left out, in one sentence; empty if nothing."""

    def best(self, part: int) -> Hypothesis | None:
        """The first choice for a part; nothing for the base."""
        return self.hypotheses[part][0] if self.hypotheses[part] else None


def search_joints(
    mesh: Mesh,
    contacts: ContactGraph | None = None,
    parents: tuple[int, ...] | None = None,
    up: Float[np.ndarray, "3"] | None = None,
    ranking: Path = RANKING,
) -> Search:
    """Joint hypotheses of every part of a mesh with ``part_ids``.

    ``contacts`` and ``parents`` (the part that carries each, -1 for the base) are found unless they are known; ``up``
    is that of the mesh unless it is known better; ``ranking`` is the file of the weights of the evidence.
    """
    up = mesh.up_vector if up is None else up
    contacts = contacts or contact_graph(mesh)
    parents = parents or find_tree(contacts, up)
    samples = {part: one for part, one in enumerate(contacts.samples) if parents[part] >= 0 and one is not None}
    axes, cap = directions_of_parts(contacts, samples)
    searches = {
        part: search_part(mesh, contacts, parents, part, one, up, axes[part], ranking) for part, one in samples.items()
    }
    _average_over_same_boxes(searches, contacts)
    found = [
        _hypotheses(searches[part]) if part in searches else _without_surface(part, parents)
        for part in range(len(contacts.samples))
    ]
    valid = tuple(tuple(c for c in one if c.is_valid) for one in found)
    rejected = tuple(tuple(c for c in one if not c.is_valid) for one in found)
    crowded = f"So many parts touch each other that at most {cap} directions were tried for each." if cap else ""
    return Search(mesh, contacts, parents, valid, rejected, crowded)


def _without_surface(part: int, parents: tuple[int, ...]) -> list[Hypothesis]:
    """Nothing for the base; a part of no surface is fixed to what carries it."""
    if parents[part] < 0:
        return []
    return [Hypothesis(part, parents[part], "fixed", np.eye(3)[1], np.zeros(3), 0.0, 0.0, 1.0)]


@dataclass(eq=False)
class PartSearch:
    """All that was found out about one part; logits change once the parts are compared."""

    part: int
    parent: int
    facts: PartFacts
    lines: Lines
    axes: Float[np.ndarray, "D 3"]
    turns: FreeRange
    slides: FreeRange
    lengths: Float[np.ndarray, " D"]
    size: float
    """Diagonal of the object."""

    evidence: dict[str, np.ndarray]
    """For each kind one row for each line and one column for each feature."""

    logits: dict[str, np.ndarray]

    def directions_of(self, kind: str) -> np.ndarray:
        return self.axes if kind == "prismatic" else self.lines.axes


def search_part(
    mesh: Mesh,
    contacts: ContactGraph,
    parents: tuple[int, ...],
    part: int,
    samples: PartSamples,
    up: Float[np.ndarray, "3"],
    axes: Float[np.ndarray, "D 3"] | None = None,
    ranking: Path = RANKING,
) -> PartSearch:
    """Try all lines of one part and gather what speaks for each.

    ``axes`` are the directions to try; all that are worth it by default.
    """
    facts = part_facts(part, parents, contacts, samples, up)
    mover = Mover(mesh, contacts, subtree(parents, part))
    axes = directions(samples, contacts.of(part)) if axes is None else axes
    lines = turning_lines(part, parents[part], contacts, axes, samples)
    lengths = np.maximum(2.0 * np.abs(axes @ samples.box.axes.T) @ samples.box.half, SHORTEST * contacts.size)
    turns = try_turns(mover, lines.axes, lines.origins, mesh.part_names)
    slides = try_slides(mover, axes, lengths, mesh.part_names)
    turned = turn_evidence(facts, samples, lines, turns, contacts, up)
    rounds = float(turned[:, TURN_FEATURES.index("round")].max())
    slid = slide_evidence(facts, samples, axes, slides, rounds, up)
    found = {
        "revolute": turned,
        "continuous": turned,
        "prismatic": slid,
        "fixed": fixed_evidence(facts, turns, slides, rounds),
    }
    logits = {kind: line_logits(kind, rows, ranking) for kind, rows in found.items()}
    return PartSearch(part, parents[part], facts, lines, axes, turns, slides, lengths, contacts.size, found, logits)


def _average_over_same_boxes(searches: dict[int, PartSearch], contacts: ContactGraph) -> None:
    """Parts of the same shape move alike: what speaks for a kind and a direction is averaged over them."""
    sums: dict[int, dict[tuple[str, tuple[float, ...]], float]] = {}
    for part, tried in searches.items():
        sums[part] = {}
        for kind in ("revolute", "continuous", "prismatic"):
            for key, rows in _by_direction(tried.directions_of(kind)).items():
                sums[part][kind, key] = float(np.logaddexp.reduce(tried.logits[kind][rows]))
    for part, tried in searches.items():
        alike = [sums[p] for p in same_box_parts(part, contacts) if p in sums]
        if len(alike) < 2:
            continue
        for kind in ("revolute", "continuous", "prismatic"):
            changed = tried.logits[kind].copy()
            for key, rows in _by_direction(tried.directions_of(kind)).items():
                known = [other[kind, key] for other in alike if (kind, key) in other]
                changed[rows] += np.mean(known) - sums[part][kind, key]
            tried.logits[kind] = changed


def _by_direction(axes: Float[np.ndarray, "C 3"]) -> dict[tuple[float, ...], np.ndarray]:
    """Rows of each direction, which is known by its rounded numbers."""
    rounded, inverse = np.unique(np.round(axes, 1) + 0.0, axis=0, return_inverse=True)
    return {tuple(row): np.flatnonzero(inverse.reshape(-1) == k) for k, row in enumerate(rounded.tolist())}


def _hypotheses(tried: PartSearch) -> list[Hypothesis]:
    """Every line as a hypothesis, best first."""
    joined = np.concatenate([tried.logits[kind] for kind in ("revolute", "continuous", "prismatic", "fixed")])
    probabilities = softmax(joined)
    count = len(tried.lines)
    coincident = _coincident(tried.lines, tried.size)
    for some in (slice(0, count), slice(count, 2 * count)):
        probabilities[some] = coincident @ probabilities[some]
    found = [_turn(tried, i, "revolute", float(probabilities[i])) for i in range(count)]
    found += [_turn(tried, i, "continuous", float(probabilities[count + i])) for i in range(count)]
    found += [_slide(tried, i, float(probabilities[2 * count + i])) for i in range(len(tried.axes))]
    found += _cylinders(found)
    likeliest = max((c.probability for c in found if c.is_valid), default=0.0)
    found.append(_fixed(tried, float(probabilities[-1]), likeliest))
    return sorted(found, key=lambda c: -c.probability)


def _fixed(tried: PartSearch, probability: float, moving: float) -> Hypothesis:
    """The hypothesis that does not move: first only when it outweighs all motions together, not just each of them."""
    probability = probability if probability > SURELY_FIXED else min(probability, FIXED_RANK * moving)
    center = tried.facts.box.center
    return Hypothesis(tried.part, tried.parent, "fixed", np.eye(3)[1], center, 0.0, 0.0, probability)


def _coincident(lines: Lines, size: float) -> Float[np.ndarray, "C C"]:
    """1 for lines that are nearly one: they share what speaks for them instead of splitting it."""
    away = line_distances(lines.origins, lines.axes, lines.origins) / size
    parallel = np.abs(lines.axes @ lines.axes.T) > COINCIDENT_DIRECTION
    return (parallel & (np.minimum(away, away.T) < COINCIDENT_PLACE)).astype(np.float64)


def _turn(tried: PartSearch, i: int, kind: JointKind, probability: float) -> Hypothesis:
    free_range = tried.turns
    low, high = float(free_range.low[i]), float(free_range.high[i])
    axis = tried.lines.axes[i]
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    reason = ""
    if high < LEAST_TURN or (kind == "continuous" and not free_range.is_full[i]):
        reason = free_range.reasons[i]
    lower, upper = (-np.pi, np.pi) if kind == "continuous" else turn_limits(low, high)
    origin, free = tried.lines.origins[i], (0.0 - low, high)
    return Hypothesis(tried.part, tried.parent, kind, axis, origin, lower, upper, probability, reason, free)


def _slide(tried: PartSearch, i: int, probability: float) -> Hypothesis:
    free_range, facts = tried.slides, tried.facts
    low, high = float(free_range.low[i]), float(free_range.high[i])
    axis, length = tried.axes[i], float(tried.lengths[i])
    thickness = 2.0 * float(np.abs(facts.box.axes @ axis) @ facts.box.half)
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    is_button = facts.is_small and abs(float(axis @ facts.normal)) > BUTTON_DIRECTION
    reason = free_range.reasons[i] if high < LEAST_SLIDE * length and not is_button else ""
    if is_button and float(axis @ (facts.contact.mean(axis=0) - facts.box.center)) < 0:
        axis, low, high = 0.0 - axis, high, low  # it is pressed towards what it sits on, whatever is free
    lower, upper = slide_limits(low, high, thickness, is_button)
    free = (0.0 - low, high)
    return Hypothesis(
        tried.part, tried.parent, "prismatic", axis, facts.box.center, lower, upper, probability, reason, free
    )


def _cylinders(found: list[Hypothesis]) -> list[Hypothesis]:
    """Lines that a part can turn about all the way and slide along as well."""
    turning = [c for c in found if c.kind == "continuous" and c.is_valid]
    sliding = [c for c in found if c.kind == "prismatic" and c.is_valid]
    out = []
    for slide in sliding:
        along = [c for c in turning if abs(float(c.axis @ slide.axis)) > SAME_AXIS]
        if along:
            best = max(along, key=lambda c: c.probability)
            probability = CYLINDRICAL * min(best.probability, slide.probability)
            both = replace(
                best, kind="cylindrical", axis=slide.axis, probability=probability, slide=(slide.lower, slide.upper)
            )
            out.append(both)
    return out
