"""What a prompt asks for, read by rules: which colour, material and count belongs to which part.

The networks bind words to parts by themselves; the wishes say what they were asked for, hold choices that a person has
made (a red seat is red), and tell which of several lists fits best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from neurok.core.material_library import library
from neurok.families.household.looks import basic, palette
from neurok.families.household.prompts import Prompt, Wish
from neurok.generation.fields import Field, look_fields
from neurok.generation.lexicon import Span, is_filler

BACKWARD = frozenset({"is", "are", "of", "in", "made"})
"""Words after which what is said belongs to the noun before."""

FORWARD = frozenset({"and", "with", "plus", "on", "has", "having", "featuring", "a", "an", "the", "whose", "that"})
"""Words after which it belongs to the noun to come."""

WHOLE = "*"
"""The part whose look stands for the whole."""

FAMILY_WORDS = frozenset(
    {"wood", "wooden", "timber", "metal", "cloth", "fabric", "textile", "plastic", "ceramic", "leather", "foam"}
)


@dataclass
class _Open:
    """What was said since the last noun."""

    colours: list[str] = field(default_factory=list)
    materials: list[tuple[str, str]] = field(default_factory=list)
    count: int | None = None

    def __bool__(self) -> bool:
        return bool(self.colours or self.materials or self.count is not None)


@dataclass(frozen=True)
class Wishes:
    """What was understood of a prompt."""

    category: str
    """Empty where none is named."""

    parts: tuple[Wish, ...]

    def prompt(self, text: str, category: str) -> Prompt:
        """The same in the form that objects are judged by."""
        return Prompt(text, self.category or category, self.parts)


def wishes_of(spans: Sequence[Span]) -> Wishes:
    """What the words of a prompt ask for."""
    found: dict[str, _Open] = {}
    category, last, said, is_backward = "", "", _Open(), False
    for span in spans:
        kinds = {meaning.kind: meaning.value for meaning in reversed(span.meanings)}
        if not span.meanings:
            is_backward = (is_backward or span.words[0] in BACKWARD) and span.words[0] not in FORWARD
            continue
        noun = _noun(kinds, category)
        if noun is not None:
            if noun == WHOLE:
                category = category or kinds.get("category", "")
            last, is_backward = noun, False
            _join(found.setdefault(noun, _Open()), said)
            said = _Open()
            continue
        target = found[last] if is_backward and last else said
        _take(target, span, kinds)
    if said and last:
        _join(found[last], said)
    named = [name for name in found if name != WHOLE]
    wishes = [_wish(name, found[name]) for name in named]
    if WHOLE in found and (found[WHOLE].colours or found[WHOLE].materials):
        wishes.insert(0, _wish(WHOLE, found[WHOLE]))
    return Wishes(category, tuple(wishes))


def understood(spans: Sequence[Span]) -> tuple[list[str], list[str]]:
    """Words that name something, and those that name nothing."""
    known = [span.text if not span.meant else f"{span.text} (as {span.meant})" for span in spans if span.meanings]
    return known, [span.text for span in spans if not span.meanings and not is_filler(span)]


class LookHold:
    """Holds looks to what was wished for: a mask of words for each row of a batch, field by field."""

    def __init__(self, wishes: Sequence[Wishes], names: Sequence[str], mains: Sequence[str]) -> None:
        """
        Args:
            names: Of the part of each row.
            mains: The name of the part that stands for the whole, in each row.
        """
        self._wishes = [_wish_for(one, name, main) for one, name, main in zip(wishes, names, mains, strict=True)]

    def __call__(self, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
        if field.name not in ("colour", "material", "cover") or not any(self._wishes):
            return None
        mask = torch.ones(len(self._wishes), field.count, dtype=torch.bool)
        for row, wish in enumerate(self._wishes):
            words = _allowed(field, wish, int(chosen[0][row]) if chosen else -1) if wish is not None else None
            if words:
                mask[row] = False
                mask[row, [field.index(word) for word in words]] = True
        return mask


def _wish_for(wishes: Wishes, name: str, main: str) -> Wish | None:
    by_name = {wish.part: wish for wish in wishes.parts}
    return by_name.get(name) or (by_name.get(WHOLE) if name == main else None)


def _allowed(field: Field, wish: Wish, material: int) -> list[str]:
    """The words of a field that a wish allows; none when it says nothing of it."""
    if field.name == "colour":
        return [colour for colour in palette() if basic(colour) in wish.colours]
    stuffs = _stuffs(wish.materials)
    if field.name == "material":
        padding = [name for name in library() if _is_padding(name)] if set(stuffs) & _coverings() else []
        return [*stuffs, *padding]
    chosen = look_fields()[0].words[material]
    if not stuffs or chosen in stuffs or not _is_padding(chosen):
        return []
    return [stuff for stuff in stuffs if stuff in _coverings()]


def _noun(kinds: Mapping[str, str], category: str) -> str | None:
    """The part that a word names; the first noun of a prompt that may be a category is one."""
    if ("category" in kinds or "whole style" in kinds) and (not category or "part" not in kinds):
        return WHOLE
    return kinds.get("part")


def _take(target: _Open, span: Span, kinds: Mapping[str, str]) -> None:
    if "number" in kinds and len(kinds) == 1:
        target.count = int(kinds["number"])
    if "colour" in kinds:
        target.colours.append(kinds["colour"])
    if "material" in kinds:
        target.materials.append((kinds["material"], span.meant or span.text))


def _join(target: _Open, more: _Open) -> None:
    target.colours += more.colours
    target.materials += more.materials
    target.count = more.count if more.count is not None else target.count


def _wish(name: str, said: _Open) -> Wish:
    materials: list[str] = []
    for material, word in said.materials:
        is_family = word in FAMILY_WORDS
        materials.append(library()[material].family if is_family else material)
    colours = tuple(dict.fromkeys(basic(colour) for colour in said.colours[:1]))
    return Wish(name, colours, tuple(dict.fromkeys(materials)), said.count)


def _stuffs(materials: Iterable[str]) -> list[str]:
    wanted = set(materials)
    return [name for name, entry in library().items() if name in wanted or entry.family in wanted]


def _is_padding(material: str) -> bool:
    return library()[material].family == "foam"


@cache
def _coverings() -> frozenset[str]:
    return frozenset(n for n, entry in library().items() if entry.family in ("fabric", "leather")) | {"fur"}
