"""Storage furniture: fronts with doors, flaps and drawers in any division."""

from __future__ import annotations

from neurok.core import Surface
from neurok.families.articulated.casework import Rect, add_door, add_drawer, carcass, divide, fill_cell, random_fronts
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import LEGS, leg
from neurok.modelling.shapes import slab


def _stand(d: Dice, body: Part, width: float, depth: float, surface: Surface) -> float:
    """Legs, a plinth or nothing under a body; returns its height."""
    kind = d.pick(["none", "plinth", *LEGS])
    if kind == "none":
        return 0.0
    if kind == "plinth":
        height = d.between(0.04, 0.1)
        body.add(
            slab((-width / 2 + 0.02, 0, -depth / 2 + 0.02), (width / 2 - 0.02, height + 0.002, depth / 2 - 0.04)),
            surface,
        )
        return height
    height = d.between(0.04, 0.08) if kind == "bun" else d.between(0.08, 0.25)
    thick = d.between(0.03, 0.06)
    for x in (-1, 1):
        for z in (-1, 1):
            body.add(
                [
                    s.move(x * (width / 2 - thick), 0.0, z * (depth / 2 - thick))
                    for s in leg(d, kind, height + 0.001, thick)
                ],
                surface,
            )
    return height


def _body(
    d: Dice, builder: Builder, width: float, height: float, depth: float, top: bool = True
) -> tuple[Part, Rect, float, Surface, float]:
    """A carcass on its stand; returns body, front, face, surface and board thickness."""
    surface = d.timber()
    board = d.between(0.014, 0.028)
    body = builder.part("shelf")
    low = _stand(d, body, width, depth, surface if d.chance(0.6) else d.metal())
    carcass(body, (-width / 2, low, -depth / 2), (width / 2, low + height, depth / 2), board, surface, d.wood())
    if top and d.chance(0.5):
        over = d.between(0.005, 0.03)
        thick = d.between(0.012, 0.035)
        body.add(
            slab(
                (-width / 2 - over, low + height - 0.001, -depth / 2),
                (width / 2 + over, low + height + thick, depth / 2 + over + 0.02),
                0.004,
            ),
            surface if d.chance(0.6) else d.wood(),
        )
    inside = board * d.pick([0.3, 0.6])
    return (
        body,
        (-width / 2 + inside, low + inside, width / 2 - inside, low + height - inside),
        depth / 2,
        surface,
        board,
    )


def _posts(
    body: Part, cells: list[Rect], whole: Rect, face: float, depth: float, board: float, surface: Surface
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


def _filled(d: Dice, name: str, width: float, height: float, depth: float, smallest: float) -> Builder:
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


def cupboard(d: Dice) -> Builder:
    """A sideboard or kitchen unit with a mix of doors and drawers."""
    return _filled(d, "cupboard", d.between(0.4, 1.6), d.between(0.45, 1.0), d.between(0.35, 0.75), d.between(0.3, 0.7))


def wall_cabinet(d: Dice) -> Builder:
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
            add_door(
                d,
                body,
                (front[0] + k * third, front[1], front[0] + (k + 1) * third, front[3]),
                depth / 2,
                fronts,
                hinge,
                "cabinet_door",
                k != 1,
            )
    else:
        fill_cell(d, body, front, depth / 2, depth - board, fronts, surface, front, kind)
    for k in range(1, d.count(1, 3)):
        y = k * height / 3
        body.add(
            slab((-width / 2 + board, y, -depth / 2 + 0.4 * board), (width / 2 - board, y + 0.012, depth / 2 - 0.03)),
            surface,
        )
    return body.builder


def wardrobe(d: Dice) -> Builder:
    """Tall doors, perhaps drawers below them, a rail inside."""
    builder = Builder("wardrobe")
    width, height, depth = d.between(0.8, 1.8), d.between(1.7, 2.2), d.between(0.45, 0.65)
    body, front, face, surface, board = _body(d, builder, width, height, depth)
    fronts = random_fronts(d, surface if d.chance(0.7) else d.timber(), 0.5)
    x0, y0, x1, y1 = front
    base = y0
    if d.chance(0.5):
        base = y0 + d.between(0.2, 0.5)
        columns = d.count(1, 3)
        body.add(slab((x0, base - 0.4 * board, face - depth + board), (x1, base + 0.4 * board, face - 0.001)), surface)
        for k in range(columns):
            step = (x1 - x0) / columns
            rows = d.count(1, 2)
            for row in range(rows):
                rise = (base - y0) / rows
                add_drawer(
                    d,
                    body,
                    (x0 + k * step, y0 + row * rise, x0 + (k + 1) * step, y0 + (row + 1) * rise),
                    face,
                    depth - board - 0.03,
                    fronts,
                )
    pairs = 1 if width < 1.2 else d.count(1, 2)
    for k in range(pairs):
        step = (x1 - x0) / pairs
        fill_cell(
            d, body, (x0 + k * step, base, x0 + (k + 1) * step, y1), face, depth - board, fronts, surface, front, "pair"
        )
    return builder


def chest_of_drawers(d: Dice) -> Builder:
    """Rows of drawers; the upper ones often in pairs."""
    builder = Builder("chest_of_drawers")
    width, height, depth = d.between(0.4, 1.2), d.between(0.3, 1.1), d.between(0.35, 0.75)
    body, front, face, surface, board = _body(d, builder, width, height, depth)
    fronts = random_fronts(d, surface if d.chance(0.7) else d.timber(), 0.4)
    x0, y0, x1, y1 = front
    rows = min(d.pick([1, 2, 3, 4, 5, 6], [3, 3, 3, 2, 1, 1]), max(1, int(height / 0.12)))
    heights = d.rng.uniform(0.8, 1.2, rows) if d.chance(0.5) else [1.0] * rows
    y = y1
    for row in range(rows):
        rise = (y1 - y0) * heights[row] / sum(heights)
        columns = 2 if width > 0.7 and d.chance(0.5 if row == 0 else 0.25) else 1
        for k in range(columns):
            step = (x1 - x0) / columns
            add_drawer(d, body, (x0 + k * step, y - rise, x0 + (k + 1) * step, y), face, depth - board - 0.02, fronts)
        y -= rise
    return builder


def bookcase(d: Dice) -> Builder:
    """Open shelves above doors or drawers."""
    builder = Builder("bookcase")
    width, height, depth = d.between(0.5, 1.2), d.between(1.2, 2.1), d.between(0.25, 0.4)
    body, front, face, surface, board = _body(d, builder, width, height, depth)
    fronts = random_fronts(d, surface if d.chance(0.6) else d.timber(), 0.4)
    x0, y0, x1, y1 = front
    split = y0 + (y1 - y0) * d.between(0.25, 0.5)
    body.add(slab((x0, split - 0.4 * board, face - depth + board), (x1, split + 0.4 * board, face - 0.001)), surface)
    fill_cell(
        d,
        body,
        (x0, y0, x1, split),
        face,
        depth - board,
        fronts,
        surface,
        front,
        d.pick(["pair", "drawers", "pair"]) if width > 0.5 else "door",
    )
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
            body.add(
                slab((x, floor - 0.001, face - depth + 2 * board), (x + thick, floor + tall, face - 0.06), 0.002),
                d.pick(colors),
            )
            x += thick + 0.001
    return builder
