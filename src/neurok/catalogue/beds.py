"""Beds with headboards, bedding and pillows; cribs with bars, panels or a sliding gate; cradles woven as baskets."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import FOUR, PAIR, ROOT, Maker, add_castors, add_legs, add_rockers
from neurok.catalogue.parts import Appearance, Assembly, Hinge, Mirror, Repeat
from neurok.catalogue.solids import arch, bar, block, plate, row, symmetric, tube, turned, turned_bar
from neurok.modelling.forms import Hollow, Relief
from neurok.modelling.sampler import Sampler

Size = tuple[float, float, float]


def bed(d: Sampler) -> Assembly:
    """The head is at -z, the foot towards +z."""
    wide, long = d.pick([0.8, 0.9, 1.0, 1.4, 1.6, 1.8, 2.0]) + d.between(-0.04, 0.04), d.between(1.9, 2.1)
    m = Maker("bed", "single" if wide < 1.2 else "double")
    low, rail = d.pick([d.between(0.02, 0.08), d.between(0.1, 0.25)]), d.between(0.1, 0.34)
    kind = d.pick(["wood", "metal", "padded"], [5, 2, 2.5])
    finish = (
        materials.wood(d, 0.5) if kind == "wood" else {"metal": materials.metal, "padded": materials.padding}[kind](d)
    )
    if kind == "metal":
        low, rail = max(low, 0.2), d.between(0.03, 0.06)
    edge = 0.6 if kind == "padded" else 0.08
    solid = block((wide + 0.06, rail, long + 0.06), (0, low + rail / 2, 0), corner=0.04, edge=edge)
    base = m.add("frame", solid, finish, ROOT, "padded" if kind == "padded" else "")
    frame = finish if kind != "padded" else materials.wood(d)
    thick = d.between(0.025, 0.04) if kind == "metal" else d.between(0.05, 0.09)
    shape = "round" if kind == "metal" else "square"
    if low > 0.1 and kind != "metal":
        shape = d.pick(["square", "round", "tapered", "turned"])
    x, z = wide / 2 - 0.02, long / 2 - 0.02
    add_legs(m, d, shape, frame, base, (x, low + 0.02, z), (x, 0.0, z), thick)
    deck, deep = low + rail, d.between(0.14, 0.28)
    tall = deck + deep + d.between(0.12, 0.6) - low
    if d.chance(0.8):
        _board(m, d, finish, kind, base, (wide + 0.08, tall), (low, -long / 2 - 0.03), "headboard")
        if d.chance(0.4):
            foot = (wide + 0.08, d.between(0.35, 0.7) * tall)
            _board(m, d, finish, kind, base, foot, (low, long / 2 + 0.03), "footboard")
    colours = "white*3, cream, light grey, beige, light blue"
    sheet = draw_appearance(d, colours, "mattress", covers="cotton, polyester, linen", feels=materials.PADDED)
    at, welt = (0, deck + deep / 2 - 0.03, 0), d.pick([0.0, 0.006])
    solid = block((wide, deep, long), at, corner=0.07, edge=0.35, crown=(0.0, 0.06), welt=welt)
    mattress = m.add("mattress", solid, sheet, base)
    size = (wide, long, deck + deep - 0.03)
    if d.chance(0.85):
        _blanket(m, d, mattress, size)
    _pillows(m, d, mattress, size)
    return m.done()


TOPS = {
    "square": ((1, 1.0),),
    "arched": ((1, 0.82), (0.55, 0.97), (0, 1.03)),
    "scalloped": ((1, 0.8), (0.78, 0.95), (0.45, 0.88), (0, 1.05)),
}
"""Upper edges of the right half of a headboard, in shares of half its width and its height."""

ENDS = {
    "square": ((1, 1.0),),
    "arched": ((1, 0.9), (0.5, 0.99)),
    "scalloped": ((1, 0.95), (0.6, 0.9), (0, 1.0)),
}
"""The same of the ends of a crib."""


def _board(
    m: Maker,
    d: Sampler,
    finish: Appearance,
    kind: str,
    base: int,
    size: tuple[float, float],
    at: tuple[float, float],
    name: str,
) -> None:
    """A headboard or footboard of the frame's kind."""
    wide, tall = size
    low, z = at
    if kind == "metal" or (kind == "wood" and d.chance(0.3)):
        _open_board(m, d, finish, base, size, at, name)
    elif kind == "padded" or (name == "headboard" and d.chance(0.25)):
        cover = finish if kind == "padded" else materials.padding(d)
        relief: Relief = d.pick(["smooth", "tufted", "tufted", "channelled", "quilted"])
        turn = turned(x=90 if name == "headboard" else -90)
        box, corner = (wide, d.between(0.08, 0.14), tall), d.between(0.05, 0.2)
        solid = block(box, (0, low + tall / 2, z), turn, corner=corner, edge=0.5, crown=(0.0, 0.2))
        m.add(name, solid, cover, base, "padded", relief if relief != "smooth" else "", relief=relief)
    else:
        style = d.pick(list(TOPS), [3, 2, 1.2])
        corners = symmetric([(1, 0.0), *TOPS[style]]) * [wide / 2, tall]
        rounding = 0.12 if style == "square" else 0.5
        solid = plate(corners, d.between(0.03, 0.06), (0, low, z), rounding=rounding, bevel=0.4)
        m.add(name, solid, finish, base, style, "panel")


