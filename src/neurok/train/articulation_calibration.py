"""Confidence that means something: how often answers of a given share were right on objects kept aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from neurok.articulation.ensemble import UNCALIBRATED, Ensemble
from neurok.articulation.predict import predict_joints
from neurok.articulation.scores import TURNS, Guess, Row, angle_between, is_right, line_distance, score_parts
from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.operators import face_areas
from neurok.train.articulation_data import Thing
from neurok.train.articulation_versions import pieces


@dataclass(frozen=True)
class CalibrationConfig:
    """How confidence is fitted; set by hand."""

    same: float = 0.5
    """A piece is a part if they share more than this of the surface of both together."""

    surest: float = 1e-6
    """Confidence counts as at least this far from 0 and from 1."""

    rounds: int = 50
    """Newton steps of the fit, which needs about ten."""


USUAL = CalibrationConfig()


def calibrate(ensemble: Ensemble, things: Iterable[Thing], config: CalibrationConfig = USUAL) -> dict[str, int]:
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
            found += judge_pieces(ensemble, mesh, joints, config.same)
    if parts:
        ensemble.calibration = _fit(parts, config)
        ensemble.piece_calibration = _fit(found or parts, config)
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


def _fit(judged: list[Judged], config: CalibrationConfig) -> tuple[float, float]:
    return fit_odds(np.array([one.confidence for one in judged]), np.array([one.right for one in judged]), config)


def fit_odds(
    shares: Float[np.ndarray, " N"], right: Bool[np.ndarray, " N"], config: CalibrationConfig = USUAL
) -> tuple[float, float]:
    """Slope and offset of a logistic curve through the log-odds of the shares, pulled lightly towards (1, 0)."""
    clipped = np.clip(shares, config.surest, 1.0 - config.surest)
    inputs = np.stack([np.log(clipped / (1.0 - clipped)), np.ones(len(shares))], axis=1)
    found, prior = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(config.rounds):
        chance = 1.0 / (1.0 + np.exp(-inputs @ found))
        slope = inputs.T @ (right - chance) - (found - prior)
        curve = (inputs * (chance * (1.0 - chance))[:, None]).T @ inputs + np.eye(2)
        found = found + np.linalg.solve(curve, slope)
    return float(found[0]), float(found[1])
