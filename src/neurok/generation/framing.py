"""Pictures with alpha as networks take them: the object in the middle, of one size, before a plain ground."""

from __future__ import annotations

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional

PLAIN = 0.86
"""The grey behind what was cut out (sRGB): white things stand out from it as well as dark ones."""

MARGIN = 0.07
"""Free space around what was cut out, as a share of the picture's side."""


def framed(pictures: UInt8[Tensor, "B S S 4"], margin: float = MARGIN) -> UInt8[Tensor, "B S S 4"]:
    """Pictures with alpha, their objects brought to the middle and to one size, as after a cut-out."""
    side, rows = pictures.shape[1], []
    for alpha in pictures[..., 3] > 127:
        down, across = (torch.nonzero(alpha.any(dim=axis))[:, 0].float() for axis in (1, 0))
        if len(down) == 0:
            down = across = torch.tensor([0.0, side - 1.0])
        size = max(float(down[-1] - down[0]), float(across[-1] - across[0])) + 1.0
        zoom = size / (1.0 - 2.0 * margin) / side
        middle = [float(ends[0] + ends[-1] + 1.0) / side - 1.0 for ends in (across, down)]
        rows.append([[zoom, 0.0, middle[0]], [0.0, zoom, middle[1]]])
    grid = functional.affine_grid(torch.tensor(rows), [len(rows), 4, side, side], align_corners=False)
    moved = functional.grid_sample(premultiplied(pictures), grid, align_corners=False)
    colours = moved[:, :3] / moved[:, 3:].clamp(min=1e-3)
    return (255.0 * torch.cat([colours, moved[:, 3:]], dim=1)).round().clamp(0, 255).byte().permute(0, 2, 3, 1)


def on_plain(pictures: UInt8[Tensor, "B S S 4"]) -> Float[Tensor, "B 3 S S"]:
    """Pictures with alpha on the plain background, otherwise as they are."""
    rgba = premultiplied(pictures)
    return rgba[:, :3] + PLAIN * (1.0 - rgba[:, 3:])


def premultiplied(pictures: UInt8[Tensor, "B S S 4"]) -> Float[Tensor, "B 4 S S"]:
    """Colours times alpha, and alpha, from 0 to 1."""
    rgba = pictures.permute(0, 3, 1, 2).float() / 255.0
    return torch.cat([rgba[:, :3] * rgba[:, 3:], rgba[:, 3:]], dim=1)
