"""Stuffed and wobbly solids: cushions, mattresses, sofa seats, jellies, plush toys."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Material, Surface
from neurok.data.soft import loads
from neurok.data.soft.lattice import Solid, bent_box
from neurok.data.soft.pieces import (
    CERAMIC,
    WOOD,
    Piece,
    assemble,
    carried,
    color,
    fabric_surface,
    still,
    wood_surface,
)
from neurok.data.soft.scene import GRAVITY, Collider, Flex, Force, Scene, ground, node_masses
from neurok.geometry import rigid
from neurok.geometry.shapes import Shape, box, cylinder, join, lathe


def solid_flex(
    rng: np.random.Generator, solid: Solid, density: float, firmness: tuple[float, float], **more: object
) -> Flex:
    """A lattice whose stiffness is ``firmness`` times the pressure under its own weight, so that none collapses."""
    height = float(np.ptp(solid.nodes[:, 1]))
    settings = {
        "mass": density * solid.volume,
        "young": density * GRAVITY * height * rng.uniform(*firmness),
        "poisson": rng.uniform(0.2, 0.4),
        "damping": rng.uniform(0.01, 0.03),
        "drag": rng.uniform(0.1, 0.4),
        "radius": 0.004,
        **more,
    }
    return Flex(solid.nodes, solid.tetrahedra, **settings)  # type: ignore[arg-type]


def stuff(flex: Flex, solid: Solid, name: str, kind: str = "foam") -> Material:
    return Material(name, flex.young, flex.poisson, flex.mass / solid.volume, kind)  # type: ignore[arg-type]


def presser(rng: np.random.Generator, place: np.ndarray, radius: float, depth: float) -> Collider:
    """An unseen round weight that sinks ``depth`` below a place from above, stays a moment and lifts again."""
    start, down, hold = rng.uniform(0.02, 0.1), rng.uniform(0.2, 0.4), rng.uniform(0.05, 0.25)
    up = rng.uniform(0.25, 0.45)
    slide = rng.normal(0.0, 0.15 * radius, 2)

    def motion(t: float) -> np.ndarray:
        in_ = loads.smooth_step(t, start, start + down)
        out = loads.smooth_step(t, start + down + hold, start + down + hold + up)
        clear = 0.02 + 0.5 * depth
        height = radius + clear - (clear + depth) * in_ + (2 * clear + depth) * out
        return rigid.translation(place + np.array([slide[0] * in_, height, slide[1] * in_]))

    return Collider("sphere", (radius,), motion=motion, friction=0.3)


def disc(u: np.ndarray, w: np.ndarray, roundness: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A square mapped onto the unit disc (roundness 1) or something between the two."""
    return u * np.sqrt(1.0 - 0.5 * roundness * w**2), w * np.sqrt(1.0 - 0.5 * roundness * u**2)


def pillow_bend(half: tuple[float, float, float], edge: float, pinch: float, roundness: float) -> Callable:
    """A cushion: thick in the middle, thin at the seam, its sides drawn in; ``roundness`` 1 makes it a disc."""

    def bend(p: np.ndarray) -> np.ndarray:
        u, v, w = p.T
        x, z = disc(u, w, roundness)
        x, z = x * (1 - pinch * (1 - w**2) * u**2), z * (1 - pinch * (1 - u**2) * w**2)
        plump = edge + (1 - edge) * ((1 - u**4) * (1 - w**4)) ** 0.5
        return np.stack([half[0] * x, half[1] * v * plump, half[2] * z], -1)

    return bend


def slab_bend(half: tuple[float, float, float], crown: float) -> Callable:
    """An upholstered block: a box whose edges are rounded and whose top bulges by ``crown`` of its half height."""

    def bend(p: np.ndarray) -> np.ndarray:
        u, v, w = p.T
        near = lambda a, b: 1.0 - 0.035 * np.maximum(np.abs(a), np.abs(b)) ** 8  # noqa: E731
        x, z = u * near(v, w), w * near(v, u)
        bulge = 1.0 + crown * (1 - u**2) * (1 - w**2)
        return np.stack([half[0] * x, half[1] * v * bulge * near(u, w), half[2] * z], -1)

    return bend


