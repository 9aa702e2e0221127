"""Free prompts written by hand, and whether an object is what one of them asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neurok.catalogue.appearance import basic
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly, Part
from neurok.core.material_library import library


@dataclass(frozen=True)
class PartConstraint:
    """What a prompt says of one part."""

    part: str
    """Its name; ``*`` is the part whose look stands for the whole."""

    colours: tuple[str, ...] = ()
    """Basic colours of which it should have one; any when empty."""

    materials: tuple[str, ...] = ()
    """Names or families of the library of which its material should be one."""

    count: int | None = None
    styles: tuple[str, ...] = ()
    """Words for its shape (``vocabulary.STYLES``), each of which it should have."""

    patterns: tuple[str, ...] = ()
    """Patterns of which it should have one."""


@dataclass(frozen=True)
class Prompt:
    """A free prompt and what it asks for."""

    text: str
    category: str
    constraints: tuple[PartConstraint, ...]


@dataclass(frozen=True)
class PromptVerdict:
    """What an object has of what was asked for; each list has one entry per wish that says something of it."""

    category: bool
    present: tuple[bool, ...]
    counts: tuple[bool, ...]
    colours: tuple[bool, ...]
    materials: tuple[bool, ...]
    styles: tuple[bool, ...] = ()
    patterns: tuple[bool, ...] = ()
    others: tuple[bool, ...] = ()
    """Whether the parts that are not named keep clear of the colour that is said of one part."""

    @property
    def satisfied(self) -> tuple[bool, ...]:
        """All of it but the category."""
        looks = (*self.colours, *self.materials, *self.styles, *self.patterns, *self.others)
        return (*self.present, *self.counts, *looks)


@cache
def free_prompts() -> tuple[Prompt, ...]:
    """The test set: no template of the captions makes one of these."""
    rows = json.loads(Path(__file__).with_name("prompts.json").read_text(encoding="utf-8"))["prompts"]
    return tuple(
        Prompt(row["prompt"], row["category"], tuple(_wish(constraint) for constraint in row["parts"])) for row in rows
    )


def judge(assembly: Assembly, prompt: Prompt) -> PromptVerdict:
    """Hold an object against a prompt. Every part of the name that is asked for must have the colour and material."""
    groups = [(constraint, _parts(assembly, constraint)) for constraint in prompt.constraints]

    def each(field: str, holds: Callable[[Part, tuple[str, ...]], bool]) -> tuple[bool, ...]:
        asked = [(getattr(constraint, field), parts) for constraint, parts in groups if getattr(constraint, field)]
        return tuple(bool(parts) and all(holds(part, wanted) for part in parts) for wanted, parts in asked)

    def keeps_clear(part: Part, colour: str) -> bool:
        other = is_other(part.name, part.appearance.visible_material, colour, prompt.constraints)
        return not other or basic(part.appearance.colour) != colour

    return PromptVerdict(
        assembly.category == prompt.category,
        tuple(bool(parts) for _, parts in groups),
        tuple(
            sum(p.repeat.total for p in parts) == constraint.count
            for constraint, parts in groups
            if constraint.count is not None
        ),
        each("colours", lambda part, wanted: basic(part.appearance.colour) in wanted),
        each("materials", _is_made_of),
        each("styles", lambda part, wanted: set(wanted) <= {*part.style, part.relief}),
        each("patterns", lambda part, wanted: part.appearance.pattern in wanted),
        tuple(all(keeps_clear(part, c) for part in assembly.parts) for c in said_of_parts(prompt.constraints)),
    )


def said_of_parts(constraints: Sequence[PartConstraint]) -> list[str]:
    """Colours that are said of single parts and not of the whole."""
    whole = {colour for constraint in constraints if constraint.part == "*" for colour in constraint.colours}
    return [c for c in dict.fromkeys(c for w in constraints if w.part != "*" for c in w.colours) if c not in whole]


PARTNERS = {"knot": "bow", "tie": "scarf", "knob": "handle", "handle": "knob"}
"""Parts that look like another one that they belong to, unless they are named themselves."""


def is_other(name: str, material: str, colour: str, constraints: Sequence[PartConstraint]) -> bool:
    """Whether a part should not have a colour, because it was said of others: wood may be brown, cushions are alike."""
    if library()[material].family == "wood" and colour == "brown":
        return False
    named = {constraint.part for constraint in constraints}
    return not any(name == part or PARTNERS.get(name) == part or name.split()[-1] == part.split()[-1] for part in named)


def _wish(row: dict) -> PartConstraint:  # type: ignore[type-arg]
    words = {key: tuple(row.get(key, ())) for key in ("colours", "materials", "styles", "patterns")}
    return PartConstraint(row["part"], count=row.get("count"), **words)


def _parts(assembly: Assembly, constraint: PartConstraint) -> list[Part]:
    if constraint.part == "*":
        return [assembly.parts[main_part(assembly)]]
    return [part for part in assembly.parts if part.name == constraint.part]


def _is_made_of(part: Part, wanted: tuple[str, ...]) -> bool:
    return part.appearance.visible_material in wanted or library()[part.appearance.visible_material].family in wanted
