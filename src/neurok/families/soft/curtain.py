"""Pleated curtains on a rail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurok.core import Asset
from neurok.families.soft import loads
from neurok.families.soft.cloth import cloth_flex, material_of, sheet_piece, shell_thickness
from neurok.families.soft.grids import SheetGrid
from neurok.families.soft.pieces import METAL, WOOD, Piece, assemble, metal_surface, still, wood_surface
from neurok.families.soft.scene import Force, NodeMotion, Scene
from neurok.modelling.shapes import cylinder, join, sphere
from neurok.modelling.sweeps import tube


def curtain(rng: np.random.Generator) -> Asset:
    """A pleated curtain on a rail: blown, drawn along the rail, or pulled at a corner."""
    height, folds = rng.uniform(1.2, 2.0), int(rng.integers(4, 6))
    fold, cloth_width = rng.uniform(0.13, 0.2), rng.uniform(1.25, 1.6)
    grid = SheetGrid(int(rng.integers(9, 11)), 6 * folds + 1)
    pleat = _pleats(folds, fold * cloth_width)
    top = height + rng.uniform(0.05, 0.2)
    u, v = grid.parameters.T

    def shape(width: float) -> np.ndarray:
        across = pleat(v, width)
        return np.stack([across[:, 0], top - u * height, across[:, 1]], -1)

    width = folds * fold
    nodes, area = shape(width), folds * fold * cloth_width * height
    row = np.arange(grid.columns)
    excitation = str(rng.choice(["draw", "wind", "pull"]))
    motion, force = _curtain_load(rng, excitation, grid, nodes, shape, width, area)
    flex = cloth_flex(rng, nodes, grid, area, driven=row, motion=motion, force=force, drag=rng.uniform(0.8, 2.0))
    frame_count = int(rng.integers(28, 41))
    frames = Scene((flex,)).run(frame_count).nodes[0]
    thickness = shell_thickness(rng, 0.4)
    cloth = sheet_piece(rng, "curtain", grid, frames, material_of(flex, area), 2, thickness)
    reach = width * rng.uniform(1.1, 1.4)
    rail, rings = _curtain_rail(rng, reach, top, frames[:, row[3::6]])
    return assemble("curtain", [cloth, rail, rings], frame_count, excitation)


def _pleats(folds: int, length: float) -> Callable[[np.ndarray, float], np.ndarray]:
    """Waves across a curtain that keep its cloth's length whatever the width they are pushed together to."""
    from scipy.optimize import brentq

    phase = np.linspace(0.0, 2 * np.pi, 64)

    def arc(depth: float, fold: float) -> float:
        return float(np.mean(np.hypot(fold, 2 * np.pi * depth * np.cos(phase))))

    def across(v: np.ndarray, width: float) -> np.ndarray:
        fold = width / folds
        depth = brentq(lambda a: arc(a, fold) - length, 0.0, length) if fold < length else 0.0
        return np.stack([v * width, depth * np.sin(2 * np.pi * folds * v)], -1)

    return across


def _curtain_load(
    rng: np.random.Generator,
    excitation: str,
    grid: SheetGrid,
    nodes: np.ndarray,
    shape: Callable[[float], np.ndarray],
    width: float,
    area: float,
) -> tuple[NodeMotion | None, Force | None]:
    """What moves the hooks and what blows or pulls at the cloth."""
    row = slice(0, grid.columns)
    if excitation == "draw":
        goal, duration = width * rng.uniform(0.45, 0.7), rng.uniform(0.8, 1.2)
        return (lambda t: shape(width + (goal - width) * loads.smooth_step(t, 0.05, 0.05 + duration))[row]), None
    if excitation == "wind":
        way = np.array([rng.normal(0, 0.3), 0.0, rng.choice([-1.0, 1.0])])
        return None, loads.wind_on_sheet(grid.triangles, loads.gusty_wind(rng, way, rng.uniform(2.0, 4.0), 0.6))
    place = nodes[grid.index(grid.rows - 1, int(rng.choice([0, grid.columns - 1])))]
    way = loads.unit(np.array([rng.choice([-1.0, 1.0]), 0.1, rng.normal(0, 0.7)]))
    strength = area * rng.uniform(1.5, 3.0) * way
    return None, loads.push(place, 0.25, strength, 0.05, rng.uniform(0.5, 0.8), nodes)


def _curtain_rail(rng: np.random.Generator, reach: float, top: float, hooks: np.ndarray) -> tuple[Piece, Piece]:
    radius = rng.uniform(0.012, 0.02)
    height = top + 0.035
    bar = cylinder(radius, reach, 12).along("x").move(reach / 2 - 0.05, height)
    knobs = [sphere(2 * radius, 12, 8).move(x, height) for x in (-0.05, reach - 0.05)]
    look, stuff = (wood_surface(rng), WOOD) if rng.random() < 0.5 else (metal_surface(rng), METAL)
    rail = still("rail", join([bar, *knobs]), look, stuff)
    angle = np.linspace(0.0, 2 * np.pi, 13)[:-1]
    loop = np.stack([np.zeros(12), 1.9 * radius * np.cos(angle), 1.9 * radius * np.sin(angle)], -1)
    ring = tube(loop, 0.3 * radius, 6, closed=True)
    offset = np.array([0.0, height, 0.0])
    base = np.concatenate([ring.vertices + offset + [x, 0, 0] for x in hooks[0, :, 0]])
    moved = np.stack([np.concatenate([ring.vertices + offset + [x, 0, 0] for x in frame[:, 0]]) for frame in hooks])
    faces = np.concatenate([ring.faces + k * len(ring.vertices) for k in range(hooks.shape[1])])
    return rail, Piece("rings", base, faces, metal_surface(rng), METAL, moved)
