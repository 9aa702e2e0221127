"""Potted plants that bend in the wind, when pushed or when their pot is moved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from neurok.core import Asset, Material, Surface
from neurok.families.soft import loads
from neurok.families.soft.pieces import (
    CERAMIC,
    Piece,
    assemble,
    carried,
    color,
    leaf_surface,
    still,
)
from neurok.families.soft.scene import BodyMotion, Force, Scene
from neurok.families.soft.stems import StemBuilder, aimed, bent, leaf_shape, stem_piece
from neurok.geometry import lie
from neurok.modelling.profiles import smooth_curve
from neurok.modelling.shapes import Shape, box, join, lathe, sphere

LEAF = Material("leaf", young=2e7, poisson=0.3, density=800.0)
STALK = Material("stalk", young=3e8, poisson=0.3, density=900.0)


@dataclass
class Foliage:
    """Leaves, each on a link of its own, and what they weigh on the wind."""

    shapes: list[Shape] = field(default_factory=list)
    links: list[np.ndarray] = field(default_factory=list)
    carriers: list[int] = field(default_factory=list)

    def add(
        self, stems: StemBuilder, shape: Shape, root: np.ndarray, tip: np.ndarray, carrier: int, rate: float
    ) -> None:
        """A leaf that flutters at about ``rate`` swings per second on the link that carries it."""
        length = float(np.linalg.norm(tip - root))
        mass = 0.25 * length**2 * 0.5
        inertia = mass * length**2 / 3
        stiffness = inertia * (2 * math.pi * rate) ** 2
        damping = 0.25 * 2 * math.sqrt(stiffness * inertia)
        self.links.append(
            stems.add(
                np.stack([root, tip]), carrier, radius=0.1 * length, mass=mass, stiffness=stiffness, damping=damping
            )
        )
        self.shapes.append(shape)
        self.carriers.append(carrier)

    def piece(self, motion: np.ndarray, surface: Surface) -> Piece:
        """All leaves as one piece; each bends from its carrier at the root to its own link at the tip."""
        moved = []
        for shape, links, carrier in zip(self.shapes, self.links, self.carriers, strict=True):
            out = np.linalg.norm(shape.vertices - shape.vertices[1], axis=1)
            moved.append(bent(shape.vertices, 0.75 * out / out.max(), links, motion, carrier))
        whole = join(self.shapes)
        return Piece("leaves", whole.vertices, whole.faces, surface, LEAF, np.concatenate(moved, axis=1))


def springs(
    points: np.ndarray, mass: np.ndarray, rate: float, ratio: float, taper: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Joint stiffness and damping that make a stem swing about ``rate`` times a second, stiffer at its root."""
    count = len(points) - 1
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    # The joints of a stem are springs in a row: n of them, each n times stiffer, bend like one at its root.
    inertia = float(mass.sum()) * length**2 / 3
    root = count * inertia * (2 * math.pi * rate) ** 2 / 2.5
    stiffness = root * np.linspace(1.0, 1.0 / (1.0 + taper), count) ** 2
    return stiffness, 2 * ratio * stiffness / (2 * math.pi * rate)


def disturbance(
    rng: np.random.Generator, areas: np.ndarray, masses: np.ndarray, height: float, rate: float, excitation: str
) -> tuple[Force | None, BodyMotion | None]:
    """Wind on every link, a push at the top, or a pot that is moved."""
    way = loads.heading(rng)
    if excitation == "wind":
        # A tall tree stands in stronger wind than a plant on a table.
        speed = rng.uniform(1.0, 1.7) * (1.0 + height)
        return loads.wind_on_links(areas, loads.gusty_wind(rng, way, speed, 0.7)), None
    if excitation == "move":
        offset = loads.shake(rng, rng.uniform(0.1, 0.22) * height * way, (0.7 * rate, 1.1 * rate))
        return None, lambda t: lie.translation(offset(t))
    goal = rng.uniform(0.08, 0.2) * height * (2 * math.pi * rate) ** 2
    strength, start, duration = goal * way, 0.05, rng.uniform(0.3, 0.6)

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        share = np.clip(x[:, 1:2] / height, 0.0, 1.0) ** 1.5
        return masses[:, None] * strength * share * loads.pulse(t, start, duration) - 0.3 * masses[:, None] * v

    return force, None


