"""Things one carries: umbrellas and tool boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.casework import Fronts, add_drawer, carcass
from neurok.families.articulated.kit import BLACK_STEEL, CHARCOAL, RUBBER, STEEL, X, Y, Z, pair, pipe, rod, turned
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_castor, pull
from neurok.modelling.shapes import Shape, Triple, box, cylinder, join, lathe, loft, slab
from neurok.modelling.sweeps import tube


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


def umbrella(d: Dice) -> Builder:
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


def _droop(d: Dice, garden: bool) -> tuple[float, float]:
    """Slopes of a rib: straight for parasols, arched for umbrellas."""
    if garden or d.chance(0.2):
        slope = d.between(0.3, 0.5)
        return slope, slope + 0.02
    return d.between(0.08, 0.3), d.between(0.65, 1.0)


def _add_crook(d: Dice, body: Part, shaft: float) -> float:
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


def _add_foot(d: Dice, body: Part, shaft: float, metal: Surface) -> float:
    """A heavy base with a socket, a screw that holds the pole, and perhaps a crank; returns where the pole begins."""
    radius, thick = d.between(0.2, 0.28), d.between(0.03, 0.07)
    stone = d.pick([looks.paint("graphite"), BLACK_STEEL, looks.paint("#b9b4aa", 0.9, name="concrete")])
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


def _add_runner(d: Dice, body: Part, ribs: _Ribs, shaft: float, foot: float) -> None:
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


def toolbox(d: Dice) -> Builder:
    """A box with one lid, a cantilever box whose trays come out to both sides, or a chest of drawers with a lid."""
    kind = d.pick(["lid", "cantilever", "chest"], [3, 3, 3])
    return {"lid": _lid_box, "cantilever": _cantilever, "chest": _tool_chest}[kind](d)


def _pan(low: Triple, high: Triple, wall: float, opening: int = 1) -> list[Shape]:
    """Four walls and a floor, open upwards (+1) or downwards (-1)."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    floor = (y0, y0 + wall) if opening > 0 else (y1 - wall, y1)
    a, b = (y0 + wall, y1) if opening > 0 else (y0, y1 - wall)
    return [
        slab((x0, floor[0], z0), (x1, floor[1], z1), 0.1 * wall),
        slab((x0, a, z0), (x0 + wall, b, z1), 0.1 * wall),
        slab((x1 - wall, a, z0), (x1, b, z1), 0.1 * wall),
        slab((x0 + wall, a, z0), (x1 - wall, b, z0 + wall), 0.1 * wall),
        slab((x0 + wall, a, z1 - wall), (x1 - wall, b, z1), 0.1 * wall),
    ]


def _add_lid(d: Dice, body: Part, size: Triple, rise: float, wall: float, look: Surface) -> Part:
    """A lid over a box of (half width, height, half depth), hinged behind, and its latches."""
    w, y, z = size
    metal = d.metal()
    lid = body.hinge("rotation_lid", X, (0, y + 0.0005, -z), -d.between(1.66, 2.1), 0.0)
    lid.add(_pan((-w, y + 0.001, -z), (w, y + rise, z), wall, -1), look)
    body.add(pair(rod("x", 0.004, 0.05, (0.6 * w, y, -z - 0.001), 10)), metal)
    for x in d.pick([(-0.6, 0.6), (-0.55, 0.55), (0.0,)]):
        at, half = x * w, d.between(0.012, 0.018)
        body.add(box((2.4 * half, 0.016, 0.006), (at, y - 0.042, z + 0.002), 0.001), metal)
        latch = body.hinge("lock", X, (at, y - 0.036, z + 0.003), 0.0, d.between(1.4, 1.7))
        latch.add(slab((at - half, y - 0.036, z + 0.0005), (at + half, y + 0.6 * rise, z + 0.005), 0.001), metal)
        latch.add(slab((at - half, y - 0.012, z + 0.004), (at + half, y - 0.005, z + 0.011), 0.001), metal)
    return lid


