"""Names that USD takes for prims."""

from __future__ import annotations

import re
from collections.abc import Sequence


def identifier(name: str) -> str:
    """A name of letters, digits and underscores that does not start with a digit."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return plain if re.match(r"[A-Za-z_]", plain) else f"p_{plain}"


def unique_identifiers(names: Sequence[str]) -> list[str]:
    """Different identifiers, whatever the case of their letters."""
    used, out = {"looks", "joints"}, []
    for name in map(identifier, names):
        candidate, count = name, 1
        while candidate.lower() in used:
            count += 1
            candidate = f"{name}_{count}"
        used.add(candidate.lower())
        out.append(candidate)
    return out
