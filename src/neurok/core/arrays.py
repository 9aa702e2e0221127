"""Moved to ``neurok.core.mesh``."""

from neurok.core.mesh import LARGEST as LARGEST
from neurok.core.mesh import frozen_array as frozen_array
from neurok.core.mesh import within_reach as within_reach
