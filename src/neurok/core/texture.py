"""Moved to ``neurok.core.surface``."""

from neurok.core.surface import Texture as Texture
