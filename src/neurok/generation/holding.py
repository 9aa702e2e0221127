"""Holds what the network chooses to what was wished for: looks, names and counts of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import torch
from torch import Tensor

from neurok.core.material_library import library
from neurok.families.household.captions import main_part
from neurok.families.household.looks import basic, colour_words, palette, rgb_of, shades
from neurok.families.household.parts import Assembly
from neurok.families.household.prompts import PARTNERS, is_other, said_of_parts
from neurok.families.household.stuffs import METALS, WOODS
from neurok.generation.category_words import WHOLE, can_have, category_words
from neurok.generation.fields import END, Field, build_fields, look_fields
from neurok.generation.wishes import PartWish, Wishes

FRAME = frozenset(
    {"leg", "back", "arm", "armrest", "arm support", "post", "frame", "base", "stretcher", "apron", "top rail", "slat",
     "spindle", "splat", "shell", "star base", "column", "pedestal", "headboard", "footboard", "body", "head",
     "side panel", "wing", "lower rail", "cross bar", "end panel"}
)  # fmt: skip
"""Parts that look like the whole when the one that stands for it looks otherwise: a white chair with a red seat."""


UNPAINTED = {
    **dict.fromkeys(WOODS, ("light brown", "brown", "dark brown", "tan", "beige")),
    **METALS,
    "steel": ("silver", "grey", "light grey"),
    "terracotta": ("terracotta",),
    "rattan": ("tan", "beige", "light brown"),
    "straw": ("tan", "beige", "yellow"),
}
"""Colours of materials that have one of their own: asked for without a colour, they are not painted."""


class LookHold:
    """Holds looks to what was wished for: a mask of words for each row of a batch, field by field."""

    def __init__(
        self,
        wishes: Sequence[Wishes],
        names: Sequence[str],
        mains: Sequence[str],
        before: Sequence[int] | None = None,
    ) -> None:
        """
        Args:
            names: Of the part of each row.
            mains: The name of the part that stands for the whole, in each row.
            before: How many of that name each row has already; of several groups the next one counts.
        """
        before = before or [0] * len(names)
        rows = zip(wishes, names, mains, before, strict=True)
        self._asked, self._names = wishes, names
        self._wishes = [wish_for(one, name, main, count) for one, name, main, count in rows]

    def __call__(self, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
        if field.name not in ("colour", "material", "cover", "pattern", "second"):
            return None
        mask = torch.ones(len(self._wishes), field.count, dtype=torch.bool)
        for row, wish in enumerate(self._wishes):
            so_far = [int(choice[row]) for choice in chosen]
            words = _allowed(field, wish, so_far) if wish is not None else None
            if not words and field.name == "colour":
                words = self._others(row, so_far[0])
            if words:
                mask[row] = False
                mask[row, [field.index(word) for word in words]] = True
        return mask

    def _others(self, row: int, material: int) -> list[str]:
        """Colours that were not said of other parts."""
        parts, name, stuff = self._asked[row].parts, self._names[row], look_fields()[0].words[material]
        taken = {colour for colour in said_of_parts(parts) if is_other(name, stuff, colour, parts)}
        return [colour for colour in palette() if basic(colour) not in taken] if taken else []


def wish_for(wishes: Wishes, name: str, main: str, before: int = 0) -> PartWish | None:
    """What is said of a part of some name, when there are so many of that name before it."""
    groups = [wish for wish in wishes.parts if wish.part in (name, PARTNERS.get(name))]
    groups = [wish for wish in groups if wish.part == name] or groups
    whole = next((wish for wish in wishes.parts if wish.part == WHOLE), None)
    if not groups:
        is_rest = name in FRAME and any(wish.part == main for wish in wishes.parts)
        return whole if name == main or is_rest else None
    reached = 0
    for wish in groups:
        reached += wish.count or 1
        if before < reached:
            return wish
    return groups[-1]


def is_said_of(wishes: Wishes, name: str) -> bool:
    """Whether a part of some name, or the one that it belongs to, is named itself."""
    return any(wish.part in (name, PARTNERS.get(name)) for wish in wishes.parts)


class BuildHold:
    """Holds names and counts of one row: not more than was asked for, nothing that is not wanted, a root first."""

    def __init__(self, wishes: Wishes, category: str) -> None:
        self._wanted: dict[str, int | None] = {}
        for wish in wishes.parts:
            if wish.part != WHOLE and can_have(category, wish.part):
                old = self._wanted.get(wish.part, 0)
                self._wanted[wish.part] = None if wish.count is None or old is None else old + wish.count
        self._single = {w.part for w in wishes.parts if w.is_single and w.count is None}
        self._without = set(wishes.without)
        self._category = category
        self._styles = {wish.part: wish.styles for wish in wishes.parts if wish.styles}
        self.have: dict[str, int] = {}
        self._forms: list[tuple[str, str]] = []
        self.forced = 0
        """How many parts the network would not have written by itself."""

        self.is_forced = False
        """Whether only parts that are still missing may come next."""

    @property
    def missing(self) -> list[str]:
        """Names of which there are too few."""
        return [name for name, count in self._wanted.items() if self.have.get(name, 0) < (count or 1)]

    def add(self, words: Mapping[str, str]) -> None:
        """A part was written."""
        self._forms.append((words["name"], words.get("kind", "")))
        total = int(words["count"]) * 2 ** len(words["mirror"])
        self.have[words["name"]] = self.have.get(words["name"], 0) + total

    def mask(self, number: int, field: Field, chosen: Sequence[int]) -> Tensor:
        mask = torch.ones(field.count, dtype=torch.bool)
        if field.name == "name":
            mask[field.index(END)] = number > 0
            for name, count in self._wanted.items():
                if count is not None and self.have.get(name, 0) >= count:
                    mask[field.index(name)] = False
            had = {name for name in self._single if self.have.get(name, 0)}
            for name in self._without | had | (set(self._homeless()) - set(self._wanted)):
                mask[field.index(name)] = False
            if self.is_forced and self.missing:
                mask[:] = False
                mask[[field.index(name) for name in self.missing]] = True
        elif field.name == "parent":
            mask[:] = False
            carriers = self._parents(number, build_fields()[0].words[chosen[0]]) if number else [0]
            mask[carriers or list(range(1, number + 1))] = True
        elif field.name == "kind" or field.name == "relief" or field.name.startswith("style "):
            words = self._shapes(field, chosen)
            mask = torch.tensor([word in words for word in field.words]) if words else mask
        elif field.name in ("mirror", "count"):
            left = self._left(chosen)
            if left is not None:
                each = 2 ** len(self._mirror(chosen)) if field.name == "count" else 1
                sizes = [int(w) * each if field.name == "count" else 2 ** len(w) for w in field.words]
                mask = torch.tensor([size <= left for size in sizes])
        return mask if mask.any() else torch.ones(field.count, dtype=torch.bool)

    def _parents(self, number: int, name: str) -> list[int]:
        """Places in the field of earlier parts that ever carry a part of some name in this category."""
        words = category_words()[self._category]
        carriers, bare = words.get("parents", {}).get(name, ()), words.get("bare", {}).get(name, {})
        return [
            k + 1
            for k, (other, kind) in enumerate(self._forms[:number])
            if other in carriers and kind not in bare.get(other, ())
        ]

    def _homeless(self) -> list[str]:
        """Names of parts that none of the forms so far ever carries: an apron below a round top."""
        names = {other for other, _ in self._forms}
        bare = category_words()[self._category].get("bare", {})
        near = [name for name, others in bare.items() if names & set(others)]
        return [name for name in near if not self._parents(len(self._forms), name)]

    def _shapes(self, field: Field, chosen: Sequence[int]) -> set[str]:
        """The words of a field that go with the shapes that were said of a part; none when there are none."""
        name, words = build_fields()[0].words[chosen[0]], category_words()[self._category]
        styles = self._styles.get(name, ()) or (self._styles.get(WHOLE, ()) if name in words["mains"] else ())
        known = [(style, words["styles"].get(name, {}).get(style)) for style in styles]
        found = [(style, entry) for style, entry in known if entry is not None]
        if field.name.startswith("style "):
            return {style for style, entry in found if entry["slot"] == int(field.name.split()[1])}
        options = [set(entry[f"{field.name}s"]) for _, entry in found]
        return set.intersection(*options) if options else set()

    def _left(self, chosen: Sequence[int]) -> int | None:
        name = build_fields()[0].words[chosen[0]]
        count = self._wanted.get(name)
        return None if count is None else count - self.have.get(name, 0)

    @staticmethod
    def _mirror(chosen: Sequence[int]) -> str:
        at = [field.name for field in build_fields()].index("mirror")
        return build_fields()[at].words[chosen[at]]


def true_colours(assembly: Assembly, wishes: Wishes, far: float = 0.12) -> Assembly:
    """The object in the shades that were said; other parts in shades that their colour words allow.

    Args:
        far: Distance in sRGB from the nearest shade of its word beyond which a colour is that shade; seven times the
            spread of colours about their shades in what the networks learn from.
    """
    main, parts, before = assembly.parts[main_part(assembly)].name, [], Counter[str]()
    for part in assembly.parts:
        wish = wish_for(wishes, part.name, main, before[part.name])
        before[part.name] += part.repeat.total
        look, word = part.look, "" if wish is None else wish.shade
        if not word or colour_words()[word] != look.colour:
            apart = {w: float(np.linalg.norm(np.subtract(rgb_of(w), look.rgb))) for w in shades(look.colour)}
            nearest = min(apart, key=apart.__getitem__)
            word = nearest if apart[nearest] > far else ""
        parts.append(replace(part, look=replace(look, shade=word, rgb=rgb_of(word))) if word else part)
    return replace(assembly, parts=tuple(parts))


def _allowed(field: Field, wish: PartWish, chosen: Sequence[int]) -> list[str]:
    """The words of a field that a wish allows, given the choices before it; none when it says nothing of it."""
    if field.name == "pattern":
        return list(wish.patterns)
    if field.name == "second":
        if not wish.patterns:
            return []
        first = basic(look_fields()[2].words[chosen[2]])
        other = [colour_words()[wish.second]] if wish.second else []
        return other or [word for word in field.words if word and basic(word) != first]
    if field.name == "colour":
        if wish.shade:
            return [colour_words()[wish.shade]]
        if not wish.colours and wish.materials:
            return list(UNPAINTED.get(look_fields()[0].words[chosen[0]], ()))
        return [colour for colour in palette() if basic(colour) in wish.colours]
    stuffs = _stuffs(wish.materials)
    if field.name == "material":
        padding = [name for name in library() if _is_padding(name)] if set(stuffs) & _coverings() else []
        return [*stuffs, *padding]
    material = look_fields()[0].words[chosen[0]]
    if not stuffs or material in stuffs or not _is_padding(material):
        return []
    return [stuff for stuff in stuffs if stuff in _coverings()]


def _stuffs(materials: Iterable[str]) -> list[str]:
    wanted = set(materials)
    return [name for name, entry in library().items() if name in wanted or entry.family in wanted]


def _is_padding(material: str) -> bool:
    return library()[material].family == "foam"


@cache
def _coverings() -> frozenset[str]:
    return frozenset(n for n, entry in library().items() if entry.family in ("fabric", "leather")) | {"fur"}