def _open_board(
    m: Maker, d: Sampler, finish: Appearance, base: int, size: tuple[float, float], at: tuple[float, float], name: str
) -> None:
    """Posts, a top rail or a bent bow, and spindles."""
    wide, tall = size
    low, z = at[0], 0.985 * at[1]
    is_metal = finish.material in materials.METALS
    thick = d.between(0.022, 0.036) if is_metal else d.between(0.04, 0.06)
    corner = 1.0 if is_metal else 0.1
    w = wide / 2 - 0.035
    solid = bar((w, 0.0, z), (w, low + tall, z), thick, corner=1.0 if is_metal else d.pick([0.1, 1.0]))
    post = m.add("post", solid, finish, base, repeat=PAIR)
    rise = d.between(0.08, 0.2) if is_metal and d.chance(0.6) else 0.0
    y = low + tall - 0.04
    if rise:
        points = arch([(w, y - 0.02, z), (0.8 * w, y + 0.55 * rise, z), (0.5 * w, y + rise, z)])
        solid = tube(points, 0.45 * thick, bend=0.08)
    else:
        solid = bar((-w, y, z), (w, y, z), 0.8 * thick, None if is_metal else 1.6 * thick, corner=corner)
    rail = m.add(name, solid, finish, post, "arched" if rise else "slatted")
    bottom = low + d.between(0.05, 0.2)
    m.add("lower rail", bar((-w, bottom, z), (w, bottom, z), 0.7 * thick, corner=corner), finish, post)
    count = d.count(5, 12)
    x, step = row(count, (0.5 if rise else 0.96) * w)
    solid = bar((x, bottom, z), (x, y + rise, z), 0.4 * thick, corner=1.0 if is_metal else 0.15)
    m.add("spindle", solid, finish, rail, repeat=Repeat(count=count, step=(step, 0, 0)))


