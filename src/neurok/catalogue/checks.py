"""What every generated object must pass: closed parts that really meet, one body, words that are known."""

from __future__ import annotations

import numpy as np

from neurok.catalogue import vocabulary
from neurok.catalogue.parts import Assembly, Part
from neurok.modelling.shapes import Shape

LEAST_VOLUME = 1e-12
"""[m^3] that two solids share at least where they meet."""

SIZES = (0.03, 4.0)
"""[m] between which the longest side of a household thing lies."""


def check_assembly(assembly: Assembly) -> list[str]:
    """Why an object is turned away, one sentence each; nothing when it is sound."""
    reasons = [reason for part in assembly.parts for reason in check_part(part)]
    if reasons:
        return reasons
    longest = float(np.ptp(assembly.bounds, axis=0).max())
    if not SIZES[0] <= longest <= SIZES[1]:
        return [f"it is {longest:.2f} m long"]
    reasons += [reason for part in assembly.parts if part.parent >= 0 for reason in _meets(part, assembly)]
    bodies = body_count([solid for part in assembly.parts for solid in part.solids])
    if bodies != 1 and not reasons:
        reasons.append(f"it falls into {bodies} bodies")
    return reasons


def check_part(part: Part) -> list[str]:
    """Whether a part is a closed solid and is called what the vocabulary knows."""
    unknown = [word for word in part.style if word not in vocabulary.STYLES]
    if part.name not in vocabulary.PART_NAMES:
        unknown.append(part.name)
    if unknown:
        return [f"part '{part.name}' uses the unknown word '{unknown[0]}'"]
    if not (np.isfinite(part.code).all() and np.isfinite(part.solid.vertices).all()):
        return [f"part '{part.name}' has numbers that are not finite"]
    if not is_closed(part.solid) or part.solid.volume <= 0:
        return [f"part '{part.name}' is not a closed solid"]
    return []


def is_closed(shape: Shape) -> bool:
    """Whether each edge has one face on either side."""
    edges = np.concatenate([shape.faces[:, [0, 1]], shape.faces[:, [1, 2]], shape.faces[:, [2, 0]]])
    count = len(shape.vertices)
    ways, back = np.sort(edges[:, 0] * count + edges[:, 1]), np.sort(edges[:, 1] * count + edges[:, 0])
    return bool((np.diff(ways) > 0).all() and np.array_equal(ways, back))


def body_count(solids: list) -> int:  # type: ignore[type-arg]
    """Into how many bodies the union of solids (of ``manifold3d``) falls."""
    import manifold3d

    whole = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    return sum(piece.volume() > 0 for piece in whole.decompose())


def _meets(part: Part, assembly: Assembly) -> list[str]:
    """Every copy of a part must share some volume with a copy of its parent."""
    parent = assembly.parts[part.parent]
    others = [(shape.bounds, solid) for shape, solid in zip(parent.copies, parent.solids, strict=True)]
    for shape, mine in zip(part.copies, part.solids, strict=True):
        low, high = shape.bounds
        near = [solid for (a, b), solid in others if (a <= high).all() and (b >= low).all()]
        if not any((mine ^ other).volume() > LEAST_VOLUME for other in near):
            return [f"part '{part.name}' does not meet '{parent.name}'"]
    return []
