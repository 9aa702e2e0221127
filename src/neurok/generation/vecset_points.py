"""A whole object as samples: its surface with colours and materials, and where it is solid."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.families.household.asset import pictured
from neurok.families.household.looks import material_of
from neurok.families.household.parts import Assembly, placed
from neurok.generation.part_points import colours_at, face_normals, stuff_of, values_of
from neurok.geometry.sampling import sample_surface
from neurok.geometry.voxels import inside_grid
from neurok.modelling.shapes import Shape, join


@dataclass(frozen=True)
class ObjectConfig:
    """How densely an object is sampled."""

    points: int = 1536
    """On its surface."""

    queries: int = 2048
    """Places of which it is known whether they are inside: half of them near the surface."""

    cells: int = 96
    """Along the longest side, of the grid whose cells are asked."""


OBJECTS = ObjectConfig()


class Surface(NamedTuple):
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


def surface_of(assembly: Assembly, count: int, rng: np.random.Generator) -> Surface:
    """Points spread evenly over all parts of an object [m]."""
    solids = [pictured(part) for part in assembly.parts]
    copies = [placed(s, pose) for s, part in zip(solids, assembly.parts, strict=True) for pose in part.poses]
    owners = np.repeat(np.arange(len(solids)), [len(part.poses) for part in assembly.parts])
    whole = join(copies)
    of_face = np.repeat(np.arange(len(copies)), [len(shape.faces) for shape in copies])
    drawn = sample_surface(whole.vertices, whole.faces, count, rng)
    which = of_face[drawn.face_ids]
    colours = np.array([part.look.rgb for part in assembly.parts])[owners[which]]
    for number, part in enumerate(assembly.parts):
        mine = owners[which] == number
        if part.look.pattern != "plain" and mine.any() and whole.uv is not None:
            colours[mine] = colours_at(part.look, drawn.interpolate(whole.uv)[mine])
    normals = face_normals(whole)[drawn.face_ids]
    return Surface(drawn.interpolate(whole.vertices), normals, colours, owners[which], which)


def sample_object(assembly: Assembly, rng: np.random.Generator, config: ObjectConfig = OBJECTS) -> ObjectSample:
    """An object with everything that an autoencoder of whole objects learns of it."""
    found = surface_of(assembly, config.points, rng)
    low, high = assembly.bounds
    middle, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    values = np.array([values_of(material_of(part.look)) for part in assembly.parts])
    stuffs = np.array([stuff_of(part.look) for part in assembly.parts], dtype=np.float64)
    whole = join([shape for part in assembly.parts for shape in part.copies])
    boxed = Shape((whole.vertices - middle) / half, whole.faces)
    queries, inside = occupancy(boxed, (found.points - middle) / half, rng, config)
    return ObjectSample(
        (found.points - middle) / half, found.normals, found.colours, values[found.owners], stuffs[found.owners],
        queries, inside.astype(np.float64),
    )  # fmt: skip


def occupancy(
    shape: Shape, points: Float[np.ndarray, "N 3"], rng: np.random.Generator, config: ObjectConfig = OBJECTS
) -> tuple[Float[np.ndarray, "Q 3"], Bool[np.ndarray, " Q"]]:
    """Places in the box of solids that may overlap, half of them next to the surface, and whether they are inside."""
    cell, margin = 2.0 / config.cells, 2
    count = config.cells + 2 * margin
    low = np.full(3, -1.0 - margin * cell)
    grid = inside_grid(shape.vertices, shape.faces, low, cell, (count,) * 3)
    near = points[rng.integers(len(points), size=config.queries // 2)]
    near = near + rng.normal(size=near.shape) * 1.5 * cell
    far = rng.uniform(-1.05, 1.05, (config.queries - len(near), 3))
    index = np.clip(np.floor((np.concatenate([near, far]) - low) / cell).astype(int), 0, count - 1)
    return low + (index + 0.5) * cell, grid[tuple(index.T)]