def _blanket(m: Maker, d: Sampler, mattress: int, size: Size) -> None:
    """A cover that hangs down over the sides and the foot, perhaps with a folded edge and a throw."""
    wide, long, top = size
    finish = draw_appearance(
        d,
        ["white"] * 6 + ["cream", "beige", "light grey", "light grey", "light blue", *materials.cloth_colours(d)],
        "stuffing, down, cotton",
        covers="cotton, wool, linen, polyester, velvet",
        feels="none, soft",
        patterns=materials.PRINTS,
        tile=d.between(0.25, 0.6),
    )
    share, hang = d.between(0.6, 0.9), d.between(0.14, 0.4)
    deep, over = share * long + 0.05, d.between(0.045, 0.08)
    at = (d.between(-0.15, 0.15) * over, top + 0.035 - hang / 2, long / 2 - deep / 2 + over)
    relief: Relief = d.pick(["smooth", "smooth", "quilted"])
    edge, crown = (0.0, d.between(0.3, 0.8)), (0.0, d.between(0.05, 0.2))
    box, widths, depths = (wide + 2 * over, hang, deep + over), (1.04, 1.02, 1, 1, 1), (1.02, 1.01, 1, 1, 1)
    solid = block(box, at, corner=0.09, edge=edge, crown=crown, widths=widths, depths=depths)
    word = "quilted" if relief == "quilted" else ""
    cover = m.add("blanket", solid, finish, mattress, word, hollow=Hollow(over - 0.012, "bottom"), relief=relief)
    if d.chance(0.5):
        fold = draw_appearance(d, ["white", "cream", finish.colour, finish.colour], "cotton", feels="none, soft")
        place = (0.0, top + 0.05, at[2] - deep / 2 - 0.02 + 0.05)
        solid = block((wide + 2.2 * over, 0.05, d.between(0.15, 0.3)), place, corner=0.08, edge=0.9)
        m.add("folded sheet", solid, fold, cover)
    if d.chance(0.2):
        throw = materials.padding(d, "stuffing", hides=0.0)
        cut = (wide + 2.6 * over, hang, d.between(0.35, 0.6))
        place = (d.between(-0.2, 0.2) * over, top + 0.06 - hang / 2, d.between(0.2, 0.36) * long)
        solid = block(cut, place, corner=0.08, edge=(0.0, 0.5))
        m.add("throw", solid, throw, cover, hollow=Hollow(0.02, "bottom"))


def _pillows(m: Maker, d: Sampler, mattress: int, size: Size) -> None:
    wide, long, top = size
    colours = ["white", "white", "white", "cream", "light grey", "beige", *materials.cloth_colours(d)]
    prints: dict[str, Any] = {"patterns": materials.PRINTS, "feels": materials.PADDED}
    finish = draw_appearance(d, colours, "down, stuffing, memory foam", covers="cotton, linen, silk", **prints)
    is_double = wide > 1.2
    across = min(d.between(0.55, 0.75), 0.46 * wide) if is_double else min(d.between(0.5, 0.7), 0.8 * wide)
    deep, tall = d.between(0.36, 0.46), d.between(0.13, 0.2)
    x, z = (wide / 4 if is_double else d.between(-0.1, 0.1) * wide), -long / 2 + 0.5 * deep + 0.04
    at, turn = (x, top + 0.32 * tall, z), turned(x=d.between(0, 20))
    solid = block((across, tall, deep), at, turn, corner=0.28, edge=1.0, crown=d.between(1.2, 3.0), pinch=0.02)
    m.add("pillow", solid, finish, mattress, "oblong", repeat=PAIR if is_double else Repeat())


