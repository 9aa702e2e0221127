"""The second configuration: a whole object as a set of 64 tokens, each a code of shape, colour and material (SOPHY)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from neurok.catalogue.appearance import material_of
from neurok.catalogue.asset import pictured
from neurok.catalogue.parts import Assembly, placed
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.geometry.voxels import inside_grid
from neurok.learned.blocks import Block, fourier, fourier_width
from neurok.modelling.shapes import Shape, join
from neurok_lab.parts.part_autoencoder import STUFF, Terms
from neurok_lab.parts.part_points import FAMILIES, LAWS, VALUES, colours_at, stuff_of, values_of


@dataclass(frozen=True)
class VecsetConfig:
    """Sizes of the autoencoder: 0.7 M parameters."""

    tokens: int = 64
    width: int = 64
    heads: int = 4
    shape: int = 16
    colour: int = 8
    material: int = 8
    """Numbers of each token."""

    depth: int = 2
    """Layers among the tokens of a shape, after it is decoded."""

    octaves: int = 6

    @property
    def total(self) -> int:
        return self.shape + self.colour + self.material


class ObjectInput(NamedTuple):
    """What the encoder sees of objects."""

    points: Float[Tensor, "B N 3"]
    normals: Float[Tensor, "B N 3"]
    colours: Float[Tensor, "B N 3"]
    stuff: Float[Tensor, "B N S"]


class ObjectTargets(NamedTuple):
    """What is known of places in and on objects."""

    queries: Float[Tensor, "B Q 3"]
    inside: Float[Tensor, "B Q"]
    """Half of them anywhere, half near the surface."""

    points: Float[Tensor, "B M 3"]
    colours: Float[Tensor, "B M 3"]
    law: Int[Tensor, "B M"]
    family: Int[Tensor, "B M"]
    values: Float[Tensor, "B M 5"]


class Tokens(NamedTuple):
    """Decoded tokens."""

    shape: Float[Tensor, "B T W"]
    colour: Float[Tensor, "B T W"]
    material: Float[Tensor, "B T W"]


class VecsetModel(nn.Module):
    """Points to tokens and back to places: materials attend to shape and colour, colours to shape."""

    def __init__(self, config: VecsetConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or VecsetConfig()
        width = config.width
        cross = lambda: Block(width, config.heads, cross=True)  # noqa: E731
        self.place = nn.Linear(fourier_width(3, config.octaves), width)
        self.normal_in, self.colour_in = nn.Linear(3, width), nn.Linear(3, width)
        self.stuff_in = nn.Linear(STUFF, width)
        self.read_blocks = nn.ModuleList(cross() for _ in range(3))
        self.lean_blocks = nn.ModuleList(cross() for _ in range(2))
        sizes = (config.shape, config.colour, config.material)
        self.heads = nn.ModuleList(nn.Linear(width, 2 * size) for size in sizes)
        self.rises = nn.ModuleList(nn.Linear(size, width) for size in sizes)
        self.shape_blocks = nn.ModuleList(Block(width, config.heads) for _ in range(config.depth))
        self.decode_blocks = nn.ModuleList(cross() for _ in range(2))
        self.ask_blocks = nn.ModuleList(cross() for _ in range(3))
        self.falls = nn.ModuleList(nn.Linear(width, size) for size in (1, 3, len(LAWS) + len(FAMILIES) + len(VALUES)))

    def encode(self, given: ObjectInput) -> tuple[Float[Tensor, "B T Z"], Float[Tensor, "B T Z"]]:
        """Mean and log variance; the first points are where the tokens stand, so points must come in random order."""
        seen = self.place(fourier(given.points, self.config.octaves)) + self.normal_in(given.normals)
        start = seen[:, : self.config.tokens]
        shape = self.read_blocks[0](start, seen)
        colour = self.read_blocks[1](start, seen + self.colour_in(given.colours))
        material = self.read_blocks[2](start, seen + self.stuff_in(given.stuff))
        colour = self.lean_blocks[0](colour, shape)
        material = self.lean_blocks[1](material, torch.cat([shape, colour], dim=1))
        pairs = [head(x).chunk(2, dim=-1) for head, x in zip(self.heads, (shape, colour, material), strict=True)]
        means, logs = zip(*pairs, strict=True)
        return torch.cat(means, dim=-1), torch.cat(logs, dim=-1).clamp(-12.0, 4.0)

    def decode(self, code: Float[Tensor, "B T Z"]) -> Tokens:
        parts = code.split([self.config.shape, self.config.colour, self.config.material], dim=-1)
        shape, colour, material = (rise(part) for rise, part in zip(self.rises, parts, strict=True))
        for block in self.shape_blocks:
            shape = block(shape)
        colour = self.decode_blocks[0](colour, shape)
        material = self.decode_blocks[1](material, torch.cat([shape, colour], dim=1))
        return Tokens(shape, colour, material)

    def inside(self, tokens: Tokens, queries: Float[Tensor, "B Q 3"]) -> Float[Tensor, "B Q"]:
        """Logits of being inside."""
        return self._ask(0, queries, tokens.shape)[..., 0]

    def surface(self, tokens: Tokens, points: Float[Tensor, "B M 3"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Colour, logits of law and family, and scaled values of a material, at points of the surface."""
        stuff = self._ask(2, points, torch.cat([tokens.shape, tokens.material], dim=1))
        law, family, values = stuff.split([len(LAWS), len(FAMILIES), len(VALUES)], dim=-1)
        return self._ask(1, points, torch.cat([tokens.shape, tokens.colour], dim=1)), law, family, values

    def _ask(self, which: int, places: Tensor, tokens: Tensor) -> Tensor:
        return self.falls[which](self.ask_blocks[which](self.place(fourier(places, self.config.octaves)), tokens))


