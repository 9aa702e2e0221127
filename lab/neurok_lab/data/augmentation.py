"""Renders made to look as if somebody had photographed them: backgrounds, crops, light, blur, compression.

A pure function of the pictures and a generator. Colours move little, since the colour of a part is among the things to
be read from a picture; an object is never mirrored, since its left and right differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional

from neurok.generation.framing import PLAIN, premultiplied

MOST_THINGS = 7
"""That stand about on one background."""

GREY = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in how bright a colour looks (ITU-R BT.601)."""


@dataclass(frozen=True)
class AugmentationConfig:
    """How far pictures are changed; shares are chances for each picture, set by looking at sheets."""

    plain: float = 0.3
    """Share of plain backgrounds, as behind what was cut out; the kinds of ``BACKGROUNDS`` have the rest evenly."""

    cluttered: float = 0.5
    """Share of the backgrounds with other things on them."""

    scale: tuple[float, float] = (0.72, 1.2)
    """Factors of the object's size in the picture; above 1.1 some of it may be cut off."""

    shift: float = 0.12
    """Largest shift to each side, as a share of the picture."""

    turn: float = 5.0
    """Largest turn of the camera about its own axis [degrees]."""

    still: float = 0.15
    """Share that is neither scaled nor shifted nor turned, as after a cut-out."""

    brightness: tuple[float, float] = (0.72, 1.1)
    """Factors; renders are lit well, photographs less so."""

    contrast: float = 0.18
    saturation: float = 0.18
    """Largest change of each, as a factor beside 1."""

    tint: float = 0.05
    """Largest change of each colour channel, as a factor beside 1: the colour of the light."""

    hue: float = 5.0
    """Largest turn of the hue [degrees]."""

    greyscale: float = 0.02
    blur: float = 0.3
    blur_sigma: float = 1.3
    """Largest standard deviation [pixels]."""

    noise: float = 0.025
    """Largest standard deviation of the noise of a sensor."""

    compressed: float = 0.3
    compression: float = 0.05
    """Largest step that the coefficients of 8 x 8 blocks are rounded to, for the lowest frequency."""


def augment(
    pictures: UInt8[Tensor, "B S S 4"],
    generator: torch.Generator,
    config: AugmentationConfig | None = None,
    others: UInt8[Tensor, "N S S 4"] | None = None,
) -> tuple[Float[Tensor, "B 3 S S"], Float[Tensor, "B S S"]]:
    """Pictures with alpha on random backgrounds, changed at random, and where their objects are; colours 0..1.

    Plain backgrounds stay plain. Some of the other pictures, if there are any, stand about on those that are not.
    """
    config = config or AugmentationConfig()
    rgba = _moved(premultiplied(pictures), generator, config)
    behind = random_backgrounds(len(rgba), rgba.shape[-1], generator, config.plain)
    if others is not None:
        behind = _for_some(behind, config.cluttered, generator, lambda x: _cluttered(x, others, generator))
    rgb = rgba[:, :3] + behind * (1.0 - rgba[:, 3:])
    rgb = _jittered(rgb, generator, config)
    rgb = _for_some(rgb, config.greyscale, generator, lambda x: _brightness(x).expand_as(x))
    rgb = _for_some(rgb, config.blur, generator, lambda x: _blurred(x, config.blur_sigma, generator))
    rgb = rgb + config.noise * _uniform(generator, len(rgb), 1, 1, 1) * torch.randn(rgb.shape, generator=generator)
    rgb = _for_some(rgb, config.compressed, generator, lambda x: _compressed(x, config.compression, generator))
    is_plain = (behind == PLAIN).flatten(1).all(dim=1)[:, None, None, None]
    return torch.where(is_plain & (rgba[:, 3:] == 0.0), PLAIN, rgb).clamp(0.0, 1.0), rgba[:, 3]


def _cluttered(
    behind: Float[Tensor, "B 3 S S"], others: UInt8[Tensor, "N S S 4"], generator: torch.Generator
) -> Float[Tensor, "B 3 S S"]:
    """Grounds with other things on them, most of them small or cut off, as in a room."""
    count = len(behind)
    for _ in range(int(torch.randint(2, MOST_THINGS + 1, (), generator=generator))):
        chosen = torch.randint(len(others), (count,), generator=generator)
        shrink = 1.0 / _uniform(generator, count, low=0.3, high=0.9)
        place = 2.0 * _uniform(generator, count, 2, low=-0.5, high=0.5)
        rows = torch.zeros(count, 2, 3)
        rows[:, 0, 0] = rows[:, 1, 1] = shrink
        rows[..., 2] = -shrink[:, None] * place
        grid = functional.affine_grid(rows, [count, 4, *behind.shape[-2:]], align_corners=False)
        thing = functional.grid_sample(premultiplied(others[chosen]), grid, align_corners=False)
        light = _uniform(generator, count, 1, 1, 1, low=0.5, high=1.0)
        behind = light * thing[:, :3] + behind * (1.0 - thing[:, 3:])
    return behind


