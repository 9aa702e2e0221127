"""Moved to ``neurok.core.articulation``."""

from neurok.core.articulation import Fields as Fields
from neurok.core.articulation import carried as carried
from neurok.core.articulation import cosines as cosines
from neurok.core.articulation import joint_fields as joint_fields
