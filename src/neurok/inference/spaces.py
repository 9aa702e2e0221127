"""Which poses an object can take: from what its file says, from weights, or by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from neurok.bodyplan.config import SIMULATED as SIMULATED
from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.errors import NeurokError
from neurok.geometry.topology import face_components
from neurok.inference.infer import Inference
from neurok.inference.plan import Thing, asset_of
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace

CLIP_MODES = 8
"""Coordinates of an object whose own animation spans its poses."""

SpaceName = Literal["auto", "joints", "clip", "learned", "elastic", "rigid"]

Learner = Callable[..., KinematicSpace | None]
"""Finds the poses of a mesh without any label, or with the file of its body plan; ``None`` when nothing moves."""


def space_of(thing: Thing, name: SpaceName = "auto", weights: Any = None, plan: Any = None) -> KinematicSpace:
    """The poses an object can take, for sampling and moving.

    Args:
        thing: An asset, a mesh, or what ``neurok.load`` reads.
        name: ``joints`` of its file, the span of the frames of its own ``clip``, or ``learned``: those of its body
            plan; ``auto`` takes the first of these there is.
        weights: Of the deformation model: a model, a ``.safetensors`` file or a hub id; the shipped ones by default.
        plan: Its body plan, or the file of one; a plan that is given is used whatever the file says of joints.

    Raises:
        NeurokError: If there is no such space, or only one pose.
    """
    return spaces_of(thing, name, weights, plan)[0]


def spaces_of(thing: Thing, name: SpaceName = "auto", weights: Any = None, plan: Any = None) -> list[KinematicSpace]:
    """Spaces in which to look for a pose, the simplest first; arguments as for ``space_of``.

    Joints and clips of a file are the only space. Learned poses are sought in the space of the body plan, and then in
    all that the prior holds.
    """
    asset, learned = asset_of(thing), list[KinematicSpace]()

    def learn(mesh: Mesh) -> KinematicSpace | None:
        learned.extend(learned_spaces(mesh, weights, plan))
        return learned[0] if learned else None

    name = "learned" if plan is not None and name == "auto" else name
    found = space_for(asset, name, learn)
    if not found.dim:
        from neurok.hub import has_weights

        why = "" if has_weights("deformation") else " No weights are shipped with this copy; name some with --weights."
        raise NeurokError(f"'{asset.mesh.name}' has no joints and no animation, so it has only the pose it is in.{why}")
    return learned or [found]


def learned_spaces(
    mesh: Mesh, weights: Any = None, plan: Any = None, joint_weights: Any = None
) -> list[KinematicSpace]:
    """The learned spaces of a mesh, the simplest first: that of its body plan, if anything moves, and the wide prior.

    Empty where nothing moves, or where there are no weights.
    """
    look = _look(mesh, weights, plan, joint_weights)
    if look is None:
        return []
    if look.is_of_points:
        return [look.point_space()]
    planned, wide = look.space, look.wide()
    return [space for space in (planned, wide) if space.dim and (space is planned or wide.screws.any())]


def learner(weights: Any = None) -> Learner:
    """What finds the poses of a mesh for a scene: those of its body plan, if anything moves and there are weights."""

    def learn(mesh: Mesh, plan: Any = None) -> KinematicSpace | None:
        look = _look(mesh, weights, plan)
        space = None if look is None else look.point_space() if look.is_of_points else look.likely(SIMULATED)
        return space if space is not None and space.dim else None

    return learn


def _look(mesh: Mesh, weights: Any, plan: Any, joint_weights: Any = None) -> Inference | None:
    from neurok.bodyplan.plan_file import read_plan
    from neurok.hub import has_weights

    if weights is None and not has_weights("deformation"):
        return None
    given = read_plan(plan, mesh) if isinstance(plan, str | Path) else plan
    return Inference.of(mesh, weights, plan=given, joint_weights=joint_weights)


def space_for(asset: Asset, name: SpaceName = "auto", learner: Learner | None = None) -> KinematicSpace:
    """The poses an object can take, ``rigid`` ones among them.

    Args:
        asset: The object.
        name: ``joints`` of its file, the span of the frames of its own ``clip``, ``learned`` from other objects, or
            ``rigid``: only the pose it has, so that it moves as a whole. ``elastic`` begins as that, too: what it is
            made of says later how it bends. ``auto`` takes the first of these there is,
            but asks for learned poses only where a mesh has several components: a single solid has no parts to move.
        learner: What finds learned poses.
    """
    all_fixed = asset.articulation is not None and asset.articulation.dof == 0
    makers: dict[str, Callable[[], KinematicSpace | None]] = {
        "joints": lambda: _of_joints(asset),
        "clip": lambda: _of_clip(asset),
        "learned": lambda: None if learner is None else learner(asset.mesh),
        "elastic": lambda: _of_one_pose(asset),
        "rigid": lambda: _of_one_pose(asset),
    }
    if name == "auto":  # a file that says of all its joints that they are fixed is believed
        chances = ["rigid"] if all_fixed else [key for key in makers if key != "learned" or _has_parts(asset.mesh)]
        return next(space for key in chances if (space := makers[key]()) is not None)
    found = makers[name]()
    if found is None:
        lack = {"joints": "no joints", "clip": "no animation", "learned": "no weights, or nothing that moves"}[name]
        raise NeurokError(f"'{asset.mesh.name}' has {lack}, so its space cannot be '{name}'; leave it at 'auto'.")
    return found


def _has_parts(mesh: Mesh) -> bool:
    return int(face_components(mesh.vertices, mesh.faces, mesh.face_surfaces).max(initial=0)) > 0


def _of_joints(asset: Asset) -> ArticulatedSpace | None:
    return ArticulatedSpace(asset.articulation) if asset.articulation is not None and asset.articulation.dof else None


def _of_clip(asset: Asset) -> LinearSpace | None:
    clip = next((clip for clip in asset.clips if clip.frame_count > 1), None)
    return None if clip is None else LinearSpace.from_clip(clip, CLIP_MODES)


def _of_one_pose(asset: Asset) -> ArticulatedSpace:
    if asset.articulation is not None and not asset.articulation.dof:
        return ArticulatedSpace(asset.articulation)
    return ArticulatedSpace(Articulation(asset.mesh, (Joint(),) * asset.mesh.part_count, name=asset.mesh.name))
