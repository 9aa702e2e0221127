"""Parts of real models: the autoencoder with split codes, its whole-object variant, and the fitting of forms."""

from pathlib import Path

WEIGHTS = Path(__file__).parents[1] / "weights" / "parts.safetensors"
"""The trained part autoencoder: what fits real models, and what no verb of neurok reads."""
