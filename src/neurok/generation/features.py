"""Features that no list of parts has learned: sliding doors, bunk beds, chest freezers, made of what the list wrote.

Each is a change of the assembled object on the same grammar, with joints, so that it can be edited and simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neurok.catalogue.assemble import FOUR, PAIR, Maker, grounded, placed_anew
from neurok.catalogue.casework import SINK, THICKNESS, board_between
from neurok.catalogue.parts import Appearance, Assembly, Hinge, Part, Repeat
from neurok.generation.attachment import reach_of
from neurok.generation.contacts import ends_of, shifted
from neurok.generation.editing import in_colour, of_material, removed
from neurok.generation.fronts import boxed
from neurok.generation.lexicon import Span
from neurok.generation.request import Request
from neurok.generation.reshaping import resized

# Measures [m].
RAIL = 0.02  # height of the rails that doors run on
PLAY = 0.003  # between what slides past each other
LAP = 0.02  # by which closed doors lie over each other
PULL = np.array([0.025, 0.16, 0.006])  # sides of a flush pull
SITTING = 0.75  # free height above the lower bed of two, in which one can sit (EN 747 asks for 0.75)
GUARD = 0.26  # height of the guard rails above the upper mattress (EN 747 asks for 0.16, and the mattress gives way)
POST, RUNG, STILE = 0.06, 0.25, 0.03  # sides of posts, steps of the ladder, thickness of its stiles
FREEZER, LID = 0.86, 0.07  # height of a chest freezer, and of its lid before it gets that size
FITTINGS = frozenset({"hinge", "lock"})
"""Parts of hinged doors that sliding ones have none of."""

TRIM = frozenset({"corner", "strap", "clasp", "foot", "leg", "band"})
"""Parts of a box that a freezer has none of."""


@dataclass(frozen=True)
class Feature:
    """A change of objects of one category, and the words that ask for it."""

    name: str
    category: str
    words: frozenset[str]
    change: Callable[[Assembly, Request], Assembly | None]
    """Nothing where the object has no place for it."""


def with_features(assembly: Assembly, spans: Iterable[Span], request: Request) -> Assembly:
    """The object with all features that were asked for and have a place; its style names them."""
    asked = {span.text for span in spans}
    for feature in FEATURES:
        if feature.category == assembly.category and asked & feature.words:
            changed = feature.change(assembly, request)
            if changed is not None:
                assembly = replace(changed, style=(*changed.style, feature.name))
    return assembly


def sliding_doors(assembly: Assembly, request: Request) -> Assembly | None:
    """Doors side by side run past each other in two planes before the body, between an upper and a lower rail."""
    rows = [row for row in _rows(assembly) if len(row) > 1]
    if not rows:
        return None
    parts, metal = _without_pulls(assembly, [number for row in rows for number in row])
    for row in (row for row in _rows(replace(assembly, parts=tuple(parts))) if len(row) > 1):
        _hang(parts, row, metal)
    return replace(assembly, parts=tuple(in_order(parts)))


def sliding_leaves(assembly: Assembly, request: Request) -> Assembly | None:
    """The leaves of a door hang on a rail before the frame and run to its sides, over the wall."""
    rows = _rows(assembly)
    if len(rows) != 1:
        return None
    parts, metal = _without_pulls(assembly, rows[0])
    (row,) = _rows(replace(assembly, parts=tuple(parts)))
    ends = np.stack([ends_of(parts[number]) for number in row])
    wide = ends[:, 1, 0] - ends[:, 0, 0]
    ways = [-1.0, 1.0] if len(row) == 2 else [1.0]
    low, high = float(ends[0, 0, 0]) - (wide[0] if len(row) == 2 else 0.0), float(ends[-1, 1, 0] + wide[-1])
    face, top = float(reach_of(parts[0])[1, 2]), float(ends[:, 1, 1].max())
    thick = float((ends[:, 1, 2] - ends[:, 0, 2]).max())
    plane = face + max(_proud(parts, number)[0] for number in row) + PLAY
    maker = Maker(assembly.category)
    maker.parts = parts
    beam = board_between((low, top, face - 2 * SINK), (high, float(reach_of(parts[0])[1, 1]), plane + thick + PLAY))
    rail = maker.add("rail", beam, metal, 0, "sliding")
    for k, number in enumerate(row):
        box = np.array([[*ends[k, 0, :2], plane], [ends[k, 1, 0], top + SINK, plane + thick]])
        _slide(maker, number, box, ways[k], float(wide[k]), rail, metal)
    return replace(assembly, parts=tuple(in_order(parts)))


def _without_pulls(assembly: Assembly, doors: Sequence[int]) -> tuple[list[Part], Appearance]:
    """The parts without the grips, locks and hinges that doors that slide have none of; and what those look like."""
    gone = [k for k, p in enumerate(assembly.parts) if (p.parent in doors and p.role == "handle") or p.name in FITTINGS]
    metal = assembly.parts[gone[0]].appearance if gone else in_colour(assembly.parts[0].appearance, "grey")
    return list(removed(assembly, gone).parts) if gone else list(assembly.parts), metal


def _slide(maker: Maker, number: int, box: np.ndarray, way: float, travel: float, rail: int, metal: Appearance) -> None:
    """Put a door into a box on its rail, with a flush pull at the edge that goes last."""
    parts, old = maker.parts, maker.parts[number]
    new = boxed(old, *box)
    hinge = Hinge("prismatic", (way, 0.0, 0.0), new.centre, 0.0, travel)
    edge = box[0, 1] if abs(box[0, 1] - parts[rail].centre[1]) < abs(box[1, 1] - parts[rail].centre[1]) else box[1, 1]
    meets = np.array([new.centre[0], edge, new.centre[2]])
    parts[number] = replace(new, hinge=hinge, parent=rail, meets=meets, style=(*old.style, "sliding"))
    for child in _below(parts, number):
        parts[child] = shifted(parts[child], new.centre - old.centre)
    at = np.array([box[0, 0] + 2 * LAP if way > 0 else box[1, 0] - 2 * LAP, new.centre[1], box[1, 2]])
    pull = board_between(at - PULL / 2 * (1, 1, 2), at + PULL / 2 * (1, 1, 0) + (0.0, 0.0, PLAY / 2))
    maker.add("handle", pull, metal, number, "cup")


def _rows(assembly: Assembly) -> list[list[int]]:
    """Numbers of the doors that hang beside each other at one height, from left to right."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, part in enumerate(assembly.parts):
        if part.name == "door" and part.hinge is not None and part.hinge.kind == "revolute":
            low, high = ends_of(part)[:, 1]
            found.setdefault((round(low / RAIL), round(high / RAIL)), []).append(number)
    return [sorted(row, key=lambda number: assembly.parts[number].centre[0]) for row in found.values()]