def _add_grip(d: Dice, lid: Part, top: float, side: int) -> None:
    """A bow that lies on a lid and turns up to carry the box."""
    half, reach, r = d.between(0.05, 0.08), d.between(0.045, 0.06), d.between(0.005, 0.007)
    y, z = top + r + 0.001, -side * reach / 2
    mount = box((0.014, 2 * r + 0.003, 0.02), (half + 0.007, top + r - 0.001, z), 0.002)
    lid.add([mount, mount.mirror("x")], d.metal())
    grip = lid.hinge("handle", X, (0, y, z), *sorted((0.0, -side * d.between(1.5, 1.75))))
    ends = [(-half, y, z), (-half, y, z + side * reach), (half, y, z + side * reach), (half, y, z)]
    grip.add(pipe(ends, r, 0.02, 10), CHARCOAL)
    grip.add(rod("x", 0.6 * r, 2 * half + 0.01, (0, y, z), 8), STEEL)


def _lid_box(d: Dice) -> Builder:
    """A deep box with a lid; inside a short tray slides from end to end."""
    w, z, height = d.between(0.17, 0.28), d.between(0.09, 0.13), d.between(0.12, 0.2)
    wall, rise = d.between(0.003, 0.005), d.between(0.02, 0.06)
    look, other = d.paint(), d.pick([d.paint(), CHARCOAL])
    body = Builder("toolbox").part("base_body")
    body.add(_pan((-w, 0, -z), (w, height, z), wall), look)
    if d.chance(0.6):
        edge, ends = z - d.between(0.02, 0.035), height - 0.004
        band = slab((w - 0.002, 0, edge), (w + 0.003, ends, z + 0.003), 0.001)
        band = join([band, band.mirror("z")])
        body.add([band, band.mirror("x")], other)
    for k in range(d.count(0, 3)):
        rib = box((1.7 * w, 0.006, 0.006), (0, height * (0.2 + 0.15 * k), z), 0.002)
        body.add([rib, rib.mirror("z")], look)
    level, deep = height - d.between(0.045, 0.06), z - wall - 0.003
    ledge = slab((-w + wall, level - 0.006, z - wall - 0.008), (w - wall, level, z - wall))
    body.add([ledge, ledge.mirror("z")], look)
    long, free = 2 * (w - wall) * d.between(0.45, 0.62), 2 * (w - wall) - 0.004
    x = -w + wall + 0.002
    tray = body.slide("tray", X, 0.0, free - long)
    tray.add(_pan((x, level + 0.0005, -deep), (x + long, height - 0.004, deep), 0.003), other)
    for share in np.linspace(0, 1, d.count(3, 5))[1:-1]:
        at = x + share * long
        tray.add(slab((at, level + 0.003, -deep + 0.002), (at + 0.003, height - 0.009, deep - 0.002)), other)
    lid_look = look if d.chance(0.5) else other
    lid = _add_lid(d, body, (w, height, z), rise, wall, lid_look)
    _add_grip(d, lid, height + rise, d.sign())
    return body.builder


def _cantilever(d: Dice) -> Builder:
    """Pairs of trays above a box that come out in front and behind, lids on the upper ones, a bow to carry it by."""
    w, z, height, wall = d.between(0.19, 0.28), d.between(0.1, 0.135), d.between(0.09, 0.14), d.between(0.002, 0.0035)
    look, metal = d.paint(), d.metal()
    trays = look if d.chance(0.6) else d.paint()
    body = Builder("toolbox").part("base_body")
    body.add(_pan((-w, 0, -z), (w, height, z), wall), look)
    levels, rise, cover = d.count(1, 2), d.between(0.04, 0.06), d.between(0.012, 0.03)
    share, swing = d.between(0.75, 0.9), d.between(1.66, 2.0)
    top = height + levels * (rise + 0.001)
    for side in (-1, 1):
        carrier = body
        inner, outer = sorted((side * 0.0006, side * z))
        for k in range(levels):
            y = height + k * (rise + 0.001) + 0.0007
            carrier = carrier.slide("tray", (0, 0, side), 0.0, share * z)
            carrier.add(_pan((-w, y, inner), (w, y + rise, outer), wall), trays)
            for x in np.linspace(-w, w, d.count(3, 5))[1:-1]:
                carrier.add(slab((x, y + wall, inner + wall), (x + 0.0015, y + 0.8 * rise, outer - wall)), metal)
            strip = join(pull(d, 0.07, kind="strip")).turn("y", 90 - 90 * side)
            carrier.add(strip.move(0, y + rise / 2, side * z), metal)
        lid = carrier.hinge("lid", (side, 0, 0), (0, top, side * z), 0.0, swing)
        lid.add(_pan((-w, top + 0.0005, inner), (w, top + cover, outer), wall, -1), look)
        hinge = rod("x", 0.003, 0.05, (0.6 * w, top, side * (z + 0.001)), 8)
        carrier.add([hinge, hinge.mirror("x")], metal)
    _add_bail(d, body, w, height * d.between(0.6, 0.8), (z, top + cover), metal)
    return body.builder


