"""Large kitchen appliances with doors: oven, microwave, refrigerator, dishwasher."""

from __future__ import annotations

import numpy as np

from neurok.core import Surface
from neurok.families.articulated.casework import Fronts, add_door, add_drawer, carcass
from neurok.families.articulated.kit import (
    BLACK_STEEL,
    CHARCOAL,
    CHROME,
    RUBBER,
    STEEL,
    WHITE,
    Y,
    Z,
    corners,
    pair,
    placed,
    turned,
)
from neurok.modelling import looks
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.hardware import add_buttons, dial
from neurok.modelling.shapes import box, cylinder, slab, torus


def add_dials(
    d: Dice, parent: Part, places: list[tuple[float, float, float]], radius: float, surface: Surface, name: str = "knob"
) -> None:
    """Appliance knobs facing +z, some that turn without end, some with a stop."""
    endless = d.chance(0.65)
    mark = CHROME
    state = d.rng.bit_generator.state
    for place in places:
        d.rng.bit_generator.state = state  # all knobs of one panel look alike
        shapes = placed(dial(d, radius), place)
        if endless:
            part = parent.spin(name, Z, place)
        else:
            part = parent.hinge(name, Z, place, -5.2, 0.0)
        part.add(shapes[:1], mark if len(shapes) > 2 else surface).add(shapes[1:], surface)


def _rack(x0: float, x1: float, y: float, z0: float, z1: float) -> list:  # type: ignore[type-arg]
    """A wire shelf."""
    bars = [box((0.004, 0.004, z1 - z0), (x, y, (z0 + z1) / 2)) for x in np.linspace(x0 + 0.01, x1 - 0.01, 8)]
    return [*bars, *(box((x1 - x0, 0.005, 0.005), ((x0 + x1) / 2, y, z)) for z in (z0 + 0.01, z1 - 0.01))]


def _fronts(d: Dice, surface: Surface, width: float, thickness: float, style: str = "slab") -> Fronts:
    return Fronts(
        surface,
        d.metal(),
        thickness,
        0.0025,
        style,
        d.pick(["bar", "bow", "arch", "strip"]),
        width,
        STEEL,
        swing=np.pi / 2,
    )


def oven(d: Dice) -> Builder:
    """One or two doors that fold down, knobs above, a cooker on top."""
    width, height, depth = d.between(0.5, 1.15), d.between(0.7, 0.95), d.between(0.45, 0.62)
    shell = d.shell()
    frame = Builder("oven").part("frame")
    foot = d.between(0.02, 0.08)
    board, w, face = 0.03, width / 2, depth / 2
    panel = d.between(0.08, 0.14)
    carcass(frame, (-w, foot, -face), (w, height - 0.02, face), board, shell, BLACK_STEEL)
    frame.add(corners(cylinder(0.018, foot + 0.002, 12).move(w - 0.05, foot / 2, face - 0.05)), RUBBER)
    frame.add(
        slab((-w, height - 0.02, -face), (w, height, face + 0.01), 0.004), BLACK_STEEL if d.chance(0.5) else shell
    )
    frame.add(slab((-w, height - 0.02 - panel, face - 0.001), (w, height - 0.02, face + 0.012), 0.003), shell)
    frame.add(
        slab((-w + board, height - 0.02 - panel - 0.02, -face + 0.02), (w - board, height - 0.02 - panel, face)), shell
    )
    low, top = foot + 0.004, height - 0.02 - panel
    fronts = _fronts(d, shell, 0.75 * width, d.between(0.025, 0.045), d.pick(["glass", "glass", "raised", "slab"]))
    if d.chance(0.45):
        drawer = d.between(0.12, 0.18)
        add_drawer(
            d,
            frame,
            (-w, low, w, low + drawer),
            face,
            depth - 0.1,
            Fronts(shell, fronts.metal, fronts.thickness, 0.0025, "slab", fronts.handle, 0.5 * width),
        )
        frame.add(
            slab((-w + board, low + drawer - 0.006, -face + 0.02), (w - board, low + drawer + 0.006, face)), shell
        )
        low += drawer
    split = [(0.0, 0.62), (0.62, 1.0)] if d.chance(0.33) else [(0.0, 1.0)]
    for a, b in split:
        y0, y1 = low + a * (top - low), low + b * (top - low)
        add_door(d, frame, (-w, y0, w, y1), face, fronts, "bottom", "door", False)
        for share in (0.35, 0.65):
            frame.add(
                _rack(-w + board - 0.002, w - board + 0.002, y0 + share * (y1 - y0), -face + 0.03, face - 0.03), CHROME
            )
        if b < 1:
            frame.add(slab((-w + board, y1 - 0.012, -face + 0.02), (w - board, y1 + 0.012, face)), shell)
    _add_cooker(d, frame, width, depth, height)
    count = d.count(2, 7)
    radius = min(d.between(0.016, 0.035), 0.36 * panel, 0.33 * width / count)
    xs = np.linspace(-w + 0.08, w - 0.08, count)
    if d.chance(0.25):
        splash = d.between(0.12, 0.2)
        frame.add(slab((-w, height - 0.002, -face), (w, height + splash, -face + 0.05), 0.006), shell)
        add_dials(d, frame, [(x, height + splash / 2, -face + 0.05) for x in xs], radius, d.plastic())
    else:
        add_dials(d, frame, [(x, height - 0.02 - panel / 2, face + 0.012) for x in xs], radius, d.plastic())
    return frame.builder


