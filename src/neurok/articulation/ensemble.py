"""Several joint models that answer together: each sees some of the views; where they differ, none of them is sure."""

from __future__ import annotations

from dataclasses import dataclass

from neurok.articulation.network import JointModel

Calibration = tuple[float, float]
"""Slope and offset that take the log-calibration of an answer to those of being right."""

UNCALIBRATED: Calibration = (1.0, 0.0)


@dataclass(eq=False)
class Ensemble:
    """Joint models of one task, taught in different ways, and how far their answers can be trusted."""

    members: tuple[JointModel, ...]
    calibration: Calibration = UNCALIBRATED
    piece_calibration: Calibration = UNCALIBRATED
    """The same where parts are connected pieces, which need not be parts at all."""