def potted_plant(rng: np.random.Generator) -> Asset:
    """Stems with leaves in a pot."""
    kind = str(rng.choice(["upright", "rosette", "flower"]))
    pot_radius, pot_height = rng.uniform(0.09, 0.16), rng.uniform(0.12, 0.25)
    height = rng.uniform(0.3, 0.7)
    soil = 0.88 * pot_height
    stems, foliage, chains, blooms = StemBuilder(), Foliage(), [], []
    count = {
        "upright": int(rng.integers(2, 5)),
        "rosette": int(rng.integers(8, 14)),
        "flower": int(rng.integers(3, 6)),
    }[kind]
    rate = rng.uniform(1.2, 2.2)
    phase = rng.uniform(0, 2 * np.pi)
    for k in range(count):
        angle = phase + 2.39996 * k
        out = np.array([math.cos(angle), 0.0, math.sin(angle)])
        lean = {"upright": rng.uniform(0.05, 0.3), "rosette": rng.uniform(0.5, 1.1), "flower": rng.uniform(0.1, 0.5)}[
            kind
        ]
        reach = height * rng.uniform(0.7, 1.0)
        links = 4 if kind != "rosette" else 3
        s = np.linspace(0.0, 1.0, links + 1)[:, None]
        root = np.array([0.0, soil, 0.0]) + rng.uniform(0.1, 0.5) * pot_radius * out
        droop = 0.35 * lean * s**3
        points = root + reach * (s * [0, 1, 0] * (1 - 0.25 * lean) + lean * s**1.7 * out - droop * [0, 1, 0])
        mass = np.full(links, 0.02 * reach / links)
        # Leaves and blooms weigh more than their stem, and hang far out.
        carried_mass = mass * {"upright": 8.0, "rosette": 1.0, "flower": 4.0}[kind]
        stiffness, damping = springs(points, carried_mass, rate * rng.uniform(0.85, 1.2), 0.09)
        chain = stems.add(points, radius=0.006, mass=mass, stiffness=stiffness, damping=damping)
        chains.append((points, chain))
        if kind == "flower":
            blooms.append((points, chain))
        if kind != "rosette":
            _leaves_on(rng, stems, foliage, points, chain, kind, reach, angle)
    excitation = str(rng.choice(["wind", "push", "move"]))
    areas = link_areas(stems, foliage, 0.02 if kind == "rosette" else 0.006)
    masses = np.array(stems.mass)
    force, base = disturbance(rng, areas, masses, height + pot_height, rate, excitation)
    frame_count = int(rng.integers(28, 41))
    motion = Scene(rods=stems.build(carries_weight=False, force=force, base=base)).run(frame_count).links
    green, stalk = leaf_surface(rng), Surface("stalk", color(rng, (0.2, 0.33), (0.4, 0.7), (0.3, 0.6)))
    pieces = _pot(rng, pot_radius, pot_height, base, frame_count)
    if kind == "rosette":
        width = rng.uniform(0.12, 0.28)
        pieces += [_blade(p, c, motion, width * height * 0.5, green) for p, c in chains]
    else:
        for points, chain in chains:
            radii = np.linspace(0.012, 0.005, len(points)) * (0.7 if kind == "flower" else 1.0)
            pieces.append(stem_piece("stems", points, chain, motion, radii, stalk, STALK, samples=3, segments=7))
        pieces.append(foliage.piece(motion, green))
    if blooms:
        pieces += _blooms(rng, blooms, motion)
    return assemble("potted_plant", pieces, frame_count, f"{excitation} ({kind})")


def _leaves_on(
    rng: np.random.Generator,
    stems: StemBuilder,
    foliage: Foliage,
    points: np.ndarray,
    chain: np.ndarray,
    kind: str,
    reach: float,
    angle: float,
) -> None:
    """Leaves around a stem, in the golden angle, smaller towards the top."""
    count = int(rng.integers(6, 10)) if kind == "upright" else int(rng.integers(2, 5))
    long, wide = reach * rng.uniform(0.28, 0.45), rng.uniform(0.4, 0.65)
    for j in range(count):
        s = (0.25 + 0.75 * (j + 0.5) / count) if kind == "upright" else rng.uniform(0.05, 0.5)
        where = s * len(chain)
        link = min(int(where), len(chain) - 1)
        root = points[link] + (where - link) * (points[link + 1] - points[link])
        turn = angle + 2.39996 * j
        way = np.array([math.cos(turn), rng.uniform(0.1, 0.7), math.sin(turn)])
        length = long * (1.15 - 0.5 * s) * rng.uniform(0.85, 1.1)
        shape = aimed(leaf_shape(length, wide * length, curl=rng.uniform(0.1, 0.35)), root, way)
        foliage.add(stems, shape, root, root + length * loads.unit(way), int(chain[link]), rng.uniform(2.0, 3.5))


