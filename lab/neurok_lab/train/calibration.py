"""Confidence that means something: how often answers of a given share were right on objects kept aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Articulation, Joint, Mesh
from neurok.core.articulation import cosines, joint_fields
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.hub import load_model
from neurok.inference.plan import NO_WEIGHTS, PlanStudy, find_grouper, study
from neurok.learned.ensemble import UNCALIBRATED, Ensemble
from neurok.learned.grouping import Grouper, PieceCalibration, piece_odds
from neurok.learned.grouping_network import STATIC, PieceModel
from neurok.learned.joints import predict_joints
from neurok_lab.evaluation.joint_scores import TURNS, Guess, Row, angle_between, is_right, line_distance, score_parts
from neurok_lab.train.examples import PieceExample, Thing
from neurok_lab.train.versions import Form, melted_truth, pieces

SAME = 0.5  # a piece is a part if they share more than this of the surface of both together
SUREST = 1e-6  # confidence counts as at least this far from 0 and from 1
MATCH = 0.9  # cosine of velocity fields above which a joint is right, as in ``neurok evaluate motions``
RIDGE = 0.3  # pull of standardised weights to zero: a third of an object's worth of evidence
PIECE_RIDGE = 0.1  # the same where a fit has two numbers, so that little pull is enough
ROUNDS = 100  # of Newton's method; it has converged long before
FOLDS = 100  # objects are left out in so many groups, if there are as many, to tell how well it generalises
THRESHOLDS = (0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # least probabilities of a joint that are tried on them


def calibrate_joints(ensemble: Ensemble, things: Iterable[Thing]) -> dict[str, int]:
    """Set both calibrations of the models from objects with true joints: with their parts, and with the parts hidden.

    Returns how many parts and pieces they are made from.
    """
    ensemble.calibration = ensemble.piece_calibration = UNCALIBRATED
    parts: list[Judged] = []
    found: list[Judged] = []
    for thing in things:
        mesh, joints = thing.load()
        if joints is not None:
            parts += judge_parts(ensemble, mesh, joints)
            found += judge_pieces(ensemble, mesh, joints, SAME)
    if parts:
        ensemble.calibration = _fit(parts)
        ensemble.piece_calibration = _fit(found or parts)
    return {"parts": len(parts), "pieces": len(found)}


class Judged(NamedTuple):
    confidence: float
    right: bool


def judge_parts(ensemble: Ensemble, mesh: Mesh, joints: tuple[Joint, ...]) -> list[Judged]:
    """Answers for the true parts of an object."""
    answers = predict_joints(mesh, ensemble).answers
    areas = face_areas(mesh.vertices, mesh.faces)
    rows = score_parts(Articulation(mesh, joints), Guess(answers, mesh.face_parts), areas)
    return [Judged(row["confidence"], is_right(row)) for row in rows]


def judge_pieces(ensemble: Ensemble, mesh: Mesh, joints: tuple[Joint, ...], same: float) -> list[Judged]:
    """Answers for the connected pieces of an object, each against what it truly does.

    A piece that shares more than ``same`` of its surface with a part has its joint, other pieces of the part are fixed
    to it, and a piece that moves though it is no part is wrong.
    """
    cut, links = pieces(mesh, joints)
    if cut.part_count < 2:
        return []
    areas = face_areas(cut.vertices, cut.faces)
    answers = predict_joints(cut, ensemble, pieces=True).answers
    shared = np.zeros((cut.part_count, len(joints)))
    np.add.at(shared, (cut.face_parts, mesh.face_parts), areas)
    union = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
    is_part = (shared / np.maximum(union, 1e-300)).max(axis=1) > same
    rows = []
    for answer, link, whole in zip(answers, links, is_part, strict=True):
        row: Row = {"kind": link.kind, "guess": answer.kind}
        if link.kind != "fixed":
            row["axis"] = angle_between(link.axis, answer.axis) if whole else 90.0
            if link.kind in TURNS:
                row["pivot"] = line_distance(link.origin, link.axis, answer.origin, answer.axis) / cut.size
        rows.append(Judged(answer.probability, is_right(row)))
    return rows


def _fit(judged: list[Judged]) -> tuple[float, float]:
    return fit_odds(np.array([one.confidence for one in judged]), np.array([one.right for one in judged]))


def fit_odds(shares: Float[np.ndarray, " N"], right: Bool[np.ndarray, " N"]) -> tuple[float, float]:
    """Slope and offset of a logistic curve through the log-odds of the shares, pulled lightly towards (1, 0)."""
    clipped = np.clip(shares, SUREST, 1.0 - SUREST)
    inputs = np.stack([np.log(clipped / (1.0 - clipped)), np.ones(len(shares))], axis=1)
    slope, offset = _newton(inputs, right, np.ones(len(right)), np.ones(2), np.array([1.0, 0.0]))
    return float(slope), float(offset)


def _newton(
    inputs: Float[np.ndarray, "N K"],
    right: Bool[np.ndarray, " N"],
    counts: Float[np.ndarray, " N"],
    pull: Float[np.ndarray, " K"],
    prior: Float[np.ndarray, " K"],
) -> Float[np.ndarray, " K"]:
    """Weights of a logistic regression of weighed rows, each pulled to where it is expected."""
    found = prior
    for _ in range(ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-inputs @ found))
        slope = inputs.T @ (counts * (right - chance)) - pull * (found - prior)
        curve = (inputs * (counts * chance * (1.0 - chance))[:, None]).T @ inputs + np.diag(pull + 1e-9)
        found = found + np.linalg.solve(curve, slope)
    return found


def calibrate_pieces(
    members: tuple[PieceModel, ...], examples: Sequence[PieceExample]
) -> tuple[PieceCalibration, dict[str, Any]]:
    """The calibration, and the mean surprise at the truth before and after [nats].

    Objects count alike. Pairs of one body and pairs of two count alike in each: there are many more of the latter, and
    clusters are joined by the odds.
    """
    rows: dict[str, list[tuple[float, bool, float]]] = {"moves": [], "affinity": [], "anything": []}
    for example in examples:
        odds, moving = piece_odds(Grouper(members), example.clouds), example.moves > STATIC
        rows["anything"].append((odds.anything, bool(moving.any()), 1.0))
        rows["moves"] += [(float(o), bool(m), 1.0 / len(moving)) for o, m in zip(odds.moves, moving, strict=True)]
        first, second = np.nonzero(np.triu(moving[:, None] | moving, 1))
        same = example.bodies[first] == example.bodies[second]
        count = np.where(same, same.sum(), (~same).sum())
        pairs = zip(odds.affinity[first, second], same, 0.5 / np.maximum(count, 1), strict=True)
        rows["affinity"] += [(float(o), bool(s), float(weight)) for o, s, weight in pairs]
    found, facts = {}, {}
    for name, some in rows.items():
        odds_, truth, weights = (np.array(column) for column in zip(*some, strict=True))
        found[name] = _platt(odds_, truth.astype(bool), weights)
        before, after = (_nats(slope * odds_ + offset, truth, weights) for slope, offset in ((1.0, 0.0), found[name]))
        facts[name] = {"before": round(before, 3), "after": round(after, 3)}
    return PieceCalibration(**found), {"objects": len(examples), "nats": facts}


def _platt(
    odds: Float[np.ndarray, " N"], truth: Bool[np.ndarray, " N"], weights: Float[np.ndarray, " N"]
) -> tuple[float, float]:
    """Slope and offset; as they are where only one answer was seen."""
    if truth.all() or not truth.any():
        return 1.0, 0.0
    rows = np.column_stack([np.ones(len(odds)), odds])
    offset, slope = logistic(rows, truth, PIECE_RIDGE, weights)
    return float(slope), float(offset)


def _nats(odds: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> float:
    """Mean surprise at the truth."""
    return float(np.average(np.logaddexp(0.0, np.where(truth, -odds, odds)), weights=weights))


@dataclass(frozen=True)
class PlanFit:
    """Weights of the facts behind a plan, and how well left-out objects are told."""

    calibration: tuple[float, ...]
    log_likelihood: float
    """Mean over bodies of objects left out of the fit [nats]."""

    bodies: int
    objects: int
    thresholds: tuple[tuple[float, float, float], ...] = ()
    """Of left-out objects: least probability, share of right lines that are kept, share of the kept that is right."""


def fit_plan(
    objects: Iterable[Articulation],
    joint_weights: str = "articulation_held_out",
    piece_weights: str | None = None,
    forms: Sequence[Form] = ("raw",),
) -> PlanFit:
    """Fit the calibration on objects with true joints, from their raw meshes, with their parts, or as single surfaces.

    The networks must not have learned from them: by default the twin of the articulation network is asked, and objects
    are those that training keeps aside. Whatever is found in an object without joints is wrong.
    """
    # Whatever is found counts (least=0): a surface of which nothing is kept would be one body again.
    ensemble, grouper = load_model(joint_weights, "articulation"), find_grouper(piece_weights)
    facts, right, owners = [], [], []
    count = 0
    for count, (articulation, form) in enumerate(
        ((melted_truth(one) if form == "melted" else one, form) for one in objects for form in forms), start=1
    ):
        found = study(
            articulation.mesh if form == "named" else replace(articulation.mesh, part_ids=None, part_names=()),
            joint_weights=ensemble,
            piece_weights=grouper or NO_WEIGHTS,
            least=0.0,
        )
        if grouper is not None and found.groups is None:
            continue  # an object of one piece, of which it says nothing
        for weighed, is_true in _checked(found, articulation, MATCH):
            facts.append(weighed)
            right.append(is_true)
            owners.append((count - 1) // len(forms))
    if len(set(right)) < 2:
        raise NeurokError("The calibration needs joints that are right and joints that are wrong; give more objects.")
    rows, answers = np.array(facts, dtype=np.float64), np.array(right)
    counts = alike_objects(np.array(owners))
    asked, chance = _left_out(rows, answers, np.array(owners), counts)
    told = np.where(answers[asked], chance, 1.0 - chance)
    held = float(np.log(told + 1e-9).mean()) if len(told) else 0.0
    kept = [(least, answers[asked][chance >= least]) for least in THRESHOLDS]
    total = max(int(answers[asked].sum()), 1)
    table = tuple((least, float(some.sum() / total), float(some.mean()) if len(some) else 1.0) for least, some in kept)
    return PlanFit(tuple(logistic(rows, answers, RIDGE, counts).tolist()), held, len(rows), count // len(forms), table)


def with_true_joints(thing: Thing) -> Articulation:
    """An object with its joints; what stands still has fixed ones."""
    mesh, joints = thing.load()
    return Articulation(mesh, joints or tuple(Joint(parent=-1 if k == 0 else 0) for k in range(mesh.part_count)))


def _checked(found: PlanStudy, true: Articulation, match: float) -> Iterable[tuple[tuple[float, ...], bool]]:
    """The facts behind every body's best line, and whether that line is a true motion."""
    areas, fields = face_areas(true.mesh.vertices, true.mesh.faces), joint_fields(true)
    bodies = found.plan.bodies
    for part, weighed in found.evidence.items():
        if not weighed.lines:  # nothing of it can be driven
            continue
        alone = [replace(body, joint=weighed.lines[0] if k == part else None) for k, body in enumerate(bodies)]
        moved = joint_fields(replace(found.plan, bodies=tuple(alone)).articulation)[:1]
        yield weighed.facts, bool(cosines(moved, fields, areas).max(initial=0.0) > match)


