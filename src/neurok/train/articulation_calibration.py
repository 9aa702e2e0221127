"""Confidence that means something: how often answers of a given share were right on objects kept aside."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from jaxtyping import Bool, Float

from neurok.articulation.network import JointModel
from neurok.articulation.predict import predict_joints
from neurok.articulation.scores import Guess, is_right, score_parts
from neurok.core import Articulation
from neurok.geometry.operators import face_areas
from neurok.train.articulation_data import Thing


def calibrate(model: JointModel, things: Iterable[Thing]) -> int:
    """Set the calibration of a model from objects with true joints; returns how many parts it is made from."""
    model.calibration.copy_(torch.tensor([1.0, 0.0]))
    shares: list[float] = []
    right: list[bool] = []
    for thing in things:
        mesh, joints = thing.load()
        if joints is None:
            continue
        answers = predict_joints(mesh, model).answers
        areas = face_areas(mesh.vertices, mesh.faces)
        for row in score_parts(Articulation(mesh, joints), Guess(answers, mesh.face_parts), areas):
            shares.append(row["confidence"])
            right.append(is_right(row))
    if shares:
        model.calibration.copy_(torch.tensor(fit_odds(np.array(shares), np.array(right))))
    return len(shares)


def fit_odds(shares: Float[np.ndarray, " N"], right: Bool[np.ndarray, " N"], rounds: int = 50) -> tuple[float, float]:
    """Slope and offset of a logistic curve through the log-odds of the shares, pulled lightly towards (1, 0)."""
    clipped = np.clip(shares, 1e-6, 1.0 - 1e-6)
    inputs = np.stack([np.log(clipped / (1.0 - clipped)), np.ones(len(shares))], axis=1)
    found, prior = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(rounds):
        chance = 1.0 / (1.0 + np.exp(-inputs @ found))
        slope = inputs.T @ (right - chance) - (found - prior)
        curve = (inputs * (chance * (1.0 - chance))[:, None]).T @ inputs + np.eye(2)
        found = found + np.linalg.solve(curve, slope)
    return float(found[0]), float(found[1])
