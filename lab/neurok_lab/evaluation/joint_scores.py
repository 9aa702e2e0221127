"""How near predicted joints come to the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.core import Articulation, Joint
from neurok.core.articulation import wrap_limits
from neurok_lab.evaluation.tables import Row, grouped

# When a predicted joint counts as right; the tables of ``docs/articulation.md`` are made with these.
RIGHT_AXIS = 10.0  # Angle between the axes at most [deg].
RIGHT_PIVOT = 0.05  # Distance of the axes at most [share of the object's diagonal].
CALIBRATION_BINS = 5  # Bins of confidence of the calibration error.

TURNS = ("revolute", "continuous", "cylindrical")


@dataclass(frozen=True, eq=False)
class Guess:
    """What a method says of an object: one answer for each of its parts, and the part of each face it worked with."""

    answers: tuple[Hypothesis, ...]
    face_parts: Int[np.ndarray, " F"]
    """In the order of the faces of the true mesh; -1 for faces the method did not get."""


def score_parts(truth: Articulation, guess: Guess, areas: Float[np.ndarray, " F"]) -> list[Row]:
    """A row for each true part that has faces; each is judged by the guessed part it shares most area with.

    A guessed part that is fixed to one that moves moves with it, so its joint is that of the first moving part above.
    """
    match = match_parts(truth.mesh.face_parts, guess.face_parts, areas, len(truth.joints), len(guess.answers))
    size = truth.mesh.size
    low, high = truth.mesh.bounds
    side = float((high - low).max())
    rows = []
    for part, joint in enumerate(truth.joints):
        if match[part] < 0:
            continue
        answer = carrier(guess.answers, int(match[part]))
        row: Row = {
            "part": truth.part_names[part],
            "kind": joint.kind,
            "guess": answer.kind,
            "confidence": answer.probability,
        }
        row["parent"] = _parent_is_right(truth, guess, match, part)
        if joint.kind != "fixed":
            row["axis"] = angle_between(joint.axis, answer.axis)
            if joint.kind in TURNS:
                row["pivot"] = line_distance(joint.origin, joint.axis, answer.origin, answer.axis) / size
                row["pivot_point"] = point_line_distance(answer.origin, joint.origin, joint.axis) / side
        if joint.kind in ("revolute", "prismatic"):
            row["limits"] = limit_overlap(joint, answer)
        rows.append(row)
    return rows


def match_parts(
    true_parts: Int[np.ndarray, " F"],
    parts: Int[np.ndarray, " F"],
    areas: Float[np.ndarray, " F"],
    count: int,
    found: int,
) -> Int[np.ndarray, " P"]:
    """For each true part the guessed one with the largest overlap over union of area; -1 for a part without faces."""
    seen = parts >= 0
    shared = np.zeros((count, found))
    np.add.at(shared, (true_parts[seen], parts[seen]), areas[seen])
    union = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0, keepdims=True) - shared
    overlap = shared / np.maximum(union, 1e-300)
    return np.where(shared.sum(axis=1) > 0, overlap.argmax(axis=1), -1)


def carrier(answers: tuple[Hypothesis, ...], part: int) -> Hypothesis:
    """The answer that moves a part: its own, or that of the part it is fixed to; its own again if nothing moves."""
    here = part
    for _ in range(len(answers)):
        if answers[here].kind != "fixed":
            return answers[here]
        if answers[here].parent < 0:
            break
        here = answers[here].parent
    return answers[part]


def _parent_is_right(truth: Articulation, guess: Guess, match: Int[np.ndarray, " P"], part: int) -> bool:
    above = truth.joints[part].parent
    here = int(match[part])
    guessed = guess.answers[here].parent
    # Pieces that are fixed to each other are one body.
    while guess.answers[here].kind == "fixed" and guessed >= 0 and truth.joints[part].kind != "fixed":
        here, guessed = guessed, guess.answers[guessed].parent
    if above < 0:
        return guessed < 0
    if guessed < 0:
        return False
    wanted = int(match[above])
    for _ in range(len(guess.answers)):
        if guessed == wanted:
            return True
        if guess.answers[guessed].kind != "fixed" or guess.answers[guessed].parent < 0:
            return False
        guessed = guess.answers[guessed].parent
    return False


def angle_between(first: Float[np.ndarray, "3"], second: Float[np.ndarray, "3"]) -> float:
    """Angle [degrees] between two directions without sign."""
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(first, second)), abs(float(first @ second)))))


def point_line_distance(
    point: Float[np.ndarray, "3"], origin: Float[np.ndarray, "3"], axis: Float[np.ndarray, "3"]
) -> float:
    return float(np.linalg.norm(np.cross(point - origin, axis)))


def line_distance(
    first: Float[np.ndarray, "3"],
    first_axis: Float[np.ndarray, "3"],
    second: Float[np.ndarray, "3"],
    second_axis: Float[np.ndarray, "3"],
) -> float:
    """Shortest distance of two lines."""
    across = np.cross(first_axis, second_axis)
    length = float(np.linalg.norm(across))
    if length < 1e-4:
        return point_line_distance(second, first, first_axis)
    return abs(float((second - first) @ across)) / length


def limit_overlap(joint: Joint, answer: Hypothesis) -> float:
    """Shared over joint range of motion, both counted about the true axis; zero for another way to move."""
    if (joint.kind == "prismatic") != (answer.kind == "prismatic") or answer.kind == "fixed":
        return 0.0
    low, high = joint.lower, joint.upper
    found_low, found_high = answer.lower, answer.upper
    if answer.kind == "continuous":
        found_low, found_high = -math.pi, math.pi
    if joint.kind == "revolute":
        low, high = wrap_limits(low, high)
        found_low, found_high = wrap_limits(found_low, found_high)
    if float(joint.axis @ answer.axis) < 0:
        found_low, found_high = -found_high, -found_low
    shared = max(0.0, min(high, found_high) - max(low, found_low))
    union = max(high, found_high) - min(low, found_low)
    return shared / union if union > 1e-12 else 1.0


def summarise_joints(rows: list[Row]) -> list[Row]:
    """One row for each group, condition and method, in the order they first appear."""
    out = []
    for about, mine in grouped(rows, "group", "condition", "method"):
        parts = [part for row in mine for part in row["parts"]]
        seconds = [row["seconds"] for row in mine]
        facts: Row = {"objects": len(mine), "failed": sum(bool(row["message"]) for row in mine)}
        facts |= {"seconds": float(np.median(seconds)), "slowest": float(np.max(seconds))}
        out.append({**about, **facts, **part_means(parts)})
    return out


def part_means(parts: list[Row]) -> Row:
    """Means over parts; precision and recall of the kinds weighted by how often each is true, and unweighted."""

    def column(name: str) -> Float[np.ndarray, " N"]:
        return np.array([row[name] for row in parts if row.get(name) is not None], dtype=np.float64)

    def mean(name: str) -> float | None:
        return float(column(name).mean()) if len(column(name)) else None

    def median(name: str) -> float | None:
        return float(np.median(column(name))) if len(column(name)) else None

    moving = [row for row in parts if row["kind"] != "fixed"]
    return {
        "parts": len(parts),
        "moving": len(moving),
        "axis": mean("axis"),
        "axis_median": median("axis"),
        "axis_right": float((column("axis") < RIGHT_AXIS).mean()) if moving else None,
        "pivot": mean("pivot"),
        "pivot_median": median("pivot"),
        "pivot_point": mean("pivot_point"),
        "limits": mean("limits"),
        "tree": mean("parent"),
        **kind_scores([row["kind"] for row in parts], [row["guess"] for row in parts]),
        **merged_scores([row["kind"] for row in parts], [row["guess"] for row in parts]),
        "calibration": calibration_error(parts),
    }


def kind_scores(true: list[str], found: list[str]) -> Row:
    """Precision and recall over the kinds that occur among the true ones."""
    first, second = np.array(true), np.array(found)
    kinds = sorted(set(true))
    if not kinds:
        return {}
    counts, precision, recall = [], [], []
    for kind in kinds:
        both = float(((first == kind) & (second == kind)).sum())
        counts.append(float((first == kind).sum()))
        precision.append(both / max(1.0, float((second == kind).sum())))
        recall.append(both / counts[-1])
    share = np.array(counts) / sum(counts)
    return {
        "precision": float(share @ precision),
        "recall": float(share @ recall),
        "precision_macro": float(np.mean(precision)),
        "recall_macro": float(np.mean(recall)),
    }


def merged_scores(true: list[str], found: list[str]) -> Row:
    """The same with turns that have limits and turns that have none as one kind: annotators do not agree on it."""
    scores = kind_scores(*(["revolute" if kind == "continuous" else kind for kind in kinds] for kinds in (true, found)))
    return {f"{name}_merged": scores[name] for name in ("precision", "recall") if name in scores}


def is_right(row: Row) -> bool:
    """Kind as it should be, axis and pivot near enough."""
    is_near = row.get("axis", 0.0) < RIGHT_AXIS and row.get("pivot", 0.0) < RIGHT_PIVOT
    return row["kind"] == row["guess"] and is_near


def calibration_error(parts: list[Row], bins: int = CALIBRATION_BINS) -> float | None:
    """Mean gap between confidence and share of right answers over bins of confidence."""
    if not parts:
        return None
    sure = np.array([row["confidence"] for row in parts], dtype=np.float64)
    right = np.array([is_right(row) for row in parts], dtype=np.float64)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        abs(float((sure - right)[place == b].mean())) * float((place == b).mean())
        for b in range(bins)
        if (place == b).any()
    ]
    return float(sum(gaps))
