"""One thread for small matrices: several would wait for each other longer than they work."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """While it holds, linear algebra runs on the thread that asks; sums then have the same bits on any machine."""
    held: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return held
