"""Particles on a grid (the material point method): full-order motion of many materials. Arrays in, arrays out."""

from neurok.dynamics.particles.engine_config import SolverConfig as SolverConfig
from neurok.dynamics.particles.laws import Energies as Energies
from neurok.dynamics.particles.solver import Solver as Solver
from neurok.dynamics.particles.solver import StepPlan as StepPlan
from neurok.dynamics.particles.solver import plan_steps as plan_steps
from neurok.dynamics.particles.state import Law as Law
from neurok.dynamics.particles.state import Obstacle as Obstacle
from neurok.dynamics.particles.state import ParticleSet as ParticleSet
from neurok.dynamics.particles.state import Plane as Plane
from neurok.dynamics.particles.state import SheetSet as SheetSet
from neurok.dynamics.particles.state import Surroundings as Surroundings
