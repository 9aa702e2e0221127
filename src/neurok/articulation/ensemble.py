"""Several joint models that answer together: each sees some of the views; where they differ, none of them is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from neurok.articulation.config import CLOUDS, CloudConfig
from neurok.articulation.features import PartClouds
from neurok.articulation.network import Encoded, JointModel, Parts
from neurok.articulation.views import stack_clouds, turned
from neurok.geometry import lie

Calibration = tuple[float, float]
"""Slope and offset that take the log-odds of an answer to those of being right."""

UNCALIBRATED: Calibration = (1.0, 0.0)

QUARTERS = list(lie.quarter_turns(1))
VIEWS = [turn @ mirror for mirror in (np.eye(3), np.diag([-1.0, 1.0, 1.0])) for turn in QUARTERS]
"""Turns by quarters about +y, and their mirror images."""


@dataclass(eq=False)
class Ensemble:
    """Joint models of one task, taught in different ways, and how far their answers can be trusted."""

    members: tuple[JointModel, ...]
    calibration: Calibration = UNCALIBRATED
    piece_calibration: Calibration = UNCALIBRATED
    """The same where parts are connected pieces, which need not be parts at all."""


@dataclass(frozen=True, eq=False)
class MemberViews:
    """What one model has made of its views of an object."""

    model: JointModel
    views: list[np.ndarray]
    parts: Parts
    encoded: Encoded


@dataclass(frozen=True, eq=False)
class EnsembleViews:
    """What the models make of an object before they are asked for places and limits."""

    clouds: PartClouds
    members: tuple[MemberViews, ...]
    kinds: Float[np.ndarray, "P T"]
    """Probability of each kind."""

    axes: Float[np.ndarray, "P K 2"]
    axis_votes: Float[np.ndarray, "P K 2"]
    """Share of the views for which each direction is the likeliest."""

    parents: Int[np.ndarray, " P"]
    """Row of the parent, -1 for the root."""

    @property
    def views(self) -> list[np.ndarray]:
        """The views of all members, one after the other."""
        return [view for member in self.members for view in member.views]


@torch.no_grad()
def view_parts(
    members: Sequence[JointModel],
    clouds: PartClouds,
    views: list[np.ndarray] = VIEWS,
    config: CloudConfig = CLOUDS,
    base: int | None = None,
) -> EnsembleViews:
    """Show the models an object: each gets its share of the views, and all count alike. ``base`` is as in a mesh."""
    viewed, kinds, axes, axis_votes, parents = [], [], [], [], []
    share = -(-len(views) // len(members))
    for number, model in enumerate(members):
        mine = views[number * share : (number + 1) * share]
        shown = [turned(clouds, None, view)[0] for view in mine]
        parts = stack_clouds(shown, config.view_points, np.random.default_rng(0))
        encoded = model.encode(parts)
        motions = model.motions(parts, encoded)
        kinds.append(motions.kinds.softmax(dim=-1).mean(dim=0))
        axes.append(motions.axes.log_softmax(dim=2).mean(dim=0))
        parents.append(motions.parents.log_softmax(dim=-1).mean(dim=0))
        axis_votes.append(_chosen_most(motions.axes, 2))
        viewed.append(MemberViews(model, mine, parts, encoded))
    rows = np.flatnonzero(clouds.parts == base)
    tree = grow_tree(torch.stack(parents).mean(dim=0).numpy(), int(rows[0]) if len(rows) else None)
    return EnsembleViews(
        clouds,
        tuple(viewed),
        torch.stack(kinds).mean(dim=0).numpy(),
        torch.stack(axes).mean(dim=0).softmax(dim=1).numpy(),
        torch.cat(axis_votes).mean(dim=0).numpy(),
        tree,
    )


def _chosen_most(logits: torch.Tensor, dim: int) -> torch.Tensor:
    """One for the option of the largest logit along a dimension, zero for the others."""
    best = logits.argmax(dim=dim, keepdim=True)
    return torch.zeros_like(logits).scatter(dim, best, 1.0)


def grow_tree(logits: Float[np.ndarray, "P P"], root: int | None = None) -> Int[np.ndarray, " P"]:
    """Parents with one root and no cycle: from a root, or the likeliest, links are added until all hang on it."""
    count = len(logits)
    parents = np.full(count, -1)
    root = int(np.diagonal(logits).argmax()) if root is None else root
    inside = np.zeros(count, dtype=bool)
    inside[root] = True
    for _ in range(count - 1):
        open_links = np.where(~inside[:, None] & inside[None], logits, -np.inf)
        child, parent = np.unravel_index(int(open_links.argmax()), logits.shape)
        parents[child], inside[child] = parent, True
    return parents