# Weights of the terms: SOPHY's.
NEAR = 0.1  # of places near the surface, beside those anywhere
MATERIAL = COLOUR = 0.1
KL = 1e-4  # of a nat; a tenth of SOPHY's: in a short run more would leave the codes empty


class VecsetTask(nn.Module):
    """The model with its loss."""

    def __init__(self, config: VecsetConfig) -> None:
        super().__init__()
        self.model = VecsetModel(config)

    def forward(self, given: ObjectInput, targets: ObjectTargets, noise: Tensor | None = None) -> Terms:
        mean, log_variance = self.model.encode(given)
        code = mean if noise is None else mean + noise * (log_variance / 2.0).exp()
        tokens = self.model.decode(code)
        logits = self.model.inside(tokens, targets.queries)
        colour, law, family, values = self.model.surface(tokens, targets.points)
        cross = nn.functional.binary_cross_entropy_with_logits(logits, targets.inside, reduction="none")
        near, far = cross.chunk(2, dim=1)
        known = ~targets.values.isnan()
        error = (values - targets.values.nan_to_num()).abs() * known
        kl = 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(dim=(1, 2)).mean()
        choose = lambda scores, labels: nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())  # noqa: E731
        found = logits > 0
        shared, either = found & (targets.inside > 0.5), found | (targets.inside > 0.5)
        parts = {
            "far": far.mean(),
            "near": near.mean(),
            "iou": shared[:, near.shape[1] :].sum() / either[:, near.shape[1] :].sum().clamp(min=1),
            "law": choose(law, targets.law),
            "family": choose(family, targets.family),
            "material": error.sum() / known.sum().clamp(min=1),
            "colour": (colour - targets.colours).abs().mean(),
            "nats": kl,
        }
        loss = parts["far"] + NEAR * parts["near"] + COLOUR * parts["colour"]
        loss = loss + MATERIAL * (parts["law"] + parts["family"] + parts["material"]) + KL * kl
        return Terms(loss, parts)


# How densely an object is sampled.
OBJECT_POINTS = 1536  # on its surface
OBJECT_QUERIES = 2048  # places of which it is known whether they are inside: half of them near the surface
OBJECT_CELLS = 96  # along the longest side, of the grid whose cells are asked


