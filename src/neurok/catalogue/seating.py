"""Upholstered seats: armchairs, love seats, sofas and corner sofas."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neurok.catalogue import materials
from neurok.catalogue.assemble import PAIR, Maker, add_legs
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import bar, block, plate, turned
from neurok.modelling.forms import Relief
from neurok.modelling.sampler import Sampler


@dataclass(frozen=True)
class Measures:
    """Of one seat [m]."""

    seats: int
    width: float
    """Between the arms."""

    depth: float
    foot: float
    base: float
    """Height of the base itself."""

    cushion: float
    arm: float
    """Width of one arm; 0 without."""

    back: float
    """Height of the back above the base."""

    thick: float
    """Of the back."""

    @property
    def full(self) -> float:
        return self.width + 2 * self.arm

    @property
    def deck(self) -> float:
        """Height of the base's upper side."""
        return self.foot + self.base


def sofa(d: Sampler) -> Assembly:
    return _upholstered(d, d.pick([3, 3, 3, 4]), "sofa")


def love_seat(d: Sampler) -> Assembly:
    return _upholstered(d, 2, "love seat")


def armchair(d: Sampler) -> Assembly:
    return _upholstered(d, 1, "chair")


def _upholstered(d: Sampler, seats: int, category: str) -> Assembly:
    m = Maker(category)
    s = _measures(d, seats)
    cloth = materials.padding(d, hides=0.3)
    other = cloth if d.chance(0.88) else materials.padding(d, hides=0.1)
    is_wooden = d.chance(0.12)
    base_look = materials.wood(d) if is_wooden else cloth
    size, at = (s.full - 0.02, s.base, s.depth - 0.02), (0, s.foot + s.base / 2, 0)
    base = m.add("base", block(size, at, corner=0.06, edge=d.between(0.05, 0.5)), base_look)
    _feet(m, d, base, s)
    _back(m, d, cloth, other, base, s)
    if s.arm:
        _arms(m, d, base_look if is_wooden else cloth, base, s)
    chaise = _chaise(m, d, cloth, other, base, s) if seats >= 3 and d.chance(0.42) else 0
    cushions = _seat_cushions(m, d, other, base, s, chaise)
    _pillows(m, d, cushions, s, cloth, chaise)
    return m.done()


def _measures(d: Sampler, seats: int) -> Measures:
    wide = d.between(0.5, 0.68) if seats > 1 else d.between(0.52, 0.7)
    arm = 0.0 if d.chance(0.06) else d.between(0.08, 0.26)
    foot = d.pick([d.between(0.02, 0.05), d.between(0.08, 0.2)], [0.4, 0.6])
    cushion = d.between(0.1, 0.18)
    base = max(d.between(0.4, 0.47) - foot - 0.8 * cushion, 0.06)
    depth, back, thick = d.between(0.72, 0.98), d.between(0.36, 0.56), d.between(0.12, 0.22)
    return Measures(seats, seats * wide, depth, foot, base, cushion, arm, back, thick)


def _feet(m: Maker, d: Sampler, base: int, s: Measures) -> None:
    finish = d.pick([materials.wood, materials.metal], [3, 2])(d)
    is_short = s.foot < 0.06
    kind = "square" if is_short else d.pick(["square", "round", "tapered", "turned"])
    thick = d.between(0.03, 0.06) if s.foot > 0.06 else d.between(0.05, 0.09)
    splay = d.between(0.0, 0.3) * s.foot if kind in ("tapered", "round") else 0.0
    x, z = s.full / 2 - d.between(0.05, 0.12), s.depth / 2 - d.between(0.05, 0.12)
    top, foot = (x, s.foot + 0.015, z), (x + splay, 0.0, z + splay)
    add_legs(m, d, kind, finish, base, top, foot, thick, "short" if is_short else "")


def _word(relief: str) -> str:
    return "" if relief == "smooth" else relief


