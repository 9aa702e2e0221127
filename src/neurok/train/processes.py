"""Several processes of one run, and Ctrl-C."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch.distributed as dist
from torch import nn


@dataclass(frozen=True)
class Team:
    """This process among those that ``torchrun`` has started for a run; alone without it."""

    rank: int = 0
    size: int = 1

    @staticmethod
    def join() -> Team:
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return Team()
        if not dist.is_initialized():
            dist.init_process_group("gloo")
            # Threads that are still running when the interpreter is torn down abort the process.
            atexit.register(_leave)
        return Team(dist.get_rank(), size)

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files of the run."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with gradients that are means over all processes."""
        return nn.parallel.DistributedDataParallel(module) if self.size > 1 else module

    def gather(self, fact: Any) -> list[Any]:
        """What all processes say, in the order of their ranks."""
        facts = [fact] * self.size
        if self.size > 1:
            dist.all_gather_object(facts, fact)
        return facts


def _leave() -> None:
    if dist.is_initialized():
        # A wrapped module that waits in a cycle of references would keep the group's threads beyond the interpreter.
        gc.collect()
        dist.destroy_process_group()


class CtrlC:
    """Makes Ctrl-C wait while something is done that must be done as a whole."""

    def __init__(self) -> None:
        self.is_asked = False
        self._holds = 0
        self._before: Any = None

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def hold(self, really: bool = True) -> Iterator[None]:
        """Within, Ctrl-C only sets ``is_asked``; behind, it is heard."""
        self._holds += really
        try:
            yield
        finally:
            self._holds -= really
        if self.is_asked and not self._holds:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: Any) -> None:
        if self._holds:
            self.is_asked = True
        else:
            self._before(number, frame)
