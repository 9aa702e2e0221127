"""Rigid motions as exponentials of twists, for the networks.

A twist is a rotation vector and a velocity. Turning about a fixed hinge and sliding along a fixed line are straight
lines through zero in twists, at any angle and length.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

SMALL = 0.05
"""Squared angles below this use power series, where the quotients would lose digits or their derivatives."""


def exponential(twists: Float[Tensor, "*B 6"]) -> tuple[Float[Tensor, "*B 3 3"], Float[Tensor, "*B 3"]]:
    """Rotations and shifts of twists."""
    omega, velocity = twists[..., :3], twists[..., 3:]
    square = (omega * omega).sum(dim=-1)
    small = square < SMALL
    safe = torch.where(small, torch.ones_like(square), square)
    angle = safe.sqrt()
    series = lambda a, b, c, d: a + square * (b + square * (c + square * d))  # noqa: E731
    sine = torch.where(small, series(1.0, -1 / 6, 1 / 120, -1 / 5040), angle.sin() / angle)
    cosine = torch.where(small, series(1 / 2, -1 / 24, 1 / 720, -1 / 40320), (1 - angle.cos()) / safe)
    rest = torch.where(small, series(1 / 6, -1 / 120, 1 / 5040, -1 / 362880), (angle - angle.sin()) / (safe * angle))
    x, y, z = omega.unbind(-1)
    zero = torch.zeros_like(x)
    across = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1).unflatten(-1, (3, 3))
    eye = torch.eye(3, dtype=twists.dtype, device=twists.device)
    twice = omega[..., :, None] * omega[..., None, :] - square[..., None, None] * eye
    mix = lambda f, g: eye + f[..., None, None] * across + g[..., None, None] * twice  # noqa: E731
    return mix(sine, cosine), (mix(cosine, rest) @ velocity[..., None])[..., 0]


@torch.no_grad()
def logarithm(turns: Float[Tensor, "*B 3 3"], shifts: Float[Tensor, "*B 3"]) -> Float[Tensor, "*B 6"]:
    """The shortest twists of rigid motions; for data, so without derivatives."""
    omega = rotation_vector(turns)
    angle = omega.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    axis, half = omega / angle, 0.5 * angle
    lean = half / half.tan()
    velocity = lean * shifts + (1.0 - lean) * axis * (axis * shifts).sum(dim=-1, keepdim=True)
    return torch.cat([omega, velocity - half * torch.linalg.cross(axis, shifts)], dim=-1)


def rotation_vector(turns: Float[Tensor, "*B 3 3"]) -> Float[Tensor, "*B 3"]:
    """Axis times angle, at most a half turn; by the largest part of the quaternion, so exact at any angle."""
    diagonal = turns.diagonal(dim1=-2, dim2=-1)
    trace = diagonal.sum(dim=-1, keepdim=True)
    own = torch.cat([1 + trace, 1 + 2 * diagonal - trace], dim=-1)
    flipped = turns.mT
    a, b, c = ((turns - flipped)[..., i, j] for i, j in ((2, 1), (0, 2), (1, 0)))
    d, e, f = ((turns + flipped)[..., i, j] for i, j in ((1, 0), (0, 2), (2, 1)))
    w, x, y, z = own.unbind(-1)
    rows = torch.stack([w, a, b, c, a, x, d, e, b, d, y, f, c, e, f, z], dim=-1).unflatten(-1, (4, 4))
    best = own.argmax(dim=-1)[..., None, None].expand(*own.shape[:-1], 1, 4)
    quaternion = torch.nn.functional.normalize(rows.gather(-2, best)[..., 0, :], dim=-1)
    quaternion = torch.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    part = quaternion[..., 1:]
    length = part.norm(dim=-1, keepdim=True)
    angle = 2 * torch.atan2(length, quaternion[..., :1])
    return torch.where(length > 1e-7, part * angle / length.clamp_min(1e-7), 2 * part)
