"""Joints without labels: try lines, move the part along them, keep what neither collides nor comes loose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from neurok.bodyplan import evidence, ranking
from neurok.bodyplan.contacts import Contacts, PartCloud, find_contacts
from neurok.bodyplan.copies import find_copies, shift_between
from neurok.bodyplan.evidence import PartFacts
from neurok.bodyplan.hypothesis import Candidate
from neurok.bodyplan.limits import slide_limits, turn_limits
from neurok.bodyplan.lines import Lines, directions, turning_lines
from neurok.bodyplan.sweep import Mover, Surroundings
from neurok.bodyplan.tree import find_tree, subtree
from neurok.bodyplan.trials import Trial, try_slides, try_turns
from neurok.core import Articulation, Joint, Mesh
from neurok.core.articulation import JointKind

LEAST_TURN = np.deg2rad(10.0)
LEAST_SLIDE = 0.08
"""What a joint must at least allow: an angle, and a share of the part's length along the slide."""


@dataclass(frozen=True, eq=False)
class Search:
    """What was tried for every part."""

    mesh: Mesh
    contacts: Contacts
    parents: tuple[int, ...]
    """The part that carries each part; -1 for the base."""

    candidates: tuple[tuple[Candidate, ...], ...]
    """For each part the valid candidates, best first; the base has none. ``fixed`` is always among the others'."""

    rejected: tuple[tuple[Candidate, ...], ...]
    """For each part what was tried and rejected, with a reason each, best first."""

    def best(self, part: int) -> Candidate | None:
        """The first choice for a part; nothing for the base."""
        return self.candidates[part][0] if self.candidates[part] else None

    def articulation(self) -> Articulation:
        """The object with the best candidate of every part."""
        joints = []
        for part, name in enumerate(self.mesh.part_names or ("part_0",)):
            best = self.best(part)
            joints.append(best.joint(name) if best is not None else Joint("fixed", self.parents[part], name=name))
        return Articulation(self.mesh, tuple(joints), name=self.mesh.name)


def search_joints(
    mesh: Mesh,
    contacts: Contacts | None = None,
    parents: tuple[int, ...] | None = None,
    up: Float[np.ndarray, "3"] | None = None,
) -> Search:
    """Candidate joints of every part of a mesh with ``part_ids``.

    ``contacts`` and ``parents`` (the part that carries each, -1 for the base) are found unless they are known; ``up``
    is that of the mesh unless it is known better.
    """
    up = mesh.up_vector if up is None else up
    contacts = contacts or find_contacts(mesh)
    parents = parents or find_tree(contacts, up)
    studies: dict[int, Study] = {}
    copies = find_copies(contacts, parents)
    around = Surroundings(mesh, contacts, parents.index(-1))
    for part in sorted(range(len(contacts.clouds)), key=lambda part: part in copies):  # originals first
        cloud, original = contacts.clouds[part], studies.get(copies.get(part, -1))
        if parents[part] >= 0 and cloud is not None:
            studies[part] = study_part(mesh, contacts, parents, part, cloud, up, original, around)
    _agree(studies, contacts)
    found = [
        _candidates(studies[part]) if part in studies else _without_surface(part, parents)
        for part in range(len(contacts.clouds))
    ]
    valid = tuple(tuple(c for c in one if c.is_valid) for one in found)
    rejected = tuple(tuple(c for c in one if not c.is_valid) for one in found)
    return Search(mesh, contacts, parents, valid, rejected)


def _without_surface(part: int, parents: tuple[int, ...]) -> list[Candidate]:
    """Nothing for the base; a part of no surface is fixed to what carries it."""
    if parents[part] < 0:
        return []
    return [Candidate(part, parents[part], "fixed", np.eye(3)[1], np.zeros(3), 0.0, 0.0, 1.0)]