def _add_bail(d: Dice, body: Part, w: float, y: float, corner: tuple[float, float], metal: Surface) -> None:
    """A bow over the whole box, on pins in its ends, long enough to pass its upper edges."""
    reach = float(np.hypot(corner[0], corner[1] - y)) + d.between(0.022, 0.04)
    x, r = w + 0.012, d.between(0.005, 0.007)
    bail = body.hinge("handle", X, (0, y, 0), -d.between(1.1, 1.35), d.between(1.1, 1.35))
    path = [(-x, y, 0), (-x, y + reach, 0), (x, y + reach, 0), (x, y, 0)]
    bail.add(pipe(path, r, 0.015, 10), metal)
    bail.add(rod("x", 1.7 * r, w, (0, y + reach, 0), 14, chamfer=0.002), RUBBER)
    body.add(pair(rod("x", 0.008, 0.016, (w + 0.006, y, 0), 12)), metal)


def _tool_chest(d: Dice) -> Builder:
    """Drawers below a well with a lid; small ones are carried, large ones stand on castors."""
    builder = Builder("toolbox")
    large = d.chance(0.35)
    w, z = (d.between(0.28, 0.38), d.between(0.2, 0.25)) if large else (d.between(0.2, 0.29), d.between(0.12, 0.16))
    count, board, look = d.count(3, 5) if large else d.count(2, 3), 0.008, d.paint()
    radius = d.between(0.03, 0.045) if large else 0.0
    low = 2.5 * radius
    shares = d.rng.uniform(0.8, 1.7, count)
    unit = d.between(0.09, 0.12) if large else d.between(0.045, 0.06)
    well = d.between(0.06, 0.1)
    top = low + float(unit * shares.sum()) + board
    body, metal = builder.part("base_body"), d.metal()
    carcass(body, (-w, low, -z), (w, top, z), board, look)
    body.add(_pan((-w, top, -z), (w, top + well, z), 0.004), look)
    fronts = Fronts(
        look if d.chance(0.6) else d.pick([d.paint(), metal]),
        metal,
        thickness=d.between(0.008, 0.012),
        handle=d.pick(["strip", "strip", "bar", "bow", "arch"]),
        handle_length=d.between(0.5, 1.1) * w,
        inside=d.metal(),
        reach=d.between(0.75, 0.95),
    )
    y = top - 0.5 * board
    for share in shares * (y - low - 0.5 * board) / shares.sum():
        add_drawer(d, body, (-w + 0.004, y - share, w - 0.004, y), z, 2 * z - board - 0.015, fronts)
        y -= share
    rise = d.between(0.02, 0.045)
    lid = _add_lid(d, body, (w, top + well, z), rise, 0.004, look)
    if not large or d.chance(0.4):
        _add_grip(d, lid, top + well + rise, d.sign())
    if d.chance(0.6):
        grip, level = pull(d, 0.12, kind="bow"), top - (0.3 if large else 0.4) * (top - low)
        body.add([s.turn("y", 90 * t).move(t * w, level, 0) for t in (-1, 1) for s in grip], metal)
    corners = [(s * (w - 0.06), t * (z - 0.06)) for s in (-1, 1) for t in (-1, 1)]
    for x, at in corners if large else []:
        add_castor(builder, d, body, x, at, low + 0.004, radius, at > 0, None if at > 0 else 0.0)
    return builder
