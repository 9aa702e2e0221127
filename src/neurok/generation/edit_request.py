"""Reads what is to be changed of an object: which parts are named, and what is said of them.

A sentence is taken apart at ``and``, ``with`` and commas. What is said of a part stands in the same piece as its name,
or in the next one (``make the legs thicker and black``); what is said of no part is said of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from neurok.errors import NeurokError
from neurok.generation.lexicon import FILLER, LONGEST, WORD, Span, read

Verb = Literal["alter", "remove", "replace", "add", "keep"]
Dimension = Literal["width", "height", "depth", "length", "thickness", "size"]

# Chosen so that a change is seen at a glance.
MORE = 1.25  # factor of ``wider``; its inverse is that of ``narrower``
MUCH_POWER = 2.0  # power of the factor after ``much``: 1.56 times as wide
LITTLE_POWER = 0.5  # the same after ``slightly``: 1.12 times
BOUNDS = (0.25, 4.0)  # factors that are followed

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

STRENGTHS = {
    **dict.fromkeys(("much", "far", "lot", "considerably"), MUCH_POWER),
    **dict.fromkeys(("slightly", "bit", "little", "somewhat"), LITTLE_POWER),
}
PERCENTS = {"twice": 100, "half": -50}
_FILLER = """turn change swap vary paint painted colour color coloured colored set use using into more so too now let us
    can you same rest get if be being become look looks looking shape material kind covered upholster piece pair do not
    touch are were percent times twice half please"""
OWN_FILLER = frozenset(_FILLER.split())
OWN = frozenset({*RESIZES, *VERBS, *STRENGTHS}) | CHANGES | ASIDE | WHOLES | AGAIN | PLACES | OWN_FILLER


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


@dataclass(frozen=True, kw_only=True)
class Qualities:
    """What is said of something."""

    shades: tuple[str, ...] = ()
    """Colour words; the second is that of the pattern."""

    material: str = ""
    feel: str = ""
    pattern: str = ""
    styles: tuple[str, ...] = ()
    resizes: tuple[tuple[Dimension, float], ...] = ()
    """Which side, and the factor."""

    count: int | None = None

    @property
    def has_appearance(self) -> bool:
        return bool(self.shades or self.material or self.feel or self.pattern)

    @property
    def is_some(self) -> bool:
        return bool(self.has_appearance or self.resizes or self.styles or self.count is not None)

    def before(self, other: Qualities) -> Qualities:
        """Both, these first where several can stand beside each other; what the other says of one is kept."""
        return Qualities(
            shades=self.shades + other.shades,
            material=other.material or self.material,
            feel=other.feel or self.feel,
            pattern=other.pattern or self.pattern,
            styles=self.styles + other.styles,
            resizes=self.resizes + other.resizes,
            count=other.count,
        )


@dataclass(frozen=True)
class Change(Qualities):
    """What is to be done, and to what."""

    verb: Verb
    nouns: tuple[Noun, ...] = ()
    """Nothing for the whole."""

    is_with: bool = False
    """Whether it was said what the object is ``with``: it may have to be added."""


@dataclass(frozen=True)
class Reading:
    """An edit that was read."""

    changes: tuple[Change, ...]
    spans: tuple[Span, ...]
    """The words that are understood."""

    ignored: tuple[str, ...]


@dataclass
class _Piece:
    """A piece of the sentence, as it is read."""

    opening: str = ""
    verb: Verb = "alter"
    is_carried: bool = False
    """Whether its verb is that of the piece before: ``remove the arms and the cushions``."""

    nouns: list[Noun] = field(default_factory=list)
    said: Qualities = field(default_factory=Qualities)
    unknown: list[str] = field(default_factory=list)
    is_change: bool = False
    is_again: bool = False
    is_whole: bool = False
    has_article: bool = False
    said_after: bool = False
    """Whether something was said after the noun."""

    @property
    def says_something(self) -> bool:
        return bool(self.nouns or self.said.is_some or (self.verb != "alter" and not self.is_carried))

    @property
    def is_empty(self) -> bool:
        return not (self.nouns or self.said.is_some or self.unknown or self.is_again or self.verb != "alter")


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
    pieces = [piece for piece in _EditReader(spans).pieces if not piece.is_empty]
    _join_qualities(pieces)
    changes = [_change(piece) for piece in pieces if piece.says_something]
    ignored = tuple(word for piece in pieces for word in piece.unknown)
    heard = tuple(span for span in spans if span.meanings or span.words[0] in RESIZES or span.words[0] in VERBS)
    lost = [piece for piece in pieces if piece.unknown and not piece.nouns]
    if lost:
        changes.append(Change("alter", (Noun(" ".join(lost[0].unknown), ()),)))
    return Reading(tuple(change for change in changes if change.verb != "keep"), heard, ignored)


class _EditReader:
    """Takes a sentence apart into pieces, word by word."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans, self.pieces = spans, [_Piece()]
        self.strength, self.percent, self.skips_noun = 1.0, 0, False
        for at, span in enumerate(spans):
            self._step(at, span)(span)

    @property
    def piece(self) -> _Piece:
        return self.pieces[-1]

    def _step(self, at: int, span: Span) -> Callable[[Span], None]:
        """What a span does: words of the edit's own come first, where they stand alone."""
        word, rest = span.words[0], self.spans[at + 1 :]
        own: tuple[tuple[bool, Callable[[Span], None]], ...] = (
            (word in ASIDE, self._open),
            (word in RESIZES, self._resize),
            (word in VERBS, self._do),
            (word in STRENGTHS or word in PERCENTS, self._strengthen),
            (word.isdecimal() and bool(rest) and rest[0].words[0] == "percent", self._strengthen),
            (word in AGAIN and _ends_piece(rest), self._refer),
            (word in WHOLES, self._refer),
            (word in PLACES, self._place),
        )
        if len(span.words) == 1:
            for is_it, step in own:
                if is_it:
                    return step
        return self._name if span.meanings else self._pass

    def _open(self, span: Span) -> None:
        word, piece = span.words[0], self.piece
        new = _Piece(opening=word)
        if word in ("and", "plus") and piece.verb in ("remove", "keep") and not piece.said.is_some:
            new.verb, new.is_carried = piece.verb, True
        if piece.is_empty and piece.opening not in ("and", ""):
            self.pieces.pop()
        self.pieces.append(new)
        self.strength, self.skips_noun = 1.0, False

    def _resize(self, span: Span) -> None:
        dimension, sign = RESIZES[span.words[0]]
        self._say(resizes=(*self.piece.said.resizes, (dimension, _factor(sign, self.strength, self.percent))))
        self.strength, self.percent = 1.0, 0

    def _do(self, span: Span) -> None:
        verb = VERBS[span.words[0]]
        self.piece.verb = verb if self.piece.verb != "replace" or verb != "remove" else self.piece.verb

    def _strengthen(self, span: Span) -> None:
        word = span.words[0]
        if word in STRENGTHS:
            self.strength = STRENGTHS[word]
        else:
            self.percent = PERCENTS[word] if word in PERCENTS else int(word)

    def _refer(self, span: Span) -> None:
        self.piece.is_again |= span.words[0] in AGAIN
        self.piece.is_whole |= span.words[0] in WHOLES

    def _place(self, span: Span) -> None:
        self.skips_noun = bool(self.piece.nouns)

    def _name(self, span: Span) -> None:
        """Note what a span names: a noun, or a quality."""
        kinds, piece = span.kinds, self.piece
        is_whole = "category" in kinds or "whole style" in kinds
        if is_whole or "part" in kinds:
            if not self.skips_noun:
                parts, categories = tuple(span.values("part")), tuple(span.values("category"))
                piece.nouns.append(Noun(span.meant or span.text, parts, categories, is_whole))
            self.skips_noun = False
        elif "colour" in kinds:
            self._say(shades=(*piece.said.shades, span.shade or kinds["colour"]))
        elif "material" in kinds:
            self._say(material=kinds["material"])
        elif "number" in kinds:
            self._say(count=int(kinds["number"]))
        elif "pattern" in kinds:
            self._say(pattern=kinds["pattern"])
        elif "style" in kinds:
            self._say(styles=(*piece.said.styles, kinds["style"]))
        else:
            self._say(feel=kinds["feel"])

    def _say(self, **qualities: object) -> None:
        piece = self.piece
        piece.said = replace(piece.said, **qualities)  # type: ignore[arg-type]
        piece.said_after |= bool(piece.nouns)

    def _pass(self, span: Span) -> None:
        word, piece = span.words[0], self.piece
        piece.is_change |= word in CHANGES
        piece.has_article |= word in ("a", "an", "the")
        piece.unknown += [w for w in span.words if w not in FILLER | OWN]


