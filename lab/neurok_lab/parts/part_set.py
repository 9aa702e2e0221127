"""Many sampled parts and objects as arrays, in files that training reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.catalogue.parts import Assembly, Part, placed
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.modelling.booleans import from_manifold
from neurok.modelling.forms import CODE, KINDS
from neurok.modelling.shapes import Shape
from neurok_lab.parts.part_autoencoder import FORMS, PartInput, PartTargets
from neurok_lab.parts.part_points import CENTRES, FAMILIES, LAWS, SCALES, sample_part
from neurok_lab.parts.vecset import sample_object

Rows = dict[str, np.ndarray]

IMPLICIT_SHARE = 0.3
"""Share of parts that are also shown as what a mesh without a form may be: turned, repeated, or joined with a
neighbour. Chosen so that one part in four is implicit."""

COPIES = 12
"""More copies than this are not joined into one."""


def rows_of(assembly: Assembly, rng: np.random.Generator, variants: bool = True) -> tuple[Rows, Rows]:
    """Samples of the parts of an object, and of the whole of it."""
    parts = list(assembly.parts)
    if variants:
        parts += [other for part in assembly.parts if (other := variant(assembly, part, rng)) is not None]
    return stack([sample_part(part, rng).arrays() for part in parts]), stack([sample_object(assembly, rng).arrays()])


def variant(assembly: Assembly, part: Part, rng: np.random.Generator) -> Part | None:
    """A part as a plain mesh in the axes of the object or in any others; nothing for most parts."""
    if rng.random() > IMPLICIT_SHARE:
        return None
    how = rng.random()
    if how < 0.4:
        turn = lie.axis_angle_matrix(_direction(rng), rng.uniform(0.0, np.pi))
        return as_implicit(part, placed(part.solid, lie.compose(turn, np.zeros(3))))
    solids = list(part.solids[:COPIES])
    if how > 0.7 and part.parent >= 0:
        solids += list(assembly.parts[part.parent].solids[:COPIES])
    whole = solids[0]
    for other in solids[1:]:
        whole = whole + other
    return as_implicit(part, from_manifold(whole))


def as_implicit(part: Part, shape: Shape) -> Part:
    """A part of the same stuff whose solid is given in the axes of the object."""
    low, high = shape.bounds
    return replace(
        part, kind="implicit", code=np.zeros(CODE), size=high - low, centre=(low + high) / 2, turn=np.eye(3),
        hollow=None, relief="smooth", mesh=Shape(shape.vertices - (low + high) / 2, shape.faces),
    )  # fmt: skip


def _direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def stack(rows: Sequence[Mapping[str, npt.NDArray[np.float32]]]) -> Rows:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def joined(some: Iterable[Rows]) -> Rows:
    rows = list(some)
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def write_set(path: Path, parts: Rows, objects: Rows) -> None:
    """One file; places and colours in half precision."""
    packed = {
        f"{prefix}.{name}": value.astype(np.float16) if value.ndim > 2 or name == "distances" else value
        for prefix, rows in (("part", parts), ("object", objects))
        for name, value in rows.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, allow_pickle=False, **packed)  # type: ignore[arg-type]
    partial.replace(path)


def read_sets(folder: Path) -> tuple[Rows, Rows]:
    """All parts and all objects of the files in a folder."""
    files = [file for file in sorted(folder.glob("*.npz")) if ".partial" not in file.name]
    if not files:
        raise NeurokError(f"There are no samples in '{folder}'; 'neurok train parts {folder}' makes them.")
    found: dict[str, list[Rows]] = {"part": [], "object": []}
    for file in files:
        with np.load(file, allow_pickle=False) as data:
            for prefix, some in found.items():
                names = [name for name in data.files if name.startswith(prefix)]
                some.append({name.split(".")[1]: data[name].astype(np.float32) for name in names})
    return joined(found["part"]), joined(found["object"])


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
            row["appearance"],
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
