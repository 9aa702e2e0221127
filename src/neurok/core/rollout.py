"""Moved to ``neurok.core.clip``."""

from neurok.core.clip import Rollout as Rollout
from neurok.core.clip import RolloutStatus as RolloutStatus
