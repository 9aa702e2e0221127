"""EfficientNet-Lite0: an image network that has learned what things look like, as maps of features at four scales.

Inverted bottlenecks with depthwise convolutions (Tan and Le, 2019), without squeezing and with ReLU6, as the Lite
variants have them. Names of tensors are this module's own; ``neurok_lab.train.views_trunk`` puts published weights in.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True)
class Stage:
    """Bottlenecks of one size in a row; the first one may halve the picture."""

    count: int
    kernel: int
    stride: int
    expansion: int
    """Hidden channels per channel of the input."""

    channels: int


STEM = 32
"""Channels of the first convolution, which halves the picture."""

STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)

SCALES = {1: 4, 2: 8, 4: 16, 6: 32}
"""Stages after which a map of features is handed out, and pixels per cell of it."""

CHANNELS = tuple(STAGES[stage].channels for stage in SCALES)
"""Channels of the maps that are handed out."""

EPSILON, MOMENTUM = 1e-3, 0.02
"""Of batch normalisation: as the published weights have it; the second half as slow as a short fine-tuning needs."""


class Convolution(nn.Module):
    """A convolution without bias, normalised over the batch; its output has the size of the input over the stride."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__()
        # With a stride of two the odd pixel of the border is on the far side (TensorFlow's "same").
        short = (kernel - 1) // 2 if stride == 1 else (kernel - 2) // 2
        self.border = (short, kernel - stride - short if stride > 1 else short)
        padding = short if stride == 1 else 0
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=EPSILON, momentum=MOMENTUM)

    def forward(self, x: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D h w"]:
        if self.conv.stride[0] > 1:
            x = F.pad(x, self.border * 2)
        normed: Tensor = self.norm(self.conv(x))
        return normed


class Bottleneck(nn.Module):
    """Wide, filtered channel by channel, narrow again; the input is added where the sizes allow it."""

    def __init__(self, inputs: int, stage: Stage, stride: int) -> None:
        super().__init__()
        hidden = inputs * stage.expansion
        self.expand = Convolution(inputs, hidden, 1) if stage.expansion > 1 else None
        self.filter = Convolution(hidden, hidden, stage.kernel, stride, groups=hidden)
        self.project = Convolution(hidden, stage.channels, 1)
        self.is_residual = stride == 1 and inputs == stage.channels

    def forward(self, x: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D h w"]:
        y = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.filter(y)))
        return x + y if self.is_residual else y


class Trunk(nn.Module):
    """Maps of features of pictures whose sides are multiples of 32.

    The first ``frozen`` stages, which cost most and change least, learn no more while the others do.
    """

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.frozen = 0
        self.stem = Convolution(channels, STEM, 3, 2)
        self.stages = nn.ModuleList()
        before = STEM
        for stage in STAGES:
            row = [
                Bottleneck(stage.channels if k else before, stage, 1 if k else stage.stride) for k in range(stage.count)
            ]
            self.stages.append(nn.Sequential(*row))
            before = stage.channels

    def forward(self, x: Float[Tensor, "B C H W"]) -> list[Float[Tensor, "B D h w"]]:
        maps, learns = [], torch.is_grad_enabled()
        with torch.set_grad_enabled(learns and not self.frozen):
            x = F.relu6(self.stem(x))
        for number, stage in enumerate(self.stages):
            with torch.set_grad_enabled(learns and number >= self.frozen):
                x = stage(x)
            if number in SCALES:
                maps.append(x)
        return maps

    def freeze(self, count: int) -> None:
        """Let the first stages learn no more; what was frozen before learns again."""
        self.frozen = count
        self.requires_grad_(True)
        for module in self._still():
            module.requires_grad_(False)
        self.train(self.training)

    def train(self, mode: bool = True) -> Trunk:
        """What is frozen keeps its statistics, too."""
        super().train(mode)
        for module in self._still():
            module.eval()
        return self

    def _still(self) -> list[nn.Module]:
        return [self.stem, *list(self.stages)[: self.frozen]] if self.frozen else []


def widened(kernel: Float[Tensor, "D 3 k k"], channels: int) -> Float[Tensor, "D C k k"]:
    """The first kernel of a trunk for colours as one for more channels: the fourth sees a little of all colours, the
    others begin blind."""
    out = torch.zeros(len(kernel), channels, *kernel.shape[2:])
    out[:, :3] = kernel
    if channels > 3:
        out[:, 3] = 0.5 * kernel.mean(dim=1)
    return out
