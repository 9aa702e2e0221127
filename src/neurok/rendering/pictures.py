"""Moved to ``neurok.rendering.files``."""

from neurok.rendering.files import render_mesh as render_mesh
