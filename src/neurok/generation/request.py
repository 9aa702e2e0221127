"""What a prompt asks for, read by rules: which colour, material and count belongs to which part.

The networks bind words to parts by themselves; a request says what they were asked for, so that choices that a person
has made are constraints (a red seat is red), and tells which of several lists fits best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from neurok.catalogue.appearance import basic
from neurok.catalogue.prompts import PartConstraint, Prompt
from neurok.catalogue.vocabulary import CATEGORIES, plural, table
from neurok.core.material_library import library
from neurok.generation.lexicon import WHOLE, Span, can_have, category_words, style_of

BACKWARD = frozenset({"is", "are", "of", "in", "made", "painted"})
"""Words after which what is said belongs to the noun before."""

JOINING = frozenset({"with", "plus", "on", "has", "having", "featuring", "whose", "that", "which", "without"})
"""Words after which a new part is spoken of; what still stands alone belongs to what came before."""

FORWARD = JOINING | {"and", "a", "an", "the"}
"""Words after which what is said belongs to the noun to come."""

BESIDE = frozenset({"at", "beside", "near", "next", "for", "under", "by", "behind", "from"})
"""Words after which other things are named than the one that is asked for."""

NAMING = frozenset({"a", "an", "the", "one", "my", "your", "our", "some"})
"""Words after which a thing is named ..."""

UNNAMED = frozenset({"thing", "something", "place", "somewhere", "spot", "piece", "item", "object", "kind", "sort"})
"""... and names that leave it open what the thing is."""

ABSENT = frozenset({"without", "no", "lacking"})
PIECES = frozenset({"part", "parts", "piece", "pieces", "component", "components"})
FAMILY_WORDS = frozenset(
    {"wood", "wooden", "timber", "metal", "cloth", "fabric", "textile", "plastic", "ceramic", "leather", "foam"}
)
STAND_INS = {
    ("chair", "top"): "seat", ("door", "leaf"): "door", ("laptop", "shell"): "base", ("bin", "top"): "lid",
    ("crib", "side panel"): "gate", ("box", "top"): "lid",
}  # fmt: skip
"""What people call a part of a category otherwise than its lists do: the top of a stool is its seat."""

EXCLUDED = {"tripod": ("base", "pedestal")}
"""Parts that there are not beside a shape: three legs stand where a foot would."""

COMMON = (
    0.05  # share of a category's objects from which a name is taken literally; else it may stand for a commoner one
)
SURE = 1.3  # how many times likelier than the next a category must be to follow from the parts that are named


@dataclass(frozen=True)
class PartRequest(PartConstraint):
    """What a prompt says of one part, and how it says it."""

    shade: str = ""
    """The colour word, such as ``crimson``."""

    is_single: bool = False
    """An article stands before it: one, or one pair."""

    second: str = ""
    """The other colour word of a pattern."""


@dataclass(frozen=True)
class Request:
    """What was understood of a prompt."""

    category: str
    """Empty where none is named."""

    parts: tuple[PartRequest, ...]
    without: tuple[str, ...] = ()
    """Parts that it should not have."""

    bound: frozenset[int] = frozenset()
    """Numbers of the words that say how a named part looks; they say nothing of the others."""

    targets: tuple[tuple[int, str], ...] = ()
    """Of spans, by their first words, the part that they are about, ``*`` for the whole; others constrain nothing."""

    notes: tuple[str, ...] = ()
    """What was contradictory, and what was done instead."""

    def prompt(self, text: str, category: str) -> Prompt:
        """The same in the form that objects are judged by: one wish for each name."""
        merged: dict[str, PartConstraint] = {}
        for one in self.parts:
            own = PartConstraint(one.part, one.colours, one.materials, one.count, one.styles, one.patterns)
            merged[one.part] = _either(merged[one.part], own) if one.part in merged else own
        return Prompt(text, self.category or category, tuple(merged.values()))


def _either(one: PartConstraint, other: PartConstraint) -> PartConstraint:
    """What two groups of parts of one name ask for together."""

    def any_of(name: str) -> tuple[str, ...]:
        first, second = getattr(one, name), getattr(other, name)
        return tuple(dict.fromkeys([*first, *second])) if first and second else ()

    count = None if one.count is None or other.count is None else one.count + other.count
    styles = tuple(style for style in one.styles if style in other.styles)
    return PartConstraint(one.part, any_of("colours"), any_of("materials"), count, styles, any_of("patterns"))


@dataclass
class _Qualities:
    """What is said of a noun, or was said since the last one."""

    colours: list[tuple[str, str]] = field(default_factory=list)
    """Colours of the palette, each with its word."""

    materials: list[tuple[str, str]] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    styles: list[tuple[str, ...]] = field(default_factory=list)
    """Words of shape, each with all that it may mean."""

    spans: list[Span] = field(default_factory=list)
    """The words that it was said with."""

    count: int | None = None
    is_single: bool = False

    @property
    def has_appearance(self) -> bool:
        return bool(self.colours or self.materials or self.patterns)

    @property
    def is_some(self) -> bool:
        return self.has_appearance or bool(self.styles)

    def take(self, span: Span) -> None:
        """Add what a span says."""
        kinds = span.kinds
        self.spans.append(span)
        if set(kinds) == {"number"}:
            self.count = int(kinds["number"])
        if "style" in kinds and "pattern" not in kinds:
            self.styles.append(tuple(span.values("style")))
        if "colour" in kinds:
            self.colours.append((kinds["colour"], span.shade or kinds["colour"]))
        if "material" in kinds:
            self.materials.append((kinds["material"], span.meant or span.text))
        if "pattern" in kinds:
            self.patterns.append(kinds["pattern"])

    def join(self, more: _Qualities) -> None:
        """Add what else was said."""
        for name in ("colours", "materials", "patterns", "styles", "spans"):
            getattr(self, name).extend(getattr(more, name))
        self.is_single |= more.is_single
        if more.count is not None:
            self.count = more.count + (self.count or 0)


class _PromptReader:
    """Goes through the spans of a prompt and gives what is said to the nouns that it is said of."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.at = category_span(spans)
        """Number of the noun that says what is asked for."""

        self.category = category_of(spans[self.at]) if self.at is not None else _category_by_parts(spans)
        self.is_listing = any(span.words[0] in PIECES for span in spans)
        self.found: dict[tuple[str, int], _Qualities] = {}
        """What is said of each group of parts of one name."""

        self.without: list[str] = []
        self.targets: dict[int, str] = {}
        self.last: tuple[str, int] | None = None
        self.said = _Qualities()
        self.is_backward = self.is_absent = self.in_clause = False
        for number, span in enumerate(spans):
            if number and span.clause != spans[number - 1].clause:
                self._settle()
                self.is_backward = self.is_absent = self.in_clause = False
            self._read(number, span)
        self._settle()

    def _settle(self) -> None:
        """What stands alone belongs to the noun before in the clause, or else to the whole."""
        if self.said.is_some:
            self._give(self.last if self.in_clause and self.last is not None else (WHOLE, 0))
        self.said = _Qualities()

    def _give(self, group: tuple[str, int]) -> None:
        """What was said since the last noun is about a group of parts."""
        self.targets |= {span.start: group[0] for span in self.said.spans}
        self.found.setdefault(group, _Qualities()).join(self.said)

    def _read(self, number: int, span: Span) -> None:
        if span.words[0] in ABSENT:
            self.is_absent = True
        elif not span.meanings:
            self._read_particle(span.words[0])
        else:
            noun = self._noun(number, span)
            if noun is None:
                is_of_last = self.is_backward and self.in_clause and self.last is not None
                (self.found[self.last] if is_of_last else self.said).take(span)  # type: ignore[index]
                self.targets |= {span.start: self.last[0]} if is_of_last and self.last else {}
            else:
                self._read_noun(number, span, noun)

    def _read_particle(self, word: str) -> None:
        """A word that names nothing but says what belongs to what."""
        if word.isdecimal():
            self.said.count = int(word)
        if word in PIECES:
            self.said = _Qualities()
        if word in JOINING:
            self._settle()
        if word in ("a", "an", "single"):
            self.said.is_single = True
            self.said.count = 1 if word == "single" or self.is_listing else self.said.count
        self.is_backward = (self.is_backward or word in BACKWARD) and word not in FORWARD

    def _noun(self, number: int, span: Span) -> str | None:
        """The part that a word names, or the whole."""
        if number == self.at:
            return WHOLE
        kinds = span.kinds
        if kinds.get("whole style") == "double door" and self.category and self.category != "door":
            self.said.count = 2
            return "door"
        if "style" in kinds and any(_is_part(one) for one in self.spans[number + 1 :] if one.clause == span.clause):
            return None
        if parts := span.values("part"):
            exact = [part for part in parts if (span.meant or span.text) in (part, plural(part))]
            share: Mapping[str, float] = category_words()[self.category]["parts"] if self.category else {}
            possible = [part for part in [*exact, *parts] if part in share]
            if exact and share.get(exact[0], 0.0) >= COMMON:
                return exact[0]
            if possible:
                return max(possible, key=lambda part: share[part])
            return STAND_INS.get((self.category, (exact or parts)[0]), (exact or parts)[0])
        is_whole = kinds.get("category") == self.category and not {"colour", "material"} & set(kinds)
        return WHOLE if "category" in kinds and is_whole else None

    def _read_noun(self, number: int, span: Span, noun: str) -> None:
        self.targets[span.start] = noun
        behind = self.spans[number + 1] if number + 1 < len(self.spans) else None
        is_compound = (
            behind is not None and behind.clause == span.clause and (number + 1 == self.at or _is_part(behind))
        )
        if noun != WHOLE and is_compound:
            self.found.setdefault((noun, 0), _Qualities())  # what is said belongs to the noun behind it
            return
        if noun != WHOLE and self.is_absent:
            self.without += span.values("part")
            self.said, self.is_absent = _Qualities(), False
            return
        if noun == WHOLE:
            self.said.count, self.said.is_single = None, False
        self.said.is_single &= not span.is_plural
        self.last = self._group(noun)
        self._give(self.last)
        self.said, self.is_backward, self.is_absent, self.in_clause = _Qualities(), False, False, True

    def _group(self, noun: str) -> tuple[str, int]:
        """Another appearance said of the same name is another group of such parts."""
        group = max((k for name, k in self.found if name == noun), default=0)
        old = self.found.get((noun, group))
        is_other = noun != WHOLE and old is not None and old.has_appearance and self.said.has_appearance
        return noun, group + is_other


