"""Several joint models that answer together: each sees some of the views; where they differ, none of them is sure.

They also tell which way up an object stands that lies askew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from neurok.core import Mesh
from neurok.core.mesh import frame_change
from neurok.geometry import lie
from neurok.geometry.lie import quarter_turns
from neurok.geometry.operators import face_areas, face_normals
from neurok.learned.joint_network import Encoded, JointConfig, JointModel, Parts
from neurok.learned.part_features import CLOUDS, CloudConfig, PartClouds, describe_parts
from neurok.learned.part_views import stack_clouds, turned
from neurok.learned.task import Task, members_of, odds_in

Calibration = tuple[float, float]
"""Slope and offset that take the log-odds of an answer to those of being right."""

UNCALIBRATED: Calibration = (1.0, 0.0)

QUARTERS = list(lie.quarter_turns(1))
VIEWS = [turn @ mirror for mirror in (np.eye(3), np.diag([-1.0, 1.0, 1.0])) for turn in QUARTERS]
"""Turns by quarters about +y, and their mirror images."""

# When an object lies askew. By eye; found the frame of 19 training objects out of 19 that have one.
# Normals nearer than this to a direction belong to it, and a frame this near to up stands upright [cosine].
CLOSE = math.cos(math.radians(8.0))
FACING = 0.4  # Share of the surface that must face along the frame; round and grown things have none.
MOST_FACES = 2000  # Faces that are looked at: the largest.

WAYS_UP = (*quarter_turns(0)[[0, 2]], *quarter_turns(2)[[1, 3]], *quarter_turns(0)[[3, 1]])
"""Turns that bring each of the six directions of a frame to +y."""


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


def find_upright(mesh: Mesh, members: Sequence[JointModel], seed: int = 0) -> Float[np.ndarray, "3 3"]:
    """The turn from the axes of the mesh to +y up: as the mesh says, unless its flat sides show that it lies askew."""
    said = frame_change(mesh.up, "y")
    frame = main_frame(mesh)
    if frame is None or np.abs(frame @ mesh.up_vector).max() > CLOSE:
        return said
    clouds = describe_parts(mesh, seed, frame)
    return max(WAYS_UP, key=lambda way: sum(certainty(model, clouds, way) for model in members)) @ frame


def main_frame(mesh: Mesh) -> Float[np.ndarray, "3 3"] | None:
    """Three directions across each other that most of the surface faces along, as the rows of a turn; or none."""
    areas = face_areas(mesh.vertices, mesh.faces)
    normals = np.nan_to_num(face_normals(mesh.vertices, mesh.faces))
    if len(areas) > MOST_FACES:  # the largest tell enough
        largest = np.argsort(-areas, kind="stable")[:MOST_FACES]
        areas, normals = areas[largest], normals[largest]
    normals, group = np.unique(np.round(normals, 5) + 0.0, axis=0, return_inverse=True)
    areas = np.bincount(group.reshape(-1), weights=areas)
    first = _main_direction(normals, areas)
    if first is None:
        return None
    across = np.abs(normals @ first) < np.sqrt(1.0 - CLOSE**2)
    second = _main_direction(normals[across], areas[across])
    if second is None:
        return None
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    frame = np.stack([second, first, np.cross(second, first)])
    facing = (np.abs(normals @ frame.T).max(axis=1) > CLOSE) @ areas
    return frame if facing > FACING * areas.sum() else None


def _main_direction(normals: Float[np.ndarray, "F 3"], areas: Float[np.ndarray, " F"]) -> Float[np.ndarray, "3"] | None:
    if not len(areas) or not areas.sum() > 0:
        return None
    shared = (np.abs(normals @ normals.T) > CLOSE) @ areas
    best = normals[int(shared.argmax())]
    group = np.abs(normals @ best) > CLOSE
    mean = (normals[group] * (np.sign(normals[group] @ best) * areas[group])[:, None]).sum(axis=0)
    return mean / np.linalg.norm(mean)


@torch.no_grad()
def certainty(model: JointModel, clouds: PartClouds, way: Float[np.ndarray, "3 3"]) -> float:
    """How sure the network is of the kinds and axes of an object that is turned this way, on a log scale."""
    view = turned(clouds, None, way)[0]
    parts = stack_clouds([view], CLOUDS.view_points, np.random.default_rng(0))
    motions = model.motions(parts, model.encode(parts))
    kinds = motions.kinds.log_softmax(dim=-1).amax(dim=-1)
    axes = motions.axes.log_softmax(dim=2).amax(dim=2).mean(dim=-1)
    return float((kinds + axes).mean())


def _build(card: dict[str, Any]) -> Ensemble:
    odds = odds_in(card["calibration"])
    members = tuple(JointModel(JointConfig(**config)) for config in card["members"])
    return Ensemble(members, odds["parts"], odds["pieces"])


def _describe(model: Any) -> dict[str, Any] | None:
    if not isinstance(model, Ensemble):
        return None
    calibration = {"parts": model.calibration, "pieces": model.piece_calibration}
    return {"members": [asdict(member.config) for member in model.members], "calibration": calibration}


TASK = Task(_build, _describe, members_of)
