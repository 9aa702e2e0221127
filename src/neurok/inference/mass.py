"""What an object weighs: what its geometry holds, fused with what such things weigh.

A closed surface of a file is rarely solid in life. The geometric estimate takes walls, sheets, solids; the prior is a
log-normal mass by the volume of the box, of the class of things that the object was recognised as, or else of its
material family at its size (``object_lexicon.json``). Both are log-normal, so the fused mass is their mean weighted by
precision (the product of two normal densities of ln m). Every engine and file then has the same mass, since the density
of the material field is scaled to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from neurok.core import Material, MaterialField, Mesh
from neurok.core.material import DENSITY_RANGE, SHEET_SHARE
from neurok.core.material_library import library
from neurok.errors import NeurokError
from neurok.geometry.operators import closed_components, face_areas, mass_properties
from neurok.geometry.topology import face_components
from neurok.inference.things import Identity, Thing, lexicon

STONE = ("marble", "granite", "concrete", "brick", "plaster")
"""Materials of the family of ceramics that are solid by nature."""

BOARD = 0.018
"""Wall of wooden things at the usual size [m]: the common thickness of furniture boards."""

SEWN = 3.0
"""Layers of the walls of bags, hats and clothes: cloth, lining, and padding or seams."""

USUAL_SIZE = 0.5
"""Longest side of things that have the wall of their material's usual sheets [m]."""

WALL_RANGE = (0.5, 2.0)
"""Share of that wall which things have that are far smaller or larger; between, walls grow with the root of size."""

SLAB = 0.01
"""Wall of what is solid by nature where somebody says that it is hollow [m]: cast stone, thick plaster, foam."""

OFTEN = 3.0
"""Log-odds behind the most usual material within which others are usual: one thing in twenty is made of them."""

MATERIAL_RANGE = (0.3, 3.0)
"""How far an unusual material changes what a thing weighs: it keeps its strength with thicker or thinner walls."""

NINETY = 3.29
"""Standard deviations between the 5th and the 95th percentile of a normal distribution."""

SPREAD = {"solid": 0.6, "hollow": 0.8, "filled": 1.6}
"""Standard deviation of ln m of the geometric estimate, by what is behind the surface: a factor of 1.8, 2.2 and 5.
Goods in a bottle or a box are not in the geometry at all."""

UNKNOWN_SPREAD = 1.0
"""The same where nobody knows what the object is, and so whether it is solid."""

FLAT = 3.0
"""What is at most as thick as this many of its sheets is a sheet, whose area and thickness say all."""


@dataclass(frozen=True)
class Weighing:
    """What somebody says about the mass of an object."""

    mass: float | None = None
    """Of the whole object [kg]."""

    hollow: bool | None = None
    """Whether closed surfaces are hollow; by default as their material and the thing are."""

    thickness: float | None = None
    """Of walls and sheets [m]."""

    def __post_init__(self) -> None:
        for name, unit in (("mass", "kg"), ("thickness", "m")):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise NeurokError(f"{name} must be positive [{unit}], got {value:g}.")


AS_ESTIMATED = Weighing()


@dataclass(frozen=True, eq=False)
class MassEstimate:
    """What an object weighs, and how that came about."""

    mass: float
    """[kg]."""

    interval: tuple[float, float]
    """5th and 95th percentile [kg]; both the mass where it is known."""

    reason: str
    field: MaterialField
    """The materials with densities that give this mass."""


def estimate_mass(
    mesh: Mesh,
    field: MaterialField,
    identity: Identity | None = None,
    stated: Bool[np.ndarray, " V"] | None = None,
    weighing: Weighing = AS_ESTIMATED,
) -> MassEstimate:
    """The mass of an object of known materials.

    Args:
        mesh: The object.
        field: Its materials.
        identity: What it was recognised as.
        stated: Vertices whose density somebody measured: these stay as they are, and the prior does not count.
        weighing: What somebody says of its mass.
    """
    stated = np.zeros(mesh.vertex_count, dtype=bool) if stated is None else stated
    if weighing.thickness is not None:
        field = replace(field, materials=tuple(replace(m, thickness=weighing.thickness) for m in field.materials))
    form = identity.thing.form if identity is not None else "hollow"
    walls, hollow = _walled(mesh, field, stated, form, weighing)
    geometric = total_mass(mesh, walls)
    if weighing.mass is not None:
        return MassEstimate(
            weighing.mass, (weighing.mass,) * 2, "given", scaled(mesh, walls, weighing.mass, np.zeros_like(stated))
        )
    shape = f"{'hollow with usual walls' if hollow else 'solid' if form != 'hollow' else 'as its surfaces are'}"
    usual = None if stated.any() or weighing.hollow is not None or weighing.thickness else _usual(mesh, field, identity)
    if usual is None or geometric <= 0:
        why = "densities of the file" if stated.all() else f"geometry ({shape})"
        return MassEstimate(geometric, (geometric,) * 2, f"{why}: {geometric:.3g} kg", walls)
    (low, high), of_what = usual
    spread = SPREAD[form] if identity is not None else UNKNOWN_SPREAD
    mass, deviation = fused(geometric, spread, math.sqrt(low * high), math.log(high / low) / NINETY)
    reason = f"geometry ({shape}) {geometric:.3g} kg, {of_what} of its box {low:.2g} to {high:.2g} kg"
    half = math.exp(deviation * NINETY / 2)
    return MassEstimate(mass, (mass / half, mass * half), reason, scaled(mesh, walls, mass, stated))