def request_of(spans: Sequence[Span]) -> Request:
    """What the words of a prompt ask for."""
    reader = _PromptReader(spans)
    category, found = reader.category, reader.found
    without = [*reader.without, *(name for (name, _), one in found.items() if one.count == 0)]
    whole = found.get((WHOLE, 0))
    _share_styles(whole, found, category)
    shapes = {style for one in found.values() for options in one.styles for style in options}
    without += [name for shape in shapes & set(EXCLUDED) for name in EXCLUDED[shape]]
    if category == "cabinet" and "sliding" in shapes:
        doors = found.setdefault(("door", 0), _Qualities())
        doors.count = doors.count or 2  # one alone would have nowhere to go
    named = [(name, one) for (name, _), one in found.items() if name != WHOLE]
    parts = [_part_request(name, one, category) for name, one in named if one.count != 0]
    if whole is not None and whole.is_some:
        of_whole = replace(_part_request(WHOLE, whole, category), count=None)
        parts = [of_whole, *parts] if of_whole != PartRequest(WHOLE) else parts
    looks = [span for _, one in named for span in one.spans if {"colour", "material", "pattern"} & set(span.kinds)]
    bound = frozenset(start for span in looks for start in range(span.start, span.start + len(span.words)))
    notes = [note for (name, _), one in found.items() if (note := _contradiction(name, category, one))]
    about = tuple(sorted(reader.targets.items()))
    return Request(category, tuple(parts), tuple(dict.fromkeys(without)), bound, about, tuple(notes))


