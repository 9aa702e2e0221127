"""What became of each word of a prompt: it is seen in the object, in no table, or was asked for in vain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from neurok.catalogue.appearance import basic
from neurok.catalogue.captions import groups
from neurok.catalogue.parts import Assembly, Part
from neurok.catalogue.prompts import PARTNERS
from neurok.catalogue.vocabulary import article
from neurok.core.material_library import library
from neurok.generation.edit_request import RESIZES
from neurok.generation.features import FEATURES
from neurok.generation.lexicon import FILLER, WHOLE, Meaning, Span, can_have, category_words, narrower
from neurok.generation.request import FAMILY_WORDS, PIECES, Request

Outcome = Literal["used", "unknown", "missed"]

SEEN: dict[str, Callable[[str, Assembly, Sequence[Part]], bool]] = {
    "category": lambda value, whole, parts: value == whole.category,
    "whole style": lambda value, whole, parts: value in whole.style,
    "part": lambda value, whole, parts: any(part.name == value for part in whole.parts),
    "style": lambda value, whole, parts: value in whole.style or any(value in (*p.style, p.relief) for p in parts),
    "colour": lambda value, whole, parts: any(basic(part.appearance.colour) == basic(value) for part in parts),
    "pattern": lambda value, whole, parts: any(part.appearance.pattern == value for part in parts),
    "feel": lambda value, whole, parts: any(part.appearance.feel == value for part in parts),
}
"""Whether a word of each kind can be seen in an object, given the parts that it was said of."""


QUALITIES = frozenset({"style", "colour", "material", "pattern", "feel"})


@dataclass(frozen=True)
class WordUse:
    """A word or phrase of a prompt and what became of it."""

    word: str
    outcome: Outcome
    reason: str = ""
    """A sentence: why it was in vain."""


def word_uses(
    spans: Iterable[Span], request: Request, assembly: Assembly, resized: Iterable[int] = ()
) -> tuple[WordUse, ...]:
    """What became of every word that says something; words that only hold a sentence together are left out.

    Args:
        resized: First words of the spans by which parts or the whole were made larger or smaller.
    """
    found = []
    spans, resized = [span for span in spans if not span.is_filler], frozenset(resized)
    for k, span in enumerate(spans):
        word = f"{span.text} (as {span.meant})" if span.meant else span.text
        reason = _reason(span, spans[k + 1 :], request, assembly, resized) if span.meanings else ""
        is_known = span.meanings or span.start in resized
        found.append(WordUse(word, "missed" if reason else "used" if is_known else "unknown", reason))
    return tuple(found)


def edit_uses(spans: Iterable[Span], unknown: Iterable[str], assembly: Assembly) -> tuple[WordUse, ...]:
    """What became of the words of an edit; parts that it names and cannot change were refused before."""
    found = []
    for span in spans:
        is_quality = bool(span.kinds) and set(span.kinds) <= QUALITIES and span.words[0] not in RESIZES
        is_lost = is_quality and not any(_is_seen(one, span, assembly, assembly.parts) for one in span.meanings)
        reason = f"'{span.text}' did not come out; another seed may have it." if is_lost else ""
        found.append(WordUse(span.text, "missed" if is_lost else "used", reason))
    return (*found, *(WordUse(word, "unknown") for word in unknown))


def _reason(span: Span, rest: Sequence[Span], request: Request, assembly: Assembly, resized: frozenset[int]) -> str:
    """Why a word that is known was in vain; nothing when it was not."""
    category, target, parts = assembly.category, dict(request.targets).get(span.start, WHOLE), span.values("part")
    if parts and set(parts) <= set(request.without):
        unwanted = [part.name for part in assembly.parts if part.name in parts]
        return f"It has {article(unwanted[0])}, though none was wanted." if unwanted else ""
    if set(span.kinds) == {"number"}:
        return _miscounted(int(span.kinds["number"]), rest, target, request, assembly)
    group = assembly.parts if target == WHOLE else _named(assembly, target)
    is_stand_in = target not in parts and bool({"part", "category", "whole style"} & set(span.kinds))
    if span.words[0] in FILLER or span.start in resized or (target != WHOLE and group and is_stand_in):
        return ""
    if any(_is_seen(meaning, span, assembly, group) for meaning in span.meanings):
        lost = narrower(category).get(span.text, "") if not set(span.words) & set(assembly.style) else ""
        return f"'{span.text}': {lost}." if lost else ""
    if "category" in span.kinds and not parts:
        return f"'{span.text}' is left out: one object is made at a time."
    if parts or not group:
        name = target if target != WHOLE else parts[0]
        if can_have(category, name):
            return f"There is no {name} on it, though one was asked for."
        return f"'{span.text}' is not possible: {article(category)} is made without {article(name)}."
    what = "" if target == WHOLE else f" of the {target}"
    if _is_possible(span, category, target):
        return f"'{span.text}'{what} did not come out; another seed may have it."
    return f"'{span.text}'{what} is not possible: no {category} is made so."


def _miscounted(count: int, rest: Sequence[Span], target: str, request: Request, assembly: Assembly) -> str:
    """Why a number was in vain."""
    if rest and rest[0].words[0] in PIECES:
        kinds = len(groups(assembly))
        return "" if kinds == count else f"{count} kinds of parts were asked for, it has {kinds}."
    if target == WHOLE:
        return "" if count == 1 else f"{count} counts no part of it; one object is made at a time (--count makes more)."
    wanted = sum(one.count or 0 for one in request.parts if one.part == target)
    total = sum(part.repeat.total for part in assembly.parts if part.name == target)
    return "" if total == wanted else f"{wanted} of {target} were asked for, it has {total}."


def _is_seen(meaning: Meaning, span: Span, assembly: Assembly, parts: Sequence[Part]) -> bool:
    if meaning.kind != "material":
        return SEEN[meaning.kind](meaning.value, assembly, parts) if meaning.kind in SEEN else False
    family = library()[meaning.value].family if (span.meant or span.text) in FAMILY_WORDS else ""
    made_of = {name for part in parts for name in (part.appearance.material, part.appearance.visible_material)}
    return meaning.value in made_of or family in {library()[name].family for name in made_of}


def _named(assembly: Assembly, name: str) -> list[Part]:
    return [part for part in assembly.parts if name in (part.name, PARTNERS.get(part.name))]


def _is_possible(span: Span, category: str, target: str) -> bool:
    """Whether objects of a category are ever made with a shape or of a kind; all can have any colour and material."""
    words = category_words()[category]
    if any(feature.category == category and span.text in feature.words for feature in FEATURES):
        return True
    if kinds := span.values("whole style"):
        return bool(set(kinds) & set(words["kinds"]))
    known = words["styles"].values() if target == WHOLE else [words["styles"].get(target, {})]
    styles = span.values("style")
    return not styles or any(set(styles) & set(some) for some in known)
