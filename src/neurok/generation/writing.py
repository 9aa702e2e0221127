"""From what is asked for to objects: draws a list, fills it with numbers, and makes the parts meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from neurok.families.household.captions import main_roles
from neurok.families.household.parts import Assembly
from neurok.generation.attachment import ROUGH, Attached, attach, meeting
from neurok.generation.context import Asked
from neurok.generation.fields import PARTS, Field, build_fields, look_fields, said, whole_fields
from neurok.generation.flow import FlowConfig, FlowModel, Project
from neurok.generation.holding import BuildHold, LookHold, is_said_of
from neurok.generation.numbers import SPANS, Standard, part_of, row_of, scale_of, used_by
from neurok.generation.part_list import Lists, PartListConfig, PartListModel, stack_lists
from neurok.generation.picture_reader import PictureReader, ReaderConfig
from neurok.generation.wishes import Wishes


@dataclass(frozen=True)
class WritingConfig:
    """How freely objects are drawn."""

    list_warmth: float = 0.5
    """Temperature of the choices; a sketch found 0.5 to keep lists whole."""

    flow_warmth: float = 0.25
    """Spread of the noise that numbers start from: less is tidier and more alike. Parts had to be moved by less than
    2 % of the size on 0.55, 0.36 and 0.27 of 44 objects at 0.15, 0.4 and 0.7."""

    kept: float = 0.7
    """Share of the numbers of an object that came apart, with its parts moved until they meet, from which the flow goes
    on to write it anew."""

    guidance: float = 1.0
    """How far what is asked for is exaggerated in the flow."""

    together: tuple[float, ...] = (0.5, 0.75, 0.9375)
    """After which shares of the way parts are put together in what the flow is about to write; the last step is its own
    again, so that in the end it chooses itself where parts meet."""


WRITING = WritingConfig()


@dataclass(frozen=True, eq=False)
class Written:
    """One object as the network wrote it."""

    assembly: Assembly
    attached: Attached
    lists: Lists
    """Its list, a batch of one."""

    numbers: Tensor
    """Its numbers, standardised."""


class Generator(nn.Module):
    """The networks: of lists, of numbers, and of what pictures show, if they have learned from pictures."""

    def __init__(self, part_list: PartListModel, flow: FlowModel, reader: PictureReader | None = None) -> None:
        super().__init__()
        self.part_list, self.flow, self.reader = part_list, flow, reader

    @staticmethod
    def build(part_list: PartListConfig, flow: FlowConfig, reader: ReaderConfig | None = None) -> Generator:
        return Generator(PartListModel(part_list), FlowModel(flow), None if reader is None else PictureReader(reader))

    @property
    def standard(self) -> Standard:
        return Standard(self.flow.mean.numpy().astype(np.float64), self.flow.spread.numpy().astype(np.float64))

    @torch.no_grad()
    def write(
        self,
        asked: Asked,
        generator: torch.Generator,
        config: WritingConfig = WRITING,
        wishes: Sequence[Wishes] | None = None,
    ) -> list[Written]:
        """One object for each prompt."""
        lists = draw_lists(self.part_list, asked, generator, config.list_warmth, wishes)
        return self.fill(lists, asked, generator, config)

    @torch.no_grad()
    def fill(
        self,
        lists: Lists,
        asked: Asked,
        generator: torch.Generator,
        config: WritingConfig = WRITING,
        kept: Tensor | None = None,
        is_kept: Tensor | None = None,
    ) -> list[Written]:
        """Objects of given lists; ``kept`` are numbers of parts that stay."""
        words = [list_words(lists, k)[1] for k in range(len(lists.whole))]
        used = torch.zeros(*lists.build.shape[:2], len(used_by(words[0][0])))
        for k, parts in enumerate(words):
            used[k, : len(parts)] = torch.tensor(np.stack([used_by(part) for part in parts]), dtype=torch.float32)
        together = self.together(lists, config)
        rows = self.flow.sample(
            lists, asked, used, generator, config.guidance, config.flow_warmth, kept, is_kept, together
        )
        return [self._written(rows_of(lists, k), rows[k]) for k in range(len(words))]

    @torch.no_grad()
    def refine(
        self, written: Written, asked: Asked, generator: torch.Generator, config: WritingConfig = WRITING
    ) -> Written:
        """The object written anew from where its parts meet, so that the others follow those that were moved."""
        lists, parts = written.lists, written.attached.assembly.parts
        words = list_words(lists, 0)[1]
        scale = scale_of(written.attached.assembly)
        means = np.stack([used_by(word) for word in words])
        values = self.standard.to(np.stack([row_of(part, scale) for part in parts]), _kinds(lists, len(words)))
        given, used = (torch.zeros(1, lists.build.shape[1], means.shape[1]) for _ in range(2))
        used[0, : len(words)] = torch.from_numpy(means).float()
        given[0, : len(words)] = torch.from_numpy(values * means).float()
        together = self.together(lists, config)
        rows = self.flow.finish(lists, asked, used, given, config.kept, generator, config.flow_warmth, together)
        return self._written(lists, rows[0])

    def together(self, lists: Lists, config: WritingConfig = WRITING) -> Project:
        """Puts parts together in what the flow is about to write, at the times that are due."""
        return partial(self._together, lists, list(config.together))

    def _together(self, lists: Lists, times: list[float], time: float, rows: Tensor) -> Tensor | None:
        """By how much numbers change when the parts that they stand for are made to meet; nothing between times."""
        due = [one for one in times if one <= time + 1e-6]
        if not due or time >= 1.0:
            return None
        del times[: len(due)]
        change = torch.zeros_like(rows)
        for k in range(len(rows)):
            one = rows_of(lists, k)
            written = self.assembly_of(one, rows[k])
            met = meeting(written, ROUGH)[0]
            scale, count = scale_of(written), len(written.parts)
            far = np.stack(
                [row_of(new, scale) - row_of(old, scale) for new, old in zip(met.parts, written.parts, strict=True)]
            )
            change[k, :count] = torch.from_numpy(far / self.standard.spread[_kinds(one, count)]).float()
        return change

    def _written(self, lists: Lists, rows: Tensor) -> Written:
        attached = attach(self.assembly_of(lists, rows))
        return Written(attached.assembly, attached, lists, rows)

    def assembly_of(self, lists: Lists, rows: Tensor) -> Assembly:
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
        words = said(build_fields(), lists.build[number, part].tolist())
        parts.append({**words, **said(look_fields(), lists.look[number, part].tolist())})
    return said(whole_fields(), lists.whole[number].tolist()), parts


def rows_of(lists: Lists, number: int) -> Lists:
    """One object of a batch, as a batch of one."""
    at = slice(number, number + 1)
    most = int(lists.count[number]) + 1
    return Lists(lists.whole[at], lists.build[at, :most], lists.look[at, :most], lists.count[at])


@torch.no_grad()
def draw_lists(
    model: PartListModel,
    asked: Asked,
    generator: torch.Generator,
    warmth: float = WRITING.list_warmth,
    wishes: Sequence[Wishes] | None = None,
    plain: Asked | None = None,
) -> Lists:
    """A list for each prompt, part by part, until each has ended; names, counts and looks are held to the wishes.

    Args:
        plain: The prompts without the words that say how named parts look. Looks of all other parts follow these, so
            that a bear with a blue bow is not blue.
    """
    count = len(asked.states)
    wishes = wishes or [Wishes("", ())] * count
    full, other = model.context(asked), model.context(plain) if plain is not None else None
    inputs = model.start.expand(count, 1, -1)
    place = model.places(inputs, *full)[:, -1]
    whole = model.whole.draw(place, warmth, generator, partial(_hold_category, wishes))
    categories = [whole_fields()[0].words[int(number)] for number in whole[:, 0]]
    holds = [BuildHold(one, category) for one, category in zip(wishes, categories, strict=True)]
    inputs = torch.cat([inputs, model.whole.embed(whole)[:, None]], dim=1)
    builds: list[Tensor] = []
    looks: list[Tensor] = []
    mains = [""] * count
    ended = torch.zeros(count, dtype=torch.bool)
    lengths = torch.full((count,), PARTS)
    for number in range(PARTS):
        build = _draw_build(model, model.places(inputs, *full)[:, -1], warmth, generator, holds, number)
        now = (build[:, 0] == 0) & ~ended
        lengths[now] = number
        ended |= now
        if ended.all():
            break
        build = _consistent(build)
        inputs = torch.cat([inputs, model.build.embed(build)[:, None]], dim=1)
        words = [said(build_fields(), row.tolist()) for row in build]
        names = [word["name"] for word in words]
        for row, (word, category) in enumerate(zip(words, categories, strict=True)):
            mains[row] = mains[row] or (word["name"] if word["role"] in main_roles(category) else "")
        before = [hold.have.get(name, 0) for hold, name in zip(holds, names, strict=True)]
        place = model.places(inputs, *full)[:, -1]
        if other is not None:
            is_named = torch.tensor([is_said_of(one, name) for one, name in zip(wishes, names, strict=True)])
            place = torch.where(is_named[:, None], place, model.places(inputs, *other)[:, -1])
        look = model.look.draw(place, warmth, generator, LookHold(wishes, names, mains, before))
        inputs = torch.cat([inputs, model.look.embed(look)[:, None]], dim=1)
        for hold, word in zip(holds, words, strict=True):
            hold.add(word)
        builds.append(build)
        looks.append(look)
    return replace(_trimmed(whole, builds, looks, lengths), forced=torch.tensor([hold.forced for hold in holds]))


def _draw_build(
    model: PartListModel,
    place: Tensor,
    warmth: float,
    generator: torch.Generator,
    holds: Sequence[BuildHold],
    number: int,
) -> Int[Tensor, "B F"]:
    """What the next part is; a list that would end too early goes on with what is missing."""
    build = model.build.draw(place, warmth, generator, partial(_hold_build, holds, number))
    early = [bool(row[0] == 0) and bool(hold.missing) for row, hold in zip(build, holds, strict=True)]
    if not any(early):
        return build
    for hold, is_early in zip(holds, early, strict=True):
        hold.is_forced = is_early
        hold.forced += is_early
    again = model.build.draw(place, warmth, generator, partial(_hold_build, holds, number))
    for hold in holds:
        hold.is_forced = False
    return torch.where(torch.tensor(early)[:, None], again, build)


def _hold_build(holds: Sequence[BuildHold], number: int, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    if field.name in ("role", "opening", "hinge", "quarter", "centred"):
        return None
    rows = torch.stack(list(chosen), dim=1).tolist() if chosen else [[]] * len(holds)
    return torch.stack([hold.mask(number, field, row) for hold, row in zip(holds, rows, strict=True)])


def _hold_category(wishes: Sequence[Wishes], field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    if field.name != "category":
        return None
    mask = torch.ones(len(wishes), field.count, dtype=torch.bool)
    for row, one in enumerate(wishes):
        if one.category:
            mask[row] = False
            mask[row, field.index(one.category)] = True
    return mask


def _consistent(build: Int[Tensor, "B F"]) -> Int[Tensor, "B F"]:
    """What moves is there once."""
    names = [field.name for field in build_fields()]
    build, moves = build.clone(), build[:, names.index("hinge")] > 0
    for name in ("mirror", "count"):
        build[moves, names.index(name)] = 0
    return build


def _trimmed(whole: Tensor, builds: list[Tensor], looks: list[Tensor], lengths: Tensor) -> Lists:
    counts = [min(int(length), len(builds)) for length in lengths]
    build = [[builds[p][k].tolist() for p in range(counts[k])] for k in range(len(whole))]
    look = [[looks[p][k].tolist() for p in range(counts[k])] for k in range(len(whole))]
    return stack_lists(whole.tolist(), build, look)