def _add_cooker(d: Dice, frame: Part, width: float, depth: float, height: float) -> None:
    dark = looks.metal("black_steel", 0.6)
    grates = d.chance(0.5)
    for x in (-0.25, 0.25):
        for z in (-0.22, 0.2):
            r = min(width, depth) * d.between(0.1, 0.15)
            place = (x * width, height, z * depth)
            frame.add(cylinder(0.6 * r, 0.016, 20, chamfer=0.003).move(place[0], height + 0.007, place[2]), dark)
            if grates:
                frame.add(torus(1.1 * r, 0.005, 20, 6).move(place[0], height + 0.02, place[2]), dark)
                bars = [
                    box((2.4 * r, 0.01, 0.008), (0, height + 0.021, 0)).turn("y", 90 * k).move(place[0], 0, place[2])
                    for k in range(2)
                ]
                frame.add(bars, dark)
                frame.add(pair(box((0.008, 0.024, 0.008), (place[0] + 1.15 * r, height + 0.01, place[2]))), dark)
            else:
                frame.add(torus(r, 0.004, 24, 6).move(place[0], height + 0.001, place[2]), dark)


def microwave(d: Dice) -> Builder:
    """A door at the left, controls at the right, a turntable inside."""
    builder = Builder("microwave")
    width, height, depth = d.between(0.44, 0.62), d.between(0.22, 0.34), d.between(0.28, 0.45)
    shell, w, face, foot, board = d.shell(), width / 2, depth / 2, 0.012, 0.022
    frame = builder.part("frame")
    column = d.between(0.09, 0.15)
    split = w - column
    carcass(frame, (-w, foot, -face), (split, foot + height, face), board, shell, STEEL)
    frame.add(slab((split - 0.001, foot, -face), (w, foot + height, face + 0.02), 0.004), shell)
    frame.add(corners(cylinder(0.014, foot + 0.004, 10).move(w - 0.04, foot / 2, face - 0.05)), RUBBER)
    fronts = _fronts(d, shell, 0.6 * height, d.between(0.018, 0.03), d.pick(["glass", "glass", "raised", "slab"]))
    fronts = Fronts(
        **{
            **fronts.__dict__,
            "swing": d.pick([np.pi / 2, d.between(1.5, 2.2)], [2, 1]),
            "handle": d.pick(["bar", "bow", "arch", "none"]),
        }
    )
    add_door(d, frame, (-w, foot, split, foot + height), face, fronts, "left", "door")
    middle, plate = ((-w + split) / 2, foot + board), 0.36 * min(split + w - 2 * board, depth - 0.05)
    tray = frame.spin("tray", Y, (middle[0], middle[1], 0))
    tray.add(
        turned(28, [0.85, 1, 0.97, 0.82], [0.008, 0.018, 0.022, 0.014], scale=plate).move(middle[0], middle[1], 0),
        looks.glass("#cfe3ea", 1.0),
    )
    tray.add(cylinder(0.02, 0.012, 3).move(middle[0], middle[1] + 0.003, 0), d.plastic())
    front = face + 0.02
    cx = (split + w) / 2
    frame.add(box((0.7 * column, 0.12 * height, 0.004), (cx, foot + 0.85 * height, front)), looks.paint("#101418", 0.2))
    if d.chance(0.5):
        count = d.count(1, 3)
        r = min(0.3 * column, 0.3 * height / count)
        add_dials(
            d,
            frame,
            [(cx, foot + height * (0.12 + 0.55 * (k + 0.5) / count), front) for k in range(count)],
            r,
            d.plastic(),
        )
    else:
        rows, columns = d.count(3, 5), d.count(2, 3)
        size = min(0.55 * column / columns, 0.4 * height / rows)
        places = [
            (cx + (c - (columns - 1) / 2) * 0.8 * column / columns, foot + height * (0.2 + 0.52 * r / rows), front)
            for r in range(rows)
            for c in range(columns)
        ]
        add_buttons(builder, d, frame, places, size, d.plastic(), "control_button")
    return builder


