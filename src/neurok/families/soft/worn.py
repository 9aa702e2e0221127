"""Things to wear: hats with soft brims, headbands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neurok.core import Asset, Surface
from neurok.families.soft import loads
from neurok.families.soft.cloth import material_of
from neurok.families.soft.grids import SheetGrid, thicken
from neurok.families.soft.pieces import (
    FPS,
    WOOD,
    Piece,
    assemble,
    carried,
    color,
    fabric_surface,
    log_uniform,
    still,
    wood_surface,
)
from neurok.families.soft.scene import Flex, Scene
from neurok.geometry import lie
from neurok.modelling.profiles import smooth_curve
from neurok.modelling.shapes import Shape, cap_faces, cylinder, join, lathe, sphere


def hat(rng: np.random.Generator) -> Asset:
    """A sun hat, a bucket hat or a witch's hat whose brim flaps while the head moves or the wind blows."""
    kind = str(rng.choice(["sun", "bucket", "witch"]))
    head, brim = (
        rng.uniform(0.085, 0.1),
        {"sun": rng.uniform(0.11, 0.17), "bucket": rng.uniform(0.07, 0.09), "witch": rng.uniform(0.09, 0.13)}[kind],
    )
    profile, band = _hat_profile(rng, kind, head, brim)
    grid = SheetGrid(len(profile), int(rng.integers(20, 25)), is_ring=True)
    u, v = grid.parameters.T
    row = np.rint(u * (grid.rows - 1)).astype(int)
    angle = 2 * np.pi * v
    oval = rng.uniform(1.05, 1.2)
    wave = rng.uniform(0.0, 0.02) * np.cos(2 * angle) * (profile[row, 0] > 1.05 * head)
    post = 0.28
    nodes = np.stack(
        [profile[row, 0] * np.cos(angle), profile[row, 1] + wave + post, oval * profile[row, 0] * np.sin(angle)], -1
    )
    area = math.pi * oval * ((head + brim) ** 2 + 2 * head * 0.12)
    driven = np.flatnonzero(np.isin(row, band))
    excitation = str(rng.choice(["nod", "bounce", "wind"]))
    pose = _head_motion(rng, excitation, np.array([0.0, post - 0.06, 0.0]))
    force = None
    if excitation == "wind":
        force = loads.wind_on_sheet(
            grid.triangles, loads.gusty_wind(rng, loads.heading(rng), rng.uniform(2.5, 5.0), 0.6)
        )
    flex = Flex(
        nodes,
        grid.triangles,
        area * rng.uniform(0.25, 0.5),
        log_uniform(rng, 2e5, 1e6) * (0.25 if kind == "bucket" else 1.0),
        thickness=rng.uniform(2.5e-3, 4e-3),
        damping=rng.uniform(0.008, 0.02),
        drag=rng.uniform(0.3, 0.8),
        driven=driven,
        motion=lambda t: lie.apply(pose(t), nodes[driven]),
        force=force,
    )
    frame_count = int(rng.integers(28, 37))
    frames = Scene((flex,)).run(frame_count).nodes[0]
    moves = np.array([pose(k / FPS) for k in range(frame_count)])
    pieces = [_hat_shell(rng, grid, frames, flex, area, band, kind), *_hat_stand(rng, post, moves)]
    return assemble("hat", pieces, frame_count, f"{excitation} ({kind} hat)")


def _hat_profile(rng: np.random.Generator, kind: str, head: float, brim: float) -> tuple[np.ndarray, np.ndarray]:
    """(radius, height) from the crown's top to the rim of the brim, and the rows that sit on the head."""
    tall = {"sun": 0.11, "bucket": 0.1, "witch": rng.uniform(0.28, 0.4)}[kind]
    slope = {"sun": rng.uniform(-0.05, 0.15), "bucket": 0.9, "witch": rng.uniform(-0.1, 0.15)}[kind]
    if kind == "witch":
        s = np.linspace(0.0, 1.0, 8)
        crown = np.stack([0.012 + (head - 0.012) * s, tall * (1 - s)], -1)
    else:
        crown = np.array(
            [[0.12, 1.0], [0.45, 0.98], [0.72, 0.9], [0.88, 0.7], [0.96, 0.4], [1.0, 0.15], [1.0, 0.0]]
        ) * [head, tall]
    t = np.linspace(0.0, 1.0, 5)[1:, None]
    edge = np.concatenate([head + brim * t * math.cos(slope), -brim * t * math.sin(slope) - 0.01 * t], axis=1)
    return np.concatenate([crown, edge]), np.array([len(crown) - 2, len(crown) - 1])


