"""A live simulation in a process of its own, and the window's end of it, which never waits.

A frame is sent only when the one before was taken; what happens in between is dropped, so the window never lags behind.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from typing import Any, Protocol

import numpy as np

from neurok.dynamics import Run, Wind, start
from neurok.errors import NeurokError
from neurok.scene.description import Scene
from neurok.scene.run import engine_of, prepare_scene
from neurok.studio.config import StudioConfig

PRELOADED = ["neurok.studio.live"]


@cache
def context() -> BaseContext:
    """Where processes come from; those of a fork server share its memory."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(PRELOADED)
    return found


def warm_up() -> None:
    """Start the server of processes; the first simulation then begins without waiting for imports."""
    process = context().Process(target=_nothing, daemon=True)  # type: ignore[attr-defined]
    process.start()
    process.join()


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Order:
    """What the window asks of the simulation."""

    verb: str
    """``play``, ``pause``, ``grab``, ``release``, ``gravity``, ``wind``, ``record``, ``keep``, ``taken``, ``end``."""

    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class News:
    """What the simulation tells: ``ready``, ``frame``, ``progress``, ``ended``, ``kept`` or ``error``."""

    kind: str
    text: str = ""
    positions: np.ndarray | None = None
    figures: dict[str, Any] = field(default_factory=dict)


def simulate_live(link: Connection, scene: Scene, fps: float, meter_rate: float, record_bytes: int) -> None:
    """What the process does: it ends when it is told to, or when the window is gone."""
    os.nice(5)  # the window comes first
    try:
        _Live(link, scene, fps, meter_rate, record_bytes).go()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except NeurokError as error:
        _send_news(link, News("error", str(error)))
    except MemoryError:
        _send_news(link, News("error", "The simulation needs more memory than there is; take a coarser mesh."))


def _send_news(link: Connection, news: News) -> None:
    try:
        link.send(news)
    except (BrokenPipeError, ConnectionResetError):
        return


