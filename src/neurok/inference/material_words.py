"""What names say: words of many languages, abbreviated, joined and misspelt, as names in files are."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from neurok.core.material_library import library
from neurok.inference.things import Thing, brands, head_noun, lexicon, things, toy, toy_words, weak_words

FILE = Path(__file__).with_name("material_evidence.json")
"""Log-odds of each material given a word, an appearance or a shape; set by hand with four fifths of a household set and
every second of a set of real files in view (docs/materials.md)."""


JOINED = 0.85  # trust in a word that another begins or ends with, beside 1 for the word itself: ``blackplastic``
MISSPELT = 0.7  # the same for one that is nearly written like it: ``matress``
LATER = 0.5  # weight of what is said after a material: ``black_plastic_wood_table.jpg`` is plastic
MODIFIER = 0.25  # weight of what stands beside the noun of a thing: a ``flower basket`` is a basket
LEAST_JOINED = {"material": 4, "part": 4, "thing": 5}  # letters of the shortest words that are looked for inside others
LEAST_MISSPELT = 6  # letters of the shortest word that may be misspelt
LIKENESS = 0.84  # ``difflib``'s ratio from which a word is taken for a misspelt one
REST = 3  # letters that are left at least of a word that another begins or ends with; ``black`` holds no ``lack``
LIBRARY_WORD = 9.5  # log-odds of a material whose own name or alias is said, beyond those of its kind
PADDING = 0.85  # share of them for padding, where the material is a cloth or a leather and may cover some

Kind = Literal["material", "part", "thing"]


@dataclass(frozen=True, eq=False)
class Meaning:
    """What a known word stands for."""

    name: str
    kind: Kind
    odds: Float[np.ndarray, " M"]
    """Log-odds of each material of the library."""

    thing: Thing | None = None


@dataclass(frozen=True, eq=False)
class NameEvidence:
    """What a word in a name means, and how far it is trusted."""

    word: str
    """As it is written in the name."""

    meaning: Meaning
    trust: float


@cache
def evidence() -> Mapping[str, Any]:
    """The whole table of log-odds."""
    return json.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def odds_of(record: Mapping[str, float]) -> Float[np.ndarray, " M"]:
    """Log-odds of each material of the library; ``@metal`` stands for all metals that are not named themselves."""
    return np.array(
        [record.get(name, record.get(f"@{entry.family}", 0.0)) for name, entry in library().items()], dtype=np.float64
    )


def tokens(name: str) -> list[str]:
    """Words of a name, in small letters without accents, numbers and file endings."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"\.(jpe?g|png|bmp|tga|gif|tiff?|webp)\b", " ", plain, flags=re.IGNORECASE)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return [word.lower() for word in re.findall(r"[A-Za-z]{2,}", spaced)]


def words_of(name: str) -> list[str]:
    """Words of a name as the lexicons have them: phrases made one word, two in a row that are known as one joined."""
    out: list[str] = []
    for word in tokens(name):
        for length in (2, 1):
            phrase = " ".join([*out[-length:], word])
            if len(out) >= length and phrase in lexicon()["phrases"]:
                out, word = out[:-length], lexicon()["phrases"][phrase]
                break
        if out and out[-1] + word in _meanings():
            out[-1] += word
        elif word:
            out.append(word)
    return out


def nouns_of(name: str) -> list[str]:
    """Words of a name with those that end in a known noun, or name several of a kind, as that noun."""
    return [known if (known := _look_up(word)[0]) in things() else word for word in words_of(name)]


