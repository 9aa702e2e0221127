"""What all panels have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurok.studio.session import Session


class Panel:
    """One tab; knows its session and nothing of other panels."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.gui: Any = session.client.gui
        self.build()

    @property
    def scene(self) -> Any:
        return self.session.scene

    def build(self) -> None:
        """Add what is in the tab."""

    def opened(self) -> None:
        """Another object is shown, or more is known of it."""

    def refresh(self) -> None:
        """The scene has changed."""

    def ticked(self) -> None:
        """Something moved; called a few times a second."""

    def button(self, label: str, act: Callable[[], Any], **options: Any) -> Any:
        """A button that does something to the scene."""
        made = self.gui.add_button(label, **options)

        @made.on_click
        async def _(event: Any) -> None:
            self.session.soon(lambda: self.session.do(act))

        return made

    def input(self, made: Any, act: Callable[[Any], Any]) -> Any:
        """An input whose changes by the user, and not by the program, do something to the scene.

        Values are taken as they come, since a scene that is brought to the window meanwhile puts the old one back; of
        those that come faster than they can be followed the newest counts.
        """
        waiting: deque[Any] = deque(maxlen=1)

        def follow() -> None:
            if waiting:
                value = waiting.pop()
                self.session.do(lambda: act(value))

        @made.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                waiting.append(made.value)
                self.session.soon(follow)

        return made
