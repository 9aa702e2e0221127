"""Objects made soft and set in motion: one lattice and one set of loads for all kinds of the household catalogue.

The soft parts of an object are filled with a lattice of tetrahedra, held where they meet rigid parts or a hand, and
loaded; their surfaces ride on the lattice. Version 2: forms come from the catalogue instead of one scene per kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.catalogue import Assembly, draw
from neurok.catalogue.appearance import material_of, surface_of
from neurok.core import Asset, Material, Surface
from neurok.geometry import lie
from neurok.geometry.decimate import decimate
from neurok.geometry.distance import closest_point
from neurok.geometry.even_triangles import split_long_edges
from neurok.modelling.profiles import arc
from neurok.modelling.shapes import Shape, join, lathe, loft
from neurok.modelling.sweeps import tube
from neurok_lab.worlds.soft import loads
from neurok_lab.worlds.soft.grids import TetrahedralLattice, lattice_of
from neurok_lab.worlds.soft.pieces import CERAMIC, FPS, WOOD, SoftPiece, assemble, color, still, wood_surface
from neurok_lab.worlds.soft.scene import GRAVITY, BodyMotion, Flex, FlexCollider, FlexScene, ground

MAX_FACES, MAX_VERTICES = 3200, 2950
"""Faces of a clip's mesh before soft parts are refined, and vertices afterwards."""

NEAR = 0.3
"""Lattice nodes this near to a rigid part are held by it [share of the spacing]."""


@dataclass(frozen=True)
class Kind:
    """How a category of the catalogue becomes soft."""

    category: str
    excitations: tuple[str, ...]
    soft: Collection[str] = ()
    """Names of the soft parts; all parts when empty."""

    pressed: Collection[str] = ()
    """Names of the parts that somebody sits on or presses; any soft one when empty."""

    density: tuple[float, float] = (30.0, 90.0)
    """Of the soft parts [kg/m^3]."""

    firmness: tuple[float, float] = (20.0, 50.0)
    """Young's modulus over the pressure under their own weight, so that none collapses."""

    hangs: bool = False
    """Whether a hand holds it by its top."""


SEATS = ("seat cushion", "chaise cushion")
KINDS = {
    "cushion": Kind("pillow", ("drop", "press", "poke")),
    "mattress": Kind("bed", ("press",), ("mattress", "pillow", "blanket", "folded sheet"), ("mattress",)),
    "sofa": Kind("sofa", ("press",), (*SEATS, "back cushion", "throw pillow"), SEATS, firmness=(25.0, 60.0)),
    "plush": Kind("teddy bear", ("drop", "poke", "shake", "press"), density=(40.0, 90.0), firmness=(25.0, 60.0)),
    "bag": Kind("bag", ("shake", "poke"), density=(60.0, 120.0), firmness=(80.0, 160.0), hangs=True),
    "hat": Kind("hat", ("nod", "bounce", "wind"), density=(60.0, 120.0), firmness=(30.0, 80.0)),
    "headband": Kind(
        "headband", ("stretch", "squeeze", "twist", "shake"), density=(60.0, 120.0), firmness=(40.0, 90.0)
    ),
    "rocking_chair": Kind("chair", ("rock",), ("seat", "seat cushion", "throw pillow"), firmness=(25.0, 60.0)),
}


def make(family: str, rng: np.random.Generator) -> Asset:
    """One object of a family of ``KINDS`` with its clip."""
    kind = KINDS[family]
    assembly = draw(kind.category, rng)
    while family == "rocking_chair" and not _is_padded(assembly):
        assembly = draw(kind.category, rng)
    pieces = pieces_of(assembly)
    soft = np.array([not kind.soft or piece.part in kind.soft for piece in pieces])
    if family == "rocking_chair":
        pieces, soft = [*pieces, _runners(rng, pieces)], np.append(soft, False)
    return soften(rng, family, pieces, soft, kind, str(rng.choice(kind.excitations)))


def pieces_of(assembly: Assembly) -> list[SoftPiece]:
    """The solids of a catalogue object, fewer triangles, each with look and material; copies share a part."""
    items = [(part, copy) for part in assembly.parts for copy in part.copies]
    whole = join([copy for _, copy in items])
    owner = np.repeat(np.arange(len(items)), [len(copy.faces) for _, copy in items])
    for share in (1.0, 0.7, 0.5, 0.35):
        vertices, faces, groups = decimate(whole.vertices, whole.faces, int(share * MAX_FACES), owner)
        if len(vertices) < MAX_VERTICES:
            break
    out = []
    for number, (part, _) in enumerate(items):
        used, local = np.unique(faces[groups == number], return_inverse=True)
        surface = surface_of(part.appearance, textured=False)
        out.append(SoftPiece(part.name, vertices[used], local.reshape(-1, 3), surface, material_of(part.appearance)))
    return out


