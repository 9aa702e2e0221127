"""Warp and the kernels, loaded when a solver first needs them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from neurok.errors import require

COMPILING = "compiling the particle kernels, once: about 10 s"


def warp() -> Any:
    """The package, quiet; or one sentence that says how to get it."""
    require("warp", "particles")
    import warp as wp

    silence: Any = wp.config
    silence.quiet, silence.log_level = True, 30  # older and newer versions
    _start(wp)
    return wp


@cache
def _start(wp: Any) -> None:
    """Its library says on the bare error stream that there is no CUDA, which nobody asked for."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            wp.init()
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def load(module: str, say: Callable[[str], None] | None) -> None:
    """Make one module of kernels ready; ``say`` hears of it first if it has to be compiled."""
    wp = warp()
    kernels = wp.get_module(module)
    folder = os.path.join(wp.config.kernel_cache_dir, kernels.get_module_identifier())
    if say is not None and not os.path.isdir(folder):
        say(COMPILING)
    kernels.load("cpu")
