"""Built-in objects made by the project's own generators; ``sample:NAME`` works wherever a mesh path does."""

from __future__ import annotations

import importlib

from neurok.core import Asset
from neurok.errors import NeurokError, shown

SAMPLES: dict[str, str] = {
    "laptop": "neurok.samples.laptop:make_laptop",
    "cabinet": "neurok.samples.cabinet:make_cabinet",
    "lamp": "neurok.samples.lamp:make_lamp",
    "pillow": "neurok.samples.pillow:make_pillow",
}
"""Name to ``module:function``, imported when asked for."""


def make_sample(name: str) -> Asset:
    """A built-in object by its name.

    Raises:
        NeurokError: If there is no sample of that name; the sentence lists those there are.
    """
    if name not in SAMPLES:
        raise NeurokError(f"There is no sample {shown(name)}; the samples are {', '.join(SAMPLES)}.")
    module, function = SAMPLES[name].split(":")
    asset: Asset = getattr(importlib.import_module(module), function)()
    return asset
