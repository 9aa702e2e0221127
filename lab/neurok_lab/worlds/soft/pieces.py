"""Pieces of an object with their look, material and motion, put together into one asset with one clip."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core import Asset, Clip, Material, MaterialField, Mesh, Surface
from neurok.geometry import lie
from neurok.modelling.shapes import Shape

FPS = 24.0
LICENSE = "Apache-2.0"


@dataclass(frozen=True, eq=False)
class SoftPiece:
    """Some faces of one part, how they look, what they are made of and how they move."""

    part: str
    vertices: Float[np.ndarray, "V 3"]
    """At rest [m]."""

    faces: Int[np.ndarray, "F 3"]
    surface: Surface
    material: Material
    positions: Float[np.ndarray, "T V 3"] | None = None
    """In each frame; without it the piece stands still."""

    trim: Surface | None = None
    """A second look, for the faces of ``trimmed``."""

    trimmed: Bool[np.ndarray, " F"] | None = None


def still(part: str, shape: Shape, surface: Surface, material: Material) -> SoftPiece:
    """A piece that does not move."""
    return SoftPiece(part, shape.vertices, shape.faces, surface, material)


def carried(
    part: str, shape: Shape, surface: Surface, material: Material, transforms: Float[np.ndarray, "T 4 4"]
) -> SoftPiece:
    """A rigid piece that follows a body."""
    return SoftPiece(part, shape.vertices, shape.faces, surface, material, lie.apply(transforms, shape.vertices))


def assemble(family: str, pieces: Sequence[SoftPiece], frame_count: int, excitation: str) -> Asset:
    """One mesh, one clip and one material field out of the pieces; parts are named in order of appearance."""
    names = tuple(dict.fromkeys(piece.part for piece in pieces))
    looks = [look for piece in pieces for look in (piece.surface, piece.trim) if look is not None]
    surfaces = tuple(dict.fromkeys(looks))
    materials = tuple(dict.fromkeys(piece.material for piece in pieces))
    starts = np.cumsum([0] + [len(piece.vertices) for piece in pieces])

    def spread(values: list[int], counts: list[int]) -> np.ndarray:
        return np.repeat(np.asarray(values, dtype=np.int64), counts)

    vertex_counts = [len(piece.vertices) for piece in pieces]
    positions = [
        np.broadcast_to(p.vertices, (frame_count, *p.vertices.shape)) if p.positions is None else p.positions
        for p in pieces
    ]
    mesh = Mesh(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.faces + start for piece, start in zip(pieces, starts, strict=False)]),
        part_ids=spread([names.index(piece.part) for piece in pieces], vertex_counts),
        part_names=names,
        surfaces=surfaces,
        face_surfaces=np.concatenate([_face_surfaces(piece, surfaces) for piece in pieces]),
        name=family,
    )
    field = MaterialField(materials, spread([materials.index(p.material) for p in pieces], vertex_counts))
    clip = Clip(mesh, np.concatenate(positions, axis=1).astype(np.float32), FPS, excitation.split(" ")[0])
    provenance = {
        "family": family,
        "category": family,
        "engine": engine_name(),
        "excitation": excitation,
        "source": "neurok",
        "license": LICENSE,
    }
    return Asset(mesh, (clip,), None, field, provenance)


def _face_surfaces(piece: SoftPiece, surfaces: tuple[Surface, ...]) -> Int[np.ndarray, " F"]:
    ids = np.full(len(piece.faces), surfaces.index(piece.surface), dtype=np.int64)
    if piece.trim is not None and piece.trimmed is not None:
        ids[piece.trimmed] = surfaces.index(piece.trim)
    return ids


def engine_name() -> str:
    import mujoco

    return f"MuJoCo {mujoco.__version__}"


def color(
    rng: np.random.Generator,
    hue: tuple[float, float] = (0.0, 1.0),
    saturation: tuple[float, float] = (0.2, 0.6),
    value: tuple[float, float] = (0.45, 0.9),
) -> tuple[float, float, float, float]:
    """A random colour, linear light; hue in turns (0 red, 1/3 green, 2/3 blue)."""
    picked = colorsys.hsv_to_rgb(rng.uniform(*hue) % 1.0, rng.uniform(*saturation), rng.uniform(*value))
    red, green, blue = (float(c) ** 2.2 for c in picked)
    return (red, green, blue, 1.0)


def fabric_surface(rng: np.random.Generator, name: str = "fabric") -> Surface:
    return Surface(name, color(rng), roughness=0.9)


def wood_surface(rng: np.random.Generator) -> Surface:
    return Surface("wood", color(rng, (0.05, 0.1), (0.4, 0.65), (0.35, 0.8)), roughness=0.6)


def metal_surface(rng: np.random.Generator) -> Surface:
    return Surface("metal", color(rng, (0.05, 0.6), (0.0, 0.15), (0.4, 0.85)), metallic=0.7, roughness=0.35)


def leaf_surface(rng: np.random.Generator) -> Surface:
    return Surface("leaf", color(rng, (0.22, 0.4), (0.5, 0.8), (0.35, 0.7)), roughness=0.6)


WOOD = Material("wood", young=1e10, poisson=0.35, density=650.0, kind="rigid")
METAL = Material("steel", young=2e11, poisson=0.29, density=7800.0, kind="rigid")
CERAMIC = Material("ceramic", young=6e10, poisson=0.22, density=2300.0, kind="rigid")
PLASTIC = Material("plastic", young=2.2e9, poisson=0.37, density=1050.0, kind="rigid")


def fabric(young: float, area_density: float, thickness: float, name: str = "fabric") -> Material:
    """Cloth as a continuum: what it weighs per area [kg/m^2] spread over its thickness [m]."""
    return Material(name, young=young, poisson=0.3, density=area_density / thickness)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def wood_or_metal(rng: np.random.Generator, wood: float) -> tuple[Surface, Material]:
    """What stands and poles are made of, with the chance of wood."""
    return (wood_surface(rng), WOOD) if rng.random() < wood else (metal_surface(rng), METAL)
