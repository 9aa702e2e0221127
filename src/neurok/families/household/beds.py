"""Beds: frames, headboards of many kinds, mattresses, blankets and pillows."""

from __future__ import annotations

import numpy as np

from neurok.families.household import stuffs
from neurok.families.household.assemble import FOUR, PAIR, ROOT, Maker
from neurok.families.household.framing import bar, leg_solid, row
from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Assembly, Look, Repeat
from neurok.families.household.solids import block, plate, tube, turned
from neurok.modelling.dice import Dice
from neurok.modelling.forms import Hollow, Relief


def bed(d: Dice) -> Assembly:
    """The head is at -z, the foot towards +z."""
    m = Maker("bed")
    wide, long = d.pick([0.8, 0.9, 1.0, 1.4, 1.6, 1.8, 2.0]) + d.between(-0.04, 0.04), d.between(1.9, 2.1)
    m.style.append("single" if wide < 1.2 else "double")
    low, rail = d.pick([d.between(0.02, 0.08), d.between(0.1, 0.25)]), d.between(0.1, 0.34)
    kind = d.pick(["wood", "metal", "padded"], [5, 2, 2.5])
    look = stuffs.wood(d, 0.5) if kind == "wood" else {"metal": stuffs.metal, "padded": stuffs.padding}[kind](d)
    rail = d.between(0.03, 0.06) if kind == "metal" else rail
    low = max(low, 0.2) if kind == "metal" else low
    solid = block(
        (wide + 0.06, rail, long + 0.06), (0, low + rail / 2, 0), corner=0.04, edge=0.6 if kind == "padded" else 0.08
    )
    base = m.add("frame", solid, look, ROOT, "padded" if kind == "padded" else "")
    _legs(m, d, look if kind != "padded" else stuffs.wood(d), base, (wide, long, low), kind)
    deck, deep = low + rail, d.between(0.14, 0.28)
    head = deck + deep + d.between(0.12, 0.6)
    if d.chance(0.8):
        _board(m, d, look, kind, base, (wide + 0.08, head - low), (low, -long / 2 - 0.03), "headboard")
        if d.chance(0.4):
            _board(
                m,
                d,
                look,
                kind,
                base,
                (wide + 0.08, d.between(0.35, 0.7) * (head - low)),
                (low, long / 2 + 0.03),
                "footboard",
            )
    sheet = draw_look(
        d,
        "white*3, cream, light grey, beige, light blue",
        "mattress",
        covers="cotton, polyester, linen",
        feels=stuffs.PADDED,
    )
    solid = block(
        (wide, deep, long),
        (0, deck + deep / 2 - 0.03, 0),
        corner=0.07,
        edge=0.35,
        crown=(0.0, 0.06),
        welt=d.pick([0.0, 0.006]),
    )
    mattress = m.add("mattress", solid, sheet, base)
    top = deck + deep - 0.03
    if d.chance(0.85):
        _blanket(m, d, mattress, (wide, long, top))
    _pillows(m, d, mattress, (wide, long, top))
    return m.done()


def _legs(m: Maker, d: Dice, look: Look, base: int, size: tuple[float, float, float], kind: str) -> None:
    wide, long, low = size
    thick = d.between(0.025, 0.04) if kind == "metal" else d.between(0.05, 0.09)
    shape = (
        d.pick(["square", "round", "tapered", "turned"])
        if low > 0.1 and kind != "metal"
        else "round"
        if kind == "metal"
        else "square"
    )
    x, z = wide / 2 - 0.02, long / 2 - 0.02
    solid, words = leg_solid(d, shape, np.array([x, low + 0.02, z]), np.array([x, 0.0, z]), thick)
    m.add("leg", solid, look, base, *words, repeat=FOUR)


def _board(
    m: Maker, d: Dice, look: Look, kind: str, base: int, size: tuple[float, float], at: tuple[float, float], name: str
) -> None:
    """A headboard or footboard of the frame's kind."""
    wide, tall = size
    low, z = at
    if kind == "metal" or (kind == "wood" and d.chance(0.3)):
        _open_board(m, d, look, base, size, at, name)
        return
    if kind == "padded" or (name == "headboard" and d.chance(0.25)):
        cover = look if kind == "padded" else stuffs.padding(d)
        relief: Relief = d.pick(["smooth", "tufted", "tufted", "channelled", "quilted"])
        facing = 90 if name == "headboard" else -90
        solid = block(
            (wide, d.between(0.08, 0.14), tall),
            (0, low + tall / 2, z),
            turned(x=facing),
            corner=d.between(0.05, 0.2),
            edge=0.5,
            crown=(0.0, 0.2),
        )
        m.add(name, solid, cover, base, "padded", relief if relief != "smooth" else "", role="back", relief=relief)
        return
    w, style = wide / 2, d.pick(["square", "arched", "scalloped"], [3, 2, 1.2])
    tops = {
        "square": [[w, 1.0], [-w, 1.0]],
        "arched": [[w, 0.82], [0.55 * w, 0.97], [0, 1.03], [-0.55 * w, 0.97], [-w, 0.82]],
        "scalloped": [
            [w, 0.8],
            [0.78 * w, 0.95],
            [0.45 * w, 0.88],
            [0, 1.05],
            [-0.45 * w, 0.88],
            [-0.78 * w, 0.95],
            [-w, 0.8],
        ],
    }[style]
    corners = [[-w, 0.0], [w, 0.0], *([x, tall * y] for x, y in tops)]
    solid = plate(corners, d.between(0.03, 0.06), (0, low, z), rounding=0.12 if style == "square" else 0.5, bevel=0.4)
    m.add(name, solid, look, base, style, "panel", role="back")


