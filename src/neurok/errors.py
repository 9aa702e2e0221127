"""What goes wrong on the user's side. Bugs of ours stay plain exceptions with a traceback."""

from __future__ import annotations

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


def require(module: str, extra: str) -> None:
    """Raise a clear sentence when an optional package is not installed."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise MissingDependencyError(
            f"This needs the package '{module}', which is not installed; run: pip install 'neurok[{extra}]'."
        )
