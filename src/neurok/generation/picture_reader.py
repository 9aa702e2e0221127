"""What a picture shows: category, parts and counts, style, material, proportions, view, and where the object is.

A trunk that knows photographs (EfficientNet-Lite0, ImageNet) with small heads; only the heads have learned from
pictures of household things.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from neurok.learned.task import Task
from neurok.learned.views.trunk import CHANNELS, Convolution, Trunk

SIDE = 192
"""Pixels of the side of a picture that is read."""

TURNS = 24
"""Azimuths that are told apart, around the whole circle."""

MASK = 48
"""Cells of a mask along each side."""

LEAST_TILT, MOST_TILT = 0.0, 60.0
"""Elevations that are believed [degrees]."""


@dataclass(frozen=True)
class ReaderConfig:
    """What is told of pictures, and how its answers are calibrated."""

    categories: tuple[str, ...]
    parts: tuple[str, ...]
    styles: tuple[str, ...]
    materials: tuple[str, ...]
    pooled: int = 1280
    layout: int = 48
    """Channels of the coarse map (three by three cells) that tells what is where."""

    hidden: int = 384
    temperature: float = 1.0
    """Scores of categories are divided by it, so that probabilities are true shares (Guo et al. 2017)."""

    asks_below: float = 0.5
    """Probability of the likeliest category below which a word is asked for."""

    colours: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0,) * 3)
    """From the colour of pixels, and one, to that of the surface (sRGB): lamps are not white and walls are not grey."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What the heads say of a batch."""

    category: Float[Tensor, "B C"]
    """Logits, as are those of presence, styles, material, azimuth and mask."""

    present: Float[Tensor, "B P"]
    count: Float[Tensor, "B P"]
    """Logarithms."""

    style: Float[Tensor, "B S"]
    material: Float[Tensor, "B M"]
    proportions: Float[Tensor, "B 2"]
    """Logarithms of height and depth over width."""

    azimuth: Float[Tensor, "B T"]
    elevation: Float[Tensor, " B"]
    """Radians."""

    mask: Float[Tensor, "B K K"]