def refrigerator(d: Dice) -> Builder:
    """One to four doors, shelves inside, racks in the doors; sometimes a drawer below."""
    width, height, depth = d.between(0.45, 0.95), d.between(0.8, 1.9), d.between(0.5, 0.75)
    shell, w, face, board = d.shell(), width / 2, depth / 2, d.between(0.03, 0.05)
    foot = d.between(0.02, 0.06)
    frame = Builder("refrigerator").part("frame")
    carcass(frame, (-w, foot, -face), (w, foot + height, face), board, shell, WHITE)
    frame.add(slab((-w + 0.02, 0, -face + 0.02), (w - 0.02, foot + 0.002, face - 0.05)), CHARCOAL)
    tall = height > 1.2
    layout = d.pick(["one", "top", "bottom", "french", "side"], [2, 3, 2, 2, 2] if tall else [5, 2, 1, 0, 1])
    y0, y1 = foot, foot + height
    hinge = d.pick(["left", "right"])
    fronts = Fronts(
        shell,
        d.metal(),
        d.between(0.035, 0.07),
        0.003,
        d.pick(["slab", "slab", "slab", "raised"]),
        d.pick(["bar", "bow", "arch", "none"]),
        d.between(0.2, 0.5),
        WHITE,
        swing=d.pick([np.pi / 2, d.between(2.4, 3.1), d.between(2.95, 3.12)], [1, 2, 4]),
    )
    cut = y0 + height * {
        "top": d.between(0.6, 0.72),
        "bottom": d.between(0.3, 0.42),
        "french": d.between(0.3, 0.4),
    }.get(layout, 1.0)
    doors = {
        "one": [((-w, y0, w, y1), hinge)],
        "top": [((-w, y0, w, cut), hinge), ((-w, cut, w, y1), hinge)],
        "bottom": [((-w, y0, w, cut), hinge), ((-w, cut, w, y1), hinge)],
        "french": [((-w, cut, 0, y1), "left"), ((0, cut, w, y1), "right")],
        "side": [((-w, y0, 0.0, y1), "left"), ((0.0, y0, w, y1), "right")],
    }[layout]
    if layout == "french":
        count = d.count(1, 2)
        for k in range(count):
            rise = (cut - y0) / count
            add_drawer(
                d, frame, (-w, y0 + k * rise, w, y0 + (k + 1) * rise), face, depth - 0.15, fronts, "freezer_drawer"
            )
    if layout in ("top", "bottom", "french"):
        frame.add(slab((-w + board, cut - 0.02, -face + 0.02), (w - board, cut + 0.02, face - 0.001)), WHITE)
    if layout == "side":
        frame.add(slab((-0.018, y0 + board, -face + 0.02), (0.018, y1 - board, face - 0.001)), WHITE)
    has_racks = d.chance(0.35)
    for rect, side in doors:
        door = add_door(d, frame, rect, face, fronts, side, "door")
        _add_cold_shelves(d, frame, door if has_racks else None, rect, face, depth, board)
    return frame.builder


