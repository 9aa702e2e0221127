"""Shell chairs, swivel chairs, pedestals and tubular frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import PAIR, ROOT, Maker
from neurok.families.household.chairs import add_legs
from neurok.families.household.framing import bar
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Hinge, Look, Repeat
from neurok.families.household.solids import Solid, block, lathe, plate, sheet, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow


def shell_chair(d: Dice) -> Assembly:
    """Seat and back in one bent sheet on thin legs or a sled."""
    m = Maker("chair")
    look = d.pick([stuffs.plastic, stuffs.wood, stuffs.padding], [3, 1.5, 1])(d)
    wide, deep, h = d.between(0.4, 0.5), d.between(0.38, 0.45), d.between(0.42, 0.47)
    tall = d.between(0.34, 0.46)
    seat = m.add("shell", _shell(d, wide, deep, tall, h, thick=0.035 if look.cover else 0.014), look, ROOT, "curved")
    frame = d.pick([stuffs.metal, stuffs.wood], [3, 2])(d)
    if d.chance(0.3):
        _sled(m, d, frame, seat, (wide, deep, h))
    else:
        add_legs(m, d, frame, seat, (0.72 * wide, 0.7 * deep, h - 0.006))
    if look.cover == "" and d.chance(0.3):
        pad = stuffs.padding(d, "polyurethane foam")
        solid = block((0.82 * wide, 0.04, 0.8 * deep), (0, h + 0.022, 0.01), corner=0.4, edge=0.8, crown=0.2)
        m.add("cushion", solid, pad, seat)
    return m.done()


def _shell(d: Dice, wide: float, deep: float, tall: float, h: float, thick: float) -> Solid:
    """A sheet from the front edge back and up: flat, then a tight bend, then nearly straight."""
    long = deep + tall
    back = d.between(70, 84)
    bends = np.zeros(9)
    bends[3:6] = np.radians(back) * np.array([0.3, 0.42, 0.28])
    top = d.between(0.55, 0.95)
    widths = 0.5 * wide * np.array([0.9, 1.0, 1.0, 0.98, 0.92, 0.97, 1.0, 0.95, top])
    # The sheet runs along its y and bends towards its z: turned so that it starts at the front and rises at the back.
    turn = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    return sheet(widths, long, thick, (0, h, deep / 2), turn, bends=bends, cup=d.between(0.0, 0.1))


def _sled(m: Maker, d: Dice, look: Look, seat: int, size: tuple[float, float, float]) -> None:
    """Bent tubes that stand on the ground along their whole length."""
    w, deep, h = size
    x = 0.42 * w
    points = [
        (x - 0.06, h - 0.005, 0.3 * deep),
        (x, h - 0.03, 0.42 * deep),
        (x + 0.03, 0.012, 0.5 * deep),
        (x + 0.03, 0.012, -0.5 * deep),
        (x, h - 0.03, -0.3 * deep),
        (x - 0.06, h - 0.005, -0.22 * deep),
    ]
    m.add("leg", tube(points, d.between(0.007, 0.011), bend=0.05), look, seat, "bent", repeat=PAIR)
    runner = len(m.parts) - 1
    m.add("stretcher", bar((-x, h - 0.03, 0.42 * deep), (x, h - 0.03, 0.42 * deep), 0.014, corner=1.0), look, runner)


def swivel_chair(d: Dice) -> Assembly:
    """A star base with castors; everything above the column turns."""
    m = Maker("chair")
    frame = draw_look(
        d, "black*2, silver, charcoal, white, light grey", "nylon, steel, aluminium, abs", feels="none, stiff"
    )
    h, arms, reach = d.between(0.43, 0.55), d.pick([4, 5, 5, 5]), d.between(0.27, 0.33)
    wheels = d.chance(0.75)
    low = 0.07 if wheels else 0.02
    solid = lathe(
        [
            (0.03, low, 1),
            (0.045, low + 0.03, 0.3),
            (0.03, low + 0.08, 0.5),
            (0.026, 0.6 * h, 1),
            (0.018, 0.6 * h, 1),
            (0.018, h - 0.012, 1),
        ]
    )
    column = m.add("column", solid, frame, ROOT, "round")
    arm = bar((0, low + 0.035, 0.015), (0, low, reach), 0.045, 0.03, corner=0.3, taper=1.2)
    m.add("star base", arm, frame, column, repeat=Repeat(count=arms, turn=2 * np.pi / arms))
    if wheels:
        tyre = draw_look(d, "black, charcoal", "nylon, rubber")
        solid = block((0.066, 0.032, 0.066), (0, 0.033, reach - 0.015), turned(z=90), corner=1.0, edge=0.3)
        m.add("castor", solid, tyre, len(m.parts) - 1, "round", repeat=Repeat(count=arms, turn=2 * np.pi / arms))
    w, deep = d.between(0.44, 0.54), d.between(0.42, 0.5)
    cloth = stuffs.padding(d, hides=0.35)
    spin = Hinge("continuous", (0, 1, 0), (0, h, 0))
    solid = block(
        (w, d.between(0.06, 0.1), deep), (0, h, 0), corner=d.between(0.2, 0.5), edge=(0.3, 0.9), crown=(0.0, 0.2)
    )
    seat = m.add("seat", solid, cloth, column, "padded", "swivelling", hinge=spin)
    _office_back(m, d, frame, cloth, seat, (w, deep, h))
    if d.chance(0.65):
        x, up = w / 2 + 0.02, d.between(0.17, 0.24)
        points = [(x - 0.12, h - 0.02, 0.0), (x, h - 0.015, 0.0), (x + 0.01, h + 0.5 * up, 0.0), (x, h + up, 0.02)]
        posts = m.add("arm support", tube(points, 0.014, flat=0.7, bend=0.03), frame, seat, repeat=PAIR)
        solid = block((0.07, 0.028, 0.26), (x, h + up + 0.005, 0.0), corner=0.5, edge=0.7)
        m.add("armrest", solid, frame, posts, repeat=PAIR)
    m.style.append("office")
    return m.done()


def _office_back(m: Maker, d: Dice, frame: Look, cloth: Look, seat: int, size: tuple[float, float, float]) -> None:
    w, deep, h = size
    tall, gap = d.between(0.4, 0.7), d.between(0.05, 0.16)
    tilt = d.between(4, 12)
    points = [
        (0, h - 0.03, -0.3 * deep),
        (0, h - 0.03, -deep / 2 - 0.03),
        (0, h + gap, -deep / 2 - 0.06),
        (0, h + gap + 0.5 * tall, -deep / 2 - 0.05 - 0.3 * tall * np.sin(np.radians(tilt))),
    ]
    spine = m.add("post", tube(points, 0.024, flat=0.5, bend=0.06), frame, seat, "bent")
    turn = turned(x=-tilt)
    half = 0.5 * w * d.between(0.85, 1.0)
    top = d.between(0.7, 1.0)
    corners = [
        [-0.85 * half, -tall / 2],
        [0.85 * half, -tall / 2],
        [half, 0],
        [top * half, tall / 2],
        [0, tall / 2 + 0.02],
        [-top * half, tall / 2],
        [-half, 0],
    ]
    solid = plate(
        corners,
        0.05,
        (0, h + gap + tall / 2, -deep / 2 - 0.02 - 0.5 * tall * np.sin(np.radians(tilt))),
        turn,
        rounding=0.7,
        bevel=0.9,
        puff=0.3,
        bow=d.between(0.02, 0.06),
        curl=-d.between(0.0, 0.03),
    )
    back = m.add("back", solid, cloth, spine, "padded", "high" if tall > 0.58 else "low")
    if d.chance(0.2):
        solid = block(
            (0.26, 0.06, 0.12),
            (0, h + gap + tall + 0.03, -deep / 2 - 0.02 - tall * np.sin(np.radians(tilt))),
            turned(x=90 - tilt),
            corner=0.5,
            edge=0.9,
        )
        m.add("headrest", solid, cloth, back, "padded")


def pedestal_chair(d: Dice) -> Assembly:
    """A tub or bucket on one turned foot."""
    m = Maker("chair")
    h, r = d.between(0.42, 0.5), d.between(0.2, 0.28)
    look = d.pick([stuffs.metal, stuffs.plastic], [2, 1])(d)
    knots = [
        (r, 0, 1),
        (r, 0.012, 1),
        (0.3 * r, 0.035, 0),
        (0.03, 0.12, 0),
        (0.028, 0.6 * h, 0),
        (0.06, h - 0.02, 0),
        (0.07, h, 1),
    ]
    foot = m.add("pedestal", lathe(knots), look, ROOT, "round", "trumpet")
    shell = d.pick([stuffs.plastic, stuffs.padding], [1, 1])(d)
    wide, tall = d.between(0.48, 0.62), d.between(0.3, 0.45)
    if d.chance(0.2):
        grow = np.array([0.62, 0.85, 0.95, 1.0, 1.0])
        turn = turned(x=-d.between(6, 14))
        solid = block(
            (wide, tall, 0.92 * wide),
            (0, h + tall / 2 - 0.03, -0.02),
            turn,
            corner=0.9,
            edge=(0.6, 0.0),
            widths=grow,
            depths=grow,
        )
        tub = m.add(
            "shell", solid, shell, foot, "round", hollow=Hollow(opening="top", wall=0.03 if shell.cover else 0.014)
        )
    else:
        tub = m.add(
            "shell", _shell(d, wide, 0.45, tall + 0.05, h + 0.01, 0.04 if shell.cover else 0.016), shell, foot, "curved"
        )
    pad = stuffs.padding(d, "polyurethane foam")
    solid = block((0.66 * wide, 0.07, 0.6 * wide), (0, h + 0.03, 0.0), corner=0.9, edge=0.9, crown=0.2)
    m.add("cushion", solid, pad, tub, "round")
    return m.done()


def tubular_chair(d: Dice) -> Assembly:
    """A cantilever of bent tube with two pads, or a folding frame."""
    m = Maker("chair")
    w, deep, h = d.between(0.44, 0.52), d.between(0.42, 0.5), d.between(0.42, 0.47)
    frame = draw_look(d, "silver*2, black, white, charcoal, gold", "steel*2, aluminium")
    pads: list[Callable[[Dice], Look]] = [stuffs.padding, stuffs.wood, stuffs.plastic]
    pad = d.pick(pads, [4, 1, 1])(d)
    thick = 0.05 if pad.cover else 0.02
    solid = block((w, thick, deep), (0, h, 0), corner=0.12, edge=0.6, crown=(0.0, 0.15 if pad.cover else 0.0))
    seat = m.add("seat", solid, pad, ROOT, "square")
    x, r = w / 2 - 0.005, d.between(0.009, 0.014)
    lean = d.between(0.06, 0.12)
    points = [
        (x, h, -deep / 2 + 0.03),
        (x, h, deep / 2 - 0.02),
        (x, 0.015, deep / 2 - 0.01),
        (x, 0.015, -deep / 2 - 0.02),
    ]
    loop = m.add("leg", tube(points, r, bend=0.07), frame, seat, "bent", repeat=PAIR)
    m.add("stretcher", bar((-x, 0.015, -deep / 2), (x, 0.015, -deep / 2), 2 * r, corner=1.0), frame, loop)
    post = bar((x, h - 0.01, -deep / 2 + 0.03), (x, h + 0.42, -deep / 2 - lean), 2 * r, corner=1.0)
    posts = m.add("post", post, frame, loop, repeat=PAIR)
    tall = d.between(0.16, 0.34)
    tilt = np.degrees(np.arctan2(lean + 0.03, 0.42))
    middle = (0, h + 0.42 - tall / 2, -deep / 2 - lean + np.tan(np.radians(tilt)) * tall / 2)
    m.add(
        "back", block((w + 0.01, thick, tall), middle, turned(x=90 - tilt), corner=0.15, edge=0.6), pad, posts, "square"
    )
    if d.chance(0.5):
        up = d.between(0.18, 0.22)
        arm = [
            (x + 0.02, h, deep / 2 - 0.06),
            (x + 0.025, h + up, deep / 2 - 0.05),
            (x + 0.02, h + up, -0.3 * deep),
            (x, h + up, -deep / 2 - 0.02),
        ]
        m.add("armrest", tube(arm, r, bend=0.05), frame, seat, "bent", repeat=PAIR)
    return m.done()
