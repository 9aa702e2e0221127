"""The reduced engine: Lagrangian mechanics in the few coordinates of a space of poses."""

from neurok.dynamics.reduced.config import ReducedConfig as ReducedConfig
from neurok.dynamics.reduced.engine import ReducedEngine as ReducedEngine
