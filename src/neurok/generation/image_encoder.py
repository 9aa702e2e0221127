"""A picture as tokens that the list of parts is read from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from neurok.nn.attention import Block
from neurok.nn.norm import LayerNorm


@dataclass(frozen=True)
class ImageConfig:
    """Sizes of the encoder; chosen so that sixteen pictures take some 50 ms on one core."""

    side: int = 112
    """Pixels of a picture's side."""

    patch: int = 16
    """Pixels of the side of the square that a token stands for."""

    cells: int = 4
    """Mean colours are kept for so many squares along the side of a patch."""

    channels: tuple[int, int, int] = (32, 48, 80)
    """Of the convolutions at a quarter, a quarter and an eighth of the picture's side."""

    width: int = 128
    """Of the tokens inside the encoder."""

    heads: int = 4
    blocks: int = 2

    @property
    def grid(self) -> int:
        """Tokens along a side."""
        return self.side // self.patch


class ImageEncoder(nn.Module):
    """Convolutions for what things look like, mean colours of small squares as they are, attention over both.

    Colours take the short way, since what convolutions keep of them after their normalisation is little.
    """

    def __init__(self, width: int, config: ImageConfig | None = None) -> None:
        """
        Args:
            width: Of the tokens that come out.
        """
        super().__init__()
        self.config = config = config or ImageConfig()
        first, second, third = config.channels
        self.stem = nn.Conv2d(3, first, 6, stride=4, padding=1)
        self.fine = _Convolution(first, second)
        self.middle = _Convolution(second, third, stride=2)
        self.again = _Convolution(third, third)
        self.coarse = _Convolution(third, config.width, stride=2)
        self.colours = nn.Linear(3 * config.cells**2, config.width)
        self.places = nn.Parameter(0.02 * torch.randn(config.grid**2, config.width))
        self.blocks = nn.ModuleList(Block(config.width, config.heads) for _ in range(config.blocks))
        self.norm = LayerNorm(config.width)
        self.out = nn.Linear(config.width, width)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # a quarter faster on CPUs

    @property
    def token_count(self) -> int:
        return self.config.grid**2

    def forward(self, pictures: Float[Tensor, "B 3 S S"]) -> Float[Tensor, "B N W"]:
        """Tokens of pictures with colours 0..1, row by row from the top left."""
        centred = (pictures - 0.5).contiguous(memory_format=torch.channels_last)
        x = self.fine(functional.gelu(self.stem(centred)))
        x = self.middle(x)
        x = self.coarse(x + self.again(x))
        tokens = x.flatten(2).transpose(1, 2) + self.colours(self.patch_colours(centred)) + self.places
        for block in self.blocks:
            tokens = block(tokens)
        return self.out(self.norm(tokens))

    def patch_colours(self, pictures: Float[Tensor, "B 3 S S"]) -> Float[Tensor, "B N C"]:
        """Mean colours of the small squares of each patch, side by side."""
        means = functional.avg_pool2d(pictures, self.config.patch // self.config.cells)
        return functional.unfold(means, self.config.cells, stride=self.config.cells).transpose(1, 2)


class _Convolution(nn.Module):
    """3 x 3, normalised in groups of eight channels."""

    def __init__(self, channels: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.GroupNorm(out // 8, out)

    def forward(self, x: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D G V"]:
        return functional.gelu(self.norm(self.convolution(x)))