def cushion(rng: np.random.Generator) -> Asset:
    """A cushion or pillow that is dropped, punched or sat on."""
    half = (rng.uniform(0.18, 0.32), rng.uniform(0.06, 0.1), rng.uniform(0.16, 0.24))
    roundness = 1.0 if rng.random() < 0.25 else 0.0
    if roundness:
        half = (half[2], half[1], half[2])
    edge, pinch = rng.uniform(0.16, 0.25), rng.uniform(0.03, 0.1) * (1 - roundness)
    bend, core = (pillow_bend(half, edge, pinch, r * roundness) for r in (1.0, 0.8))
    solid = bent_box(bend, (8, 3, 7), (25, 4, 23), core)
    excitation = str(rng.choice(["drop", "sit", "punch"]))
    density = rng.uniform(30.0, 90.0)
    low = -float(solid.nodes[:, 1].min())
    turn = np.eye(4)
    colliders, force = [ground()], None
    if excitation == "drop":
        axis = loads.heading(rng)
        turn = rigid.rotation_about(axis, np.zeros(3), rng.uniform(0.2, 1.2))
        low = -float((solid.nodes @ turn[:3, :3].T)[:, 1].min()) + rng.uniform(0.05, 0.3)
    solid = solid.moved(rigid.translation(np.array([0.0, low + 0.006, 0.0])) @ turn)
    top = float(solid.nodes[:, 1].max())
    if excitation == "sit":
        place = np.array([rng.uniform(-0.4, 0.4) * half[0], top, rng.uniform(-0.4, 0.4) * half[2]])
        colliders.append(presser(rng, place, rng.uniform(0.08, 0.14), rng.uniform(0.5, 0.95) * half[1]))
    flex = solid_flex(rng, solid, density, (8.0, 25.0), friction=0.8)
    if excitation == "punch":
        force = punch(rng, solid, flex, 3.5)
        flex = solid_flex(rng, solid, density, (8.0, 25.0), friction=0.8, force=force)
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=tuple(colliders)).run(frame_count).nodes[0]
    look = fabric_surface(rng)
    body = Piece("cushion", solid.vertices, solid.faces, look, stuff(flex, solid, "down"), solid.ride(frames, 0.0))
    return assemble("cushion", [body, *_buttons(rng, solid, frames, top, excitation)], frame_count, excitation)


def punch(rng: np.random.Generator, solid: Solid, flex: Flex, strength: float) -> Force:
    """A blow on one side: up to ``strength`` times the weight of the thing."""
    way = loads.unit(loads.heading(rng) + np.array([0.0, rng.uniform(-0.6, 0.1), 0.0]))
    place = solid.nodes[int(np.argmin(solid.nodes @ way))]
    reach = 0.35 * float(np.ptp(solid.nodes, axis=0).max())
    peak = strength * rng.uniform(0.5, 1.0) * flex.mass * GRAVITY * way
    masses = node_masses(flex)
    masses[flex.driven] = 0.0
    return loads.push(place, reach, peak, 0.05, rng.uniform(0.2, 0.3), solid.nodes, masses)


def _buttons(rng: np.random.Generator, solid: Solid, frames: np.ndarray, top: float, excitation: str) -> list[Piece]:
    """Some cushions have a button in the middle."""
    if excitation == "drop" or rng.random() < 0.5:
        return []
    button = cylinder(0.016, 0.012, 14, chamfer=0.004).move(0.0, top + 0.001, 0.0)
    path = solid.follow(np.array([[0.0, top, 0.0]]), frames)[:, 0]
    moves = rigid.translation(path - path[0])
    return [carried("button", button, Surface("button", color(rng), roughness=0.4), WOOD, moves)]


def mattress(rng: np.random.Generator) -> Asset:
    """A bed whose mattress is sat or lain on."""
    width, length, thick = rng.uniform(0.85, 1.6), rng.uniform(1.8, 2.1), rng.uniform(0.16, 0.28)
    base = rng.uniform(0.2, 0.38)
    solid = bent_box(slab_bend((width / 2, thick / 2, length / 2), 0.08), (9, 4, 12), (21, 5, 28))
    solid = solid.moved(rigid.translation(np.array([0.0, base + thick / 2 + 0.004, 0.0])))
    top = base + thick * 1.08
    shelf = Collider("box", (width / 2 + 0.02, 0.05, length / 2), rigid.translation(np.array([0.0, base - 0.05, 0.0])))
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
    return assemble("mattress", pieces, frame_count, f"sit on {spots} places")


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
        moves = rigid.translation(path - path[0])
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
    solid = seat.moved(rigid.translation(middle))
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
    turn = rigid.rotation_about(np.array([1.0, 0.0, 0.0]), np.zeros(3), math.pi / 2 - 0.12)
    vertices = rigid.apply(turn, pad.vertices)
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