class _Live:
    """One run and what the window has asked of it."""

    def __init__(self, link: Connection, scene: Scene, fps: float, meter_rate: float, record_bytes: int) -> None:
        self.link, self.fps, self.meter_rate, self.record_bytes = link, fps, meter_rate, record_bytes
        ready = prepare_scene(scene)
        self.run: Run = start(
            ready.bodies, ready.world, seconds=None, fps=fps, engine=engine_of(ready.scene), record=False
        )
        self.weight = ready.mass
        self.unit = ready.bodies[0].mesh.unit
        self.playing, self.taken, self.ended = False, True, False
        self.records, self.kept = False, list[tuple[np.ndarray, float, float]]()
        self.let_go: float | None = None
        self.frames, self.since, self.measured = 0, time.perf_counter(), 0.0
        self.pulse, self.pieces = 0.0, 0
        self.meter: dict[str, Any] = {}
        rest = self.run.rollouts()[0].rest
        figures: dict[str, Any] = {"mass": ready.mass, "vertices": rest.vertex_count}
        if rest.vertex_count != ready.assets[0].mesh.vertex_count:  # loose stuff is shown as grains
            figures["mesh"] = rest
        said = " ".join([*ready.notes, *(report.matter_sentence for report in ready.reports)])
        _send_news(link, News("ready", said, figures=figures))

    def go(self) -> None:
        """Obey and step until told to end."""
        orders: dict[str, Callable[..., None]] = {
            "play": self.play,
            "pause": self.pause,
            "grab": self.grab,
            "release": self.release,
            "gravity": lambda vector: self.run.set_gravity(np.array(vector)),
            "wind": lambda vector: self.run.set_wind(Wind(np.array(vector)) if any(vector) else None),
            "record": self.record,
            "keep": self.keep,
            "taken": self.take,
        }
        self.send(self.run.positions[0])
        while True:
            while self.link.poll(None if not self.playing or self.ended else self.wait()):
                order: Order = self.link.recv()
                if order.verb == "end":
                    return
                orders[order.verb](**order.values)
            if self.playing and not self.ended:
                self.advance()

    def wait(self) -> float:
        """Seconds until the next frame is due; a run that is slower than real time never waits."""
        return max(0.0, self.since + self.frames / self.fps - time.perf_counter())

    def play(self) -> None:
        self.playing, self.frames, self.since = True, 0, time.perf_counter()

    def pause(self) -> None:
        self.playing = False

    def take(self) -> None:
        self.taken = True

    def grab(self, vertices: list[int], target: list[float], stiffness: float | None, seconds: float | None) -> None:
        self.run.grab(vertices, target, stiffness=stiffness)
        self.let_go = None if seconds is None else self.run.time + seconds

    def release(self) -> None:
        self.run.release()
        self.let_go = None

    def record(self, on: bool) -> None:
        self.records = on
        if on:
            self.kept = []
            self._keep_frame()

    def _keep_frame(self) -> None:
        positions = self.run.positions[0].astype(np.float32)
        if (len(self.kept) + 1) * positions.nbytes <= self.record_bytes:
            rollout = self.run.rollouts()[0]
            depth = rollout.report.get("max_penetration")
            deep = float(depth) if isinstance(depth, int | float) else np.nan
            total = rollout.energies.get("total")
            self.kept.append((positions, np.nan if total is None or not len(total) else float(total[-1]), deep))
        else:
            self.records = False

    def keep(self) -> None:
        """Hand over what was recorded."""
        names = ("positions", "energies", "depths")
        figures = {name: np.array(column) for name, column in zip(names, zip(*self.kept, strict=True), strict=False)}
        _send_news(self.link, News("kept", figures={**figures, "fps": self.fps}))

    def advance(self) -> None:
        """One frame, told to the window if it has taken the one before."""
        if self.let_go is not None and self.run.time >= self.let_go:
            self.release()
        begin = self.pulse = time.perf_counter()
        self.pieces = 0
        going = self.run.step(self.progress)
        spent = time.perf_counter() - begin
        if not going:
            self.ended = True
            message = self.run.rollouts()[0].message
            _send_news(self.link, News("ended", message, self.run.positions[0].astype(np.float32), dict(self.meter)))
            return
        self.frames += 1
        if begin - self.since > 1.0 and self.frames / self.fps < (begin - self.since) - 1.0:
            self.frames, self.since = 0, time.perf_counter()  # behind real time: do not hurry to make up for it
        if self.records:
            self._keep_frame()
        self.measure(spent)
        if self.taken:
            self.send(self.run.positions[0])

    def progress(self, fraction: float) -> None:
        """A frame that takes long says that it goes on, and how many of its steps are done."""
        self.pieces += 1
        now = time.perf_counter()
        if now - self.pulse > 1.0 / self.meter_rate:
            self.pulse = now
            _send_news(self.link, News("progress", figures={"time": self.run.time, "pieces": self.pieces}))

    def measure(self, spent: float) -> None:
        now = time.perf_counter()
        before = self.meter.get("real_time_factor")
        factor = 1.0 / (self.fps * max(spent, 1e-9))
        self.meter["real_time_factor"] = factor if before is None else 0.8 * before + 0.2 * factor
        if now - self.measured <= 1.0 / self.meter_rate:
            return
        self.measured = now
        rollout = self.run.rollouts()[0]
        for name in ("steps_per_second", "max_penetration", "engine"):
            self.meter[name] = rollout.report.get(name)
        self.meter["energy"] = {name: float(row[-1]) for name, row in rollout.energies.items() if len(row)}

    def send(self, positions: np.ndarray) -> None:
        self.taken = False
        q = self.run.rollouts()[0].q
        figures = {
            **self.meter,
            "time": self.run.time,
            "recorded": len(self.kept),
            "q": None if q is None else q[-1],
            "pieces": 0,
        }
        _send_news(self.link, News("frame", positions=positions.astype(np.float32), figures=figures))


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
