"""Captions: from the parts of an object many ways of saying what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neurok.catalogue.appearance import shades
from neurok.catalogue.captions import Group, groups, main_part, shared_style, total
from neurok.catalogue.parts import Appearance, Assembly, Part
from neurok.catalogue.vocabulary import article, number, plural, said_as, table
from neurok.modelling.sampler import Sampler

PATTERN, STYLE, FEEL, ADJECTIVE = 0.6, 0.35, 0.5, 0.25
"""Chances that a pattern, a shape, a feel or an adjective is said."""


OWN_SHADE = 0.5
"""Chance of the shade that was drawn; another word for its colour otherwise."""


MISSPELT, BARE = 0.06, 0.2
"""Chances that one letter is wrong, and that articles are left out."""


@dataclass(frozen=True)
class Caption:
    """A text about an object."""

    text: str
    named: tuple[int, ...]
    """Numbers of the parts that it speaks of, as the text has them; the main part where it speaks of the whole."""


def caption(assembly: Assembly, rng: np.random.Generator) -> Caption:
    """One way of saying what an object is; which one, the generator decides."""
    d = Sampler(rng)
    make = d.pick(list(_TEMPLATES), list(_TEMPLATES.values()))
    made = make(d, assembly)
    text = made.text
    if d.chance(BARE):
        text = " ".join(word for word in text.split() if word not in ("a", "an", "the"))
    if d.chance(MISSPELT):
        text = misspelt(d, text)
    return Caption(" ".join(text.split()), made.named)


def misspelt(d: Sampler, text: str) -> str:
    """Two letters of one longer word swapped, or one left out."""
    words = text.split()
    long = [k for k, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return text
    k = d.pick(long)
    word, at = words[k], d.count(1, len(words[k]) - 3)
    words[k] = word[:at] + (word[at + 1 :] if d.chance(0.5) else word[at + 1] + word[at] + word[at + 2 :])
    return " ".join(words)


def colour_word(d: Sampler, finish: Appearance) -> str:
    """A word for a colour: the shade itself or another of the same colour."""
    return finish.shade if d.chance(OWN_SHADE) else d.pick(list(shades(finish.colour)))


def material_word(d: Sampler, finish: Appearance) -> str:
    """A word for a material, none where one would not say it."""
    return "" if finish.visible_material in table()["unsaid"] else d.pick(said_as("materials", finish.visible_material))


def appearance_words(d: Sampler, finish: Appearance, colour: float = 0.85, material: float = 0.55) -> str:
    """Colour, pattern, feel and material, each only sometimes."""
    words = [d.pick(said_as("feels", finish.feel)) if finish.feel and d.chance(FEEL) else ""]
    words.append(colour_word(d, finish) if d.chance(colour) and finish.material != "soil" else "")
    if finish.pattern != "plain" and d.chance(PATTERN):
        words.append(d.pick(said_as("patterns", finish.pattern)))
    words.append(material_word(d, finish) if d.chance(material) else "")
    return " ".join(word for word in words if word)


def category_word(d: Sampler, assembly: Assembly) -> str:
    """What the whole is called: its category, its kind, or another word for either."""
    kinds = [word for style in assembly.style for word in table()["kinds"].get(style, [])]
    if kinds and d.chance(0.5):
        return d.pick(kinds)
    return assembly.category if d.chance(0.5) else d.pick(said_as("categories", assembly.category))


def part_phrase(d: Sampler, parts: Sequence[Part], colour: float = 0.8, material: float = 0.5) -> str:
    """Parts of one group with what is said of them, in the right number."""
    part, styles = parts[0], shared_style(parts)
    noun = part.name if d.chance(0.6) else d.pick(said_as("parts", part.name))
    style = d.pick(said_as("styles", d.pick(styles))) if styles and d.chance(STYLE) else ""
    words = " ".join(word for word in (style, appearance_words(d, part.appearance, colour, material)) if word)
    count = total(parts)
    if count == 1:
        return article(f"{words} {noun}".strip())
    many = d.pick([number(count), str(count), "a pair of" if count == 2 else number(count), ""])
    return " ".join(word for word in (many, words, plural(noun)) if word)


def _some_parts(d: Sampler, assembly: Assembly, most: int) -> list[Group]:
    known = groups(assembly)
    order = d.rng.permutation(len(known))[: d.count(1, most)]
    return [known[int(k)] for k in (order if d.chance(0.3) else np.sort(order))]


def _named(chosen: Sequence[Group]) -> tuple[int, ...]:
    return tuple(k for group in chosen for k in group)


def _joined(d: Sampler, phrases: list[str]) -> str:
    if len(phrases) < 2:
        return "".join(phrases)
    return ", ".join(phrases[:-1]) + d.pick([" and ", ", and ", " plus "]) + phrases[-1]


def _adjective(d: Sampler) -> str:
    return d.pick(table()["adjectives"]) + " " if d.chance(ADJECTIVE) else ""


def _whole(d: Sampler, assembly: Assembly) -> Caption:
    """``a red velvet sofa``."""
    k = main_part(assembly)
    words = appearance_words(d, assembly.parts[k].appearance, 0.95, 0.6)
    noun = category_word(d, assembly)
    text = d.pick(
        [f"{_adjective(d)}{words} {noun}", f"{noun} in {words or 'plain colours'}", f"{_adjective(d)}{noun}, {words}"]
    )
    return Caption(d.pick(["", "the ", "my "]) + text if d.chance(0.2) else article(text.strip()), (k,))


def _with_parts(d: Sampler, assembly: Assembly) -> Caption:
    """``a chair with four oak legs and a blue seat``."""
    chosen = _some_parts(d, assembly, 4)
    joint = d.pick([" with ", " with ", " that has ", " having ", " featuring "])
    phrases = [part_phrase(d, [assembly.parts[k] for k in group]) for group in chosen]
    start = article(f"{_adjective(d)}{category_word(d, assembly)}")
    return Caption(start + joint + _joined(d, phrases), _named(chosen))


def _whole_with_parts(d: Sampler, assembly: Assembly) -> Caption:
    """``a grey sofa on wooden legs``."""
    k = main_part(assembly)
    words = appearance_words(d, assembly.parts[k].appearance, 0.95, 0.5)
    chosen = [group for group in _some_parts(d, assembly, 3) if k not in group]
    chosen = chosen or [group for group in groups(assembly) if k in group]
    phrases = [part_phrase(d, [assembly.parts[k] for k in group]) for group in chosen]
    start = article(f"{_adjective(d)}{words} {category_word(d, assembly)}".strip())
    only_legs = {assembly.parts[other].role for other in _named(chosen)} == {"support"}
    joint = d.pick([" on ", " standing on "]) if only_legs else " with "
    named = _named(chosen)
    return Caption(start + joint + _joined(d, phrases), named if k in named else (k, *named))


def _listed(d: Sampler, assembly: Assembly) -> Caption:
    """``a chair made of 3 parts: ...``."""
    chosen = groups(assembly)
    phrases = [part_phrase(d, [assembly.parts[k] for k in group], 0.95, 0.8) for group in chosen]
    count = d.pick([str(len(phrases)), number(len(phrases))])
    text = f"{article(category_word(d, assembly))} made of {count} parts: {', '.join(phrases)}"
    return Caption(text, _named(chosen))


def _sentences(d: Sampler, assembly: Assembly) -> Caption:
    """``a bed. The headboard is white, the blanket is made of wool.``"""
    chosen = _some_parts(d, assembly, 4)
    clauses = []
    for group in chosen:
        parts = [assembly.parts[k] for k in group]
        part, is_one = parts[0], total(parts) == 1
        noun, verb = (part.name, "is") if is_one else (plural(part.name), "are")
        material = material_word(d, part.appearance)
        ends = [f"{verb} {colour_word(d, part.appearance)}"]
        ends += (
            [f"{verb} made of {material}", f"{verb} {colour_word(d, part.appearance)} {material}"] if material else []
        )
        clauses.append(f"the {noun} {d.pick(ends)}")
    return Caption(
        f"{article(category_word(d, assembly))}{d.pick(['. ', ', ', '; ', ' where '])}{', '.join(clauses)}",
        _named(chosen),
    )


def _bare(d: Sampler, assembly: Assembly) -> Caption:
    """``a chair``."""
    return Caption(article(f"{_adjective(d)}{category_word(d, assembly)}"), (main_part(assembly),))


def _tags(d: Sampler, assembly: Assembly) -> Caption:
    """``sofa, red, velvet, wooden legs``."""
    chosen = _some_parts(d, assembly, 3)
    phrases = [part_phrase(d, [assembly.parts[k] for k in group]) for group in chosen]
    return Caption(f"{category_word(d, assembly)}{d.pick([': ', ', ', ' - '])}{', '.join(phrases)}", _named(chosen))


COUNTED = ("door", "drawer", "shelf", "arm", "seat cushion")
"""Parts that things are called by the number of."""


def _counted(d: Sampler, assembly: Assembly) -> Caption:
    """``a white two-door cupboard with 3 drawers``; whatever the looks, all of one name are counted together."""
    numbers = {name: [k for k, part in enumerate(assembly.parts) if part.name == name] for name in COUNTED}
    counts = {name: total([assembly.parts[k] for k in found]) for name, found in numbers.items() if found}
    if not counts:
        return _with_parts(d, assembly)
    order = [list(counts)[int(k)] for k in d.rng.permutation(len(counts))]
    first, rest = order[0], order[1:3]
    k, noun = main_part(assembly), category_word(d, assembly)
    words = appearance_words(d, assembly.parts[k].appearance, 0.7, 0.4)

    def say(count: int) -> str:
        return d.pick([number(count), str(count)])

    phrases = [f"{say(counts[name])} {name if counts[name] == 1 else plural(name)}" for name in order]
    text = f"{words} {say(counts[first])}-{first} {noun}" + (f" with {_joined(d, phrases[1:3])}" if rest else "")
    if d.chance(0.6):
        text, rest = f"{words} {noun} with {_joined(d, phrases[:3])}", order[1:3]
    named = dict.fromkeys([*([k] if words else []), *numbers[first], *(j for name in rest for j in numbers[name])])
    return Caption(article(text.strip()), tuple(named))


_TEMPLATES: dict[Callable[[Sampler, Assembly], Caption], float] = {
    _whole: 3,
    _with_parts: 3,
    _whole_with_parts: 3,
    _listed: 2,
    _sentences: 2,
    _bare: 1,
    _tags: 1.5,
    _counted: 1.5,
}
"""Ways of saying what an object is, and how often each is taken."""


def captions(assembly: Assembly, seed: int, count: int) -> list[Caption]:
    """So many captions, the same for the same seed."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, *assembly.name.encode()]))
    return [caption(assembly, rng) for _ in range(count)]
