"""Young trees that sway in the wind or when pushed."""

from __future__ import annotations

import math

import numpy as np

from neurok.core import Asset, Material, Surface
from neurok.families.soft import loads
from neurok.families.soft.pieces import assemble, color, leaf_surface
from neurok.families.soft.plants import Foliage, disturbance, link_areas, springs
from neurok.families.soft.scene import Scene
from neurok.families.soft.stems import StemBuilder, aimed, leaf_shape, stem_piece

BRANCH = Material("green wood", young=5e9, poisson=0.35, density=800.0)


def tree(rng: np.random.Generator) -> Asset:
    """A young tree: trunk, branches and tufts of leaves that sway at their own pace."""
    height = rng.uniform(1.8, 3.5)
    stems, foliage = StemBuilder(), Foliage()
    rate = rng.uniform(0.8, 1.3)
    lean = rng.normal(0.0, 0.04, 2) * height
    s = np.linspace(0.0, 1.0, 6)
    wobble = 0.02 * height * np.sin(2.2 * np.pi * s + rng.uniform(0, 6))
    points = np.stack([lean[0] * s**2 + wobble * s, height * s * 0.92, lean[1] * s**2], -1)
    mass = 30.0 * (height / 3) ** 3 * np.linspace(1.0, 0.3, 5) / 3.25
    stiffness, damping = springs(points, mass, 1.6 * rate, 0.08)
    trunk = stems.add(points, radius=0.04, mass=mass, stiffness=stiffness, damping=damping)
    girth = height * rng.uniform(0.018, 0.028)
    branches = _branches(rng, stems, points, trunk, height, rate)
    for branch, chain, _ in branches:
        _tufts(rng, stems, foliage, branch, chain, height)
    _tufts(rng, stems, foliage, points[-3:], trunk[-2:], height)
    excitation = str(rng.choice(["wind", "push"]))
    areas = link_areas(stems, foliage, 0.03)
    force, _ = disturbance(rng, 1.6 * areas, np.array(stems.mass), height, rate, excitation)
    frame_count = int(rng.integers(30, 41))
    motion = Scene(rods=stems.build(carries_weight=False, force=force)).run(frame_count, substeps=8).links
    bark = Surface("bark", color(rng, (0.04, 0.1), (0.3, 0.55), (0.25, 0.5)), roughness=0.95)
    radii = girth * np.linspace(1.0, 0.35, 6)
    radii[0] *= 1.35
    pieces = [stem_piece("trunk", points, trunk, motion, radii, bark, BRANCH, samples=3, segments=10)]
    for branch, chain, root in branches:
        radii = girth * np.linspace(0.42, 0.12, len(branch))
        pieces.append(
            stem_piece("branches", branch, chain, motion, radii, bark, BRANCH, samples=2, segments=6, before=root)
        )
    autumn = rng.random() < 0.25
    green = Surface("leaf", color(rng, (0.03, 0.13), (0.6, 0.85), (0.6, 0.85))) if autumn else leaf_surface(rng)
    pieces.append(foliage.piece(motion, green))
    return assemble("tree", pieces, frame_count, excitation)


def _branches(
    rng: np.random.Generator,
    stems: StemBuilder,
    points: np.ndarray,
    trunk: np.ndarray,
    height: float,
    rate: float,
) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Branches up the trunk in the golden angle: their points, their links and the trunk link they grow from."""
    out, phase = [], rng.uniform(0, 2 * np.pi)
    count = int(rng.integers(7, 12))
    crown, rise = rng.uniform(0.3, 0.42), rng.uniform(0.3, 0.9)
    for k in range(count):
        s = 0.38 + 0.55 * k / (count - 1)
        where = s * len(trunk)
        link = min(int(where), len(trunk) - 1)
        root = points[link] + (where - link) * (points[link + 1] - points[link])
        angle = phase + 2.39996 * k
        way = np.array([math.cos(angle), rise + rng.uniform(-0.15, 0.15), math.sin(angle)])
        length = height * crown * (1.25 - 0.85 * s) * rng.uniform(0.85, 1.1)
        t = np.linspace(0.0, 1.0, 4)[:, None]
        branch = root + length * (t * loads.unit(way) + 0.15 * t**2 * [0.0, 1.0, 0.0])
        mass = np.full(3, 1.2 * (length / 1.0) ** 2 / 3)
        stiffness, damping = springs(branch, mass, 1.6 * rate * rng.uniform(0.9, 1.3), 0.1)
        out.append(
            (
                branch,
                stems.add(branch, int(trunk[link]), radius=0.02, mass=mass, stiffness=stiffness, damping=damping),
                int(trunk[link]),
            )
        )
    return out


def _tufts(
    rng: np.random.Generator, stems: StemBuilder, foliage: Foliage, points: np.ndarray, chain: np.ndarray, height: float
) -> None:
    """Leaves in the outer half of a branch, each larger than life so that few make a crown."""
    size = height * 0.085
    for j in range(10):
        s = 1.0 if j == 0 else rng.uniform(0.35, 1.0)
        where = min(s * len(chain), len(chain) - 1e-6)
        link = int(where)
        root = points[link] + (where - link) * (points[link + 1] - points[link])
        along = loads.unit(points[link + 1] - points[link])
        way = loads.unit(along + (0.2 if j == 0 else 1.3) * loads.unit(rng.normal(0.0, 1.0, 3)))
        length = size * rng.uniform(0.8, 1.3)
        shape = aimed(leaf_shape(length, 0.6 * length, rows=4, curl=0.15), root, way)
        foliage.add(stems, shape, root, root + length * way, int(chain[link]), rng.uniform(2.0, 3.5))
