"""Unit dual quaternions (w, x, y, z | w, x, y, z): rigid motions that can be averaged."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

Dual = Float[Tensor, "*B 8"]


def from_residual(residual: Dual) -> Dual:
    """The rigid motion that a residual from identity stands for; zero is no motion."""
    return unit(residual + torch.eye(1, 8, dtype=residual.dtype, device=residual.device)[0])


def from_shift(shift: Float[Tensor, "*B 3"]) -> Dual:
    """A motion without turning."""
    one, none = torch.ones_like(shift[..., :1]), torch.zeros_like(shift)
    return torch.cat([one, none, none[..., :1], 0.5 * shift], dim=-1)


def unit(dual: Dual) -> Dual:
    """Real part of length one, dual part at a right angle to it."""
    scale = dual[..., :4].square().sum(dim=-1, keepdim=True).clamp_min(1e-12).rsqrt()
    real, other = dual[..., :4] * scale, dual[..., 4:] * scale
    return torch.cat([real, other - real * (real * other).sum(dim=-1, keepdim=True)], dim=-1)


def compose(after: Dual, before: Dual) -> Dual:
    """One motion followed by another."""
    (real, other), (first, second) = after.split(4, dim=-1), before.split(4, dim=-1)
    both = quaternion_product(real, second) + quaternion_product(other, first)
    return torch.cat([quaternion_product(real, first), both], dim=-1)


def inverse(dual: Dual) -> Dual:
    """The motion back, of a unit dual quaternion."""
    return dual * torch.tensor([1.0, -1, -1, -1, 1, -1, -1, -1], dtype=dual.dtype, device=dual.device)


def rotation(dual: Dual) -> Float[Tensor, "*B 3 3"]:
    return quaternion_to_matrix(dual[..., :4])


def shift(dual: Dual) -> Float[Tensor, "*B 3"]:
    """Where the origin goes."""
    w, v = dual[..., :1], dual[..., 1:4]
    return 2.0 * (w * dual[..., 5:] - dual[..., 4:5] * v + torch.linalg.cross(v, dual[..., 5:]))


def move(dual: Dual, points: Float[Tensor, "*B 3"]) -> Float[Tensor, "*B 3"]:
    """Points carried by one motion each."""
    w, v = dual[..., :1], dual[..., 1:4]
    turned = points + 2.0 * torch.linalg.cross(v, torch.linalg.cross(v, points) + w * points)
    return turned + shift(dual)


def blend(
    duals: Float[Tensor, "B P 8"], index: Int[Tensor, "B Q K"], weight: Float[Tensor, "B Q K"]
) -> Float[Tensor, "B Q 8"]:
    """Linear blending: signs brought to the hemisphere of the first, summed, made unit again."""
    near = duals.gather(1, index.flatten(1)[..., None].expand(-1, -1, 8)).unflatten(1, index.shape[1:])
    agree = (near[..., :4] * near[..., :1, :4]).sum(dim=-1)
    signed = torch.where(agree < 0, -weight, weight)
    return unit((near * signed[..., None]).sum(dim=2))


def quaternion_to_matrix(quaternion: Float[Tensor, "*B 4"]) -> Float[Tensor, "*B 3 3"]:
    """Rotation of a (w, x, y, z) quaternion; it is normalised first."""
    w, x, y, z = (quaternion / quaternion.norm(dim=-1, keepdim=True)).unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(rows, dim=-1).unflatten(-1, (3, 3))


def quaternion_product(a: Float[Tensor, "*B 4"], b: Float[Tensor, "*B 4"]) -> Float[Tensor, "*B 4"]:
    """The rotation ``b`` followed by ``a``."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    real = aw * bw - (av * bv).sum(dim=-1, keepdim=True)
    return torch.cat([real, aw * bv + bw * av + torch.linalg.cross(av, bv)], dim=-1)
