"""Things that hang by a thread: ropes, cables, pendant lamps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from neurok.core import Asset, Material, Surface
from neurok.geometry import lie
from neurok.modelling.shapes import Shape, box, capsule, cylinder, join, lathe, sphere, torus
from neurok_lab.worlds.soft import loads
from neurok_lab.worlds.soft.pieces import (
    FPS,
    METAL,
    PLASTIC,
    SoftPiece,
    assemble,
    carried,
    color,
    log_uniform,
    metal_surface,
    still,
    wood_or_metal,
)
from neurok_lab.worlds.soft.scene import GRAVITY, BodyMotion, FlexScene, Force, ground
from neurok_lab.worlds.soft.stems import StemBuilder, stem_piece


def rope(rng: np.random.Generator) -> Asset:
    """A rope on a hook, one slung between two posts, or a cable whose plug is dragged over the floor."""
    kind = str(rng.choice(["hanging", "slung", "dragged"]))
    return {"hanging": _hanging_rope, "slung": _slung_rope, "dragged": _dragged_cable}[kind](rng)


def _strands(rng: np.random.Generator) -> tuple[Surface, Surface, Material]:
    """Two strands and what they are made of."""
    hemp = rng.random() < 0.5
    hue, saturation = ((0.07, 0.12), (0.25, 0.5)) if hemp else ((0.0, 1.0), (0.4, 0.8))
    first = Surface("strand", color(rng, hue, saturation, (0.45, 0.8)), roughness=0.95)
    second = Surface("second strand", color(rng, hue, saturation, (0.6, 0.95)), roughness=0.95)
    material = Material("hemp" if hemp else "nylon", log_uniform(rng, 1e7, 2e8), 0.35, rng.uniform(500, 1100))
    return first, second, material


def _twisted(piece: SoftPiece, second: Surface, segments: int, pitch: int) -> SoftPiece:
    """Stripes that wind around a rope."""
    ring, around = np.divmod(piece.faces[:, 0], segments)
    return replace(piece, trim=second, trimmed=((ring + around * pitch // segments) % pitch) < pitch / 2)


def _links(stems: StemBuilder, points: np.ndarray, radius: float, density: float, limp: float) -> np.ndarray:
    """A chain of rope links; ``limp`` is the bending stiffness of its joints against the weight below them."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    mass = density * math.pi * radius**2 * lengths
    stiffness = limp * mass.sum() * GRAVITY * lengths.mean()
    return stems.add(points, radius=radius, mass=mass, stiffness=stiffness, damping=0.03 * stiffness + 2e-5)


def _hanging_rope(rng: np.random.Generator) -> Asset:
    length, radius = rng.uniform(0.7, 1.5), rng.uniform(0.012, 0.025)
    count, top = int(rng.integers(9, 14)), length + rng.uniform(0.15, 0.5)
    first, second, material = _strands(rng)
    bend = rng.uniform(-0.25, 0.25, 2)
    s = np.linspace(0.0, 1.0, count + 1)
    points = np.stack([bend[0] * length * s**2, top - length * s, bend[1] * length * s**2], -1)
    stems = StemBuilder()
    chain = _links(stems, points, radius, material.density, rng.uniform(0.01, 0.08))
    end_mass = rng.uniform(0.0, 1.5) * sum(stems.mass)
    stems.mass[-1] += end_mass
    excitation = str(rng.choice(["push", "shake"]))
    force, base = None, None
    if excitation == "push":
        force = _shove(rng, np.array(stems.mass), top, rng.uniform(3.0, 7.0))
    else:
        offset = loads.shake(rng, rng.uniform(0.06, 0.15) * length * loads.heading(rng), (0.7, 1.6))
        base = loads.carried(offset)
    frame_count = int(rng.integers(30, 41))
    motion = FlexScene(rods=stems.build(force=force, base=base)).run(frame_count).links
    body = stem_piece("rope", points, chain, motion, np.full(count + 1, radius), first, material, segments=10)
    hook = join(
        [
            torus(2.2 * radius, 0.5 * radius, 20, 8).along("x").move(0, top + 1.6 * radius),
            cylinder(0.6 * radius, 4 * radius, 10).move(0, top + 5.2 * radius),
            cylinder(4 * radius, 0.8 * radius, 20, chamfer=0.2 * radius).move(0, top + 7.4 * radius),
        ]
    )
    pieces = [
        _twisted(body, second, 10, 6),
        _still_or_moved("hook", hook, metal_surface(rng), METAL, base, frame_count),
    ]
    pieces.append(carried("knot", _rope_end(rng, points, radius, end_mass), first, material, motion[:, chain[-1]]))
    return assemble("rope", pieces, frame_count, f"{excitation} (hanging)")


