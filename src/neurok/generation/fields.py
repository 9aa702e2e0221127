"""The words of a part list: every field that a network chooses from a fixed set, in the order in which it chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Int

from neurok.catalogue.appearance import palette
from neurok.catalogue.parts import FEELS, MIRRORS, PATTERNS, ROLES, Assembly, Part
from neurok.catalogue.vocabulary import CATEGORIES, MATERIALS, PART_NAMES, STYLES, table
from neurok.modelling.forms import KINDS, OPENINGS, RELIEFS

PARTS = 24
"""Most parts of an object that is learned or written."""

COPIES = 24
"""Most copies of a part."""

STYLE_SLOTS = 2
"""Words of style that are kept of a part, and of the whole."""

CODED_KINDS = tuple(kind for kind in KINDS if kind != "implicit")
END = "(end)"
SOLID = "(solid)"
HINGES = ("", "revolute", "prismatic", "continuous")
LEVEL = 1e-4
"""How far entries of a rotation may be off and still count as a turn by quarters, and places [m] as in the middle."""


@dataclass(frozen=True)
class Field:
    """One choice: its name, and what may be chosen."""

    name: str
    words: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.words)

    def index(self, word: str) -> int:
        """The number of a word.

        Raises:
            KeyError: If it is not one of the field's.
        """
        return _numbers(self.words)[word]


@cache
def _numbers(words: tuple[str, ...]) -> Mapping[str, int]:
    return {word: number for number, word in enumerate(words)}


@cache
def whole_fields() -> tuple[Field, ...]:
    """What is said of an object before its parts."""
    styles = ("", *sorted(table()["kinds"]), *(s for s in STYLES if s not in table()["kinds"]))
    return (Field("category", CATEGORIES), *(Field(f"whole style {k}", styles) for k in range(STYLE_SLOTS)))


@cache
def build_fields() -> tuple[Field, ...]:
    """What a part is, and how it stands."""
    return (
        Field("name", (END, *PART_NAMES)),
        Field("parent", ("", *(str(k) for k in range(PARTS)))),
        Field("role", ROLES),
        Field("kind", CODED_KINDS),
        *(Field(f"style {k}", ("", *STYLES)) for k in range(STYLE_SLOTS)),
        Field("opening", (SOLID, *OPENINGS)),
        Field("relief", RELIEFS),
        Field("mirror", MIRRORS),
        Field("count", tuple(str(k) for k in range(1, COPIES + 1))),
        Field("hinge", HINGES),
        Field("quarter", ("", *(f"{k}" for k in range(len(quarters()))))),
        Field("centred", ("", "x", "z", "xz")),
    )


@cache
def appearance_fields() -> tuple[Field, ...]:
    """What a part is made of, and how it looks."""
    return (
        Field("material", MATERIALS),
        Field("cover", ("", *MATERIALS)),
        Field("colour", palette()),
        Field("feel", FEELS),
        Field("pattern", PATTERNS),
        Field("second", ("", *palette())),
    )


@cache
def quarters() -> tuple[np.ndarray, ...]:
    """The 24 rotations that put axes on axes, the identity first."""
    import itertools

    out = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0:
                out.append(matrix)
    return tuple(sorted(out, key=lambda matrix: -np.trace(matrix)))


def part_words(part: Part) -> dict[str, str]:
    """The choices that make up a part."""
    style = [word for word in part.style if word in STYLES][:STYLE_SLOTS]
    style += [""] * (STYLE_SLOTS - len(style))
    finish = part.appearance
    return {
        "name": part.name,
        "parent": "" if part.parent < 0 else str(part.parent),
        "role": part.role,
        "kind": part.kind,
        **{f"style {k}": word for k, word in enumerate(style)},
        "opening": SOLID if part.hollow is None else part.hollow.opening,
        "relief": part.relief,
        "mirror": part.repeat.mirror,
        "count": str(part.repeat.count),
        "hinge": part.hinge.kind if part.hinge else "",
        "quarter": _quarter(part.turn),
        "centred": "".join(axis for axis, k in (("x", 0), ("z", 2)) if abs(part.centre[k]) < LEVEL),
        "material": finish.material,
        "cover": finish.cover,
        "colour": finish.colour,
        "feel": finish.feel,
        "pattern": finish.pattern,
        "second": finish.second,
    }


def whole_words(assembly: Assembly) -> dict[str, str]:
    """The choices that make up the whole."""
    known = set(whole_fields()[1].words)
    style = [word for word in assembly.style if word in known][:STYLE_SLOTS]
    style += [""] * (STYLE_SLOTS - len(style))
    return {"category": assembly.category, **{f"whole style {k}": word for k, word in enumerate(style)}}


def chosen(fields: Sequence[Field], words: Mapping[str, str]) -> list[int]:
    """Numbers of the words in the order of the fields."""
    return [field.index(words[field.name]) for field in fields]


def choice_words(fields: Sequence[Field], numbers: Int[np.ndarray, " F"] | Sequence[int]) -> dict[str, str]:
    """The words of numbers."""
    return {field.name: field.words[int(number)] for field, number in zip(fields, numbers, strict=True)}


def can_be_listed(assembly: Assembly) -> bool:
    """Whether an object fits the fields: not too many parts or copies, no meshes of its own."""
    return len(assembly.parts) <= PARTS and all(
        part.repeat.count <= COPIES and part.kind in CODED_KINDS and (part.hinge is None or part.hinge.kind in HINGES)
        for part in assembly.parts
    )


def _quarter(turn: np.ndarray) -> str:
    for number, matrix in enumerate(quarters()):
        if np.abs(turn - matrix).max() < LEVEL:
            return str(number)
    return ""
