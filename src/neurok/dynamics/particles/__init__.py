"""Particles on a grid (the material point method): full-order motion of many materials. Arrays in, arrays out."""

from neurok.dynamics.particles.config import SolverConfig as SolverConfig
from neurok.dynamics.particles.energy import Energies as Energies
from neurok.dynamics.particles.solver import Solver as Solver
from neurok.dynamics.particles.state import Law as Law
from neurok.dynamics.particles.state import Obstacle as Obstacle
from neurok.dynamics.particles.state import ParticleSet as ParticleSet
from neurok.dynamics.particles.state import Plane as Plane
from neurok.dynamics.particles.state import SheetSet as SheetSet
from neurok.dynamics.particles.state import Surroundings as Surroundings
from neurok.dynamics.particles.steps import StepPlan as StepPlan
from neurok.dynamics.particles.steps import plan_steps as plan_steps
