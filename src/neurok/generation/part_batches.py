"""Batches of sampled parts, as the autoencoder and its loss take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.generation.part_autoencoder import FORMS, PartInput
from neurok.generation.part_loss import PartTargets
from neurok.generation.part_points import CENTRES, FAMILIES, LAWS, SCALES
from neurok.generation.part_set import Rows
from neurok.modelling.forms import CODE, KINDS

SOLID = -30.0
"""Stands for the log of the wall of what is solid."""


@dataclass(frozen=True)
class PartViewConfig:
    """What a batch is made of."""

    parts: int = 48
    points: int = 112
    """Of each part's surface."""

    queries: int = 64
    """Places at which distances are asked."""

    turned: float = 0.12
    """Share of parts shown along other axes, of which only distances are asked."""

    unknown: float = 0.15
    """Share of parts whose material is not shown."""

    balance: float = 0.5
    """Kinds of each law (so that soil is seen) are drawn by their number to the power of one minus this."""


@dataclass(frozen=True, eq=False)
class PartRows:
    """All parts of a set in memory."""

    rows: dict[str, Tensor]
    chances: Float[np.ndarray, " P"]
    """How often each is drawn."""

    @staticmethod
    def of(rows: Rows, balance: float = 0.5) -> PartRows:
        kinds = rows["labels"][:, 0].astype(int) + len(KINDS) * (rows["labels"][:, 4].astype(int) + 1)
        chances = np.bincount(kinds)[kinds].astype(np.float64) ** -balance
        return PartRows({name: torch.from_numpy(value) for name, value in rows.items()}, chances / chances.sum())

    def __len__(self) -> int:
        return len(self.chances)

    def draw(
        self, config: PartViewConfig, rng: np.random.Generator, statistics: tuple[Tensor, Tensor]
    ) -> tuple[PartInput, PartTargets]:
        """A random batch."""
        ids = rng.choice(len(self), config.parts, p=self.chances)
        turned = rng.random(config.parts) < config.turned
        unknown = rng.random(config.parts) < config.unknown
        return self.batch(ids, config, rng, statistics, turned, unknown)

    def batch(
        self,
        ids: Int[np.ndarray, " B"],
        config: PartViewConfig,
        rng: np.random.Generator,
        statistics: tuple[Tensor, Tensor],
        turned: np.ndarray | None = None,
        unknown: np.ndarray | None = None,
    ) -> tuple[PartInput, PartTargets]:
        """Some parts, with a random choice of their points and queries."""
        row = {name: value[torch.from_numpy(ids)] for name, value in self.rows.items()}
        seen = torch.from_numpy(rng.permutation(row["points"].shape[1])[: config.points])
        asked = torch.from_numpy(rng.permutation(row["queries"].shape[1])[: config.queries])
        points, normals, queries = row["points"][:, seen], row["normals"][:, seen], row["queries"][:, asked]
        aspect = (row["size"] / row["size"].amax(dim=1, keepdim=True)).clamp(min=1e-3).log()
        labels = row["labels"].long()
        kind = labels[:, 0].clone()
        if turned is not None and turned.any():
            which = torch.from_numpy(np.flatnonzero(turned))
            axes = torch.from_numpy(_axes(len(which), rng)).to(points.dtype)
            points[which], normals[which] = points[which] @ axes, normals[which] @ axes
            queries[which] = queries[which] @ axes
            aspect[which] = (aspect[which][:, None] @ axes.abs())[:, 0]
            kind[which] = -1
        values = (row["material"] * torch.from_numpy(SCALES) - torch.from_numpy(CENTRES)).float()
        stuff = stuff_features(values, labels[:, 4], labels[:, 5])
        if unknown is not None:
            stuff = stuff * torch.from_numpy(~unknown)[:, None]
        mean, scale = statistics
        number = (labels[:, 0] - 1).clamp(min=0)
        given = PartInput(
            points, normals, row["colours"][:, seen], stuff[:, None].expand(-1, points.shape[1], -1), aspect
        )
        off = kind < 0
        targets = PartTargets(
            kind,
            (row["code"] - mean[number]) / scale[number],
            torch.where(off, -1, labels[:, 1]),
            torch.where(off, -1, labels[:, 2]),
            torch.where(row["wall"] > 0, row["wall"].clamp(min=1e-6).log(), torch.full_like(row["wall"], SOLID)),
            row["look"],
            labels[:, 3],
            labels[:, 4],
            labels[:, 5],
            values,
            queries,
            row["distances"][:, asked],
        )
        return given, targets


def stuff_features(
    values: Float[Tensor, "B 5"], law: Int[Tensor, " B"], family: Int[Tensor, " B"]
) -> Float[Tensor, "B S"]:
    """What points know of their material; all zero where nothing is known (law -1)."""
    known = (law >= 0)[:, None].to(values.dtype)
    one = lambda labels, count: nn.functional.one_hot(labels.clamp(min=0), count).to(values.dtype)  # noqa: E731
    there = (~values[:, 2:4].isnan()).to(values.dtype)
    parts = [values.nan_to_num(), there, one(law, len(LAWS)), one(family, len(FAMILIES)), torch.ones_like(known)]
    return torch.cat(parts, dim=-1) * known


def statistics_of(rows: Rows) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]:
    """Mean and spread of the numbers of each kind; spread 1 where they do not vary."""
    kinds = rows["labels"][:, 0].astype(int)
    means, scales = [], []
    for kind in FORMS:
        codes = rows["code"][kinds == KINDS.index(kind)].astype(np.float64)
        if len(codes) < 2:
            codes = np.zeros((2, CODE))
        spread = codes.std(axis=0)
        means.append(tuple(np.round(codes.mean(axis=0), 5).tolist()))
        scales.append(tuple(np.round(np.where(spread > 1e-3, spread, 1.0), 5).tolist()))
    return tuple(means), tuple(scales)


def _axes(count: int, rng: np.random.Generator) -> Float[np.ndarray, "n 3 3"]:
    """Random signed permutations of the axes."""
    order = rng.permuted(np.tile(np.arange(3), (count, 1)), axis=1)
    return np.eye(3)[order] * rng.choice([-1.0, 1.0], (count, 3))[:, :, None]
