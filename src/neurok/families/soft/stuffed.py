"""Stuffed and wobbly solids: cushions and jellies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Material, Surface
from neurok.families.soft import loads
from neurok.families.soft.lattice import Solid, bent_box
from neurok.families.soft.pieces import (
    CERAMIC,
    WOOD,
    Piece,
    assemble,
    carried,
    color,
    fabric_surface,
)
from neurok.families.soft.scene import GRAVITY, Collider, Flex, Force, Scene, ground, node_masses
from neurok.geometry import lie
from neurok.modelling.shapes import cylinder, lathe


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
        return lie.translation(place + np.array([slide[0] * in_, height, slide[1] * in_]))

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
    colliders = [ground()]
    if excitation == "drop":
        axis = loads.heading(rng)
        turn = lie.rotation_about(axis, np.zeros(3), rng.uniform(0.2, 1.2))
        low = -float((solid.nodes @ turn[:3, :3].T)[:, 1].min()) + rng.uniform(0.05, 0.3)
    solid = solid.moved(lie.translation(np.array([0.0, low + 0.006, 0.0])) @ turn)
    top = float(solid.nodes[:, 1].max())
    if excitation == "sit":
        place = np.array([rng.uniform(-0.4, 0.4) * half[0], top, rng.uniform(-0.4, 0.4) * half[2]])
        colliders.append(presser(rng, place, rng.uniform(0.08, 0.14), rng.uniform(0.5, 0.95) * half[1]))
    firmness = (18.0, 45.0) if excitation == "punch" else (8.0, 25.0)
    flex = solid_flex(rng, solid, density, firmness, friction=0.8)
    if excitation == "punch":
        flex = replace(flex, force=punch(rng, solid, flex, 3.0))
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
    moves = lie.translation(path - path[0])
    return [carried("button", button, Surface("button", color(rng), roughness=0.4), WOOD, moves)]


def jelly(rng: np.random.Generator) -> Asset:
    """A pudding on a plate that is shaken, poked or dropped."""
    radius, height = rng.uniform(0.13, 0.2), rng.uniform(0.14, 0.24)
    bend, core = _pudding_bends(rng, radius, height)
    solid = bent_box(bend, (7, 5, 7), (21, 13, 21), core)
    excitation = str(rng.choice(["shake", "poke", "drop"]))
    plate = 0.018
    lift = plate + 0.006 + (rng.uniform(0.02, 0.08) if excitation == "drop" else 0.0)
    solid = solid.moved(lie.translation(np.array([0.0, lift, 0.0])))
    bottom = np.flatnonzero(solid.nodes[:, 1] < lift + 1e-6)
    offset = loads.shake(rng, rng.uniform(0.02, 0.045) * loads.heading(rng), (1.0, 1.9))
    shelf = Collider("box", (0.5, 0.05, 0.5), lie.translation(np.array([0.0, plate - 0.05, 0.0])), friction=0.9)
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
        flex = replace(flex, force=punch(rng, solid, flex, 1.8))
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
    moves = lie.translation(
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
