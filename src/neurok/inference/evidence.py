"""What every source says of the joint of a body, weighed in one place and calibrated once.

Joint network and search together give lines with probabilities (``learned.joints``); the grouping network says how
likely a body moves at all (``learned.grouping``). Copies of one part are asked together. Lines that cannot be driven
drop out (``bodyplan.feasibility``). The log-odds that the best line left is right are then linear in ``FACTS``.

To add a source: append its name to ``FACTS``, give its log-odds for each body in ``gather_evidence`` (0 where it says
nothing), and fit ``CALIBRATION`` anew by ``neurok train plan``, which prints one number for each fact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neurok.bodyplan.config import SIMULATED
from neurok.bodyplan.copies import CopyMap, copy_groups, copy_maps
from neurok.bodyplan.feasibility import Feasibility
from neurok.bodyplan.hypothesis import WIDEST_TURN, Hypothesis
from neurok.bodyplan.search import Search
from neurok.core.articulation import JointKind

if TYPE_CHECKING:
    from neurok.learned.grouping import Groups
    from neurok.learned.joints import Prediction
    from neurok.learned.views.lines import BodyVotes
    from neurok.learned.views.source import SeenObject

FACTS = ("one", "line", "moves")
"""What the calibration is linear in: a constant, the log-probability of the best line by joint network and search, and
the log-odds that the body moves by the grouping network (by search and joint network where it was not asked)."""

Calibration = tuple[float, ...]
"""Weight of each of ``FACTS`` in the log-odds that the best line of a body is right."""

CALIBRATION: Calibration = (2.56, 3.11, 0.64)
"""Fitted to 24 training objects that no network has learned from and 20 static ones, raw and with their parts, every
object counting alike (``neurok train plan``). Checked with what can be driven, on 425 bodies of these and of 50 objects
of other makers: of bodies between 0.5 and 0.7 (34) 0.70 are right, up to 0.9 (63) 0.80, beyond (136) 0.96; between 0.1
and 0.5 it is right within 0.1, below 0.1 too careful (0.21 are right)."""

UNASKED: Calibration = (-2.09, 1.98, 1.28)
"""The same where the grouping network is not at hand."""

SEARCHED: Calibration = (1.64, 2.06, 0.09)
"""The same where no network is, for the shares of the search alone: fitted to 130 bodies of these objects with their
parts; of 64 that come out above a half in objects left out, 42 are right."""

SEEN: Calibration = (0.0, 0.0, 1.0)
"""The same for a single surface, whose bodies are those that are seen from outside: their odds are calibrated already
(``learned.views.bodies.BODY_ODDS``)."""

SIGHT = 0.75
"""What views count beside joint network and search in the probability of a line [share of the logarithm]."""

SEEN_LINES = 6
"""Lines of each body that views propose at most."""

SHOWN = 5
"""Hypotheses of each body that are kept."""

MOST_SWEPT = 12
"""Lines of each body that are swept at most, the likeliest first."""

ASKED_COPIES = 6
"""Copies whose lines are tried on all of them, and that vote on what can be driven first: a keyboard has a hundred."""

UNSEEN = 0.02
"""Probability of a line that a copy does not know of itself: shares of lines that are the best of no part."""

SAME_DIRECTION = float(np.cos(np.radians(8.0)))
"""Cosine from which on two axes are one, as in the evidence of the search."""

SAME_PLACE = 0.02
"""Parallel axes nearer than this are one [share of the object]."""


@dataclass(frozen=True, eq=False)
class BodyEvidence:
    """The lines of one body, and what its calibration is asked about."""

    lines: tuple[Hypothesis, ...]
    """Best first, with their probabilities by search and joint network; none where nothing can be driven."""

    facts: tuple[float, ...]
    """As ``FACTS`` names them."""

    def probability(self, calibration: Calibration) -> float:
        """How likely the best line is right."""
        return float(1.0 / (1.0 + np.exp(-float(np.dot(calibration, self.facts))))) if self.lines else 0.0

    def ranked(self, calibration: Calibration) -> tuple[Hypothesis, ...]:
        """The lines with calibrated probabilities."""
        right = self.probability(calibration)
        return tuple(
            replace(line, probability=right * line.probability / self.lines[0].probability) for line in self.lines
        )


Evidence = dict[int, BodyEvidence]
Answer = dict[int, Hypothesis]
"""One way to move of copies: a line for each of them, all of one probability."""


def gather_evidence(prediction: Prediction, groups: Groups | None = None, seen: SeenObject | None = None) -> Evidence:
    """The evidence of every body that a parent carries and that has a surface."""
    from neurok.learned.joints import fixed_probability, joint_hypotheses

    found, mesh = {}, prediction.mesh
    votes = [None] * mesh.part_count if seen is None else seen.bodies(mesh.face_parts, mesh.part_count)
    for part in range(mesh.part_count):
        lines = joint_hypotheses(prediction, part)
        if lines:
            odds = _odds(1.0 - fixed_probability(prediction, part))
            moves = odds if groups is None else float(groups.moves[part])
            body = votes[part]
            if seen is not None and body is not None:
                lines = _seen_lines(lines, seen, body, mesh.size)
            found[part] = BodyEvidence(tuple(lines), (1.0, _log(lines[0]), moves))
    return found


def _seen_lines(lines: list[Hypothesis], seen: SeenObject, body: BodyVotes, size: float) -> list[Hypothesis]:
    """Lines of a body with what is seen of them, and those that are seen alone: a geometric mean of both."""
    total, first = sum(line.probability for line in lines), lines[0]
    more: list[Hypothesis] = []
    for line in seen.lines(body)[:SEEN_LINES]:
        alike = [one for one in lines if (one.kind != "prismatic") == line.turns]
        like = alike[0] if alike else first
        limits = (like.lower, like.upper) if alike else ((0.0, WIDEST_TURN) if line.turns else (0.0, 0.3 * size))
        kind: JointKind = "continuous" if line.turns and like.kind == "continuous" else "revolute"
        kind = kind if line.turns else "prismatic"
        made = replace(
            like, kind=kind, axis=line.axis, origin=line.origin, lower=limits[0], upper=limits[1],
            probability=UNSEEN * total, slide=(0.0, 0.0),
        )  # fmt: skip
        if not any(is_same_line(made, other, size) for other in (*lines, *more)):
            more.append(made)
    every = [*lines, *more]
    shares = np.array([line.probability for line in every])
    votes = np.array([seen.likelihood(body, one.kind != "prismatic", one.axis, one.origin) for one in every])
    both = np.maximum(shares, 1e-9) ** (1.0 - SIGHT) * np.maximum(votes, 1e-9) ** SIGHT
    both *= total / both.sum()
    order = np.argsort(-both, kind="stable")
    return [replace(every[k], probability=float(both[k])) for k in order]


def searched_evidence(search: Search) -> Evidence:
    """The evidence of the search alone."""
    found = {}
    for part, hypotheses in enumerate(search.hypotheses):
        lines = tuple(one for one in hypotheses if one.kind != "fixed")
        if lines:
            fixed = sum(one.probability for one in hypotheses if one.kind == "fixed")
            found[part] = BodyEvidence(lines, (1.0, _log(lines[0]), _odds(1.0 - fixed)))
    return found


def driven_evidence(evidence: Evidence, bodies: Feasibility, calibration: Calibration) -> Evidence:
    """The evidence of lines that can be driven, one for all copies. What likely opens is out of the way of what is
    behind it."""
    groups = [
        group
        for group in copy_groups(bodies.contacts, bodies.parents, bodies.up)
        if all(part in evidence for part in group)
    ]
    copied = {part for group in groups for part in group}
    groups += [(part,) for part in evidence if part not in copied]
    answers = {group: _answers(group, evidence, bodies) for group in groups}
    found = {group: _drive(group, answers[group], evidence, bodies) for group in groups}
    opens = {part for some in found.values() for part, one in some.items() if one.probability(calibration) >= SIMULATED}
    for group, some in found.items():
        away = tuple(sorted(opens - set(group)))
        if away and any(_is_hampered(some[part], answers[group][0][part], bodies.contacts.size) for part in group):
            found[group] = _drive(group, answers[group], evidence, bodies, away)
    return {part: one for some in found.values() for part, one in some.items()}


def _answers(group: tuple[int, ...], evidence: Evidence, bodies: Feasibility) -> list[Answer]:
    """Ways to move of all copies of a group, the likeliest first: lines of each are laid onto the others, and count by
    the geometric mean of what all say of them."""
    if len(group) == 1:
        return [{group[0]: line} for line in evidence[group[0]].lines]
    asked = group[:: max(1, len(group) // ASKED_COPIES)][:ASKED_COPIES]
    size, found = bodies.contacts.size, list[tuple[float, Answer]]()
    for first in asked:
        maps = {part: copy_maps(bodies.contacts, first, part, bodies.up) for part in group}
        if not all(maps.values()):  # samples of the two are too far apart by chance; the first lies on all of them
            continue
        tried: list[Hypothesis] = []
        for line in evidence[first].lines:
            if len(tried) == MOST_SWEPT or any(is_same_line(line, other, size) for other in tried):
                continue
            tried.append(line)
            told = {part: _told(line, part, maps[part], evidence[part], size) for part in asked}
            score = float(np.mean([np.log(share) for share, _ in told.values()]))
            laid = {part: told[part][1] if part in told else _laid(line, part, maps[part], evidence) for part in group}
            shared = {part: replace(one, probability=float(np.exp(score))) for part, one in laid.items()}
            found.append((score, shared))
    return [answer for _, answer in sorted(found, key=lambda one: -one[0])]


def _told(
    line: Hypothesis, part: int, maps: list[CopyMap], evidence: BodyEvidence, size: float
) -> tuple[float, Hypothesis]:
    """What a copy says of the line of another, laid onto it in the way it likes best."""
    parent, best = evidence.lines[0].parent, (0.0, line)
    for way in maps:
        laid = way.line(line, part, parent)
        alike = [one.probability for one in evidence.lines if is_same_line(one, laid, size)]
        share = max(max(alike, default=0.0), UNSEEN)
        if share > best[0]:
            best = (share, laid)
    return best


def _laid(line: Hypothesis, part: int, maps: list[CopyMap], evidence: Evidence) -> Hypothesis:
    return maps[0].line(line, part, evidence[part].lines[0].parent)


def _drive(
    group: tuple[int, ...], answers: list[Answer], evidence: Evidence, bodies: Feasibility, absent: tuple[int, ...] = ()
) -> Evidence:
    """The likeliest answers that most copies can be driven by, no two alike. What the others had counts no more: of
    the ways that are left the likeliest is likelier by so much."""
    kept: list[Answer] = []
    blocked: list[Answer] = []
    for answer in answers:
        if len(kept) == SHOWN or len(kept) + len(blocked) == MOST_SWEPT:
            break
        line = answer[group[0]]
        if any(is_same_line(line, other[group[0]], bodies.contacts.size) for other in (*kept, *blocked)):
            continue
        found = {part: bodies.check(one, absent) for part, one in answer.items()}
        free = sum(not one.reason for one in found.values())
        (kept if 2 * free >= len(group) else blocked).append(found)
    moves = float(np.mean([evidence[part].facts[2] for part in group]))
    if not kept:
        return {part: BodyEvidence((), (1.0, _log(None), moves)) for part in group}
    lost = sum(answer[group[0]].probability for answer in blocked)
    left = max(1.0 - lost, kept[0][group[0]].probability)
    out = {}
    for part in group:
        lines = [replace(answer[part], probability=answer[part].probability / left) for answer in kept]
        lines = [] if lines[0].reason else [line for line in lines if not line.reason]
        out[part] = BodyEvidence(tuple(lines), (1.0, _log(lines[0] if lines else None), moves))
    return out


def _is_hampered(swept: BodyEvidence, first: Hypothesis, size: float) -> bool:
    """Whether the likeliest way to move turned out to be blocked, or for the most part."""
    if not swept.lines or not is_same_line(swept.lines[0], first, size):
        return True
    return swept.lines[0].upper - swept.lines[0].lower < 0.5 * (first.upper - first.lower)


def _odds(share: float) -> float:
    return float(np.log(max(share, 1e-4) / max(1.0 - share, 1e-4)))


def _log(line: Hypothesis | None) -> float:
    return float(np.log(max(line.probability, 1e-12))) if line is not None else float(np.log(1e-12))


def is_same_line(first: Hypothesis, second: Hypothesis, size: float) -> bool:
    """Whether two lines are nearly one; ``size`` is that of the object."""
    slides = first.kind == "prismatic", second.kind == "prismatic"
    if slides[0] != slides[1] or abs(float(first.axis @ second.axis)) < SAME_DIRECTION:
        return False
    offset = first.origin - second.origin
    across = offset - (offset @ second.axis) * second.axis
    return slides[0] or float(np.linalg.norm(across)) < SAME_PLACE * size
