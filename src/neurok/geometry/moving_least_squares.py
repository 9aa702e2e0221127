"""Moved to ``neurok.geometry.transfer``."""

from neurok.geometry.transfer import affine_weights as affine_weights
from neurok.geometry.transfer import local_weights as local_weights
