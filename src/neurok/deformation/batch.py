"""What the networks read: objects at rest, and pairs of a rest state with displaced ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from neurok.learned.view import Pairs


class Rest(NamedTuple):
    """The rest state of a batch of objects in the unit box, +y up."""

    points: Float[Tensor, "B H N 3"]
    centers: Float[Tensor, "B H 3"]
    groups: Int[Tensor, "B H"]
    areas: Float[Tensor, "B H"]
    present: Bool[Tensor, "B H"]


class PairTensors(NamedTuple):
    """A batch of pairs on the device of the model."""

    rest: Rest
    displaced: Float[Tensor, "B S H N 3"]
    rotations: Float[Tensor, "B S H 3 3"]
    shifts: Float[Tensor, "B S H 3"]
    blend_index: Int[Tensor, "B H N K"]
    blend_weight: Float[Tensor, "B H N K"]

    @property
    def targets(self) -> int:
        """Displaced states of each object."""
        return self.displaced.shape[1]

    @staticmethod
    def of(pairs: Pairs, device: torch.device | str = "cpu") -> PairTensors:
        take = lambda array: torch.from_numpy(np.ascontiguousarray(array)).to(device)  # noqa: E731
        rest = Rest(*(take(getattr(pairs, n)) for n in ("points", "centers", "groups", "areas", "present")))
        fields = ("displaced", "rotations", "shifts", "blend_index", "blend_weight")
        return PairTensors(rest, *(take(getattr(pairs, n)) for n in fields))
