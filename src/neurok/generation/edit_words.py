"""Reads what is to be changed of an object: which parts are named, and what is said of them.

A sentence is taken apart at ``and``, ``with`` and commas. What is said of a part stands in the same piece as its name,
or in the next one (``make the legs thicker and black``); what is said of no part is said of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from neurok.errors import NeurokError
from neurok.families.household.looks import colour_words
from neurok.generation.lexicon import FILLER, LONGEST, WORD, Span, read

Verb = Literal["alter", "remove", "replace", "add", "keep"]
Dimension = Literal["width", "height", "depth", "length", "thickness", "size"]


@dataclass(frozen=True)
class EditWordsConfig:
    """How much words of size mean; chosen so that a change is seen at a glance."""

    more: float = 1.25
    """Factor of ``wider``; its inverse is that of ``narrower``."""

    much: float = 2.0
    """Power of the factor after ``much``: 1.56 times as wide."""

    little: float = 0.5
    """The same after ``slightly``: 1.12 times."""

    bounds: tuple[float, float] = (0.25, 4.0)
    """Factors that are followed."""


EDIT_WORDS = EditWordsConfig()

RESIZES: dict[str, tuple[Dimension, int]] = {
    **dict.fromkeys(("wider", "wide", "broader", "broad"), ("width", 1)),
    **dict.fromkeys(("narrower", "narrow", "slimmer"), ("width", -1)),
    **dict.fromkeys(("taller", "tall", "higher", "high"), ("height", 1)),
    **dict.fromkeys(("shorter", "short", "lower", "low"), ("height", -1)),
    **dict.fromkeys(("deeper", "deep"), ("depth", 1)),
    **dict.fromkeys(("shallower", "shallow"), ("depth", -1)),
    **dict.fromkeys(("longer", "long"), ("length", 1)),
    **dict.fromkeys(("thicker", "thick", "fatter", "chunkier"), ("thickness", 1)),
    **dict.fromkeys(("thinner", "thin", "slender"), ("thickness", -1)),
    **dict.fromkeys(("bigger", "big", "larger", "large", "enlarge"), ("size", 1)),
    **dict.fromkeys(("smaller", "small", "shrink", "tinier"), ("size", -1)),
}
VERBS: dict[str, Verb] = {
    **dict.fromkeys(("remove", "without", "delete", "drop", "take", "rid", "lose", "off", "omit"), "remove"),
    **dict.fromkeys(("replace", "another", "different", "other", "new", "redraw", "exchange"), "replace"),
    **dict.fromkeys(("add", "give", "put", "attach", "append", "insert"), "add"),
    **dict.fromkeys(("keep", "leave"), "keep"),
}
CHANGES = frozenset({"change", "swap", "vary"})
"""Replace a part when nothing more is said."""

ASIDE = frozenset({"and", "but", "then", "also", "with", "plus", "while"})
"""Where a sentence is taken apart."""

WHOLES = frozenset({"it", "everything", "all", "whole", "object", "thing", "itself", "overall"})
AGAIN = frozenset({"one", "ones", "them", "they", "those", "these"})
"""Stand for the parts named before."""

PLACES = frozenset({"of", "on", "under", "behind", "above", "below", "at"})
"""The noun after these says where the one before is."""

MUCH = frozenset({"much", "far", "lot", "considerably"})
LITTLE = frozenset({"slightly", "bit", "little", "somewhat"})
EXTRA_FILLER = frozenset({
    "turn", "change", "swap", "vary", "paint", "painted", "colour", "color", "coloured", "colored", "set", "use",
    "using", "into", "more", "so", "too", "now", "let", "us", "can", "you", "same", "rest", "get", "if", "be", "being",
    "become", "look", "looks", "looking", "shape", "material", "kind", "covered", "upholster", "piece", "pair", "do",
    "not", "touch", "are", "were", "percent", "times", "twice", "half", "please",
})  # fmt: skip
OWN = frozenset(RESIZES) | frozenset(VERBS) | CHANGES | ASIDE | WHOLES | AGAIN | PLACES | MUCH | LITTLE | EXTRA_FILLER


@dataclass(frozen=True)
class Noun:
    """What was named: a word, and the parts and categories that it may mean."""

    word: str
    parts: tuple[str, ...]
    categories: tuple[str, ...] = ()
    is_whole: bool = False
    """Whether it may mean the object."""

    def means_all_of(self, category: str) -> bool:
        """Whether it means an object of a category: by its name, or because it can mean nothing else."""
        return self.is_whole and (category in self.categories or not self.parts)


@dataclass(frozen=True)
class Change:
    """What is to be done, and to what."""

    verb: Verb
    nouns: tuple[Noun, ...] = ()
    """Nothing for the whole."""

    shades: tuple[str, ...] = ()
    """Colour words; the second is that of the pattern."""

    material: str = ""
    feel: str = ""
    pattern: str = ""
    styles: tuple[str, ...] = ()
    resizes: tuple[tuple[Dimension, float], ...] = ()
    """Which side, and the factor."""

    count: int | None = None
    is_with: bool = False
    """Whether it was said what the object is ``with``: it may have to be added."""

    @property
    def has_look(self) -> bool:
        return bool(self.shades or self.material or self.feel or self.pattern)


@dataclass(frozen=True)
class Reading:
    """An edit that was read."""

    changes: tuple[Change, ...]
    understood: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass
class _Piece:
    """A piece of the sentence, as it is read."""

    nouns: list[Noun] = field(default_factory=list)
    verb: Verb = "alter"
    shades: list[str] = field(default_factory=list)
    material: str = ""
    feel: str = ""
    pattern: str = ""
    styles: list[str] = field(default_factory=list)
    resizes: list[tuple[Dimension, float]] = field(default_factory=list)
    count: int | None = None
    opening: str = ""
    is_carried: bool = False
    """Whether its verb is that of the piece before: ``remove the arms and the cushions``."""

    is_change: bool = False
    is_again: bool = False
    is_whole: bool = False
    has_article: bool = False
    said_after: bool = False
    """Whether something was said after the noun."""

    unknown: list[str] = field(default_factory=list)

    @property
    def has_quality(self) -> bool:
        return bool(self.has_look or self.resizes or self.styles or self.count is not None)

    @property
    def has_look(self) -> bool:
        return bool(self.shades or self.material or self.feel or self.pattern)

    @property
    def says_something(self) -> bool:
        return bool(self.nouns or self.has_quality or (self.verb != "alter" and not self.is_carried))

    @property
    def is_empty(self) -> bool:
        return not (self.nouns or self.has_quality or self.unknown or self.is_again or self.verb != "alter")


def read_edit(text: str, known: frozenset[str] = frozenset()) -> Reading:
    """What a sentence says is to be changed; ``known`` are words of the language that are never taken for misspelt.

    Raises:
        NeurokError: If it is too long.
    """
    text = re.sub(r"[,;.!?:]+", " and ", text).replace("%", " percent ")
    words = len(WORD.findall(text))
    if words > LONGEST:
        raise NeurokError(f"The edit has {words} words; at most {LONGEST} are read. Make one change after the other.")
    spans = read(text, known | OWN)
    pieces = _pieces(spans)
    _join_qualities(pieces)
    changes = [_change(piece) for piece in pieces if piece.says_something]
    ignored = tuple(word for piece in pieces for word in piece.unknown)
    heard = tuple(span.text for span in spans if span.meanings or span.words[0] in RESIZES or span.words[0] in VERBS)
    lost = [piece for piece in pieces if piece.unknown and not piece.nouns]
    if lost:
        changes.append(Change("alter", (Noun(" ".join(lost[0].unknown), ()),)))
    return Reading(tuple(change for change in changes if change.verb != "keep"), heard, ignored)


def _pieces(spans: Sequence[Span]) -> list[_Piece]:
    out = [_Piece()]
    strength, number, skips_noun = 1.0, 0, False
    verb: Verb = "alter"
    for at, span in enumerate(spans):
        word, piece = span.words[0], out[-1]
        is_one_word = len(span.words) == 1
        if is_one_word and word in ASIDE:
            verb = piece.verb if word in ("and", "plus") else "alter"
            new = _Piece(opening=word)
            if verb in ("remove", "keep") and not piece.has_quality:
                new.verb, new.is_carried = verb, True
            if not piece.is_empty or piece.opening in ("and", ""):
                out.append(new)
            else:
                out[-1] = new
            strength, skips_noun = 1.0, False
        elif is_one_word and word in RESIZES:
            dimension, sign = RESIZES[word]
            piece.resizes.append((dimension, _factor(sign, strength, number)))
            piece.said_after = piece.said_after or bool(piece.nouns)
            strength, number = 1.0, 0
        elif is_one_word and word in VERBS:
            piece.verb = VERBS[word] if piece.verb != "replace" or VERBS[word] != "remove" else piece.verb
        elif is_one_word and word in MUCH | LITTLE:
            strength = EDIT_WORDS.much if word in MUCH else EDIT_WORDS.little
        elif is_one_word and word in ("twice", "half"):
            strength = 0.0
            number = 100 if word == "twice" else -50
        elif is_one_word and word.isdecimal() and at + 1 < len(spans) and spans[at + 1].words[0] == "percent":
            number = int(word)
        elif is_one_word and word in AGAIN and _ends_piece(spans, at):
            piece.is_again = True
        elif is_one_word and word in WHOLES:
            piece.is_whole = True
        elif is_one_word and word in PLACES:
            skips_noun = bool(piece.nouns)
        elif span.meanings:
            skips_noun = not _take(piece, span, skips_noun) and skips_noun
        else:
            piece.is_change = piece.is_change or word in CHANGES
            piece.has_article = piece.has_article or word in ("a", "an", "the")
            piece.unknown += [w for w in span.words if w not in FILLER | OWN]
    return [piece for piece in out if not piece.is_empty]


def _factor(sign: int, strength: float, percent: int) -> float:
    low, high = EDIT_WORDS.bounds
    factor = 1.0 + percent / 100.0 if percent > 0 else EDIT_WORDS.more ** (strength or 1.0)
    if percent < 0:
        factor = 1.0 / (1.0 + percent / 100.0)
    return float(min(max(factor**sign, low), high))


def _ends_piece(spans: Sequence[Span], at: int) -> bool:
    """Whether no noun follows in the same piece, so that ``one`` is no count."""
    for span in spans[at + 1 :]:
        if span.words[0] in ASIDE:
            break
        if any(meaning.kind == "part" for meaning in span.meanings):
            return False
    return True


def _take(piece: _Piece, span: Span, skips_noun: bool) -> bool:
    """Note what a span names; returns whether it was a noun."""
    kinds = {meaning.kind: meaning.value for meaning in reversed(span.meanings)}
    names = tuple(meaning.value for meaning in span.meanings if meaning.kind == "part")
    if names or "category" in kinds or "whole style" in kinds:
        if not skips_noun:
            categories = tuple(meaning.value for meaning in span.meanings if meaning.kind == "category")
            noun = Noun(span.meant or span.text, names, categories, "category" in kinds or "whole style" in kinds)
            piece.nouns.append(noun)
        return True
    piece.said_after = piece.said_after or bool(piece.nouns)
    shade = next((w for w in (span.meant, span.text, span.text.replace(" ", "-")) if w in colour_words()), "")
    if "colour" in kinds:
        piece.shades.append(shade or kinds["colour"])
    elif "material" in kinds:
        piece.material = kinds["material"]
    elif "number" in kinds:
        piece.count = int(kinds["number"])
    elif "pattern" in kinds:
        piece.pattern = kinds["pattern"]
    elif "style" in kinds:
        piece.styles.append(kinds["style"])
    elif "feel" in kinds:
        piece.feel = kinds["feel"]
    return False


def _join_qualities(pieces: list[_Piece]) -> None:
    """Give pieces without a noun that of the piece before or, where they lead up to it, of the next."""
    for at, piece in enumerate(pieces):
        if piece.nouns or piece.is_whole or piece.unknown:
            continue
        before = pieces[at - 1] if at else None
        after = pieces[at + 1] if at + 1 < len(pieces) else None
        if piece.is_again and before is not None and before.nouns:
            _give(piece, before)
        elif (
            piece.has_quality
            and before is not None
            and before.nouns
            and (before.said_after or before.verb == "replace")
        ):
            piece.nouns, piece.said_after = list(before.nouns), True
        elif piece.has_quality and after is not None and after.nouns and _leads_to(piece, after):
            _give(piece, after)


def _give(piece: _Piece, other: _Piece) -> None:
    """What is said in one piece belongs to the noun of the other."""
    other.shades, other.resizes, other.styles = (
        [*piece.shades, *other.shades],
        [*piece.resizes, *other.resizes],
        [*piece.styles, *other.styles],
    )
    other.material, other.feel = other.material or piece.material, other.feel or piece.feel
    other.pattern = other.pattern or piece.pattern
    other.verb = piece.verb if other.verb == "alter" else other.verb
    piece.shades, piece.resizes, piece.styles, piece.material, piece.feel, piece.pattern = [], [], [], "", "", ""
    piece.verb = "alter"


def _leads_to(piece: _Piece, after: _Piece) -> bool:
    """Whether two pieces are like ``thicker and longer legs``: alike, without an article between."""
    is_alike = bool(piece.resizes) == bool(after.resizes) and piece.has_look == after.has_look
    return is_alike and not after.has_article and not after.said_after and after.opening != "with"


def _change(piece: _Piece) -> Change:
    verb: Verb = "alter" if piece.is_carried and piece.has_quality else piece.verb
    if piece.is_change and not piece.has_quality:
        verb = "replace"
    if piece.count == 0 and verb in ("alter", "remove"):
        verb = "remove"
    nouns = [noun for noun in piece.nouns if noun.parts] or piece.nouns
    change = Change(
        verb,
        tuple(nouns),
        tuple(piece.shades),
        piece.material,
        piece.feel,
        piece.pattern,
        tuple(piece.styles),
        tuple(piece.resizes),
        piece.count or None,
        piece.opening == "with",
    )
    return replace(change, nouns=()) if piece.is_whole and verb == "alter" and not nouns else change
