"""Colours as files store them (display-referred, sRGB) and as the nouns do (linear light)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def linear_from_srgb(colors: Float[np.ndarray, "N C"]) -> Float[np.ndarray, "N 4"]:
    """RGB or RGBA from 0..1 sRGB to linear light; alpha is left as it is and 1 when absent."""
    colors = np.clip(np.asarray(colors, dtype=np.float64), 0.0, 1.0)
    rgb = colors[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    alpha = colors[:, 3:4] if colors.shape[1] > 3 else np.ones((len(colors), 1))
    return np.concatenate([linear, alpha], axis=1)


def srgb_from_linear(colors: Float[np.ndarray, "N 4"]) -> Float[np.ndarray, "N 4"]:
    """RGBA from linear light to 0..1 sRGB; alpha is left as it is."""
    colors = np.clip(colors, 0.0, 1.0)
    rgb = colors[:, :3]
    display = np.where(rgb <= 0.0031308, rgb * 12.92, 1.055 * rgb ** (1 / 2.4) - 0.055)
    return np.concatenate([display, colors[:, 3:]], axis=1)


def srgb_bytes(colors: Float[np.ndarray, "N 4"]) -> np.ndarray:
    """RGBA from linear light to 8-bit sRGB."""
    return np.round(srgb_from_linear(colors) * 255).astype(np.uint8)
