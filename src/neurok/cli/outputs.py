"""Where commands write: checked before the work, in place together at its end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from neurok.errors import NeurokError


def check_outputs(
    out: Sequence[Path],
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = False,
    known: Sequence[str] | None = None,
    what: str = "an object",
) -> None:
    """Refuse outputs that cannot be written, are named twice, or would take the place of an input.

    Raises:
        NeurokError: Naming the first of them.
    """
    from neurok.io.files import check_writable

    seen: set[str] = set()
    sources = [Path(path) for path in inputs if path is not None]
    for path in out:
        if known is not None and path.suffix.lower() not in known:
            kinds = ", ".join(known)
            raise NeurokError(f"'{path}' cannot hold {what}; --out takes files that end in {kinds}.")
        check_writable(path)
        if os.path.abspath(path) in seen:
            raise NeurokError(f"'{path}' is named twice; give each file of --out a name of its own.")
        seen.add(os.path.abspath(path))
        if not force and any(_is_same(path, source) for source in sources):
            raise NeurokError(f"'{path}' is an input; give --force to overwrite it.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