def jelly(rng: np.random.Generator) -> Asset:
    """A pudding on a plate that is shaken, poked or dropped."""
    radius, height = rng.uniform(0.13, 0.2), rng.uniform(0.14, 0.24)
    bend, core = _pudding_bends(rng, radius, height)
    solid = bent_box(bend, (7, 5, 7), (21, 13, 21), core)
    excitation = str(rng.choice(["shake", "poke", "drop"]))
    plate = 0.018
    lift = plate + 0.006 + (rng.uniform(0.02, 0.08) if excitation == "drop" else 0.0)
    solid = solid.moved(rigid.translation(np.array([0.0, lift, 0.0])))
    bottom = np.flatnonzero(solid.nodes[:, 1] < lift + 1e-6)
    offset = loads.shake(rng, rng.uniform(0.02, 0.045) * loads.heading(rng), (1.0, 1.9))
    shelf = Collider("box", (0.5, 0.05, 0.5), rigid.translation(np.array([0.0, plate - 0.05, 0.0])), friction=0.9)
    density, firm = rng.uniform(900.0, 1100.0), ((9.0, 15.0) if excitation == "drop" else (9.0, 16.0))
    more: dict[str, object] = {
        "poisson": rng.uniform(0.35, 0.45),
        "damping": rng.uniform(0.004, 0.012),
        "friction": 0.9,
    }
    if excitation != "drop":
        more["driven"] = bottom
    if excitation == "shake":
        more["motion"] = lambda t: solid.nodes[bottom] + offset(t)
    flex = solid_flex(rng, solid, density, firm, **more)
    if excitation == "poke":
        more["force"] = punch(rng, solid, flex, 2.2)
        flex = solid_flex(rng, solid, density, firm, **more)
    frame_count = int(rng.integers(26, 37))
    frames = Scene((flex,), colliders=(shelf,) if excitation != "shake" else ()).run(frame_count).nodes[0]
    look = Surface("jelly", color(rng, saturation=(0.6, 0.9), value=(0.6, 0.95)), roughness=0.2)
    body = Piece(
        "jelly", solid.vertices, solid.faces, look, stuff(flex, solid, "gelatine", "elastic"), solid.ride(frames, plate)
    )
    rim = 1.5 * radius
    profile = [(0.0, 0.0), (0.6 * rim, 0.0), (rim, 0.018), (rim, 0.023), (0.72 * rim, 0.011 + 0.007), (0.0, plate)]
    dish = lathe(profile, 36)
    china = Surface("plate", color(rng, saturation=(0.0, 0.2), value=(0.85, 0.97)), roughness=0.3)
    moves = rigid.translation(
        np.array([offset(k / 24.0) if excitation == "shake" else np.zeros(3) for k in range(frame_count)])
    )
    return assemble("jelly", [body, carried("plate", dish, china, CERAMIC, moves)], frame_count, excitation)


def _pudding_bends(rng: np.random.Generator, radius: float, height: float) -> tuple[Callable, Callable]:
    """A form turned out of a mould: round, fluted, a star, or square; narrower and rounder at the top.

    The second bend is the same without corners and flutes, for the lattice.
    """
    kind = str(rng.choice(["plain", "fluted", "star", "square"]))
    taper, dome = rng.uniform(0.15, 0.45), rng.uniform(0.05, 0.3)
    count = int(rng.integers(5, 9))
    depth = {"plain": 0.0, "fluted": 0.07, "star": 0.2, "square": 0.0}[kind]

    def bend(p: np.ndarray, roundness: float, depth: float) -> Float[np.ndarray, "N 3"]:
        u, v, w = p.T
        x, z = disc(u, w, 0.15 if kind == "square" else roundness)
        rise = (v + 1) / 2
        out = np.hypot(x, z)
        flute = 1.0 + depth * np.cos(count * np.arctan2(z, x)) * np.minimum(out, 1.0) ** 2
        size = radius * flute * (1 - taper * rise) * (0.8 if kind == "square" else 1.0)
        return np.stack([x * size, height * rise * (1 - dome * np.minimum(out, 1.2) ** 2 * rise), z * size], -1)

    return (lambda p: bend(p, 1.0, depth)), (lambda p: bend(p, 0.75, 0.0))