def _uniform(generator: torch.Generator, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
    return low + (high - low) * torch.rand(shape, generator=generator)


def _for_some(
    rgb: Float[Tensor, "B 3 S S"], share: float, generator: torch.Generator, change: Callable[[Tensor], Tensor]
) -> Float[Tensor, "B 3 S S"]:
    """Change a random share of the pictures."""
    chosen = torch.nonzero(torch.rand(len(rgb), generator=generator) < share)[:, 0]
    return rgb if len(chosen) == 0 else rgb.index_copy(0, chosen, change(rgb[chosen]))


def _moved(
    rgba: Float[Tensor, "B 4 S S"], generator: torch.Generator, config: AugmentationConfig
) -> Float[Tensor, "B 4 S S"]:
    """Scaled, shifted and turned; what comes in from outside is transparent."""
    count = len(rgba)
    moves = (torch.rand(count, generator=generator) >= config.still).float()
    scale = 1.0 + moves * (_uniform(generator, count, low=config.scale[0], high=config.scale[1]) - 1.0)
    angle = moves * math.radians(config.turn) * _uniform(generator, count, low=-1.0)
    shift = moves[:, None] * 2.0 * config.shift * _uniform(generator, count, 2, low=-1.0)
    cos, sin = angle.cos() / scale, angle.sin() / scale
    rows = torch.stack([torch.stack([cos, -sin, shift[:, 0]], 1), torch.stack([sin, cos, shift[:, 1]], 1)], 1)
    grid = functional.affine_grid(rows, list(rgba.shape), align_corners=False)
    return functional.grid_sample(rgba, grid, align_corners=False)


def _brightness(rgb: Float[Tensor, "B 3 S S"]) -> Float[Tensor, "B 1 S S"]:
    return (rgb * torch.tensor(GREY).view(3, 1, 1)).sum(dim=1, keepdim=True)


def _jittered(
    rgb: Float[Tensor, "B 3 S S"], generator: torch.Generator, config: AugmentationConfig
) -> Float[Tensor, "B 3 S S"]:
    """Hue, saturation, contrast, brightness and the colour of the light."""
    near = lambda reach, *shape: _uniform(generator, len(rgb), *shape, low=1.0 - reach, high=1.0 + reach)  # noqa: E731
    angles = math.radians(config.hue) * _uniform(generator, len(rgb), low=-1.0)
    rgb = torch.einsum("bij,bjhw->bihw", hue_turn(angles), rgb)
    grey = _brightness(rgb)
    rgb = grey + (rgb - grey) * near(config.saturation, 1, 1, 1)
    middle = grey.mean(dim=(2, 3), keepdim=True)
    rgb = middle + (rgb - middle) * near(config.contrast, 1, 1, 1)
    light = _uniform(generator, len(rgb), 1, 1, 1, low=config.brightness[0], high=config.brightness[1])
    return rgb * light * near(config.tint, 3, 1, 1)


def hue_turn(angles: Float[Tensor, " B"]) -> Float[Tensor, "B 3 3"]:
    """Turns about the axis of greys, which stay as they are [rad]."""
    cos, sin = angles.cos()[:, None, None], angles.sin()[:, None, None]
    cross = torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]) / math.sqrt(3.0)
    return cos * torch.eye(3) + (1.0 - cos) / 3.0 + sin * cross


def _blurred(rgb: Float[Tensor, "B 3 S S"], largest: float, generator: torch.Generator) -> Float[Tensor, "B 3 S S"]:
    """A Gaussian of another width for each picture."""
    reach = math.ceil(2.0 * largest)
    sigma = _uniform(generator, len(rgb), 1, low=0.3, high=largest)
    kernel = torch.exp(-0.5 * (torch.arange(-reach, reach + 1.0) / sigma) ** 2)
    kernel = (kernel / kernel.sum(dim=1, keepdim=True)).repeat_interleave(3, dim=0)
    flat = functional.pad(rgb.flatten(0, 1)[None], [reach] * 4, mode="replicate")
    flat = functional.conv2d(flat, kernel[:, None, :, None], groups=len(kernel))
    return functional.conv2d(flat, kernel[:, None, None, :], groups=len(kernel)).view_as(rgb)