def strange_noun(spans: Sequence[Span]) -> str:
    """What the prompt asks for if that is a name that is in no table: ``helicopter`` of "a blue helicopter"."""
    for number, span in enumerate(spans):
        if span.words[-1] in UNNAMED:
            return ""
        if span.words[0] not in NAMING or span.meanings:
            continue
        phrase: list[Span] = []
        for one in spans[number + 1 :]:
            if one.clause != span.clause or one.is_filler:
                break
            phrase.append(one)
        name = phrase[-1] if phrase else None
        return "" if name is None or name.meanings or name.words[-1] in UNNAMED else name.text
    return ""


def category_span(spans: Sequence[Span]) -> int | None:
    """The number of the noun that says what is asked for."""
    found: list[int] = []
    for number, span in enumerate(spans):
        if not category_of(span):
            continue
        before = [one.words[0] for one in spans[max(0, number - 3) : number] if one.clause == span.clause]
        if any(word in BESIDE for word in before):
            continue
        if found and found[-1] == number - 1 and spans[found[-1]].clause == span.clause:
            found[-1] = number  # in a compound the last noun counts: a laptop bag
        else:
            found.append(number)
    sure = [number for number in found if not _is_part(spans[number])]
    if sure:
        return sure[0]
    others = {part for span in spans if not category_of(span) for part in span.values("part")}
    for number in found:
        category, span = category_of(spans[number]), spans[number]
        is_first = span.clause == 0 and not span.is_plural
        fits = not span.is_plural or number == 0 or span.clause == 0
        if is_first or (fits and (not others or any(can_have(category, part) for part in others))):
            return number
    return None


