"""What each category is made with: names of parts, kinds, and the shapes that parts come in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

WHOLE = "*"
"""The part whose look stands for the whole."""


@cache
def category_words() -> Mapping[str, Any]:
    """Names of parts (with the share of objects that have them) and kinds of each category."""
    return json.loads(Path(__file__).with_name("category_words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def can_have(category: str, part: str) -> bool:
    """Whether objects of a category are ever made with such a part."""
    return part == WHOLE or not category or part in category_words()[category]["parts"]


def style_of(category: str, part: str, options: Sequence[str]) -> str:
    """The word of shape, among those that a word may mean, that such parts are made with; nothing when none is."""
    words = category_words()[category]
    names = words["mains"] if part == WHOLE else [part]
    shares = {
        o: words["styles"][name][o]["share"] for o in options for name in names if o in words["styles"].get(name, {})
    }
    return max(shares, key=shares.__getitem__) if shares else ""
