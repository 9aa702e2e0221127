"""Sheets of cloth: on a line, over furniture, on a pole, in pleats on a rail, stretched in a ring."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from neurok.core import Asset, Material, Surface
from neurok.geometry import lie
from neurok.modelling.profiles import rectangle
from neurok.modelling.shapes import Shape, box, cylinder, join, lathe, sphere
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.soft import loads
from neurok_lab.worlds.soft.grids import SheetGrid, thicken
from neurok_lab.worlds.soft.pieces import (
    METAL,
    PLASTIC,
    WOOD,
    SoftPiece,
    assemble,
    fabric,
    fabric_surface,
    log_uniform,
    metal_surface,
    still,
    wood_or_metal,
    wood_surface,
)
from neurok_lab.worlds.soft.scene import Flex, FlexCollider, FlexScene, Force, NodeMotion, ground

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
) -> SoftPiece:
    """The fine surface of a simulated sheet (its first frame is its rest), sometimes with stripes or a hem.

    A ``thickness`` makes it a thin closed shell instead of a two-sided sheet.
    """
    fine = grid.refined(factor)
    positions, faces = grid.refine(frames, factor), fine.triangles
    pattern = _pattern(rng, fine)[faces].all(axis=1)
    if thickness is not None:
        positions, faces = thicken(positions, faces, thickness)
        pattern = np.concatenate([pattern, pattern, np.zeros(len(faces) - 2 * len(pattern), dtype=bool)])
    return SoftPiece(
        part, positions[0], faces, fabric_surface(rng), material, positions, fabric_surface(rng, "pattern"), pattern
    )


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
    frames = FlexScene((flex,)).run(frame_count).nodes[0]
    cloth = sheet_piece(
        rng, "cloth", grid, frames, material_of(flex, area), thickness=shell_thickness(rng, min(width, height))
    )
    pieces = [cloth, *(_line_and_pegs(rng, nodes[held], width) if on_line else _rail(rng, top, width))]
    return assemble("hanging_cloth", pieces, frame_count, excitation)


def _line_and_pegs(rng: np.random.Generator, pins: np.ndarray, width: float) -> list[SoftPiece]:
    reach, top = 0.5 * width + rng.uniform(0.15, 0.3), float(pins[0, 1])
    line = tube(np.linspace([-reach, top, 0.0], [reach, top, 0.0], 9), 0.006, 8)
    peg = box((0.018, 0.08, 0.022), chamfer=0.004)
    post = [cylinder(0.025, top + 0.08, 12).move(0, (top + 0.08) / 2), cylinder(0.12, 0.03, 16).move(0, 0.015)]
    posts = join([part.move(s * reach) for s in (-1, 1) for part in post])
    return [
        still("line", line, Surface("line", (0.75, 0.72, 0.65, 1.0)), PLASTIC),
        still("pegs", join([peg.move(*p) for p in pins]), wood_surface(rng), WOOD),
        still("posts", posts, metal_surface(rng), METAL),
    ]


def _rail(rng: np.random.Generator, top: float, width: float) -> list[SoftPiece]:
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
    frames = FlexScene((flex,), colliders=(*collider, ground())).run(frame_count).nodes[0]
    cloth = sheet_piece(rng, "cloth", grid, frames, material_of(flex, area), thickness=shell_thickness(rng, 0.5 * size))
    return assemble(
        "dropped_cloth", [cloth, still(kind, stand, *wood_or_metal(rng, 0.7))], frame_count, f"drop ({kind})"
    )


def _stand(rng: np.random.Generator, kind: str) -> tuple[Shape, tuple[FlexCollider, ...], float, float]:
    """Something to fall on: its shape, its colliders, its half width and the height of its top."""
    if kind == "ball":
        radius = rng.uniform(0.2, 0.35)
        foot = rng.uniform(0.1, 0.3)
        r = 0.15 * radius
        profile = [(4 * r, 0.0), (4 * r, 0.03), (r, 0.06), (r, foot + 0.1 * radius)]
        shape = join([sphere(radius, 28, 16).move(0, foot + radius), lathe(profile, 20)])
        return shape, (_placed("sphere", (radius + GAP,), (0, foot + radius, 0)),), radius, foot + 2 * radius
    half, height, slab = rng.uniform(0.3, 0.5), rng.uniform(0.45, 0.75), rng.uniform(0.025, 0.05)
    if kind == "crate":
        height = rng.uniform(0.4, 0.7)
        shape = box((2 * half, height, 2 * half), (0, height / 2, 0), chamfer=0.015)
        return shape, (_placed("box", (half + GAP, height / 2 + GAP, half + GAP), (0, height / 2, 0)),), half, height
    if kind == "round_table":
        column = [(0.55 * half, 0.0), (0.5 * half, 0.03), (0.05, 0.07), (0.04, 0.5 * height), (0.06, height - slab)]
        shape = join([cylinder(half, slab, 36, chamfer=0.008).move(0, height - slab / 2), lathe(column, 20)])
        pose = lie.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), math.pi / 2)
        pose[:3, 3] = [0, height - slab / 2, 0]
        return shape, (FlexCollider("cylinder", (half + GAP, slab / 2 + GAP), pose),), half, height
    leg = rng.uniform(0.03, 0.05)
    low, ends = height - slab, (leg - half, half - leg)
    legs = [box((leg, low, leg), (x, low / 2, z)) for x in ends for z in ends]
    shape = join([box((2 * half, slab, 2 * half), (0, height - slab / 2, 0), chamfer=0.006), *legs])
    return shape, (_placed("box", (half + GAP, slab / 2 + GAP, half + GAP), (0, height - slab / 2, 0)),), half, height


def _placed(kind: str, size: tuple[float, ...], place: tuple[float, float, float]) -> FlexCollider:
    return FlexCollider(kind, size, lie.translation(np.array(place, dtype=np.float64)))


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
    frames = FlexScene((flex,)).run(frame_count).nodes[0]
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
    return assemble(
        "flag", [cloth, still("pole", join(parts), *wood_or_metal(rng, 0.4))], frame_count, f"wind {speed:.1f} m/s"
    )


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
    frames = FlexScene((flex,)).run(frame_count).nodes[0]
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


def _curtain_rail(rng: np.random.Generator, reach: float, top: float, hooks: np.ndarray) -> tuple[SoftPiece, SoftPiece]:
    radius = rng.uniform(0.012, 0.02)
    height = top + 0.035
    bar = cylinder(radius, reach, 12).along("x").move(reach / 2 - 0.05, height)
    knobs = [sphere(2 * radius, 12, 8).move(x, height) for x in (-0.05, reach - 0.05)]
    rail = still("rail", join([bar, *knobs]), *wood_or_metal(rng, 0.5))
    angle = np.linspace(0.0, 2 * np.pi, 13)[:-1]
    loop = np.stack([np.zeros(12), 1.9 * radius * np.cos(angle), 1.9 * radius * np.sin(angle)], -1)
    ring = tube(loop, 0.3 * radius, 6, closed=True)
    offset = np.array([0.0, height, 0.0])
    base = np.concatenate([ring.vertices + offset + [x, 0, 0] for x in hooks[0, :, 0]])
    moved = np.stack([np.concatenate([ring.vertices + offset + [x, 0, 0] for x in frame[:, 0]]) for frame in hooks])
    faces = np.concatenate([ring.faces + k * len(ring.vertices) for k in range(hooks.shape[1])])
    return rail, SoftPiece("rings", base, faces, metal_surface(rng), METAL, moved)


def trampoline(rng: np.random.Generator) -> Asset:
    """A round trampoline: somebody lands on its mat once or twice."""
    radius, height = rng.uniform(0.5, 1.1), rng.uniform(0.25, 0.6)
    count = int(rng.integers(13, 16))
    grid = SheetGrid(count, count)
    u, v = (2 * grid.parameters - 1).T
    # A square mapped onto a disc, nearly.
    x, z = u * np.sqrt(1.0 - 0.485 * v**2), v * np.sqrt(1.0 - 0.485 * u**2)
    nodes = np.stack([0.93 * radius * x, np.full(len(u), height), 0.93 * radius * z], -1)
    area, landings = math.pi * radius**2, int(rng.integers(1, 3))
    ball = rng.uniform(0.1, 0.16) * (1 + radius) / 1.5
    place = np.array([rng.uniform(-0.25, 0.25) * radius, height, rng.uniform(-0.25, 0.25) * radius])
    depth, beat = rng.uniform(0.4, 0.7) * min(0.7 * radius, height), rng.uniform(0.4, 0.6)

    def motion(t: float) -> np.ndarray:
        dip = sum(loads.pulse(t, 0.03 + 1.8 * beat * k, beat) * 0.8**k for k in range(landings))
        return lie.translation(place + [0.0, ball + 0.03 - (depth + 0.03) * dip, 0.0])

    flex = Flex(
        nodes,
        grid.triangles,
        area * rng.uniform(0.4, 0.8),
        log_uniform(rng, 6e4, 2e5),
        thickness=2e-3,
        damping=rng.uniform(0.003, 0.01),
        drag=rng.uniform(0.5, 1.5),
        driven=np.flatnonzero(np.maximum(np.abs(u), np.abs(v)) > 0.999),
        friction=0.3,
    )
    lander = FlexCollider("sphere", (ball,), motion=motion, friction=0.3)
    frame_count = int(rng.integers(26, 37))
    frames = FlexScene((flex,), colliders=(lander,)).run(frame_count).nodes[0]
    mat = sheet_piece(rng, "mat", grid, frames, material_of(flex, area, "woven mat"))
    outline = rectangle(0.16 * radius, 0.035, 0.015, 3) + np.array([0.98 * radius, height + 0.004])
    pad = still("pad", lathe(outline, 40, closed=True), fabric_surface(rng, "pad"), METAL)
    leg = tube(np.linspace([radius, height - 0.02, 0.0], [1.06 * radius, 0.0, 0.0], 3), 0.018, 8)
    legs = join([leg.turn("y", 60 * k + 30) for k in range(6)])
    pieces = [mat, pad, still("legs", legs, metal_surface(rng), METAL)]
    return assemble("trampoline", pieces, frame_count, "land once" if landings == 1 else "land twice")
