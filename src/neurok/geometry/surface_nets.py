"""Moved to ``neurok.geometry.level_set``."""

from neurok.geometry.level_set import Field as Field
from neurok.geometry.level_set import grid_axes as grid_axes
from neurok.geometry.level_set import onto_surface as onto_surface
from neurok.geometry.level_set import surface_nets as surface_nets
