"""Which engine takes a scene, where nobody says."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Literal, get_args

from neurok.dynamics.body import Body
from neurok.dynamics.condition import World
from neurok.dynamics.engine import Engine
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.reduced.engine import IntegratorName, ReducedEngine
from neurok.dynamics.rigid.engine import MujocoEngine, refusal
from neurok.errors import NeurokError, check_choice

EngineName = Literal["auto", "reduced", "mujoco", "particles"]


def engine_for(name: EngineName, bodies: Sequence[Body], world: World, integrator: IntegratorName = "auto") -> Engine:
    """The engine of a name; ``auto`` takes MuJoCo for rigid things that can touch something, if it is installed.

    Raises:
        NeurokError: If there is no such engine, or an integrator is named beside another than the reduced one.
    """
    check_choice("engine", name, get_args(EngineName))
    if name in ("mujoco", "particles"):
        if integrator != "auto":
            raise NeurokError(
                f"The integrator '{integrator}' belongs to the engine 'reduced'; leave it at 'auto' with '{name}'."
            )
        return MujocoEngine(reason="asked for") if name == "mujoco" else ParticleEngine(reason="asked for")
    if name == "reduced":
        return ReducedEngine(integrator, reason="asked for")
    reason = _against(bodies, world, integrator)
    if reason:
        return ReducedEngine(integrator, reason=reason)
    return MujocoEngine(reason="everything is rigid and can touch something")


def _against(bodies: Sequence[Body], world: World, integrator: IntegratorName) -> str:
    """Why MuJoCo is not taken; empty if it is."""
    if integrator != "auto":
        return f"the integrator '{integrator}' was asked for"
    refused = refusal(bodies)
    if refused:
        return refused
    if not world.has_contact and len(bodies) == 1:
        return "nothing can be touched, and it keeps the energy"
    if importlib.util.find_spec("mujoco") is None:
        return "MuJoCo is not installed (the extra 'sim')"
    return ""