class SurfaceSamples(NamedTuple):
    """Points all over an object, and to which part each belongs."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    colours: Float[np.ndarray, "N 3"]
    owners: Int[np.ndarray, " N"]
    """Part of each point ..."""

    copies: Int[np.ndarray, " N"]
    """... and which copy, counted through all parts."""


@dataclass(frozen=True, eq=False)
class ObjectSample:
    """One object as arrays, in a box whose longest side is [-1, 1]."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    colours: Float[np.ndarray, "N 3"]
    materials: Float[np.ndarray, "N 5"]
    """``part_points.VALUES`` of every point; NaN where it has none."""

    stuffs: Float[np.ndarray, "N 2"]
    """Numbers of law and family."""

    queries: Float[np.ndarray, "Q 3"]
    inside: Float[np.ndarray, " Q"]

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: np.asarray(getattr(self, field.name), dtype=np.float32) for field in fields(self)}


def surface_of(assembly: Assembly, count: int, rng: np.random.Generator) -> SurfaceSamples:
    """Points spread evenly over all parts of an object [m]."""
    solids = [pictured(part) for part in assembly.parts]
    copies = [placed(s, pose) for s, part in zip(solids, assembly.parts, strict=True) for pose in part.poses]
    owners = np.repeat(np.arange(len(solids)), [len(part.poses) for part in assembly.parts])
    whole = join(copies)
    of_face = np.repeat(np.arange(len(copies)), [len(shape.faces) for shape in copies])
    drawn = sample_surface(whole.vertices, whole.faces, count, rng)
    which = of_face[drawn.face_ids]
    colours = np.array([part.appearance.rgb for part in assembly.parts])[owners[which]]
    for number, part in enumerate(assembly.parts):
        mine = owners[which] == number
        if solids[number].uv is not None and mine.any() and whole.uv is not None:
            colours[mine] = colours_at(part.appearance, drawn.interpolate(whole.uv)[mine])
    normals = face_normals(whole.vertices, whole.faces)[drawn.face_ids]
    return SurfaceSamples(drawn.interpolate(whole.vertices), normals, colours, owners[which], which)


def sample_object(assembly: Assembly, rng: np.random.Generator) -> ObjectSample:
    """An object with everything that an autoencoder of whole objects learns of it."""
    found = surface_of(assembly, OBJECT_POINTS, rng)
    low, high = assembly.bounds
    middle, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    values = np.array([values_of(material_of(part.appearance)) for part in assembly.parts])
    stuffs = np.array([stuff_of(part.appearance) for part in assembly.parts], dtype=np.float64)
    whole = join([shape for part in assembly.parts for shape in part.copies])
    boxed = Shape((whole.vertices - middle) / half, whole.faces)
    queries, inside = occupancy(boxed, (found.points - middle) / half, rng)
    return ObjectSample(
        (found.points - middle) / half, found.normals, found.colours, values[found.owners], stuffs[found.owners],
        queries, inside.astype(np.float64),
    )  # fmt: skip


def occupancy(
    shape: Shape, points: Float[np.ndarray, "N 3"], rng: np.random.Generator
) -> tuple[Float[np.ndarray, "Q 3"], Bool[np.ndarray, " Q"]]:
    """Places in the box of solids that may overlap, half of them next to the surface, and whether they are inside."""
    cell, margin = 2.0 / OBJECT_CELLS, 2
    count = OBJECT_CELLS + 2 * margin
    low = np.full(3, -1.0 - margin * cell)
    grid = inside_grid(shape.vertices, shape.faces, low, cell, (count,) * 3)
    near = points[rng.integers(len(points), size=OBJECT_QUERIES // 2)]
    near = near + rng.normal(size=near.shape) * 1.5 * cell
    far = rng.uniform(-1.05, 1.05, (OBJECT_QUERIES - len(near), 3))
    index = np.clip(np.floor((np.concatenate([near, far]) - low) / cell).astype(int), 0, count - 1)
    return low + (index + 0.5) * cell, grid[tuple(index.T)]