def soften(
    rng: np.random.Generator,
    family: str,
    pieces: Sequence[SoftPiece],
    soft: Bool[np.ndarray, " P"],
    kind: Kind,
    load: str,
) -> Asset:
    """Fill the soft pieces of an object with one lattice, load it, and record how all pieces move."""
    pieces = _refined(pieces, soft)
    turn = np.eye(4)
    if load == "drop":
        turn = lie.rotation_about(loads.heading(rng), np.zeros(3), rng.uniform(-1.0, 1.0))
    low = min(float(lie.apply(turn, p.vertices)[:, 1].min()) for p in pieces)
    place = lie.translation(np.array([0.0, (rng.uniform(0.05, 0.25) if load == "drop" else 0.006) - low, 0.0])) @ turn
    pieces = [replace(p, vertices=lie.apply(place, p.vertices)) for p in pieces]
    padding, frame = ([pieces[k] for k in np.flatnonzero(mask)] for mask in (soft, ~soft))
    solid = lattice_of(*_joined(padding))
    pose = _base_motion(rng, load, solid)
    driven = _held(load, solid, frame, kind.hangs)
    density = rng.uniform(*kind.density)
    flex = Flex(
        solid.nodes,
        solid.tetrahedra,
        mass=density * solid.volume,
        young=density * GRAVITY * float(np.ptp(solid.nodes[:, 1])) * rng.uniform(*kind.firmness),
        poisson=rng.uniform(0.1, 0.35),
        damping=rng.uniform(0.01, 0.03),
        drag=rng.uniform(0.1, 0.5),
        friction=0.8,
        driven=driven,
        motion=_grip_motion(rng, load, solid, driven, pose),
    )
    colliders: list[FlexCollider] = [] if frame else [ground()]
    if load in ("press", "rock"):
        chosen = [p for p in padding if not kind.pressed or p.part in kind.pressed]
        colliders.append(_sitter(rng, chosen[int(rng.integers(len(chosen)))], pose))
    if load == "poke":
        flex = replace(flex, force=loads.punch(rng, flex, 2.0))
    if load == "wind":
        areas = np.full(len(solid.nodes), 2.0 * solid.volume ** (2 / 3) / len(solid.nodes))
        wind = loads.gusty_wind(rng, loads.heading(rng), rng.uniform(2.5, 5.0), 0.6)
        flex = replace(flex, force=loads.wind_on_points(areas, wind, 2.0))
    frame_count = int(rng.integers(26, 37))
    frames = FlexScene((flex,), colliders=tuple(colliders)).run(frame_count, substeps=8).nodes[0]
    moves = np.array([pose(k / FPS) for k in range(frame_count)])
    foam = {p.material: Material(p.material.name, flex.young, flex.poisson, density, "foam") for p in padding}
    out = []
    for piece, is_soft in zip(pieces, soft, strict=True):
        if is_soft:
            moved = solid.follow(piece.vertices, frames, None if frame else 0.0)
            out.append(replace(piece, material=foam[piece.material], positions=moved))
        else:
            out.append(replace(piece, positions=lie.apply(moves, piece.vertices)))
    return assemble(family, out, frame_count, load)


def _joined(pieces: Sequence[SoftPiece]) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    whole = join([Shape(piece.vertices, piece.faces) for piece in pieces])
    return whole.vertices, whole.faces


def _refined(pieces: Sequence[SoftPiece], soft: Bool[np.ndarray, " P"]) -> list[SoftPiece]:
    """Soft pieces bend between their vertices: their long edges are split, as far as the clip has room for."""
    longest = 0.08 * float(np.ptp(np.concatenate([p.vertices for p in pieces]), axis=0).max())
    for _ in range(12):
        out = []
        for piece, is_soft in zip(pieces, soft, strict=True):
            cut = split_long_edges(piece.vertices, piece.faces, longest if is_soft else np.inf)
            out.append(replace(piece, vertices=cut[0], faces=cut[1]))
        if sum(len(piece.vertices) for piece in out) < MAX_VERTICES:
            break
        longest *= 1.25
    return out


