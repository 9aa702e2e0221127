"""Draws lists of parts with the network, its choices constrained to what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from neurok.catalogue.appearance import basic, colour_words, palette
from neurok.catalogue.captions import main_roles
from neurok.catalogue.materials import METALS, WOODS
from neurok.catalogue.prompts import PARTNERS, is_other, said_of_parts
from neurok.core.material_library import library
from neurok.generation.context import Conditioning
from neurok.generation.fields import END, PARTS, Field, appearance_fields, build_fields, choice_words, whole_fields
from neurok.generation.lexicon import WHOLE, can_have, category_words
from neurok.generation.part_list import Lists, PartListModel, stack_lists
from neurok.generation.request import PartRequest, Request
from neurok.generation.writing import LIST_WARMTH

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


class AppearanceMask:
    """Which materials, colours and patterns may be chosen: a mask of words for each row of a batch, field by field."""

    def __init__(
        self, request: Request, names: Sequence[str], mains: Sequence[str], before: Sequence[int] | None = None
    ) -> None:
        """
        Args:
            names: Of the part of each row.
            mains: The name of the part that stands for the whole, in each row.
            before: How many of that name each row has already; of several groups the next one counts.
        """
        rows = zip(names, mains, before or [0] * len(names), strict=True)
        self._request, self._names = request, names
        self._parts = [request_for(request, name, main, count) for name, main, count in rows]

    def __call__(self, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
        if field.name not in ("colour", "material", "cover", "pattern", "second"):
            return None
        mask = torch.ones(len(self._parts), field.count, dtype=torch.bool)
        for row, part in enumerate(self._parts):
            so_far = [int(choice[row]) for choice in chosen]
            words = _allowed(field, part, so_far) if part is not None else None
            if not words and field.name == "colour":
                words = self._others(row, so_far[0])
            if words:
                mask[row] = torch.tensor([word in words for word in field.words])
        return mask

    def _others(self, row: int, material: int) -> list[str]:
        """Colours that were not said of other parts."""
        parts, name = self._request.parts, self._names[row]
        made_of = appearance_fields()[0].words[material]
        taken = {colour for colour in said_of_parts(parts) if is_other(name, made_of, colour, parts)}
        return [colour for colour in palette() if basic(colour) not in taken] if taken else []


def request_for(request: Request, name: str, main: str, before: int = 0) -> PartRequest | None:
    """What is said of a part of some name, when there are so many of that name before it."""
    groups = [one for one in request.parts if one.part in (name, PARTNERS.get(name))]
    groups = [one for one in groups if one.part == name] or groups
    if not groups:
        whole = next((one for one in request.parts if one.part == WHOLE), None)
        is_rest = name in FRAME and any(one.part == main for one in request.parts)
        return whole if name == main or is_rest else None
    reached = 0
    for one in groups:
        reached += one.count or 1
        if before < reached:
            return one
    return groups[-1]


def _is_named(request: Request, name: str) -> bool:
    """Whether a part of some name, or the one that it belongs to, is named itself."""
    return any(one.part in (name, PARTNERS.get(name)) for one in request.parts)


class BuildMask:
    """Which names and counts one list may have: not more than was asked for, nothing unwanted, a root first."""

    def __init__(self, request: Request, category: str) -> None:
        self._wanted: dict[str, int | None] = {}
        for one in request.parts:
            if one.part != WHOLE and can_have(category, one.part):
                old = self._wanted.get(one.part, 0)
                self._wanted[one.part] = None if one.count is None or old is None else old + one.count
        self._single = {one.part for one in request.parts if one.is_single and one.count is None}
        self._without = set(request.without)
        self._words: Mapping[str, Any] = category_words()[category]
        self._styles = {one.part: one.styles for one in request.parts if one.styles}
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
        """Which words of a field the next part may have; all where none would be left."""
        name = build_fields()[0].words[chosen[0]] if chosen else ""
        words: Iterable[str] = field.words
        if field.name == "name":
            words = self._names(number, field)
        elif field.name == "parent":
            carriers = (self._parents(name) or list(range(1, number + 1))) if number else [0]
            words = {field.words[k] for k in carriers}
        elif field.name == "kind" or field.name == "relief" or field.name.startswith("style "):
            words = self._shapes(field, name) or field.words
        elif field.name in ("mirror", "count") and self._wanted.get(name) is not None:
            left, each = (self._wanted[name] or 0) - self.have.get(name, 0), 1
            if field.name == "count":
                at = [one.name for one in build_fields()].index("mirror")
                each = 2 ** len(build_fields()[at].words[chosen[at]])
            words = [w for w in words if (int(w) * each if field.name == "count" else 2 ** len(w)) <= left]
        allowed = set(words)
        mask = torch.tensor([word in allowed for word in field.words])
        return mask if mask.any() else torch.ones_like(mask)

    def _names(self, number: int, field: Field) -> set[str]:
        """What the next part may be called."""
        if self.is_forced and self.missing:
            return set(self.missing)
        full = {name for name, count in self._wanted.items() if count is not None and self.have.get(name, 0) >= count}
        had = {name for name in self._single if self.have.get(name, 0)}
        gone = full | had | self._without | (self._homeless() - set(self._wanted)) | ({END} if number == 0 else set())
        return set(field.words) - gone

    def _parents(self, name: str) -> list[int]:
        """Places in the field of earlier parts that ever carry a part of some name in this category."""
        carriers = self._words.get("parents", {}).get(name, ())
        bare = self._words.get("bare", {}).get(name, {})
        return [
            k + 1
            for k, (other, kind) in enumerate(self._forms)
            if other in carriers and kind not in bare.get(other, ())
        ]

    def _homeless(self) -> set[str]:
        """Names of parts that none of the forms so far ever carries: an apron below a round top."""
        names = {other for other, _ in self._forms}
        near = [name for name, others in self._words.get("bare", {}).items() if names & set(others)]
        return {name for name in near if not self._parents(name)}

    def _shapes(self, field: Field, name: str) -> set[str]:
        """The words of a field that go with the shapes that were said of a part; none when there are none."""
        whole = self._styles.get(WHOLE, ()) if name in self._words["mains"] else ()
        known = self._words["styles"].get(name, {})
        found = {style: known[style] for style in self._styles.get(name, ()) or whole if style in known}
        if field.name.startswith("style "):
            return {style for style, entry in found.items() if entry["slot"] == int(field.name.split()[1])}
        options = [set(entry[f"{field.name}s"]) for entry in found.values()]
        return set.intersection(*options) if options else set()


def _allowed(field: Field, request: PartRequest, chosen: Sequence[int]) -> list[str]:
    """The words of a field that a request allows, given the choices before it; none when it says nothing of it."""
    if field.name == "pattern":
        return list(request.patterns)
    if field.name == "second":
        if not request.patterns:
            return []
        first = basic(appearance_fields()[2].words[chosen[2]])
        other = [colour_words()[request.second]] if request.second else []
        return other or [word for word in field.words if word and basic(word) != first]
    if field.name == "colour":
        if request.shade:
            return [colour_words()[request.shade]]
        if not request.colours and request.materials:
            return list(UNPAINTED.get(appearance_fields()[0].words[chosen[0]], ()))
        return [colour for colour in palette() if basic(colour) in request.colours]
    materials = _in_library(request.materials)
    if field.name == "material":
        padding = [name for name in library() if _is_padding(name)] if set(materials) & _coverings() else []
        return [*materials, *padding]
    material = appearance_fields()[0].words[chosen[0]]
    if not materials or material in materials or not _is_padding(material):
        return []
    return [name for name in materials if name in _coverings()]


def _in_library(materials: Iterable[str]) -> list[str]:
    wanted = set(materials)
    return [name for name, entry in library().items() if name in wanted or entry.family in wanted]


def _is_padding(material: str) -> bool:
    return library()[material].family == "foam"


@cache
def _coverings() -> frozenset[str]:
    return frozenset(n for n, entry in library().items() if entry.family in ("fabric", "leather")) | {"fur"}


@torch.no_grad()
def draw_lists(
    model: PartListModel,
    asked: Conditioning,
    generator: torch.Generator,
    request: Request | None = None,
    plain: Conditioning | None = None,
    warmth: float = LIST_WARMTH,
) -> Lists:
    """Lists for a prompt, part by part, until each has ended; names, counts and appearance are as requested.

    Args:
        asked: The prompt, as many times as lists are wanted.
        plain: The prompt without the words that say how named parts look. All other parts follow these, so that a bear
            with a blue bow is not blue.
    """
    count, request = len(asked.states), request or Request("", ())
    full, other = model.context(asked), model.context(plain) if plain is not None else None
    inputs = model.start.expand(count, 1, -1)
    place = model.places(inputs, *full)[:, -1]
    whole = model.whole.draw(place, warmth, generator, partial(_category_mask, request, count))
    categories = [whole_fields()[0].words[int(number)] for number in whole[:, 0]]
    masks = [BuildMask(request, category) for category in categories]
    inputs = torch.cat([inputs, model.whole.embed(whole)[:, None]], dim=1)
    builds: list[Tensor] = []
    looks: list[Tensor] = []
    mains = [""] * count
    lengths = torch.full((count,), -1)
    for number in range(PARTS):
        build = _draw_build(model, model.places(inputs, *full)[:, -1], warmth, generator, masks, number)
        lengths[(build[:, 0] == 0) & (lengths < 0)] = number
        if (lengths >= 0).all():
            break
        build = _consistent(build)
        inputs = torch.cat([inputs, model.build.embed(build)[:, None]], dim=1)
        words = [choice_words(build_fields(), row.tolist()) for row in build]
        names = [word["name"] for word in words]
        for row, (word, category) in enumerate(zip(words, categories, strict=True)):
            mains[row] = mains[row] or (word["name"] if word["role"] in main_roles(category) else "")
        before = [mask.have.get(name, 0) for mask, name in zip(masks, names, strict=True)]
        place = model.places(inputs, *full)[:, -1]
        if other is not None:
            is_named = torch.tensor([_is_named(request, name) for name in names])
            place = torch.where(is_named[:, None], place, model.places(inputs, *other)[:, -1])
        finish = model.look.draw(place, warmth, generator, AppearanceMask(request, names, mains, before))
        inputs = torch.cat([inputs, model.look.embed(finish)[:, None]], dim=1)
        for mask, word in zip(masks, words, strict=True):
            mask.add(word)
        builds.append(build)
        looks.append(finish)
    lengths[lengths < 0] = len(builds)
    build_rows = [[builds[p][k].tolist() for p in range(lengths[k])] for k in range(count)]
    look_rows = [[looks[p][k].tolist() for p in range(lengths[k])] for k in range(count)]
    drawn = stack_lists(whole.tolist(), build_rows, look_rows)
    return replace(drawn, forced=torch.tensor([mask.forced for mask in masks]))


def _draw_build(
    model: PartListModel,
    place: Tensor,
    warmth: float,
    generator: torch.Generator,
    masks: Sequence[BuildMask],
    number: int,
) -> Int[Tensor, "B F"]:
    """What the next part is; a list that would end too early goes on with what is missing."""
    build = model.build.draw(place, warmth, generator, partial(_build_mask, masks, number))
    early = [bool(row[0] == 0) and bool(mask.missing) for row, mask in zip(build, masks, strict=True)]
    if not any(early):
        return build
    for mask, is_early in zip(masks, early, strict=True):
        mask.is_forced = is_early
        mask.forced += is_early
    again = model.build.draw(place, warmth, generator, partial(_build_mask, masks, number))
    for mask in masks:
        mask.is_forced = False
    return torch.where(torch.tensor(early)[:, None], again, build)


def _build_mask(masks: Sequence[BuildMask], number: int, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    if field.name in ("role", "opening", "hinge", "quarter", "centred"):
        return None
    rows = torch.stack(list(chosen), dim=1).tolist() if chosen else [[]] * len(masks)
    return torch.stack([mask.mask(number, field, row) for mask, row in zip(masks, rows, strict=True)])


def _category_mask(request: Request, count: int, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    if field.name != "category" or not request.category:
        return None
    return torch.tensor([word == request.category for word in field.words]).expand(count, -1)


def _consistent(build: Int[Tensor, "B F"]) -> Int[Tensor, "B F"]:
    """What moves is there once."""
    names = [field.name for field in build_fields()]
    build, moves = build.clone(), build[:, names.index("hinge")] > 0
    for name in ("mirror", "count"):
        build[moves, names.index(name)] = 0
    return build
