"""Tables and desks with drawers and doors."""

from __future__ import annotations

from neurok.families.articulated.casework import add_drawer, carcass, fill_cell, random_fronts
from neurok.modelling import profiles
from neurok.modelling.builder import Builder
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import leg
from neurok.modelling.shapes import extrude, slab


def table(d: Dice) -> Builder:
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
        board.add(
            slab((x * (w - 0.25 * legs), low, -z + legs), (x * (w - 0.25 * legs - 0.018), high, z - 0.9 * legs)),
            surface,
        )
    face = z - 0.25 * legs
    board.add(slab((-w + 0.9 * legs, low, -face), (w - 0.9 * legs, high, -face + 0.018)), surface)
    rail = 0.012
    board.add(slab((-w + 0.9 * legs, low, face - 0.02), (w - 0.9 * legs, low + rail, face)), surface)
    _add_apron_drawers(d, board, (-w + legs, low + rail, w - legs, high - 0.001), face, depth - 1.2 * legs)
    if d.chance(0.4):
        y = height * d.between(0.15, 0.3)
        board.add(
            slab((-w + 0.4 * legs, y, -z + 0.4 * legs), (w - 0.4 * legs, y + 0.02, z - 0.4 * legs), 0.002), surface
        )
    if d.chance(0.2):
        # Drawers on the far side too: their fronts look towards -z.
        board.add(
            slab((-w + 0.9 * legs, low + 0.2 * apron, -face - 0.006), (w - 0.9 * legs, high - 0.2 * apron, -face)),
            surface,
        )
    return board.builder


def _add_apron_drawers(d: Dice, board, rect, face: float, depth: float) -> None:  # type: ignore[no-untyped-def]
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


def desk(d: Dice) -> Builder:
    """A top on one or two pedestals of drawers and doors, perhaps a drawer over the knees."""
    width, depth, height, thick = d.between(1.0, 1.7), d.between(0.5, 0.8), d.between(0.68, 0.8), d.between(0.02, 0.04)
    surface, board = d.timber(), d.between(0.014, 0.022)
    base = Builder("desk").part("board")
    base.add(
        slab((-width / 2, height - thick, -depth / 2), (width / 2, height, depth / 2), 0.15 * thick),
        surface if d.chance(0.5) else d.wood(),
    )
    fronts = random_fronts(d, surface if d.chance(0.6) else d.timber(), 0.35)
    sides = d.pick([[-1], [1], [-1, 1], [-1, 1]])
    face, top, column = depth / 2 - 0.03, height - thick + 0.0005, d.between(0.3, 0.45)
    low = d.pick([0.0, d.between(0.05, 0.2)])
    for side in (-1, 1):
        outer = side * (width / 2 - 0.01)
        if side not in sides:
            for z in (-1, 1):
                base.add(
                    [
                        s.move(outer - side * 0.03, 0, z * (depth / 2 - 0.05))
                        for s in leg(d, d.pick(["square", "tapered", "round"]), top, 0.05)
                    ],
                    surface,
                )
            continue
        a, b = sorted((outer, outer - side * column))
        carcass(base, (a, low, -face), (b, top, face), board, surface)
        if low:
            for x in (a + 0.03, b - 0.03):
                for z in (-1, 1):
                    base.add(
                        [s.move(x, 0, z * (face - 0.03)) for s in leg(d, "round", low + 0.001, 0.035)], fronts.metal
                    )
        cell = (a + 0.4 * board, low + 0.4 * board, b - 0.4 * board, top - 0.4 * board)
        fill_cell(d, base, cell, face, 2 * face - board, fronts, surface, cell, d.pick(["drawers", "drawers", "door"]))
    inner = [-width / 2 + 0.01 + (column if -1 in sides else 0.06), width / 2 - 0.01 - (column if 1 in sides else 0.06)]
    if d.chance(0.5):
        drop = d.between(0.07, 0.11)
        add_drawer(d, base, (inner[0], top - drop, inner[1], top), face, 2 * face - 0.1, fronts)
    else:
        base.add(slab((inner[0] - 0.002, height * 0.35, -face + 0.02), (inner[1] + 0.002, top, -face + 0.036)), surface)
    return base.builder
