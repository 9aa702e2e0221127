"""The verbs that need only the model of an object: ``plan``, ``articulate``, ``infer``, ``propose_materials``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from neurok.bodyplan.plan import BodyPlan
from neurok.core import Asset
from neurok.core.select import select_region
from neurok.errors import NeurokError
from neurok.inference.materials import Proposals, propose
from neurok.inference.plan import Method
from neurok.kinematics import KinematicSpace
from neurok.model import PartsFrom, Thing, Weights, understand

if TYPE_CHECKING:
    from neurok.inference.points import ReductionMode


def plan(
    thing: Thing,
    *,
    labels: Int[np.ndarray, " N"] | None = None,
    method: Method | None = None,
    parts: PartsFrom | None = None,
    weights: Weights | None = None,
) -> BodyPlan:
    """The body plan of an object: bodies, contacts, and how each body may move; arguments as in ``understand``."""
    return understand(thing, parts=parts if labels is None else labels, method=method, weights=weights).plan


def articulate(thing: Thing, *, plan: BodyPlan | str | Path | None = None, **options: Any) -> Asset:
    """The object with the joints of its body plan, ready to be written or simulated.

    Where nodes of its own animation turn and slide as wheels and lids do, these are its joints. What bends and has no
    joint gets bones instead: a clip with a skin. Joints that are not likely enough are fixed; a plan that is handed
    over is taken as it is.

    Args:
        thing: A mesh, an asset, a model, or what ``neurok.load`` reads.
        plan: Its body plan, if it is at hand or was edited.
        options: Those of ``neurok.understand``.
    """
    return understand(thing, plan=plan, **options).articulated()


def infer(
    thing: Thing,
    model: Any = None,
    *,
    plan: BodyPlan | None = None,
    joint_weights: Any = None,
    piece_weights: Any = None,
    parts: PartsFrom | None = None,
    latent: bool = False,
    mode: ReductionMode = "gram",
    dim: int | None = None,
) -> KinematicSpace:
    """The plausible poses of a mesh; joints and clips of its file are not used.

    What is rigid moves on the joints of the body plan, exactly, down any chain; what bends and has none moves on bones
    found from its surface. ``space.sample(8)`` draws plausible states, ``neurok.simulate(space)`` moves it.

    Args:
        thing: A mesh, an asset, a model, or what ``neurok.load`` reads.
        model: Weights of the deformation network: what ``load_model`` returns or takes; the shipped ones by default.
        plan: The body plan, if it is at hand or was edited.
        joint_weights: Weights of the joint network; the shipped ones by default.
        piece_weights: Weights of the grouping network; the shipped ones by default.
        parts: Whether parts that the ``file`` names are its bodies, or connected ``pieces`` are grouped.
        latent: The latent of the deformation network instead (NeuROK), without a body plan.
        mode: How the latent is reduced: ``gram``, ``paper`` or ``none``.
        dim: Number of its coordinates; by default enough for 99.99 % of the motion, at most 16.

    Raises:
        NeurokError: If ``model``, ``mode`` or ``dim`` is given without ``latent``, or is impossible.
    """
    given = any(weights is not None for weights in (model, joint_weights, piece_weights))
    weights = Weights(model, joint_weights, piece_weights) if given else None
    found = understand(thing, plan=plan, parts=parts, weights=weights)
    if latent:
        return found.latent_space(mode, dim)
    if model is not None or mode != "gram" or dim is not None:
        raise NeurokError("model, mode and dim are of the latent space: say latent=True with them.")
    return next(iter(found.learned_spaces()), found.planned)


def propose_materials(thing: Thing, *, given: Mapping[str, str] | None = None, names: bool = True) -> Proposals:
    """A material for each region (part or surface) of an object, with a reason and a confidence.

    Args:
        thing: A mesh, an asset, a model, or what ``neurok.load`` reads.
        given: Materials that are known, by part, surface or ``all``.
        names: Whether words in names are read; without them only appearance and shape count.

    Raises:
        NeurokError: If ``given`` names a part or a material that there is not.
    """
    found = understand(thing, materials=given)
    if not names:
        return propose(found.asset, names=False)
    for name in given or {}:
        select_region(found.mesh, name)
        if not found.materials.names_regions(name):
            raise NeurokError(f"{name!r} is only a piece of a part; materials are set for whole parts or surfaces.")
    return found.materials
