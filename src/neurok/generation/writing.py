"""From lists of parts to objects: fills a list with numbers, makes the parts meet, and draws some of an object anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.catalogue.parts import Assembly, Part
from neurok.errors import NeurokError
from neurok.generation.attachment import ROUGH, Attached, attach, meeting
from neurok.generation.context import Conditioning, ContextConfig
from neurok.generation.fields import (
    PARTS,
    Field,
    appearance_fields,
    build_fields,
    can_be_listed,
    choice_words,
    chosen,
    part_words,
    whole_fields,
    whole_words,
)
from neurok.generation.flow import FlowConfig, FlowModel, Project
from neurok.generation.numbers import SPANS, Standard, part_of, row_of, scale_of, used_by
from neurok.generation.part_list import Hold, Lists, PartListConfig, PartListModel, stack_lists
from neurok.learned.task import Task

LIST_WARMTH = 0.5  # temperature of the choices of a list; a sketch found 0.5 to keep lists whole
FLOW_WARMTH = 0.25
"""Spread of the noise that numbers start from: less is tidier and more alike. Parts had to be moved by less than 2 % of
the size on 0.55, 0.36 and 0.27 of 44 objects at 0.15, 0.4 and 0.7."""

KEPT = 0.7
"""Share of the numbers of an object that came apart, with its parts moved until they meet, from which the flow goes on
to write it anew."""

TOGETHER = (0.5, 0.75, 0.9375)
"""After which shares of the way parts are put together in what the flow is about to write; the last step is its own
again, so that in the end it chooses itself where parts meet."""


@dataclass(frozen=True, eq=False)
class Written:
    """One object as the network wrote it."""

    attached: Attached
    """Its parts where they meet."""

    lists: Lists
    """Its list, a batch of one."""

    numbers: Float[Tensor, "P N"]
    """Standardised."""


class Generator(nn.Module):
    """The networks: of lists, and of numbers."""

    def __init__(self, part_list: PartListModel, flow: FlowModel) -> None:
        super().__init__()
        self.part_list, self.flow = part_list, flow

    @staticmethod
    def build(part_list: PartListConfig, flow: FlowConfig) -> Generator:
        return Generator(PartListModel(part_list), FlowModel(flow))

    @property
    def standard(self) -> Standard:
        return Standard(self.flow.mean.numpy().astype(np.float64), self.flow.spread.numpy().astype(np.float64))

    @torch.no_grad()
    def fill(self, lists: Lists, asked: Conditioning, generator: torch.Generator) -> Written:
        """The object of a list."""
        words = list_words(lists, 0)[1]
        _, used = self.numbers(lists, words)
        project = self.together(lists)
        rows = self.flow.sample(lists, asked, used, generator, warmth=FLOW_WARMTH, project=project)[0]
        return Written(attach(self.assembly_of(lists, rows)), lists, rows)

    @torch.no_grad()
    def refine(self, written: Written, asked: Conditioning, generator: torch.Generator) -> Written:
        """The object written anew from where its parts meet, so that the others follow those that were moved."""
        lists, met = written.lists, written.attached.assembly
        given, used = self.numbers(lists, list_words(lists, 0)[1], met.parts, scale_of(met))
        start: dict[str, Any] = {"warmth": FLOW_WARMTH, "given": given, "share": KEPT, "project": self.together(lists)}
        rows = self.flow.sample(lists, asked, used, generator, **start)[0]
        return Written(attach(self.assembly_of(lists, rows)), lists, rows)

    def numbers(
        self, lists: Lists, words: Sequence[dict[str, str]], parts: Sequence[Part] = (), scale: float = 1.0
    ) -> tuple[Float[Tensor, "1 P N"], Float[Tensor, "1 P N"]]:
        """Standardised numbers of parts, zeros where none are given, and which of them mean something."""
        means = np.stack([used_by(word) for word in words])
        given, used = (torch.zeros(1, lists.build.shape[1], means.shape[1]) for _ in range(2))
        used[0, : len(words)] = torch.from_numpy(means).float()
        if parts:
            rows = np.stack([row_of(part, scale) for part in parts])
            values = self.standard.to(rows, _kinds(lists, len(words)))
            given[0, : len(words)] = torch.from_numpy(values * means).float()
        return given, used

    def together(self, lists: Lists) -> Project:
        """Puts parts together in what the flow is about to write, at the times that are due."""
        return partial(self._together, lists, list(TOGETHER))

    def _together(self, lists: Lists, times: list[float], time: float, rows: Tensor) -> Tensor | None:
        """By how much numbers change when the parts that they stand for are made to meet; nothing between times."""
        due = [one for one in times if one <= time + 1e-6]
        if not due or time >= 1.0:
            return None
        del times[: len(due)]
        written = self.assembly_of(lists, rows[0])
        met = meeting(written, ROUGH)[0]
        scale, count = scale_of(written), len(written.parts)
        far = [row_of(new, scale) - row_of(old, scale) for new, old in zip(met.parts, written.parts, strict=True)]
        change = torch.zeros_like(rows)
        change[0, :count] = torch.from_numpy(np.stack(far) / self.standard.spread[_kinds(lists, count)]).float()
        return change

    def assembly_of(self, lists: Lists, rows: Float[Tensor, "P N"]) -> Assembly:
        """The object of one list and its standardised numbers, its parts where the numbers put them."""
        whole, words = list_words(lists, 0)
        values = self.standard.back(rows[: len(words)].numpy().astype(np.float64), _kinds(lists, len(words)))
        scale = float(np.exp(np.clip(values[:, SPANS["scale"]].mean(), np.log(0.03), np.log(4.0))))
        parts = tuple(part_of(word, row, scale) for word, row in zip(words, values, strict=True))
        style = tuple(dict.fromkeys(word for key, word in whole.items() if key != "category" and word))
        return Assembly(whole["category"], parts, style)


def _kinds(lists: Lists, count: int) -> Int[np.ndarray, " P"]:
    kind = [field.name for field in build_fields()].index("kind")
    return lists.build[0, :count, kind].numpy()


def list_words(lists: Lists, number: int) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The words of the whole and of each part of one object of a batch."""
    parts = []
    for part in range(int(lists.count[number])):
        words = choice_words(build_fields(), lists.build[number, part].tolist())
        parts.append({**words, **choice_words(appearance_fields(), lists.look[number, part].tolist())})
    return choice_words(whole_fields(), lists.whole[number].tolist()), parts


