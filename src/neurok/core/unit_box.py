"""Moved to ``neurok.core.mesh``."""

from neurok.core.mesh import UnitBox as UnitBox
