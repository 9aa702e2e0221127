"""Moved to ``neurok.geometry.level_set``."""

from neurok.geometry.level_set import MELT as MELT
from neurok.geometry.level_set import MeltConfig as MeltConfig
from neurok.geometry.level_set import melted as melted