def _category_by_parts(spans: Sequence[Span]) -> str:
    """The only category that is likely to have the parts that are named; nothing when there are several."""
    named = [span.values("part") for span in spans if _is_part(span)]
    if not named:
        return ""
    likely = {}
    for category in CATEGORIES:
        share = category_words()[category]["parts"]
        likely[category] = math.prod(max(share.get(part, 0.0) for part in parts) for parts in named)
    first, second = sorted(likely, key=likely.__getitem__, reverse=True)[:2]
    return first if likely[first] > SURE * likely[second] else ""


def _is_part(span: Span) -> bool:
    return bool(span.values("part"))


def category_of(span: Span) -> str:
    named = span.values("category") or [_kind_category(kind, span.text) for kind in span.values("whole style")]
    return named[0] if named else ""


@cache
def _kind_category(kind: str, text: str) -> str:
    """The category that a kind is one of; among several that which its usual names hold."""
    known = [category for category in CATEGORIES if kind in category_words()[category]["kinds"]]
    usual = " ".join([*table()["kinds"].get(kind, []), text])
    return next((category for category in known if category in usual), known[0] if known else "")


def _share_styles(whole: _Qualities | None, found: dict[tuple[str, int], _Qualities], category: str) -> None:
    """What is said of the shape of the whole goes to the part that has such a shape: the back of a tufted sofa."""
    for options in list(whole.styles) if whole is not None and category else []:
        if style_of(category, WHOLE, options):
            continue
        known: Mapping[str, Any] = category_words()[category]["styles"]
        shares = {
            part: max(words[o]["share"] for o in options if o in words)
            for part, words in known.items()
            if set(options) & set(words)
        }
        kinds = category_words()[category]["kinds"]
        if shares and not any(option in kinds for option in options):
            part = max(shares, key=shares.__getitem__)
            if shares[part] >= COMMON:
                found.setdefault((part, 0), _Qualities()).styles.append(options)


def _shapes(name: str, said: _Qualities, category: str) -> dict[int, list[str]]:
    """Words of shape by the place that they have in the list; those of one place exclude each other."""
    found: dict[int, list[str]] = {}
    words = category_words()[category] if category else {"mains": [], "styles": {}}
    for style in [style_of(category, name, options) for options in said.styles] if category else []:
        for part in words["mains"] if name == WHOLE else [name]:
            entry = words["styles"].get(part, {}).get(style)
            if entry is not None:
                found[entry["slot"]] = list(dict.fromkeys([*found.get(entry["slot"], []), style]))
                break
    return found


def _part_request(name: str, said: _Qualities, category: str) -> PartRequest:
    materials = [library()[m].family if word in FAMILY_WORDS else m for m, word in said.materials]
    return PartRequest(
        name,
        tuple(basic(colour) for colour, _ in said.colours[:1]),
        tuple(dict.fromkeys(materials)),
        said.count,
        tuple(shape[0] for shape in _shapes(name, said, category).values()),
        tuple(said.patterns[:1]),
        said.colours[0][1] if said.colours else "",
        said.is_single,
        said.colours[1][1] if said.patterns and len(said.colours) > 1 else "",
    )


def _contradiction(name: str, category: str, said: _Qualities) -> str:
    """A sentence where two colours, shapes or materials are said of one part; the first is taken, or any material."""
    shades = list(dict.fromkeys(shade for _, shade in said.colours))
    words = [shades] if len(shades) > 1 and not said.patterns else []
    words += [shapes for shapes in _shapes(name, said, category).values() if len(shapes) > 1]
    what = (category or "object") if name == WHOLE else name
    notes = [f"Of the {what} {' and '.join(some[:3])} are said; it is {some[0]}." for some in words]
    families = {library()[material].family: word for material, word in said.materials}
    materials = [word for family, word in families.items() if family != "foam"]
    if len(materials) > 1:
        notes.append(f"Of the {what} {' and '.join(materials[:3])} are said; it is made of one of them.")
    return " ".join(notes)