def link_areas(stems: StemBuilder, foliage: Foliage, bare: float) -> np.ndarray:
    lengths = np.linalg.norm(np.array(stems.ends) - np.array(stems.joints), axis=1)
    areas = bare * lengths
    for links in foliage.links:
        areas[links] = 0.25 * lengths[links] ** 2
    return areas


def _blade(points: np.ndarray, chain: np.ndarray, motion: np.ndarray, width: float, surface: Surface) -> Piece:
    """A long leaf that is its own stem: wide in the middle, pointed at the tip."""
    rows = 13
    s = np.linspace(0.0, 1.0, rows)
    path = smooth_curve(points, rows)
    tangent = np.gradient(path, axis=0)
    side = np.cross(tangent, [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True) + 1e-9
    up = np.cross(side, tangent)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    breadth = width * (0.35 + 0.65 * np.sin(np.pi * s**0.8)) * (1 - s**8) + 5e-4
    edge = lambda sign: path + breadth[:, None] * (sign * side + 0.3 * up) / 2  # noqa: E731
    vertices = np.stack([edge(-1.0), path, edge(1.0)], axis=1).reshape(-1, 3)
    i = np.arange(rows - 1)[:, None] * 3 + np.arange(2)[None]
    a, b, c, d = (x.reshape(-1) for x in (i, i + 1, i + 3, i + 4))
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([b, d, c], -1)])
    along = np.repeat(s * len(chain), 3)
    return Piece("leaves", vertices, faces, surface, LEAF, bent(vertices, along, chain, motion))


def _blooms(rng: np.random.Generator, stalks: list[tuple[np.ndarray, np.ndarray]], motion: np.ndarray) -> list[Piece]:
    petal_look = Surface("petal", color(rng, saturation=(0.5, 0.9), value=(0.75, 1.0)))
    heart_look = Surface("heart", color(rng, (0.08, 0.16), (0.7, 0.9), (0.6, 0.95)))
    count, size = int(rng.integers(6, 11)), rng.uniform(0.04, 0.07)
    petals_material = Material("petal", young=1e7, poisson=0.3, density=700.0)
    pieces = []
    for points, chain in stalks:
        axis = loads.unit(points[-1] - points[-2])
        side = loads.unit(np.cross(axis, [0.3, 0.1, 1.0]))
        other = np.cross(axis, side)
        petals = []
        for k in range(count):
            turn = 2 * np.pi * k / count
            way = math.cos(turn) * side + math.sin(turn) * other + 0.25 * axis
            petals.append(aimed(leaf_shape(size, 0.5 * size, rows=5, curl=0.1), points[-1], way))
        transforms = motion[:, chain[-1]]
        pieces.append(carried("petals", join(petals), petal_look, petals_material, transforms))
        heart = sphere(0.3 * size, 10, 6).move(*points[-1])
        pieces.append(carried("hearts", heart, heart_look, petals_material, transforms))
    return pieces


def _pot(
    rng: np.random.Generator, radius: float, height: float, base: BodyMotion | None, frame_count: int
) -> list[Piece]:
    """A pot with soil: tapered, round or square; it travels with its plant when moved."""
    wall = 0.1 * radius
    if rng.random() < 0.25:
        side = 1.7 * radius
        pot = box((side, height, side), (0, height / 2, 0), chamfer=0.006)
        soil = box((side - 2 * wall, 0.012, side - 2 * wall), (0, height + 0.001, 0))
    else:
        belly = rng.uniform(0.7, 1.25)
        outline = [(0.0, 0.0), (0.7 * radius, 0.0), (0.85 * belly * radius, 0.45 * height), (radius, 0.9 * height)]
        outline += [
            (1.08 * radius, 0.9 * height),
            (1.08 * radius, height),
            (radius - wall, height),
            (radius - wall, 0.85 * height),
            (0.0, 0.85 * height),
        ]
        pot = lathe(outline, 28)
        soil = lathe(
            [(0.0, 0.84 * height), (radius - wall, 0.84 * height), (0.6 * radius, 0.9 * height), (0.0, 0.92 * height)],
            20,
        )
    glaze = Surface("pot", color(rng, saturation=(0.1, 0.65), value=(0.45, 0.9)), roughness=0.5)
    earth = Surface("soil", (0.05, 0.03, 0.02, 1.0), roughness=1.0)
    ground = Material("soil", young=1e6, poisson=0.3, density=1400.0, kind="sand")
    if base is None:
        return [still("pot", pot, glaze, CERAMIC), still("soil", soil, earth, ground)]
    moves = np.array([base(k / 24.0) for k in range(frame_count)])
    return [carried("pot", pot, glaze, CERAMIC, moves), carried("soil", soil, earth, ground, moves)]
