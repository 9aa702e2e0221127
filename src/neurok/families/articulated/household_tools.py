"""Things about the house that fold and slide: step ladders, ironing boards, drawers under a desk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.casework import add_drawer, carcass, random_fronts
from neurok.families.articulated.kit import CHARCOAL, RUBBER, STEEL, WHITE, X, Z, pair, pipe, placed, rod
from neurok.families.articulated.wheels import cushion
from neurok.modelling import looks, profiles
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import SINK, add_castor, dial, standing
from neurok.modelling.shapes import Shape, box, cylinder, extrude, slab
from neurok.modelling.sweeps import sweep, tube


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


def stepladder(d: Dice) -> Builder:
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
    _add_hinges(body, front, d.metal())
    if kind == "stool":
        _add_platform(d, body, front, rail, tread)
    else:
        _add_cap(d, body, legs, (front, back), tread, kind == "steps" and d.chance(0.7))
    return body.builder


def _add_hinges(body: Part, front: _Flight, metal: Surface) -> None:
    """Plates outside of the stiles that carry the pins of the second frame."""
    x = front.half[1] + max(front.stile if front.is_round else front.stile[:1]) / 2
    for side in (-1, 1):
        plate = slab((side * x, front.height - 0.03, -0.014), (side * (x + 0.004), front.height + 0.014, 0.0))
        reach = front.top_z + 0.3 * front.stile[1]
        body.add([plate, slab((side * x, front.height - 0.03, 0), (side * (x + 0.004), front.height, reach))], metal)
        body.add(rod("x", 0.006, 0.03, (side * (x - 0.008), front.height, 0), 10), metal)


def _add_platform(d: Dice, body: Part, front: _Flight, rail: float, surface: Surface) -> None:
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


def _add_cap(d: Dice, body: Part, legs: Part, sides: tuple[_Flight, _Flight], surface: Surface, shelf: bool) -> None:
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


def ironing_board(d: Dice) -> Builder:
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


def _board_outline(d: Dice, length: float, width: float) -> np.ndarray:
    """Straight sides, square at the heel (-x) and drawn to a blunt nose at +x."""
    start, power, blunt = d.between(-0.1, 0.15) * length, d.between(1.7, 2.4), d.between(0.5, 0.75)
    t = np.sin(np.linspace(0.0, np.pi / 2, 15))
    x, z = start + (length / 2 - start) * t, width / 2 * np.maximum(1 - t**power, 0.0) ** blunt
    cut = d.between(0.01, 0.06)
    heel = [(-length / 2 + cut, width / 2), (-length / 2, width / 2 - cut)]
    side = np.concatenate([np.column_stack([x, z])[::-1][1:], heel])
    return np.concatenate([side, side[::-1] * (1, -1)])


def _add_legs(
    d: Dice,
    board: Part,
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


def _add_iron_rest(d: Dice, board: Part, edge: tuple[float, float], half: float, metal: Surface) -> None:
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


def _add_lever(d: Dice, board: Part, z: float, under: float) -> None:
    """The lever under the board that frees the legs."""
    x, grip = d.between(-0.1, 0.05), d.plastic()
    lever = board.hinge("lever", Z, (x, under - 0.008, z), -d.between(0.3, 0.5), 0.0)
    lever.add(box((d.between(0.1, 0.15), 0.008, 0.014), (x + 0.055, under - 0.009, z), 0.002), grip)
    lever.add(rod("z", 0.007, 0.02, (x, under - 0.007, z), 10), grip)


def office_drawers(d: Dice) -> Builder:
    """A pedestal for below a desk: drawers of different heights, a lock, castors or feet."""
    builder = Builder("office_drawers")
    width, height, depth = d.between(0.34, 0.48), d.between(0.44, 0.68), d.between(0.42, 0.75)
    steel = d.chance(0.55)
    surface = d.paint() if steel else d.timber()
    board = d.between(0.008, 0.012) if steel else d.between(0.014, 0.022)
    body = builder.part("base_body")
    low = _add_stand(builder, d, body, width, depth)
    w, face, top = width / 2, depth / 2, low + height
    carcass(body, (-w, low, -face), (w, top, face), board, surface)
    if d.chance(0.45):
        over = d.between(0.0, 0.015)
        lid = slab((-w - over, top - 0.001, -face), (w + over, top + d.between(0.012, 0.03), face + over + 0.02), 0.003)
        body.add(lid, d.timber())
    elif d.chance(0.4):
        body.add(cushion(width - 0.01, depth - 0.02, d.between(0.03, 0.06)).move(0, top - 0.001, 0), d.paint())
    fronts = random_fronts(d, surface if d.chance(0.55) else d.timber(), width)
    fronts = replace(fronts, style="slab" if steel or d.chance(0.6) else fronts.style)
    fronts = replace(fronts, handle_length=min(fronts.handle_length, 0.4 * width), inside=d.pick([surface, d.metal()]))
    header = d.pick([0.0, d.between(0.035, 0.05)])
    if header:
        body.add(slab((-w + board, top - board - header, face - 0.014), (w - board, top - board, face)), surface)
    y = top - 0.5 * board - header
    shares = d.pick([(0.5, 1, 1), (1, 1, 1), (0.5, 1, 2), (1, 2), (2, 2), (0.5, 1, 1, 1), (1, 1, 1, 1), (0.6, 1, 1.8)])
    unit = (y - low - 0.5 * board) / sum(shares)
    drawers = []
    for share in shares:
        cell = (-w + 0.4 * board, y - share * unit, w - 0.4 * board, y)
        drawers.append(add_drawer(d, body, cell, face, depth - board - 0.02, fronts))
        y -= share * unit
    x = d.sign() * (w - board - 0.028)
    if header:
        _add_lock(d, body, (x, top - board - 0.5 * header, face))
    elif d.chance(0.8):
        drop = min(0.035, 0.5 * shares[0] * unit)
        _add_lock(d, drawers[0], (x, top - 0.5 * board - drop, face + 0.0006 + fronts.thickness))
    return builder


def _add_stand(builder: Builder, d: Dice, body: Part, width: float, depth: float) -> float:
    """Castors, feet or a plinth below a pedestal; returns the height of its floor."""
    kind = d.pick(["castors", "feet", "plinth"], [3, 1, 1])
    corners = [(x * (width / 2 - 0.05), z * (depth / 2 - 0.055)) for x in (-1, 1) for z in (-1, 1)]
    if kind == "castors":
        radius = d.between(0.018, 0.028)
        for x, z in corners:
            add_castor(builder, d, body, x, z, 2.5 * radius + 0.004, radius)
        return 2.5 * radius
    if kind == "plinth":
        high = d.between(0.02, 0.05)
        inset = (width / 2 - 0.012, depth / 2 - 0.02)
        body.add(slab((-inset[0], 0, -inset[1]), (inset[0], high + 0.001, inset[1])), CHARCOAL)
        return high
    high, radius = d.between(0.012, 0.05), d.between(0.012, 0.02)
    foot = cylinder(radius, high + 0.001, 16, chamfer=0.002).move(0, high / 2, 0)
    body.add([foot.move(x, 0, z) for x, z in corners], RUBBER if high < 0.03 else d.metal())
    return high


def _add_lock(d: Dice, parent: Part, place: tuple[float, float, float]) -> None:
    """A lock that turns by a quarter or more: a knob, or a cylinder with its key in it."""
    metal, radius = looks.metal(d.pick(["chrome", "steel", "brass"])), d.between(0.009, 0.012)
    part = parent.hinge("lock", Z, place, 0.0, d.between(1.5, 1.65))
    if d.chance(0.4):
        part.add(placed(dial(d, radius), place), metal)
        return
    barrel = standing(cylinder(radius, 0.006, 18, chamfer=0.001)).move(0, 0, 0.003 - SINK)
    blade = box((0.002, 0.007, 0.016), (0, 0, 0.012))
    bow = standing(cylinder(0.011, 0.0025, 16)).turn("y", 90).move(0, 0, 0.028)
    part.add(placed((barrel, blade), place), metal)
    part.add(bow.move(*place), metal if d.chance(0.5) else CHARCOAL)
