"""The rigid engine: objects that are all joints, moved by MuJoCo."""

from neurok.dynamics.rigid.config import MujocoConfig as MujocoConfig
from neurok.dynamics.rigid.engine import MujocoEngine as MujocoEngine
