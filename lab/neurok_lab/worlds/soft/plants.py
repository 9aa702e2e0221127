"""Plants that bend in the wind, when pushed or when their pot is moved: potted ones of the catalogue, young trees."""

from __future__ import annotations

import math

import numpy as np

from neurok.catalogue import draw
from neurok.catalogue.asset import copy_parents
from neurok.core import Asset, Material, Surface
from neurok.geometry import lie
from neurok.modelling.shapes import Shape, join
from neurok_lab.worlds.soft import loads
from neurok_lab.worlds.soft.objects import pieces_of
from neurok_lab.worlds.soft.pieces import FPS, SoftPiece, assemble, color, leaf_surface
from neurok_lab.worlds.soft.scene import BodyMotion, FlexScene, Force
from neurok_lab.worlds.soft.stems import StemBuilder, bent, springs, stem_piece

LEAF = Material("leaf", young=2e7, poisson=0.3, density=800.0)
BRANCH = Material("green wood", young=5e9, poisson=0.35, density=800.0)


def disturbance(
    rng: np.random.Generator, areas: np.ndarray, masses: np.ndarray, height: float, rate: float, excitation: str
) -> tuple[Force | None, BodyMotion | None]:
    """Wind on every link, a push at the top, or a pot that is moved."""
    way = loads.heading(rng)
    if excitation == "wind":
        # A tall tree stands in stronger wind than a plant on a table.
        speed = rng.uniform(1.0, 1.7) * (1.0 + height)
        return loads.wind_on_points(areas, loads.gusty_wind(rng, way, speed, 0.7)), None
    if excitation == "move":
        offset = loads.shake(rng, rng.uniform(0.1, 0.22) * height * way, (0.7 * rate, 1.1 * rate))
        return None, loads.carried(offset)
    goal = rng.uniform(0.08, 0.2) * height * (2 * math.pi * rate) ** 2
    strength, start, duration = goal * way, 0.05, rng.uniform(0.3, 0.6)

    def force(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        share = np.clip(x[:, 1:2] / height, 0.0, 1.0) ** 1.5
        return masses[:, None] * strength * share * loads.pulse(t, start, duration) - 0.3 * masses[:, None] * v

    return force, None


def potted_plant(rng: np.random.Generator) -> Asset:
    """A plant of the catalogue: each stem, leaf and petal is a link that springs where it meets what carries it."""
    assembly = draw("plant", rng)
    pieces, carriers = pieces_of(assembly), copy_parents(assembly)
    roots = np.concatenate([part.contacts for part in assembly.parts])
    is_leafy = np.concatenate([[part.role == "foliage"] * part.repeat.total for part in assembly.parts])
    tips = np.array(
        [
            p.vertices[np.argmax(np.linalg.norm(p.vertices - root, axis=1))]
            for p, root in zip(pieces, roots, strict=True)
        ]
    )
    lengths = np.linalg.norm(tips - roots, axis=1)
    mass = np.where(is_leafy, 0.12 * lengths**2 + 1e-5, 0.0)
    carried, reach = mass.copy(), lengths.copy()
    for k in reversed(np.flatnonzero(is_leafy & (carriers >= 0))):
        carried[carriers[k]] += carried[k]
        reach[carriers[k]] = max(reach[carriers[k]], float(np.linalg.norm(tips[k] - roots[carriers[k]])))
    inertia, rate = carried * reach**2 / 3, rng.uniform(1.0, 1.8)
    stems, links = StemBuilder(), np.full(len(pieces), -1)
    for k in np.flatnonzero(is_leafy):
        parent = int(links[carriers[k]])
        stiffness = inertia[k] * (2 * math.pi * rate * (1.0 if parent < 0 else rng.uniform(1.3, 2.2))) ** 2
        damping = (0.09 if parent < 0 else 0.25) * 2 * math.sqrt(stiffness * inertia[k])
        line = np.stack([roots[k], tips[k]])
        links[k] = stems.add(
            line, parent, radius=0.05 * lengths[k], mass=mass[k], stiffness=stiffness, damping=damping
        )[0]
    excitation = str(rng.choice(["wind", "push", "move"]))
    height = float(max(piece.vertices[:, 1].max() for piece in pieces))
    areas = 0.25 * lengths[is_leafy] ** 2
    force, base = disturbance(rng, areas, mass[is_leafy], height, rate, excitation)
    frame_count = int(rng.integers(28, 41))
    motion = FlexScene(rods=stems.build(carries_weight=False, force=force, base=base)).run(frame_count).links
    still = np.array([np.eye(4) if base is None else base(k / FPS) for k in range(frame_count)])
    out = []
    for k, piece in enumerate(pieces):
        if not is_leafy[k]:
            moved = lie.apply(still, piece.vertices)
        else:
            far = np.linalg.norm(piece.vertices - roots[k], axis=1) / lengths[k]
            before = int(links[carriers[k]])
            moved = bent(piece.vertices, 0.75 * far, links[k : k + 1], motion, None if before < 0 else before)
        out.append(SoftPiece(piece.part, piece.vertices, piece.faces, piece.surface, piece.material, moved))
    return assemble("potted_plant", out, frame_count, excitation)


def tree(rng: np.random.Generator) -> Asset:
    """A young tree: trunk, branches and tufts of leaves that sway at their own pace."""
    height, rate = rng.uniform(1.8, 3.5), rng.uniform(0.8, 1.3)
    stems, leaves = StemBuilder(), []
    lean = rng.normal(0.0, 0.04, 2) * height
    s = np.linspace(0.0, 1.0, 6)
    wobble = 0.02 * height * np.sin(2.2 * np.pi * s + rng.uniform(0, 6))
    points = np.stack([lean[0] * s**2 + wobble * s, height * s * 0.92, lean[1] * s**2], -1)
    mass = 30.0 * (height / 3) ** 3 * np.linspace(1.0, 0.3, 5) / 3.25
    stiffness, damping = springs(points, mass, 1.6 * rate, 0.08)
    trunk = stems.add(points, radius=0.04, mass=mass, stiffness=stiffness, damping=damping)
    girth = height * rng.uniform(0.018, 0.028)
    branches = _branches(rng, stems, points, trunk, height, rate)
    for line, chain in [*((branch, chain) for branch, chain, _ in branches), (points[-3:], trunk[-2:])]:
        leaves += _tuft(rng, stems, line, chain, 0.085 * height)
    excitation = str(rng.choice(["wind", "push"]))
    areas = np.full(len(stems.parents), 0.05)
    for shape, link, _ in leaves:
        areas[link] = 0.5 * float(np.ptp(shape.vertices, axis=0).max()) ** 2
    force, _ = disturbance(rng, areas, np.array(stems.mass), height, rate, excitation)
    frame_count = int(rng.integers(30, 41))
    motion = FlexScene(rods=stems.build(carries_weight=False, force=force)).run(frame_count, substeps=8).links
    bark = Surface("bark", color(rng, (0.04, 0.1), (0.3, 0.55), (0.25, 0.5)), roughness=0.95)
    radii = girth * np.linspace(1.0, 0.35, 6) * [1.35, 1, 1, 1, 1, 1]
    pieces = [stem_piece("trunk", points, trunk, motion, radii, bark, BRANCH, samples=3, segments=10)]
    for branch, chain, root in branches:
        radii = girth * np.linspace(0.42, 0.12, len(branch))
        pieces.append(
            stem_piece("branches", branch, chain, motion, radii, bark, BRANCH, samples=2, segments=6, before=root)
        )
    is_autumn = rng.random() < 0.25
    green = Surface("leaf", color(rng, (0.03, 0.13), (0.6, 0.85), (0.6, 0.85))) if is_autumn else leaf_surface(rng)
    moved = []
    for shape, link, carrier in leaves:
        out = np.linalg.norm(shape.vertices - shape.vertices[1], axis=1)
        moved.append(bent(shape.vertices, 0.75 * out / out.max(), np.array([link]), motion, carrier))
    crown = join([shape for shape, _, _ in leaves])
    pieces.append(SoftPiece("leaves", crown.vertices, crown.faces, green, LEAF, np.concatenate(moved, axis=1)))
    return assemble("tree", pieces, frame_count, excitation)


def _branches(
    rng: np.random.Generator, stems: StemBuilder, points: np.ndarray, trunk: np.ndarray, height: float, rate: float
) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Branches up the trunk in the golden angle: their points, their links and the trunk link they grow from."""
    out, phase, count = [], rng.uniform(0, 2 * np.pi), int(rng.integers(7, 12))
    crown, rise = rng.uniform(0.3, 0.42), rng.uniform(0.3, 0.9)
    for k in range(count):
        s = 0.38 + 0.55 * k / (count - 1)
        link = min(int(s * len(trunk)), len(trunk) - 1)
        root = points[link] + (s * len(trunk) - link) * (points[link + 1] - points[link])
        angle = phase + 2.39996 * k
        way = np.array([math.cos(angle), rise + rng.uniform(-0.15, 0.15), math.sin(angle)])
        length = height * crown * (1.25 - 0.85 * s) * rng.uniform(0.85, 1.1)
        t = np.linspace(0.0, 1.0, 4)[:, None]
        branch = root + length * (t * loads.unit(way) + 0.15 * t**2 * [0.0, 1.0, 0.0])
        mass = np.full(3, 0.4 * length**2)
        stiffness, damping = springs(branch, mass, 1.6 * rate * rng.uniform(0.9, 1.3), 0.1)
        chain = stems.add(branch, int(trunk[link]), radius=0.02, mass=mass, stiffness=stiffness, damping=damping)
        out.append((branch, chain, int(trunk[link])))
    return out


def _tuft(
    rng: np.random.Generator, stems: StemBuilder, points: np.ndarray, chain: np.ndarray, size: float
) -> list[tuple[Shape, int, int]]:
    """Leaves in the outer half of a branch, larger than life so that few make a crown: shape, link and carrier."""
    out = []
    for j in range(10):
        where = min((1.0 if j == 0 else rng.uniform(0.35, 1.0)) * len(chain), len(chain) - 1e-6)
        link = int(where)
        step = points[link + 1] - points[link]
        root = points[link] + (where - link) * step
        way = loads.unit(loads.unit(step) + (0.2 if j == 0 else 1.3) * loads.unit(rng.normal(0.0, 1.0, 3)))
        length = size * rng.uniform(0.8, 1.3)
        mass = 0.125 * length**2
        stiffness = mass * length**2 / 3 * (2 * math.pi * rng.uniform(2.0, 3.5)) ** 2
        damping = 0.5 * math.sqrt(stiffness * mass * length**2 / 3)
        line = np.stack([root, root + length * way])
        new = stems.add(line, int(chain[link]), radius=0.1 * length, mass=mass, stiffness=stiffness, damping=damping)
        out.append((_leaf(length, root, way), int(new[0]), int(chain[link])))
    return out


def _leaf(length: float, root: np.ndarray, way: np.ndarray) -> Shape:
    """A two-sided sheet along ``way``, folded along its rib and curling down."""
    s = np.linspace(0.0, 1.0, 4)
    breadth = 0.3 * length * np.sin(np.pi * s**0.8) ** 0.7 + 0.004 * length
    breadth[-1] = 0.004 * length
    rise = -0.15 * length * s**2
    rows = [np.stack([s * length, rise + 0.25 * abs(side) * breadth, side * breadth], -1) for side in (-1, 0, 1)]
    i = (np.arange(3)[:, None] * 3 + np.arange(2)[None]).reshape(-1)
    faces = np.concatenate([np.stack([i, i + 1, i + 3], -1), np.stack([i + 1, i + 4, i + 3], -1)])
    x = way / np.linalg.norm(way)
    z = np.cross(x, [0.0, 1.0, 0.0])
    z = np.array([0.0, 0.0, 1.0]) if np.linalg.norm(z) < 1e-3 else z / np.linalg.norm(z)
    return Shape(np.stack(rows, axis=1).reshape(-1, 3) @ np.stack([x, np.cross(z, x), z]) + root, faces)
