"""What the network says of each cell of a view: a trunk, a feature pyramid and one layer of answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from neurok.learned.task import Task
from neurok.learned.views.trunk import CHANNELS, Convolution, Trunk

PIXELS = 160
"""Side of a view [pixels]."""

CELL = 4
"""Side of a cell that is answered for [pixels]."""

CELLS = PIXELS // CELL

INPUTS = 9
"""Normal in the view (3), depth, mask, up in the view (2), angle of the object's horizontal axes (2)."""

REACHES = (1, 3, 6)
"""Cells to the right, and down, whose being of the same body is answered."""

SPOTS = 10
"""Where the axis goes through the box of its body, across: three by three places, or none of them."""

ANSWERS: dict[str, int] = {
    "moves": 1,  # logit: the body of this cell moves
    "turns": 1,  # logit: it turns, rather than slides
    "axis": 4,  # logits: up, the horizontal axis of the object nearest to the view's right, the other one, oblique
    "direction": 6,  # products of the axis with itself in the view (xx, yy, zz, xy, xz, yz): no sign
    "hinge": 3,  # to the nearest point of the axis, in the view [sizes of the object]
    "spot": SPOTS,  # logits
    "box": 6,  # to the lower and the upper side of the body's box along up and both horizontal axes [sizes]
    "same": 2 * len(REACHES),  # logits: the cell so far to the right, then so far down, is of the same body
    "line": 1,  # logit: the axis of a hinge passes here, before or behind
}
"""What is answered for each cell, and by how many numbers."""


def split(answers: Float[Tensor, "B N h w"]) -> dict[str, Float[Tensor, "B n h w"]]:
    """Answers by their names."""
    return dict(zip(ANSWERS, answers.split(list(ANSWERS.values()), dim=1), strict=True))


@dataclass(frozen=True)
class ViewConfig:
    width: int = 80
    """Channels of the pyramid."""


class Mixer(nn.Module):
    """Two depthwise convolutions, each followed by one over channels; added to its input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for kernel in (5, 3):
            layers += [nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=width)]
            layers += [nn.Conv2d(width, width, 1), nn.GELU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Float[Tensor, "B C h w"]) -> Float[Tensor, "B C h w"]:
        mixed: Tensor = x + self.layers(x)
        return mixed


class ViewModel(nn.Module):
    """Answers for the cells of a batch of views."""

    def __init__(self, config: ViewConfig = ViewConfig()) -> None:
        super().__init__()
        self.config = config
        self.trunk = Trunk(INPUTS)
        self.lateral = nn.ModuleList(Convolution(channels, config.width, 1) for channels in CHANNELS)
        self.mixers = nn.ModuleList(Mixer(config.width) for _ in CHANNELS)
        self.head = nn.Conv2d(config.width, sum(ANSWERS.values()), 1)
        nn.init.normal_(self.head.weight, std=0.01)

    def forward(self, views: Float[Tensor, "B C H W"]) -> Float[Tensor, "B N h w"]:
        maps = [lateral(one) for lateral, one in zip(self.lateral, self.trunk(views), strict=True)]
        y = self.mixers[-1](maps[-1])
        for finer, mixer in zip(maps[-2::-1], list(self.mixers)[-2::-1], strict=True):
            y = mixer(F.interpolate(y, size=finer.shape[-2:], mode="bilinear", align_corners=False) + finer)
        answers: Tensor = self.head(y)
        return answers


def _build(card: dict[str, Any]) -> ViewModel:
    return ViewModel(ViewConfig(**card["view_config"]))


def _describe(model: Any) -> dict[str, Any] | None:
    return {"view_config": asdict(model.config)} if isinstance(model, ViewModel) else None


TASK = Task(_build, _describe)