def _rope_end(rng: np.random.Generator, points: np.ndarray, radius: float, weight: float) -> Shape:
    """A knot, or a ring to hold."""
    x, y, z = points[-1]
    if weight > 0 and rng.random() < 0.5:
        return torus(5 * radius, 0.9 * radius, 24, 8).along("z").move(x, y - 5 * radius, z)
    return sphere(2.1 * radius, 14, 10).scale(1, 1.2, 1).move(x, y, z)


def _shove(rng: np.random.Generator, masses: np.ndarray, height: float, strength: float) -> Force:
    """A push whose share grows downwards, strongest on what hangs lowest [m/s^2]."""
    way, start, duration = loads.heading(rng), 0.05, rng.uniform(0.2, 0.4)

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        share = np.clip(1.0 - x[:, 1:2] / height, 0.1, 1.0)
        return masses[:, None] * (strength * share * loads.pulse(t, start, duration) * way - 0.3 * v)

    return force


def _still_or_moved(
    part: str, shape: Shape, look: Surface, material: Material, base: BodyMotion | None, frame_count: int
) -> SoftPiece:
    if base is None:
        return still(part, shape, look, material)
    return carried(part, shape, look, material, np.array([base(k / FPS) for k in range(frame_count)]))


def _slung_rope(rng: np.random.Generator) -> Asset:
    span, sag, radius = rng.uniform(1.0, 2.0), rng.uniform(0.15, 0.4), rng.uniform(0.015, 0.03)
    top, count = rng.uniform(0.7, 1.1), int(rng.integers(12, 17))
    s = np.linspace(-1.0, 1.0, count + 1)
    points = np.stack([span / 2 * s, top - sag * (1 - s**2), 0 * s], -1)
    first, second, material = _strands(rng)
    stems = StemBuilder()
    chain = _links(stems, points, radius, material.density, rng.uniform(0.002, 0.02))
    masses = np.array(stems.mass)
    excitation = str(rng.choice(["pluck", "wind"]))
    force = _pluck(rng, masses, span) if excitation == "pluck" else _breeze(rng, masses)
    frame_count = int(rng.integers(30, 41))
    rods = stems.build(force=force, ties=((int(chain[-1]), points[-1]),))
    motion = FlexScene(rods=rods).run(frame_count).links
    body = stem_piece("rope", points, chain, motion, np.full(count + 1, radius), first, material, segments=10)
    post = join(
        [
            cylinder(0.03, top + 0.06, 14).move(0, (top + 0.06) / 2),
            sphere(0.05, 16, 10).move(0, top + 0.09),
            lathe([(0.16, 0.0), (0.16, 0.02), (0.06, 0.05), (0.035, 0.1)], 24),
        ]
    )
    posts = join([post.move(side * (span / 2 + 0.03)) for side in (-1, 1)])
    pieces = [_twisted(body, second, 10, 6), still("posts", posts, *wood_or_metal(rng, 0.4))]
    return assemble("rope", pieces, frame_count, f"{excitation} (slung)")


def _pluck(rng: np.random.Generator, masses: np.ndarray, span: float) -> Force:
    """A pull at one place of a slung rope, to the side and up."""
    way = loads.unit(np.array([0.0, rng.uniform(-0.2, 0.6), rng.choice([-1.0, 1.0])]))
    peak, duration, middle = rng.uniform(14.0, 28.0), rng.uniform(0.15, 0.3), rng.uniform(-0.25, 0.25) * span

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        near = np.exp(-(((x[:, :1] - middle) / (0.3 * span)) ** 2))
        return masses[:, None] * (peak * near * loads.pulse(t, 0.05, duration) * way - 0.4 * v)

    return force


