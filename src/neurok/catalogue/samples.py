"""The built-in objects, drawn by hand with the modelling kit: a laptop, a cabinet, a desk lamp and a pillow.

Built-in objects made by the project's own generators; ``sample:NAME`` works wherever a mesh path does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurok.core import Asset, Mesh, Surface
from neurok.errors import NeurokError, did_you_mean, shown
from neurok.modelling import profiles, surfaces
from neurok.modelling.booleans import difference
from neurok.modelling.builder import Builder, Link
from neurok.modelling.shapes import Shape, box, cylinder, extrude, lathe, slab
from neurok.modelling.sweeps import tube
from neurok.modelling.textures import pbr, recipes

Point = tuple[float, float, float]


def _turned(radii: npt.ArrayLike, heights: npt.ArrayLike, segments: int, closed: bool = False) -> Shape:
    return lathe(np.column_stack([np.asarray(radii), np.asarray(heights)]), segments, closed)


# A laptop, standing open [m].
WIDTH, DEPTH, BASE, LID = 0.318, 0.222, 0.0135, 0.0055
HINGE = np.array([0.0, BASE + 0.0018, -DEPTH / 2 + 0.005])
OPEN = 106.0
"""Angle between keyboard and screen as stored [degrees]."""

KEYS = (
    [1.0] * 14,
    [1.0] * 13 + [1.6],
    [1.5] + [1.0] * 12 + [1.1],
    [1.8] + [1.0] * 11 + [1.8],
    [2.3] + [1.0] * 10 + [2.3],
    [1.2, 1.0, 1.0, 1.2, 5.4, 1.2, 1.0, 1.0, 1.0, 1.0],
)
"""Six rows of keys by their widths, each row filling the same length."""


def make_laptop() -> Asset:
    """Keyboard, touchpad, ports, hinges and a lit screen."""
    builder = Builder("laptop")
    base = builder.part("base")
    lid = builder.part("screen", base, "revolute", (1, 0, 0), HINGE, np.radians(OPEN - 150), np.radians(OPEN - 0.5))
    shell = pbr("anodised", surfaces.linear("#b9bdc4"), "aluminium")
    _add_laptop_base(base, shell)
    _add_keys(base)
    _add_ports(base)
    _add_laptop_lid(lid, shell)
    return builder.build()


def _add_laptop_base(base: Link, shell: Surface) -> None:
    body = extrude(profiles.rectangle(WIDTH, DEPTH, 0.012, 6), BASE, bevel=0.0022)
    well = box((0.277, 0.004, 0.098), (0, BASE, -0.036), 0.0006)
    pad = box((0.104, 0.0016, 0.066), (0, BASE, 0.062))
    base.add(difference(body, well, pad), shell)
    base.add(box((0.1032, 0.0008, 0.0652), (0, BASE - 0.0005, 0.062), 0.0002), surfaces.paint("#a6abb3", 0.3, 0.2))
    for x in (-1, 1):
        base.add([cylinder(0.0055, 0.002, 16).move(x * 0.135, -0.0009, z) for z in (-0.09, 0.09)], surfaces.rubber())
        holes = [(x * (0.1465 + 0.0022 * (k % 3)), BASE, -0.08 + 0.0024 * k) for k in range(36)]
        base.add([cylinder(0.0007, 0.0006, 6).move(*hole) for hole in holes], surfaces.plastic("#4a4d52"))
        knuckle = cylinder(0.0036, 0.012, 16, chamfer=0.0004).along("x").move(x * 0.093, *HINGE[1:])
        base.add(knuckle, surfaces.metal("black_steel"))
        base.add(box((0.012, 0.004, 0.006), (x * 0.093, BASE - 0.001, HINGE[2]), 0.0004), surfaces.metal("black_steel"))


def _add_keys(base: Link) -> None:
    left, right, gap = -0.1365, 0.1365, 0.0026
    z = -0.036 - 0.0465
    base.add(box((0.276, 0.0004, 0.097), (0, BASE - 0.0019, -0.036)), surfaces.plastic("#191a1d"))
    cap, accent = surfaces.plastic("#2b2d31"), surfaces.plastic("#e0794a")
    for row, widths in enumerate(KEYS):
        deep = 0.0138 if row else 0.010
        unit = (right - left - gap * (len(widths) - 1)) / sum(widths)
        x = left
        for k, width in enumerate(widths):
            size = unit * width
            key = _key(size, deep).move(x + size / 2, BASE - 0.0021, z + deep / 2)
            base.add(key, accent if (row, k) == (0, 0) else cap)
            x += size + gap
        z += deep + gap


def _key(width: float, depth: float) -> Shape:
    cap = box((width, 0.0028, depth), (0, 0.0014, 0), 0.0007)
    taper = np.where(cap.vertices[:, 1:2] > 0.0014, 0.93, 1.0)
    return Shape(cap.vertices * np.concatenate([taper, np.ones_like(taper), taper], axis=1), cap.faces)


def _add_ports(base: Link) -> None:
    dark = surfaces.plastic("#17181a")
    for side, places in ((-1, (-0.07, -0.052, -0.034)), (1, (-0.068, -0.046))):
        edge = side * WIDTH / 2
        base.add([box((0.0012, 0.0042, 0.0105), (edge, BASE / 2, z), 0.0004) for z in places], dark)
        base.add([box((0.0016, 0.0012, 0.008), (edge, BASE / 2, z)) for z in places], surfaces.metal("steel"))
    base.add(cylinder(0.0019, 0.0012, 12).along("x").move(WIDTH / 2, BASE / 2, -0.03), dark)
    base.add(box((0.004, 0.001, 0.0008), (0.12, BASE * 0.55, DEPTH / 2)), surfaces.glow("#bfe8ff"))


def _add_laptop_lid(lid: Link, shell: Surface) -> None:
    """Modelled closed, then turned open; hinge arms leave room for the knuckles of the base."""
    low, front, back = BASE + 0.0012, DEPTH / 2 - 0.001, HINGE[2] + 0.006
    middle, depth = (front + back) / 2, front - back
    cover = extrude(profiles.rectangle(WIDTH - 0.002, depth, 0.011, 6), LID, bevel=0.0018)
    bezel = extrude(profiles.rectangle(WIDTH - 0.010, depth - 0.008, 0.008, 5), 0.0008, bevel=0.0002)
    picture = box((0.290, 0.0003, 0.181), (0, low - 0.0006, middle + 0.0045)).pictured("x", "z")
    camera = cylinder(0.0016, 0.0004, 12).move(0, low - 0.0006, front - 0.0075)
    pieces = [
        (cover.move(0, low, middle), shell),
        (bezel.move(0, low - 0.0005, middle), surfaces.paint("#141518", 0.25)),
    ]
    pieces += [(picture, surfaces.screen()), (camera, surfaces.glass("#33455a", 1.0))]
    steel = surfaces.metal("black_steel")
    for x in (-0.093, 0.093):
        for dx in (-0.0125, 0.0125):
            barrel = cylinder(0.0036, 0.0115, 16, chamfer=0.0004).along("x")
            pieces.append((barrel.move(x + dx, *HINGE[1:]), steel))
        arm = slab((x - 0.0182, low + 0.0008, HINGE[2]), (x + 0.0182, low + 0.0048, back + 0.004), 0.0006)
        pieces.append((difference(arm, box((0.0136, 0.02, 0.0105), (x, BASE, HINGE[2]))), steel))
    badge = extrude(profiles.superellipse(0.017, 0.012, 3.0, 24), 0.0004).move(0, low + LID - 0.0001, middle)
    for shape, surface in [*pieces, (badge, surfaces.metal("chrome", 0.15))]:
        lid.add(shape.turn("x", -OPEN, HINGE), surface)


# A sideboard [m]: half its width, its height, half its depth, strength of its boards, height of its legs.
HALF_WIDE, TALL, HALF_DEEP, BOARD, LEGS = 0.65, 0.62, 0.21, 0.02, 0.17
FRONT = 0.019
"""Thickness of doors and drawer fronts [m]."""


def make_cabinet() -> Asset:
    """A sideboard with two doors, three drawers and shelves behind the doors."""
    builder = Builder("cabinet")
    body = builder.part("body")
    _add_cabinet_body(body)
    inner = HALF_WIDE - BOARD
    third = 2 * inner / 3
    for side, edge in ((-1, -inner), (1, inner)):
        limits = (-2.0, 0.0) if side < 0 else (0.0, 2.0)
        door = builder.part("door", body, "revolute", (0, 1, 0), (edge, LEGS + TALL / 2, HALF_DEEP), *limits)
        _add_door(door, edge, edge - side * third, side)
    low, high = LEGS + BOARD, LEGS + TALL - BOARD
    rise = (high - low) / 3
    for k in range(3):
        drawer = builder.part("drawer", body, "prismatic", (0, 0, 1), (0, 0, 0), 0.0, 0.3)
        _add_drawer(drawer, third / 2, low + k * rise, low + (k + 1) * rise)
    return builder.build()


def _board(low: Point, high: Point) -> Shape:
    """A panel between two corners with softened edges; grain runs along its longest side."""
    return slab(np.minimum(low, high), np.maximum(low, high), 0.0015)


def _wood(kind: str) -> Surface:
    return pbr(kind if kind in recipes() else "@wood", surfaces.linear(surfaces.WOODS.get(kind, kind)), f"{kind} grain")


def _brass() -> Surface:
    return pbr("polished", surfaces.linear(surfaces.METALS["brass"]), "brass")


def _add_cabinet_body(body: Link) -> None:
    wood = _wood("walnut")
    w, d, low, high = HALF_WIDE, HALF_DEEP, LEGS, LEGS + TALL
    back, floor, ceiling = -d + 0.008, low + BOARD, high - BOARD
    body.add(_board((-w - 0.008, ceiling, -d - 0.004), (w + 0.008, high, d + FRONT + 0.006)), wood)
    body.add(_board((-w, low, -d), (w, floor, d)), wood)
    for x in (-1, 1):
        wall, post, middle = x * (w - BOARD), x * (w - BOARD) / 3, low + 0.52 * TALL
        body.add(_board((x * w, floor, -d), (wall, ceiling, d)), wood)
        body.add(_board((post - 0.009, floor, back), (post + 0.009, ceiling, d - 0.002)), wood)
        body.add(_board((wall, middle, back), (post + x * 0.009, middle + 0.016, d - 0.03)), wood)
    body.add(_board((-w + BOARD, floor, -d), (w - BOARD, ceiling, back)), _wood("walnut"))
    leg = cylinder(0.013, LEGS * 0.83, 20, top=0.022).move(0, 0.0155, 0)
    tip = cylinder(0.0125, LEGS * 0.18, 20, top=0.0138).move(0, -0.0705, 0)
    for x, z in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        for shape, surface in ((leg, _wood("walnut")), (tip, _brass())):
            leaning = shape.turn("z", x * 9).turn("x", -z * 9)
            body.add(leaning.move(x * (w - 0.1), LEGS / 2, z * (d - 0.06)), surface)


def _add_door(door: Link, hinge: float, end: float, side: int) -> None:
    """A framed door: two stiles, two rails, a panel set back."""
    wood, gap, stile = _wood("oak"), 0.002, 0.05
    left, right = sorted((hinge - side * gap, end + side * gap))
    low, high = LEGS + BOARD + gap, LEGS + TALL - BOARD - gap
    z0, z1 = HALF_DEEP + 0.001, HALF_DEEP + FRONT
    door.add(_board((left, low, z0), (left + stile, high, z1)), wood)
    door.add(_board((right - stile, low, z0), (right, high, z1)), wood)
    for y in (low, high - stile):
        door.add(_board((left + stile, y, z0), (right - stile, y + stile, z1)), wood)
    door.add(_board((left + stile, low + stile, z0 + 0.004), (right - stile, high - stile, z1 - 0.007)), wood)
    grip = right - stile / 2 if side < 0 else left + stile / 2
    door.add(_pull((grip, (low + high) / 2, z1), 0.13, upright=True), _brass())
    near, far = hinge - side * 0.004, hinge - side * 0.036
    for y in (low + 0.07, high - 0.07):
        door.add(slab((near, y - 0.02, z0 - 0.0005), (far, y + 0.02, z0 + 0.001)), surfaces.metal("steel"))


def _add_drawer(drawer: Link, half: float, low: float, high: float) -> None:
    """A front and an open box behind it."""
    plain, gap = _wood("beech"), 0.002
    z0, z1 = HALF_DEEP + 0.001, HALF_DEEP + FRONT
    drawer.add(_board((-half + gap, low + gap, z0), (half - gap, high - gap, z1)), _wood("oak"))
    w, back, floor, top = half - 0.016, -HALF_DEEP + 0.03, low + 0.014, high - 0.04
    drawer.add(slab((-w, floor, back), (w, floor + 0.008, z0)), plain)
    for x in (-1, 1):
        drawer.add(slab((x * w, floor, back), (x * (w - 0.012), top, z0), 0.001), plain)
    drawer.add(slab((-w + 0.012, floor, back), (w - 0.012, top, back + 0.012), 0.001), plain)
    drawer.add(_pull((0, (low + high) / 2, z1), 0.15, upright=False), _brass())


def _pull(place: Point, length: float, upright: bool) -> Shape:
    """A bent bar handle standing out towards +z."""
    h = length / 2
    path = profiles.rounded_path([(-h, 0, -0.001), (-h, 0, 0.026), (h, 0, 0.026), (h, 0, -0.001)], 0.012, 5)
    bar = tube(path, 0.0048, 12)
    return (bar.turn("z", 90) if upright else bar).move(*place)


# A desk lamp [m, degrees].
SHOULDER = np.array([0.0, 0.085, 0.0])
LOWER, UPPER = 0.32, 0.28
LEAN, REACH, NOD = -22.0, 62.0, 44.0
"""Angles of lower arm, upper arm and shade against the vertical, as stored [degrees]; forward is positive."""


def make_lamp() -> Asset:
    """A desk lamp on a jointed arm: swivel, shoulder, elbow and head turn."""
    builder = Builder("lamp")
    body, brass = pbr("enamel", surfaces.linear("#2f6f73"), "enamel"), _brass()
    elbow = SHOULDER + LOWER * _direction(LEAN)
    wrist = elbow + UPPER * _direction(REACH)
    base = builder.part("base")
    swivel = builder.part("swivel", base, "revolute", (0, 1, 0), (0, 0, 0), -2.8, 2.8)
    lower = builder.part("lower_arm", swivel, "revolute", (1, 0, 0), SHOULDER, np.radians(-25), np.radians(45))
    upper = builder.part("upper_arm", lower, "revolute", (1, 0, 0), elbow, np.radians(-50), np.radians(40))
    head = builder.part("head", upper, "revolute", (1, 0, 0), wrist, np.radians(-35), np.radians(55))
    _add_foot(base, swivel, body, brass)
    _add_arm(lower, SHOULDER, elbow, 0.013, brass, body)
    _add_arm(upper, elbow, wrist, 0.007, brass, body)
    _add_shade(head, wrist, body, brass)
    return builder.build()


def _direction(degrees: float) -> np.ndarray:
    """Up, leaning forward (+z) by an angle."""
    return np.array([0.0, np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def _add_foot(base: Link, swivel: Link, body: Surface, brass: Surface) -> None:
    radii = [0.0, 0.082, 0.085, 0.083, 0.070, 0.024, 0.018, 0.0]
    base.add(_turned(radii, (0.0, 0.0, 0.004, 0.012, 0.018, 0.024, 0.030, 0.030), 48), body)
    base.add(_turned((0.083, 0.087, 0.087, 0.083), (0.0, 0.001, 0.004, 0.005), 48, closed=True), brass)
    base.add(cylinder(0.008, 0.004, 16, chamfer=0.001).move(0.045, 0.023, 0.045), surfaces.plastic("#efe9dc"))
    places = [(0, 0.006, -0.08), (0.01, 0.004, -0.13), (0.06, 0.004, -0.17), (0.13, 0.004, -0.16), (0.2, 0.004, -0.2)]
    base.add(tube(profiles.smooth_curve(places, 28), 0.003, 8), surfaces.rubber())
    radii = [0.0, 0.014, 0.014, 0.009, 0.009, 0.0]
    swivel.add(_turned(radii, (0.030, 0.030, 0.036, 0.040, 0.066, 0.066), 24), brass)
    for x in (-1, 1):
        swivel.add(slab((x * 0.0205, 0.062, -0.011), (x * 0.0245, 0.098, 0.011), 0.001), body)
    swivel.add(slab((-0.0245, 0.058, -0.011), (0.0245, 0.066, 0.011), 0.001), body)
    swivel.add(_bolt(SHOULDER, 0.029, 0.0085), brass)


def _bolt(place: np.ndarray, reach: float, radius: float) -> list[Shape]:
    """A pin across x with a round head on each side."""
    heads = [cylinder(radius, 0.006, 20, chamfer=0.0012).along("x").move(x * reach, 0, 0) for x in (-1, 1)]
    return [s.move(*place) for s in [cylinder(0.0035, 2 * reach, 12).along("x"), *heads]]


def _add_arm(arm: Link, start: np.ndarray, end: np.ndarray, spread: float, metal: Surface, paint: Surface) -> None:
    """Two parallel rods, a spring along them, a cross bar and the pin at the far end."""
    along = end - start
    length = float(np.linalg.norm(along))
    along = along / length
    for x in (-1, 1):
        off = (x * spread, 0, 0)
        arm.add(tube([start + off - 0.012 * along, end + off + 0.012 * along], 0.0042, 12), metal)
    middle = start + 0.55 * length * along
    arm.add(cylinder(0.0035, 2 * spread, 12).along("x").move(*middle), metal)
    t = np.linspace(0.0, 1.0, 15 * 8)
    side = np.cross(along, (1.0, 0.0, 0.0))
    coil = start + (0.02 + 0.45 * length * t)[:, None] * along
    turn = 2 * np.pi * 15 * t
    coil = coil + 0.0042 * (np.cos(turn)[:, None] * np.array([1.0, 0.0, 0.0]) + np.sin(turn)[:, None] * side)
    steel = surfaces.metal("steel")
    arm.add(tube(coil, 0.0009, 5), steel)
    arm.add(tube([start, start + 0.021 * along], 0.0022, 8), steel)
    arm.add(tube([start + (0.019 + 0.45 * length) * along, middle], 0.0022, 8), steel)
    arm.add(_bolt(end, spread + 0.008, 0.0075), paint)


def _add_shade(head: Link, wrist: np.ndarray, body: Surface, brass: Surface) -> None:
    """A bell with a bulb in it, modelled opening downwards from the wrist, then nodded forward."""
    radii = [0.0, 0.012, 0.024, 0.028, 0.036, 0.056, 0.072]
    heights = [0.016, 0.016, 0.010, -0.02, -0.045, -0.075, -0.112]
    outer = profiles.smooth_curve(np.column_stack([radii, heights]), 26)
    inner = [(0.0695, -0.112), (0.053, -0.075), (0.033, -0.045), (0.024, -0.02), (0.0, -0.012)]
    curve = np.concatenate([outer, profiles.smooth_curve(inner, 16)])
    curve[[0, -1], 0] = 0.0
    rim = _turned((0.0715, 0.074, 0.0715, 0.069), (-0.114, -0.112, -0.110, -0.112), 40, closed=True)
    socket = cylinder(0.014, 0.024, 20, chamfer=0.001).move(0, -0.022, 0)
    radii = [0.0, 0.012, 0.015, 0.024, 0.0265, 0.022, 0.012, 0.0]
    bulb = _turned(radii, (-0.033, -0.034, -0.045, -0.066, -0.080, -0.094, -0.103, -0.106), 24)
    stem = _turned((0.0, 0.008, 0.008, 0.0), (0.014, 0.014, 0.030, 0.034), 16)
    lug = slab((-0.004, 0.012, -0.007), (0.004, 0.046, 0.007), 0.001)
    pieces = [(lathe(np.maximum(curve, (0.0, -1.0)), 40), body), (rim, brass), (socket, surfaces.plastic("#efe9dc"))]
    for shape, surface in [*pieces, (bulb, surfaces.glow("#ffe9b0", 0.9)), (stem, brass), (lug, brass)]:
        head.add(shape.move(0.0, -0.039, 0.0).turn("x", -NOD).move(*wrist), surface)


# A cushion [m]: half its side, half its thickness, radius of its piping; points of a ring, rings of one side.
HALF, THICKNESS, PIPING = 0.225, 0.075, 0.0055
AROUND, RINGS = 128, 26


def make_pillow() -> Asset:
    """A square cushion with piping, pinched corners and creases: one closed, soft surface."""
    rings = [_ring(s, 1.0) for s in np.linspace(0.0, 1.0, RINGS) ** 0.8]
    rim = rings[-1]
    outward = rim * (1.0, 0.0, 1.0)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    for angle in np.radians([120, 75, 30, 0, -30, -75, -120]):
        lift = np.sin(angle) * PIPING * np.array([0.0, 1.0, 0.0])
        rings.append(rim * (1.0, 0.0, 1.0) + (1.0 + np.cos(angle)) * PIPING * outward + lift)
    rings += [_ring(s, -1.0) for s in np.linspace(1.0, 0.0, RINGS) ** 0.8]
    faces = _turned(np.r_[0.0, np.ones(len(rings) - 2), 0.0], np.arange(len(rings), dtype=float), AROUND).faces
    solid = Shape(np.concatenate([np.concatenate(rings[1:-1]), rings[0][:1], rings[-1][:1]]), faces).outward()
    vertices = solid.vertices - (0.0, solid.vertices[:, 1].min(), 0.0)
    colours = surfaces.linear("#5d7f8c"), surfaces.linear("#f0e6d2")
    cloth = pbr("linen", colours[0], "woven fabric", second=colours[1], figure="diamonds", repeats=3)
    tile = recipes()["linen"].tile
    mesh = Mesh(vertices, solid.faces, uv=vertices[:, [0, 2]] / tile, surfaces=(cloth,), name="pillow")
    return Asset(mesh, provenance={"source": "neurok", "license": "Apache-2.0", "category": "pillow"})


def _ring(s: float, side: float) -> np.ndarray:
    """The loop at a share ``s`` of the way from the middle to the seam, on one side."""
    outline = profiles.superellipse(1.0, 1.0, 2.0 + 5.0 * s, AROUND)
    corner = (np.abs(outline).min(axis=1) / np.abs(outline).max(axis=1)) ** 3
    # Filling draws the middle of each edge in and leaves the corners out as ears.
    outline = outline * (1.0 - 0.055 * s**2 * (1.0 - corner))[:, None]
    bulge = (1.0 - s**2.4) ** 0.72 * (1.0 - 0.25 * s**2 * corner)
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    near_seam = np.exp(-(((s - 0.86) / 0.13) ** 2))
    creases = np.sin(23 * angle + side) + 0.6 * np.sin(41 * angle + 2.0 * side) + 0.5 * np.sin(9 * angle)
    folds = 0.0035 * near_seam * creases * (1.0 - 0.6 * corner)
    dents = 0.006 * np.exp(-(((s - 0.45) / 0.25) ** 2)) * np.sin(3 * angle + 1.3 * side) * np.sin(2 * angle)
    height = side * np.maximum(THICKNESS * bulge + (folds + dents) * min(1.0, 8.0 * (1.0 - s)), 0.0)
    return np.column_stack([HALF * s * outline[:, 0], height, HALF * s * outline[:, 1]])


SAMPLES = ("laptop", "cabinet", "lamp", "pillow")


def make_sample(name: str) -> Asset:
    """A built-in object by its name.

    Raises:
        NeurokError: If there is no sample of that name; the sentence lists those there are.
    """
    if name not in SAMPLES:
        meant = did_you_mean(name, SAMPLES)
        raise NeurokError(f"There is no sample {shown(name)}; the samples are {', '.join(SAMPLES)}.{meant}")
    makers = {"laptop": make_laptop, "cabinet": make_cabinet, "lamp": make_lamp, "pillow": make_pillow}
    return makers[name]()