def _open_board(
    m: Maker, d: Dice, look: Look, base: int, size: tuple[float, float], at: tuple[float, float], name: str
) -> None:
    """Posts, a top rail or a bent bow, and spindles."""
    wide, tall = size
    low, z = at
    is_metal = look.material in stuffs.METALS
    thick = d.between(0.022, 0.036) if is_metal else d.between(0.04, 0.06)
    w = wide / 2 - 0.035
    z = 0.985 * z
    solid = bar((w, 0.0, z), (w, low + tall, z), thick, corner=1.0 if is_metal else d.pick([0.1, 1.0]))
    post = m.add("post", solid, look, base, repeat=PAIR)
    arch = d.between(0.08, 0.2) if is_metal and d.chance(0.6) else 0.0
    y = low + tall - 0.04
    points = [
        (-w, y - 0.02, z),
        (-0.8 * w, y + 0.55 * arch, z),
        (-0.5 * w, y + arch, z),
        (0.5 * w, y + arch, z),
        (0.8 * w, y + 0.55 * arch, z),
        (w, y - 0.02, z),
    ]
    solid = (
        tube(points, 0.45 * thick, bend=0.08)
        if arch
        else bar(
            (-w, y, z), (w, y, z), 0.8 * thick, 1.6 * thick if not is_metal else None, corner=1.0 if is_metal else 0.1
        )
    )
    rail = m.add(name, solid, look, post, "arched" if arch else "slatted", role="back")
    bottom = low + d.between(0.05, 0.2)
    m.add("lower rail", bar((-w, bottom, z), (w, bottom, z), 0.7 * thick, corner=1.0 if is_metal else 0.1), look, post)
    count = d.count(5, 12)
    x, step = row(count, (0.5 if arch else 0.96) * w)
    solid = bar((x, bottom, z), (x, y + arch, z), 0.4 * thick, corner=1.0 if is_metal else 0.15)
    m.add("spindle", solid, look, rail, repeat=Repeat(count=count, step=(step, 0, 0)))


def _blanket(m: Maker, d: Dice, mattress: int, size: tuple[float, float, float]) -> None:
    """A cover that hangs down over the sides and the foot, perhaps with a folded edge and a throw."""
    wide, long, top = size
    look = draw_look(
        d,
        ["white"] * 6 + ["cream", "beige", "light grey", "light grey", "light blue", *stuffs.cloth_colours(d)],
        "stuffing, down, cotton",
        covers="cotton, wool, linen, polyester, velvet",
        feels="none, soft",
        patterns=stuffs.PRINTS,
        tile=d.between(0.25, 0.6),
    )
    share, hang = d.between(0.6, 0.9), d.between(0.14, 0.4)
    deep = share * long + 0.05
    over = d.between(0.045, 0.08)
    at = (d.between(-0.15, 0.15) * over, top + 0.035 - hang / 2, long / 2 - deep / 2 + over)
    relief: Relief = d.pick(["smooth", "smooth", "quilted"])
    shape = block(
        (wide + 2 * over, hang, deep + over),
        at,
        corner=0.09,
        edge=(0.0, d.between(0.3, 0.8)),
        crown=(0.0, d.between(0.05, 0.2)),
        widths=(1.04, 1.02, 1.0, 1.0, 1.0),
        depths=(1.02, 1.01, 1, 1, 1),
    )
    cover = m.add(
        "blanket",
        shape,
        look,
        mattress,
        "quilted" if relief == "quilted" else "",
        hollow=Hollow(over - 0.012, "bottom"),
        relief=relief,
    )
    if d.chance(0.5):
        fold = draw_look(d, ["white", "cream", look.colour, look.colour], "cotton", feels="none, soft")
        y, z = top + 0.05, at[2] - deep / 2 - 0.02
        solid = block((wide + 2.2 * over, 0.05, d.between(0.15, 0.3)), (0, y, z + 0.05), corner=0.08, edge=0.9)
        m.add("folded sheet", solid, fold, cover)
    if d.chance(0.2):
        throw = stuffs.padding(d, "stuffing", hides=0.0)
        solid = block(
            (wide + 2.6 * over, hang, d.between(0.35, 0.6)),
            (d.between(-0.2, 0.2) * over, top + 0.06 - hang / 2, d.between(0.2, 0.36) * long),
            corner=0.08,
            edge=(0.0, 0.5),
        )
        m.add("throw", solid, throw, cover, hollow=Hollow(0.02, "bottom"))


def _pillows(m: Maker, d: Dice, mattress: int, size: tuple[float, float, float]) -> None:
    wide, long, top = size
    look = draw_look(
        d,
        ["white", "white", "white", "cream", "light grey", "beige", *stuffs.cloth_colours(d)],
        "down, stuffing, memory foam",
        covers="cotton, linen, silk",
        feels=stuffs.PADDED,
        patterns=stuffs.PRINTS,
        tile=0.2,
    )
    is_double = wide > 1.2
    across = min(d.between(0.55, 0.75), 0.46 * wide) if is_double else min(d.between(0.5, 0.7), 0.8 * wide)
    deep, tall = d.between(0.36, 0.46), d.between(0.13, 0.2)
    x, z = (wide / 4 if is_double else d.between(-0.1, 0.1) * wide), -long / 2 + 0.5 * deep + 0.04
    solid = block(
        (across, tall, deep),
        (x, top + 0.32 * tall, z),
        turned(x=d.between(0, 20)),
        corner=0.28,
        edge=1.0,
        crown=d.between(1.2, 3.0),
        pinch=0.02,
    )
    m.add("pillow", solid, look, mattress, "oblong", repeat=PAIR if is_double else Repeat())