def _hang(parts: list[Part], row: Sequence[int], metal: Appearance) -> None:
    """Two rails before the face, and the doors of a row between them, every other one in front, with flush pulls."""
    body = parts[row[0]].parent
    while parts[body].parent >= 0 and parts[body].hollow is None:
        body = parts[body].parent
    ends = np.stack([ends_of(parts[number]) for number in row])
    low, high, face = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), float(reach_of(parts[body])[1, 2])
    thick = THICKNESS
    proud = [_proud(parts, number) for number in row]
    behind, before = (max((one[k] for one in proud), default=0.0) for k in (0, 1))
    planes = [face + behind + PLAY, face + 2 * behind + before + thick + 2 * PLAY]
    outer = planes[1] + thick + PLAY
    maker = Maker("cabinet")
    maker.parts = parts
    rails = [
        maker.add("rail", board_between((low[0], y, face - 2 * SINK), (high[0], y + RAIL, outer)),
                  parts[body].appearance, body, "sliding")
        for y in (low[1], high[1] - RAIL)
    ]  # fmt: skip
    for k, number in enumerate(row):
        plane = planes[k % 2]
        left, right = ends[k, :, 0]
        left, right = left - (LAP / 2 if k else 0.0), right + (LAP / 2 if k + 1 < len(row) else 0.0)
        way = 1.0 if k + 1 < len(row) else -1.0
        beside = ends[k + int(way)]
        travel = min(right - left, float(beside[1, 0] - beside[0, 0])) - LAP
        box = np.array([[left, low[1] + RAIL - SINK, plane], [right, high[1] - RAIL - PLAY, plane + thick]])
        _slide(maker, number, box, way, travel, rails[0], metal)


def _proud(parts: Sequence[Part], number: int) -> tuple[float, float]:
    """How far panels and panes stand out of a door, behind and before it [m]."""
    low, high = ends_of(parts[number])[:, 2]
    ends = [reach_of(parts[child])[:, 2] for child in _below(parts, number)]
    return max((float(low - one[0]) for one in ends), default=0.0), max(
        (float(one[1] - high) for one in ends), default=0.0
    )


def _below(parts: Sequence[Part], number: int) -> list[int]:
    """All that hangs on a part; rails come after what they carry, so parents are followed upwards."""
    found = []
    for child, part in enumerate(parts):
        above = part.parent
        while above >= 0 and above != number:
            above = parts[above].parent
        if above == number:
            found.append(child)
    return found


def in_order(parts: Sequence[Part]) -> list[Part]:
    """The parts with each after its parent."""
    order: list[int] = []
    while len(order) < len(parts):
        order += [k for k, part in enumerate(parts) if k not in order and (part.parent < 0 or part.parent in order)]
    where = {old: new for new, old in enumerate(order)}
    return [placed_anew(parts[old], parent=where.get(parts[old].parent, -1)) for old in order]


