"""Tote bags with straps."""

from __future__ import annotations

import numpy as np

from neurok.core import Asset, Material, Surface
from neurok.families.soft import loads
from neurok.families.soft.cloth import material_of
from neurok.families.soft.grids import SheetGrid, thicken
from neurok.families.soft.pieces import Piece, assemble, color, fabric_surface, log_uniform
from neurok.families.soft.scene import Flex, Scene, ground
from neurok.modelling.shapes import cap_faces


def bag(rng: np.random.Generator) -> Asset:
    """A tote bag held by its straps: swung, pushed, or set down so that it slumps."""
    width, height, depth = rng.uniform(0.28, 0.42), rng.uniform(0.28, 0.42), rng.uniform(0.07, 0.14)
    grid = SheetGrid(8, 24, is_ring=True)
    lift = rng.uniform(0.05, 0.2)
    body = _bag_body(grid, width, height, depth) + [0.0, lift, 0.0]
    strap_rows, drop = 11, rng.uniform(0.16, 0.3)
    nodes, triangles, straps = _with_straps(grid, body, strap_rows, drop)
    area = 2 * (width + depth) * height
    top = np.concatenate([strap[strap_rows // 2 - 1 : strap_rows // 2 + 2].reshape(-1) for strap in straps])
    excitation = str(rng.choice(["swing", "push", "set_down"]))
    motion, force = None, None
    if excitation == "swing":
        offset = loads.shake(rng, rng.uniform(0.05, 0.12) * loads.heading(rng), (0.8, 1.5))
        motion = lambda t: nodes[top] + offset(t)  # noqa: E731
    elif excitation == "set_down":
        fall = lift + rng.uniform(0.15, 0.35) * drop
        motion = lambda t: nodes[top] - [0.0, fall * loads.smooth_step(t, 0.05, 0.9), 0.0]  # noqa: E731
    mass = area * rng.uniform(0.5, 1.0)
    if excitation == "push":
        way = loads.unit(loads.heading(rng) + [0.0, 0.0, 0.5])
        place = nodes[grid.index(2, int(rng.integers(24)))]
        force = loads.push(place, 0.5 * height, mass * rng.uniform(3.0, 7.0) * way, 0.05, 0.35, nodes)
    flex = Flex(
        nodes,
        triangles,
        mass,
        log_uniform(rng, 3e5, 1e6),
        thickness=rng.uniform(1.5e-3, 2.5e-3),
        damping=rng.uniform(0.01, 0.03),
        drag=rng.uniform(0.4, 1.0),
        driven=top,
        motion=motion,
        force=force,
        friction=0.7,
    )
    frame_count = int(rng.integers(28, 37))
    frames = Scene((flex,), colliders=(ground(),)).run(frame_count).nodes[0]
    canvas = material_of(flex, area, "canvas")
    cloth, leather = (
        fabric_surface(rng),
        Surface("strap", color(rng, (0.04, 0.1), (0.4, 0.7), (0.3, 0.6)), roughness=0.6),
    )
    pieces = [_bag_shell(rng, grid, frames[:, : grid.rows * grid.columns], cloth, canvas)]
    for strap in straps:
        strip = SheetGrid(strap_rows, 2)
        x, faces = thicken(strip.refine(frames[:, strap.reshape(-1)], 3), strip.refined(3).triangles, 0.005)
        x[..., 1] = np.maximum(x[..., 1], 0.0)
        pieces.append(Piece("straps", x[0], faces, leather, canvas, x))
    return assemble("bag", pieces, frame_count, excitation)


def _bag_body(grid: SheetGrid, width: float, height: float, depth: float) -> np.ndarray:
    """Rings from the bottom to the mouth: a rounded rectangle below that narrows towards the mouth."""
    u, v = grid.parameters.T
    # Half a step off, so that columns come in pairs front and back.
    angle = 2 * np.pi * (v + 0.5 / grid.columns)
    bent = lambda c: np.sign(c) * np.abs(c) ** 0.55  # noqa: E731
    slim = 1.0 - 0.45 * u
    return np.stack(
        [width / 2 * bent(np.cos(angle)) * (1 + 0.05 * u), height * u, depth / 2 * bent(np.sin(angle)) * slim], -1
    )


def _with_straps(
    grid: SheetGrid, body: np.ndarray, rows: int, drop: float
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The bag's nodes with two straps added, all triangles, and the node indices of each strap (rows x 2)."""
    n, mouth = grid.columns, grid.rows - 1
    # The bottom: front node k lies across from back node n - 1 - k.
    front = np.arange(n // 2)
    a, b = front[:-1], front[1:]
    c, d = n - 1 - a, n - 1 - b
    triangles = [grid.triangles, np.stack([a, c, b], -1), np.stack([b, c, d], -1)]
    nodes, straps = [body], []
    for start in (0, n // 2):
        columns = start + np.array([[2, 3], [n // 2 - 3, n // 2 - 4]])
        ends = mouth * n + columns
        s = np.linspace(0.0, 1.0, rows)[1:-1, None, None]
        low = body[ends[0]][None] * (1 - s) + body[ends[1]][None] * s
        arc = low + drop * np.array([0.0, 1.0, 0.0]) * (1.0 - np.abs(2 * s - 1) ** 3)
        # Both straps meet above the middle of the bag, where a hand holds them.
        arc[..., 2] *= 1.0 - 0.8 * (1.0 - np.abs(2 * s[..., 0] - 1) ** 2)
        first = sum(len(x) for x in nodes)
        inner = first + np.arange(2 * (rows - 2)).reshape(-1, 2)
        index = np.concatenate([ends[:1], inner, ends[1:]])
        nodes.append(arc.reshape(-1, 3))
        triangles.append(index.reshape(-1)[SheetGrid(rows, 2).triangles])
        straps.append(index)
    return np.concatenate(nodes), np.concatenate(triangles), straps


def _bag_shell(rng: np.random.Generator, grid: SheetGrid, frames: np.ndarray, look: Surface, canvas: Material) -> Piece:
    fine = grid.refined(2)
    x = grid.refine(frames, 2)
    x[..., 1] = np.maximum(x[..., 1], 0.0)
    ring = np.arange(fine.columns)
    faces = np.concatenate([fine.triangles, cap_faces(x[0, ring])])
    row = faces[:, 0] // fine.columns
    hem = (row >= fine.rows - 3) | (row < int(rng.integers(0, 4)))
    return Piece("bag", x[0], faces, look, canvas, x, fabric_surface(rng, "hem"), hem)
