"""What one says of an object: its main part, parts that are said as one, and the whole list in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from neurok.catalogue.parts import Appearance, Assembly, Part
from neurok.catalogue.vocabulary import article, number, plural, table


def main_roles(category: str) -> tuple[str, ...]:
    """Roles of the part whose look one gives when asked for the look of the whole."""
    known = {"chair": ("seat",), "bed": ("body",), "plant": ("foliage",), "door": ("moving",)}
    return known.get(category, ("body", "seat"))


def main_part(assembly: Assembly) -> int:
    """The part whose look one gives when asked for the look of the whole."""
    roles = main_roles(assembly.category)
    return next((k for k, part in enumerate(assembly.parts) if part.role in roles), 0)


Group = tuple[int, ...]
"""Numbers of parts of one name and look, which are said as one: the drawers of a chest."""


def groups(assembly: Assembly) -> list[Group]:
    """Parts of the same name and look together, in the order of the first of each."""
    found: dict[tuple[str, Appearance], list[int]] = {}
    for number_, part in enumerate(assembly.parts):
        found.setdefault((part.name, part.appearance), []).append(number_)
    return [tuple(numbers) for numbers in found.values()]


def total(parts: Sequence[Part]) -> int:
    """How many there are, with all copies."""
    return sum(part.repeat.total for part in parts)


def full_caption(assembly: Assembly) -> str:
    """The whole list, in plain words: ``a chair made of 3 parts: ...``."""
    items = [_plain(_of(assembly, group)) for group in groups(assembly)]
    return f"{article(assembly.category)} made of {len(items)} parts: {', '.join(items)}"


def _of(assembly: Assembly, group: Group) -> list[Part]:
    return [assembly.parts[k] for k in group]


def shared_style(parts: Sequence[Part]) -> list[str]:
    """Words that are true of every part of a group."""
    return [word for word in parts[0].style if all(word in part.style for part in parts)]


def _plain(parts: Sequence[Part]) -> str:
    part, count = parts[0], total(parts)
    words = " ".join(
        word for word in (*shared_style(parts)[:1], part.appearance.colour, _stuff_word(part.appearance)) if word
    )
    noun = part.name if count == 1 else plural(part.name)
    return f"{number(count)} {words} {noun}" if count > 1 else article(f"{words} {noun}")


def _stuff_word(finish: Appearance) -> str:
    return "" if finish.visible_material in table()["unsaid"] else finish.visible_material