def crib(d: Sampler) -> Assembly:
    """Ends at both sides, bars before and behind, a mattress between."""
    m = Maker("crib")
    long, deep, tall = d.between(0.95, 1.4), d.between(0.52, 0.75), d.between(0.8, 1.1)
    finish = materials.wood(d, painted=0.5) if d.chance(0.85) else materials.metal(d)
    floor = d.between(0.25, 0.45)
    board = m.add("base", block((long, 0.035, deep), (0, floor, 0), corner=0.04, edge=0.1), finish)
    thick = d.between(0.035, 0.055)
    x, z = long / 2 - 0.01, deep / 2 - 0.01
    if d.chance(0.4):
        ends = _panels(m, d, finish, board, (x, deep, tall))
        tall *= 0.87
    else:
        post = bar((x, 0, z), (x, tall, z), thick, corner=d.pick([0.1, 1.0]))
        ends = m.add("post", post, finish, board, role="support", repeat=FOUR)
        _bars(m, d, finish, ends, (z, tall, floor), x, across="z")
    if d.chance(0.4):
        _bars(m, d, finish, ends, (x, tall, floor), -z, across="x", once=True)
        _gate(m, d, finish, ends, (x, tall, floor), z)
        m.style.append("gated")
    else:
        _bars(m, d, finish, ends, (x, tall, floor), z, across="x")
    _bedding(m, d, board, (long, deep, floor))
    kind = d.pick(["none", "castors", "rockers"], [4, 2, 1.5])
    if kind == "castors":
        wheel = draw_appearance(d, "black, charcoal, white, grey", "rubber, nylon")
        add_castors(m, wheel, ends, (x, -0.015, z), (0.06, 0.025), 0.2)
    elif kind == "rockers":
        add_rockers(m, finish, ends, x, z, beyond=0.14, rise=0.07, r=0.022)
    return m.done()


def _panels(m: Maker, d: Sampler, finish: Appearance, board: int, size: Size) -> int:
    """Solid ends, cut straight, arched or wavy."""
    x, deep, tall = size
    style = d.pick(list(ENDS))
    corners = symmetric([(1, 0.0), *ENDS[style]]) * [deep / 2 + 0.02, tall]
    solid = plate(corners, d.between(0.022, 0.04), (x, 0, 0), turned(y=90), rounding=0.2, bevel=0.4)
    return m.add("end panel", solid, finish, board, style, "panel", repeat=PAIR)


def _bars(
    m: Maker, d: Sampler, finish: Appearance, ends: int, size: Size, at: float, across: str, once: bool = False
) -> None:
    """Two rails and the spindles between them, along x or z, mirrored unless ``once``."""
    half, tall, floor = size
    high, low = tall - 0.03, floor - 0.04

    def upright(u: float) -> tuple[Size, Size]:
        return ((u, low, at), (u, high, at)) if across == "x" else ((at, low, u), (at, high, u))

    mirror: Mirror = "" if once else ("z" if across == "x" else "x")
    (a, b), (c, e) = upright(-half), upright(half)
    top = m.add("top rail", bar(b, e, 0.045, 0.03), finish, ends, role="body", repeat=Repeat(mirror))
    m.add("lower rail", bar(a, c, 0.045, 0.03), finish, ends, role="body", repeat=Repeat(mirror))
    count = max(4, round(2 * half / d.between(0.075, 0.11)))
    u, step = row(count, half)
    is_turned = finish.material not in materials.METALS and d.chance(0.3)
    radius = d.between(0.012, 0.02)
    if is_turned:
        solid = turned_bar(*upright(u), 0.6 * radius)
    else:
        solid = bar(*upright(u), radius, corner=d.pick([0.15, 1.0]))
    move = (step, 0, 0) if across == "x" else (0, 0, step)
    m.add("spindle", solid, finish, top, "turned" if is_turned else "", role="body", repeat=Repeat(mirror, count, move))


def _gate(m: Maker, d: Sampler, finish: Appearance, ends: int, size: Size, z: float) -> None:
    """The front: it slides down between the posts."""
    half, tall, floor = size
    high, low = tall - 0.03, floor - 0.04
    drop = d.between(0.15, max(0.16, min(0.3, low - 0.03)))
    slide = Hinge("prismatic", (0, 1, 0), (0, high, z), -drop, 0.0)
    gate = m.add("gate", bar((-half, high, z), (half, high, z), 0.05, 0.032), finish, ends, "sliding", hinge=slide)
    count = max(4, round(2 * half / d.between(0.075, 0.11)))
    x, step = row(count, half)
    solid = bar((x, low, z), (x, high, z), d.between(0.012, 0.02), corner=d.pick([0.15, 1.0]))
    spindle = m.add("spindle", solid, finish, gate, role="body", repeat=Repeat(count=count, step=(step, 0, 0)))
    m.add("lower rail", bar((-half + 0.04, low, z), (half - 0.04, low, z), 0.045, 0.03), finish, spindle, role="body")