def alike_objects(owners: Int[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """How much each row counts so that all objects count alike: one of many buttons must not outweigh twenty doors."""
    return 1.0 / np.bincount(owners)[owners]


def logistic(
    rows: Float[np.ndarray, "N K"],
    right: Bool[np.ndarray, " N"],
    ridge: float = RIDGE,
    counts: Float[np.ndarray, " N"] | None = None,
) -> np.ndarray:
    """Weights of a logistic regression with a ridge; the first column is constant. ``counts`` say how much a row is."""
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    middle[0], spread[0] = 0.0, 1.0
    pull = ridge * (np.arange(rows.shape[1]) > 0)
    count = np.ones(len(rows)) if counts is None else counts
    weights = _newton((rows - middle) / spread, right, count, pull, np.zeros(rows.shape[1]))
    out = weights / spread
    out[0] = weights[0] - float((weights[1:] * middle[1:] / spread[1:]).sum())
    return out


def _left_out(
    rows: Float[np.ndarray, "N K"],
    right: Bool[np.ndarray, " N"],
    owners: Int[np.ndarray, " N"],
    counts: Float[np.ndarray, " N"],
) -> tuple[Int[np.ndarray, " M"], Float[np.ndarray, " M"]]:
    """Rows whose objects were left out of a fit, and the probability it gives them of being right."""
    asked, chances = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for fold in range(FOLDS):
        away = owners % FOLDS == fold
        if away.any() and not away.all():
            asked.append(np.flatnonzero(away))
            chances.append(
                1.0 / (1.0 + np.exp(-rows[away] @ logistic(rows[~away], right[~away], RIDGE, counts[~away])))
            )
    return np.concatenate(asked), np.concatenate(chances)
