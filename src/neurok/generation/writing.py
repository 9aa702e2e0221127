"""From what is asked for to objects: draws a list, fills it with numbers, and makes the parts meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from neurok.families.household.captions import main_roles
from neurok.families.household.parts import Assembly
from neurok.generation.attachment import Attached, attach
from neurok.generation.context import Asked
from neurok.generation.fields import END, PARTS, Field, build_fields, look_fields, said, whole_fields
from neurok.generation.flow import FlowConfig, FlowModel
from neurok.generation.numbers import SPANS, Standard, part_of, used_by
from neurok.generation.part_list import Lists, PartListConfig, PartListModel, stack_lists
from neurok.generation.wishes import LookHold, Wishes


@dataclass(frozen=True)
class WritingConfig:
    """How freely objects are drawn."""

    list_warmth: float = 0.5
    """Temperature of the choices; a sketch found 0.5 to keep lists whole."""

    flow_warmth: float = 0.4
    """Spread of the noise that numbers start from; 0.3 to 0.7 were looked at, less is tidier and more alike."""

    guidance: float = 1.0
    """How far what is asked for is exaggerated in the flow."""


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
    """Both networks."""

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
        rows = self.flow.sample(
            lists, asked, used, generator, config.guidance, config.flow_warmth, kept=kept, is_kept=is_kept
        )
        out = []
        for k in range(len(words)):
            one = rows_of(lists, k)
            assembly = self.assembly_of(one, rows[k])
            attached = attach(assembly)
            out.append(Written(attached.assembly, attached, one, rows[k]))
        return out

    def assembly_of(self, lists: Lists, rows: Tensor) -> Assembly:
        """The object of one list and its standardised numbers, its parts where the numbers put them."""
        whole, words = list_words(lists, 0)
        kind = [field.name for field in build_fields()].index("kind")
        kinds = lists.build[0, : len(words), kind].numpy()
        values = self.standard.back(rows[: len(words)].numpy().astype(np.float64), kinds)
        scale = float(np.exp(np.clip(values[:, SPANS["scale"]].mean(), np.log(0.03), np.log(4.0))))
        parts = tuple(part_of(word, row, scale) for word, row in zip(words, values, strict=True))
        style = tuple(dict.fromkeys(word for key, word in whole.items() if key != "category" and word))
        return Assembly(whole["category"], parts, style)


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
) -> Lists:
    """A list for each prompt, part by part, until each has ended; looks are held to the wishes."""
    context, bias = model.context(asked)
    count = len(asked.states)
    wishes = wishes or [Wishes("", ())] * count
    inputs = model.start.expand(count, 1, -1)
    place = model.places(inputs, context, bias)[:, -1]
    whole = model.whole.draw(place, warmth, generator, partial(_hold_category, wishes))
    categories = [whole_fields()[0].words[int(number)] for number in whole[:, 0]]
    inputs = torch.cat([inputs, model.whole.embed(whole)[:, None]], dim=1)
    builds: list[Tensor] = []
    looks: list[Tensor] = []
    mains = [""] * count
    ended = torch.zeros(count, dtype=torch.bool)
    lengths = torch.full((count,), PARTS)
    for number in range(PARTS):
        place = model.places(inputs, context, bias)[:, -1]
        build = model.build.draw(place, warmth, generator, partial(_hold_order, number))
        now = (build[:, 0] == 0) & ~ended
        lengths[now] = number
        ended |= now
        if ended.all():
            break
        build = _consistent(build)
        inputs = torch.cat([inputs, model.build.embed(build)[:, None]], dim=1)
        words = [said(build_fields(), row.tolist()) for row in build]
        for row, (word, category) in enumerate(zip(words, categories, strict=True)):
            mains[row] = mains[row] or (word["name"] if word["role"] in main_roles(category) else "")
        hold = LookHold(wishes, [word["name"] for word in words], mains)
        look = model.look.draw(model.places(inputs, context, bias)[:, -1], warmth, generator, hold)
        inputs = torch.cat([inputs, model.look.embed(look)[:, None]], dim=1)
        builds.append(build)
        looks.append(look)
    return _trimmed(whole, builds, looks, lengths)


def _hold_category(wishes: Sequence[Wishes], field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    if field.name != "category":
        return None
    mask = torch.ones(len(wishes), field.count, dtype=torch.bool)
    for row, one in enumerate(wishes):
        if one.category:
            mask[row] = False
            mask[row, field.index(one.category)] = True
    return mask


def _hold_order(number: int, field: Field, chosen: Sequence[Tensor]) -> Tensor | None:
    """The first part has no parent and is there; later ones have an earlier one."""
    mask = torch.ones(field.count, dtype=torch.bool)
    if field.name == "name":
        mask[field.index(END)] = number > 0
    elif field.name == "parent":
        mask[:] = False
        mask[slice(0, 1) if number == 0 else slice(1, number + 1)] = True
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
