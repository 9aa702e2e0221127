"""What a prompt asks for, read by rules: which colour, material and count belongs to which part.

The networks bind words to parts by themselves; the wishes say what they were asked for, hold choices that a person has
made (a red seat is red), and tell which of several lists fits best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from neurok.core.material_library import library
from neurok.families.household.looks import basic, colour_words
from neurok.families.household.prompts import Prompt, Wish
from neurok.families.household.vocabulary import CATEGORIES
from neurok.families.household.words import plural, table
from neurok.generation.category_words import WHOLE, can_have, category_words, style_of
from neurok.generation.lexicon import Span, is_filler

BACKWARD = frozenset({"is", "are", "of", "in", "made", "painted"})
"""Words after which what is said belongs to the noun before."""

JOINING = frozenset({"with", "plus", "on", "has", "having", "featuring", "whose", "that", "which", "without"})
"""Words after which a new part is spoken of; looks that still stand alone belong to what came before."""

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
COMMON = 0.05
"""Share of a category's objects from which a name is taken literally; else it may stand for a commoner one."""

SURE = 1.3
"""How many times likelier than the next a category must be to follow from the parts that are named."""

FAMILY_WORDS = frozenset(
    {"wood", "wooden", "timber", "metal", "cloth", "fabric", "textile", "plastic", "ceramic", "leather", "foam"}
)


@dataclass(frozen=True)
class PartWish(Wish):
    """What a prompt says of one part, and how it says it."""

    shade: str = ""
    """The colour word, such as ``crimson``."""

    is_single: bool = False
    """An article stands before it: one, or one pair."""

    second: str = ""
    """The other colour word of a pattern."""


@dataclass
class _Open:
    """What was said since the last noun."""

    colours: list[tuple[str, str]] = field(default_factory=list)
    """Colours of the palette, each with its word."""

    materials: list[tuple[str, str]] = field(default_factory=list)
    count: int | None = None
    is_single: bool = False
    starts: list[int] = field(default_factory=list)
    """Numbers of the words that looks were said with."""

    patterns: list[str] = field(default_factory=list)
    styles: list[tuple[str, ...]] = field(default_factory=list)
    """Words of shape, each with all that it may mean."""

    @property
    def has_look(self) -> bool:
        return bool(self.colours or self.materials or self.patterns)

    @property
    def says(self) -> bool:
        return self.has_look or bool(self.styles)


@dataclass(frozen=True)
class Wishes:
    """What was understood of a prompt."""

    category: str
    """Empty where none is named."""

    parts: tuple[PartWish, ...]
    without: tuple[str, ...] = ()
    """Parts that it should not have."""

    bound: frozenset[int] = frozenset()
    """Numbers of the words that say how a named part looks; they say nothing of the others."""

    notes: tuple[str, ...] = ()
    """What was contradictory, and what was done instead."""

    def prompt(self, text: str, category: str) -> Prompt:
        """The same in the form that objects are judged by: one wish for each name."""
        merged: dict[str, Wish] = {}
        for wish in self.parts:
            old = merged.get(wish.part)
            if old is None:
                merged[wish.part] = Wish(
                    wish.part, wish.colours, wish.materials, wish.count, wish.styles, wish.patterns
                )
                continue
            known = old.count is not None and wish.count is not None
            merged[wish.part] = Wish(
                wish.part,
                tuple(dict.fromkeys([*old.colours, *wish.colours])) if old.colours and wish.colours else (),
                tuple(dict.fromkeys([*old.materials, *wish.materials])) if old.materials and wish.materials else (),
                (old.count or 0) + (wish.count or 0) if known else None,
                tuple(style for style in old.styles if style in wish.styles),
                tuple(dict.fromkeys([*old.patterns, *wish.patterns])) if old.patterns and wish.patterns else (),
            )
        return Prompt(text, self.category or category, tuple(merged.values()))


