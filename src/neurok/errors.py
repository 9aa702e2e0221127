"""What goes wrong on the user's side. Bugs of ours stay plain exceptions with a traceback."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh


class NeurokError(Exception):
    """A mistake the user can mend; its text says what was given, what is allowed and what to do.

    Whatever it quotes, it stays one line of bounded length.
    """

    exit_code = 2
    """Of a command that ends with it."""

    def __init__(self, message: str = "", *rest: object) -> None:
        super().__init__(one_line(message), *rest)


class FormatError(NeurokError):
    """A file that is not what its name says, is damaged, or refers to what it must not."""


class DoubtfulPictureError(NeurokError):
    """A picture of which it is not clear what it shows; a word would tell."""

    exit_code = 6


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

LONGEST_SENTENCE = 2000
"""The longest sentences list all materials or all commands [characters]."""

_ENDLESS_WORD = re.compile(rf"[^\s/\\]{{{2 * SHOWN},}}")


def one_line(text: str) -> str:
    """A sentence without line breaks, with endless words cut and no longer than anyone reads."""
    line = " ".join(str(text).split()) if any(c in text for c in "\n\r\t\v\f") else str(text)
    line = _ENDLESS_WORD.sub(lambda found: found[0][: SHOWN - 3] + "...", line)
    return line if len(line) <= LONGEST_SENTENCE else line[: LONGEST_SENTENCE - 3] + "..."


def shown(value: object) -> str:
    """A value as a sentence quotes it: one line, bounded, however large or nested the value is."""
    text = _quoter.repr(value) if isinstance(value, Sized) or _is_long(value) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def brief(text: str, length: int = 3 * SHOWN) -> str:
    """What a library said, on one line, bounded, without a full stop."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= length else line[: length - 3] + "..."


def counted(count: int, noun: str) -> str:
    """``1 part``, ``2 parts``, ``3 bodies``, ``4 vertices``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun[:-2]}ices" if noun.endswith("ex") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """A question to put behind a sentence, with a space before it; empty where nothing known is like what was given."""
    near = difflib.get_close_matches(str(given), list(known), n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def wrong_choice(what: str, given: object, known: Iterable[str]) -> str:
    """Why a word is none of a few, and which may be meant; without a full stop."""
    known = list(known)
    text = f"{what} must be one of {', '.join(known)}, got {shown(given)}.{did_you_mean(given, known)}"
    return text.removesuffix(".")


def check_choice(what: str, given: object, known: Iterable[str]) -> None:
    """Refuse what is none of a few words.

    Raises:
        NeurokError: Naming what is known, and what may be meant.
    """
    known = list(known)
    if given not in known:
        text = wrong_choice(what, given, known)
        raise NeurokError(text if text.endswith("?") else f"{text}.")


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