def rows_of(lists: Lists, number: int) -> Lists:
    """One object of a batch, as a batch of one."""
    at = slice(number, number + 1)
    most = int(lists.count[number]) + 1
    return Lists(lists.whole[at], lists.build[at, :most], lists.look[at, :most], lists.count[at])


@dataclass(frozen=True)
class RedrawingConfig:
    """How far from a given object things may go; set by looking at sheets of variations."""

    given: float = 0.5
    """Share of the given numbers in what the flow starts from, the rest being noise; 1 changes nothing."""

    warmth: float = 0.8
    """Spread of that noise; with 0.25 variations could not be told apart."""

    closer: float = 0.1
    """How much that share grows with each drawing that comes apart."""

    tries: int = 3
    """Drawings among which the one is taken whose parts need to move least to meet."""

    least: float = 1e-4
    """Probability of a part's name at the best place in the list from which the part can be added."""


REDRAWING = RedrawingConfig()
FIXED = ("name", "parent", "role", "mirror", "count", "hinge", "centred")
"""Words of a part that stay when it is replaced."""


class Redrawer:
    """Draws some of an object anew with the networks and keeps the rest: near variations, single parts, new parts."""

    def __init__(
        self, model: Generator, asked: Conditioning, generator: torch.Generator, config: RedrawingConfig = REDRAWING
    ) -> None:
        self.model, self.asked, self.generator, self.config = model, asked, generator, config

    def vary(self, assembly: Assembly) -> Attached:
        """Another object of the same words: the flow starts part of the way from noise to the given numbers."""
        return self._best(lambda number: self._varied(assembly, self.config.given + number * self.config.closer))[1]

    def replace(self, assembly: Assembly, numbers: Sequence[int], styles: Sequence[str]) -> Assembly:
        """The object with other words of shape and other numbers for some parts, in their old appearance."""
        return self._best(lambda _: self._replaced(assembly, numbers, styles))[0]

    def add(self, assembly: Assembly, names: Sequence[str]) -> tuple[Assembly, int] | None:
        """The object with one part more, where the list would have it, and its number."""
        place = self._place_for(assembly, names)
        if place is None:
            return None
        number, name = place
        return self._best(lambda _: self._added(assembly, number, name))[0], number

    def _best(self, draw: Callable[[int], Assembly]) -> tuple[Assembly, Attached]:
        """The first drawing whose parts meet, or the one that comes nearest: as it was drawn, and put together."""
        found: list[tuple[Assembly, Attached]] = []
        for number in range(self.config.tries):
            drawn = draw(number)
            found.append((drawn, attach(drawn)))
            if found[-1][1].is_near:
                break
        return min(found, key=lambda one: one[1].apart)

    @torch.no_grad()
    def _varied(self, assembly: Assembly, share: float) -> Assembly:
        words = [part_words(part) for part in assembly.parts]
        lists = self._listed(words, assembly)
        given, used = self.model.numbers(lists, words, assembly.parts, scale_of(assembly))
        start: dict[str, Any] = {
            "warmth": self.config.warmth,
            "given": given,
            "share": share,
            "project": self.model.together(lists),
        }
        new = self.model.assembly_of(lists, self.model.flow.sample(lists, self.asked, used, self.generator, **start)[0])
        parts = [
            replace(part, appearance=old.appearance, style=old.style)
            for part, old in zip(new.parts, assembly.parts, strict=True)
        ]
        return replace(assembly, parts=tuple(parts))

    @torch.no_grad()
    def _replaced(self, assembly: Assembly, numbers: Sequence[int], styles: Sequence[str]) -> Assembly:
        words = [part_words(part) for part in assembly.parts]
        for number in numbers:
            words[number] = self._other_words(assembly, words, number, styles)
        fresh = self._numbers(words, assembly, set(numbers), scale_of(assembly))
        parts = list(assembly.parts)
        for number in numbers:
            parts[number] = replace(fresh[number], appearance=parts[number].appearance)
        return replace(assembly, parts=tuple(parts))

    @torch.no_grad()
    def _added(self, assembly: Assembly, number: int, name: str) -> Assembly:
        words = [part_words(part) for part in assembly.parts]
        before = self._before(assembly, words, number)
        model = self.model.part_list
        context, bias = model.context(self.asked)
        place = model.places(before, context, bias)[:, -1]
        build = model.build.draw(place, LIST_WARMTH, self.generator, _only({"name": (name,)}, number))
        own = choice_words(build_fields(), build[0].tolist())
        if own["hinge"]:
            own |= {"mirror": "", "count": "1"}
        inputs = torch.cat([before, model.build.embed(build)[:, None]], dim=1)
        finish = model.look.draw(model.places(inputs, context, bias)[:, -1], LIST_WARMTH, self.generator)
        own |= choice_words(appearance_fields(), finish[0].tolist())
        for word in words[number:]:
            if word["parent"] and int(word["parent"]) >= number:
                word["parent"] = str(int(word["parent"]) + 1)
        words.insert(number, own)
        moved = [replace(p, parent=p.parent + 1) if p.parent >= number else p for p in assembly.parts[number:]]
        blank = part_of(own, np.zeros(len(used_by(own))), 1.0)
        wider = replace(assembly, parts=(*assembly.parts[:number], blank, *moved))
        fresh = self._numbers(words, wider, {number}, scale_of(assembly))
        return replace(wider, parts=(*wider.parts[:number], fresh[number], *moved))

    @torch.no_grad()
    def _place_for(self, assembly: Assembly, names: Sequence[str]) -> tuple[int, str] | None:
        """Where in the list a part of one of these names is most likely to come, and which."""
        _check(assembly)
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
        fixed: dict[str, tuple[str, ...]] = {name: (old[name],) for name in FIXED}
        if styles:
            fixed["style 0"] = tuple(styles[:1])
        model = self.model.part_list
        place = model.places(self._before(assembly, words, number), *model.context(self.asked))[:, -1]
        build = model.build.draw(place, LIST_WARMTH, self.generator, _only(fixed, number))
        return {**old, **choice_words(build_fields(), build[0].tolist())}

    def _before(self, assembly: Assembly, words: list[dict[str, str]], number: int) -> Float[Tensor, "1 N W"]:
        """The sequence up to a part."""
        model = self.model.part_list
        rows = [model.start, model.whole.embed(torch.tensor(chosen(whole_fields(), whole_words(assembly))))]
        for word in words[:number]:
            rows.append(model.build.embed(torch.tensor(chosen(build_fields(), word))))
            rows.append(model.look.embed(torch.tensor(chosen(appearance_fields(), word))))
        return torch.stack(rows)[None]

    def _numbers(
        self, words: list[dict[str, str]], assembly: Assembly, fresh: set[int], scale: float
    ) -> dict[int, Part]:
        """Parts with numbers that fit those of all others."""
        lists = self._listed(words, assembly)
        given, used = self.model.numbers(lists, words, assembly.parts, scale)
        is_kept = torch.tensor([[k < len(words) and k not in fresh for k in range(used.shape[1])]])
        start: dict[str, Any] = {"warmth": FLOW_WARMTH, "given": given, "is_kept": is_kept}
        rows = self.model.flow.sample(lists, self.asked, used, self.generator, **start)[0, : len(words)]
        values = self.model.standard.back(rows.numpy().astype(np.float64), _kinds(lists, len(words)))
        return {number: part_of(words[number], values[number], scale) for number in fresh}

    def _listed(self, words: list[dict[str, str]], assembly: Assembly) -> Lists:
        """The list of an object as the networks take it."""
        _check(assembly)
        return stack_lists(
            [chosen(whole_fields(), whole_words(assembly))],
            [[chosen(build_fields(), word) for word in words]],
            [[chosen(appearance_fields(), word) for word in words]],
        )


def _check(assembly: Assembly) -> None:
    if not can_be_listed(assembly):
        raise NeurokError(
            f"This {assembly.category} has parts that the networks cannot write (more than {PARTS}, or meshes of "
            "their own); change its looks or sizes instead."
        )


def _only(fixed: dict[str, tuple[str, ...]], number: int) -> Hold:
    """Some fields fixed to words; the parent is an earlier part."""

    def allowed(field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
        if field.name in fixed:
            return torch.tensor([word in fixed[field.name] for word in field.words])
        if field.name == "parent":
            return torch.tensor([0 < k <= number for k in range(field.count)])
        return None

    return allowed


def _build(card: dict[str, Any]) -> Generator:
    built = {name: {**card[name], "context": ContextConfig(**card[name]["context"])} for name in ("part_list", "flow")}
    return Generator.build(PartListConfig(**built["part_list"]), FlowConfig(**built["flow"]))


def _describe(model: Any) -> dict[str, Any] | None:
    if not isinstance(model, Generator):
        return None
    return {"part_list": asdict(model.part_list.config), "flow": asdict(model.flow.config)}


TASK = Task(_build, _describe)