def _factor(sign: int, strength: float, percent: int) -> float:
    factor = 1.0 + percent / 100.0 if percent > 0 else MORE**strength
    if percent < 0:
        factor = 1.0 / (1.0 + percent / 100.0)
    return float(min(max(factor**sign, BOUNDS[0]), BOUNDS[1]))


def _ends_piece(rest: Sequence[Span]) -> bool:
    """Whether no noun follows in the same piece, so that ``one`` is no count."""
    for span in rest:
        if span.words[0] in ASIDE:
            break
        if span.values("part"):
            return False
    return True


def _join_qualities(pieces: list[_Piece]) -> None:
    """Give pieces without a noun that of the piece before or, where they lead up to it, of the next."""
    for at, piece in enumerate(pieces):
        if piece.nouns or piece.is_whole or piece.unknown:
            continue
        before = pieces[at - 1] if at and pieces[at - 1].nouns else None
        after = pieces[at + 1] if at + 1 < len(pieces) and pieces[at + 1].nouns else None
        if piece.is_again and before is not None:
            _give(piece, before)
        elif piece.said.is_some and before is not None and (before.said_after or before.verb == "replace"):
            piece.nouns, piece.said_after = list(before.nouns), True
        elif piece.said.is_some and after is not None and _leads_to(piece, after):
            _give(piece, after)


def _give(piece: _Piece, other: _Piece) -> None:
    """What is said in one piece belongs to the noun of the other."""
    other.said = piece.said.before(other.said)
    other.verb = piece.verb if other.verb == "alter" else other.verb
    piece.said, piece.verb = Qualities(count=piece.said.count), "alter"


def _leads_to(piece: _Piece, after: _Piece) -> bool:
    """Whether two pieces are like ``thicker and longer legs``: alike, without an article between."""
    one, other = piece.said, after.said
    is_alike = bool(one.resizes) == bool(other.resizes) and one.has_appearance == other.has_appearance
    return is_alike and not after.has_article and not after.said_after and after.opening != "with"


def _change(piece: _Piece) -> Change:
    said, verb = piece.said, piece.verb
    if piece.is_carried and said.is_some:
        verb = "alter"
    if piece.is_change and not said.is_some:
        verb = "replace"
    if said.count == 0 and verb in ("alter", "remove"):
        verb = "remove"
    nouns = [noun for noun in piece.nouns if noun.parts] or piece.nouns
    qualities = vars(said) | {"count": said.count or None}
    return Change(verb, tuple(nouns), piece.opening == "with", **qualities)
