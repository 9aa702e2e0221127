"""Families that the household catalogue makes already: each object is drawn there and becomes parts on joints here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neurok.catalogue import Assembly, draw
from neurok.catalogue import Part as CataloguePart
from neurok.catalogue.appearance import surface_of
from neurok.catalogue.parts import placed
from neurok.errors import NeurokError
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.builder import Builder, Part
from neurok.modelling.dice import Dice
from neurok.modelling.shapes import Shape
from neurok_lab.worlds.articulated.kit import Z

FLAT, FINEST = 1.5e-3, 2e-4
"""Edges of the catalogue's fine meshes are drawn together within this share of a solid's size, or this distance [m]."""

TRIES = 60


def wardrobe(d: Dice) -> Builder:
    """Tall doors, perhaps drawers below them, a rail inside."""
    return _drawn(d, "wardrobe", "cabinet", ["wardrobe"])


def chest_of_drawers(d: Dice) -> Builder:
    """Rows of drawers, the upper ones sometimes side by side."""
    return _drawn(d, "chest_of_drawers", "cabinet", ["chest"])


def desk(d: Dice) -> Builder:
    """A top on pedestals of drawers and doors, perhaps a drawer over the knees."""
    return _drawn(d, "desk", "desk")


def microwave(d: Dice) -> Builder:
    """A door, a turntable inside, and knobs or buttons beside it."""
    return _drawn(d, "microwave", "microwave")


def refrigerator(d: Dice) -> Builder:
    """One to three doors with racks, shelves inside."""
    return _drawn(d, "refrigerator", "fridge")


def desk_lamp(d: Dice) -> Builder:
    """A lamp on jointed arms, on a desk or on the floor."""
    return _drawn(d, "desk_lamp", "lamp", ["desk lamp", "floor lamp"])


def laptop(d: Dice) -> Builder:
    """Closed as built; the usual stored state is open."""
    return _drawn(d, "laptop", "laptop")


def door(d: Dice) -> Builder:
    """A leaf or two in a frame, with levers or knobs that turn."""
    return _drawn(d, "door", "door")


def chest(d: Dice, family: str = "box") -> Builder:
    """A toy box, a blanket box, a trunk or a jewellery box with its lid."""
    return _drawn(d, family, "box")


def bin_with_lid(d: Dice, family: str = "trash_can") -> Builder:
    """A bin with a pedal, a swinging flap or a lid to flip."""
    return _drawn(d, family, "bin")


def _drawn(d: Dice, family: str, category: str, styles: Sequence[str] = ()) -> Builder:
    """The first object of a category that moves and is of one of the styles."""
    for _ in range(TRIES):
        assembly = draw(category, d.rng)
        if any(part.hinge for part in assembly.parts) and (not styles or set(styles) & set(assembly.style)):
            return jointed(assembly, family, d)
    raise NeurokError(f"The catalogue gave no {category} that moves in {TRIES} draws.")


def jointed(assembly: Assembly, family: str, d: Dice) -> Builder:
    """An object of the catalogue with one part for all that moves together; its buttons and levers move too."""
    builder = Builder(family)
    made: list[Part] = []
    for item in assembly.parts:
        parent = made[item.parent] if made else None
        solids = [_simple(placed(item.solid, pose)) for pose in item.poses]
        surface = surface_of(replace(item.look, pattern="plain"))
        if item.hinge is not None:
            h = item.hinge
            part = builder.part(item.name, parent, h.kind, h.axis, h.origin, h.lower, h.upper)
        elif item.name == "button":
            made.append(parent or builder.part(item.name))
            for solid in solids:
                travel = d.between(0.3, 0.8) * float(np.ptp(solid.bounds, axis=0)[2]) / 2
                made[-1].slide("button", Z, -travel, 0.0).add(solid, surface)
            continue
        elif parent is not None and _turns(item, assembly.category):
            swing = 0.8 * np.sign(item.contacts[0, 0] - item.centre[0]) if "lever" in item.style else 0.8
            limits = sorted((0.0, float(swing))) if "lever" in item.style else (-0.8, 0.8)
            part = parent.hinge("handle", Z, item.contacts[0], *limits)
        else:
            part = parent or builder.part(item.name)
        made.append(part.add(solids, surface))
    return builder


def _turns(item: CataloguePart, category: str) -> bool:
    """Whether a part that is fixed in the catalogue turns: what one opens a door by."""
    return category == "door" and item.role == "handle" and "bar" not in item.style


def _simple(shape: Shape) -> Shape:
    """The same solid with fewer triangles and none without area."""
    size = float(np.linalg.norm(np.ptp(shape.bounds, axis=0)))
    return from_manifold(to_manifold(shape).simplify(min(FLAT * size, FINEST)))