def _back(m: Maker, d: Sampler, cloth: Appearance, other: Appearance, base: int, s: Measures) -> None:
    """A fixed back, perhaps tufted, or a thin one with loose cushions before it."""
    is_loose = d.chance(0.6)
    tilt = d.between(3, 14)
    relief: Relief = "smooth" if is_loose else d.pick(["smooth", "tufted", "tufted", "channelled", "quilted"])
    tall = s.back + 0.6 * s.base
    wide = s.full - 0.03 if d.chance(0.5) or not s.arm else s.width + 0.02
    thick = (0.75 if is_loose else 1.0) * s.thick
    turn = turned(x=90 - (0.4 * tilt if is_loose else tilt))
    middle = np.array([0, s.deck - 0.6 * s.base, -s.depth / 2 + 0.5 * thick + 0.02]) + turn @ [0, 0, -tall / 2]
    corner, edge, crown = d.between(0.06, 0.3), d.between(0.3, 0.9), 0.0 if is_loose else d.between(0.05, 0.5)
    solid = block((wide, thick, tall), middle, turn, corner=corner, edge=edge, crown=(0.0, crown))
    height = "high" if s.back > 0.5 else "low" if s.back < 0.4 else ""
    back = m.add("back", solid, cloth, base, _word(relief), height, relief=relief)
    if s.seats == 1 and d.chance(0.25):
        _wings(m, d, cloth, back, s, wide)
    if is_loose:
        _back_cushions(m, d, other, back, s, thick)


def _wings(m: Maker, d: Sampler, cloth: Appearance, back: int, s: Measures, wide: float) -> None:
    """Wings of a wing chair, beside the head."""
    long, tall = d.between(0.2, 0.3), 0.75 * s.back
    corners = [[0.0, 0.0], [0.6 * long, 0.0], [long, 0.35 * tall], [long, 0.75 * tall], [0.6 * long, tall], [0.0, tall]]
    at = (wide / 2 - 0.03, s.deck + s.back - tall - 0.02, -s.depth / 2 + 0.05)
    solid = plate(corners, 0.08, at, turned(y=-90), rounding=0.6, bevel=0.9, puff=0.2)
    m.add("wing", solid, cloth, back, "winged", repeat=PAIR)
    m.style.append("wingback")


def _back_cushions(m: Maker, d: Sampler, finish: Appearance, back: int, s: Measures, thick: float) -> None:
    count = s.seats if d.chance(0.8) else max(1, s.seats - 1)
    wide, tall, deep = s.width / count, s.back - s.cushion + d.between(-0.02, 0.06), d.between(0.12, 0.2)
    turn = turned(x=90 - d.between(6, 16))
    at = np.array([-(count - 1) * wide / 2, s.deck + s.cushion - 0.03, -s.depth / 2 + thick + 0.3 * deep])
    solid = block(
        (0.985 * wide, deep, tall),
        at + turn @ [0, 0, -tall / 2],
        turn,
        corner=d.between(0.15, 0.35),
        edge=d.between(0.7, 1.0),
        crown=(0.1, d.between(0.2, 0.8)),
        welt=d.pick([0.0, 0.005]),
        pinch=d.between(0.0, 0.04),
    )
    relief: Relief = d.pick(["smooth", "smooth", "smooth", "smooth", "tufted"])
    repeat = Repeat(count=count, step=(wide, 0, 0))
    m.add("back cushion", solid, finish, back, _word(relief), relief=relief, repeat=repeat)


def _seat_cushions(m: Maker, d: Sampler, finish: Appearance, base: int, s: Measures, chaise: int) -> int:
    """Cushions side by side, or one over the whole width; none where the chaise has its own."""
    count, wide, first = 1, s.width, 0.0
    if not d.chance(0.15) and s.seats > 1:
        wide = s.width / s.seats
        count = s.seats - 1 if chaise else s.seats
        first = -s.width / 2 + ((1 if chaise < 0 else 0) + 0.5) * wide
    deep = s.depth - 0.6 * s.thick
    at = (first, s.deck + 0.5 * s.cushion - 0.012, s.depth / 2 - deep / 2 + d.between(0.0, 0.03))
    corner, edge, crown = d.between(0.06, 0.2), d.between(0.5, 0.9), d.between(0.08, 0.35)
    size, welt = (0.992 * wide, s.cushion, deep), d.pick([0.0, 0.0, 0.005])
    solid = block(size, at, corner=corner, edge=(0.4, edge), crown=(0.0, crown), welt=welt)
    relief: Relief = d.pick(["smooth", "smooth", "smooth", "smooth", "smooth", "tufted"])
    repeat = Repeat(count=count, step=(wide, 0, 0))
    return m.add("seat cushion", solid, finish, base, _word(relief), relief=relief, repeat=repeat)


