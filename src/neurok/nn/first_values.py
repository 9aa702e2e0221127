"""First values of parameters, and networks that are built without any because a file fills them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


def drawn(*shape: int, spread: float) -> nn.Parameter:
    """A parameter whose first values are drawn about zero."""
    return nn.Parameter(nn.init.normal_(torch.empty(*shape), std=spread))


class WithoutFirstValues(TorchFunctionMode):
    """Inside it, ``torch.nn.init`` does nothing; every parameter has to be set afterwards.

    Drawing values that a file overwrites costs time, and on the meta device it loads the whole compiler of torch, two
    seconds of a process.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__module__", None) == nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
