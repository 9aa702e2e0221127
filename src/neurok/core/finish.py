"""Moved to ``neurok.core.surface``."""

from neurok.core.surface import ROLES as ROLES