def _chaise(m: Maker, d: Sampler, cloth: Appearance, other: Appearance, base: int, s: Measures) -> int:
    """A long seat at one end; -1 at the left, 1 at the right."""
    side = d.sign()
    wide, long = s.width / s.seats, d.between(0.5, 0.85)
    x = side * (s.width / 2 - wide / 2)
    size, at = (wide + 0.5 * s.arm, s.base, long + 0.1), (x, s.foot + s.base / 2, s.depth / 2 + long / 2 - 0.05)
    chaise = m.add("chaise", block(size, at, corner=0.06, edge=0.15), cloth, base, "long")
    size = (0.99 * wide, s.cushion, s.depth - 0.6 * s.thick + long)
    at = (x, s.deck + s.cushion / 2 - 0.012, 0.3 * s.thick + long / 2)
    top = block(size, at, corner=0.1, edge=(0.4, 0.7), crown=(0.0, 0.12))
    m.add("chaise cushion", top, other, chaise, "long")
    if s.foot > 0.03:
        foot = (x + 0.35 * wide, 0, s.depth / 2 + long - 0.12)
        leg = bar(foot, (foot[0], s.foot + 0.01, foot[2]), 0.05)
        m.add("leg", leg, m.parts[base + 1].appearance, chaise, "square", repeat=Repeat("x", pivot=(x, 0)))
    m.style.append("corner")
    return side


def _arms(m: Maker, d: Sampler, finish: Appearance, base: int, s: Measures) -> None:
    style = d.pick(["boxy", "rounded", "rolled", "sloped", "thin"], [3, 3, 2, 1.5, 1])
    tall = s.base * 0.7 + s.cushion + d.between(0.08, 0.24)
    low, x, deep = s.deck - 0.7 * s.base, s.width / 2 + s.arm / 2, s.depth - d.between(0.0, 0.06)
    if style == "rolled":
        a, r = s.arm / 2, d.between(0.55, 0.75) * s.arm
        foot, neck = 0.7 * a, tall - 1.7 * r
        outer = [(foot, neck), (a + 0.3 * r, tall - r), (0.75 * a + 0.35 * r, tall - 0.1 * r)]
        inner = [(-0.75 * a - 0.2 * r, tall - 0.15 * r), (-a - 0.1 * r, tall - r), (-foot, neck)]
        corners = [(-foot, 0), (foot, 0), *outer, (0, tall), *inner]
        solid = plate(corners, deep, (x, low, 0), rounding=0.55, bevel=d.between(0.05, 0.2))
    elif style == "sloped":
        shares = [(-1 / 2, 0), (1 / 2, 0), (1 / 2, 0.62), (0.1, 0.72), (-0.3, 1.15), (-1 / 2, 1.2)]
        side = [(z * deep, y * tall) for z, y in shares]
        solid = plate(side, s.arm, (x, low, 0), turned(y=-90), rounding=0.35, bevel=0.35, puff=0.06)
    else:
        wide = 0.5 * s.arm if style == "thin" else s.arm
        corner, edge, crown = {"boxy": (0.07, 0.15, 0.0), "rounded": (0.25, 0.95, 0.1), "thin": (0.08, 0.4, 0.0)}[style]
        at = (s.width / 2 + wide / 2, low + tall / 2, 0)
        solid = block((wide, tall, deep), at, corner=corner, edge=(0.1, edge), crown=(0.0, crown))
    m.add("arm", solid, finish, base, style, role="arm", repeat=PAIR)


def _pillows(m: Maker, d: Sampler, cushions: int, s: Measures, cloth: Appearance, chaise: int) -> None:
    """Throw pillows that lean in the corners, not in that of a chaise."""
    count = d.pick([0, 1, 2, 2, 3], [5, 1, 2, 1, 0.5]) if s.seats > 1 else d.pick([0, 1], [3, 1])
    finish = (
        replace(cloth, material="stuffing") if d.chance(0.4) else materials.padding(d, "stuffing", hides=0.03, tile=0.2)
    )
    side = d.between(0.36, 0.46)
    one = -chaise or d.sign()
    places = [one, 0][:count] if chaise else [one, -one, 0][:count] if s.seats > 1 else [0][:count]
    for place in places:
        turn = turned(x=90 - d.between(18, 32), z=d.between(-12, 12), y=-12 * place)
        x = place * (s.width / 2 - 0.55 * side)
        at = (x, s.deck + s.cushion + 0.34 * side, -s.depth / 2 + s.thick + 0.24 * s.depth)
        solid = block((side, 0.34 * side, side), at, turn, corner=0.28, edge=1.0, crown=d.between(2.0, 4.0), pinch=0.03)
        m.add("throw pillow", solid, finish, cushions, "square")
        if d.chance(0.3):
            finish = materials.padding(d, "stuffing", hides=0.03, tile=0.2)
