"""What a person has corrected, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neurok.bodyplan.plan import BodyPlan
from neurok.errors import NeurokError


@dataclass(frozen=True, eq=False)
class Corrections:
    """Everything that an edit can change."""

    plan: BodyPlan | None
    is_edited: bool
    """Whether the plan counts over the joints of the file."""

    materials: dict[str, str]
    """Named by hand, by part or surface."""


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