def bunk_bed(assembly: Assembly, request: Request) -> Assembly | None:
    """The bed a second time above itself, on four posts, with guard rails and a ladder."""
    parts = [_tucked(part, assembly.parts[0]) for part in assembly.parts]
    base, finish = parts[0], parts[0].appearance
    (left, floor, _), (right, _, end) = ends_of(base)
    bedding = [reach_of(part)[1, 1] for part in parts if part.role in ("cushion", "cover")]
    if not bedding or abs(left + right) > 2 * POST:
        return None
    rise = float(max(bedding)) - floor + SITTING
    top = max(bedding) + rise + GUARD
    maker = Maker(assembly.category, *assembly.style)
    maker.parts = list(parts)
    x, z = right - 0.012, end - POST
    posts = maker.add("post", board_between((x, 0.0, z - POST), (x + POST, top, z)), finish, 0, "square", repeat=FOUR)
    feet = {k for k, part in enumerate(parts) if part.role == "support" and part.parent == 0}
    where: dict[int, int] = {}
    for number, part in enumerate(parts):
        if number not in feet and part.parent not in feet:
            above = shifted(part, np.array([0.0, rise, 0.0]))
            where[number] = len(maker.parts)
            meets = above.meets if number else np.array([x + 0.006, above.centre[1], z - POST / 2])
            maker.parts.append(placed_anew(above, parent=where.get(part.parent, posts), meets=meets))
    guard = board_between((right - 0.02, top - 0.12, -z), (right, top - 0.02, z))
    maker.add("rail", guard, finish, posts, repeat=PAIR)
    stile = board_between((right - SINK, 0.0, 0.2), (right + STILE, top, 0.2 + STILE))
    wide = 0.4
    stiles = maker.add("post", stile, finish, 0, "square", repeat=Repeat(count=2, step=(0.0, 0.0, wide)))
    rung = board_between((right, RUNG, 0.2 + STILE / 2), (right + STILE - 0.004, RUNG + 0.025, 0.2 + STILE / 2 + wide))
    count = int((top - 0.15) / RUNG)
    maker.add("stretcher", rung, finish, stiles, repeat=Repeat(count=count, step=(0.0, RUNG, 0.0)))
    return grounded(Assembly(assembly.category, tuple(in_order(maker.parts)), assembly.style, assembly.name))


def _tucked(part: Part, base: Part) -> Part:
    """A blanket that does not hang over the frame, where posts stand."""
    if part.role != "cover":
        return part
    low, high = ends_of(base)
    size = np.minimum(part.size, np.where([True, False, True], high - low - 0.02, np.inf))
    middle = np.clip(part.centre, low + size / 2 + 0.01, high - size / 2 - 0.01)
    return replace(part, size=size, centre=np.where([True, False, True], middle, part.centre))


def chest_freezer(assembly: Assembly, request: Request) -> Assembly | None:
    """A lidded box of white steel as high as a chest freezer; a colour that is asked for stays."""
    trim = [
        k for k, part in enumerate(assembly.parts) if part.name in ("corner", "strap", "clasp", "foot", "leg", "band")
    ]
    bare = removed(assembly, [k for k in trim if k]) if any(trim) else assembly
    if not any(part.hinge for part in bare.parts):
        return None
    named = {one.part for one in request.parts if one.shade}
    parts = [
        replace(_plain(part), appearance=finish if named & {"*", part.name} else in_colour(finish, "white"))
        for part in bare.parts
        for finish in [of_material(part, "steel")]
    ]
    flat = replace(bare, parts=tuple(parts))
    return grounded(resized(flat, (), "size", FREEZER / float(np.ptp(flat.bounds, axis=0)[1])))


def _plain(part: Part) -> Part:
    """A straight body, and a flat lid on it."""
    if part.name == "lid":
        low, high = ends_of(part)
        high[1] = min(high[1], low[1] + LID)
        solid = board_between(low, high)
        fields = {name: getattr(solid, name) for name in ("kind", "code", "size", "centre", "turn")}
        return replace(part, **fields, hollow=None, relief="smooth", style=())
    return replace(boxed(part, *ends_of(part)), relief="smooth") if part.parent < 0 and part.kind == "block" else part


FEATURES = (
    Feature("sliding", "cabinet", frozenset({"sliding"}), sliding_doors),
    Feature("sliding", "door", frozenset({"sliding"}), sliding_leaves),
    Feature("bunk", "bed", frozenset({"bunk", "bunk bed", "bunks"}), bunk_bed),
    Feature("chest freezer", "box", frozenset({"chest freezer"}), chest_freezer),
)
