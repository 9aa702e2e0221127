"""What goes wrong on the user's side. Bugs of ours stay plain exceptions with a traceback."""

from __future__ import annotations

import reprlib
from collections.abc import Sized
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh


class NeurokError(Exception):
    """A mistake the user can mend; its text says what was given, what is allowed and what to do."""


class FormatError(NeurokError):
    """A file that is not what its name says, is damaged, or refers to what it must not."""


class ShapeError(NeurokError):
    """An array of the wrong shape or kind."""


class MissingDependencyError(NeurokError):
    """An optional package or system library is needed and absent."""


class MeshError(NeurokError):
    """A mesh that cannot be used as it is; ``draft`` holds it so that the doctor can look and repair."""

    def __init__(self, message: str, draft: Mesh) -> None:
        super().__init__(message)
        self.draft = draft


SHOWN = 80
"""How much of a value a sentence shows [characters]."""


def shown(value: object) -> str:
    """A value as a sentence quotes it: one line, bounded, however large or nested the value is."""
    text = _quoter.repr(value) if isinstance(value, Sized) or _is_long(value) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _is_long(value: object) -> bool:
    """Whether Python would refuse to write the number out."""
    return isinstance(value, int) and value.bit_length() > 4 * SHOWN


class _Quoter(reprlib.Repr):
    """Never walks further into a value than a sentence can show; aliases of YAML make walks endless."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = SHOWN

    def repr_int(self, x: int, level: int) -> str:
        return f"a whole number of about {int(x.bit_length() * 0.30103) + 1} digits" if _is_long(x) else repr(x)


_quoter = _Quoter()


def require(module: str, extra: str) -> None:
    """Raise a clear sentence when an optional package is not installed."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise MissingDependencyError(
            f"This needs the package '{module}', which is not installed; run: pip install 'neurok[{extra}]'."
        )