def _breeze(rng: np.random.Generator, masses: np.ndarray) -> Force:
    """Wind across a slung rope, as an acceleration: ropes differ in weight and area alike."""
    wind = loads.gusty_wind(rng, np.array([rng.normal(0, 0.3), 0.0, 1.0]), 1.0, 0.8)
    strength = rng.uniform(4.0, 8.0)
    return lambda t, x, v: masses[:, None] * (strength * wind(t, x) - 0.8 * v)


def _dragged_cable(rng: np.random.Generator) -> Asset:
    """A cable that lies in bends on the floor; its plug is pulled away."""
    radius, count = rng.uniform(0.008, 0.014), int(rng.integers(16, 22))
    length = rng.uniform(0.9, 1.5)
    s = np.linspace(0.0, 1.0, count + 1)
    bends, width = rng.uniform(1.0, 2.0), rng.uniform(0.08, 0.16) * length
    points = np.stack([0.7 * length * s, np.full(count + 1, radius), width * np.sin(2 * np.pi * bends * s) * s], -1)
    stems = StemBuilder()
    rubber = Material("rubber", log_uniform(rng, 2e6, 2e7), 0.45, rng.uniform(1000, 1300))
    chain = _links(stems, points, radius, rubber.density, rng.uniform(0.002, 0.02))
    masses = np.array(stems.mass)
    way = loads.unit(np.array([-rng.uniform(0.3, 1.0), 0.0, rng.normal(0.0, 0.8)]))
    reach, duration, swing = rng.uniform(0.25, 0.5) * length, rng.uniform(0.8, 1.2), rng.normal(0.0, 0.08)
    side = np.cross(way, [0.0, 1.0, 0.0])

    def base(t: float) -> np.ndarray:
        u = loads.smooth_step(t, 0.0, duration)
        return lie.translation(reach * u * way + swing * math.sin(math.pi * u) * side)

    # Dry friction of the floor, smoothed near standstill.
    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        level = v * [1.0, 0.0, 1.0]
        speed = np.linalg.norm(level, axis=1, keepdims=True)
        return -0.4 * GRAVITY * masses[:, None] * level / np.maximum(speed, 0.15)

    frame_count = int(rng.integers(28, 37))
    rods = stems.build(collides=True, force=force, base=base)
    motion = FlexScene(rods=rods, colliders=(ground(),)).run(frame_count).links
    look = Surface("rubber", color(rng, saturation=(0.0, 0.7), value=(0.15, 0.8)), roughness=0.6)
    body = stem_piece("cable", points, chain, motion, np.full(count + 1, radius), look, rubber, segments=8)
    plug = _plug(radius).turn("y", float(np.degrees(math.atan2(-way[2], way[0])))).move(*points[0])
    moves = np.array([base(k / FPS) for k in range(frame_count)])
    dark = Surface("plug", color(rng, saturation=(0.0, 0.3), value=(0.1, 0.9)), roughness=0.4)
    socket = box((0.09, 2.6 * radius, 0.05), (0.03, 0.3 * radius, 0.0), chamfer=0.006).move(*points[-1])
    pieces = [
        body,
        carried("plug", plug, dark, PLASTIC, moves),
        carried("socket", socket, dark, PLASTIC, motion[:, chain[-1]]),
    ]
    return assemble("rope", pieces, frame_count, "drag (cable)")


def _plug(radius: float) -> Shape:
    body = capsule(2.2 * radius, 3.5 * radius, 14).along("x").scale(1, 0.9, 1)
    pins = [cylinder(0.4 * radius, 4 * radius, 8).along("x").move(5 * radius, 0, s * 1.1 * radius) for s in (-1, 1)]
    return join([body.move(2 * radius), *(p.move(2 * radius) for p in pins)])