def _head_motion(rng: np.random.Generator, excitation: str, neck: np.ndarray) -> Callable[[float], np.ndarray]:
    """The head that wears the hat: nodding or shaking about the neck, hopping, or still."""
    if excitation == "wind":
        return lambda t: np.eye(4)
    rate, phase = 2 * np.pi * rng.uniform(0.9, 1.6), rng.choice([-1.0, 1.0])
    if excitation == "bounce":
        high = rng.uniform(0.05, 0.09)
        return lambda t: lie.translation(
            np.array([0.0, high * loads.smooth_step(t, 0.0, 0.3) * math.sin(rate * 1.2 * t) ** 2, 0.0])
        )
    axis = loads.heading(rng)
    tilt = rng.uniform(0.25, 0.5)
    return lambda t: lie.rotation_about(axis, neck, phase * tilt * loads.smooth_step(t, 0.0, 0.35) * math.sin(rate * t))


def _hat_shell(
    rng: np.random.Generator, grid: SheetGrid, frames: np.ndarray, flex: Flex, area: float, band: np.ndarray, kind: str
) -> Piece:
    factor = 2
    fine = grid.refined(factor)
    x = grid.refine(frames, factor)
    faces = np.concatenate([fine.triangles, cap_faces(x[0, : fine.columns])[:, ::-1]])
    row = faces.min(axis=1) // fine.columns
    ribbon = (row >= factor * (band[0] - (1 if kind == "witch" else 0))) & (row < factor * band[-1])
    hue, saturation, value = (
        ((0.7, 0.8), (0.3, 0.6), (0.1, 0.3)) if kind == "witch" else ((0.08, 0.14), (0.15, 0.6), (0.6, 0.95))
    )
    look = Surface("felt" if kind == "witch" else "straw", color(rng, hue, saturation, value), roughness=0.9)
    material = material_of(flex, area, look.name)
    piece = Piece("hat", x[0], faces, look, material, x, fabric_surface(rng, "ribbon"), ribbon)
    if rng.random() < 0.5:
        return piece
    solid, walls = thicken(x, faces, 0.004)
    trimmed = np.zeros(len(walls), dtype=bool)
    trimmed[: len(ribbon)] = ribbon
    return replace(piece, vertices=solid[0], faces=walls, positions=solid, trimmed=trimmed)


def _hat_stand(rng: np.random.Generator, post: float, moves: np.ndarray) -> list[Piece]:
    """A wooden head that moves as a wearer's would, on a pole that stands still."""
    head = sphere(0.062, 20, 12).scale(1, 1.1, 1).move(0, post - 0.01)
    foot = lathe([(0.08, 0.0), (0.08, 0.012), (0.03, 0.02), (0.016, 0.04)], 20)
    pole = cylinder(0.016, post + 0.02, 12).move(0, (post + 0.02) / 2)
    look = wood_surface(rng)
    return [carried("head", head, look, WOOD, moves), still("stand", join([pole, foot]), look, WOOD)]


