"""The way back from what a person has corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neurok.errors import NeurokError
from neurok.studio.corrections import Corrections


@dataclass(frozen=True, eq=False)
class History:
    """Edits that can be undone and done again; each is what it was called and the state on its other side."""

    most: int
    """Edits that are kept."""

    done: tuple[tuple[str, Corrections], ...] = ()
    undone: tuple[tuple[str, Corrections], ...] = ()

    def after(self, what: str, before: Corrections) -> History:
        """With one more edit; what was undone is gone."""
        return History(self.most, (*self.done, (what, before))[-self.most :])

    def undo(self, now: Corrections) -> tuple[History, str, Corrections]:
        """One edit back: the history then, what was taken back, and the state to return to."""
        if not self.done:
            raise NeurokError("There is nothing to undo.")
        *rest, (what, before) = self.done
        return replace(self, done=tuple(rest), undone=(*self.undone, (what, now))), what, before

    def redo(self, now: Corrections) -> tuple[History, str, Corrections]:
        """One edit forward again."""
        if not self.undone:
            raise NeurokError("There is nothing to redo.")
        *rest, (what, later) = self.undone
        return replace(self, undone=tuple(rest), done=(*self.done, (what, now))), what, later
