"""Sheets of cloth: on a line, over furniture, on a pole."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from neurok.core import Asset, Material, Surface
from neurok.families.soft import loads
from neurok.families.soft.grids import SheetGrid, thicken
from neurok.families.soft.pieces import (
    METAL,
    PLASTIC,
    WOOD,
    Piece,
    assemble,
    fabric,
    fabric_surface,
    log_uniform,
    metal_surface,
    still,
    wood_surface,
)
from neurok.families.soft.scene import Collider, Flex, Scene, ground
from neurok.geometry import lie
from neurok.modelling.shapes import Shape, box, cylinder, join, lathe, sphere
from neurok.modelling.sweeps import tube

GAP = 0.012
"""How much larger than it looks a thing under a cloth is [m]: the smooth surface of the cloth cuts its corners."""


def sheet_piece(
    rng: np.random.Generator,
    part: str,
    grid: SheetGrid,
    frames: Float[np.ndarray, "T N 3"],
    material: Material,
    factor: int = 2,
    thickness: float | None = None,
    surface: Surface | None = None,
) -> Piece:
    """The fine surface of a simulated sheet (its first frame is its rest), sometimes with stripes or a hem.

    A ``thickness`` makes it a thin closed shell instead of a two-sided sheet.
    """
    fine = grid.refined(factor)
    positions, faces = grid.refine(frames, factor), fine.triangles
    pattern = _pattern(rng, fine)[faces].all(axis=1)
    if thickness is not None:
        positions, faces = thicken(positions, faces, thickness)
        pattern = np.concatenate([pattern, pattern, np.zeros(len(faces) - 2 * len(pattern), dtype=bool)])
    look = fabric_surface(rng) if surface is None else surface
    return Piece(part, positions[0], faces, look, material, positions, fabric_surface(rng, "pattern"), pattern)


def _pattern(rng: np.random.Generator, grid: SheetGrid) -> Bool[np.ndarray, " N"]:
    """Which points of a sheet carry its second colour: none, stripes along or across, or a hem."""
    row, column = (np.rint(grid.parameters * [grid.rows - 1, grid.columns - 1]).astype(int)).T
    kind, width = rng.integers(4), int(rng.integers(3, 7))
    if kind == 1:
        return row % (2 * width) <= width
    if kind == 2:
        return column % (2 * width) <= width
    if kind == 3:
        return (row <= 2) | (row >= grid.rows - 3)
    return np.zeros(len(row), dtype=bool)


def cloth_flex(rng: np.random.Generator, nodes: np.ndarray, grid: SheetGrid, area: float, **more: object) -> Flex:
    """Cloth of a random weight and stiffness; ``area`` [m^2]."""
    thickness = rng.uniform(0.8e-3, 1.6e-3)
    settings = {
        "mass": area * log_uniform(rng, 0.12, 0.4),
        "young": log_uniform(rng, 1.5e5, 8e5),
        "thickness": thickness,
        "damping": log_uniform(rng, 0.005, 0.03),
        "drag": rng.uniform(0.2, 0.8),
        **more,
    }
    return Flex(nodes, grid.triangles, **settings)  # type: ignore[arg-type]


def shell_thickness(rng: np.random.Generator, size: float) -> float | None:
    """A third of all cloths are thin closed shells."""
    return float(size * rng.uniform(0.006, 0.012)) if rng.random() < 0.35 else None


def material_of(flex: Flex, area: float, name: str = "fabric") -> Material:
    return fabric(flex.young, flex.mass / area, flex.thickness, name)


def hanging_cloth(rng: np.random.Generator) -> Asset:
    """Laundry on a line or a towel on a rail, in the wind or pushed."""
    width, height = rng.uniform(0.5, 1.1), rng.uniform(0.6, 1.2)
    columns = int(rng.integers(13, 18))
    grid = SheetGrid(int(np.clip(round(0.9 * columns * height / width), 9, 18)), columns)
    top = height + rng.uniform(0.3, 0.6)
    u, v = grid.parameters.T
    nodes = np.stack([(v - 0.5) * width, top - u * height, np.zeros_like(u)], -1)
    on_line = rng.random() < 0.6
    held = [0, columns - 1] if on_line else list(range(columns))
    if on_line:
        between = int(rng.integers(0, 3))
        held += [round((columns - 1) * (k + 1) / (between + 1)) for k in range(between)]
    area = width * height
    excitation = str(rng.choice(["wind", "push"]))
    if excitation == "wind":
        way = np.array([rng.normal(0, 0.3), 0.0, rng.choice([-1.0, 1.0])])
        wind = loads.wind_on_sheet(grid.triangles, loads.gusty_wind(rng, way, rng.uniform(1.2, 2.3), 0.7))
    else:
        place = np.array([rng.uniform(-0.3, 0.3) * width, top - rng.uniform(0.5, 0.9) * height, 0.0])
        way = loads.unit(np.array([rng.normal(0, 0.5), 0.0, rng.choice([-1.0, 1.0])]))
        strength = area * rng.uniform(1.2, 2.6) * way
        wind = loads.push(place, 0.3 * height, strength, 0.05, rng.uniform(0.25, 0.5), nodes)
    flex = cloth_flex(rng, nodes, grid, area, driven=np.array(sorted(set(held))), force=wind)
    frame_count = int(rng.integers(28, 41))
    frames = Scene((flex,)).run(frame_count).nodes[0]
    cloth = sheet_piece(
        rng, "cloth", grid, frames, material_of(flex, area), thickness=shell_thickness(rng, min(width, height))
    )
    pieces = [cloth, *(_line_and_pegs(rng, nodes[held], width) if on_line else _rail(rng, top, width))]
    return assemble("hanging_cloth", pieces, frame_count, excitation)


def _line_and_pegs(rng: np.random.Generator, pins: np.ndarray, width: float) -> list[Piece]:
    reach, top = 0.5 * width + rng.uniform(0.15, 0.3), float(pins[0, 1])
    line = tube(np.linspace([-reach, top, 0.0], [reach, top, 0.0], 9), 0.006, 8)
    peg = box((0.018, 0.08, 0.022), chamfer=0.004)
    posts = join(
        [
            join(
                [
                    cylinder(0.025, top + 0.08, 12).move(s * reach, (top + 0.08) / 2),
                    cylinder(0.12, 0.03, 16).move(s * reach, 0.015),
                ]
            )
            for s in (-1, 1)
        ]
    )
    return [
        still("line", line, Surface("line", (0.75, 0.72, 0.65, 1.0)), PLASTIC),
        still("pegs", join([peg.move(*p) for p in pins]), wood_surface(rng), WOOD),
        still("posts", posts, metal_surface(rng), METAL),
    ]


def _rail(rng: np.random.Generator, top: float, width: float) -> list[Piece]:
    reach = 0.5 * width + 0.06
    bar = cylinder(0.012, 2 * reach, 12).along("x").move(0, top)
    ends = [sphere(0.024, 12, 8).move(s * reach, top) for s in (-1, 1)]
    arms = [cylinder(0.01, 0.09, 10).along("z").move(s * reach, top, -0.05) for s in (-1, 1)]
    plates = [cylinder(0.035, 0.012, 16).along("z").move(s * reach, top, -0.1) for s in (-1, 1)]
    return [still("rail", join([bar, *ends, *arms, *plates]), metal_surface(rng), METAL)]


def dropped_cloth(rng: np.random.Generator) -> Asset:
    """A cloth that falls over a table, a stool, a crate or a ball on a stand."""
    kind = str(rng.choice(["round_table", "square_table", "crate", "ball"]))
    stand, collider, reach, top = _stand(rng, kind)
    size = 2 * reach * rng.uniform(1.25, 1.7)
    stretch = rng.uniform(0.85, 1.2)
    count = int(rng.integers(14, 19))
    grid = SheetGrid(count, count)
    u, v = (grid.parameters - 0.5).T
    turn = rng.uniform(0, np.pi / 2) if rng.random() < 0.5 else 0.0
    flat = np.stack([size * stretch * u, np.zeros(len(u)), size / stretch * v], -1)
    drop = GAP + (rng.uniform(0.015, 0.2) if kind != "ball" else rng.uniform(0.02, 0.08))
    nodes = lie.apply(lie.rotation_about(np.array([0.0, -1.0, 0.0]), np.zeros(3), turn), flat) + [0.0, top + drop, 0.0]
    nodes[:, [0, 2]] += rng.uniform(-0.08, 0.08, 2) * reach
    area = size * size
    flex = cloth_flex(rng, nodes, grid, area, friction=rng.uniform(0.3, 0.8), radius=0.008, drag=rng.uniform(0.6, 1.5))
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=(*collider, ground())).run(frame_count).nodes[0]
    cloth = sheet_piece(rng, "cloth", grid, frames, material_of(flex, area), thickness=shell_thickness(rng, 0.5 * size))
    wooden = rng.random() < 0.7
    look, stuff = (wood_surface(rng), WOOD) if wooden else (metal_surface(rng), METAL)
    return assemble("dropped_cloth", [cloth, still(kind, stand, look, stuff)], frame_count, f"drop ({kind})")


def _stand(rng: np.random.Generator, kind: str) -> tuple[Shape, tuple[Collider, ...], float, float]:
    """Something to fall on: its shape, its colliders, its half width and the height of its top."""
    if kind == "ball":
        radius = rng.uniform(0.2, 0.35)
        foot = rng.uniform(0.1, 0.3)
        profile = [
            (0.6 * radius, 0.0),
            (0.6 * radius, 0.03),
            (0.15 * radius, 0.06),
            (0.15 * radius, foot + 0.1 * radius),
        ]
        shape = join([sphere(radius, 28, 16).move(0, foot + radius), lathe(profile, 20)])
        return shape, (_placed("sphere", (radius + GAP,), (0, foot + radius, 0)),), radius, foot + 2 * radius
    half, height, slab = rng.uniform(0.3, 0.5), rng.uniform(0.45, 0.75), rng.uniform(0.025, 0.05)
    if kind == "crate":
        height = rng.uniform(0.4, 0.7)
        shape = box((2 * half, height, 2 * half), (0, height / 2, 0), chamfer=0.015)
        return shape, (_placed("box", (half + GAP, height / 2 + GAP, half + GAP), (0, height / 2, 0)),), half, height
    if kind == "round_table":
        shape = join(
            [
                cylinder(half, slab, 36, chamfer=0.008).move(0, height - slab / 2),
                lathe(
                    [(0.55 * half, 0.0), (0.5 * half, 0.03), (0.05, 0.07), (0.04, 0.5 * height), (0.06, height - slab)],
                    20,
                ),
            ]
        )
        pose = lie.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), math.pi / 2)
        pose[:3, 3] = [0, height - slab / 2, 0]
        return shape, (Collider("cylinder", (half + GAP, slab / 2 + GAP), pose),), half, height
    leg = rng.uniform(0.03, 0.05)
    legs = [
        box((leg, height - slab, leg), (sx * (half - leg), (height - slab) / 2, sz * (half - leg)))
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]
    shape = join([box((2 * half, slab, 2 * half), (0, height - slab / 2, 0), chamfer=0.006), *legs])
    return shape, (_placed("box", (half + GAP, slab / 2 + GAP, half + GAP), (0, height - slab / 2, 0)),), half, height


def _placed(kind: str, size: tuple[float, ...], place: tuple[float, float, float]) -> Collider:
    return Collider(kind, size, lie.translation(np.array(place, dtype=np.float64)))


def flag(rng: np.random.Generator) -> Asset:
    """A flag on a pole in the wind."""
    height, ratio = rng.uniform(0.4, 0.9), rng.uniform(1.2, 1.9)
    rows = int(rng.integers(9, 13))
    grid = SheetGrid(rows, round((rows - 1) * ratio) + 1)
    width, pole = height * ratio, height * rng.uniform(1.8, 3.0)
    u, v = grid.parameters.T
    taper = 1.0 - rng.choice([0.0, 0.0, 0.6, 0.9]) * v
    nodes = np.stack([v * width, pole - 0.03 - height / 2 - (u - 0.5) * height * taper, np.zeros_like(u)], -1)
    area = float(width * height * taper.mean())
    way = np.array([1.0, rng.normal(0, 0.05), rng.normal(0, 0.35)])
    speed = rng.uniform(3.5, 7.5)
    wind = loads.wind_on_sheet(grid.triangles, loads.gusty_wind(rng, way, speed, 0.6))
    driven = np.array([grid.index(r, 0) for r in range(rows)])
    flex = cloth_flex(rng, nodes, grid, area, driven=driven, force=wind, mass=area * log_uniform(rng, 0.08, 0.2))
    frame_count = int(rng.integers(28, 41))
    frames = Scene((flex,)).run(frame_count).nodes[0]
    cloth = sheet_piece(
        rng, "flag", grid, frames, material_of(flex, area, "bunting"), thickness=shell_thickness(rng, height)
    )
    radius = rng.uniform(0.015, 0.03)
    parts = [
        cylinder(radius, pole, 14, top=0.8 * radius).move(-radius, pole / 2),
        sphere(1.8 * radius, 14, 10).move(-radius, pole + 1.2 * radius),
        lathe([(8 * radius, 0.0), (8 * radius, radius), (2 * radius, 2 * radius), (1.2 * radius, 5 * radius)], 20).move(
            -radius
        ),
    ]
    look, stuff = (wood_surface(rng), WOOD) if rng.random() < 0.4 else (metal_surface(rng), METAL)
    return assemble("flag", [cloth, still("pole", join(parts), look, stuff)], frame_count, f"wind {speed:.1f} m/s")
