"""Muon: steps for weight matrices are made orthogonal, so that every direction learns at the same pace.

Torch has one too, but it iterates in bfloat16, which takes fifty times longer than float32 on CPUs without such units.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from neurok.train.config import RunConfig


def make_optimizers(module: torch.nn.Module, run: RunConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for everything else."""
    matrices = [p for name, p in module.named_parameters() if p.ndim == 2 and "blocks" in name]
    chosen = {id(p) for p in matrices}
    others = [p for p in module.parameters() if id(p) not in chosen]
    return [
        Muon(matrices, run.matrix_rate, run.momentum, run.weight_decay),
        torch.optim.AdamW(others, run.rate, weight_decay=run.weight_decay),
    ]


def set_rates(optimizers: list[torch.optim.Optimizer], run: RunConfig, step: int) -> None:
    """Step sizes of a step, for the optimizers that ``make_optimizers`` makes."""
    for optimizer, rate in zip(optimizers, (run.matrix_rate, run.rate), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate * run.rate_factor(step)


def orthogonalise(matrices: Tensor, rounds: int = 5) -> Tensor:
    """The nearest orthogonal matrices, roughly, of a batch (Newton–Schulz with the quintic of Jordan et al.)."""
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.transpose(-1, -2) if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(rounds):
        gram = x @ x.transpose(-1, -2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.transpose(-1, -2) if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum, then orthogonalised steps; for 2D weights of hidden layers only."""

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.01) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):  # type: ignore[no-untyped-def, override]
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in shapes.items():
                updates = []
                for parameter in parameters:
                    assert parameter.grad is not None
                    buffer = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                    buffer.lerp_(parameter.grad, 1 - group["momentum"])
                    updates.append(parameter.grad.lerp(buffer, group["momentum"]))
                size = max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(parameters, orthogonalise(torch.stack(updates)), strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(update, alpha=-group["lr"] * size)
