"""Machines and toys with long chains and many wheels: robot arm, excavator, car, windmill."""

from __future__ import annotations

import numpy as np

from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, slab
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.hardware import facing, sideways
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    CHROME,
    GRAPHITE,
    STEEL,
    X,
    Y,
    Z,
    add_wheel,
    counterclockwise,
    pair,
    placed,
    rod,
    turned,
)


def _link(start: np.ndarray, end: np.ndarray, thick: float, width: float) -> list[Shape]:
    """A beam in the (z, y) plane between two round ends about x."""
    along = (end - start)[[2, 1]] / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]])
    a, b = start[[2, 1]], end[[2, 1]]
    outline = np.array(
        [a + 0.8 * thick * across, a - 0.8 * thick * across, b - 0.6 * thick * across, b + 0.6 * thick * across]
    )
    drums = [rod("x", thick * s, 1.15 * width, p, 20, chamfer=0.05 * thick) for p, s in ((start, 1.0), (end, 0.8))]
    return [sideways(counterclockwise(outline), width, 0.05 * thick).move(start[0], 0, 0), *drums]


def robot_arm(d: Sampler) -> Builder:
    """A turning base, three to five links and a gripper."""
    look, dark = surfaces.paint(d.pick(["mustard", "terracotta", "white", "teal", "graphite"]), 0.35), BLACK_STEEL
    scale = d.between(0.5, 1.2)
    base = Builder("robot_arm").part("base")
    base.add(turned(28, [0.16, 0.16, 0.12, 0.11], [0, 0.03, 0.05, 0.1]).scale(scale), dark)
    turret = base.hinge("turret", Y, (0, 0, 0), -2.8, 2.8)
    turret.add(turned(28, [0.1, 0.1, 0.07], [0.101, 0.16, 0.19]).scale(scale), look)
    place = np.array([0.0, 0.22, 0.0]) * scale
    thick, width = 0.06 * scale, 0.08 * scale
    both = pair(slab((0.9 * width, 0.15 * scale, -0.05 * scale), (0.62 * width, 0.26 * scale, 0.05 * scale), 0.004))
    turret.add(both, look)
    part, angle = turret, d.between(-30, 5)
    for k in range(d.count(2, 4)):
        length = d.between(0.2, 0.34) * scale * 0.88**k
        link = part.hinge("link", X, place, -d.between(0.3, 0.6), d.between(0.3, 0.7))
        end = place + length * np.array([0.0, np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        link.add(_link(place, end, thick, width * 0.95), look if k % 2 == 0 else surfaces.paint("white", 0.4))
        # The next link hangs beside this one, on alternating sides.
        part, place = link, end + np.array([width * (-1.0) ** k, 0.0, 0.0])
        angle += d.between(30, 60)
        thick, width = 0.85 * thick, 0.85 * width
    along = np.array([0.0, np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    wrist = part.spin("wrist", along, place)

    def tilt(s: Shape) -> Shape:
        return s.turn("x", angle).move(*place)

    reach = 0.07 * scale
    wrist.add(tilt(cylinder(0.5 * thick, reach + thick, 16).move(0, (reach + thick) / 2, 0)), dark)
    palm = reach + thick
    wrist.add(tilt(box((0.1 * scale, 0.02 * scale, 0.04 * scale), (0, palm, 0), 0.003)), look)
    sides = np.array([1.0, 0.0, 0.0])
    for x in (-1, 1):
        finger = wrist.slide("finger", x * sides, -0.022 * scale, 0.006 * scale, place)
        pad = box((0.012 * scale, 0.07 * scale, 0.026 * scale), (x * 0.034 * scale, palm + 0.044 * scale, 0), 0.002)
        finger.add(tilt(pad), dark)
    return base.builder


def excavator(d: Sampler) -> Builder:
    """Tracks, a cabin that turns, boom, stick and bucket."""
    look, dark = surfaces.paint(d.pick(["mustard", "terracotta", "teal", "red"]), 0.45), surfaces.rubber("#2b2c2f")
    s = d.between(0.15, 0.4)
    base = Builder("excavator").part("tracks")
    for x in (-1, 1):
        belt = profiles.rectangle(1.7 * s, 0.36 * s, 0.17 * s, 6) + np.array([0.0, 0.18 * s])
        base.add(sideways(counterclockwise(belt), 0.26 * s, 0.01 * s).move(x * 0.45 * s, 0, 0), dark)
        rollers = [rod("x", 0.11 * s, 0.29 * s, (x * 0.45 * s, 0.18 * s, z * s), 14) for z in (-0.6, -0.2, 0.2, 0.6)]
        base.add(rollers, STEEL)
    base.add(slab((-0.4 * s, 0.16 * s, -0.4 * s), (0.4 * s, 0.32 * s, 0.4 * s)), dark)
    base.add(cylinder(0.32 * s, 0.1 * s, 24).move(0, 0.36 * s, 0), BLACK_STEEL)
    cab = base.spin("cabin", Y)
    floor = 0.411 * s
    cab.add(slab((-0.55 * s, floor, -0.8 * s), (0.55 * s, floor + 0.14 * s, 0.55 * s), 0.02 * s), look)
    cab.add(slab((-0.5 * s, floor + 0.13 * s, -0.78 * s), (0.5 * s, floor + 0.5 * s, -0.2 * s), 0.05 * s), look)
    side = d.sign()
    low, high = (side * 0.12 * s, floor + 0.13 * s, -0.18 * s), (side * 0.52 * s, floor + 0.75 * s, 0.42 * s)
    cab.add(slab(low, high, 0.04 * s), surfaces.glass("#8fb0bf", 1.0))
    plate = slab((side * 0.1 * s, floor + 0.74 * s, -0.2 * s), (side * 0.54 * s, floor + 0.8 * s, 0.44 * s), 0.02 * s)
    cab.add(plate, look)
    offset = -side * 0.12 * s
    pivot = np.array([offset, floor + 0.2 * s, 0.45 * s])
    elbow = pivot + np.array([0.0, d.between(0.5, 0.75), d.between(0.7, 0.9)]) * s
    wrist = elbow + np.array([0.0, -d.between(0.5, 0.7), d.between(0.35, 0.5)]) * s
    cab.add(box((0.2 * s, 0.2 * s, 0.2 * s), tuple(pivot - (0, 0.06 * s, 0.03 * s)), 0.02 * s), look)
    boom = cab.hinge("boom", X, pivot, -0.4, 0.25)
    boom.add(_link(pivot, elbow, 0.11 * s, 0.14 * s), look)
    stick = boom.hinge("stick", X, elbow, -0.7, 0.5)
    stick.add(_link(elbow, wrist, 0.09 * s, 0.11 * s), look)
    scoop = stick.hinge("bucket", X, wrist, -0.9, 0.7)
    outer = [(-0.05, 0.05), (0.1, 0.03), (0.14, -0.2), (0.0, -0.34), (-0.24, -0.3)]
    inner = [(-0.22, -0.27), (-0.02, -0.29), (0.08, -0.18), (0.05, -0.02), (-0.05, -0.02)]
    outline = s * np.array(outer + inner)
    shell = sideways(counterclockwise(outline), 0.34 * s).move(offset, wrist[1], wrist[2])
    scoop.add(shell, BLACK_STEEL)
    cheek = np.array([[-0.03, 0.0], [0.08, 0.0], [0.12, -0.2], [0.0, -0.32], [-0.22, -0.28]]) * s
    scoop.add(
        placed(pair(sideways(counterclockwise(cheek), 0.02 * s).move(0.17 * s)), (offset, *wrist[1:])), BLACK_STEEL
    )
    return base.builder


def toy_car(d: Sampler) -> Builder:
    """Rolling and steering wheels, doors, bonnet and boot that open."""
    s = d.between(0.1, 0.3)
    look, glass = d.paint(), surfaces.glass("#7f97a5", 1.0)
    length, width = s * d.between(2.2, 2.8), s * d.between(0.95, 1.15)
    radius = s * d.between(0.2, 0.27)
    low, belt, roof = 0.7 * radius, 1.9 * radius + 0.25 * s, 1.9 * radius + 0.25 * s + s * d.between(0.35, 0.5)
    body = Builder("toy_car").part("body")
    z, w = length / 2, width / 2
    kind = d.pick(["sedan", "van", "pickup"])
    nose, tail = {"sedan": (0.5, -0.58), "van": (0.72, -0.97), "pickup": (0.4, -0.1)}[kind]
    front_wheel, rear_wheel = 0.62 * z, -0.62 * z
    under = [(-z, low), *_wheel_arch(rear_wheel, radius), *_wheel_arch(front_wheel, radius), (z, low)]
    outline = np.array([*under, (z, 0.8 * belt), (0.96 * z, belt), (-0.97 * z, belt), (-z, 0.85 * belt)])
    body.add(sideways(counterclockwise(outline), 0.9 * width, 0.02 * s), look)
    high, sill = roof - belt, belt - 0.01 * s
    front, back = nose * z, tail * z
    cabin = np.array([(back, sill), (front, sill), (front - 0.64 * high, roof), (back + 0.2 * high, roof)])
    body.add(sideways(counterclockwise(cabin), 0.84 * width, 0.03 * s), glass)
    ends = (tail * z + 0.25 * high, nose * z - 0.7 * high)
    body.add(slab((-0.42 * width, roof - 0.02 * s, ends[0]), (0.42 * width, roof + 0.03 * s, ends[1]), 0.01 * s), look)
    body.add(pair(slab((-w * 0.98, low, z), (w * 0.98, low + 0.16 * s, z + 0.05 * s), 0.02 * s), "z"), GRAPHITE)
    body.add(pair(rod("z", 0.07 * s, 0.04 * s, (0.7 * w, 0.7 * belt, z), 14)), surfaces.glow("#fff6d8"))
    door_span = (max(tail * z + 0.05 * s, -0.3 * z), 0.28 * z)
    for x in (-1, 1):
        hinge = (x * 0.9 * w, belt / 2, door_span[1])
        door = body.hinge("door", Y, hinge, *((0.0, 1.1) if x < 0 else (-1.1, 0.0)))
        outside = x * (0.905 * w + 0.035 * s)
        door.add(slab((x * 0.905 * w, low + 0.1 * s, door_span[0]), (outside, belt, door_span[1]), 0.01 * s), look)
        grip = (outside + x * 0.015 * s, 0.85 * belt, door_span[0] + 0.12 * s)
        door.add(box((0.03 * s, 0.03 * s, 0.12 * s), grip, 0.005 * s), CHROME)
    bonnet = body.hinge("bonnet", X, (0, belt + 0.004 * s, nose * z + 0.03 * s), -0.9, 0.0)
    plate = slab((-0.8 * w, belt + 0.001 * s, nose * z + 0.03 * s), (0.8 * w, belt + 0.035 * s, 0.92 * z), 0.008 * s)
    bonnet.add(plate, look)
    if kind != "van":
        boot = body.hinge("boot", X, (0, belt + 0.004 * s, tail * z - 0.03 * s), 0.0, 0.9)
        boot.add(
            slab((-0.8 * w, belt + 0.001 * s, -0.93 * z), (0.8 * w, belt + 0.035 * s, tail * z - 0.03 * s), 0.008 * s),
            look,
        )
    _add_wheels(d, body, (rear_wheel, front_wheel), radius, 0.9 * w, 0.26 * s)
    return body.builder


def _wheel_arch(center: float, radius: float) -> list[tuple[float, float]]:
    """Points (z, y) around a wheel, from its rear to its front."""
    turn = np.linspace(np.pi + 0.15, -0.15, 9)
    return [(center + 1.15 * radius * np.cos(t), radius + 1.15 * radius * np.sin(t)) for t in turn]


def _add_wheels(d: Sampler, body: Link, axles: tuple[float, float], radius: float, half: float, width: float) -> None:
    """Four wheels; the front ones may steer."""
    steers = d.chance(0.5)
    spokes = d.chance(0.5)
    for k, z in enumerate(axles):
        body.add(rod("x", 0.12 * radius, 2 * half - 0.5 * width, (0, radius, z), 10), STEEL)
        for x in (-1, 1):
            place = (x * (half - 0.28 * width), radius, z)
            carrier = body
            if k and steers:
                carrier = body.hinge("knuckle", Y, place, -0.3, 0.3)
                post = cylinder(0.2 * radius, 0.4 * radius, 10).move(place[0] - x * 0.35 * width, radius, z)
                carrier.add(post, STEEL)
            roll = add_wheel(d, carrier, place, radius, 0.6 * width, CHROME, spokes)
            roll.add(rod("x", 0.1 * radius, 0.5 * width, (place[0] - x * 0.25 * width, radius, z), 8), STEEL)


def windmill(d: Sampler) -> Builder:
    """A tower, a cap that turns into the wind, and sails."""
    tall = d.between(0.6, 2.0)
    modern = d.chance(0.4)
    look, cap_look = d.paint(), d.timber()
    tower = Builder("windmill").part("tower")
    foot = tall * (0.035 if modern else d.between(0.16, 0.22))
    top = foot * d.between(0.55, 0.7)
    sides = 20 if modern else d.pick([6, 8, 20])
    tower.add(
        cylinder(foot, tall, sides, top=top).move(0, tall / 2, 0), surfaces.paint("white", 0.5) if modern else look
    )
    if not modern:
        tower.add(box((0.5 * foot, 0.9 * foot, 0.2 * foot), (0, 0.45 * foot, 0.88 * foot), 0.02 * foot), d.wood())
        for share in (0.4, 0.65):
            place = (0, share * tall, 0.9 * (foot + share * (top - foot)))
            tower.add(box((0.3 * foot, 0.3 * foot, 0.3 * foot), place), surfaces.glass("#6f8796", 1.0))
    cap = tower.spin("cap", Y, (0, tall, 0))
    y = tall + 0.35 * top
    if modern:
        cap.add(box((1.4 * top, 1.3 * top, 4.2 * top), (0, y, -0.4 * top), 0.25 * top), surfaces.paint("white", 0.5))
    else:
        cap.add(turned(20, [1.12, 1.05, 0.6, 0], [0.001 / top, 0.3, 0.9, 1.15], top, top).move(0, tall), cap_look)
    hub_z = 1.9 * top if modern else 1.3 * top
    cap.add(rod("z", 0.18 * top, hub_z, (0, y, hub_z / 2), 12), STEEL)
    rotor = cap.spin("rotor", Z, (0, y, hub_z))
    hub = 0.7 * top if modern else 0.3 * top
    spinner = turned(18, [0.8, 1, 0.5, 0], [-0.3, 0.2, 0.9, 1], hub, hub).along("z")
    rotor.add(spinner.move(0, y, hub_z), STEEL)
    count = 3 if modern else d.pick([4, 4, 6])
    reach = tall * d.between(0.42, 0.6)
    for k in range(count):

        def spun(s: Shape, k: int = k) -> Shape:
            return s.turn("z", 360 * k / count + 20).move(0, y, hub_z + 0.1 * hub)

        if modern:
            blade = (
                np.array([[-0.03, 0.0], [0.03, 0.0], [0.055, 0.2], [0.012, 1.0], [-0.012, 1.0], [-0.03, 0.2]]) * reach
            )
            rotor.add(spun(facing(counterclockwise(blade), 0.02 * reach).turn("y", 12)), surfaces.paint("white", 0.5))
            continue
        spar, wood = box((0.025 * reach, reach, 0.02 * reach), (0, reach / 2, 0)), d.wood() if k == 0 else cap_look
        rotor.add(spun(spar), wood)
        sail = d.between(0.16, 0.2) * reach
        bars = [
            box((sail, 0.014 * reach, 0.01 * reach), (0.4 * sail, t * reach, 0)) for t in np.linspace(0.25, 0.98, 8)
        ]
        rotor.add([spun(bar) for bar in bars], wood)
        rotor.add(spun(box((0.012 * reach, 0.75 * reach, 0.01 * reach), (0.88 * sail, 0.61 * reach, 0))), wood)
    return tower.builder


def crane(d: Sampler) -> Builder:
    """A tower crane: a slewing jib with a trolley and a hook that goes up and down."""
    tall, look = d.between(0.8, 1.8), surfaces.paint(d.pick(["mustard", "terracotta", "red", "teal"]), 0.5)
    side = 0.05 * tall
    mast = Builder("crane").part("mast")
    mast.add(box((6 * side, 0.05 * tall, 6 * side), (0, 0.025 * tall, 0), 0.01 * tall), surfaces.paint("graphite"))
    _add_lattice(mast, np.array([0.0, 0.03 * tall, 0.0]), np.array([0.0, tall, 0.0]), side, look)
    jib = mast.spin("jib", Y, (0, tall, 0))
    reach = tall * d.between(0.6, 0.85)
    jib.add(box((1.6 * side, 0.9 * side, 1.6 * side), (0, tall + 0.451 * side, 0), 0.01 * tall), look)
    y = tall + 1.1 * side
    _add_lattice(jib, np.array([0.0, y, -0.4 * reach]), np.array([0.0, y, reach]), 0.7 * side, look)
    bar = box((1.4 * side, 1.6 * side, 1.6 * side), (0, y - 0.2 * side, -0.36 * reach), 0.005 * tall)
    jib.add(bar, surfaces.paint("graphite"))
    peak = np.array([0.0, y + 2.2 * side, 0.0])
    jib.add([tube(np.array([peak, (0.0, y, z)]), 0.1 * side, 6) for z in (-0.36 * reach, 0.0, 0.7 * reach)], STEEL)
    start = d.between(0.35, 0.6) * reach
    low = y - 0.5 * side
    trolley = jib.slide("trolley", Z, 0.15 * reach - start, 0.92 * reach - start)
    trolley.add(box((1.2 * side, 0.4 * side, 1.3 * side), (0, low, start), 0.05 * side), surfaces.paint("graphite"))
    drop = d.between(0.25, 0.5) * tall
    hook = trolley.slide("hook", Y, -d.between(0.1, 0.3) * tall, 0.0)
    hook.add(cylinder(0.08 * side, drop, 8).move(0, low - drop / 2, start), STEEL)
    hook.add(box((0.5 * side, 0.6 * side, 0.3 * side), (0, low - drop, start), 0.05 * side), look)
    return mast.builder


def _add_lattice(part: Link, start: np.ndarray, end: np.ndarray, side: float, surface: surfaces.Surface) -> None:
    """Four corner bars with diagonals."""
    along = (end - start) / np.linalg.norm(end - start)
    length = float(np.linalg.norm(end - start))
    u = np.array([1.0, 0.0, 0.0])
    v = np.cross(along, u)

    def corner(a: int, b: int, t: float) -> np.ndarray:
        return start + t * along + 0.5 * side * (a * u + b * v)

    for a in (-1, 1):
        for b in (-1, 1):
            part.add(tube([corner(a, b, 0.0), corner(a, b, length)], 0.09 * side, 5), surface)
    bays = min(int(length / (1.6 * side)), 16)
    for k in range(bays):
        t0, t1 = length * k / bays, length * (k + 1) / bays
        flip = 1 if k % 2 else -1
        for s in (-1, 1):
            part.add(tube([corner(flip, s, t0), corner(-flip, s, t1)], 0.06 * side, 4), surface)
            part.add(tube([corner(s, flip, t0), corner(s, -flip, t1)], 0.06 * side, 4), surface)
