"""Beds and sofas: foam on a frame that somebody sits down on."""

from __future__ import annotations

import math

import numpy as np

from neurok.core import Asset, Material, Surface
from neurok.families.soft.lattice import Solid, bent_box
from neurok.families.soft.pieces import WOOD, Piece, assemble, carried, color, fabric_surface, still, wood_surface
from neurok.families.soft.scene import Collider, Scene
from neurok.families.soft.stuffed import pillow_bend, presser, slab_bend, solid_flex, stuff
from neurok.geometry import lie
from neurok.modelling.shapes import Shape, box, cylinder, join


def mattress(rng: np.random.Generator) -> Asset:
    """A bed whose mattress is sat or lain on."""
    width, length, thick = rng.uniform(0.85, 1.6), rng.uniform(1.8, 2.1), rng.uniform(0.16, 0.28)
    base = rng.uniform(0.2, 0.38)
    solid = bent_box(slab_bend((width / 2, thick / 2, length / 2), 0.08), (9, 4, 12), (21, 5, 28))
    solid = solid.moved(lie.translation(np.array([0.0, base + thick / 2 + 0.004, 0.0])))
    top = base + thick * 1.08
    shelf = Collider("box", (width / 2 + 0.02, 0.05, length / 2), lie.translation(np.array([0.0, base - 0.05, 0.0])))
    spots = int(rng.integers(1, 3))
    pressers = [
        presser(
            rng,
            np.array([rng.uniform(-0.28, 0.28) * width, top, rng.uniform(-0.15, 0.38) * length]),
            rng.uniform(0.24, 0.34),
            rng.uniform(0.32, 0.46) * thick,
        )
        for _ in range(spots)
    ]
    bottom = np.flatnonzero(solid.nodes[:, 1] < base + 0.02)
    flex = solid_flex(rng, solid, rng.uniform(40.0, 80.0), (20.0, 50.0), driven=bottom, poisson=rng.uniform(0.05, 0.2))
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=(shelf, *pressers)).run(frame_count).nodes[0]
    foam = stuff(flex, solid, "mattress foam")
    white = Surface("sheet", color(rng, saturation=(0.02, 0.25), value=(0.8, 0.95)), roughness=0.9)
    pieces = [Piece("mattress", solid.vertices, solid.faces, white, foam, solid.ride(frames))]
    pieces += _bed_pillows(rng, solid, frames, width, length, top)
    pieces += _bed_frame(rng, width, length, base, top)
    return assemble("mattress", pieces, frame_count, "sit" if spots == 1 else "sit (two)")


def _bed_pillows(
    rng: np.random.Generator, solid: Solid, frames: np.ndarray, width: float, length: float, top: float
) -> list[Piece]:
    count = 2 if width > 1.25 else 1
    pillow = bent_box(pillow_bend((0.3, 0.07, 0.19), 0.2, 0.05, 0.0), (3, 2, 3), (15, 3, 11))
    look, pieces = fabric_surface(rng, "pillow"), []
    for k in range(count):
        place = np.array([(k - (count - 1) / 2) * 0.46 * width, top + 0.055, -0.38 * length])
        path = solid.follow(place[None] - [0, 0.06, 0], frames)[:, 0]
        shape = Shape(pillow.vertices + place, pillow.faces)
        moves = lie.translation(path - path[0])
        pieces.append(carried("pillow", shape, look, Material("down", 2e4, 0.3, 60.0, "foam"), moves))
    return pieces


def _bed_frame(rng: np.random.Generator, width: float, length: float, base: float, top: float) -> list[Piece]:
    rim, lip = 0.04, rng.uniform(0.03, 0.08)
    wide, long = width + 2 * rim + 0.02, length + 2 * rim + 0.02
    y = (base + lip) / 2 + 0.08
    boards = [box((rim, base + lip - 0.16, long), (s * (wide - rim) / 2, y, 0), chamfer=0.006) for s in (-1, 1)] + [
        box((wide - 2 * rim, base + lip - 0.16, rim), (0, y, s * (long - rim) / 2), chamfer=0.006) for s in (-1, 1)
    ]
    head = rng.uniform(0.35, 0.7)
    boards.append(box((wide, top + head, rim), (0, (top + head) / 2, -long / 2 - rim / 2), chamfer=0.012))
    boards.append(box((wide - 2 * rim, 0.03, long - 2 * rim), (0, base - 0.02, 0)))
    legs = [
        cylinder(0.03, 0.17, 10).move(sx * (wide / 2 - 0.05), 0.085, sz * (long / 2 - 0.05))
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]
    look = wood_surface(rng)
    return [still("frame", join(boards), look, WOOD), still("legs", join(legs), look, WOOD)]


