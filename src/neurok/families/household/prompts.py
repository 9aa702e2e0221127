"""Free prompts written by hand, and whether an object is what one of them asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neurok.core.material_library import library
from neurok.families.household.captions import main_part
from neurok.families.household.looks import basic
from neurok.families.household.parts import Assembly, Part


@dataclass(frozen=True)
class Wish:
    """What a prompt says of one part."""

    part: str
    """Its name; ``*`` is the part whose look stands for the whole."""

    colours: tuple[str, ...] = ()
    """Basic colours of which it should have one; any when empty."""

    materials: tuple[str, ...] = ()
    """Names or families of the library of which its stuff should be one."""

    count: int | None = None


@dataclass(frozen=True)
class Prompt:
    """A free prompt and what it asks for."""

    text: str
    category: str
    wishes: tuple[Wish, ...]


@dataclass(frozen=True)
class Verdict:
    """What an object has of what was asked for; each list has one entry per wish that says something of it."""

    category: bool
    present: tuple[bool, ...]
    counts: tuple[bool, ...]
    colours: tuple[bool, ...]
    materials: tuple[bool, ...]


@cache
def free_prompts() -> tuple[Prompt, ...]:
    """The test set: no template of the captions makes one of these."""
    rows = json.loads(Path(__file__).with_name("prompts.json").read_text(encoding="utf-8"))["prompts"]
    return tuple(Prompt(row["prompt"], row["category"], tuple(_wish(wish) for wish in row["parts"])) for row in rows)


def judge(assembly: Assembly, prompt: Prompt) -> Verdict:
    """Hold an object against a prompt. Every part of the name that is asked for must have the colour and material."""
    groups = [(wish, _parts(assembly, wish)) for wish in prompt.wishes]
    return Verdict(
        assembly.category == prompt.category,
        tuple(bool(parts) for _, parts in groups),
        tuple(sum(p.repeat.total for p in parts) == wish.count for wish, parts in groups if wish.count is not None),
        tuple(
            bool(parts) and all(basic(p.look.colour) in wish.colours for p in parts)
            for wish, parts in groups
            if wish.colours
        ),
        tuple(
            bool(parts) and all(_is_stuff(p, wish.materials) for p in parts) for wish, parts in groups if wish.materials
        ),
    )


def _wish(row: dict) -> Wish:  # type: ignore[type-arg]
    return Wish(row["part"], tuple(row.get("colours", ())), tuple(row.get("materials", ())), row.get("count"))


def _parts(assembly: Assembly, wish: Wish) -> list[Part]:
    if wish.part == "*":
        return [assembly.parts[main_part(assembly)]]
    return [part for part in assembly.parts if part.name == wish.part]


def _is_stuff(part: Part, wanted: tuple[str, ...]) -> bool:
    return part.look.stuff in wanted or library()[part.look.stuff].family in wanted
