"""Draws some of an object anew with the networks and keeps the rest: near variations, single parts, new parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from neurok.errors import NeurokError
from neurok.families.household.parts import Assembly, Part
from neurok.generation.attachment import Attached, attach
from neurok.generation.context import Asked
from neurok.generation.fields import (
    PARTS,
    Field,
    build_fields,
    can_be_listed,
    chosen,
    look_fields,
    part_words,
    said,
    whole_fields,
    whole_words,
)
from neurok.generation.numbers import part_of, row_of, scale_of, used_by
from neurok.generation.part_list import Hold, Lists, stack_lists
from neurok.generation.writing import WRITING, Generator, WritingConfig


@dataclass(frozen=True)
class RedrawingConfig:
    """How far from the given object things may go; set by looking at sheets of variations."""

    writing: WritingConfig = WRITING
    given: float = 0.5
    """Share of the given numbers in what the flow starts from, the rest being noise; 1 changes nothing."""

    warmth: float = 0.8
    """Spread of that noise; with 0.25 variations could not be told apart."""

    closer: float = 0.1
    """How much that share grows with each drawing that comes apart."""

    far: float = 0.02
    """How far parts may be moved to meet [shares of the longest side] before another drawing is made."""

    tries: int = 3
    """Drawings among which the one is taken whose parts need to move least to meet."""

    least: float = 1e-4
    """Probability of a part's name at the best place in the list from which the part can be added."""


REDRAWING = RedrawingConfig()
HELD = ("name", "parent", "role", "mirror", "count", "hinge", "centred")
"""Words of a part that stay when it is replaced."""


