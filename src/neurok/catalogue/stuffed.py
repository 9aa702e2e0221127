"""What is filled with stuffing: pillows of many shapes, and teddy bears that sit or stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neurok.catalogue import materials
from neurok.catalogue.appearance import draw_appearance
from neurok.catalogue.assemble import PAIR, ROOT, Maker
from neurok.catalogue.parts import Appearance, Assembly, Repeat
from neurok.catalogue.solids import Solid, block, ellipsoid, lathe, plate, towards, turned
from neurok.modelling.forms import Hollow, Relief
from neurok.modelling.sampler import Sampler

Size = tuple[float, float, float, float]


def pillow(d: Sampler) -> Assembly:
    """Square, oblong, round, a roll, a heart or a floor cushion; with piping, buttons or tassels."""
    filling = d.pick(["stuffing", "down", "polyurethane foam", "memory foam", "latex foam"], [4, 4, 2, 1, 1])
    finish = materials.padding(d, filling, hides=0.06, tile=0.25)
    kind = d.pick(["square", "oblong", "round", "roll", "heart", "floor"], [5, 5, 2, 2, 0.6, 1])
    m = Maker("pillow", {"floor": "square"}.get(kind, kind))
    if kind in ("square", "oblong"):
        _knife_edged(m, d, finish, kind)
    elif kind == "round":
        _round(m, d, finish)
    elif kind == "roll":
        _bolster(m, d, finish)
    elif kind == "heart":
        w = d.between(0.16, 0.24)
        right = [(0.85, -0.1), (1.0, 0.45), (0.55, 0.9)]
        corners = np.array([(0, -1.0), *right, (0.0, 0.5), *((-x, y) for x, y in right[::-1])]) * w
        solid = plate(corners, 0.2 * w, turn=turned(x=-80), rounding=0.85, bevel=0.95, puff=d.between(1.2, 2.0))
        m.add("body", solid, finish, ROOT, "heart-shaped")
    else:
        wide, tall = d.between(0.4, 0.65), d.between(0.07, 0.16)
        size, corner = (wide, tall, wide * d.between(0.85, 1.0)), d.between(0.12, 0.3)
        solid = block(size, corner=corner, edge=0.5, crown=d.between(0.1, 0.3), welt=d.pick([0.0, 0.006]))
        m.add("body", solid, finish, ROOT, "square", "thick", relief=d.pick(["smooth", "tufted", "quilted"]))
    return m.done()


def _knife_edged(m: Maker, d: Sampler, finish: Appearance, kind: str) -> None:
    """Thin at its edges, its corners a little drawn out."""
    wide = d.between(0.35, 0.5) if kind == "square" else d.between(0.5, 0.8)
    deep = wide if kind == "square" else wide * d.between(0.5, 0.72)
    tall = min(wide, deep) * d.between(0.28, 0.5)
    lies = d.chance(0.6)
    turn = turned() if lies else turned(x=d.between(62, 85))
    corner, crown, pinch = d.between(0.15, 0.35), d.between(2.5, 6.0), d.between(0.0, 0.06)
    welt = d.pick([0.0, 0.0, 0.006])
    solid = block((wide, tall, deep), turn=turn, corner=corner, edge=1.0, crown=crown, pinch=pinch, welt=welt)
    relief: Relief = d.pick(["smooth", "smooth", "smooth", "smooth", "quilted", "tufted"])
    body = m.add("body", solid, finish, ROOT, kind, relief=relief)
    if d.chance(0.12):
        tassel = draw_appearance(d, materials.BRIGHT + materials.NEUTRAL, "cotton, wool")
        knots = [(0.004, 0, 1), (0.011, 0.012, 0), (0.007, 0.022, 0), (0.013, 0.05, 0), (0.014, 0.065, 1)]
        corner_at = turn @ np.array([0.5 * wide, 0.0, 0.5 * deep]) * 0.94
        out = turn @ np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
        if lies:
            m.add("tassel", lathe(knots, corner_at, towards(np.zeros(3), out)), tassel, body, repeat=Repeat("xz"))


def _round(m: Maker, d: Sampler, finish: Appearance) -> None:
    wide = d.between(0.32, 0.5)
    size, crown = (wide, wide * d.between(0.16, 0.4), wide), d.between(0.2, 2.0)
    solid = block(size, corner=1.0, edge=1.0, crown=crown, welt=d.pick([0.0, 0.005]))
    body = m.add("body", solid, finish, ROOT, "round", relief=d.pick(["smooth", "smooth", "tufted"]))
    if d.chance(0.5):
        top = float(m.parts[body].copies[0].bounds[1, 1])
        button = draw_appearance(d, materials.BRIGHT + materials.NEUTRAL, "abs, wood")
        r = d.between(0.012, 0.022)
        solid = block((2 * r, 0.012, 2 * r), (0, top - 0.003, 0), corner=1.0, edge=0.8)
        m.add("button", solid, button, body, "round")


def _bolster(m: Maker, d: Sampler, finish: Appearance) -> None:
    """A roll."""
    r, long = d.between(0.07, 0.12), d.between(0.4, 0.9)
    low = [(0.25 * r, 0, 1), (0.85 * r, 0.01, 0), (r, 0.04, 0)]
    high = [(r, long - 0.04, 0), (0.85 * r, long - 0.01, 0), (0.25 * r, long, 1)]
    solid = lathe([*low, (r, long / 2, 0), *high], (-long / 2, r, 0), turned(z=-90))
    body = m.add("body", solid, finish, ROOT, "round", "long")
    if d.chance(0.4):
        end = draw_appearance(d, materials.BRIGHT + materials.NEUTRAL, "cotton, velvet")
        solid = block((0.035, 0.012, 0.035), (long / 2, r, 0), turned(z=-90), corner=1.0, edge=0.9)
        m.add("button", solid, end, body, "round", repeat=Repeat("x"))


FURS = "brown*2, light brown*2, tan*2, beige, cream, white, dark brown, grey, black"
PALE = "cream, beige, tan, white, pink, light brown, peach"


def teddy_bear(d: Sampler) -> Assembly:
    m = Maker("teddy bear")
    furs, feels = "fur*2, velvet, cotton, knit, wool", "none*2, soft*2, firm"
    fur = draw_appearance(d, FURS if d.chance(0.65) else materials.BRIGHT, "stuffing", covers=furs, feels=feels)
    pale = draw_appearance(d, PALE, "stuffing", covers="cotton, velvet, suede, felt") if d.chance(0.75) else fur
    size = d.between(0.8, 1.3)
    sits = d.chance(0.65)
    m.style.append("sitting" if sits else "standing")
    w, h, t = size * d.between(0.085, 0.115), size * d.between(0.115, 0.14), size * d.between(0.075, 0.095)
    fat = d.between(0.75, 0.98)
    grow = (1.0, 1.0, 0.98, 0.5 + 0.5 * fat, fat * 0.8)
    solid = block((2 * w, 2 * h, 2 * t), (0, h, 0), corner=1.0, edge=1.0, widths=grow, depths=grow)
    body = m.add("body", solid, fur, ROOT, "fat" if fat > 0.9 else "")
    r = size * d.between(0.085, 0.115)
    middle = 2 * h + 0.72 * r
    head = m.add("head", _ball((0, middle, 0.012), (1.1 * r, 0.95 * r, r)), fur, body, "round")
    _face(m, d, fur, pale, head, r, middle)
    _limbs(m, d, fur, pale, body, (w, h, t, size), sits)
    _dress(m, d, pale, body, (w, h, t, r))
    return m.done()


def _ball(at: npt.ArrayLike, radii: Sequence[float], turn: np.ndarray | None = None) -> Solid:
    return ellipsoid(2.0 * np.array(radii), at, turn)


def _face(m: Maker, d: Sampler, fur: Appearance, pale: Appearance, head: int, r: float, y: float) -> None:
    snout = r * d.between(0.38, 0.52)
    out = 0.012 + r * d.between(0.78, 0.92)
    low = y - 0.26 * r
    muzzle = m.add("muzzle", _ball((0, low, out), (snout, 0.78 * snout, 0.75 * snout)), pale, head, "round")
    dark = draw_appearance(d, "black*3, dark brown, brown", "abs, felt, cotton")
    at, radii = (0, low + 0.38 * snout, out + 0.58 * snout), (0.36 * snout, 0.25 * snout, 0.26 * snout)
    m.add("nose", _ball(at, radii), dark, muzzle, "oval")
    glass = draw_appearance(d, "black*2, dark brown, blue", "abs, glass, polycarbonate", feels="stiff")
    eye, x, up = r * d.between(0.09, 0.14), r * d.between(0.32, 0.46), r * d.between(0.1, 0.24)
    depth = 0.012 + r * np.sqrt(max(1.0 - (x / (1.1 * r)) ** 2 - (up / (0.95 * r)) ** 2, 0.1))
    m.add("eye", _ball((x, y + up, depth - 0.15 * eye), (eye, eye, 0.7 * eye)), glass, head, "round", repeat=PAIR)
    ear = r * d.between(0.34, 0.48)
    turn, x, y = turned(z=-d.between(25, 45)), 0.78 * r, y + 0.72 * r
    ears = m.add("ear", _ball((x, y, 0.0), (ear, ear, 0.45 * ear), turn), fur, head, "round", repeat=PAIR)
    if pale is not fur and d.chance(0.7):
        solid = _ball((x, y, 0.3 * ear), (0.66 * ear, 0.66 * ear, 0.25 * ear), turn)
        m.add("inner ear", solid, pale, ears, "round", repeat=PAIR)


def _limbs(m: Maker, d: Sampler, fur: Appearance, pale: Appearance, body: int, size: Size, sits: bool) -> None:
    w, h, t, scale = size
    long, thick = scale * d.between(0.085, 0.115), scale * d.between(0.032, 0.042)
    turn = turned(x=-d.between(5, 55), z=d.between(18, 75))
    shoulder, grow = np.array([0.72 * w, 1.6 * h, 0.01]), (1.15, 1.1, 0.95, 0.9, 0.9)
    box, at = (2 * thick, 2 * long, 2 * thick), shoulder - turn @ [0, 0.78 * long, 0]
    arm = block(box, at, turn, corner=1.0, edge=1.0, widths=grow, depths=grow)
    arms = m.add("arm", arm, fur, body, repeat=PAIR)
    if pale is not fur and d.chance(0.5):
        tip = shoulder - turn @ [0, 1.62 * long, 0] + turn @ [0, 0, 0.55 * thick]
        solid = _ball(tip, (0.85 * thick, 0.95 * thick, 0.7 * thick), turn)
        m.add("paw", solid, pale, arms, "round", repeat=PAIR)
    stout, long = scale * d.between(0.04, 0.052), scale * d.between(0.085, 0.115)
    turn = turned(x=-88, y=d.between(12, 38)) if sits else turned(z=d.between(3, 12))
    hip = np.array([0.55 * w, 0.42 * h if sits else 0.3 * h, 0.35 * t if sits else 0.0])
    grow = (1.2, 1.1, 1.0, 1.0, 0.95)
    box, at = (2 * stout, 2 * long, 2 * stout), hip - turn @ [0, 0.8 * long, 0]
    leg = block(box, at, turn, corner=1.0, edge=1.0, widths=grow, depths=grow)
    legs = m.add("leg", leg, fur, body, "sitting" if sits else "standing", role="limb", repeat=PAIR)
    if pale is not fur or d.chance(0.3):
        sole = hip - turn @ [0, 1.74 * long, 0]
        lift = turn @ np.array([0, 0, 0.0 if sits else 0.5 * stout])
        solid = block((2.1 * stout, 0.7 * stout, 2.4 * stout), sole + lift, turn, corner=1.0, edge=0.9)
        m.add("foot", solid, pale, legs, "oval", role="limb", repeat=PAIR)
    if d.chance(0.5):
        m.add("tail", _ball((0, 0.4 * h, -t), (0.28 * w,) * 3), fur, body, "round")


def _dress(m: Maker, d: Sampler, pale: Appearance, body: int, size: Size) -> None:
    """A belly patch, and a bow, a scarf or buttons."""
    w, h, t, r = size
    if d.chance(0.35):
        m.add("belly", _ball((0, 0.92 * h, 0.3 * t), (0.68 * w, 0.62 * h, 0.78 * t)), pale, body, "oval")
    kind = d.pick(["none", "bow", "scarf", "buttons"], [4, 3, 1.5, 1])
    if kind == "none":
        return
    colours, prints = [*materials.BRIGHT, "white", "black"], "plain*3, dots, checks, stripes"
    cloth = draw_appearance(d, colours, "cotton, silk, velvet, wool", patterns=prints, tile=0.05)
    neck, z = 2 * h - 0.02, 0.72 * t
    if kind == "bow":
        s = d.between(0.03, 0.045)
        knot = m.add("knot", _ball((0, neck, z + 0.012), (0.3 * s, 0.3 * s, 0.022)), cloth, body)
        loop = np.array([[-0.1, -0.25], [0.6, -0.62], [1.0, -0.6], [1.05, 0.0], [1.0, 0.6], [0.6, 0.62], [-0.1, 0.25]])
        solid = plate(loop * s, 0.35 * s, (0, neck, z + 0.02), rounding=0.6, bevel=0.8, puff=0.3)
        m.add("bow", solid, cloth, knot, "winged", repeat=PAIR)
    elif kind == "scarf":
        ring = lathe([(0.72 * r, neck - 0.018, 0.4), (0.8 * r, neck, 0), (0.72 * r, neck + 0.018, 0.4)])
        scarf = m.add("scarf", ring, cloth, body, "round", hollow=Hollow(0.2 * r, "through"))
        at = (0.03, neck - 0.055, 0.72 * r)
        m.add("tie", block((0.035, 0.1, 0.014), at, turned(x=-12, z=6), corner=0.15, edge=0.4), cloth, scarf)
    else:
        button = draw_appearance(d, [*materials.BRIGHT, "black", "white"], "abs, wood")
        solid = block((0.02, 0.012, 0.02), (0, 1.35 * h, 0.93 * t), turned(x=80), corner=1.0, edge=0.5)
        m.add("button", solid, button, body, "round", repeat=Repeat(count=2, step=(0, -0.32 * h, 0.03 * t)))
