"""Things on wheels: carts, wheelbarrows and prams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurok.core import Surface
from neurok.modelling import profiles, surfaces
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape, box, cylinder, loft, slab
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.articulated.hardware import add_castor
from neurok_lab.worlds.articulated.kit import (
    CHARCOAL,
    RUBBER,
    STEEL,
    X,
    add_wheel,
    bow,
    corners,
    cushion,
    level,
    pair,
    pipe,
    rod,
)


def cart(d: Sampler) -> Builder:
    """A platform trolley, a serving cart or a shopping trolley on castors."""
    builder = Builder("cart")
    kind = d.pick(["platform", "tiers", "basket"])
    width, length = d.between(0.4, 0.6), d.between(0.6, 0.95)
    radius = d.between(0.04, 0.07)
    deck = 2.6 * radius
    metal = d.metal()
    body = builder.part("base_body")
    w, z = width / 2, length / 2
    if kind == "basket":
        _add_basket(body, d, width, length, deck, metal)
    else:
        body.add(slab((-w, deck, -z), (w, deck + 0.03, z), 0.006), d.wood() if d.chance(0.4) else d.paint())
    if kind == "platform":
        rise = d.between(0.6, 0.85)
        path = [(w - 0.03, deck + 0.01, -z + 0.02), (w - 0.03, deck + rise, -z - 0.04)]
        carrier = body.hinge("handle", X, (0, deck + 0.02, -z + 0.02), 0.0, 1.4) if d.chance(0.4) else body
        carrier.add(bow(path, 0.014, 0.08, 12, 6), metal)
        carrier.add(rod("x", 0.01, width - 0.06, (0, deck + 0.45 * rise, -z - 0.007), 10), metal)
    elif kind == "tiers":
        tiers, rise = d.count(2, 3), d.between(0.24, 0.32)
        shelf = d.paint()
        top = deck + (tiers - 1) * rise + 0.08
        for k in range(1, tiers):
            body.add(slab((-w, deck + k * rise, -z), (w, deck + k * rise + 0.02, z), 0.005), shelf)
        body.add(corners(cylinder(0.012, top - deck, 12).move(w - 0.02, (top + deck) / 2, z - 0.02)), metal)
        for k in range(tiers):
            y = deck + k * rise + 0.06
            body.add(pair(rod("z", 0.006, length - 0.04, (w - 0.02, y, 0), 8)), metal)
        path = [(w - 0.02, top, -z + 0.02), (w - 0.02, top + 0.06, -z - 0.06)]
        body.add(bow(path, 0.012, 0.05), metal)
    fixed_front, inset = d.chance(0.5), w if kind == "basket" else w - 0.06
    for x in (-1, 1):
        for s in (-1, 1):
            steers = not (fixed_front and s < 0)
            add_castor(
                builder, d, body, x * inset, s * (z - 0.08), deck + 0.004, radius, steers, 0.0 if not steers else None
            )
    return builder


def _add_basket(body: Link, d: Sampler, width: float, length: float, deck: float, metal: Surface) -> None:
    """A wire basket, wider at the top, above a frame."""
    low, rise = deck + d.between(0.2, 0.3), d.between(0.3, 0.4)
    x, z, y = width / 2, length / 2, deck + 0.01
    frame = bow([(x, y, z), (x, y, -z), (x, low + rise, -z - 0.05)], 0.012, 0.06)
    body.add(frame, metal)
    body.add([rod("x", 0.01, width, (0, deck + 0.01, z * length), 10) for z in (-0.45, 0.0, 0.45)], metal)
    wire = 0.0035
    rows = 5
    loops = []
    for k in range(rows):
        s = k / (rows - 1)
        outline = profiles.rectangle(width * (0.8 + 0.16 * s), length * (0.8 + 0.2 * s), 0.05, 3)
        loop = np.column_stack([outline[:, 0], np.full(len(outline), low + s * rise), outline[:, 1] + 0.03 * s])
        loops.append(loop)
        body.add(tube(loop, wire if k < rows - 1 else 2 * wire, 6, closed=True), metal)
    corner = len(loops[0]) // 4
    for k in range(0, 4 * corner, 1):
        body.add(tube([loops[0][k], loops[-1][k]], wire, 5), metal)
    for t in np.linspace(0.1, 0.9, 5):
        for a, b in (
            (corner - 1, corner),
            (3 * corner - 1, 3 * corner),
            (2 * corner - 1, 2 * corner),
            (4 * corner - 1, 0),
        ):
            line = tube([loops[0][a] * (1 - t) + loops[0][b] * t, loops[-1][a] * (1 - t) + loops[-1][b] * t], wire, 5)
            body.add(line, metal)
    plate = slab((-0.41 * width, low - 0.006, -0.41 * length), (0.41 * width, low + 0.004, 0.41 * length), 0.002)
    body.add(plate, metal)
    body.add(rod("x", 0.018, width, (0, low + rise, -length / 2 - 0.05), 14), d.plastic())
    body.add(
        pair(tube([(width / 2, deck + 0.3 * (low - deck), -length / 2), (0.38 * width, low, -0.3 * length)], 0.009, 8)),
        metal,
    )
    body.add(pair(tube([(width / 2, deck + 0.01, 0.3 * length), (0.38 * width, low, 0.25 * length)], 0.009, 8)), metal)


def wheelbarrow(d: Sampler) -> Builder:
    """A tray on one wheel in front and two legs behind."""
    radius = d.between(0.14, 0.19)
    width, length = d.between(0.5, 0.65), d.between(0.6, 0.8)
    metal, tray = d.metal(), d.paint()
    body = Builder("wheelbarrow").part("base_body")
    low, rise = radius * d.between(1.5, 1.9), d.between(0.18, 0.26)
    rims = [(0.6, low, 0.0, 0.0), (1.0, low + rise, 0.03, 0.0)]
    rims += [(1.0, low + rise, 0.03, 0.02), (0.6, low + 0.01, 0.0, 0.02)]
    rings = [level(profiles.rectangle(s * width - t, s * length - t, 0.06, 3) + (0, z), y) for s, y, z, t in rims]
    body.add(loft(rings), tray)
    hub = np.array([0.0, radius, 0.6 * length])
    for x in (-1, 1):
        bends = [(0.055, radius, 0.6), (0.16, low - 0.014, 0.2), (0.22, low - 0.016, -0.3), (0.3, low + 0.12, -1.0)]
        path = profiles.smooth_curve(np.array(bends) * (x, 1, length), 14)
        body.add(tube(path, 0.015, 10), metal)
        post = cylinder(0.019, 0.12, 12).along("z").turn("x", -16).move(x * 0.292, low + 0.112, -0.95 * length)
        body.add(post, RUBBER)
        bends = [(0.21, low - 0.01, -0.1), (0.24, 0.012, -0.35), (0.22, low - 0.01, -0.42)]
        leg = profiles.rounded_path(np.array(bends) * (x, 1, length), 0.03, 4)
        body.add(tube(leg, 0.012, 10), metal)
    body.add(rod("x", 0.012, 0.48, (0, 0.3 * low, -0.3 * length), 10), metal)
    add_wheel(d, body, hub, radius, 0.075, metal, d.chance(0.4), [cylinder(0.012, 0.13, 10).along("x")])
    return body.builder


def pram(d: Sampler) -> Builder:
    """A buggy with a seat, or a carriage with a tub; hood of one or two bows, wheels, perhaps swivelling in front."""
    return _buggy(d) if d.chance(0.6) else _carriage(d)


def _add_wheels(
    d: Sampler, body: Link, place: tuple[float, float], half: float, width: float, rims: tuple[Surface, bool]
) -> None:
    """An axle across the frame at (radius, z) with a wheel outside at each end; ``rims``: look, whether spoked."""
    radius, z = place
    body.add(rod("x", 0.007, 2 * half + 0.4 * width, (0, radius, z), 10), STEEL)
    for x in (-1, 1):
        add_wheel(d, body, (x * half, radius, z), radius, width, *rims)


@dataclass(frozen=True)
class _Hood:
    """Shells of revolution about an axis along x, one inside the other; angles [degrees] from +z upwards."""

    pivot: tuple[float, float]
    """(y, z) of the axis [m]."""

    half: float
    radius: float
    start: float
    """Angle of the edge that faces the way it folds."""

    away: int
    """+1 when it folds towards larger angles."""

    spans: tuple[float, ...]
    """How much each shell covers."""

    fold: float
    """How far the whole turns down [rad]."""

    def shell(self, level: int) -> tuple[Shape, Shape]:
        """The cloth of one bow, and the bow along its free edge."""
        wall, step = 0.004, 0.009 * level
        rows = [self._rim(step), self._rim(step + wall)[::-1]]
        first = self.start - self.away * sum(self.spans[:level]) + (3 * self.away if level else 0)
        last = self.start - self.away * sum(self.spans[: level + 1])
        cloth = loft([self._at(np.concatenate(rows), a) for a in np.linspace(first, last, 7)])
        return cloth, tube(self._at(self._rim(step + 0.5 * wall), last), 0.0045, 8)

    def _rim(self, step: float) -> np.ndarray:
        half, radius = self.half - step, self.radius - step
        corners = [(-half, 0.02), (-half, radius), (half, radius), (half, 0.02)]
        return profiles.rounded_path(corners, 0.55 * half, 6)

    def _at(self, rim: np.ndarray, angle: float) -> np.ndarray:
        a = np.radians(angle)
        y, z = self.pivot
        return np.column_stack([rim[:, 0], y + rim[:, 1] * np.sin(a), z + rim[:, 1] * np.cos(a)])


def _add_hood(d: Sampler, parent: Link, hood: _Hood, fabric: Surface) -> None:
    """Bows with cloth that turn about one pin; the inner one slides below the outer one."""
    metal, pivot = d.metal(), (0.0, *hood.pivot)
    carrier, second = parent, fabric if d.chance(0.6) else d.paint()
    for k, span in enumerate(hood.spans):
        turn = hood.fold if k == 0 else np.radians(0.85 * span)
        limits = sorted((0.0, -hood.away * float(turn)))
        carrier = carrier.hinge("hood", X, pivot, *limits)
        cloth, edge = hood.shell(k)
        carrier.add(cloth, second if k else fabric).add(edge, metal)
        x = hood.half - 0.009 * k - 0.002
        disc = cylinder(0.032 - 0.004 * k, 0.004, 20).along("x")
        carrier.add([disc.move(s * x, *hood.pivot) for s in (-1, 1)], CHARCOAL)


def _buggy(d: Sampler) -> Builder:
    """A seat between two side frames; footrest, hood, and perhaps handlebar, back and bumper move."""
    builder = Builder("pram")
    metal, fabric = d.metal(), surfaces.paint(d.pick(list(surfaces.PAINTS)), 0.9)
    w, r = d.between(0.21, 0.26), d.between(0.01, 0.013)
    seat = d.between(0.42, 0.48)
    swivel = d.chance(0.65)
    front_radius, rear_radius = d.between(0.055, 0.075), d.between(0.08, 0.13)
    end = np.array([2.6 * front_radius + 0.004 if swivel else front_radius, d.between(0.32, 0.4)])
    upper = np.array([d.between(0.84, 0.92), -d.between(0.36, 0.42)])

    def on_line(y: float) -> np.ndarray:
        return upper + (end - upper) * (upper[0] - y) / (upper[0] - end[0])

    body = builder.part("frame")
    middle, rear = on_line(seat + 0.1), np.array([rear_radius, -d.between(0.27, 0.34)])
    for x in (-w, w):
        body.add([tube([(x, *upper), (x, *end)], r, 12), tube([(x, *middle), (x, *rear)], 0.9 * r, 10)], metal)
    behind = middle + (rear - middle) * (middle[0] - seat + 0.015) / (middle[0] - rear[0])
    low, rims = rear + (end - rear) * 0.93 + (0.02, 0), (d.plastic(), d.chance(0.4))
    for y, z in (on_line(seat - 0.016), behind, on_line(end[0] + 0.05)):
        body.add(rod("x", 0.8 * r, 2 * w, (0, y, z), 10), metal)
    _add_wheels(d, body, (rear_radius, float(rear[1])), w + 0.035, d.between(0.028, 0.045), rims)
    if swivel:
        body.add([cylinder(1.5 * r, 0.05, 12).move(x, end[0] + 0.022, end[1]) for x in (-w, w)], metal)
        for x in (-w, w):
            add_castor(builder, d, body, x, float(end[1]), float(end[0]), front_radius, yaw=d.between(-20, 20))
    else:
        _add_wheels(d, body, (front_radius, float(end[1])), w + 0.03, 0.03, rims)
    if d.chance(0.6):
        span, tilt = low - rear, np.degrees(np.arctan2((low - rear)[0], (low - rear)[1]))
        sheet = box((2 * w - 0.02, 0.005, float(np.hypot(*span)))).turn("x", -tilt)
        body.add(sheet.move(0, *((low + rear) / 2)), fabric)
        body.add(rod("x", 0.007, 2 * w, (0, *low), 8), metal)
    pivot = on_line(seat + d.between(0.22, 0.26))
    _add_handlebar(d, body, (w, float(upper[0]), float(upper[1])), (0.12, -0.11), r, metal)
    two = d.chance(0.6)
    hood = _Hood(
        (float(pivot[0]), float(pivot[1])),
        w - r - 0.003,
        d.between(0.32, 0.35),
        d.between(128, 140),
        1,
        (d.between(40, 50),) * 2 if two else (d.between(60, 85),),
        d.between(1.0, 1.4),
    )
    body.add([rod("x", 0.009, 0.06, (x * (w - 0.022), *pivot), 12) for x in (-1, 1)], metal)
    _add_hood(d, body, hood, fabric)
    _add_seat(d, body, (w - 0.045, seat, float(behind[1])), fabric, metal)
    if d.chance(0.4):
        hold = on_line(seat + 0.17)
        bar = body.hinge("bumper", X, (0, *hold), -d.between(1.0, 1.3), 0.0)
        reach = (hold[0] - 0.01, hold[1] + d.between(0.22, 0.28))
        bar.add(bow([(w + r + 0.006, *hold), (w + r + 0.006, *reach)], 0.009, 0.09, 10, 6), RUBBER)
        bar.add([rod("x", 0.007, 0.05, (x * (w + 0.01), *hold), 10) for x in (-1, 1)], metal)
    return builder


def _add_handlebar(
    d: Sampler, body: Link, end: tuple[float, float, float], reach: tuple[float, float], r: float, metal: Surface
) -> None:
    """A bow to push by from the upper ends of the frame; often it tilts there."""
    w, y, z = end
    part = body
    if d.chance(0.55):
        part = body.hinge("handle", X, (0, y, z), -d.between(0.5, 0.9), d.between(0.2, 0.5))
        knuckle = cylinder(1.8 * r, 0.022, 16, chamfer=0.003).along("x")
        body.add(pair(knuckle.move(w, y, z)), CHARCOAL)
    far = (y + reach[0], z + reach[1])
    part.add(bow([(w, y, z), (w, *far)], 0.9 * r, 0.05, 10, 6), metal)
    part.add(rod("x", 1.35 * r, 1.3 * w, (0, *far), 12, chamfer=0.003), RUBBER)


def _add_seat(d: Sampler, body: Link, place: tuple[float, float, float], fabric: Surface, metal: Surface) -> None:
    """Seat, back and footrest; the last always turns, the back sometimes."""
    half, y, z = place
    pad, soft = d.between(0.025, 0.04), fabric if d.chance(0.5) else d.paint()
    deep, tall, lean = d.between(0.26, 0.3), d.between(0.42, 0.48), d.between(16, 24)
    body.add(cushion(2 * half, deep, pad).move(0, y - 0.012, z + deep / 2 - 0.03), soft)
    at = (y + pad - 0.008, z - 0.012)
    back = body.hinge("back", X, (0, *at), -d.between(0.2, 0.35), 0.0) if d.chance(0.4) else body
    rest = cushion(2 * half, tall, pad).turn("x", 90).mirror("z").move(0, tall / 2 - 0.01, 0)
    back.add(rest.turn("x", -lean).move(0, *at), soft)
    edge = (y - 0.004, z + deep - 0.03)
    foot = body.hinge("footrest", X, (0, *edge), -d.between(0.6, 0.95), d.between(0.0, 0.12))
    long = d.between(0.17, 0.22)
    plate = slab((-0.92 * half, -long, -0.005), (0.92 * half, 0.006, 0.005), 0.003)
    step = slab((-0.92 * half, -long, -0.004), (0.92 * half, -long + 0.012, d.between(0.06, 0.09)), 0.003)
    foot.add([s.turn("x", -d.between(24, 26)).move(0, *edge) for s in (plate, step)], fabric)
    foot.add(rod("x", 0.006, 1.8 * half, (0, *edge), 8), metal)


def _carriage(d: Sampler) -> Builder:
    """A tub on a sprung frame with four spoked wheels, its hood at the far end."""
    metal, look = d.metal(), d.pick([d.paint(), d.paint(), surfaces.wood("walnut")])
    length, width = d.between(0.72, 0.86), d.between(0.36, 0.44)
    radius, r = d.between(0.12, 0.18), d.between(0.009, 0.012)
    low = 2 * radius + d.between(0.1, 0.14)
    top = low + d.between(0.22, 0.28)
    body = Builder("pram").part("base_body")
    tub = _tub((0.72 * width, d.between(0.66, 0.8) * length), (width, length), (low, top), 0.012)
    body.add(tub, look)
    rail, wheels = low - 0.05, d.between(0.36, 0.42) * length
    x = 0.28 * width
    for s in (-1, 1):
        path = np.array([(1, radius, 1), (1, rail, 0.6), (1, rail, -0.6), (1, radius, -1)]) * (s * x, 1, wheels)
        body.add(pipe(path, r, 0.08, 10, 6), metal)
        body.add(pair(cylinder(1.2 * r, 0.06, 10).move(s * x, rail + 0.025, 0.5 * wheels), "z"), metal)
    tyre, rims = d.between(0.022, 0.034), (d.metal(), True)
    for s in (-1, 1):
        _add_wheels(d, body, (radius, s * wheels), width / 2 + 0.05, tyre, rims)
    hold = (rail + 0.04, -length / 2 - 0.03)
    side = [(s * x, rail, -0.5 * wheels) for s in (1, -1)]
    body.add([pipe([p, (p[0], rail, hold[1] + 0.02), (p[0], *hold)], r, 0.04, 10) for p in side], metal)
    _add_handlebar(d, body, (x, *hold), (d.between(0.92, 1.04) - hold[0], -d.between(0.2, 0.28)), r, metal)
    pivot = (top - 0.016, length / 2 - d.between(0.26, 0.32))
    far = tub.vertices[tub.vertices[:, 2] > pivot[1]][:, 1:] - pivot
    two, start = d.chance(0.6), d.between(-8, 4)
    spans = (d.between(46, 54),) * 2 if two else (d.between(75, 95),)
    reach = float(np.hypot(*far.T).max()) + 0.025
    hood = _Hood(pivot, width / 2 + 0.008 + 0.009 * len(spans), reach, start, -1, spans, d.between(0.6, 0.75))
    pin = cylinder(0.009, hood.half - width / 2 + 0.03, 12).along("x")
    body.add([pin.move(s * (hood.half + width / 2 - 0.03) / 2, *pivot) for s in (-1, 1)], metal)
    _add_hood(d, body, hood, d.paint())
    bed = cushion(0.72 * width - 0.03, 0.64 * length, 0.05)
    body.add(bed.move(0, low + 0.008, 0), surfaces.paint("cream", 0.95))
    return body.builder


def _tub(floor: tuple[float, float], rim: tuple[float, float], heights: tuple[float, float], wall: float) -> Shape:
    """An open tub with rounded corners, wider at the rim."""
    rows = [(floor, heights[0], 0.0), (rim, heights[1], 0.0), (rim, heights[1], wall), (floor, heights[0] + wall, wall)]
    rings = []
    for (w, z), y, inset in rows:
        loop = profiles.rectangle(w - 2 * inset, z - 2 * inset, 0.3 * w - inset, 5)
        rings.append(np.column_stack([loop[:, 0], np.full(len(loop), y), loop[:, 1]]))
    return loft(rings)
