"""Names that must differ from each other."""

from __future__ import annotations

from collections.abc import Iterable


def unique_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names, with the first free number behind those that repeat or are taken."""
    used, out = set(taken), []
    next_number: dict[str, int] = {}
    for name in names:
        found, number = name, next_number.get(name, 2)
        while found in used:
            found, number = f"{name}_{number}", number + 1
        next_number[name] = number
        used.add(found)
        out.append(found)
    return out
