"""Processes of the studio: started from a server that has imported everything, so that each begins at once."""

from __future__ import annotations

import multiprocessing
from functools import cache
from multiprocessing.context import BaseContext

PRELOADED = ["neurok.studio.simulator", "neurok.studio.intake"]


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