def _compressed(rgb: Float[Tensor, "B 3 S S"], largest: float, generator: torch.Generator) -> Float[Tensor, "B 3 S S"]:
    """Cosine coefficients of 8 x 8 blocks rounded, coarser for higher frequencies, as in a JPEG."""
    side = rgb.shape[-1] // 8
    basis = cosine_basis(8)
    blocks = rgb.unflatten(3, (side, 8)).unflatten(2, (side, 8))
    waves = torch.einsum("ui,bcyixj,vj->bcyuxv", basis, blocks, basis)
    ramp = 1.0 + torch.arange(8.0)
    step = _uniform(generator, len(rgb), 1, 1, 1, 1, 1, low=0.01, high=largest)
    step = step * (ramp[:, None, None] + ramp - 1.0)
    waves = (waves / step).round() * step
    return torch.einsum("ui,bcyuxv,vj->bcyixj", basis, waves, basis).flatten(4, 5).flatten(2, 3)


def cosine_basis(count: int) -> Float[Tensor, "{count} {count}"]:
    """Rows are the orthonormal cosine waves."""
    wave, place = torch.arange(float(count))[:, None], torch.arange(float(count)) + 0.5
    basis = torch.cos(math.pi / count * wave * place) * math.sqrt(2.0 / count)
    basis[0] /= math.sqrt(2.0)
    return basis


def random_backgrounds(
    count: int, side: int, generator: torch.Generator, plain: float = 0.0
) -> Float[Tensor, "{count} 3 {side} {side}"]:
    """Pictures without an object: a share of plain ones, the others of all kinds."""
    kinds = torch.randint(len(BACKGROUNDS), (count,), generator=generator)
    kinds[torch.rand(count, generator=generator) < plain] = -1
    out = torch.full((count, 3, side, side), PLAIN)
    for number, kind in enumerate(BACKGROUNDS):
        chosen = torch.nonzero(kinds == number)[:, 0]
        if len(chosen):
            out[chosen] = kind(len(chosen), side, generator)
    return out


def _colours(count: int, generator: torch.Generator) -> Float[Tensor, "{count} 3 1 1"]:
    """Random colours, many of them pale, as walls and floors are."""
    tone, pale = _uniform(generator, count, 1, 1, 1), _uniform(generator, count, 1, 1, 1)
    return tone + (1.0 - pale) * (_uniform(generator, count, 3, 1, 1) - tone)


def _one_colour(count: int, side: int, generator: torch.Generator) -> Tensor:
    return _colours(count, generator).expand(count, 3, side, side)


def _gradient(count: int, side: int, generator: torch.Generator) -> Tensor:
    """From one colour to another, in any direction."""
    angle = 2.0 * math.pi * _uniform(generator, count, 1, 1, 1)
    axis = torch.linspace(-0.5, 0.5, side)
    mix = (0.5 + angle.cos() * axis + angle.sin() * axis[:, None]).clamp(0.0, 1.0)
    first, second = _colours(count, generator), _colours(count, generator)
    return first + (second - first) * mix


def _room(count: int, side: int, generator: torch.Generator) -> Tensor:
    """A wall above a floor."""
    edge = _uniform(generator, count, 1, 1, 1, low=0.35, high=0.85) * side
    below = torch.sigmoid(2.0 * (torch.arange(float(side))[:, None] - edge))
    wall, floor = _colours(count, generator), _colours(count, generator)
    return (wall + (floor - wall) * below).expand(count, 3, side, side)


def _blobs(count: int, side: int, generator: torch.Generator) -> Tensor:
    """Soft patches of colour, as of things out of focus."""
    cells = int(torch.randint(3, 9, (), generator=generator))
    coarse = _colours(count, generator) + 0.16 * torch.randn(count, 3, cells, cells, generator=generator)
    return functional.interpolate(coarse, size=(side, side), mode="bicubic").clamp(0.0, 1.0)


def _grain(count: int, side: int, generator: torch.Generator) -> Tensor:
    """Fine noise about a colour, as of carpets and plaster."""
    cells = side // int(torch.randint(1, 4, (), generator=generator))
    fine = functional.interpolate(torch.randn(count, 3, cells, cells, generator=generator), size=(side, side))
    share = _uniform(generator, count, 1, 1, 1)
    fine = share * fine + (1.0 - share) * fine.mean(dim=1, keepdim=True)
    return (_colours(count, generator) + 0.12 * fine).clamp(0.0, 1.0)


def _checker(count: int, side: int, generator: torch.Generator) -> Tensor:
    """Tiles in two colours."""
    size = _uniform(generator, count, 1, 1, 1, low=8.0, high=32.0)
    start = side * _uniform(generator, count, 1, 1, 1)
    axis = torch.arange(float(side))
    odd = ((axis + start) // size + (axis[:, None] + start) // size) % 2
    first, second = _colours(count, generator), _colours(count, generator)
    return first + (second - first) * odd


BACKGROUNDS = (_one_colour, _gradient, _room, _blobs, _grain, _checker)
