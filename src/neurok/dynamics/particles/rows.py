"""Where each number of a particle stands: one table of float32, a row per number and a column per particle."""

from __future__ import annotations

POSITION = 0
REMAINDER = 3
"""What rounding took from the positions: slow motion would stand still without it."""

VELOCITY = 6
AFFINE = 9
"""Velocity gradient C of the affine particle-in-cell transfer [1/s], row by row."""

STATE = 18
"""Nine numbers. Elastic: F - I. Hencky laws: b - I (xx xy xz yy yz zz), plastic strain, kept dilation. Fluid: J - 1.
Rigid: place in its part. The identity is left out since small strains would drown in its rounding."""

MASS = 27
VOLUME = 28
MU = 29
LAMBDA = 30
FIRST = 31
SECOND = 32
"""Two numbers of the law: see ``laws.law_rows``."""

VISCOSITY = 33
DAMPING = 34
RADIUS = 35
"""How far its stuff reaches around a particle [m]: where it touches."""

REACH = 36
"""The same towards the first plane, as what is drawn around the particle reaches now [m]."""

COUNT = 37

SLACK = 8
"""Columns beyond the last particle, so that eight can always be read."""