def _held(load: str, solid: TetrahedralLattice, frame: Sequence[SoftPiece], hangs: bool) -> Int[np.ndarray, " K"]:
    """Nodes that follow the rigid parts or a hand."""
    x = solid.nodes
    low, high = x.min(axis=0), x.max(axis=0)
    share = (x - low) / (high - low)
    if frame:
        near = closest_point(x, *_joined(frame)).distances < NEAR * solid.spacing
        for part in solid.components():
            if not near[part].any():
                near[part[x[part, 1] <= np.quantile(x[part, 1], 0.25)]] = True
        return np.flatnonzero(near)
    if load in ("nod", "bounce", "wind"):
        # The head inside a hat: below the middle, no farther out than the crown above.
        out = np.hypot(*(x - (low + high) / 2)[:, [0, 2]].T)
        return np.flatnonzero((share[:, 1] < 0.5) & (out < 1.05 * out[share[:, 1] > 0.6].max()))
    if load in ("stretch", "squeeze", "twist"):
        return np.flatnonzero((share[:, 0] < 0.12) | (share[:, 0] > 0.88))
    if load == "shake" or hangs:
        return np.argsort(-x[:, 1])[: max(8, len(x) // 30)]
    return np.zeros(0, dtype=np.int64)


def _base_motion(rng: np.random.Generator, load: str, solid: TetrahedralLattice) -> BodyMotion:
    """How the rigid parts, or the hand or head that holds the object, move as a whole."""
    size, low = float(np.ptp(solid.nodes, axis=0).max()), solid.nodes.min(axis=0)
    rate, side = 2 * np.pi * rng.uniform(0.8, 1.5), rng.choice([-1.0, 1.0])
    if load == "shake":
        offset = loads.shake(rng, size * np.array([0.25, 0.1, 0.25]) * rng.uniform(0.4, 1.0, 3), (0.9, 1.6))
        rise = rng.uniform(0.1, 0.3) * size
        return lambda t: lie.translation(offset(t) + [0.0, rise * loads.smooth_step(t, 0.0, 0.4), 0.0])
    if load == "bounce":
        high = rng.uniform(0.15, 0.3) * size
        return lambda t: lie.translation(
            np.array([0.0, high * math.sin(rate * t) ** 2, 0.0]) * loads.smooth_step(t, 0, 0.3)
        )
    if load in ("nod", "rock"):
        axis = loads.heading(rng) if load == "nod" else np.array([1.0, 0.0, 0.0])
        tilt, pivot = (
            side * (rng.uniform(0.25, 0.5) if load == "nod" else rng.uniform(0.1, 0.2)),
            low - [0.0, 0.06, 0.0],
        )
        curve = 0.0 if load == "nod" else ROCKER
        middle = pivot if load == "nod" else np.array([0.0, curve, 0.0])

        def pose(t: float) -> np.ndarray:
            angle = tilt * loads.smooth_step(t, 0.0, 0.4) * math.sin(0.7 * rate * t)
            return lie.translation(np.array([0.0, 0.0, curve * angle])) @ lie.rotation_about(axis, middle, angle)

        return pose
    return lambda t: np.eye(4)


def _grip_motion(
    rng: np.random.Generator, load: str, solid: TetrahedralLattice, driven: Int[np.ndarray, " K"], pose: BodyMotion
) -> Callable[[float], np.ndarray]:
    """Where the held nodes are: with the base, or pulled, pushed or twisted by two hands left and right."""
    x = solid.nodes[driven]
    if load not in ("stretch", "squeeze", "twist"):
        return lambda t: lie.apply(pose(t), x)
    size = float(np.ptp(solid.nodes, axis=0).max())
    side, rate = np.sign(x[:, 0] - solid.nodes[:, 0].mean()), rng.uniform(0.8, 1.4)
    far = size * rng.uniform(0.12, 0.25) * (1.0 if load == "stretch" else -0.8)
    turn, middle = rng.uniform(0.4, 0.9), x.mean(axis=0)

    def motion(t: float) -> np.ndarray:
        if load != "twist":
            return x + np.outer(side, [far * 0.5 * (1 - math.cos(2 * np.pi * rate * t)), 0.0, 0.0])
        angle = turn * math.sin(2 * np.pi * rate * t) * loads.smooth_step(t, 0.0, 0.3)
        both = [lie.apply(lie.rotation_about(np.array([1.0, 0.0, 0.0]), middle, s * angle), x) for s in (1, -1)]
        return np.where(side[:, None] > 0, *both)

    return motion


def _sitter(rng: np.random.Generator, piece: SoftPiece, pose: BodyMotion) -> FlexCollider:
    """Somebody who sits down on a piece: an unseen weight that moves with what carries it."""
    low, high = piece.vertices.min(axis=0), piece.vertices.max(axis=0)
    middle, reach = (low + high) / 2, (high - low) / 2
    spot = middle + reach * [rng.uniform(-0.3, 0.3), 1.0, rng.uniform(-0.3, 0.3)]
    radius = min(rng.uniform(0.4, 0.8) * float(reach[[0, 2]].min()), 0.3)
    weight = loads.presser(rng, spot, radius, min(rng.uniform(0.3, 0.55) * (high - low)[1], 0.8 * radius))
    follow = weight.motion
    assert follow is not None
    return replace(weight, motion=lambda t: pose(t) @ follow(t))


ROCKER = 1.0
"""Radius of the runners of a rocking chair [m]."""


def _is_padded(assembly: Assembly) -> bool:
    """A chair on legs with a soft seat: what runners can be put under."""
    parts = {part.name: part.appearance.cover for part in assembly.parts}
    return "leg" in parts and bool(parts.get("seat") or parts.get("seat cushion"))


def _runners(rng: np.random.Generator, pieces: Sequence[SoftPiece]) -> SoftPiece:
    """Two bows below the legs of a chair."""
    feet = np.concatenate([p.vertices for p in pieces if p.part == "leg"])
    reach, x = 1.25 * float(np.abs(feet[:, 2]).max()), 0.9 * float(np.abs(feet[:, 0]).max())
    drop = ROCKER - math.sqrt(ROCKER**2 - reach**2)
    half = math.degrees(math.asin(min(reach / ROCKER, 0.9)))
    bow = arc(ROCKER, -90 - half, -90 + half, 14, (0.0, ROCKER - 0.5 * drop))
    sides = [tube(np.stack([np.full(len(bow), s * x), bow[:, 1], bow[:, 0]], -1), 0.018, 8) for s in (-1, 1)]
    return still("runners", join(sides), wood_surface(rng), WOOD)


JELLY = Kind("jelly", ("shake", "poke", "drop"), density=(900.0, 1100.0), firmness=(9.0, 16.0))


def jelly(rng: np.random.Generator) -> Asset:
    """A pudding out of a mould - round, fluted, a star or square - on a plate that is shaken, or poked."""
    radius, height = rng.uniform(0.13, 0.2), rng.uniform(0.14, 0.24)
    corners, depth = int(rng.integers(4, 9)), float(rng.choice([0.0, 0.07, 0.15]))
    taper, dome, angle = rng.uniform(0.15, 0.45), rng.uniform(0.05, 0.3), np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rings = []
    for s in np.linspace(0.0, 1.0, 9):
        out = radius * (1 - taper * s) * math.sqrt(1 - 0.85 * max(0.0, (s - 1 + dome) / dome) ** 2)
        wave = out * (1.0 + depth * np.cos(corners * angle))
        rings.append(np.stack([wave * np.cos(angle), np.full(40, 0.018 + height * s), wave * np.sin(angle)], -1))
    pudding = loft(rings)
    finish = Surface("jelly", color(rng, saturation=(0.6, 0.9), value=(0.6, 0.95)), roughness=0.2)
    china = Surface("plate", color(rng, saturation=(0.0, 0.2), value=(0.85, 0.97)), roughness=0.3)
    rim = 1.5 * radius
    dish = lathe([(0, 0), (0.6 * rim, 0), (rim, 0.018), (rim, 0.023), (0.72 * rim, 0.018), (0, 0.018)], 36)
    gel = Material("gelatine", 2e4, 0.45, 1000.0)
    pieces = [still("jelly", pudding, finish, gel), still("plate", dish, china, CERAMIC)]
    return soften(rng, "jelly", pieces, np.array([True, False]), JELLY, str(rng.choice(["shake", "poke"])))


cushion, mattress, sofa, plush, bag, hat, headband, rocking_chair = (partial(make, family) for family in KINDS)
"""A maker for each of ``KINDS``, in their order."""