def headband(rng: np.random.Generator) -> Asset:
    """An elastic band with a bow or a knot, stretched, squeezed or twisted by two hands."""
    radius, wide = rng.uniform(0.075, 0.095), rng.uniform(0.025, 0.06)
    grid = SheetGrid(4, 32, is_ring=True)
    u, v = grid.parameters.T
    angle = 2 * np.pi * v
    swell = 1.0 + 0.35 * (np.cos(angle - np.pi / 2) > 0.2) * np.cos(angle - np.pi / 2)
    tilt = rng.uniform(0.0, 0.1)
    nodes = np.stack(
        [
            radius * np.cos(angle),
            wide * (u - 0.5) * swell + 2 * radius,
            (1.1 + tilt * (u - 0.5)) * radius * np.sin(angle),
        ],
        -1,
    )
    area = 2 * np.pi * radius * wide
    excitation = str(rng.choice(["stretch", "squeeze", "twist", "shake"]))
    held = [np.flatnonzero(np.abs(np.angle(np.exp(1j * (angle - side)))) < 0.25) for side in (0.0, np.pi)]
    driven = np.concatenate(held)
    flex = Flex(
        nodes,
        grid.triangles,
        area * rng.uniform(0.4, 0.8),
        log_uniform(rng, 3e5, 1.2e6),
        thickness=rng.uniform(3e-3, 5e-3),
        damping=rng.uniform(0.01, 0.02),
        drag=0.5,
        driven=driven,
        motion=_two_hands(rng, excitation, nodes, held, radius),
    )
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,)).run(frame_count).nodes[0]
    fine, factor = grid.refined(3), 3
    sheet = grid.refine(frames, factor)
    x, faces = thicken(sheet, fine.triangles, flex.thickness)
    look, second = fabric_surface(rng), fabric_surface(rng, "stripe")
    row = (faces.min(axis=1) % (fine.rows * fine.columns)) // fine.columns
    stripe = (row >= fine.rows // 3) & (row < fine.rows - fine.rows // 3 - 1) & (rng.random() < 0.6)
    band = Piece("band", x[0], faces, look, material_of(flex, area, "elastic knit"), x, second, stripe)
    middle = fine.rows // 2 * fine.columns + fine.columns // 4
    near = middle + np.array([-fine.columns, fine.columns, -2, 2, 0, -1, 1])
    moves = lie.fit_rigid(sheet[0, near], sheet[:, near])
    bow = _bow(rng, wide).move(*(sheet[0, middle] + [0.0, 0.0, 0.004]))
    pieces = [band, carried("bow", bow, second if rng.random() < 0.5 else look, band.material, moves)]
    return assemble("headband", pieces, frame_count, excitation)


def _two_hands(
    rng: np.random.Generator, excitation: str, nodes: np.ndarray, held: list[np.ndarray], radius: float
) -> Callable[[float], np.ndarray]:
    """How two hands left and right move their grips."""
    far, turn, rate = radius * rng.uniform(0.25, 0.5), rng.uniform(0.4, 0.9), rng.uniform(0.8, 1.4)
    offset = loads.shake(rng, radius * rng.uniform(0.5, 0.9) * loads.unit(rng.normal(size=3)), (1.0, 1.8))

    def motion(t: float) -> np.ndarray:
        swing = math.sin(2 * np.pi * rate * t) * loads.smooth_step(t, 0.0, 0.3)
        out = []
        for side, nodes_held in zip((1.0, -1.0), held, strict=True):
            x = nodes[nodes_held]
            if excitation == "shake":
                out.append(x + offset(t))
            elif excitation == "twist":
                spin = lie.rotation_about(
                    np.array([1.0, 0.0, 0.0]), nodes[nodes_held].mean(axis=0), side * turn * swing
                )
                out.append(lie.apply(spin, x))
            else:
                sign = 1.0 if excitation == "stretch" else -0.8
                out.append(x + [side * sign * far * 0.5 * (1 - math.cos(2 * np.pi * rate * t)), 0.0, 0.0])
        return np.concatenate(out)

    return motion


def _bow(rng: np.random.Generator, wide: float) -> Shape:
    """Two loops and a knot, in front of the band."""
    size = rng.uniform(0.6, 1.0) * wide + 0.012
    outline = np.array([[0.0, -1.0], [0.42, -0.98], [0.56, -0.8], [0.45, -0.45], [0.2, -0.12], [0.12, 0.0], [0.0, 0.0]])
    curve = np.concatenate([outline[:1], smooth_curve(outline[1:-1], 9), outline[-1:]])
    loop = lathe(curve, 16, ellipse=0.45)
    loops = [loop.scale(size).along("x").turn("y", turn) for turn in (0, 180)]
    return join([*loops, sphere(0.17 * size, 12, 8)])