def pendant_lamp(rng: np.random.Generator) -> Asset:
    """One to three lamps on cords under a ceiling rose or a bar."""
    lamps = int(rng.choice([1, 1, 2, 3]))
    shade_radius = rng.uniform(0.1, 0.2) if lamps == 1 else rng.uniform(0.07, 0.11)
    top, profile = rng.uniform(1.2, 1.7), _shade_profile(rng, shade_radius)
    shade_height = float(np.ptp(profile[:, 1]))
    stems, cords = StemBuilder(), []
    spacing = 3.2 * shade_radius
    for k in range(lamps):
        length = rng.uniform(0.45, 0.8)
        x = (k - (lamps - 1) / 2) * spacing
        cord = np.stack([np.full(7, x), top - np.linspace(0.0, length, 7), np.zeros(7)], -1)
        points = np.concatenate([cord, cord[-1:] - [0.0, shade_height, 0.0]])
        mass = np.concatenate([np.full(6, 0.01), [rng.uniform(0.4, 1.2)]])
        stiffness = np.concatenate([np.full(6, 0.02), [0.3]])
        radius = np.concatenate([np.full(6, 0.005), [0.7 * shade_radius]])
        cords.append((cord, stems.add(points, radius=radius, mass=mass, stiffness=stiffness, damping=0.004)))
    excitation = str(rng.choice(["push", "shake"]))
    force, base = None, None
    if excitation == "push":
        force = _shove(rng, np.array(stems.mass), top, rng.uniform(5.0, 10.0))
    else:
        offset = loads.shake(rng, rng.uniform(0.05, 0.1) * loads.heading(rng), (0.7, 1.4))
        base = loads.carried(offset)
    frame_count = int(rng.integers(30, 41))
    motion = FlexScene(rods=stems.build(force=force, base=base)).run(frame_count).links
    black = Surface("cord", color(rng, saturation=(0.0, 0.6), value=(0.1, 0.8)))
    shade_look = Surface("shade", color(rng, saturation=(0.1, 0.7), value=(0.5, 0.95)), roughness=0.5)
    glow = Surface("bulb", (1.0, 0.9, 0.7, 1.0), roughness=0.2, emissive=(0.9, 0.8, 0.5))
    flexible = Material("cord", young=5e7, poisson=0.4, density=1100.0)
    pieces = []
    for cord, chain in cords:
        pieces.append(
            stem_piece("cords", cord, chain[:-1], motion, np.full(7, 0.005), black, flexible, samples=3, segments=6)
        )
        x, y, z = cord[-1]
        pieces.append(
            carried("shades", lathe(profile, 28, closed=True).move(x, y, z), shade_look, METAL, motion[:, chain[-1]])
        )
        bulb = sphere(0.32 * shade_radius, 14, 10).move(x, y - 0.55 * shade_height, z)
        pieces.append(carried("bulbs", bulb, glow, PLASTIC, motion[:, chain[-1]]))
    rose = cylinder(0.06, 0.03, 24, chamfer=0.006).move(0, top + 0.015)
    if lamps > 1:
        rose = box(((lamps - 1) * spacing + 0.12, 0.03, 0.05), (0, top + 0.015, 0), chamfer=0.006)
    pieces.append(_still_or_moved("ceiling_mount", rose, metal_surface(rng), METAL, base, frame_count))
    return assemble("pendant_lamp", pieces, frame_count, excitation)


def _shade_profile(rng: np.random.Generator, radius: float) -> Float[np.ndarray, "N 2"]:
    """The wall of a lamp shade as a closed loop of (radius, height), its top at height 0: cone, dome, drum or bell."""
    kind = str(rng.choice(["cone", "dome", "drum", "bell"]))
    s = np.linspace(0.0, 1.0, 8)
    neck, wall = 0.14 * radius, 0.035 * radius
    height = radius * {"cone": 1.1, "dome": 0.85, "drum": 1.0, "bell": 1.3}[kind]
    out = {
        "cone": neck + (radius - neck) * s,
        "dome": np.maximum(radius * np.sqrt(1.0 - (1.0 - s) ** 2), neck),
        "drum": np.where(s < 0.1, neck, radius),
        "bell": neck + (radius - neck) * (0.25 * s + 0.75 * s**3),
    }[kind]
    outer = np.stack([out, -height * s], -1)
    if kind == "drum":
        outer[1, 0], outer[1, 1] = radius, -0.02 * height
    inner = np.stack([np.maximum(out - wall, 0.5 * neck), -height * s - wall * (s < 0.95)], -1)[::-1]
    return np.concatenate([outer, inner])
