"""Which words of a prompt name something that can be made: categories, parts, colours, materials, counts."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core.material_library import library
from neurok.families.household.looks import colour_words, rgb_of
from neurok.families.household.vocabulary import CATEGORIES, PART_NAMES, STYLES
from neurok.families.household.words import NUMBERS, plural, table

WORD = re.compile(r"[^\W_]+")
BREAKS = frozenset(",;:.!?()[]\n\u2013\u2014")
READINGS = 4
"""Most meanings of one word that are kept."""

LONGEST = 64
"""Words of a prompt that are read."""

ALIKE = 0.84
"""How like a known word one must be that is taken for a misspelt one (share of letters, difflib)."""

_FILLER = """a an the my your our his her its and or plus with without of on in at to for from by that which where has
    have having featuring made is are be it this i me want need please make create give some something one as than like
    very whose standing wearing under over into there should would could just only also both each all"""
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


@dataclass(frozen=True, eq=False)
class WordFeatures:
    """The words of a prompt as arrays."""

    meanings: Int[np.ndarray, "N R"]
    """Numbers of meanings, 0 for none."""

    values: Float[np.ndarray, "N 6"]
    """sRGB of a colour word, whether there is one, a count over ten, whether it is a plural."""


def split_words(text: str) -> list[str]:
    """Lower-case words and numbers; hyphens part words."""
    return [match.group().lower() for match in WORD.finditer(text)][:LONGEST]


def clauses(text: str) -> list[int]:
    """The clause of every word: commas, colons, full stops and brackets part them."""
    out: list[int] = []
    end, number = 0, 0
    for match in WORD.finditer(text):
        number += bool(out) and any(mark in BREAKS for mark in text[end : match.start()])
        out.append(number)
        end = match.end()
    return out


@cache
def meanings() -> tuple[Meaning, ...]:
    """All that words can name, in a fixed order."""
    found = {meaning: None for options in _phrases().values() for meaning, _ in options}
    return tuple(sorted(found, key=lambda m: (m.kind, m.value)))


@cache
def _number_of() -> Mapping[Meaning, int]:
    return {meaning: number for number, meaning in enumerate(meanings(), start=1)}


def meaning_count() -> int:
    return len(meanings()) + 1


def read(text: str, known: frozenset[str] = frozenset(), most: int = LONGEST) -> list[Span]:
    """The prompt as spans, longest phrases first; ``known`` words of the language are never taken for misspelt ones."""
    words, out, at = [match.group().lower() for match in WORD.finditer(text)][:most], [], 0
    clause = clauses(text)
    while at < len(words):
        span = next(_matches(words, at), None) or _single(words[at], at, known)
        out.append(replace(span, clause=clause[at]))
        at += len(span.words)
    return out


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
        shade = next((w for w in (span.meant, span.text, span.text.replace(" ", "-")) if w in _shades()), None)
        if shade is not None:
            values[rows, :4] = [*_shades()[shade], 1.0]
        values[rows, 5] = span.is_plural
    return WordFeatures(ids, values)


def is_filler(span: Span) -> bool:
    return not span.meanings and all(word in FILLER for word in span.words)


def _matches(words: list[str], at: int) -> Iterator[Span]:
    """Known phrases that begin at a word, the longest first."""
    for length in range(min(_longest(), len(words) - at), 0, -1):
        phrase = tuple(words[at : at + length])
        if phrase in _phrases():
            yield _span(phrase, phrase, at)


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


SHORTEST = 4
"""Letters of a word that may be a misspelt one."""

LARGEST = 24
"""Largest number that is taken for a count."""


@cache
def _phrases() -> Mapping[tuple[str, ...], tuple[tuple[Meaning, bool], ...]]:
    """Every known phrase, with what it may mean and whether it is a plural."""
    found: dict[tuple[str, ...], dict[Meaning, bool]] = {}
    for phrase, meaning, many in _entries():
        words = tuple(split_words(phrase))
        if words:
            found.setdefault(words, {}).setdefault(meaning, many)
    return {words: tuple(options.items()) for words, options in found.items()}


def _entries() -> Iterator[tuple[str, Meaning, bool]]:
    words = table()
    nouns = [("category", name, [name, *words["categories"].get(name, [])]) for name in CATEGORIES]
    nouns += [("part", name, [name, *words["parts"].get(name, [])]) for name in PART_NAMES]
    nouns += [("whole style", kind, ways) for kind, ways in words["kinds"].items()]
    for kind, key in (("category", "categories"), ("part", "parts"), ("whole style", "kinds")):
        nouns += [(kind, name, ways) for name, ways in _more_words()[key].items()]
    for kind, value, ways in nouns:
        for way in dict.fromkeys(ways):
            yield way, Meaning(kind, value), False
            yield plural(way), Meaning(kind, value), True
    for name, ways in words["materials"].items():
        for way in dict.fromkeys([*ways, name]):
            yield way, Meaning("material", name), False
    for name, entry in library().items():
        for way in (name, *entry.aliases):
            if name in words["materials"]:
                yield way, Meaning("material", name), False
    for shade, colour in colour_words().items():
        yield shade, Meaning("colour", colour), False
    for kind, key, values in (("style", "styles", STYLES), ("feel", "feels", words["feels"])):
        for value in values:
            for way in dict.fromkeys([value, *words[key].get(value, [])]):
                yield way, Meaning(kind, value), False
    for value, ways in words["patterns"].items():
        for way in dict.fromkeys([*ways, value] if value not in ("wood", "marble") else ways):
            yield way, Meaning("pattern", value), False
    for count, word in enumerate(NUMBERS):
        yield word, Meaning("number", str(count)), False
    for count in range(LARGEST + 1):
        yield str(count), Meaning("number", str(count)), False
    yield from (("pair of", Meaning("number", "2"), False), ("a couple of", Meaning("number", "2"), False))


@cache
def _more_words() -> Mapping[str, Mapping[str, list[str]]]:
    """Words that captions do not use but people do; they name nothing that others do not name, too."""
    return json.loads(Path(__file__).with_name("more_words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def _longest() -> int:
    return max(map(len, _phrases()))


@cache
def _single_words() -> list[str]:
    return [words[0] for words in _phrases() if len(words) == 1 and len(words[0]) >= SHORTEST]


@cache
def _shades() -> Mapping[str, tuple[float, float, float]]:
    return {word.lower(): rgb_of(word) for word in colour_words()}
