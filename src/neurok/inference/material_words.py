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
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.core.material_library import library

FILE = Path(__file__).with_name("material_evidence.json")
"""Log-odds of each material given a word, a look or a shape; set by hand with four fifths of a household set in view
(docs/materials.md)."""


JOINED = 0.85  # trust in a word that another begins or ends with, beside 1 for the word itself: ``blackplastic``
MISSPELT = 0.7  # the same for one that is nearly written like it: ``matress``
LATER = 0.5  # weight of what is said after a material: ``black_plastic_wood_table.jpg`` is plastic
LEAST_JOINED = 4  # letters of the shortest word that is looked for inside others
LEAST_MISSPELT = 6  # letters of the shortest word that may be misspelt
LIKENESS = 0.84  # ``difflib``'s ratio from which a word is taken for a misspelt one
REST = 3  # letters that are left at least of a word that another begins or ends with; ``black`` holds no ``lack``
LIBRARY_WORD = 9.5  # log-odds of a material whose own name or alias is said, beyond those of its kind
PADDING = 0.85  # share of them for padding, where the material is a cloth or a leather and may cover some


@dataclass(frozen=True, eq=False)
class Said:
    """What a word in a name means."""

    word: str
    """As it is written in the name."""

    meaning: str
    is_stuff: bool
    """Whether it is a material, or a thing that is usually made of some."""

    trust: float
    odds: Float[np.ndarray, " M"]
    """Log-odds of each material of the library."""


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


def read_name(name: str) -> list[Said]:
    """All that the words of a name mean, in their order; each meaning once."""
    out: list[Said] = []
    for word in _joined(tokens(name)):
        found, trust = _look_up(word)
        for meaning, is_stuff, odds in _meanings().get(found, ()):
            if all(meaning != other.meaning for other in out):
                is_later = any(other.is_stuff and other.word != word for other in out)
                out.append(Said(word, meaning, is_stuff, trust * (LATER if is_later else 1.0), odds))
    return out


def _joined(words: list[str]) -> list[str]:
    """The same words, with two in a row made one where that is known: ``memory foam``."""
    out: list[str] = []
    for word in words:
        if out and out[-1] + word in _meanings():
            out[-1] += word
        else:
            out.append(word)
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
    inner = [each for each in known if LEAST_JOINED <= len(each) <= len(word) - REST]
    inner = [each for each in inner if word.startswith(each) or word.endswith(each)]
    if inner:
        return max(inner, key=len), JOINED
    for prefix in neutral:
        rest = word.removeprefix(prefix)
        if rest != word and len(prefix) >= LEAST_JOINED and len(rest) >= REST:
            return _look_up(rest)
    if len(word) >= LEAST_MISSPELT:
        near = difflib.get_close_matches(word, known, n=1, cutoff=LIKENESS)
        if near:
            return near[0], MISSPELT
    return "", 0.0


@cache
def _meanings() -> Mapping[str, list[tuple[str, bool, Float[np.ndarray, " M"]]]]:
    """What each known word means: the groups of the table, and names of the library that are in none."""
    table: dict[str, list[tuple[str, bool, Float[np.ndarray, " M"]]]] = {}
    for section in ("stuffs", "roles"):
        for group in evidence()[section]:
            meaning = (group["is"], section == "stuffs", odds_of(group["of"]))
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
                table.setdefault(word, []).append((name, True, odds_of(odds)))
    return table