class PictureReader(nn.Module):
    """The trunk and its heads."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        self.config = config
        deep, wide = CHANNELS[-1], config.pooled
        self.trunk = Trunk(3)
        self.top = Convolution(deep, wide, 1)
        self.layout = nn.Conv2d(deep, config.layout, 1)
        self.rise = nn.Linear(wide, config.hidden)
        self.category = nn.Linear(config.hidden, len(config.categories))
        self.facts = nn.Linear(wide + 9 * config.layout, config.hidden)
        names = len(config.parts)
        self.sizes = (names, names, len(config.styles), len(config.materials), 2, TURNS, 1)
        self.told = nn.Linear(config.hidden, sum(self.sizes))
        self.lateral = nn.ModuleList(nn.Conv2d(channels, 64, 1) for channels in CHANNELS[1:])
        self.smooth = nn.Conv2d(64, 64, 3, padding=1)
        self.cells = nn.Conv2d(64, 4, 3, padding=1)

    @torch.no_grad()
    def maps(self, pictures: Float[Tensor, "B 3 S S"]) -> list[Float[Tensor, "B D h w"]]:
        """What the trunk sees of pictures with colours 0..1, at strides of 8, 16 and 32."""
        return self.trunk((255.0 * pictures - 127.0) / 128.0)[1:]  # type: ignore[no-any-return]

    def answers(self, *maps: Float[Tensor, "B D h w"]) -> Answers:
        """What the maps tell."""
        pooled = functional.relu6(self.top(maps[-1])).mean(dim=(2, 3))
        hide = lambda y: functional.dropout(y, 0.3, self.training)  # noqa: E731
        category = self.category(hide(functional.gelu(self.rise(hide(pooled)))))
        layout = functional.adaptive_avg_pool2d(functional.gelu(self.layout(maps[-1])), 3).flatten(1)
        told = self.told(hide(functional.gelu(self.facts(hide(torch.cat([pooled, layout], dim=1))))))
        present, count, style, material, proportions, azimuth, elevation = told.split(self.sizes, dim=1)
        view = (azimuth, elevation[:, 0])
        return Answers(category, present, count, style, material, proportions, *view, self._mask(*maps))

    def _mask(self, *maps: Tensor) -> Float[Tensor, "B K K"]:
        size = maps[0].shape[-2:]
        sides = [lateral(one) for lateral, one in zip(self.lateral, maps, strict=True)]
        grown = [functional.interpolate(one, size=size, mode="bilinear") for one in sides]
        y = functional.gelu(torch.stack(grown).sum(dim=0))
        y = y + functional.gelu(self.smooth(y))
        return functional.pixel_shuffle(self.cells(y), 2)[:, 0]

    def forward(self, pictures: Float[Tensor, "B 3 S S"]) -> Answers:
        return self.answers(*self.maps(pictures))

    @torch.no_grad()
    def read(self, *pictures: Float[np.ndarray, "S S 3"]) -> Reading:
        """What one object is; of several pictures of it, whole and cut out, the first is where its mask is."""
        stack = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float()
        said = self(stack)
        config = self.config
        shares = (said.category / config.temperature).softmax(dim=1).mean(dim=0)
        turns = said.azimuth[-1].softmax(dim=0).double().numpy()
        tilt = math.degrees(float(said.elevation[-1]))
        return Reading(
            dict(zip(config.categories, shares.tolist(), strict=True)),
            dict(zip(config.parts, said.present[-1].sigmoid().tolist(), strict=True)),
            dict(zip(config.parts, said.count[-1].clamp(0.0, 4.0).exp().tolist(), strict=True)),
            dict(zip(config.styles, said.style[-1].sigmoid().tolist(), strict=True)),
            dict(zip(config.materials, said.material[-1].softmax(dim=0).tolist(), strict=True)),
            (float(said.proportions[-1, 0]), float(said.proportions[-1, 1])),
            turns,
            min(max(tilt, LEAST_TILT), MOST_TILT),
            said.mask[0].sigmoid().double().numpy(),
        )

    def surface_colour(self, pixels: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """The colour of surfaces (sRGB) whose pixels have some colour under usual light."""
        rows = np.array(self.config.colours)
        return np.clip(pixels @ rows[:3] + rows[3], 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Reading:
    """What a picture shows, with probabilities."""

    categories: Mapping[str, float]
    present: Mapping[str, float]
    counts: Mapping[str, float]
    styles: Mapping[str, float]
    materials: Mapping[str, float]
    """Of the part that stands for the whole."""

    proportions: tuple[float, float]
    """Logarithms of height and depth over width."""

    turns: Float[np.ndarray, " T"]
    """Shares of azimuths, from that of the front on."""

    elevation: float
    """Degrees."""

    mask: Float[np.ndarray, "K K"]
    """How likely each cell of the picture is the object."""

    @property
    def likeliest(self) -> list[tuple[str, float]]:
        """The three likeliest categories, and how probable they are."""
        return sorted(self.categories.items(), key=lambda one: -one[1])[:3]

    @property
    def azimuths(self) -> list[float]:
        """The two likeliest peaks of the view [degrees], the likelier one first."""
        is_peak = (self.turns >= np.roll(self.turns, 1)) & (self.turns > np.roll(self.turns, -1))
        order = sorted(np.flatnonzero(is_peak), key=lambda k: -self.turns[k])[:2]
        return [360.0 / TURNS * (k if k <= TURNS // 2 else k - TURNS) for k in map(int, order)]


def _build(card: dict[str, Any]) -> PictureReader:
    rows = card["picture_config"]
    fixed = {name: tuple(rows[name]) for name in ("categories", "parts", "styles", "materials")}
    colours = tuple((float(a), float(b), float(c)) for a, b, c in rows["colours"])
    return PictureReader(ReaderConfig(**{**rows, **fixed, "colours": colours}))


def _describe(model: Any) -> dict[str, Any] | None:
    return {"picture_config": asdict(model.config)} if isinstance(model, PictureReader) else None


TASK = Task(_build, _describe)
