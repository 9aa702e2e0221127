"""The words that are understood: what each may name, which category has what, and a prompt as spans of such words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from neurok.catalogue.appearance import colour_words, rgb_of
from neurok.catalogue.vocabulary import CATEGORIES, NUMBERS, PART_NAMES, STYLES, plural, table
from neurok.core.material_library import library

WORD = re.compile(r"[^\W_]+")
BREAKS = frozenset(",;:.!?()[]\n\u2013\u2014")
WHOLE = "*"
"""The part whose appearance stands for the whole."""

READINGS = 4  # most meanings of one word that are kept
LONGEST = 64  # words of a prompt that the networks read
SHORTEST = 4  # letters of a word that may be a misspelt one
ALIKE = 0.84  # share of letters (difflib) that a misspelt word has in common with a known one
LARGEST = 24  # largest number that is taken for a count

_FILLER = """a an the my your our his her its and or plus with without of on in at to for from by that which where has
    have having featuring made is are be it this i me want need please make create give some something one as than like
    very whose standing sitting wearing under over into there should would could just only also both each all"""
FILLER = frozenset(_FILLER.split())
"""Words that hold a prompt together."""


@dataclass(frozen=True)
class Meaning:
    """What a word may name: a field of the list and a word of it."""

    kind: str
    value: str


@dataclass(frozen=True)
class Span:
    """Some words of a prompt and what they name; nothing when they name nothing."""

    words: tuple[str, ...]
    meanings: tuple[Meaning, ...]
    start: int
    """Number of its first word."""

    is_plural: bool = False
    meant: str = ""
    """The known word that a misspelt one was taken for."""

    clause: int = 0
    """Number of the clause between commas and the like."""

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def kinds(self) -> dict[str, str]:
        """The first value of each kind of meaning."""
        return {meaning.kind: meaning.value for meaning in reversed(self.meanings)}

    @property
    def shade(self) -> str:
        """The colour word that it is; nothing when it is none."""
        return next((w for w in (self.meant, self.text, self.text.replace(" ", "-")) if w in colour_words()), "")

    @property
    def is_filler(self) -> bool:
        return not self.meanings and all(word in FILLER for word in self.words)

    def values(self, kind: str) -> list[str]:
        """All that it may name of one kind."""
        return [meaning.value for meaning in self.meanings if meaning.kind == kind]


@dataclass(frozen=True, eq=False)
class WordFeatures:
    """The words of a prompt as arrays."""

    meanings: Int[np.ndarray, "N R"]
    """Numbers of meanings, 0 for none."""

    values: Float[np.ndarray, "N 6"]
    """sRGB of a colour word, whether there is one, a count over ten, whether it is a plural."""


def split_words(text: str, most: int = LONGEST) -> list[str]:
    """Lower-case words and numbers; hyphens part words."""
    return [match.group().lower() for match in WORD.finditer(text)][:most]


def clauses(text: str) -> list[int]:
    """The clause of every word: commas, colons, full stops and brackets part them."""
    out: list[int] = []
    end, number = 0, 0
    for match in WORD.finditer(text):
        number += bool(out) and any(mark in BREAKS for mark in text[end : match.start()])
        out.append(number)
        end = match.end()
    return out


def read(text: str, known: frozenset[str] = frozenset(), most: int = LONGEST) -> list[Span]:
    """The prompt as spans, longest phrases first; ``known`` words of the language are never taken for misspelt ones."""
    words, clause, out, at = split_words(text, most), clauses(text), [], 0
    while at < len(words):
        phrases = (tuple(words[at : at + length]) for length in range(min(_longest(), len(words) - at), 0, -1))
        phrase = next((one for one in phrases if one in _phrases()), None)
        span = _span(phrase, phrase, at) if phrase else _single(words[at], at, known)
        out.append(replace(span, clause=clause[at]))
        at += len(span.words)
    return out


def _span(words: tuple[str, ...], phrase: tuple[str, ...], at: int, meant: str = "") -> Span:
    options = _phrases()[phrase]
    return Span(words, tuple(meaning for meaning, _ in options), at, all(many for _, many in options), meant)


def _single(word: str, at: int, known: frozenset[str]) -> Span:
    """One word that is in no table: a number, a misspelt word, or nothing."""
    if word.isdecimal() and int(word) <= LARGEST:
        return Span((word,), (Meaning("number", str(int(word))),), at)
    if len(word) >= SHORTEST and word not in known and word not in FILLER:
        near = difflib.get_close_matches(word, _single_words(), n=1, cutoff=ALIKE)
        if near:
            return _span((word,), (near[0],), at, near[0])
    return Span((word,), (), at)


def features(spans: list[Span]) -> WordFeatures:
    """What the network is told of each word."""
    count = sum(len(span.words) for span in spans)
    ids, values = np.zeros((count, READINGS), dtype=np.int64), np.zeros((count, 6), dtype=np.float32)
    for span in spans:
        rows = slice(span.start, span.start + len(span.words))
        for slot, meaning in enumerate(span.meanings[:READINGS]):
            ids[rows, slot] = _number_of()[meaning]
            if meaning.kind == "number":
                values[rows, 4] = min(int(meaning.value), 20) / 10.0
        if span.shade:
            values[rows, :4] = [*rgb_of(span.shade), 1.0]
        values[rows, 5] = span.is_plural
    return WordFeatures(ids, values)


@cache
def _number_of() -> Mapping[Meaning, int]:
    """All that words can name, numbered from 1 in a fixed order."""
    found = {meaning for options in _phrases().values() for meaning, _ in options}
    return {m: number for number, m in enumerate(sorted(found, key=lambda m: (m.kind, m.value)), start=1)}


def meaning_count() -> int:
    return len(_number_of()) + 1


@cache
def _phrases() -> Mapping[tuple[str, ...], tuple[tuple[Meaning, bool], ...]]:
    """Every known phrase, with what it may mean and whether it is a plural."""
    found: dict[tuple[str, ...], dict[Meaning, bool]] = {}
    for kind, value, ways in _entries():
        for way in dict.fromkeys(ways):
            forms = (
                [(way, False), (plural(way), True)] if kind in ("category", "part", "whole style") else [(way, False)]
            )
            for phrase, many in forms:
                words = tuple(split_words(phrase))
                if words:
                    found.setdefault(words, {}).setdefault(Meaning(kind, value), many)
    return {words: tuple(options.items()) for words, options in found.items()}


def _entries() -> Iterator[tuple[str, str, Sequence[str]]]:
    """The table: kind, value, and the ways in which people say it; earlier rows are likelier meanings."""
    words, more = table(), _more_words()
    for name in CATEGORIES:
        yield "category", name, [name, *words["categories"].get(name, [])]
    for name in PART_NAMES:
        yield "part", name, [name, *words["parts"].get(name, [])]
    for name, ways in words["kinds"].items():
        yield "whole style", name, ways
    for kind, key in (("category", "categories"), ("part", "parts"), ("whole style", "kinds")):
        for name, ways in more[key].items():  # words that captions do not use but people do
            yield kind, name, ways
    for name, ways in words["materials"].items():
        yield "material", name, [*ways, name]
    for name, entry in library().items():
        if name in words["materials"]:
            yield "material", name, [name, *entry.aliases]
    for shade, colour in colour_words().items():
        yield "colour", colour, [shade]
    for kind, key, values in (("style", "styles", STYLES), ("feel", "feels", words["feels"])):
        for value in values:
            yield kind, value, [value, *words[key].get(value, [])]
    for value, ways in words["patterns"].items():
        yield "pattern", value, [*ways, value] if value not in ("wood", "marble") else ways
    for count, word in enumerate(NUMBERS):
        yield "number", str(count), [word]
    for count in range(LARGEST + 1):
        yield "number", str(count), [str(count)]
    yield "number", "2", ["pair of", "a couple of"]


@cache
def _more_words() -> Mapping[str, Any]:
    return json.loads(Path(__file__).with_name("more_words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def narrower(category: str) -> Mapping[str, str]:
    """Words that say more than what is made of them, and what of it is lost: of ``recliner`` a chair is left."""
    return _more_words()["narrower"].get(category, {})  # type: ignore[no-any-return]


@cache
def _longest() -> int:
    return max(map(len, _phrases()))


@cache
def _single_words() -> list[str]:
    return [words[0] for words in _phrases() if len(words) == 1 and len(words[0]) >= SHORTEST]


@cache
def category_words() -> Mapping[str, Any]:
    """Of each category: names of parts (with the share of objects that have them), kinds, and shapes of parts."""
    return json.loads(Path(__file__).with_name("category_words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def can_have(category: str, part: str) -> bool:
    """Whether objects of a category are ever made with such a part."""
    return part == WHOLE or not category or part in category_words()[category]["parts"]


def style_of(category: str, part: str, options: Sequence[str]) -> str:
    """The word of shape, among those that a word may mean, that such parts are made with; nothing when none is."""
    words = category_words()[category]
    names = words["mains"] if part == WHOLE else [part]
    shares = {
        o: words["styles"][name][o]["share"] for o in options for name in names if o in words["styles"].get(name, {})
    }
    return max(shares, key=shares.__getitem__) if shares else ""
