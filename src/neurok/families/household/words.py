"""The words of captions: many ways of saying a category, a part, a style, a material."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def table() -> Mapping[str, Any]:
    """All lists of ``words.json``."""
    return json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def material_words() -> Mapping[str, str]:
    """Name in the material library of every word that captions use for a material."""
    return {word: name for name, words in table()["materials"].items() for word in words}


def said_as(kind: str, word: str) -> list[str]:
    """Ways of saying a word of one kind (``parts``, ``styles``, ``feels`` ...); the word itself at least."""
    return table()[kind].get(word, [word])  # type: ignore[no-any-return]


def plural(noun: str) -> str:
    """More than one of it."""
    first, _, last = noun.rpartition(" ")
    known = table()["plurals"].get(last)
    last = known or (last + ("es" if last.endswith(("s", "sh", "ch", "x")) else "s"))
    return f"{first} {last}" if first else last


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def number(count: int) -> str:
    """A count in letters up to twelve."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def article(phrase: str) -> str:
    """``a`` or ``an`` before a phrase."""
    return f"an {phrase}" if phrase[:1].lower() in "aeiou" else f"a {phrase}"