@dataclass(eq=False)
class Study:
    """All that was found out about one part; strengths change once the parts are compared."""

    part: int
    parent: int
    facts: PartFacts
    lines: Lines
    axes: Float[np.ndarray, "D 3"]
    turns: Trial
    slides: Trial
    lengths: Float[np.ndarray, " D"]
    size: float
    """Diagonal of the object."""

    evidence: dict[str, np.ndarray]
    """For each kind one row for each line and one column for each word."""

    strengths: dict[str, np.ndarray]

    def directions_of(self, kind: str) -> np.ndarray:
        return self.axes if kind == "prismatic" else self.lines.axes


def study_part(
    mesh: Mesh,
    contacts: Contacts,
    parents: tuple[int, ...],
    part: int,
    cloud: PartCloud,
    up: Float[np.ndarray, "3"],
    original: Study | None = None,
    around: Surroundings | None = None,
) -> Study:
    """Try all lines of one part and gather what speaks for each; a copy takes over what its original has tried."""
    names, parent = mesh.part_names, parents[part]
    facts = evidence.part_facts(part, parents, contacts, cloud, up)
    if original is None:
        mover = Mover(mesh, contacts, subtree(parents, part), around)
        axes = directions(cloud, contacts.of(part))
        lines = turning_lines(part, parent, contacts, axes, cloud)
        lengths = np.maximum(2.0 * np.abs(axes @ cloud.box.axes.T) @ cloud.box.half, 0.02 * contacts.size)
        turns = try_turns(mover, lines.axes, lines.origins, names)
        slides = try_slides(mover, axes, lengths, names)
    else:
        axes, lengths = original.axes, original.lengths
        lines = Lines(original.lines.axes, original.lines.origins + shift_between(original.part, part, contacts))
        turns, slides = original.turns.of_copy(parent, names), original.slides.of_copy(parent, names)
    turned = evidence.turn_evidence(facts, cloud, lines, turns, contacts, up)
    rounds = float(turned[:, evidence.TURN_WORDS.index("round")].max())
    slid = evidence.slide_evidence(facts, cloud, axes, slides, rounds, up)
    found = {
        "revolute": turned,
        "continuous": turned,
        "prismatic": slid,
        "fixed": evidence.fixed_evidence(facts, turns, slides, rounds),
    }
    strengths = {kind: ranking.strength(kind, rows) for kind, rows in found.items()}
    return Study(part, parent, facts, lines, axes, turns, slides, lengths, contacts.size, found, strengths)


def _agree(studies: dict[int, Study], contacts: Contacts) -> None:
    """Parts of the same shape move alike: what speaks for a kind and a direction is averaged over them."""
    sums: dict[int, dict[tuple[str, tuple[float, ...]], float]] = {}
    for part, study in studies.items():
        sums[part] = {}
        for kind in ("revolute", "continuous", "prismatic"):
            for key, rows in _by_direction(study.directions_of(kind)).items():
                sums[part][kind, key] = float(np.logaddexp.reduce(study.strengths[kind][rows]))
    for part, study in studies.items():
        twins = [sums[p] for p in evidence.twins_of(part, contacts) if p in sums]
        if len(twins) < 2:
            continue
        for kind in ("revolute", "continuous", "prismatic"):
            changed = study.strengths[kind].copy()
            for key, rows in _by_direction(study.directions_of(kind)).items():
                known = [twin[kind, key] for twin in twins if (kind, key) in twin]
                changed[rows] += np.mean(known) - sums[part][kind, key]
            study.strengths[kind] = changed


def _by_direction(axes: Float[np.ndarray, "C 3"]) -> dict[tuple[float, ...], np.ndarray]:
    """Rows of each direction, which is known by its rounded numbers."""
    rounded, inverse = np.unique(np.round(axes, 1) + 0.0, axis=0, return_inverse=True)
    return {tuple(row): np.flatnonzero(inverse.reshape(-1) == k) for k, row in enumerate(rounded.tolist())}