def wishes_of(spans: Sequence[Span]) -> Wishes:
    """What the words of a prompt ask for."""
    at = _category_span(spans)
    category = _category_of(spans[at]) if at is not None else _category_by_parts(spans)
    is_listing = any(span.words[0] in PIECES for span in spans)
    found: dict[tuple[str, int], _Open] = {}
    without: list[str] = []
    last: tuple[str, int] | None = None
    said, is_backward, clause, is_absent, in_clause = _Open(), False, 0, False, False

    def settle() -> None:
        """Looks that stand alone belong to the noun before in the clause, or else to the whole."""
        nonlocal said
        if said.says:
            _join(found.setdefault(last if in_clause and last is not None else (WHOLE, 0), _Open()), said)
        said = _Open()

    for number, span in enumerate(spans):
        if span.clause != clause:
            settle()
            clause, is_backward, is_absent, in_clause = span.clause, False, False, False
        word = span.words[0]
        if word in ABSENT:
            is_absent = True
            continue
        if not span.meanings:
            if word.isdecimal():
                said.count = int(word)
            if word in PIECES:
                said = _Open()
            if word in JOINING:
                settle()
            if word in ("a", "an", "single"):
                said.is_single = True
                said.count = 1 if word == "single" or is_listing else said.count
            is_backward = (is_backward or word in BACKWARD) and word not in FORWARD
            continue
        kinds = {meaning.kind: meaning.value for meaning in reversed(span.meanings)}
        later = any(_is_part(one) for one in spans[number + 1 :] if one.clause == span.clause)
        noun = None if later and number != at and "style" in kinds else _noun(span, kinds, number, at, category)
        if noun is None:
            target = found[last] if is_backward and in_clause and last is not None else said
            _take(target, span, kinds)
            continue
        if number + 1 < len(spans) and noun != WHOLE and _names_more(spans[number + 1], span, number + 1 == at):
            found.setdefault((noun, 0), _Open())  # part of a compound: what is said belongs to the noun behind it
            continue
        if is_absent and noun != WHOLE:
            without += [meaning.value for meaning in span.meanings if meaning.kind == "part"]
            said, is_absent = _Open(), False
            continue
        if noun == WHOLE:
            said.count, said.is_single = None, False
        if span.is_plural:
            said.is_single = False
        last = _place(found, noun, said)
        _join(found.setdefault(last, _Open()), said)
        said, is_backward, is_absent, in_clause = _Open(), False, False, True
    settle()
    without += [name for (name, _), one in found.items() if one.count == 0]
    whole = found.get((WHOLE, 0))
    _share_styles(whole, found, category)
    wishes = [_wish(name, one, category) for (name, _), one in found.items() if name != WHOLE and one.count != 0]
    if whole is not None and whole.says:
        wish = replace(_wish(WHOLE, whole, category), count=None)
        wishes = [wish, *wishes] if wish != PartWish(WHOLE) else wishes
    bound = frozenset(start for (name, _), one in found.items() if name != WHOLE for start in one.starts)
    notes = [note for (name, _), one in found.items() if (note := _contradiction(name, category, one))]
    return Wishes(category, tuple(wishes), tuple(dict.fromkeys(without)), bound, tuple(notes))


def understood(spans: Sequence[Span]) -> tuple[list[str], list[str]]:
    """Words that name something, and those that name nothing."""
    known = [span.text if not span.meant else f"{span.text} (as {span.meant})" for span in spans if span.meanings]
    return known, [span.text for span in spans if not span.meanings and not is_filler(span)]


def strange_noun(spans: Sequence[Span]) -> str:
    """What the prompt asks for if that is a name that is in no table: ``helicopter`` of "a blue helicopter"."""
    for number, span in enumerate(spans):
        if span.words[-1] in UNNAMED:
            return ""
        if span.words[0] not in NAMING or span.meanings:
            continue
        phrase: list[Span] = []
        for one in spans[number + 1 :]:
            if one.clause != span.clause or is_filler(one):
                break
            phrase.append(one)
        name = phrase[-1] if phrase else None
        return "" if name is None or name.meanings or name.words[-1] in UNNAMED else name.text
    return ""


def _category_span(spans: Sequence[Span]) -> int | None:
    """The number of the noun that says what is asked for."""
    found: list[int] = []
    for number, span in enumerate(spans):
        if not _category_of(span):
            continue
        before = [one.words[0] for one in spans[max(0, number - 3) : number] if one.clause == span.clause]
        if any(word in BESIDE for word in before):
            continue
        if found and found[-1] == number - 1 and spans[found[-1]].clause == span.clause:
            found[-1] = number  # in a compound the last noun counts: a laptop bag
        else:
            found.append(number)
    sure = [number for number in found if not any(m.kind == "part" for m in spans[number].meanings)]
    if sure:
        return sure[0]
    others = {m.value for span in spans for m in span.meanings if m.kind == "part" and not _category_of(span)}
    for number in found:
        category = _category_of(spans[number])
        is_first = spans[number].clause == 0 and not spans[number].is_plural
        fits = not spans[number].is_plural or number == 0 or spans[number].clause == 0
        if is_first or (fits and (not others or any(can_have(category, part) for part in others))):
            return number
    return None


def _category_by_parts(spans: Sequence[Span]) -> str:
    """The only category that is likely to have the parts that are named; nothing when there are several."""
    named = [[m.value for m in span.meanings if m.kind == "part"] for span in spans if _is_part(span)]
    if not named:
        return ""
    likely = {}
    for category in CATEGORIES:
        share = category_words()[category]["parts"]
        likely[category] = math.prod(max(share.get(part, 0.0) for part in parts) for parts in named)
    first, second = sorted(likely, key=likely.__getitem__, reverse=True)[:2]
    return first if likely[first] > SURE * likely[second] else ""


def _is_part(span: Span) -> bool:
    return any(meaning.kind == "part" for meaning in span.meanings)


