"""A part as samples: its surface in its own box with colours, its outer solid as signed distances, and its words."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import get_args

import numpy as np
from jaxtyping import Float

from neurok.catalogue.appearance import material_of, surface_of
from neurok.catalogue.asset import pictured
from neurok.catalogue.parts import PATTERNS, Appearance, Part
from neurok.core.material import Material, MaterialKind
from neurok.core.material_library import library
from neurok.geometry.distance import closest_point
from neurok.geometry.operators import face_normals
from neurok.geometry.sampling import sample_surface
from neurok.geometry.voxels import inside_closed
from neurok.io.surfaces import linear_from_srgb, srgb_from_linear
from neurok.modelling.forms import KINDS, OPENINGS, RELIEFS, fitted, mesh_of
from neurok.modelling.shapes import Shape

LAWS: tuple[str, ...] = get_args(MaterialKind)
"""Types of material behaviour."""

FAMILIES: tuple[str, ...] = tuple(sorted({entry.family for entry in library().values()}))
VALUES = ("log_young", "poisson", "log_yield", "friction_angle", "density")
"""What the numbers of a material are: log10 Pa, 1, log10 Pa, rad, 1000 kg/m^3."""

SCALES = np.array([1.0, 2.0, 1.0, 1.0, 1.0])
"""Factors of these numbers in front of a network (SOPHY's normalisation)."""

CENTRES = np.array([7.0, 0.6, 6.0, 0.6, 0.8])
"""Typical scaled numbers, taken off in front of a network; of the library's household materials."""

# How densely a part is sampled.
SAMPLE_POINTS = 384  # on its surface; batches draw fewer of them
SAMPLE_QUERIES = 640  # places at which the distance to the outer solid is known
SAMPLE_NEAR = (0.02, 0.12)
"""Standard deviations of queries about the surface, in halves of the box; a third of them each ..."""

SAMPLE_REACH = 1.15  # ... and a third anywhere within so many halves of the box
SAMPLE_CANDIDATES = 8  # triangles of each size that are tried for the nearest point: fast, and exact but for slivers


@dataclass(frozen=True, eq=False)
class PartSample:
    """One part as arrays; places and directions are in its box, stretched to [-1, 1] along every axis."""

    points: Float[np.ndarray, "N 3"]
    normals: Float[np.ndarray, "N 3"]
    colours: Float[np.ndarray, "N 3"]
    """sRGB, 0..1, of the pattern where it has one."""

    size: Float[np.ndarray, "3"]
    """[m]."""

    material: Float[np.ndarray, "5"]
    """``VALUES``; NaN where the material has none."""

    labels: Float[np.ndarray, "6"]
    """Numbers of kind, opening, relief, pattern, law and family in their lists; -1 where unknown."""

    code: Float[np.ndarray, "24"]
    wall: float
    """In halves of the longest side; 0 where it is solid."""

    appearance: Float[np.ndarray, "7"]
    """Colour, second colour, log of the tile [m]."""

    queries: Float[np.ndarray, "Q 3"]
    distances: Float[np.ndarray, " Q"]
    """To the outer solid (without its hollow), negative inside."""

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: np.asarray(getattr(self, field.name), dtype=np.float32) for field in fields(self)}


def sample_part(part: Part, rng: np.random.Generator) -> PartSample:
    """A part with everything that an autoencoder learns of it."""
    points, normals, colours = surface_of_part(part, SAMPLE_POINTS, rng)
    outer = outer_solid(part)
    queries, distances = distances_of(in_box(outer, part.size), rng)
    opening = part.hollow.opening if part.hollow is not None else ""
    wall = part.hollow.wall if part.hollow is not None and opening else 0.0
    law, family = stuff_of(part.appearance)
    labels = [
        KINDS.index(part.kind), OPENINGS.index(opening), RELIEFS.index(part.relief),
        PATTERNS.index(part.appearance.pattern), law, family,
    ]  # fmt: skip
    return PartSample(
        points,
        normals,
        colours,
        np.asarray(part.size),
        values_of(material_of(part.appearance)),
        np.array(labels, dtype=np.float64),
        np.asarray(part.code),
        wall / (0.5 * float(part.size.max())),
        np.array([*part.appearance.rgb, *part.appearance.second_rgb, np.log(part.appearance.tile)]),
        queries,
        distances,
    )