def fused(first: float, first_spread: float, second: float, second_spread: float) -> tuple[float, float]:
    """Two log-normal estimates of one number as one: median and standard deviation of its logarithm."""
    weights = np.array([first_spread**-2.0, second_spread**-2.0])
    mean = float(weights @ np.log([first, second]) / weights.sum())
    return math.exp(mean), float(weights.sum() ** -0.5)


def total_mass(mesh: Mesh, field: MaterialField) -> float:
    """What engines and files make of a field: closed pieces solid, open ones sheets [kg]."""
    density = field.density[mesh.faces].mean(axis=1)
    usual = field.thickness[mesh.faces].mean(axis=1)
    thickness = np.where(np.isnan(usual), SHEET_SHARE * mesh.size * mesh.unit, usual)
    metres, total = mesh.unit * mesh.vertices, 0.0
    for part in np.unique(mesh.face_parts):
        mine = mesh.face_parts == part
        total += mass_properties(metres, mesh.faces[mine], density[mine], thickness[mine])[0]
    return total


def scaled(mesh: Mesh, field: MaterialField, mass: float, stated: Bool[np.ndarray, " V"]) -> MaterialField:
    """The field with densities, but for stated ones, that give the object a mass; as far as densities go."""
    found, density = total_mass(mesh, field), field.density
    if found <= 0:
        return field
    density = np.where(stated, density, np.clip(density * (mass / found), *DENSITY_RANGE))
    return replace(field, values={**field.values, "density": density})


def _walled(
    mesh: Mesh, field: MaterialField, stated: Bool[np.ndarray, " V"], form: str, weighing: Weighing
) -> tuple[MaterialField, bool]:
    """The field in which hollow closed pieces weigh what their walls weigh, and whether there are any."""
    if weighing.hollow is False:
        return field, False
    piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
    areas = np.bincount(piece, face_areas(mesh.vertices, mesh.faces))
    corners = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    depth = np.abs(np.bincount(piece, np.linalg.det(corners) / 6.0)) / np.maximum(areas, 1e-300) * mesh.unit
    depth[~closed_components(mesh.vertices, mesh.faces, piece)] = 0.0
    of_vertex = np.zeros(mesh.vertex_count)
    of_vertex[mesh.faces] = depth[piece][:, None]
    longest = float(np.ptp(mesh.vertices[mesh.faces].reshape(-1, 3), axis=0).max()) * mesh.unit
    share = 1.0 if weighing.thickness else float(np.clip(math.sqrt(longest / USUAL_SIZE), *WALL_RANGE))
    solid = form == "solid" and weighing.hollow is None
    walls = np.array([math.inf if solid else share * _wall(m, weighing) for m in field.materials])[field.ids]
    filled = np.where(stated, 1.0, np.minimum(1.0, walls / np.maximum(of_vertex, 1e-300)))
    density = np.clip(field.density * filled, *DENSITY_RANGE)
    return replace(field, values={**field.values, "density": density}), bool((filled < 1.0).any())


def is_solid(material: Material) -> bool:
    """Whether closed things of a material are filled with it by nature."""
    return math.isinf(_wall(material, AS_ESTIMATED))


def _wall(material: Material, weighing: Weighing) -> float:
    """Usual wall of closed things of a material [m]; infinite where they are solid by nature."""
    family = _family(material)
    if material.thickness is not None:
        return material.thickness * (SEWN if family in ("fabric", "leather") and not weighing.thickness else 1.0)
    if family == "wood":
        return BOARD
    return SLAB if weighing.hollow else math.inf


