"""Spaces of poses: reduced coordinates in, vertex positions out."""

from neurok.kinematics.articulated import ArticulatedSpace as ArticulatedSpace
from neurok.kinematics.elastic import ElasticSpace as ElasticSpace
from neurok.kinematics.elastic import elastic_space as elastic_space
from neurok.kinematics.fit import Fit as Fit
from neurok.kinematics.fit import fit_vertices as fit_vertices
from neurok.kinematics.linear import LinearSpace as LinearSpace
from neurok.kinematics.space import FreeBase as FreeBase
from neurok.kinematics.space import KinematicSpace as KinematicSpace
from neurok.kinematics.space import decode as decode