class Redrawer:
    """Both networks, what was asked for, and the dice."""

    def __init__(
        self, model: Generator, asked: Asked, generator: torch.Generator, config: RedrawingConfig = REDRAWING
    ) -> None:
        self.model, self.asked, self.generator, self.config = model, asked, generator, config

    def vary(self, assembly: Assembly) -> Assembly:
        """Another object of the same words: the flow starts part of the way from noise to the given numbers."""
        return self._best(lambda number: self._varied(assembly, self.config.given + number * self.config.closer))

    def replace(self, assembly: Assembly, numbers: Sequence[int], styles: Sequence[str]) -> Assembly:
        """The object with other words of shape and other numbers for some parts, in their old looks."""
        return self._best(lambda _: self._replaced(assembly, numbers, styles))

    def add(self, assembly: Assembly, names: Sequence[str]) -> tuple[Assembly, int] | None:
        """The object with one part more, where the list would have it, and its number."""
        place = self._place_for(assembly, names)
        if place is None:
            return None
        number, name = place
        return self._best(lambda _: self._added(assembly, number, name)), number

    def _best(self, draw: Callable[[int], Assembly]) -> Assembly:
        """The first drawing whose parts meet, or the one that comes nearest to it."""
        found: list[tuple[Assembly, Attached]] = []
        for number in range(self.config.tries):
            drawn = draw(number)
            found.append((drawn, attach(drawn)))
            if found[-1][1].bodies == 1 and found[-1][1].moved <= self.config.far:
                break
        return min(found, key=lambda one: (one[1].bodies, one[1].moved))[0]

    @torch.no_grad()
    def _varied(self, assembly: Assembly, share: float) -> Assembly:
        lists, given, used = self._listed([part_words(part) for part in assembly.parts], assembly)
        config = self.config
        together = self.model.together(lists, config.writing)
        x = self.model.flow.finish(lists, self.asked, used, given, share, self.generator, config.warmth, together)
        new = self.model.assembly_of(lists, x[0])
        parts = [
            replace(part, look=old.look, style=old.style) for part, old in zip(new.parts, assembly.parts, strict=True)
        ]
        return replace(assembly, parts=tuple(parts))

    @torch.no_grad()
    def _replaced(self, assembly: Assembly, numbers: Sequence[int], styles: Sequence[str]) -> Assembly:
        words = [part_words(part) for part in assembly.parts]
        for number in numbers:
            words[number] = self._other_words(assembly, words, number, styles)
        fresh = self._numbers(words, assembly, set(numbers))
        parts = list(assembly.parts)
        for number in numbers:
            parts[number] = replace(fresh[number], look=parts[number].look)
        return replace(assembly, parts=tuple(parts))

    @torch.no_grad()
    def _added(self, assembly: Assembly, number: int, name: str) -> Assembly:
        words = [part_words(part) for part in assembly.parts]
        before = self._before(assembly, words, number)
        model = self.model.part_list
        context, bias = model.context(self.asked)
        warmth = self.config.writing.list_warmth
        place = model.places(before, context, bias)[:, -1]
        build = model.build.draw(place, warmth, self.generator, _hold({"name": (name,)}, number))
        own = said(build_fields(), build[0].tolist())
        if own["hinge"]:
            own |= {"mirror": "", "count": "1"}
        inputs = torch.cat([before, model.build.embed(build)[:, None]], dim=1)
        look = model.look.draw(model.places(inputs, context, bias)[:, -1], warmth, self.generator)
        own |= said(look_fields(), look[0].tolist())
        later = lambda parent: str(int(parent) + 1) if parent and int(parent) >= number else parent  # noqa: E731
        words = [*words[:number], own, *({**word, "parent": later(word["parent"])} for word in words[number:])]
        moved = [replace(p, parent=p.parent + 1) if p.parent >= number else p for p in assembly.parts[number:]]
        blank = part_of(own, np.zeros(len(used_by(own))), 1.0)
        wider = replace(assembly, parts=(*assembly.parts[:number], blank, *moved))
        fresh = self._numbers(words, wider, {number}, scale_of(assembly))
        return replace(wider, parts=(*wider.parts[:number], fresh[number], *moved))

    @torch.no_grad()
    def _place_for(self, assembly: Assembly, names: Sequence[str]) -> tuple[int, str] | None:
        """Where in the list a part of one of these names is most likely to come, and which."""
        self._check(assembly)
        if len(assembly.parts) >= PARTS:
            return None
        model, count = self.model.part_list, len(assembly.parts)
        inputs = self._before(assembly, [part_words(part) for part in assembly.parts], count)
        known = model.places(inputs, *model.context(self.asked))[0, 1::2]
        shares = model.build.mixes[0](known[1:]).softmax(dim=-1)  # nothing comes before the first part
        of_names = shares[:, [build_fields()[0].index(name) for name in names]]
        best = int(of_names.argmax())
        if float(of_names.flatten()[best]) < self.config.least:
            return None
        return best // len(names) + 1, names[best % len(names)]

    @torch.no_grad()
    def _other_words(
        self, assembly: Assembly, words: list[dict[str, str]], number: int, styles: Sequence[str]
    ) -> dict[str, str]:
        old = words[number]
        held: dict[str, tuple[str, ...]] = {name: (old[name],) for name in HELD}
        if styles:
            held["style 0"] = tuple(styles[:1])
        model = self.model.part_list
        context, bias = model.context(self.asked)
        place = model.places(self._before(assembly, words, number), context, bias)[:, -1]
        build = model.build.draw(place, self.config.writing.list_warmth, self.generator, _hold(held, number))
        return {**old, **said(build_fields(), build[0].tolist())}

    def _before(self, assembly: Assembly, words: list[dict[str, str]], number: int) -> Float[Tensor, "1 N W"]:
        """The sequence up to a part."""
        model = self.model.part_list
        rows = [model.start[None, None], model.whole.embed(_numbers(whole_fields(), whole_words(assembly)))]
        for word in words[:number]:
            rows += [model.build.embed(_numbers(build_fields(), word)), model.look.embed(_numbers(look_fields(), word))]
        return torch.cat([row.view(1, 1, -1) for row in rows], dim=1)

    def _numbers(
        self, words: list[dict[str, str]], assembly: Assembly, fresh: set[int], scale: float | None = None
    ) -> dict[int, Part]:
        """Parts with numbers that fit those of all others."""
        scale = scale_of(assembly) if scale is None else scale
        lists, given, used = self._listed(words, assembly, scale)
        is_kept = torch.tensor([[k < len(words) and k not in fresh for k in range(used.shape[1])]])
        writing = self.config.writing
        rows = self.model.flow.sample(
            lists, self.asked, used, self.generator, writing.guidance, writing.flow_warmth, given, is_kept
        )
        kinds = np.array([_kind(word) for word in words])
        values = self.model.standard.back(rows[0, : len(words)].numpy().astype(np.float64), kinds)
        return {number: part_of(words[number], values[number], scale) for number in fresh}

    def _listed(
        self, words: list[dict[str, str]], assembly: Assembly, scale: float | None = None
    ) -> tuple[Lists, Tensor, Tensor]:
        """An object as the networks take it: its list, its standardised numbers, and which of them mean something."""
        self._check(assembly)
        scale = scale_of(assembly) if scale is None else scale
        lists = stack_lists(
            [chosen(whole_fields(), whole_words(assembly))],
            [[chosen(build_fields(), word) for word in words]],
            [[chosen(look_fields(), word) for word in words]],
        )
        rows = np.stack([row_of(part, scale) for part in assembly.parts])
        rows = self.model.standard.to(rows, np.array([_kind(word) for word in words]))
        means = np.stack([used_by(word) for word in words])
        given, used = (torch.zeros(1, lists.build.shape[1], rows.shape[1]) for _ in range(2))
        used[0, : len(words)] = torch.from_numpy(means).float()
        given[0, : len(words)] = torch.from_numpy(rows * means).float()
        return lists, given, used

    @staticmethod
    def _check(assembly: Assembly) -> None:
        if not can_be_listed(assembly):
            raise NeurokError(
                f"This {assembly.category} has parts that the networks cannot write (more than {PARTS}, or meshes of "
                "their own); change its looks or sizes instead."
            )


def _kind(words: dict[str, str]) -> int:
    field = next(field for field in build_fields() if field.name == "kind")
    return field.index(words["kind"])


def _numbers(fields: Sequence[Field], words: dict[str, str]) -> Tensor:
    return torch.tensor(chosen(fields, words))


def _hold(held: dict[str, tuple[str, ...]], number: int) -> Hold:
    """Some fields held to words; the parent is an earlier part."""

    def allowed(field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
        words = held.get(field.name)
        mask = torch.ones(field.count, dtype=torch.bool)
        if words is not None:
            mask[:] = False
            mask[[field.index(word) for word in words]] = True
        elif field.name == "parent":
            mask[:] = False
            mask[1 : number + 1] = True
        return mask

    return allowed
