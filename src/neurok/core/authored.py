"""Moved to ``neurok.core.mesh``."""

from neurok.core.mesh import joined_uv_sets as joined_uv_sets
