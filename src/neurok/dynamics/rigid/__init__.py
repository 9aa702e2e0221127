"""The rigid engine: objects that are all joints, moved by MuJoCo."""

from neurok.dynamics.rigid.engine import MujocoEngine as MujocoEngine
from neurok.dynamics.rigid.model import MujocoConfig as MujocoConfig
