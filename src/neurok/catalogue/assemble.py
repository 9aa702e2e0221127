"""Collects placed solids into an object, finds where each meets its parent; legs, castors and rockers for all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from neurok.catalogue.parts import Appearance, Assembly, Hinge, Part, Repeat, Role
from neurok.catalogue.solids import Solid, Triple, block, leg_solid, tube, turned
from neurok.catalogue.vocabulary import ROLE_OF
from neurok.modelling.forms import Hollow, Relief
from neurok.modelling.sampler import Sampler

ONCE = Repeat()
PAIR = Repeat("x")
FOUR = Repeat("xz")
ROOT = -1
"""Parent of the first part."""


class Maker:
    """An object in the making; ``add`` returns the number of the part, which children name as their parent."""

    def __init__(self, category: str, *style: str) -> None:
        self.category = category
        self.parts: list[Part] = []
        self.style = list(style)

    def add(
        self,
        name: str,
        solid: Solid,
        finish: Appearance,
        parent: int = ROOT,
        *style: str,
        role: Role | None = None,
        repeat: Repeat = ONCE,
        hollow: Hollow | None = None,
        relief: Relief = "smooth",
        meets: npt.ArrayLike | None = None,
        hinge: Hinge | None = None,
    ) -> int:
        """A part that meets ``parent``; where, is found from the solids unless it is given.

        Its role follows from its name (``vocabulary.ROLE_OF``) unless it is given; empty words of style are left out.
        """
        words = tuple(dict.fromkeys(word for word in style if word))
        role = role or cast(Role, ROLE_OF[name])
        at = np.asarray(solid.centre if meets is None else meets)
        fields = (solid.kind, solid.code, solid.size, solid.centre, solid.turn)
        part = Part(name, role, *fields, finish, words, hollow, relief, repeat, parent, at, hinge)
        if meets is None and parent >= 0:
            found = overlap(part, self.parts[parent])
            if found is not None:
                part = placed_anew(part, meets=found)
        self.parts.append(part)
        return len(self.parts) - 1

    def done(self, name: str = "") -> Assembly:
        """The finished object, put on the ground."""
        return grounded(Assembly(self.category, tuple(self.parts), tuple(dict.fromkeys(self.style)), name))


def overlap(child: Part, parent: Part) -> np.ndarray | None:
    """The middle of the largest piece that the first copy of a part shares with its parent, if they meet."""
    mine, (low, high) = child.solids[0], child.copies[0].bounds
    best, place = 0.0, None
    for shape, other in zip(parent.copies, parent.solids, strict=True):
        if (shape.bounds[0] > high).any() or (shape.bounds[1] < low).any():
            continue
        shared = mine ^ other
        volume = shared.volume()
        if volume > best:
            ends = np.array(shared.bounding_box()).reshape(2, 3)
            best, place = volume, ends.mean(axis=0)
    return place


def grounded(assembly: Assembly) -> Assembly:
    """The same object standing on y = 0."""
    return moved(assembly, np.array([0.0, -float(assembly.bounds[0, 1]), 0.0]))


def moved(assembly: Assembly, offset: np.ndarray) -> Assembly:
    """The same object elsewhere."""

    def shifted(part: Part) -> Part:
        repeat = replace(part.repeat, pivot=np.asarray(part.repeat.pivot) + offset[[0, 2]])
        hinge = part.hinge and replace(part.hinge, origin=np.asarray(part.hinge.origin) + offset)
        centre, meets = part.centre + offset, part.meets + offset
        return placed_anew(part, centre=centre, meets=meets, repeat=repeat, hinge=hinge)

    return replace(assembly, parts=tuple(shifted(part) for part in assembly.parts))


def placed_anew(part: Part, **changes: Any) -> Part:
    """The same part placed otherwise; its solid in its own axes is kept if it is made, because it costs most."""
    other = replace(part, **changes)
    if "solid" in part.__dict__:
        other.__dict__["solid"] = part.solid
    return other


def add_legs(
    m: Maker,
    d: Sampler,
    kind: str,
    finish: Appearance,
    parent: int,
    top: Triple,
    foot: Triple,
    thick: float,
    *style: str,
    repeat: Repeat = FOUR,
) -> int:
    """Legs from ``foot`` up to ``top`` (of the first), under the four corners of something unless said otherwise."""
    solid, word = leg_solid(d, kind, top, foot, thick)
    return m.add("leg", solid, finish, parent, word, *style, repeat=repeat)


def add_castors(
    m: Maker, finish: Appearance, parent: int, at: Triple, size: tuple[float, float], edge: float, repeat: Repeat = FOUR
) -> int:
    """Small wheels of a diameter and a width [m] that roll along z."""
    wide, thin = size
    solid = block((wide, thin, wide), at, turned(z=90), corner=1.0, edge=edge)
    return m.add("castor", solid, finish, parent, "round", repeat=repeat)


def add_rockers(
    m: Maker, finish: Appearance, parent: int, x: float, z: float, beyond: float, rise: float, r: float
) -> None:
    """A pair of runners along z on which something rocks."""
    points = [(x, rise, -z - beyond), (x, 0.0, -0.5 * z), (x, 0.0, 0.5 * z), (x, rise, z + beyond)]
    m.add("rocker", tube(points, r, square=0.8, bend=1.0), finish, parent, "curved", repeat=PAIR)
    m.style.append("rocking")


def around(count: int, pivot: tuple[float, float] = (0.0, 0.0)) -> Repeat:
    """Copies evenly about the vertical through a pivot (x, z)."""
    return Repeat(count=count, turn=2 * np.pi / count, pivot=pivot)
