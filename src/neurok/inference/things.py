"""What an object is, by its names and size: a class of things, which says what it is made of and what it weighs.

The nouns are in ``object_lexicon.json``. A name names the thing with the last noun before a joiner ("school backpack in
blue" is a backpack); a word for toys, or a size far below that of the thing, makes it a toy of the thing, and a word
for sculptures a sculpture of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("object_lexicon.json")

MINIATURE = 0.6
"""Share of the least length of a thing below which an object of its name is a toy of it."""


@dataclass(frozen=True, eq=False)
class Thing:
    """A class of things."""

    name: str
    made_of: Mapping[str, float]
    """Log-odds of materials and ``@families``."""

    bulk: tuple[float, float]
    """Mass by the volume of the box, 5th and 95th percentile [kg/m^3]."""

    size: tuple[float, float] | None = None
    """Of the longest side [m], where things of this class have one."""

    form: Literal["hollow", "solid", "filled"] = "hollow"
    """What is behind a closed surface: air, its own material, or goods that only the mass knows of."""

    framed: bool = False
    """Whether a stiff frame is inside its padding."""


@dataclass(frozen=True)
class Identity:
    """What an object was recognised as."""

    word: str
    """The noun, as the name has it."""

    thing: Thing
    """The class that says what it weighs: that of toys, if it is one."""

    is_toy: bool = False
    is_sculpture: bool = False

    def excludes(self, other: Thing) -> bool:
        """Whether a class named beside it says nothing of its material: what a toy or a statue shows."""
        return other is not self.thing and other.size is not None and (self.is_toy or self.is_sculpture)


@cache
def lexicon() -> Mapping[str, Any]:
    """The whole table."""
    return json.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def things() -> Mapping[str, Thing]:
    """The class of each noun."""
    return {
        word: thing for record in lexicon()["things"] for thing in [_thing(record)] for word in record["words"].split()
    }


@cache
def toy() -> Thing:
    """The class of toys."""
    return _thing(lexicon()["toy"])


@cache
def toy_words() -> frozenset[str]:
    return frozenset(lexicon()["toy"]["words"].split())


@cache
def brands(sure: bool = False) -> Mapping[str, Thing]:
    """What makers and lines are known for; ``sure`` are those who make nothing else."""
    classes = {thing.name: thing for thing in things().values()}
    rows = (row for row in lexicon()["brands"] if row.get("sure", False) or not sure)
    return {word: classes[row["of"]] for row in rows for word in row["words"].split()}


def head_noun(words: list[str]) -> str | None:
    """The word that says what a name names: the last noun before a joiner that follows one.

    Makers of one kind of thing count before nouns, other brands after; weak words count where there
    is no other noun.
    """
    if (maker := next((word for word in words if word in brands(sure=True)), None)) is not None:
        return maker
    nouns = [[]]  # type: list[list[str]]
    for word in words:
        if word in _words("joiners") and nouns[-1]:
            nouns.append([])
        elif word in things():
            nouns[-1].append(word)
    found = [word for word in nouns[0] if word not in weak_words()] or nouns[0]
    return found[-1] if found else next((word for word in words if word in brands()), None)


def identify(names: Iterable[list[str]], longest: float) -> Identity | None:
    """What an object is, by the words of its names, the most telling name first, and its longest side [m]."""
    known = [words for words in names if words]
    every = {word for words in known for word in words}
    is_sculpture = bool(every & set(_words("sculptures")))
    played = next((word for words in known for word in words if word in toy_words()), None)
    word = next((noun for words in known if (noun := head_noun(words)) is not None), None)
    if word is None:
        return None if played is None else Identity(played, toy(), is_toy=True)
    thing = things().get(word) or brands()[word]
    small = thing.size is not None and longest < MINIATURE * thing.size[0]
    if is_sculpture:
        carved = next((noun for words in known for noun in words if noun in _words("sculptures")), word)
        return Identity(carved, things().get(carved, things()["statue"]), is_sculpture=True)
    if small or (played is not None and (thing.size is not None or thing.form == "solid")):
        return Identity(word if small or played is None else played, toy(), is_toy=True)
    return Identity(word, thing)


def weak_words() -> frozenset[str]:
    """Words of products that are colours, flavours or features as often as things or materials."""
    return _words("weak")


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(lexicon()[section].split())


def _thing(record: Mapping[str, Any]) -> Thing:
    pair = lambda name: tuple(map(float, record[name])) if name in record else None  # noqa: E731
    form, framed = record.get("form", "hollow"), record.get("framed", False)
    return Thing(record["is"], record["of"], pair("bulk"), pair("size"), form, framed)  # type: ignore[arg-type]