def read_name(name: str, *, whole: bool = False, product: bool = False) -> list[NameEvidence]:
    """All that the words of a name mean, in their order; each meaning once.

    What follows a material counts half, unless it is the noun that the material belongs to. Parts are often called by
    the primitive that a modelling program made them from (``Plane.001``, ``pCylinder2``), which says nothing.

    Args:
        name: Of a surface, a part or an object.
        whole: Whether it names the whole object: then the noun that names the thing counts, and others little.
        product: Whether people gave it to the object: joined and misspelt words are no materials then, since names of
            products are full of them by chance, and a plane is an aircraft.
    """
    out: list[NameEvidence] = []
    head = head_noun(nouns_of(name)) if whole else None
    for word in words_of(name):
        found, trust = _look_up(word)
        if not product and found in evidence()["primitives"].split():
            continue
        if product and trust < 1.0 and found not in things():
            continue
        for meaning in _meanings().get(found, ()):
            if all(meaning.name != other.meaning.name for other in out):
                is_head = head is not None and meaning is _meanings()[head][0]
                is_later = not is_head and any(o.meaning.kind == "material" and o.word != word for o in out)
                is_modifier = head is not None and not is_head
                is_modifier &= meaning.kind != "material" or found in weak_words()
                share = (LATER if is_later else 1.0) * (MODIFIER if is_modifier else 1.0)
                out.append(NameEvidence(word, meaning, trust * share))
    return out


@cache
def _look_up(word: str) -> tuple[str, float]:
    """The known word that one stands for, and the trust in it."""
    known, neutral = _meanings(), evidence()["neutral"].split()
    if word in neutral:
        return "", 0.0
    for same in (word, word.removesuffix("s"), word.removesuffix("es") if len(word) > LEAST_MISSPELT else word):
        if same in known:
            return same, 1.0
    inner = [each for each, meanings in known.items() if _is_inside(each, meanings[0].kind, word)]
    if inner:
        return max(inner, key=len), JOINED
    for prefix in neutral:
        rest = word.removeprefix(prefix)
        if rest != word and len(prefix) >= 4 and len(rest) >= REST:
            return _look_up(rest)
    if len(word) >= LEAST_MISSPELT:
        near = difflib.get_close_matches(word, _plain_words(), n=1, cutoff=LIKENESS)
        if near:
            return near[0], MISSPELT
    return "", 0.0


def _is_inside(known: str, kind: Kind, word: str) -> bool:
    """Whether a word is made of a known one and a rest: a material at either end, a thing at the end."""
    if not LEAST_JOINED[kind] <= len(known) <= len(word) - REST:
        return False
    if kind != "thing":
        return word.endswith(known) or word.startswith(known)
    rest = word.removesuffix(known)
    return rest != word and (rest in _meanings() or rest in evidence()["neutral"].split())  # portable is no table


@cache
def _plain_words() -> list[str]:
    """Words that may be misspelt: materials and parts; there are too many nouns, and brands that resemble them."""
    return [word for word, meanings in _meanings().items() if meanings[0].kind != "thing"]


@cache
def _meanings() -> Mapping[str, list[Meaning]]:
    """What each known word means: things, materials and parts of the tables, and names of the library beyond them."""
    table: dict[str, list[Meaning]] = {}
    of_thing = {thing.name: Meaning(thing.name, "thing", odds_of(thing.made_of), thing) for thing in things().values()}
    for word, thing in (*things().items(), *brands().items()):
        table.setdefault(word, []).append(of_thing[thing.name])
    playing = Meaning(toy().name, "thing", odds_of(toy().made_of), toy())
    for word in toy_words():
        table.setdefault(word, []).append(playing)
    for kind in ("material", "part"):
        for group in evidence()[f"{kind}s"]:
            meaning = Meaning(group["is"], kind, odds_of(group["of"]))  # type: ignore[arg-type]
            for word in group["words"].split():
                table.setdefault(word, []).append(meaning)
    skipped = set(evidence()["not_words"].split())
    for name, entry in library().items():
        odds = {name: LIBRARY_WORD}
        if entry.family in ("fabric", "leather"):
            odds["upholstery"] = PADDING * LIBRARY_WORD
        for alias in (name, *entry.aliases):
            word = "".join(tokens(alias))
            if word not in skipped and (alias == name or word not in table):
                table.setdefault(word, []).append(Meaning(name, "material", odds_of(odds)))
    return table
