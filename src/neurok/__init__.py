"""neurok brings static 3D objects to life.

Names are imported on first use, so ``import neurok`` is quick and loads no heavy package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurok.bodyplan.plan import BodyPlan as BodyPlan
    from neurok.core import Articulation as Articulation
    from neurok.core import Asset as Asset
    from neurok.core import Clip as Clip
    from neurok.core import Joint as Joint
    from neurok.core import Material as Material
    from neurok.core import MaterialField as MaterialField
    from neurok.core import Mesh as Mesh
    from neurok.core import Rollout as Rollout
    from neurok.core import material as material
    from neurok.doctor import diagnose as diagnose
    from neurok.doctor import repair as repair
    from neurok.dynamics import Body as Body
    from neurok.dynamics import World as World
    from neurok.dynamics import start as start
    from neurok.errors import NeurokError as NeurokError
    from neurok.generation.verb import generate as generate
    from neurok.hub import load_model as load_model
    from neurok.io import load as load
    from neurok.io import load_clip as load_clip
    from neurok.io import load_mesh as load_mesh
    from neurok.io import save as save
    from neurok.model import Model as Model
    from neurok.model import understand as understand
    from neurok.posing.verbs import pose as pose
    from neurok.posing.verbs import sample as sample
    from neurok.scene.output import render as render
    from neurok.scene.run import simulate as simulate
    from neurok.studio.page import show as show
    from neurok.verbs import articulate as articulate
    from neurok.verbs import infer as infer
    from neurok.verbs import plan as plan
    from neurok.verbs import propose_materials as propose_materials

__version__ = "0.1.0"

_HOMES = {
    "Articulation": "neurok.core",
    "Asset": "neurok.core",
    "Body": "neurok.dynamics",
    "BodyPlan": "neurok.bodyplan.plan",
    "Clip": "neurok.core",
    "Joint": "neurok.core",
    "Material": "neurok.core",
    "MaterialField": "neurok.core",
    "Mesh": "neurok.core",
    "Model": "neurok.model",
    "NeurokError": "neurok.errors",
    "Rollout": "neurok.core",
    "World": "neurok.dynamics",
    "articulate": "neurok.verbs",
    "diagnose": "neurok.doctor",
    "generate": "neurok.generation.verb",
    "infer": "neurok.verbs",
    "load": "neurok.io",
    "load_clip": "neurok.io",
    "load_mesh": "neurok.io",
    "load_model": "neurok.hub",
    "material": "neurok.core",
    "plan": "neurok.verbs",
    "pose": "neurok.posing.verbs",
    "propose_materials": "neurok.verbs",
    "render": "neurok.scene.output",
    "repair": "neurok.doctor",
    "sample": "neurok.posing.verbs",
    "save": "neurok.io",
    "show": "neurok.studio.page",
    "simulate": "neurok.scene.run",
    "understand": "neurok.model",
    "start": "neurok.dynamics",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'neurok' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
