"""Moved to ``neurok.geometry.operators``."""

from neurok.geometry.operators import closed_components as closed_components
from neurok.geometry.operators import mass_properties as mass_properties
from neurok.geometry.operators import second_moment as second_moment
