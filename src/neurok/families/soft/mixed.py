"""Soft parts on things that move as a whole: a cushion on a rocking chair, the mat of a trampoline."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from neurok.core import Asset
from neurok.families.soft import loads
from neurok.families.soft.cloth import material_of, sheet_piece
from neurok.families.soft.grids import SheetGrid
from neurok.families.soft.lattice import bent_box
from neurok.families.soft.pieces import (
    FPS,
    METAL,
    WOOD,
    Piece,
    assemble,
    carried,
    fabric_surface,
    log_uniform,
    metal_surface,
    still,
    wood_surface,
)
from neurok.families.soft.scene import Collider, Flex, Scene
from neurok.families.soft.stuffed import disc, presser, slab_bend, solid_flex, stuff
from neurok.geometry import lie
from neurok.modelling.profiles import arc, rectangle
from neurok.modelling.shapes import Shape, box, cylinder, join, lathe
from neurok.modelling.sweeps import tube


def rocking_chair(rng: np.random.Generator) -> Asset:
    """A rocking chair with a seat cushion: it rolls on its runners while somebody sits down on it."""
    wide, deep, seat = rng.uniform(0.46, 0.56), rng.uniform(0.44, 0.52), rng.uniform(0.38, 0.44)
    thick, curve = rng.uniform(0.07, 0.11), rng.uniform(0.8, 1.3)
    cushion = bent_box(slab_bend((0.44 * wide, thick / 2, 0.44 * deep), 0.35), (7, 4, 7), (21, 6, 21))
    solid = cushion.moved(lie.translation(np.array([0.0, seat + thick / 2, 0.0])))
    pose = _rocking(rng, curve)
    place = np.array([rng.uniform(-0.04, 0.04), seat + 1.3 * thick, rng.uniform(-0.04, 0.04)])
    weight = presser(rng, place, rng.uniform(0.14, 0.18), rng.uniform(0.35, 0.55) * thick)
    assert weight.motion is not None
    follow = weight.motion
    weight = Collider(weight.kind, weight.size, motion=lambda t: pose(t) @ follow(t), friction=0.3)
    driven = np.flatnonzero(solid.nodes[:, 1] < seat + 0.2 * thick)
    flex = solid_flex(
        rng,
        solid,
        rng.uniform(40.0, 80.0),
        (20.0, 50.0),
        driven=driven,
        motion=lambda t: lie.apply(pose(t), solid.nodes[driven]),
    )
    frame_count = int(rng.integers(28, 41))
    frames = Scene((flex,), colliders=(weight,)).run(frame_count).nodes[0]
    moves = np.array([pose(k / FPS) for k in range(frame_count)])
    body = Piece(
        "cushion", solid.vertices, solid.faces, fabric_surface(rng), stuff(flex, solid, "seat foam"), solid.ride(frames)
    )
    look, other = wood_surface(rng), wood_surface(rng)
    frame, runners = _chair_frame(rng, wide, deep, seat, curve)
    pieces = [body, carried("frame", frame, look, WOOD, moves), carried("runners", runners, other, WOOD, moves)]
    return assemble("rocking_chair", pieces, frame_count, "rock and sit down")


def _rocking(rng: np.random.Generator, curve: float) -> Callable[[float], np.ndarray]:
    """Rolling on runners that are arcs of radius ``curve`` [m]."""
    tilt, rate = rng.uniform(0.1, 0.2) * rng.choice([-1.0, 1.0]), 2 * np.pi * rng.uniform(0.6, 1.0)
    middle = np.array([0.0, curve, 0.0])

    def pose(t: float) -> np.ndarray:
        angle = tilt * math.sin(rate * t) * loads.smooth_step(t, 0.0, 0.4)
        return lie.translation(np.array([0.0, 0.0, curve * angle])) @ lie.rotation_about(
            np.array([1.0, 0.0, 0.0]), middle, angle
        )

    return pose


def _chair_frame(rng: np.random.Generator, wide: float, deep: float, seat: float, curve: float) -> tuple[Shape, Shape]:
    post, back, lean = 0.038, rng.uniform(0.5, 0.65), rng.uniform(0.12, 0.22)
    sides = [-1.0, 1.0]
    x, board = wide / 2 - post / 2, 0.025
    run = 0.62 * deep
    low = lambda z: curve - math.sqrt(curve**2 - z**2)  # noqa: E731
    parts = [box((wide, board, deep), (0, seat - board / 2 - 0.001, 0), chamfer=0.006)]
    for side in sides:
        for z in (-deep / 2 + 0.04, deep / 2 - 0.04):
            foot = low(z) + 0.02
            parts.append(cylinder(post / 2, seat - board - foot, 10).move(side * x, (seat - board + foot) / 2, z))
        top = np.array([side * x, seat + back, -deep / 2 - lean])
        parts.append(tube(np.linspace([side * x, seat - board, -deep / 2 + 0.03], top, 4), post / 2, 10))
        arm = seat + 0.2
        parts.append(cylinder(0.016, 0.22, 8).move(side * x, seat + 0.1, deep / 2 - 0.06))
        parts.append(box((0.05, 0.022, deep * 0.95), (side * x, arm, -0.02), chamfer=0.006))
    count = int(rng.integers(4, 7))
    at = lambda x, s: [x, seat + s * back, -deep / 2 + 0.03 - s * (lean + 0.03)]  # noqa: E731
    for k in range(count):
        across = (k + 1) / (count + 1) * 2 - 1
        parts.append(tube(np.linspace(at(across * x, 0.0), at(across * x, 0.93), 4), 0.012, 8))
    parts.append(tube(np.linspace(at(-x, 0.95), at(x, 0.95), 4), 0.028, 10))
    bow = arc(curve - 0.02, -90 - math.degrees(run / curve), -90 + math.degrees(run / curve), 14, (0.0, curve))
    runner = lambda side: tube(np.stack([np.full(15, side * x), bow[:, 1], bow[:, 0]], -1), 0.02, 8)  # noqa: E731
    return join(parts), join([runner(side) for side in sides])


def trampoline(rng: np.random.Generator) -> Asset:
    """A round trampoline: somebody lands on its mat once or twice."""
    radius, height = rng.uniform(0.5, 1.1), rng.uniform(0.25, 0.6)
    count = int(rng.integers(13, 16))
    grid = SheetGrid(count, count)
    u, v = (2 * grid.parameters - 1).T
    x, z = disc(u, v, 0.97)
    nodes = np.stack([0.93 * radius * x, np.full(len(u), height), 0.93 * radius * z], -1)
    area = math.pi * radius**2
    rim = np.flatnonzero((np.abs(u) > 0.999) | (np.abs(v) > 0.999))
    landings = int(rng.integers(1, 3))
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
        driven=rim,
        friction=0.3,
    )
    frame_count = int(rng.integers(26, 37))
    frames = (
        Scene((flex,), colliders=(Collider("sphere", (ball,), motion=motion, friction=0.3),)).run(frame_count).nodes[0]
    )
    mat = sheet_piece(rng, "mat", grid, frames, material_of(flex, area, "woven mat"))
    pad = _ring(radius, height, rng)
    legs = []
    for k in range(6):
        angle = 2 * np.pi * (k + 0.5) / 6
        at = np.array([math.cos(angle), 0.0, math.sin(angle)])
        legs.append(tube(np.linspace(1.0 * radius * at + [0, height - 0.02, 0], 1.06 * radius * at, 3), 0.018, 8))
    pieces = [mat, pad, still("legs", join(legs), metal_surface(rng), METAL)]
    return assemble("trampoline", pieces, frame_count, "land once" if landings == 1 else "land twice")


def _ring(radius: float, height: float, rng: np.random.Generator) -> Piece:
    """The padded rim."""
    outline = rectangle(0.16 * radius, 0.035, 0.015, 3) + np.array([0.98 * radius, height + 0.004])
    return still("pad", lathe(outline, 40, closed=True), fabric_surface(rng, "pad"), METAL)