def surface_of_part(
    part: Part, count: int, rng: np.random.Generator
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Points, normals and colours of a part, spread evenly over its real surface and then put in its box."""
    shape = pictured(part)
    drawn = sample_surface(shape.vertices, shape.faces, count, rng)
    half = np.asarray(part.size) / 2.0
    points = drawn.interpolate(shape.vertices)
    normals = boxed_normals(face_normals(shape.vertices, shape.faces)[drawn.face_ids], half)
    colours = np.broadcast_to(np.array(part.appearance.rgb), (count, 3))
    if shape.uv is not None:
        colours = colours_at(part.appearance, drawn.interpolate(shape.uv))
    return points / half, normals, colours


def colours_at(finish: Appearance, uv: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N 3"]:
    """sRGB of a surface where its texture has these coordinates."""
    surface = surface_of(finish)
    assert surface.texture is not None
    light = linear_from_srgb(surface.texture.pixels()[::-1, :, :3].reshape(-1, 3) / 255.0)[:, :3]
    height, width = surface.texture.size[::-1]
    column, row = np.floor((uv % 1.0) * (width, height)).astype(int).T % np.array([[width], [height]])
    seen = light[row * width + column] * surface.base_color[:3]
    return srgb_from_linear(np.column_stack([seen, np.ones(len(seen))]))[:, :3]


def boxed_normals(normals: Float[np.ndarray, "N 3"], half: Float[np.ndarray, "3"]) -> Float[np.ndarray, "N 3"]:
    """Normals of a surface after its box was stretched to a cube."""
    return unit(normals * half)


def unit(vectors: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def outer_solid(part: Part) -> Shape:
    """The solid of a part without its hollow, filling its box."""
    if part.mesh is not None or part.hollow is None:
        return part.solid
    return mesh_of(part.kind, part.code, part.size, None, part.relief)


def in_box(shape: Shape, size: Float[np.ndarray, "3"]) -> Shape:
    """A solid that fills its box, stretched so that the box is [-1, 1] along every axis."""
    return replace(fitted(shape, np.full(3, 2.0)), uv=None)


def distances_of(shape: Shape, rng: np.random.Generator) -> tuple[Float[np.ndarray, "Q 3"], Float[np.ndarray, " Q"]]:
    """Places about a closed solid in its box, and their signed distances."""
    count = SAMPLE_QUERIES // 3
    near = sample_surface(shape.vertices, shape.faces, 2 * count, rng).interpolate(shape.vertices)
    near += rng.normal(size=near.shape) * np.repeat(SAMPLE_NEAR, count)[:, None]
    far = rng.uniform(-SAMPLE_REACH, SAMPLE_REACH, (SAMPLE_QUERIES - 2 * count, 3))
    queries = np.concatenate([near, far])
    return queries, signed_distance(shape, queries, SAMPLE_CANDIDATES)


def signed_distance(shape: Shape, queries: Float[np.ndarray, "Q 3"], candidates: int = 8) -> Float[np.ndarray, " Q"]:
    """To a closed solid; negative inside."""
    away = closest_point(queries, shape.vertices, shape.faces, candidates=candidates).distances
    return np.where(inside_closed(queries, shape.vertices, shape.faces), -away, away)


def stuff_of(finish: Appearance) -> tuple[int, int]:
    """Numbers of the law and of the family of what a part is made of."""
    entry = library()[finish.material]
    return LAWS.index(entry.material.kind), FAMILIES.index(entry.family)


def values_of(material: Material) -> Float[np.ndarray, "5"]:
    """The numbers of a material; NaN where it has none."""
    flow, angle = material.yield_stress, material.friction_angle
    return np.array([
        np.log10(material.young),
        material.poisson,
        np.nan if flow is None else np.log10(flow),
        np.nan if angle is None else angle,
        material.density / 1000.0,
    ])  # fmt: skip