def _family(material: Material) -> str:
    known = library().get(material.name)
    return "" if known is None else "stone" if material.name in STONE else known.family


def _usual(mesh: Mesh, field: MaterialField, identity: Identity | None) -> tuple[tuple[float, float], str] | None:
    """What such things weigh, 5th and 95th percentile [kg], and what they are; nothing for sheets."""
    extents = _box(mesh.vertices[np.unique(mesh.faces)] * mesh.unit)
    sheet = np.nanmin(field.thickness) if np.isfinite(field.thickness).any() else 0.0
    if extents.min() <= max(FLAT * sheet, 1e-6):
        return None
    box = float(extents.prod())
    if identity is not None and identity.thing.form != "hollow":  # what fills it is not between its pieces
        piece = face_components(mesh.vertices, mesh.faces, mesh.face_parts)
        each = (mesh.vertices[np.unique(mesh.faces[piece == one])] * mesh.unit for one in range(int(piece.max()) + 1))
        box = min(box, float(sum(_box(points).prod() for points in each)))
    if identity is not None:
        factor = _by_size(identity.thing, float(extents.max())) * _by_material(identity.thing, mesh, field)
        low, high = factor * identity.thing.bulk[0], factor * identity.thing.bulk[1]
        return (low * box, high * box), f"{identity.thing.name} ('{identity.word}')"
    low, high = _class_bulk(mesh, field, float(extents.max()))
    return (low * box, high * box), "a thing of its material and size"


def _box(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, " 3"]:
    """Sides of the smaller one of two boxes: along the axes, and along the principal directions."""
    extents = np.ptp(points, axis=0)
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    turned = np.ptp(points @ axes.T, axis=0)
    return turned if len(turned) == 3 and turned.prod() < extents.prod() else extents


def _by_size(thing: Thing, longest: float) -> float:
    """Bulk density beside that at the usual size: walls grow with the root of size, so that it falls with it."""
    if thing.size is None or thing.form != "hollow":
        return 1.0
    return float(np.clip(math.sqrt(math.sqrt(thing.size[0] * thing.size[1]) / longest), *WALL_RANGE))


def _by_material(thing: Thing, mesh: Mesh, field: MaterialField) -> float:
    """Bulk density beside that of the usual material of such things: a bowl of plastic has lighter, thinner walls."""
    if thing.form == "filled":
        return 1.0
    best = max(thing.made_of, key=lambda name: thing.made_of[name])
    usual = library()[{"@wood": "wood"}.get(best, best)].material
    weight = lambda m: math.log(m.density * (1.0 if thing.form == "solid" else _sheet(m)))  # noqa: E731
    beside = [0.0 if _is_usual(m, thing) else weight(m) - weight(usual) for m in field.materials]
    mean = float(np.average(beside, weights=_areas(mesh, field) + 1e-300))
    return float(np.clip(math.exp(mean), *MATERIAL_RANGE))


def _is_usual(material: Material, thing: Thing) -> bool:
    """Whether things of a class are often made of a material, so that what they weigh counts such ones, too."""
    odds = max(thing.made_of.get(material.name, -math.inf), thing.made_of.get(f"@{_family(material)}", -math.inf))
    return odds >= max(thing.made_of.values()) - OFTEN


def _sheet(material: Material) -> float:
    """Usual wall of a material whether or not it is solid by nature [m]."""
    return material.thickness or (BOARD if _family(material) == "wood" else SLAB)


def _areas(mesh: Mesh, field: MaterialField) -> Float[np.ndarray, " M"]:
    """Of the surface of each material."""
    return np.bincount(field.ids[mesh.faces[:, 0]], face_areas(mesh.vertices, mesh.faces), len(field.materials))


def _class_bulk(mesh: Mesh, field: MaterialField, longest: float) -> tuple[float, float]:
    """Bulk density of things of these materials at a size, between the columns for 0.1 m and 1 m [kg/m^3]."""
    classes = lexicon()["classes"]
    areas = _areas(mesh, field)
    share = float(np.clip(math.log10(longest / 0.1), 0.0, 1.0))
    rows = np.log([classes.get(_family(m), classes["wood"]) for m in field.materials])
    mean = np.average((1 - share) * rows[:, 0] + share * rows[:, 1], axis=0, weights=areas + 1e-300)
    return float(np.exp(mean[0])), float(np.exp(mean[1]))
