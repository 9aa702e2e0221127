"""Clouds of parts with what is known of their joints, seen from other sides, and stacked for the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from neurok.articulation.features import REACH, THINNEST, PartClouds
from neurok.articulation.network import KINDS, SLIDE, TURN, Parts
from neurok.core import Joint
from neurok.core.articulation import wrap_limits
from neurok.core.mesh import UnitBox

ORIGINS = 8
"""Most places of an axis that one part is taught at a time: bounds the memory of a batch."""

LABEL_DIRECTION = 0.985
"""True axes are taught by the direction nearest to them, if it is nearer than this [cosine, ten degrees]."""

LabelRow = tuple[int, int, np.ndarray, np.ndarray, tuple[float, float]]
"""Owner, move, axis, origin and limits."""


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of the joints, in the unit box: one true joint for each part, or all that a search found valid."""

    kinds: Float[np.ndarray, "P T"]
    """Share of each kind; a row of zeros says nothing."""

    parents: Int[np.ndarray, " P"]
    """Row of the parent, the own row for a root, -1 where nobody knows."""

    owners: Int[np.ndarray, " C"]
    """Row of the part each hypothesis belongs to."""

    moves: Int[np.ndarray, " C"]
    """``TURN`` or ``SLIDE``."""

    axes: Float[np.ndarray, "C 3"]
    origins: Float[np.ndarray, "C 3"]
    limits: Float[np.ndarray, "C 2"]
    """[rad] or units of the box; not a number where there are none."""

    weights: Float[np.ndarray, " C"]


class Targets(NamedTuple):
    """The labels of a batch as the loss wants them."""

    kinds: Float[Tensor, "B P T"]
    parents: Int[Tensor, "B P"]
    axes: Float[Tensor, "B P K 2"]
    chosen: Int[Tensor, "B P"]
    """Direction that pivot and limits are taught for."""

    origins: Float[Tensor, "B P M 3"]
    origin_weights: Float[Tensor, "B P M"]
    limits: Float[Tensor, "B P 2 2"]
    """Of a turn [half turns] and of a slide [extents of the part]; not a number where unknown."""


def labels_of(clouds: PartClouds, joints: tuple[Joint, ...]) -> Labels:
    """True joints as labels."""
    row_of = {int(part): row for row, part in enumerate(clouds.parts)}
    kinds, parents = np.zeros((len(row_of), len(KINDS))), np.full(len(row_of), -1)
    rows: list[LabelRow] = []
    for part, row in row_of.items():
        joint = joints[part]
        kinds[row, KINDS.index(joint.kind)] = 1.0
        parents[row] = row if joint.parent < 0 else row_of.get(joint.parent, -1)
        if joint.kind == "fixed":
            continue
        move = SLIDE if joint.kind == "prismatic" else TURN
        low, high = wrap_limits(joint.lower, joint.upper) if move == TURN else (joint.lower, joint.upper)
        scale = 1.0 if move == TURN else clouds.scale
        limits = (low / scale, high / scale) if joint.kind in ("revolute", "prismatic") else (np.nan, np.nan)
        rows.append((row, move, clouds.turn @ joint.axis, clouds.to_box(joint.origin), limits))
    return make_labels(kinds, parents, rows, np.ones(len(rows)))


def make_labels(
    kinds: Float[np.ndarray, "P T"],
    parents: Int[np.ndarray, " P"],
    rows: Sequence[LabelRow],
    weights: Sequence[float] | Float[np.ndarray, " C"],
) -> Labels:
    """Labels from rows of (owner, move, axis, origin, limits)."""
    limits = np.array([row[4] for row in rows], dtype=np.float64).reshape(-1, 2)
    return Labels(
        kinds,
        parents,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, 3),
        np.where(np.isfinite(limits), limits, np.nan),
        np.asarray(weights, dtype=np.float64),
    )


def turned(
    clouds: PartClouds, labels: Labels | None, matrix: Float[np.ndarray, "3 3"]
) -> tuple[PartClouds, Labels | None]:
    """The object under a linear map (a turn, a mirror, a stretch), put into its unit box again."""
    points = clouds.points @ matrix.T
    box = UnitBox.around(points)
    center, size = box.center, box.size
    stretch = abs(float(np.linalg.det(matrix))) ** (1 / 3) / size
    pairs = clouds.pairs.copy()
    pairs[..., 0] *= stretch
    pairs[..., 4:] = pairs[..., 4:] @ matrix.T / size
    moved = replace(
        clouds,
        points=(points - center) / size,
        normals=_unit(clouds.normals @ np.linalg.inv(matrix)),
        gaps=clouds.gaps * stretch,
        toward=clouds.toward @ matrix.T / size,
        areas=clouds.areas * stretch**2,
        directions=_unit(clouds.directions @ matrix.T),
        pairs=pairs,
    )
    if labels is None:
        return moved, None
    axes = labels.axes @ matrix.T
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    slide = labels.moves[:, None] == SLIDE
    mirrored = np.linalg.det(matrix) < 0
    limits = np.where(slide, labels.limits * length / size, -labels.limits[:, ::-1] if mirrored else labels.limits)
    origins = (labels.origins @ matrix.T - center) / size
    return moved, replace(labels, axes=axes / np.maximum(length, 1e-12), origins=origins, limits=limits)


