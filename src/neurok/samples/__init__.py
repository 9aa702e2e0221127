"""Built-in objects made by the project's own generators; ``sample:NAME`` works wherever a mesh path does."""

from __future__ import annotations

from neurok.core import Asset
from neurok.errors import NeurokError, shown

SAMPLES = ("laptop", "cabinet", "lamp", "pillow")


def make_sample(name: str) -> Asset:
    """A built-in object by its name.

    Raises:
        NeurokError: If there is no sample of that name; the sentence lists those there are.
    """
    if name not in SAMPLES:
        raise NeurokError(f"There is no sample {shown(name)}; the samples are {', '.join(SAMPLES)}.")
    from neurok.samples import objects

    asset: Asset = getattr(objects, f"make_{name}")()
    return asset
