"""Changes what is named of an object and keeps the rest: looks, sizes, counts; parts taken away, replaced or added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from neurok.catalogue.appearance import NATURAL, colour_words, is_bare, rgb_of
from neurok.catalogue.captions import main_part
from neurok.catalogue.materials import METALS, WOODS
from neurok.catalogue.parts import Appearance, Assembly, Part
from neurok.catalogue.vocabulary import article, plural
from neurok.core.material_library import library
from neurok.errors import NeurokError
from neurok.generation.edit_request import Change, Noun
from neurok.generation.reshaping import counted, resized

OWN_PATTERNS = {"wood": "wood", "marble": "marble", "weave": "fabric"}
"""Patterns that belong to a material, by its name or family: they go when it does."""

FILLING = "upholstery"
CLOTH = "cotton"
MOUNTED = ("arm", "back")
"""Roles that a part shares with what holds it."""

SEATED = ("seat", "back", "arm", "cushion", "body")
"""Roles of parts that are padded when they get a cover."""


class Artist(Protocol):
    """Draws parts with a network."""

    def replace(self, assembly: Assembly, numbers: Sequence[int], styles: Sequence[str]) -> Assembly:
        """The object with some parts drawn anew."""
        ...

    def add(self, assembly: Assembly, names: Sequence[str]) -> tuple[Assembly, int] | None:
        """The object with one part of one of these names more, and its number; nothing if none fits."""
        ...


@dataclass(frozen=True, eq=False)
class Edited:
    """An object after a change."""

    assembly: Assembly
    is_moved: bool
    """Whether parts have other shapes or places, so that they have to be made to meet."""

    notes: tuple[str, ...] = ()


def edited(assembly: Assembly, changes: Sequence[Change], artist: Artist) -> Edited:
    """The object after all changes, in their order.

    Raises:
        NeurokError: If something is named that it does not have, or cannot do without.
    """
    editor = _Editor(assembly, artist)
    for change in changes:
        editor.apply(change)
    return Edited(editor.assembly, editor.is_moved, tuple(editor.notes))


def named_parts(assembly: Assembly, noun: Noun) -> tuple[int, ...]:
    """Numbers of the parts that a noun means.

    Those of that very name first; then those that the word may mean, or that end in it, or that do its work.
    """
    names = [part.name for part in assembly.parts]
    exact = noun.parts[0] if noun.parts else noun.word
    own = [name for name in noun.parts if name == noun.word or plural(name) == noun.word]
    tries = (
        lambda k: names[k] in own,
        lambda k: names[k] in noun.parts or any(names[k].endswith(f" {name}") for name in (*own, noun.word)),
        lambda k: any(_one_of(noun.word).endswith(end) and names[k].endswith(f" {end}") for end in ("cushion", "rail")),
        lambda k: assembly.parts[k].role == exact,
    )
    for fits in tries:
        found = tuple(k for k in range(len(names)) if fits(k))
        if found:
            return found
    return ()


def _one_of(word: str) -> str:
    return word.removesuffix("s")


class _Editor:
    """An object while it is changed."""

    def __init__(self, assembly: Assembly, artist: Artist) -> None:
        self.assembly, self.artist = assembly, artist
        self.is_moved = False
        self.notes: list[str] = []

    def apply(self, change: Change) -> None:
        if not change.nouns:
            self._change_whole(change)
        for noun in change.nouns:
            self._change_named(change, noun)

    def _change_named(self, change: Change, noun: Noun) -> None:
        numbers = named_parts(self.assembly, noun)
        parts = [self.assembly.parts[number] for number in numbers]
        total = sum(part.repeat.total for part in parts)
        is_row = total > 1 or any(part.hinge for part in parts)
        if change.verb == "add" and is_row and not change.has_appearance:
            self._count(numbers, total + (change.count or 1))
            self.is_moved = True
            return
        if change.verb == "add" or (not numbers and change.is_with and noun.parts):
            numbers = (self._add(noun),)
        elif not numbers and noun.means_all_of(self.assembly.category):
            self._change_whole(change)
            return
        elif not numbers:
            raise NeurokError(f"This {self.assembly.category} has no {noun.word}; {_listed(self.assembly)}")
        if change.verb == "remove":
            self._move(removed(self.assembly, _with_mounts(self.assembly, numbers, noun)))
        else:
            self._alter(numbers, change)

    def _change_whole(self, change: Change) -> None:
        """What is said of no part: the look is that of the main part and of all that look like it."""
        assembly = self.assembly
        if change.verb in ("remove", "add"):
            raise NeurokError(f"Say which part to {change.verb}; {_listed(assembly)}")
        if change.verb == "replace" and not (change.has_appearance or change.resizes):
            raise NeurokError(
                f"Say which part to replace, or leave --edit away for other objects like it; {_listed(assembly)}"
            )
        if change.count is not None and not (change.has_appearance or change.resizes or change.styles):
            raise NeurokError(f"Say what there should be {change.count} of; {_listed(assembly)}")
        if change.has_appearance:
            looks = [(part.appearance.colour, part.appearance.visible_material) for part in assembly.parts]
            alike = tuple(k for k, finish in enumerate(looks) if finish == looks[main_part(assembly)])
            self._restyle(alike, change)
            names = ", ".join(dict.fromkeys(assembly.parts[number].name for number in alike))
            self.notes.append(f"No part is named: the look of {names} was changed.")
        self._resize((), change)
        if change.styles:
            self._move(self.artist.replace(self.assembly, (main_part(self.assembly),), change.styles))

    def _alter(self, numbers: tuple[int, ...], change: Change) -> None:
        """Named parts drawn anew, in another look, of another size, in another number."""
        if change.verb == "replace" or change.styles:
            self._move(self.artist.replace(self.assembly, numbers, change.styles))
        if change.has_appearance:
            self._restyle(numbers, change)
        self._resize(numbers, change)
        if change.count is not None:
            self._count(numbers, change.count)
        if change.verb == "alter" and not change.is_some:
            name = self.assembly.parts[numbers[0]].name
            self.notes.append(
                f"Nothing is said of the {name}; say what to change, such as 'a red {name}' or 'remove the {name}'."
            )

    def _move(self, assembly: Assembly) -> None:
        self.assembly, self.is_moved = assembly, True

    def _restyle(self, numbers: Sequence[int], change: Change) -> None:
        parts = list(self.assembly.parts)
        for number in numbers:
            parts[number] = replace(parts[number], appearance=restyled(parts[number], change))
        self.assembly = replace(self.assembly, parts=tuple(parts))

    def _resize(self, numbers: tuple[int, ...], change: Change) -> None:
        for dimension, factor in change.resizes:
            self._move(resized(self.assembly, numbers, dimension, factor))

    def _count(self, numbers: Sequence[int], wanted: int) -> None:
        other, note = counted(self.assembly, numbers, wanted)
        if other is not self.assembly:
            self._move(other)
        self.notes += [note] if note else []

    def _add(self, noun: Noun) -> int:
        category = self.assembly.category
        if not noun.parts:
            raise NeurokError(f"'{noun.word}' is no part that can be added to a {category}; {_listed(self.assembly)}")
        other = self.artist.add(self.assembly, noun.parts)
        if other is None:
            raise NeurokError(
                f"No place was found for {article(_one_of(noun.word))} on this {category}; {_listed(self.assembly)} "
                "Try another seed, or ask for a new object with --text."
            )
        self._move(other[0])
        return other[1]


def _with_mounts(assembly: Assembly, numbers: tuple[int, ...], noun: Noun) -> tuple[int, ...]:
    """With a back or an arm goes what holds it: posts and supports of the same role."""
    roles = {noun.parts[0]} & set(MOUNTED) if noun.parts else set()
    return tuple(k for k, part in enumerate(assembly.parts) if k in numbers or part.role in roles)


def _listed(assembly: Assembly) -> str:
    return f"its parts are: {', '.join(dict.fromkeys(part.name for part in assembly.parts))}."


def removed(assembly: Assembly, numbers: Sequence[int]) -> Assembly:
    """The object without some parts and what hangs on them.

    Raises:
        NeurokError: If everything would go.
    """
    gone = set(numbers)
    for number, part in enumerate(assembly.parts):
        if part.parent in gone:
            gone.add(number)
    if 0 in gone:
        root = assembly.parts[0].name
        raise NeurokError(
            f"Everything else is attached to the {root} of this {assembly.category}, so it cannot be removed; replace "
            "it, or ask for a new object with --text."
        )
    where: dict[int, int] = {}
    parts: list[Part] = []
    for number, part in enumerate(assembly.parts):
        if number not in gone:
            where[number] = len(parts)
            parts.append(part if part.parent < 0 else replace(part, parent=where[part.parent]))
    return replace(assembly, parts=tuple(parts))


def restyled(part: Part, change: Change) -> Appearance:
    """The look of a part with what is said of it changed, words and numbers."""
    finish = part.appearance
    if change.material:
        finish = of_material(part, change.material)
    if change.pattern:
        finish = replace(finish, pattern=change.pattern, second="white", second_rgb=rgb_of("white"))  # type: ignore[arg-type]
        if finish.colour == "white":
            finish = replace(finish, second="charcoal", second_rgb=rgb_of("charcoal"))
        if part.appearance.pattern == "plain":
            finish = replace(finish, tile=float(max(0.02, min(0.3, 0.6 * sorted(part.size)[1]))))
    if change.shades:
        finish = in_colour(finish, change.shades[0])
    if len(change.shades) > 1 and finish.pattern != "plain":
        second = change.shades[1]
        finish = replace(finish, second=colour_words()[second], second_rgb=rgb_of(second))
    if change.feel:
        finish = replace(finish, feel=change.feel)  # type: ignore[arg-type]
    return finish


def in_colour(finish: Appearance, shade: str) -> Appearance:
    """In another colour."""
    return replace(finish, colour=colour_words()[shade], shade=shade, rgb=rgb_of(shade))


def of_material(part: Part, material: str) -> Appearance:
    """In another material: a cover for what is padded, and a colour in which one sees it."""
    finish, family = part.appearance, library()[material].family
    is_cover = family in ("fabric", "leather") or material == "fur"
    is_padded = library()[finish.material].family == "foam"
    was_cover = library()[finish.visible_material].family in ("fabric", "leather") or finish.visible_material == "fur"
    if is_cover and (is_padded or (part.role in SEATED and not was_cover)):
        finish = replace(finish, material=finish.material if is_padded else FILLING, cover=material)
    elif family == "foam":
        finish = replace(
            finish, material=material, cover=finish.cover or (finish.visible_material if was_cover else CLOTH)
        )
    else:
        finish = replace(finish, material=material, cover="")
    kept = OWN_PATTERNS.get(finish.pattern)
    if kept is not None and kept not in (material, family):
        finish = replace(finish, pattern="plain", second="", second_rgb=(1.0, 1.0, 1.0))
    colours = WOODS.get(material) or METALS.get(material) or ((NATURAL[material],) if material in NATURAL else ())
    seen = library()[part.appearance.visible_material].family
    if colours and finish.colour not in colours and not (is_cover and was_cover):
        finish = in_colour(finish, colours[0])
    elif family == "metal" and seen != "metal" and not is_bare(material, finish.rgb):
        finish = in_colour(finish, "silver")
    if material in WOODS and finish.pattern == "plain":
        finish = replace(finish, pattern="wood", second="", tile=0.25)
    return finish
