"""Things of garden and utility room: umbrellas, gates, swings, mailboxes, ladders, ironing boards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, loft, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube
from neurok_lab.worlds.articulated.hardware import facing, leg, pull
from neurok_lab.worlds.articulated.kit import (
    BLACK_STEEL,
    CHARCOAL,
    RUBBER,
    STEEL,
    WHITE,
    X,
    Y,
    Z,
    pair,
    pipe,
    placed,
    rod,
    turned,
)


@dataclass(frozen=True)
class _Ribs:
    """The frame of an umbrella: ribs that hang on a crown and droop."""

    count: int
    crown: float
    """Height of the pivots [m]."""

    ring: float
    """Radius of the pivots about the shaft [m]."""

    length: float
    droop: tuple[float, float]
    """Slope at the crown and at the tip [rad]."""

    wire: float
    cloth: float

    def line(self) -> np.ndarray:
        """(radius, height) of ten points along a rib."""
        slope = np.linspace(*self.droop, 9)
        step = self.length / 9 * np.column_stack([np.cos(slope), -np.sin(slope)])
        return np.concatenate([[[0.0, 0.0]], np.cumsum(step, axis=0)]) + (self.ring, self.crown)

    def point(self, row: np.ndarray, number: float) -> np.ndarray:
        a = 2 * np.pi * number / self.count
        return np.array([row[0] * np.cos(a), row[1], row[0] * np.sin(a)])

    @property
    def fold(self) -> float:
        """How far a rib turns until its tip hangs beside the shaft."""
        tip = self.line()[-1] - (self.ring, self.crown)
        return float(np.arctan2(tip[0], -tip[1])) - 0.06

    def rib(self, k: int) -> Shape:
        low = self.line() - (0.0, 0.8 * self.wire)
        return tube([self.point(p, k) for p in low], self.wire, 6)

    def panel(self, k: int) -> Shape:
        """The cloth from a rib to shortly before the next."""
        rings = []
        line = self.line()
        for row in [0.75 * line[0] + 0.25 * line[1], *line[1:]]:
            a, b = self.point(row, k), self.point(row, k + 1)
            b = a + 0.985 * (b - a)
            down = np.array([0.0, self.cloth, 0.0])
            rings.append([a, b, b - down, a - down])
        return loft(rings)


def umbrella(d: Sampler) -> Builder:
    """A shaft, a runner that slides on it, and ribs with cloth that turn at the crown: for the hand or the garden."""
    garden = d.chance(0.35)
    if garden:
        length, tall, shaft = d.between(0.85, 1.05), d.between(1.95, 2.2), d.between(0.017, 0.022)
        ribs = _Ribs(d.pick([6, 8, 8]), tall, 2.2 * shaft, length, _droop(d, True), 0.008, 0.003)
    else:
        length, tall, shaft = d.between(0.36, 0.6), 0.0, d.between(0.004, 0.007)
        tall = length + d.between(0.26, 0.36)
        ribs = _Ribs(8, tall, 0.006 + shaft, length, _droop(d, False), d.between(0.0016, 0.0024), 0.0012)
    metal = d.wood() if d.chance(0.35) else d.metal()
    body = Builder("umbrella").part("shaft")
    foot = _add_foot(d, body, shaft, metal) if garden else _add_crook(d, body, shaft)
    tip = tall + (0.06 if garden else d.between(0.03, 0.08))
    body.add(cylinder(shaft, tall - foot, 16).move(0, (tall + foot) / 2, 0), metal)
    hub = ribs.ring + 0.25 * shaft
    crown = [(0, -shaft), (hub, -shaft), (hub, 0.3 * shaft), (0.9 * shaft, 1.6 * shaft), (0.5 * shaft, tip - tall)]
    body.add(lathe([*[(r, tall + y) for r, y in crown], (0, tip)], 20), STEEL)
    first = d.paint()
    second = first if d.chance(0.55) else d.paint()
    for k in range(ribs.count):
        a = 2 * np.pi * k / ribs.count
        pivot = ribs.point(np.array([ribs.ring, tall]), k)
        rib = body.hinge("rib", (np.sin(a), 0, -np.cos(a)), pivot, 0.0, ribs.fold)
        rib.add(ribs.rib(k), BLACK_STEEL).add(ribs.panel(k), second if k % 2 else first)
    _add_runner(d, body, ribs, shaft, foot)
    return body.builder


def _droop(d: Sampler, garden: bool) -> tuple[float, float]:
    """Slopes of a rib: straight for parasols, arched for umbrellas."""
    if garden or d.chance(0.2):
        slope = d.between(0.3, 0.5)
        return slope, slope + 0.02
    return d.between(0.08, 0.3), d.between(0.65, 1.0)


def _add_crook(d: Sampler, body: Link, shaft: float) -> float:
    """A handle that ends on the floor: a crook, a straight grip or a ball; returns its upper end."""
    kind, grip = d.pick(["crook", "crook", "straight", "ball"]), d.pick([d.wood(), d.plastic()])
    r = d.between(0.009, 0.012)
    if kind == "crook":
        bow, high = d.between(0.03, 0.045), d.between(0.1, 0.14)
        turn = np.radians(np.linspace(0, 205, 14))
        arc = np.column_stack([bow * np.cos(turn) - bow, r + bow - bow * np.sin(turn), np.zeros(14)])
        body.add(tube(np.concatenate([[(0, high, 0)], arc]), r, 12), grip)
        return high - 0.01
    high = d.between(0.09, 0.13)
    if kind == "straight":
        body.add(turned(18, [1.2, 1.4, 1, 1.2], [0, 0.01, 0.4 * high, high], scale=r), grip)
    else:
        ball = profiles.arc(0.022, -80, 60, 7, (0.0, 0.022))
        body.add(lathe([(0, 0), *map(tuple, ball), (shaft + 0.002, high), (0, high)], 18), grip)
    return high - 0.01


def _add_foot(d: Sampler, body: Link, shaft: float, metal: Surface) -> float:
    """A heavy base with a socket, a screw that holds the pole, and perhaps a crank; returns where the pole begins."""
    radius, thick = d.between(0.2, 0.28), d.between(0.03, 0.07)
    stone = d.pick([surfaces.paint("graphite"), BLACK_STEEL, surfaces.paint("#b9b4aa", 0.9, name="concrete")])
    if d.chance(0.6):
        body.add(cylinder(radius, thick, 32, 0.94 * radius, 0.008).move(0, thick / 2, 0), stone)
    else:
        body.add(box((1.7 * radius, thick, 1.7 * radius), (0, thick / 2, 0), 0.01), stone)
    high = d.between(0.22, 0.34)
    body.add(cylinder(1.5 * shaft, high, 18).move(0, high / 2, 0), stone)
    y = 0.8 * high
    screw = body.spin("screw", Z, (0, y, 1.5 * shaft))
    screw.add(rod("z", 0.007, 0.04, (0, y, 1.5 * shaft + 0.012), 10), metal)
    screw.add(box((0.05, 0.014, 0.01), (0, y, 1.5 * shaft + 0.032), 0.003), CHARCOAL)
    if d.chance(0.5):
        y, z = d.between(0.95, 1.15), shaft + 0.03
        body.add(box((0.06, 0.1, 0.07), (0, y, 0.012), 0.01), CHARCOAL)
        crank = body.spin("crank", Z, (0, y, z))
        arm = profiles.rounded_path(
            [(0, y, z), (0, y, z + 0.03), (0, y - 0.09, z + 0.03), (0, y - 0.09, z + 0.09)], 0.012, 4
        )
        crank.add(tube(arm, 0.006, 8), metal)
        crank.add(rod("z", 0.011, 0.045, (0, y - 0.09, z + 0.075), 12, chamfer=0.002), RUBBER)
    return 0.5 * high


def _add_runner(d: Sampler, body: Link, ribs: _Ribs, shaft: float, foot: float) -> None:
    """The sleeve that slides, and often the stretchers that go from it to the ribs."""
    line = ribs.line()
    hold = line[4] - (0.0, 1.8 * ribs.wire)
    radius = max(0.8 * ribs.ring, shaft + 2 * ribs.wire)
    start = np.array([radius, hold[1] - d.between(0.1, 0.5) * hold[0]])
    stretch = float(np.linalg.norm(hold - start))
    # Where the sleeve is once the ribs hang down.
    c, s = np.cos(-ribs.fold), np.sin(-ribs.fold)
    down = np.array([[c, -s], [s, c]]) @ (hold - line[0]) + line[0]
    reach = np.sqrt(max(stretch**2 - (down[0] - radius) ** 2, 0.0))
    travel = min(float(start[1] - down[1] + reach), float(start[1] - foot - 0.08))
    runner = body.slide("runner", Y, -travel, 0.0)
    long = 0.08 if shaft > 0.01 else 0.035
    inner, y = shaft + 0.0004, start[1]
    waist = 0.8 * radius + 0.2 * inner
    sleeve = [(inner, -long), (radius, -long), (waist, -0.3 * long), (radius, 0.1 * long), (inner, 0.1 * long)]
    runner.add(lathe([(r, y + h) for r, h in sleeve], 18, closed=True), CHARCOAL)
    if d.chance(0.3):
        return
    rise = float(np.arctan2(hold[1] - y, hold[0] - radius))
    turn = float(np.arctan2(reach, down[0] - radius)) - rise
    for k in range(ribs.count):
        a = 2 * np.pi * k / ribs.count
        arm = runner.hinge("stretcher", (-np.sin(a), 0, np.cos(a)), ribs.point(start, k), 0.0, turn)
        arm.add(tube([ribs.point(start, k), ribs.point(hold, k)], 0.8 * ribs.wire, 6), BLACK_STEEL)


def mailbox(d: Sampler) -> Builder:
    """A box with a rounded roof on a post: a door in front and a flag at the side."""
    width, length, wall = d.between(0.15, 0.22), d.between(0.35, 0.5), 0.006
    low, rise = d.between(0.7, 1.0), d.between(0.08, 0.14)
    look, flag_look = d.paint(), surfaces.plastic("red")
    body = Builder("mailbox").part("base_body")
    body.add([s.move(0, 0, -0.1 * length) for s in leg(d.pick(["square", "round"]), low, 0.08)], d.wood())
    w = width / 2

    def arch(r: float) -> np.ndarray:
        return np.concatenate([[(-r, 0.0), (r, 0.0)], profiles.arc(r, 0, 180, 12, (0.0, rise))])

    shell = extrude(arch(w), length, [arch(w - wall)[::-1] * (1, 0.97) + np.array([0.0, 0.5 * wall])])
    body.add(type(shell)(shell.vertices[:, [0, 2, 1]], shell.faces[:, ::-1]).move(0, low, -length / 2), look)
    body.add(facing(arch(w), wall).move(0, low, -length / 2 - wall), look)
    z = length / 2 + 0.001
    door = body.hinge("door", X, (0, low + 0.004, z), 0.0, d.between(1.2, 1.8))
    door.add(facing(arch(w), wall).move(0, low, z), look)
    rows = [s.move(0, low + rise + 0.6 * w, z + wall) for s in pull(d, 0.05, kind=d.pick(["knob", "bow"]))]
    door.add(rows, d.metal())
    body.add(rod("x", 0.005, 0.7 * width, (0, low + 0.001, z + 0.002), 10), STEEL)
    side = d.sign()
    pivot = (side * (w + 0.004), low + 0.7 * rise, 0.1 * length)
    flag = body.hinge("flag", X, pivot, -1.57, 0.0)
    flag.add(rod("x", 0.008, 0.012, pivot, 12), flag_look)
    flag.add(box((0.004, 0.014, 0.16), (pivot[0] + side * 0.004, pivot[1], pivot[2] + 0.075)), flag_look)
    flag.add(box((0.004, 0.05, 0.05), (pivot[0] + side * 0.004, pivot[1] - 0.018, pivot[2] + 0.135)), flag_look)
    return body.builder


def swing(d: Sampler) -> Builder:
    """A playground frame with one to three seats on ropes."""
    tall, count = d.between(1.4, 2.0), d.count(1, 3)
    width = 0.5 + 0.6 * count
    frame_look, seat_look = d.pick([d.wood(), d.metal(), d.paint()]), d.pick([d.wood(), d.plastic()])
    r = d.between(0.025, 0.04)
    frame = Builder("swing").part("frame")
    frame.add(rod("x", r, width + 0.2, (0, tall, 0), 14), frame_look)
    for x in (-1, 1):
        both = pair(tube([(x * width / 2, tall, 0), (x * (width / 2 + 0.12), 0, 0.35 * tall)], r, 12), "z")
        frame.add(both, frame_look)
        if d.chance(0.6):
            frame.add(rod("z", 0.7 * r, 0.36 * tall, (x * (width / 2 + 0.057), 0.52 * tall, 0), 10), frame_look)
    limit = d.between(0.6, 1.1)
    for k in range(count):
        middle = (k - (count - 1) / 2) * 0.6
        seat = frame.hinge("seat", X, (0, tall, 0), -limit, limit)
        low = d.between(0.35, 0.45)
        seat.add(placed(pair(cylinder(0.008, tall - low, 8).move(0.2, (tall + low) / 2)), (middle, 0, 0)), STEEL)
        seat.add(placed(pair(torus(1.25 * r, 0.009, 16, 6).along("x").move(0.2, tall)), (middle, 0, 0)), STEEL)
        seat.add(box((0.46, 0.03, 0.18), (middle, low, 0), 0.008), seat_look)
    return frame.builder


def gate(d: Sampler) -> Builder:
    """Garden gate: one or two leaves of bars or boards between posts, with a latch."""
    span, tall = d.between(0.8, 1.2), d.between(0.8, 1.5)
    look = d.pick([d.wood(), d.metal(), d.paint()])
    leaves = d.count(1, 2)
    total = span * leaves
    posts = Builder("gate").part("posts")
    side = d.between(0.08, 0.14)
    posts.add(pair(box((side, 1.12 * tall, side), (total / 2 + side / 2, 0.56 * tall, 0), 0.01)), look)
    posts.add(pair(sphere(0.5 * side, 14, 10).move(total / 2 + side / 2, 1.12 * tall + 0.3 * side, 0)), look)
    posts.add(slab((-total / 2 - side, -0.03, -side), (total / 2 + side, 0.001, side)), surfaces.paint("graphite", 0.9))
    bars = d.count(4, 8)
    boards, arched = d.chance(0.4), d.between(0.0, 0.25)
    for x in [-1, 1] if leaves == 2 else [d.sign()]:
        hinge = x * total / 2
        limits = (-1.6, 0.0) if x < 0 else (0.0, 1.6)
        leaf = posts.hinge("leaf", Y, (hinge - x * 0.006, 0, 0), *limits)
        a, b = sorted((hinge - x * 0.012, hinge - x * (span - 0.012)))
        rows = [slab((a, share * tall, -0.015), (b, share * tall + 0.05, 0.015), 0.004) for share in (0.12, 0.8)]
        leaf.add(rows, look)
        for k in range(bars):
            at = a + (b - a) * (k + 0.5) / bars
            high = tall * (0.92 + arched * np.sin(np.pi * (k + 0.5) / bars))
            half = 0.36 * (b - a) / bars if boards else 0.011
            plate = slab((at - half, 0.06 * tall, -0.011), (at + half, high, 0.011 if not boards else 0.03), 0.003)
            leaf.add(plate, look)
        rows = [slab((e - 0.02, 0.06 * tall, -0.02), (e + 0.02, 0.9 * tall, 0.02), 0.004) for e in (a + 0.02, b - 0.02)]
        leaf.add(rows, look)
        rows = [cylinder(0.012, 0.06, 10).move(hinge - x * 0.003, share * tall, 0.0) for share in (0.15, 0.82)]
        posts.add(rows, BLACK_STEEL)
        if x == 1 or leaves == 1:
            place = np.array([hinge - x * (span - 0.1), 0.62 * tall, 0.034])
            latch = leaf.hinge("latch", Z, place, *sorted((0.0, x * 0.7)))
            latch.add(
                [
                    box((0.14, 0.02, 0.012), tuple(place - (x * 0.04, 0, 0)), 0.003),
                    rod("z", 0.02, 0.04, place - (0, 0, 0.015), 12),
                ],
                BLACK_STEEL,
            )
    return posts.builder


@dataclass(frozen=True)
class _Flight:
    """One side of a ladder: two stiles that lean in the (y, z) plane and come closer towards the top."""

    height: float
    """Of the hinge above the floor [m]."""

    top_z: float
    """Where the stiles pass at that height [m]."""

    lean: float
    """Outwards per unit of height; negative behind the hinge."""

    half: tuple[float, float]
    """Half the width at the floor and at the hinge [m]."""

    stile: tuple[float, float]
    """Section of a stile across and along the ladder [m]."""

    is_round: bool

    def at(self, y: float, side: int) -> np.ndarray:
        """The middle of a stile at a height."""
        share = y / self.height
        x = self.half[0] + (self.half[1] - self.half[0]) * min(share, 1.0)
        return np.array([side * x, y, self.top_z + (self.height - y) * self.lean])

    def stiles(self, top: float) -> list[Shape]:
        """Both stiles, from the feet up to a height."""
        across, along = self.stile
        flat = profiles.rectangle(across, along, 0.2 * across, 2)
        section = profiles.circle(along / 2, 12) if self.is_round else flat
        stops = [0.02, self.height, top] if top > self.height + 0.01 else [0.02, top]
        return [sweep(section, [self.at(y, x) for y in stops], up=(0, 0, 1)) for x in (-1, 1)]

    def feet(self) -> list[Shape]:
        """A block of rubber below each stile."""
        size = (self.stile[0] + 0.012, 0.04, self.stile[1] + 0.016)
        return [box(size, self.at(0.02, x), 0.004) for x in (-1, 1)]

    def step(self, y: float, depth: float, thick: float) -> Shape:
        """A tread between the stiles, flush with their inner side."""
        edge = self.at(y, 1) - (0, 0, np.sign(self.lean) * self.stile[1] / 2)
        x, z = edge[0], edge[2]
        return slab((-x, y - thick, z), (x, y, z + np.sign(self.lean) * depth), 0.1 * thick)

    def rung(self, y: float, radius: float) -> Shape:
        place = self.at(y, 1)
        return rod("x", radius, 2 * place[0], (0, y, place[2]), 10)


def stepladder(d: Sampler) -> Builder:
    """Steps in front, a second frame that swings out behind, and a platform or a shelf that folds."""
    kind = d.pick(["stool", "steps", "double"], [4, 4, 2])
    count = d.count(1, 3) if kind == "stool" else d.count(3, 6)
    height = (count + 1) * d.between(0.21, 0.26)
    frame, tread = (d.timber(), d.timber()) if d.chance(0.35) else (d.metal(), d.pick([d.plastic(), d.metal()]))
    stile = (d.between(0.018, 0.028), d.between(0.026, 0.05))
    wide = d.between(0.17, 0.23)
    half = (wide + (0.02 if kind == "stool" else 0.03 * height), wide)
    front_lean, back_lean = np.tan(np.radians([d.between(14, 19), d.between(17, 23)]))
    apart = (stile[1] + 0.012) * np.hypot(1.0, front_lean)
    is_round = kind == "stool" and d.chance(0.6)
    front = _Flight(height, apart, float(front_lean), half, stile, is_round)
    back = _Flight(height, 0.0, -float(back_lean), half, stile, is_round)
    body = Builder("stepladder").part("frame")
    rail = d.between(0.3, 0.55) if kind == "stool" else 0.03
    body.add(front.stiles(height + rail), frame).add(front.feet(), RUBBER)
    depth, thick = d.between(0.08, 0.13), d.between(0.018, 0.032)
    levels = [(k + 1) * height / (count + 1) for k in range(count)]
    body.add([front.step(y, depth, thick) for y in levels], tread)
    fold = float(np.arctan(front_lean) + np.arctan(back_lean))
    legs = body.hinge("leg", X, (0, height, 0), -fold, 0.0)
    legs.add(back.stiles(height + 0.012), frame).add(back.feet(), RUBBER)
    if kind == "double":
        legs.add([back.step(y, depth, thick) for y in levels], tread)
    else:
        spots = np.linspace(0.12, d.between(0.72, 0.85), d.count(2, 4)) * height
        legs.add([back.rung(float(y), 0.3 * stile[1]) for y in spots], frame)
    _add_pins(body, front, d.metal())
    if kind == "stool":
        _add_platform(d, body, front, rail, tread)
    else:
        _add_cap(d, body, legs, (front, back), tread, kind == "steps" and d.chance(0.7))
    return body.builder


def _add_pins(body: Link, front: _Flight, metal: Surface) -> None:
    """Plates outside of the stiles that carry the pins of the second frame."""
    x = front.half[1] + max(front.stile if front.is_round else front.stile[:1]) / 2
    for side in (-1, 1):
        plate = slab((side * x, front.height - 0.03, -0.014), (side * (x + 0.004), front.height + 0.014, 0.0))
        reach = front.top_z + 0.3 * front.stile[1]
        body.add([plate, slab((side * x, front.height - 0.03, 0), (side * (x + 0.004), front.height, reach))], metal)
        body.add(rod("x", 0.006, 0.03, (side * (x - 0.008), front.height, 0), 10), metal)


def _add_platform(d: Sampler, body: Link, front: _Flight, rail: float, surface: Surface) -> None:
    """A board to stand on that swings up between the stiles, and the bow above it."""
    y = front.height + 0.035
    pivot = front.at(y, 1) * (0, 1, 1)
    half = front.half[1] - max(front.stile) / 2 - 0.004
    board = body.hinge("platform", X, pivot, 0.0, d.between(1.05, 1.25))
    back, nose, thick = d.between(0.15, 0.22), d.between(0.03, 0.06), d.between(0.02, 0.03)
    board.add(slab((-half, y - thick / 2, -back), (half, y + thick / 2, pivot[2] + nose), 0.004), surface)
    board.add(rod("x", 0.007, 2 * front.half[1], pivot, 10), STEEL)
    grips = np.linspace(-back + 0.02, pivot[2] + nose - 0.02, d.count(3, 6))
    board.add([box((1.8 * half, 0.003, 0.008), (0, y + thick / 2, z)) for z in grips], RUBBER)
    top = front.at(front.height + rail, 1)
    radius = front.stile[1] / 2 if front.is_round else 0.4 * front.stile[1]
    bar = cylinder(1.05 * radius, 2 * top[0] + 2.4 * radius, 14, chamfer=0.3 * radius)
    body.add(bar.along("x").move(0, top[1], top[2]), RUBBER if d.chance(0.6) else surface)


def _add_cap(d: Sampler, body: Link, legs: Link, sides: tuple[_Flight, _Flight], surface: Surface, shelf: bool) -> None:
    """The topmost board over both frames and perhaps a shelf for paint behind."""
    front, back = sides
    y, half = front.height + 0.026, front.half[1] + max(front.stile) / 2 + 0.006
    reach = d.between(0.04, 0.09)
    body.add(slab((-half, y, -reach), (half, y + d.between(0.02, 0.035), front.top_z + reach), 0.005), surface)
    if not shelf:
        return
    level = back.height * d.between(0.68, 0.8)
    pivot = back.at(level, 1)
    part = legs.hinge("shelf", X, pivot * (0, 1, 1), 0.0, d.between(1.2, 1.5))
    wide, deep, z = pivot[0] - back.stile[0] / 2 - 0.004, d.between(0.16, 0.24), pivot[2]
    part.add(slab((-wide, level - 0.008, z - deep), (wide, level + 0.006, z + 0.01), 0.002), surface)
    part.add(rod("x", 0.006, 2 * pivot[0], (0, level, z), 10), STEEL)
    part.add(slab((-wide, level + 0.005, z - deep), (wide, level + 0.022, z - deep + 0.008), 0.002), surface)


def ironing_board(d: Sampler) -> Builder:
    """A padded board with a nose, on two crossed pairs of legs that fold against it."""
    small = d.chance(0.2)
    length = d.between(0.65, 0.8) if small else d.between(1.15, 1.35)
    width, height = d.between(0.31, 0.42), d.between(0.15, 0.22) if small else d.between(0.8, 0.95)
    metal = d.pick([WHITE, d.metal(), STEEL])
    board = Builder("ironing_board").part("board")
    outline = _board_outline(d, length, width)
    board.add(extrude(outline, 0.022, bevel=0.007).move(0, height - 0.022, 0), d.paint())
    board.add(extrude(profiles.inset(outline, 0.012), 0.012).move(0, height - 0.033, 0), metal)
    radius = d.between(0.009, 0.012)
    hinge_y, outer = height - 0.033 - 1.3 * radius, d.between(0.115, 0.14)
    inner = outer - d.between(2.6, 3.4) * radius
    if small:
        heel, nose, splay = d.between(0.33, 0.38) * length, d.between(0.2, 0.24) * length, d.between(0.0, 0.05)
        ends = [(-heel, -heel - splay, outer), (nose, nose + splay, inner)]
    else:
        spread = d.between(0.29, 0.34) * length
        ends = [(-spread, d.between(0.24, 0.3) * length, outer), (d.between(0.22, 0.27) * length, -spread, inner)]
    rounded = d.chance(0.5)
    for top, foot, half in ends:
        _add_legs(d, board, (top, hinge_y), foot, half, (radius, small, rounded), metal)
    if d.chance(0.65):
        _add_iron_rest(d, board, (-length / 2, height - 0.027), 0.42 * width, metal)
    if not small and d.chance(0.5):
        _add_lever(d, board, outer + 0.022, height - 0.033)
    return board.builder


def _board_outline(d: Sampler, length: float, width: float) -> np.ndarray:
    """Straight sides, square at the heel (-x) and drawn to a blunt nose at +x."""
    start, power, blunt = d.between(-0.1, 0.15) * length, d.between(1.7, 2.4), d.between(0.5, 0.75)
    t = np.sin(np.linspace(0.0, np.pi / 2, 15))
    x, z = start + (length / 2 - start) * t, width / 2 * np.maximum(1 - t**power, 0.0) ** blunt
    cut = d.between(0.01, 0.06)
    heel = [(-length / 2 + cut, width / 2), (-length / 2, width / 2 - cut)]
    side = np.concatenate([np.column_stack([x, z])[::-1][1:], heel])
    return np.concatenate([side, side[::-1] * (1, -1)])


def _add_legs(
    d: Sampler,
    board: Link,
    hinge: tuple[float, float],
    foot: float,
    half: float,
    style: tuple[float, bool, bool],
    metal: Surface,
) -> None:
    """A pair of legs from a hinge under the board to a foot on the floor at x = ``foot``."""
    (x, y), (radius, small, rounded) = hinge, style
    low = radius + 0.004
    slope = float(np.arctan2(y - low, abs(foot - x)))
    # Small boards fold their legs towards the middle, tall ones the shorter way to the board.
    turn = (np.pi - slope if small else slope) - d.between(0.06, 0.09)
    outwards = np.sign(foot - x) if foot != x else np.sign(x)
    sign = -outwards if small else outwards
    legs = board.hinge("leg", Z, (x, y, 0), *sorted((0.0, float(sign * turn))))
    wide = d.between(0.14, 0.2)
    if rounded:
        corners = [(x, y, -half), (foot, low, -half), (foot, low, half), (x, y, half)]
        legs.add(pipe(corners, radius, 0.06 if not small else 0.03, 12, 6), metal)
        wide = half - 0.05
    else:
        legs.add(pair(tube([(x, y, half), (foot, low, half)], radius, 12), "z"), metal)
        legs.add(rod("z", radius, 2 * wide, (foot, low, 0), 12), metal)
    legs.add(pair(rod("z", radius + 0.004, 0.04, (foot, low, wide), 12), "z"), RUBBER)
    legs.add(rod("z", 0.8 * radius, 2 * half, (x, y, 0), 10), metal)
    for s in (-1, 1):
        board.add(box((0.03, 3 * radius, 0.006), (x, y + 0.9 * radius, s * (half + radius + 0.003))), metal)
        board.add(rod("z", 0.5 * radius, 2.5 * radius, (x, y, s * (half + 0.6 * radius)), 8), metal)


def _add_iron_rest(d: Sampler, board: Link, edge: tuple[float, float], half: float, metal: Surface) -> None:
    """A rack of wire at the heel that swings down."""
    x, y = edge
    reach, wire = d.between(0.16, 0.26), 0.0035
    rack = board.hinge("rack", Z, (x - 0.004, y, 0), 0.0, d.between(1.3, 1.6))
    half *= d.between(0.7, 0.95)
    corners = [(x, y, -half), (x - reach, y, -half), (x - reach, y, half), (x, y, half)]
    rack.add(pipe(corners, wire, 0.04, 8), metal)
    for z in np.linspace(-half, half, d.count(4, 7))[1:-1]:
        rack.add(tube([(x, y, z), (x - reach, y, z)], 0.8 * wire, 6), metal)
    rack.add(rod("z", wire, 2 * half, (x - 0.004, y, 0), 8), metal)
    if d.chance(0.5):
        rack.add(box((0.5 * reach, 0.006, 1.2 * half), (x - 0.5 * reach, y + 0.003, 0), 0.002), RUBBER)


def _add_lever(d: Sampler, board: Link, z: float, under: float) -> None:
    """The lever under the board that frees the legs."""
    x, grip = d.between(-0.1, 0.05), d.plastic()
    lever = board.hinge("lever", Z, (x, under - 0.008, z), -d.between(0.3, 0.5), 0.0)
    lever.add(box((d.between(0.1, 0.15), 0.008, 0.014), (x + 0.055, under - 0.009, z), 0.002), grip)
    lever.add(rod("z", 0.007, 0.02, (x, under - 0.007, z), 10), grip)