def _names_more(behind: Span, span: Span, is_whole: bool) -> bool:
    return behind.clause == span.clause and (is_whole or _is_part(behind))


def _category_of(span: Span) -> str:
    for meaning in span.meanings:
        if meaning.kind == "category":
            return meaning.value
    return next((_kind_category(m.value, span.text) for m in span.meanings if m.kind == "whole style"), "")


@cache
def _kind_category(kind: str, text: str) -> str:
    """The category that a kind is one of; among several that which its usual names hold."""
    known = [category for category in CATEGORIES if kind in category_words()[category]["kinds"]]
    usual = " ".join([*table()["kinds"].get(kind, []), text])
    return next((category for category in known if category in usual), known[0] if known else "")


def _noun(span: Span, kinds: Mapping[str, str], number: int, at: int | None, category: str) -> str | None:
    """The part that a word names, or the whole."""
    if number == at:
        return WHOLE
    parts = [meaning.value for meaning in span.meanings if meaning.kind == "part"]
    if parts:
        exact = [part for part in parts if (span.meant or span.text) in (part, plural(part))]
        share: Mapping[str, float] = category_words()[category]["parts"] if category else {}
        possible = [part for part in [*exact, *parts] if part in share]
        if exact and share.get(exact[0], 0.0) >= COMMON:
            return exact[0]
        return max(possible, key=lambda part: share[part]) if possible else (exact or parts)[0]
    if "category" in kinds and "colour" not in kinds and "material" not in kinds:
        return WHOLE if kinds["category"] == category else None
    return None


def _place(found: Mapping[tuple[str, int], _Open], noun: str, said: _Open) -> tuple[str, int]:
    """Where something said of a part belongs: another look of the same name is another group of such parts."""
    group = max((k for name, k in found if name == noun), default=0)
    old = found.get((noun, group))
    if noun != WHOLE and old is not None and old.has_look and said.has_look:
        return noun, group + 1
    return noun, group


def _take(target: _Open, span: Span, kinds: Mapping[str, str]) -> None:
    if "number" in kinds and len(kinds) == 1:
        target.count = int(kinds["number"])
        return
    styles = tuple(meaning.value for meaning in span.meanings if meaning.kind == "style")
    target.styles += [styles] if styles and "pattern" not in kinds else []
    looks = [kind for kind in ("colour", "material", "pattern") if kind in kinds]
    if not looks:
        return
    target.starts += range(span.start, span.start + len(span.words))
    text = span.meant or span.text
    if "colour" in kinds:
        shade = next((w for w in (text, text.replace(" ", "-")) if w in colour_words()), kinds["colour"])
        target.colours.append((kinds["colour"], shade))
    if "material" in kinds:
        target.materials.append((kinds["material"], text))
    target.patterns += [kinds["pattern"]] if "pattern" in kinds else []


def _join(target: _Open, more: _Open) -> None:
    target.colours += more.colours
    target.materials += more.materials
    target.starts += more.starts
    target.patterns += more.patterns
    target.styles += more.styles
    target.is_single |= more.is_single
    if more.count is not None:
        target.count = more.count + (target.count or 0)


def _share_styles(whole: _Open | None, found: dict[tuple[str, int], _Open], category: str) -> None:
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
                found.setdefault((part, 0), _Open()).styles.append(options)


def _shapes(name: str, said: _Open, category: str) -> dict[int, list[str]]:
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


def _wish(name: str, said: _Open, category: str) -> PartWish:
    materials = [library()[m].family if word in FAMILY_WORDS else m for m, word in said.materials]
    colours = tuple(dict.fromkeys(basic(colour) for colour, _ in said.colours[:1]))
    shade = said.colours[0][1] if said.colours else ""
    return PartWish(
        name,
        colours,
        tuple(dict.fromkeys(materials)),
        said.count,
        tuple(shape[0] for shape in _shapes(name, said, category).values()),
        tuple(said.patterns[:1]),
        shade,
        said.is_single,
        said.colours[1][1] if said.patterns and len(said.colours) > 1 else "",
    )


def _contradiction(name: str, category: str, said: _Open) -> str:
    """A sentence where two colours, shapes or materials are said of one part; the first is taken, or any material."""
    shades = list(dict.fromkeys(shade for _, shade in said.colours))
    words = [shades] if len(shades) > 1 and not said.patterns else []
    words += [shapes for shapes in _shapes(name, said, category).values() if len(shapes) > 1]
    what = (category or "object") if name == WHOLE else name
    notes = [f"Of the {what} {' and '.join(some[:3])} are said; it is {some[0]}." for some in words]
    families = {library()[material].family: word for material, word in said.materials}
    stuffs = [word for family, word in families.items() if family != "foam"]
    if len(stuffs) > 1:
        notes.append(f"Of the {what} {' and '.join(stuffs[:3])} are said; it is made of one of them.")
    return " ".join(notes)