def sofa(rng: np.random.Generator) -> Asset:
    """A sofa or armchair whose seat cushion somebody sits on, with back cushions that give way too."""
    seats = int(rng.integers(1, 4))
    wide, deep, thick = rng.uniform(0.52, 0.68), rng.uniform(0.5, 0.65), rng.uniform(0.15, 0.22)
    base, back, arm = rng.uniform(0.2, 0.28), rng.uniform(0.38, 0.52), rng.uniform(0.12, 0.2)
    total = seats * wide
    seat = bent_box(slab_bend((wide / 2 - 0.006, thick / 2, deep / 2), 0.18), (7, 4, 7), (14, 5, 14))
    chosen = int(rng.integers(seats))
    middle = np.array([(chosen - (seats - 1) / 2) * wide, base + thick / 2, 0.0])
    solid = seat.moved(lie.translation(middle))
    top = base + thick * 1.1
    place = np.array([middle[0] + rng.uniform(-0.1, 0.1) * wide, top, rng.uniform(-0.15, 0.15) * deep])
    weight = presser(rng, place, rng.uniform(0.2, 0.3), rng.uniform(0.3, 0.43) * thick)
    driven = np.flatnonzero(solid.nodes[:, 1] < base + 0.25 * thick)
    driven = driven[solid.nodes[driven, 1] <= np.sort(solid.nodes[:, 1])[len(solid.nodes) // 5]]
    flex = solid_flex(rng, solid, rng.uniform(35.0, 70.0), (25.0, 60.0), driven=driven, poisson=rng.uniform(0.05, 0.2))
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=(weight,)).run(frame_count).nodes[0]
    foam, cloth, second = stuff(flex, solid, "seat foam"), fabric_surface(rng, "upholstery"), fabric_surface(rng)
    look = cloth if rng.random() < 0.6 else second
    pieces = []
    for k in range(seats):
        offset = np.array([(k - (seats - 1) / 2) * wide, base + thick / 2, 0.0])
        moving = solid.ride(frames) if k == chosen else None
        pieces.append(Piece(f"seat_{k}", seat.vertices + offset, seat.faces, look, foam, moving))
    pieces += _sofa_frame(rng, total, deep, base, top, back, arm, cloth)
    pieces += _back_cushions(seats, wide, deep, top, back, look, foam)
    return assemble("sofa", pieces, frame_count, "sit down")


def _sofa_frame(
    rng: np.random.Generator,
    total: float,
    deep: float,
    base: float,
    top: float,
    back: float,
    arm: float,
    cloth: Surface,
) -> list[Piece]:
    rest, foot = rng.uniform(0.12, 0.22), rng.uniform(0.06, 0.12)
    thick, depth = 0.14, deep + 0.17
    z = (deep - depth) / 2 + 0.005
    body = [
        box((total + 0.01, base - foot - 0.004, depth), (0, foot + (base - foot) / 2 - 0.002, z), chamfer=0.01),
        box(
            (total + 2 * arm, top + back - foot, thick),
            (0, foot + (top + back - foot) / 2, -deep / 2 - thick / 2 - 0.02),
            chamfer=0.03,
        ),
    ]
    for s in (-1, 1):
        body.append(
            box(
                (arm, top + rest - foot, depth),
                (s * (total + arm + 0.012) / 2, foot + (top + rest - foot) / 2, z),
                chamfer=0.03,
            )
        )
    feet = [
        cylinder(0.018, foot, 10, top=0.028).move(sx * (total / 2 + arm * 0.5), foot / 2, z + sz * (depth / 2 - 0.06))
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]
    frame = Material("upholstered frame", 1e9, 0.3, 300.0, "rigid")
    return [still("frame", join(body), cloth, frame), still("feet", join(feet), wood_surface(rng), WOOD)]


def _back_cushions(
    seats: int, wide: float, deep: float, top: float, back: float, look: Surface, foam: Material
) -> list[Piece]:
    bend = pillow_bend((wide / 2 - 0.01, 0.07, back / 2), 0.45, 0.02, 0.0)
    pad = bent_box(bend, (3, 2, 3), (11, 3, 10))
    turn = lie.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), math.pi / 2 - 0.12)
    vertices = lie.apply(turn, pad.vertices)
    return [
        Piece(
            f"back_{k}",
            vertices + [(k - (seats - 1) / 2) * wide, top + back / 2 + 0.02, -deep / 2 + 0.075],
            pad.faces,
            look,
            foam,
        )
        for k in range(seats)
    ]
