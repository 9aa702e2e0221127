"""Families that the household catalogue makes already: each object is drawn there and becomes parts on joints here."""

from __future__ import annotations

import numpy as np

from neurok.catalogue import Assembly, Part, draw
from neurok.catalogue.appearance import surface_of
from neurok.catalogue.parts import placed
from neurok.errors import NeurokError
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.builder import Builder, Link
from neurok.modelling.sampler import Sampler
from neurok.modelling.shapes import Shape
from neurok_lab.worlds.articulated.kit import Z

FLAT, FINEST = 1.5e-3, 2e-4
"""Edges of the catalogue's fine meshes are drawn together within this share of a solid's size, or this distance [m]."""

TRIES = 600


DRAWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "wardrobe": ("cabinet", ("wardrobe",)),
    "cupboard": ("cabinet", ("cupboard",)),
    "sideboard": ("cabinet", ("sideboard",)),
    "nightstand": ("cabinet", ("nightstand",)),
    "bookcase": ("cabinet", ("bookcase",)),
    "chest_of_drawers": ("cabinet", ("chest",)),
    "table": ("table", ()),
    "desk": ("desk", ()),
    "microwave": ("microwave", ()),
    "refrigerator": ("fridge", ()),
    "desk_lamp": ("lamp", ("desk lamp", "floor lamp")),
    "laptop": ("laptop", ()),  # closed as built; the usual stored state is open
    "door": ("door", ()),  # with levers or knobs that turn
    "box": ("box", ()),  # one of several kinds of box
    "trash_can": ("bin", ()),  # one of several kinds of bin
}
"""Family to a category of the catalogue, and to styles of which an object has one."""


def drawn(d: Sampler, family: str) -> Builder:
    """The first object of the family's category that moves and is of one of its styles."""
    category, styles = DRAWN[family]
    for _ in range(TRIES):
        assembly = draw(category, d.rng)
        if any(part.hinge for part in assembly.parts) and (not styles or set(styles) & set(assembly.style)):
            return jointed(assembly, family, d)
    raise NeurokError(f"The catalogue gave no {category} that moves in {TRIES} draws.")


def jointed(assembly: Assembly, family: str, d: Sampler) -> Builder:
    """An object of the catalogue with one part for all that moves together; its buttons and levers move too."""
    builder = Builder(family)
    made: list[Link] = []
    for item in assembly.parts:
        parent = made[item.parent] if made else None
        solids = [_simple(placed(item.solid, pose)) for pose in item.poses]
        surface = surface_of(item.appearance, textured=False)
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


def _turns(item: Part, category: str) -> bool:
    """Whether a part that is fixed in the catalogue turns: what one opens a door by."""
    return category == "door" and item.role == "handle" and "bar" not in item.style


def _simple(shape: Shape) -> Shape:
    """The same solid with fewer triangles and none without area."""
    size = float(np.linalg.norm(np.ptp(shape.bounds, axis=0)))
    return from_manifold(to_manifold(shape).simplify(min(FLAT * size, FINEST)))
