"""The window's end of a live simulation: never waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

from neurok.scene.description import Scene
from neurok.studio.config import StudioConfig
from neurok.studio.processes import context
from neurok.studio.simulator import News, Order, simulate_live


class Simulation(Protocol):
    """What the scene needs of a live simulation; tests put another one in its place."""

    def order(self, verb: str, **values: Any) -> None:
        """Ask for something; returns at once."""

    def news(self) -> Sequence[News]:
        """What came in since the last time."""

    def close(self) -> None:
        """End it."""


class LiveSimulation:
    """A simulation in a process of its own."""

    def __init__(self, scene: Scene, config: StudioConfig) -> None:
        ours, theirs = context().Pipe()
        self.link = ours
        self.process = context().Process(  # type: ignore[attr-defined]
            target=simulate_live,
            args=(theirs, scene, config.fps, config.meter_rate, config.record_bytes),
            daemon=True,
        )
        self.process.start()
        theirs.close()
        self.closed = False

    def order(self, verb: str, **values: Any) -> None:
        """Ask for something; a process that has died is noticed by its news."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, OSError):
            self.link.send(Order(verb, values))

    def news(self) -> Sequence[News]:
        """What came in since the last time; frames are taken, so that the next one is sent."""
        found: list[News] = []
        try:
            while not self.closed and self.link.poll():
                found.append(self.link.recv())
        except (EOFError, ConnectionResetError, OSError):
            self.closed = True
            if not any(one.kind == "error" for one in found):
                found.append(News("error", "The simulation ended unexpectedly; it may have run out of memory."))
        self.closed = self.closed or any(one.kind == "error" for one in found)
        if any(one.kind == "frame" for one in found):
            self.order("taken")
        return found

    def close(self) -> None:
        """Ask it to end, and end it."""
        self.closed = True
        self.order("end")
        self.link.close()
        self.process.join(0.5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(1.0)
