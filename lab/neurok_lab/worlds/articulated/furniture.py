"""Furniture with doors, flaps, drawers and seats, beyond what the catalogue draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.hardware import LEGS, SINK, add_castor, dial, leg, standing
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import box, cylinder, extrude, loft, slab
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.kit import (
    CHARCOAL,
    CHROME,
    RUBBER,
    Rect,
    X,
    Y,
    Z,
    add_door,
    add_drawer,
    carcass,
    cushion,
    divide,
    fill_cell,
    placed,
    random_fronts,
    rod,
    turned,
)


def _stand(d: Sampler, body: Link, width: float, depth: float, surface: Surface) -> float:
    """Legs, a plinth or nothing under a body; returns its height."""
    kind = d.pick(["none", "plinth", *LEGS])
    if kind == "none":
        return 0.0
    if kind == "plinth":
        height = d.between(0.04, 0.1)
        plate = slab((-width / 2 + 0.02, 0, -depth / 2 + 0.02), (width / 2 - 0.02, height + 0.002, depth / 2 - 0.04))
        body.add(plate, surface)
        return height
    height = d.between(0.04, 0.08) if kind == "bun" else d.between(0.08, 0.25)
    thick = d.between(0.03, 0.06)
    for x in (-1, 1):
        for z in (-1, 1):
            place = (x * (width / 2 - thick), 0.0, z * (depth / 2 - thick))
            body.add(placed(leg(d, kind, height + 0.001, thick), place), surface)
    return height


def _body(
    d: Sampler, builder: Builder, width: float, height: float, depth: float
) -> tuple[Link, Rect, float, Surface, float]:
    """A carcass on its stand; returns body, front, face, surface and board thickness."""
    surface = d.timber()
    board = d.between(0.014, 0.028)
    body = builder.part("shelf")
    low = _stand(d, body, width, depth, surface if d.chance(0.6) else d.metal())
    carcass(body, (-width / 2, low, -depth / 2), (width / 2, low + height, depth / 2), board, surface, d.wood())
    if d.chance(0.5):
        over = d.between(0.005, 0.03)
        thick = d.between(0.012, 0.035)
        x, y = width / 2 + over, low + height
        cover = slab((-x, y - 0.001, -depth / 2), (x, y + thick, depth / 2 + over + 0.02), 0.004)
        body.add(cover, surface if d.chance(0.6) else d.wood())
    inside = board * d.pick([0.3, 0.6])
    x = width / 2 - inside
    return body, (-x, low + inside, x, low + height - inside), depth / 2, surface, board


def _posts(
    body: Link, cells: list[Rect], whole: Rect, face: float, depth: float, board: float, surface: Surface
) -> None:
    """Boards between neighbouring cells."""
    half = 0.4 * board
    seen: set[tuple[float, ...]] = set()
    for x0, y0, x1, y1 in cells:
        for line in ((x1, y0, x1, y1), (x0, y1, x1, y1)):
            upright = line[0] == line[2]
            if abs(line[2] - whole[2]) < 1e-6 if upright else abs(line[3] - whole[3]) < 1e-6:
                continue
            key = tuple(round(v, 5) for v in line)
            if key in seen:
                continue
            seen.add(key)
            low = (line[0] - (half if upright else 0), line[1] - (0 if upright else half), face - depth + 0.5 * board)
            high = (line[2] + (half if upright else 0), line[3] + (0 if upright else half), face - 0.001)
            body.add(slab(low, high), surface)


def _filled(d: Sampler, name: str, width: float, height: float, depth: float, smallest: float) -> Builder:
    builder = Builder(name)
    body, front, face, surface, board = _body(d, builder, width, height, depth)
    fronts = random_fronts(d, surface if d.chance(0.6) else d.timber(), smallest)
    cells = divide(d, front, smallest)
    _posts(body, cells, front, face, depth, board, surface)
    for cell in cells:
        # The first cell never stays open: something has to move.
        kind = (
            None if cell is not cells[0] else ("drawers" if cell[2] - cell[0] > 1.3 * (cell[3] - cell[1]) else "door")
        )
        fill_cell(d, body, cell, face, depth - board, fronts, surface, front, kind)
    return builder


def cupboard(d: Sampler) -> Builder:
    """A sideboard or kitchen unit with a mix of doors and drawers."""
    return _filled(d, "cupboard", d.between(0.4, 1.6), d.between(0.45, 1.0), d.between(0.35, 0.75), d.between(0.3, 0.7))


def wall_cabinet(d: Sampler) -> Builder:
    """A shallow cabinet with one to three doors, side by side or folding up."""
    width, height, depth = d.between(0.4, 1.2), d.between(0.3, 0.8), d.between(0.22, 0.4)
    surface, board = d.timber(), d.between(0.014, 0.025)
    body = Builder("wall_cabinet").part("shelf")
    carcass(body, (-width / 2, 0, -depth / 2), (width / 2, height, depth / 2), board, surface, d.wood())
    front = (-width / 2 + 0.3 * board, 0.3 * board, width / 2 - 0.3 * board, height - 0.3 * board)
    fronts = random_fronts(d, surface if d.chance(0.5) else d.timber(), 0.3)
    kind = d.pick(["flap", "pair", "door", "three"])
    if width < 0.55:
        kind = "door" if d.chance(0.7) else "flap"
    if kind == "three":
        third = (front[2] - front[0]) / 3
        for k in range(3):
            hinge = ("left", d.pick(["left", "right"]), "right")[k]
            cell = (front[0] + k * third, front[1], front[0] + (k + 1) * third, front[3])
            add_door(d, body, cell, depth / 2, fronts, hinge, "cabinet_door", k != 1)
    else:
        fill_cell(d, body, front, depth / 2, depth - board, fronts, surface, front, kind)
    for k in range(1, d.count(1, 3)):
        y = k * height / 3
        low, high = (-width / 2 + board, y, -depth / 2 + 0.4 * board), (width / 2 - board, y + 0.012, depth / 2 - 0.03)
        body.add(slab(low, high), surface)
    return body.builder


def bookcase(d: Sampler) -> Builder:
    """Open shelves above doors or drawers."""
    builder = Builder("bookcase")
    width, height, depth = d.between(0.5, 1.2), d.between(1.2, 2.1), d.between(0.25, 0.4)
    body, front, face, surface, board = _body(d, builder, width, height, depth)
    fronts = random_fronts(d, surface if d.chance(0.6) else d.timber(), 0.4)
    x0, y0, x1, y1 = front
    split = y0 + (y1 - y0) * d.between(0.25, 0.5)
    body.add(slab((x0, split - 0.4 * board, face - depth + board), (x1, split + 0.4 * board, face - 0.001)), surface)
    kind = d.pick(["pair", "drawers", "pair"]) if width > 0.5 else "door"
    fill_cell(d, body, (x0, y0, x1, split), face, depth - board, fronts, surface, front, kind)
    shelves = d.count(2, 4)
    for k in range(1, shelves):
        y = split + k * (y1 - split) / shelves
        body.add(slab((x0, y, face - depth + board), (x1, y + board, face - 0.005)), surface)
    colors = [d.paint() for _ in range(4)]
    for k in range(shelves):
        floor = split + k * (y1 - split) / shelves + (board if k else 0.4 * board)
        room = (y1 - split) / shelves - 2 * board
        x = x0 + board
        while d.chance(0.9) and x < x0 + 0.6 * (x1 - x0):
            thick, tall = d.between(0.015, 0.04), room * d.between(0.55, 0.9)
            plate = slab((x, floor - 0.001, face - depth + 2 * board), (x + thick, floor + tall, face - 0.06), 0.002)
            body.add(plate, d.pick(colors))
            x += thick + 0.001
    return builder


def table(d: Sampler) -> Builder:
    """Four legs, a top, and drawers in the apron; perhaps a shelf below."""
    width, depth, height = d.between(0.45, 1.6), d.between(0.4, 0.8), d.between(0.4, 0.85)
    apron, thick, legs = d.between(0.08, 0.2), d.between(0.015, 0.045), d.between(0.035, 0.08)
    surface = d.timber()
    board = Builder("table").part("board")
    over = d.between(0.0, 0.06)
    w, z = width / 2, depth / 2
    round_top = d.between(0.0, 0.08) if d.chance(0.3) else 0.0
    top = extrude(profiles.rectangle(width + 2 * over, depth + 2 * over, round_top), thick, bevel=0.15 * thick)
    board.add(top.move(0, height - thick, 0), surface if d.chance(0.6) else d.wood())
    low, high = height - thick - apron, height - thick + 0.001
    kind = d.pick(["square", "tapered", "round", "turned"])
    for x in (-1, 1):
        for s in (-1, 1):
            feet = leg(d, kind, high, legs)
            board.add([f.move(x * (w - legs / 2), 0, s * (z - legs / 2)) for f in feet], surface)
        plate = slab((x * (w - 0.25 * legs), low, -z + legs), (x * (w - 0.25 * legs - 0.018), high, z - 0.9 * legs))
        board.add(plate, surface)
    face = z - 0.25 * legs
    board.add(slab((-w + 0.9 * legs, low, -face), (w - 0.9 * legs, high, -face + 0.018)), surface)
    rail = 0.012
    board.add(slab((-w + 0.9 * legs, low, face - 0.02), (w - 0.9 * legs, low + rail, face)), surface)
    _add_apron_drawers(d, board, (-w + legs, low + rail, w - legs, high - 0.001), face, depth - 1.2 * legs)
    if d.chance(0.4):
        y = height * d.between(0.15, 0.3)
        plate = slab((-w + 0.4 * legs, y, -z + 0.4 * legs), (w - 0.4 * legs, y + 0.02, z - 0.4 * legs), 0.002)
        board.add(plate, surface)
    if d.chance(0.2):
        # Drawers on the far side too: their fronts look towards -z.
        plate = slab((-w + 0.9 * legs, low + 0.2 * apron, -face - 0.006), (w - 0.9 * legs, high - 0.2 * apron, -face))
        board.add(plate, surface)
    return board.builder


def _add_apron_drawers(d: Sampler, board, rect, face: float, depth: float) -> None:  # type: ignore[no-untyped-def]
    """A row of drawers between the front legs, with posts between them."""
    x0, y0, x1, y1 = rect
    count = min(d.pick([1, 2, 3, 4], [5, 3, 1, 1]), max(1, int((x1 - x0) / 0.2)))
    fronts = random_fronts(d, d.timber(), (x1 - x0) / count)
    inside = d.between(0.4, 1.0) * (depth - 0.02)
    rows = 2 if y1 - y0 > 0.16 and d.chance(0.3) else 1
    for k in range(count):
        a, b = x0 + k * (x1 - x0) / count, x0 + (k + 1) * (x1 - x0) / count
        if k:
            board.add(slab((a - 0.006, y0, face - depth), (a + 0.006, y1 + 0.002, face - 0.001)), fronts.inside)
        for row in range(rows):
            rise = (y1 - y0) / rows
            cell = (a, y0 + row * rise, b, y0 + (row + 1) * rise)
            add_drawer(d, board, cell, face - 0.0005, inside, fronts)


def office_drawers(d: Sampler) -> Builder:
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


def _add_stand(builder: Builder, d: Sampler, body: Link, width: float, depth: float) -> float:
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


def _add_lock(d: Sampler, parent: Link, place: tuple[float, float, float]) -> None:
    """A lock that turns by a quarter or more: a knob, or a cylinder with its key in it."""
    metal, radius = surfaces.metal(d.pick(["chrome", "steel", "brass"])), d.between(0.009, 0.012)
    part = parent.hinge("lock", Z, place, 0.0, d.between(1.5, 1.65))
    if d.chance(0.4):
        part.add(placed(dial(d, radius), place), metal)
        return
    barrel = standing(cylinder(radius, 0.006, 18, chamfer=0.001)).move(0, 0, 0.003 - SINK)
    blade = box((0.002, 0.007, 0.016), (0, 0, 0.012))
    bow = standing(cylinder(0.011, 0.0025, 16)).turn("y", 90).move(0, 0, 0.028)
    part.add(placed((barrel, blade), place), metal)
    part.add(bow.move(*place), metal if d.chance(0.5) else CHARCOAL)


def office_chair(d: Sampler) -> Builder:
    """A star base on castors, a seat that turns and rises, a back that leans."""
    builder = Builder("office_chair")
    fabric = surfaces.paint(d.pick(["charcoal", "navy", "red", "teal", "graphite", "terracotta"]), 0.9)
    metal = surfaces.metal(d.pick(["chrome", "black_steel", "steel"]))
    arms, reach = d.pick([4, 5, 5, 5]), d.between(0.26, 0.32)
    radius = d.between(0.024, 0.032)
    low = 2.5 * radius
    base = builder.part("base_body")
    base.add(turned(24, [0.04, 0.045, 0.028], [low, low + 0.04, low + 0.06]), metal)
    for k in range(arms):
        ends = [(0.02, low + 0.01, low + 0.045, 0.022, 0.018), (reach, low, low + 0.02, 0.014, 0.012)]
        bar = loft([[(x, a, -p), (x, b, -q), (x, b, q), (x, a, p)] for x, a, b, p, q in ends])
        angle = 360 * k / arms + 18
        base.add(bar.turn("y", angle), metal)
        a = np.radians(angle)
        add_castor(builder, d, base, (reach - 0.012) * np.cos(a), -(reach - 0.012) * np.sin(a), low + 0.004, radius)
    seat_y, size = d.between(0.42, 0.5), d.between(0.42, 0.5)
    base.add(cylinder(0.024, 0.2, 16).move(0, low + 0.13, 0), metal)
    column = base.slide("column", Y, -0.05, d.between(0.05, 0.1))
    column.add(cylinder(0.016, seat_y - low - 0.12, 16).move(0, (seat_y + low + 0.08) / 2, 0), CHROME)
    seat = column.spin("seat", Y)
    seat.add(box((0.16, 0.03, 0.2), (0, seat_y, 0), 0.008), metal)
    seat.add(cushion(size, size, 0.07, 0.02).move(0, seat_y + 0.012, 0.02), fabric)
    lean = d.between(5, 12)
    pivot = np.array([0.0, seat_y + 0.03, -size / 2 - 0.01])
    seat.add(box((0.07, 0.012, 0.16), (0, seat_y + 0.002, -size / 2 + 0.05)), metal)
    back = seat.hinge("back", X, pivot, -d.between(0.2, 0.4), 0.08) if d.chance(0.6) else seat
    tall = d.between(0.4, 0.65)
    rest = cushion(size * d.between(0.8, 0.95), tall, 0.05, 0.02).turn("x", 90).mirror("z")
    back.add(rest.move(0, tall / 2 + 0.1, 0.0).turn("x", -lean).move(*pivot), fabric)
    # Behind the cushion, which is 0.055 thick at most.
    spine = tube([(0, -0.02, 0), (0, 0.05, -0.058), (0, 0.32, -0.058)], 0.014, 10)
    back.add(spine.turn("x", -lean).move(*pivot), metal)
    if d.chance(0.7):
        for x in (-1, 1):
            out = x * (size / 2 + 0.03)
            path = profiles.rounded_path(
                [(x * 0.1, seat_y, 0.0), (out, seat_y, 0.0), (out, seat_y + 0.2, 0.02)], 0.04, 4
            )
            seat.add(tube(path, 0.012, 10), metal)
            seat.add(box((0.06, 0.025, 0.24), (x * (size / 2 + 0.03), seat_y + 0.21, 0.03), 0.008), RUBBER)
    return builder


def folding_chair(d: Sampler) -> Builder:
    """A frame with the back, a second pair of legs and a seat that fold onto it."""
    width, seat_y, tall = d.between(0.4, 0.48), d.between(0.42, 0.47), d.between(0.78, 0.9)
    depth = d.between(0.38, 0.44)
    metal = d.metal() if d.chance(0.6) else d.timber()
    look = d.timber() if d.chance(0.5) else d.paint()
    r = d.between(0.009, 0.013)
    w = width / 2
    front, back = np.array([0.0, r, 0.22]), np.array([0.0, tall, -0.26])
    frame = Builder("folding_chair").part("frame")
    along = (back - front) / np.linalg.norm(back - front)
    for x in (-1, 1):
        frame.add(tube([front + (x * w, 0, 0), back + (x * w, 0, 0)], r, 12), metal)
    for share in (0.12, 0.985):
        p = front + share * (back - front)
        frame.add(rod("x", r, width, p, 12), metal)
    slope = np.degrees(np.arctan2(-along[2], along[1]))
    for k in range(d.count(1, 3)):
        p = front + (0.93 - 0.09 * k) * (back - front)
        frame.add(box((width, 0.065, 0.012), chamfer=0.003).turn("x", -slope).move(*p), look)
    at_seat = front + (back - front) * (seat_y - front[1]) / (back[1] - front[1])
    pivot = at_seat + (0, 0.0, 0.0)
    seat = frame.hinge("seat", X, pivot, -d.between(0.9, 1.2), 0.0)
    inner = w - 2.4 * r
    seat.add(slab((-inner, seat_y - 0.012, pivot[2] - 0.03), (inner, seat_y + 0.01, pivot[2] + depth), 0.005), look)
    seat.add(rod("x", 0.6 * r, width, pivot, 10), metal)
    if d.chance(0.5):
        solid = cushion(2 * inner - 0.02, depth - 0.02, 0.025).move(0, seat_y + 0.009, pivot[2] + depth / 2 - 0.01)
        seat.add(solid, d.paint())
    # The second pair of legs hangs on the frame where both cross, and runs from the ground behind to below the seat.
    foot, head = np.array([0.0, r, -0.28]), np.array([0.0, seat_y - 0.02, 0.12])
    u = w - 2.2 * r
    t = np.linalg.solve(np.array([[along[1], -(head - foot)[1]], [along[2], -(head - foot)[2]]]), (foot - front)[1:])
    cross = front + t[0] * along
    legs = frame.hinge("leg", X, cross, 0.0, d.between(0.4, 0.7))
    for x in (-1, 1):
        legs.add(tube([foot + (x * u, 0, 0), head + (x * u, 0, 0)], 0.9 * r, 12), metal)
        legs.add(rod("x", 0.7 * r, 4 * r, (x * (w - r), cross[1], cross[2]), 10), metal)
    legs.add([rod("x", 0.8 * r, 2 * u, foot + s * (head - foot), 12) for s in (0.15, 0.99)], metal)
    return frame.builder
