"""Which parts close the opening of which hollow: doors and drawers of a body, lids of a box. Said once per category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from neurok.families.household.parts import Part


@dataclass(frozen=True)
class Face:
    """How the fronts of a category close the openings of its hollow parts."""

    lies: Literal["in", "before"]
    """Whether fronts stand between the walls, or lie before them and cover their edges."""

    fronts: tuple[str, ...]
    """Names of the parts that share the face; those that do not move, too."""

    boards: tuple[str, ...] = ()
    """Names of the boards that stand in the hollow, between fronts or behind them."""

    open_kinds: tuple[str, ...] = ()
    """Kinds of objects of which some of the face may stay open."""


FACES: Mapping[str, Face] = {
    "cabinet": Face("in", ("door", "drawer"), ("divider", "shelf", "rail"), ("bookcase", "nightstand", "sideboard")),
    "desk": Face("in", ("door", "drawer"), ("divider", "shelf")),
    "table": Face("in", ("drawer",), ("divider",)),
    "fridge": Face("before", ("door",), ("divider", "shelf")),
    "microwave": Face("before", ("door", "control panel")),
    "box": Face("before", ("lid",)),
    "bin": Face("before", ("lid",)),
}


def fronts_of(category: str, parts: Sequence[Part]) -> dict[int, list[int]]:
    """The numbers of the fronts of each hollow part that has some."""
    face, found = FACES.get(category), dict[int, list[int]]()
    if face is None:
        return found
    for number, part in enumerate(parts):
        hollow = part.parent if part.name in face.fronts else -1
        while hollow >= 0 and (parts[hollow].hollow is None or parts[hollow].hinge is not None):
            hollow = parts[hollow].parent
        if hollow >= 0:
            found.setdefault(hollow, []).append(number)
    return found


def boards_of(category: str, parts: Sequence[Part], hollow: int) -> list[int]:
    """Numbers of the boards that stand in a hollow part: dividers and shelves."""
    names, inside = FACES[category].boards, {hollow}
    for number, part in enumerate(parts):
        if part.parent in inside and part.name in names:
            inside.add(number)
    return sorted(inside - {hollow})