def _unit(rows: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def canonical_signs(directions: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B"]:
    """The sign that makes the largest entry of each direction positive; the network only knows such axes."""
    # Of entries that are nearly equal the first wins, so that noise does not decide.
    leader = np.argmax(np.abs(directions) * np.array([1.02, 1.01, 1.0]), axis=-1)
    picked = np.take_along_axis(directions, leader[..., None], axis=-1)[..., 0]
    return np.where(picked < 0, -1.0, 1.0)


def stack_clouds(views: list[PartClouds], count: int, rng: np.random.Generator) -> Parts:
    """A batch with ``count`` points of each part; smaller objects are padded."""
    size = max(len(view.parts) for view in views)
    rows = []

    def pad(array: np.ndarray, value: float | int = 0.0) -> Tensor:
        out = np.full((size, *array.shape[1:]), value, dtype=array.dtype)
        out[: len(array)] = array
        return torch.from_numpy(out)

    for view in views:
        pool = view.points.shape[1]
        some = rng.permutation(pool)[:count] if count < pool else np.arange(pool)
        pairs = np.zeros((size, size, view.pairs.shape[2]))
        pairs[..., 0] = REACH
        pairs[: len(view.parts), : len(view.parts)] = view.pairs
        rows.append(
            Parts(
                pad(view.points[:, some]).float(),
                pad(view.normals[:, some]).float(),
                pad(view.gaps[:, some]).float(),
                pad(view.toward[:, some]).float(),
                pad(view.areas).float(),
                pad(grips(view)).float(),
                pad(view.directions * canonical_signs(view.directions)[..., None]).float(),
                pad(view.sources, -1).long(),
                torch.from_numpy(pairs).float(),
                torch.arange(size) < len(view.parts),
            )
        )
    return Parts(*(torch.stack(column) for column in zip(*rows, strict=True)))


def some_points(clouds: PartClouds, count: int, rng: np.random.Generator) -> PartClouds:
    """The same parts with fewer points."""
    some = rng.permutation(clouds.points.shape[1])[:count]
    return replace(
        clouds,
        points=clouds.points[:, some],
        normals=clouds.normals[:, some],
        gaps=clouds.gaps[:, some],
        toward=clouds.toward[:, some],
    )


def grips(view: PartClouds) -> Float[np.ndarray, "P 3"]:
    """Where each part sticks out across its thinnest side: a handle on a door, the middle of a plain board."""
    across = np.einsum("pnd,pkd->pkn", view.points, view.directions)
    extents = np.where(view.sources >= 0, np.ptp(across, axis=2), np.inf)
    thin = np.take_along_axis(across, extents.argmin(axis=1)[:, None, None], axis=1)[:, 0]
    away = np.abs(thin - np.median(thin, axis=1, keepdims=True))
    weight = (away / np.maximum(away.max(axis=1, keepdims=True), 1e-9)) ** 8 + 1e-6
    return np.einsum("pn,pnd->pd", weight, view.points) / weight.sum(axis=1, keepdims=True)


def stack_labels(views: list[PartClouds], labels: list[Labels], size: int, rng: np.random.Generator) -> Targets:
    """Targets of a batch; where several hypotheses are valid, pivot and limits are taught for one drawn by weight."""
    batch = len(views)
    kinds = np.zeros((batch, size, len(KINDS)))
    parents = np.full((batch, size), -1)
    axes = np.zeros((batch, size, views[0].directions.shape[1], 2))
    chosen = np.zeros((batch, size), dtype=np.int64)
    origins, origin_weights = np.zeros((batch, size, ORIGINS, 3)), np.zeros((batch, size, ORIGINS))
    limits = np.full((batch, size, 2, 2), np.nan)
    for b, (view, known) in enumerate(zip(views, labels, strict=True)):
        count = len(view.parts)
        kinds[b, :count], parents[b, :count] = known.kinds, known.parents
        match, sign = _nearest_direction(view, known)
        for row in np.unique(known.owners):
            mine = np.flatnonzero((known.owners == row) & (match >= 0))
            if len(mine) == 0:
                continue
            np.add.at(axes[b, row], (match[mine], known.moves[mine]), known.weights[mine])
            one = mine[_draw(known.weights[mine], rng)]
            chosen[b, row] = match[one]
            move = known.moves[one]
            low, high = known.limits[one] if sign[one] > 0 else -known.limits[one][::-1]
            along = view.points[row] @ view.directions[row, match[one]]
            unit = np.pi if move == TURN else max(float(np.ptp(along)), THINNEST)
            limits[b, row, move] = low / unit, high / unit
            same = mine[(match[mine] == match[one]) & (known.moves[mine] == TURN)] if move == TURN else mine[:0]
            same = same[np.argsort(-known.weights[same], kind="stable")][:ORIGINS]
            origins[b, row, : len(same)], origin_weights[b, row, : len(same)] = known.origins[same], known.weights[same]
    axes /= np.maximum(axes.sum(axis=2, keepdims=True), 1e-12)
    most = max(1, int((origin_weights > 0).sum(axis=2).max()))
    origins, origin_weights = origins[:, :, :most], origin_weights[:, :, :most]
    tensors = (torch.from_numpy(one) for one in (kinds, parents, axes, chosen, origins, origin_weights, limits))
    return Targets(*(one.float() if one.is_floating_point() else one for one in tensors))


def _nearest_direction(view: PartClouds, known: Labels) -> tuple[Int[np.ndarray, " C"], Float[np.ndarray, " C"]]:
    """Which direction each hypothesis has, -1 if none is near enough, and the sign against it."""
    directions = (view.directions * canonical_signs(view.directions)[..., None])[known.owners]
    dots = np.einsum("ckd,cd->ck", directions, known.axes)
    close = np.where(view.sources[known.owners] >= 0, np.abs(dots), -1.0)
    if len(close) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    best = close.argmax(axis=1)
    rows = np.arange(len(best))
    return np.where(close[rows, best] > LABEL_DIRECTION, best, -1), np.sign(dots[rows, best])


def _draw(weights: Float[np.ndarray, " N"], rng: np.random.Generator) -> int:
    total = float(weights.sum())
    return int(rng.choice(len(weights), p=weights / total)) if total > 0 else 0
