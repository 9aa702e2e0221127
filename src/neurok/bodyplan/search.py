"""Joints without labels: try lines, move the part along them, keep what neither collides nor comes loose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.bodyplan import evidence, ranking
from neurok.bodyplan.config import SEARCH, SearchConfig
from neurok.bodyplan.contacts import ContactGraph, PartSamples, contact_graph
from neurok.bodyplan.copies import translated_copies, translation_between
from neurok.bodyplan.evidence import PartFacts
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.limits import slide_limits, turn_limits
from neurok.bodyplan.lines import Lines, directions, directions_of_parts, turning_lines
from neurok.bodyplan.sweep import Mover, StaticScene
from neurok.bodyplan.tree import find_tree, subtree
from neurok.bodyplan.trials import FreeRange, try_slides, try_turns
from neurok.core import Articulation, Joint, Mesh
from neurok.core.articulation import JointKind


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

    def articulation(self) -> Articulation:
        """The object with the best hypothesis of every part."""
        joints = []
        for part, name in enumerate(self.mesh.part_names or ("part_0",)):
            best = self.best(part)
            joints.append(best.joint(name) if best is not None else Joint("fixed", self.parents[part], name=name))
        return Articulation(self.mesh, tuple(joints), name=self.mesh.name)


def search_joints(
    mesh: Mesh,
    contacts: ContactGraph | None = None,
    parents: tuple[int, ...] | None = None,
    up: Float[np.ndarray, "3"] | None = None,
    config: SearchConfig = SEARCH,
) -> Search:
    """Joint hypotheses of every part of a mesh with ``part_ids``.

    ``contacts`` and ``parents`` (the part that carries each, -1 for the base) are found unless they are known; ``up``
    is that of the mesh unless it is known better.
    """
    up = mesh.up_vector if up is None else up
    contacts = contacts or contact_graph(mesh, config=config.contacts)
    parents = parents or find_tree(contacts, up, config=config.tree)
    searches: dict[int, PartSearch] = {}
    copies = translated_copies(contacts, parents, config.copies)
    scene = StaticScene(mesh, contacts, parents.index(-1), config.sweep)
    asked = [part for part, samples in enumerate(contacts.samples) if parents[part] >= 0 and samples is not None]
    axes, cap = directions_of_parts(contacts, [part for part in asked if part not in copies], config.lines)
    for part in sorted(asked, key=lambda part: part in copies):  # originals first
        samples, original = contacts.samples[part], searches.get(copies.get(part, -1))
        assert samples is not None, "it is among those that are asked"
        if original is None and part not in axes:
            axes[part] = directions(samples, contacts.of(part), config.lines)[: cap or None]
        searches[part] = search_part(
            mesh, contacts, parents, part, samples, up, original, scene, config, axes.get(part)
        )
    _average_over_same_boxes(searches, contacts, config.evidence.same_box)
    found = [
        _hypotheses(searches[part], config) if part in searches else _without_surface(part, parents)
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
    original: PartSearch | None = None,
    scene: StaticScene | None = None,
    config: SearchConfig = SEARCH,
    axes: Float[np.ndarray, "D 3"] | None = None,
) -> PartSearch:
    """Try all lines of one part and gather what speaks for each; a copy takes over what its original has tried.

    ``axes`` are the directions to try; all that are worth it by default.
    """
    names, parent = mesh.part_names, parents[part]
    facts = evidence.part_facts(part, parents, contacts, samples, up, config.evidence)
    if original is None:
        mover = Mover(mesh, contacts, subtree(parents, part), scene, config.sweep)
        axes = directions(samples, contacts.of(part), config.lines) if axes is None else axes
        lines = turning_lines(part, parent, contacts, axes, samples, config.lines)
        extents = 2.0 * np.abs(axes @ samples.box.axes.T) @ samples.box.half
        lengths = np.maximum(extents, config.shortest * contacts.size)
        turns = try_turns(mover, lines.axes, lines.origins, names)
        slides = try_slides(mover, axes, lengths, names)
    else:
        axes, lengths = original.axes, original.lengths
        lines = Lines(original.lines.axes, original.lines.origins + translation_between(original.part, part, contacts))
        turns, slides = original.turns.of_copy(parent, names), original.slides.of_copy(parent, names)
    turned = evidence.turn_evidence(facts, samples, lines, turns, contacts, up, config.evidence)
    rounds = float(turned[:, evidence.TURN_FEATURES.index("round")].max())
    slid = evidence.slide_evidence(facts, samples, axes, slides, rounds, up, config.evidence)
    found = {
        "revolute": turned,
        "continuous": turned,
        "prismatic": slid,
        "fixed": evidence.fixed_evidence(facts, turns, slides, rounds, config.evidence),
    }
    logits = {kind: ranking.logits(kind, rows, config.ranking) for kind, rows in found.items()}
    return PartSearch(part, parent, facts, lines, axes, turns, slides, lengths, contacts.size, found, logits)


def _average_over_same_boxes(searches: dict[int, PartSearch], contacts: ContactGraph, tolerance: float) -> None:
    """Parts of the same shape move alike: what speaks for a kind and a direction is averaged over them."""
    sums: dict[int, dict[tuple[str, tuple[float, ...]], float]] = {}
    for part, tried in searches.items():
        sums[part] = {}
        for kind in ("revolute", "continuous", "prismatic"):
            for key, rows in _by_direction(tried.directions_of(kind)).items():
                sums[part][kind, key] = float(np.logaddexp.reduce(tried.logits[kind][rows]))
    for part, tried in searches.items():
        alike = [sums[p] for p in evidence.same_box_parts(part, contacts, tolerance) if p in sums]
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


def _hypotheses(tried: PartSearch, config: SearchConfig) -> list[Hypothesis]:
    """Every line as a hypothesis, best first."""
    joined = np.concatenate([tried.logits[kind] for kind in ("revolute", "continuous", "prismatic", "fixed")])
    probabilities = ranking.softmax(joined)
    count = len(tried.lines)
    coincident = _coincident(tried.lines, tried.size, config)
    for some in (slice(0, count), slice(count, 2 * count)):
        probabilities[some] = coincident @ probabilities[some]
    found = [_turn(tried, i, "revolute", float(probabilities[i]), config) for i in range(count)]
    found += [_turn(tried, i, "continuous", float(probabilities[count + i]), config) for i in range(count)]
    found += [_slide(tried, i, float(probabilities[2 * count + i]), config) for i in range(len(tried.axes))]
    found += _cylinders(found, config)
    likeliest = max((c.probability for c in found if c.is_valid), default=0.0)
    found.append(_fixed(tried, float(probabilities[-1]), likeliest, config))
    return sorted(found, key=lambda c: -c.probability)


def _fixed(tried: PartSearch, probability: float, moving: float, config: SearchConfig) -> Hypothesis:
    """The hypothesis that does not move: first only when it outweighs all motions together, not just each of them."""
    probability = probability if probability > config.fixed else min(probability, config.fixed_rank * moving)
    center = tried.facts.box.center
    return Hypothesis(tried.part, tried.parent, "fixed", np.eye(3)[1], center, 0.0, 0.0, probability)


def _coincident(lines: Lines, size: float, config: SearchConfig) -> Float[np.ndarray, "C C"]:
    """1 for lines that are nearly one: they share what speaks for them instead of splitting it."""
    away = evidence.line_distances(lines.origins, lines.axes, lines.origins) / size
    parallel = np.abs(lines.axes @ lines.axes.T) > config.coincident_direction
    return (parallel & (np.minimum(away, away.T) < config.coincident_place)).astype(np.float64)


def _turn(tried: PartSearch, i: int, kind: JointKind, probability: float, config: SearchConfig) -> Hypothesis:
    free_range = tried.turns
    low, high = float(free_range.low[i]), float(free_range.high[i])
    axis = tried.lines.axes[i]
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    reason = ""
    if high < config.limits.least_turn or (kind == "continuous" and not free_range.is_full[i]):
        reason = free_range.reasons[i]
    lower, upper = (-np.pi, np.pi) if kind == "continuous" else turn_limits(low, high, config.limits)
    origin, free = tried.lines.origins[i], (0.0 - low, high)
    return Hypothesis(tried.part, tried.parent, kind, axis, origin, lower, upper, probability, reason, free)


def _slide(tried: PartSearch, i: int, probability: float, config: SearchConfig) -> Hypothesis:
    free_range, facts = tried.slides, tried.facts
    low, high = float(free_range.low[i]), float(free_range.high[i])
    axis, length = tried.axes[i], float(tried.lengths[i])
    thickness = 2.0 * float(np.abs(facts.box.axes @ axis) @ facts.box.half)
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    is_button = facts.is_small and abs(float(axis @ facts.normal)) > config.limits.button_direction
    reason = free_range.reasons[i] if high < config.limits.least_slide * length and not is_button else ""
    if is_button and float(axis @ (facts.contact.mean(axis=0) - facts.box.center)) < 0:
        axis, low, high = 0.0 - axis, high, low  # it is pressed towards what it sits on, whatever is free
    lower, upper = slide_limits(low, high, thickness, is_button, config.limits)
    free = (0.0 - low, high)
    return Hypothesis(
        tried.part, tried.parent, "prismatic", axis, facts.box.center, lower, upper, probability, reason, free
    )


def _cylinders(found: list[Hypothesis], config: SearchConfig) -> list[Hypothesis]:
    """Lines that a part can turn about all the way and slide along as well."""
    turning = [c for c in found if c.kind == "continuous" and c.is_valid]
    sliding = [c for c in found if c.kind == "prismatic" and c.is_valid]
    out = []
    for slide in sliding:
        along = [c for c in turning if abs(float(c.axis @ slide.axis)) > config.same_axis]
        if along:
            best = max(along, key=lambda c: c.probability)
            probability = config.cylindrical * min(best.probability, slide.probability)
            both = replace(
                best, kind="cylindrical", axis=slide.axis, probability=probability, slide=(slide.lower, slide.upper)
            )
            out.append(both)
    return out
