"""Spaces of poses: reduced coordinates in, vertex positions out."""

from neurok.kinematics.space import FeatureSpace as FeatureSpace
from neurok.kinematics.space import KinematicSpace as KinematicSpace