def _add_cold_shelves(
    d: Dice,
    frame: Part,
    door: Part | None,
    rect: tuple[float, float, float, float],
    face: float,
    depth: float,
    board: float,
) -> None:
    """Glass shelves in the body, and racks on the inner side of the door if one is given."""
    x0, y0, x1, y1 = rect
    inner = (
        max(x0 + 0.01, x0 + board if x0 < -0.01 else x0 + 0.016),
        min(x1 - 0.01, x1 - board if x1 > 0.01 else x1 - 0.016),
    )
    count = max(1, int((y1 - y0) / d.between(0.22, 0.35)))
    for k in range(1, count):
        y = y0 + k * (y1 - y0) / count
        frame.add(slab((inner[0], y, -face + 0.02), (inner[1], y + 0.008, face - 0.15)), looks.glass("#d8ecf0", 0.6))
    if door is None:
        return
    for k in range(count):
        y = y0 + 0.05 + k * (y1 - y0 - 0.1) / count
        a, b, z = inner[0] + 0.03, inner[1] - 0.03, face + 0.002
        door.add(slab((a, y, z - 0.09), (b, y + 0.006, z)), WHITE)
        door.add(slab((a, y + 0.006, z - 0.09), (b, y + 0.05, z - 0.084)), WHITE)


def dishwasher(d: Dice) -> Builder:
    """A door that folds down in front of racks, or a whole tub that slides out."""
    builder = Builder("dishwasher")
    width, height, depth = d.between(0.45, 0.65), d.between(0.7, 0.9), d.between(0.5, 0.62)
    shell, w, face, board = d.shell(), width / 2, depth / 2, 0.02
    foot, panel = d.between(0.04, 0.1), d.between(0.06, 0.12)
    frame = builder.part("frame")
    carcass(frame, (-w, foot, -face), (w, height, face), board, shell, STEEL)
    frame.add(slab((-w + 0.01, 0, -face + 0.02), (w - 0.01, foot + 0.002, face - 0.04)), CHARCOAL)
    if d.chance(0.5):
        frame.add(slab((-w - 0.01, height - 0.001, -face), (w + 0.01, height + 0.03, face + 0.03), 0.004), d.timber())
    fronts = _fronts(d, shell, 0.8 * width, d.between(0.02, 0.04), d.pick(["slab", "slab", "raised"]))
    on_door = d.chance(0.5)
    top = height if on_door else height - panel
    if not on_door:
        frame.add(slab((-w, top, face - 0.02), (w, height, face + fronts.thickness), 0.003), shell)
    if d.chance(0.15):
        carrier = add_drawer(d, frame, (-w, foot, w, top), face, depth - 0.05, fronts, "tub")
    else:
        carrier = add_door(d, frame, (-w, foot, w, top), face, fronts, "bottom", "door", False)
        for y in (0.35, 0.7):
            level = foot + y * (top - foot)
            frame.add(_rack(-w + board - 0.002, w - board + 0.002, level, -face + 0.03, face - 0.02), CHROME)
            frame.add(
                [
                    torus(0.09, 0.006, 20, 6).along("z").move(0, level + 0.08, z)
                    for z in np.linspace(-0.12, 0.12, 4) * depth
                ],
                WHITE,
            )
    y, z = height - panel / 2, face + fronts.thickness
    count = d.count(1, 5)
    if on_door:
        y = top - 0.022
    places = [(-w + 0.06 + 0.03 * k, y, z) for k in range(count)]
    add_buttons(builder, d, carrier if on_door else frame, places, 0.014, d.plastic())
    return builder