def _candidates(study: Study) -> list[Candidate]:
    """Every line as a candidate, best first."""
    joined = np.concatenate([study.strengths[kind] for kind in ("revolute", "continuous", "prismatic", "fixed")])
    scores = ranking.to_scores(joined)
    count = len(study.lines)
    alike = _alike(study.lines.axes, study.lines.origins, study.size)
    scores[:count], scores[count : 2 * count] = alike @ scores[:count], alike @ scores[count : 2 * count]
    found = [_turn(study, i, "revolute", float(scores[i])) for i in range(count)]
    found += [_turn(study, i, "continuous", float(scores[count + i])) for i in range(count)]
    found += [_slide(study, i, float(scores[2 * count + i])) for i in range(len(study.axes))]
    found += _cylinders(found)
    found.append(_fixed(study, float(scores[-1]), max((c.score for c in found if c.is_valid), default=0.0)))
    return sorted(found, key=lambda c: -c.score)


def _fixed(study: Study, score: float, moving: float) -> Candidate:
    """The candidate that does not move: first only when it outweighs all motions together, not just each of them."""
    score = score if score > 0.5 else min(score, 0.99 * moving)
    center = study.facts.box.center
    return Candidate(study.part, study.parent, "fixed", np.eye(3)[1], center, 0.0, 0.0, score)


def _alike(axes: Float[np.ndarray, "C 3"], origins: Float[np.ndarray, "C 3"], size: float) -> Float[np.ndarray, "C C"]:
    """1 for lines that are nearly one: they share what speaks for them instead of splitting it."""
    away = evidence.line_distances(origins, axes, origins) / size
    parallel = np.abs(axes @ axes.T) > 0.996
    return (parallel & (np.minimum(away, away.T) < 0.02)).astype(np.float64)


def _turn(study: Study, i: int, kind: JointKind, score: float) -> Candidate:
    trial = study.turns
    low, high = float(trial.low[i]), float(trial.high[i])
    axis = study.lines.axes[i]
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    reason = ""
    if high < LEAST_TURN or (kind == "continuous" and not trial.full[i]):
        reason = trial.reasons[i]
    lower, upper = (-np.pi, np.pi) if kind == "continuous" else turn_limits(low, high)
    origin, free = study.lines.origins[i], (0.0 - low, high)
    return Candidate(study.part, study.parent, kind, axis, origin, lower, upper, score, reason, free)


def _slide(study: Study, i: int, score: float) -> Candidate:
    trial, facts = study.slides, study.facts
    low, high = float(trial.low[i]), float(trial.high[i])
    axis, length = study.axes[i], float(study.lengths[i])
    thickness = 2.0 * float(np.abs(facts.box.axes @ axis) @ facts.box.half)
    if low > high:
        axis, low, high = 0.0 - axis, high, low
    is_button = facts.size < evidence.SMALL and abs(float(axis @ facts.normal)) > 0.9
    reason = trial.reasons[i] if high < LEAST_SLIDE * length and not is_button else ""
    if is_button and float(axis @ (facts.contact.mean(axis=0) - facts.box.center)) < 0:
        axis, low, high = 0.0 - axis, high, low  # it is pressed towards what it sits on, whatever is free
    lower, upper = slide_limits(low, high, thickness, is_button)
    free = (0.0 - low, high)
    return Candidate(study.part, study.parent, "prismatic", axis, facts.box.center, lower, upper, score, reason, free)


def _cylinders(found: list[Candidate]) -> list[Candidate]:
    """Lines that a part can turn about all the way and slide along as well."""
    turning = [c for c in found if c.kind == "continuous" and c.is_valid]
    sliding = [c for c in found if c.kind == "prismatic" and c.is_valid]
    out = []
    for slide in sliding:
        along = [c for c in turning if abs(float(c.axis @ slide.axis)) > 0.999]
        if along:
            best = max(along, key=lambda c: c.score)
            score = 0.5 * min(best.score, slide.score)
            both = replace(best, kind="cylindrical", axis=slide.axis, score=score, slide=(slide.lower, slide.upper))
            out.append(both)
    return out