def _bedding(m: Maker, d: Sampler, board: int, size: Size) -> None:
    long, deep, floor = size
    tall = d.between(0.08, 0.14)
    colours = "white*2, cream, light blue, pink, mint, yellow, light grey"
    prints: dict[str, Any] = {"feels": materials.PADDED, "patterns": materials.PRINTS}
    sheet = draw_appearance(d, colours, "mattress", covers="cotton, polyester", **prints)
    box, at = (long - 0.05, tall, deep - 0.05), (0, floor + 0.01 + tall / 2, 0)
    mattress = m.add("mattress", block(box, at, corner=0.08, edge=0.5, crown=(0.0, 0.1)), sheet, board)
    top = floor + 0.01 + tall
    prints = {"feels": "none, soft", "patterns": materials.PRINTS}
    cloth = draw_appearance(d, materials.cloth_colours(d), "stuffing", covers="cotton, wool, knit", **prints)
    if d.chance(0.5):
        solid = block((0.2, 0.08, 0.3), (-long / 2 + 0.16, top + 0.015, 0), corner=0.3, edge=1.0, crown=2.0)
        m.add("pillow", solid, cloth, mattress, "oblong")
    if d.chance(0.5):
        wide = d.between(0.4, 0.65) * long
        box, place = (wide, 0.045, deep - 0.03), (long / 2 - wide / 2 - 0.02, top + 0.005, 0)
        m.add("blanket", block(box, place, corner=0.1, edge=0.8, crown=(0.0, 0.3)), cloth, mattress)


def cradle(d: Sampler) -> Assembly:
    """A basket or tub on legs or rockers, with a mattress in it."""
    m = Maker("crib")
    long, deep, tall = d.between(0.7, 0.9), d.between(0.4, 0.52), d.between(0.24, 0.34)
    lift = d.between(0.2, 0.45)
    colours = "beige, tan, light brown, white, cream, light grey"
    woven = draw_appearance(d, colours, "rattan, straw, cotton", patterns="weave", tile=0.12)
    grow, corner = np.linspace(d.between(0.82, 0.95), 1.0, 5), d.between(0.3, 0.9)
    at = (0, lift + tall / 2, 0)
    solid = block((long, tall, deep), at, corner=corner, edge=(0.3, 0.0), widths=grow, depths=grow)
    tub = m.add("basket", solid, woven, ROOT, "woven", hollow=Hollow(0.02, "top"))
    frame = materials.wood(d)
    x, z = 0.36 * long, 0.3 * deep
    kind = d.pick(["square", "round", "tapered"])
    legs = add_legs(m, d, kind, frame, tub, (x, lift + 0.02, z), (x + 0.06, 0.0, z + 0.06), 0.035, "splayed")
    if d.chance(0.4):
        add_rockers(m, frame, legs, x + 0.06, z, beyond=0.2, rise=0.06, r=0.02)
    colours = "white, cream, light blue, pink, mint, light grey"
    bedding = draw_appearance(d, colours, "mattress", covers="cotton", feels=materials.PADDED)
    size, at = (0.78 * long, 0.1, 0.76 * deep), (0, lift + 0.065, 0)
    m.add("mattress", block(size, at, corner=0.6, edge=0.6, crown=(0.0, 0.3)), bedding, tub)
    if d.chance(0.4):
        side, rim = 0.5 * deep - 0.012, lift + tall
        shares = [(-1, -0.04), (-0.7, 0.2), (0.7, 0.2), (1, -0.04)]
        hood = [(0, rim + up, share * side) for share, up in shares]
        m.add("handle", tube(hood, 0.012, bend=1.0), frame, tub, "curved")
    return m.done()
