"""Which poses an object can take: from what its file says, from weights, or by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from neurok.bodyplan.config import SIMULATED as SIMULATED
from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.errors import NeurokError
from neurok.inference.infer import Inference
from neurok.inference.plan import Thing, asset_of
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.tracks import tracked_space

CLIP_MODES = 8
"""Coordinates of an object whose own animation spans its poses."""

SpaceName = Literal["auto", "joints", "clip", "learned", "elastic", "rigid"]

Learner = Callable[..., KinematicSpace | None]
"""Finds the poses of a mesh without any label, or with the file of its body plan; ``None`` when nothing moves."""


def space_of(thing: Thing, name: SpaceName = "auto", weights: Any = None, plan: Any = None) -> KinematicSpace:
    """The poses an object can take, for sampling and moving.

    Args:
        thing: An asset, a mesh, or what ``neurok.load`` reads.
        name: ``joints`` of its file, those behind its own ``clip``, or ``learned``: those of its body plan that are
            likely; ``auto`` takes the first of these there is.
        weights: Of the deformation model: a model, a ``.safetensors`` file or a hub id; the shipped ones by default.
        plan: Its body plan, or the file of one; a plan that is given is used whatever the file says of joints.

    Raises:
        NeurokError: If there is no such space, or only one pose.
    """
    asset = asset_of(thing)
    chosen = "learned" if plan is not None and name == "auto" else name
    found = space_for(asset, chosen, lambda mesh: learner(weights)(mesh, plan))
    if not found.dim:
        raise NeurokError(_one_pose(asset))
    return found


def sampled_space(thing: Thing, name: SpaceName = "auto", weights: Any = None, plan: Any = None) -> KinematicSpace:
    """The space that states are drawn from: that of ``space_of``, with bones for what bends and has no joints.

    Bones keep limbs whole however far they turn; a sum of twists is for small bends, and for engines.
    """
    found = space_of(thing, name, weights, plan)
    screws = found.learned_bends
    if found.kind != "learned" or screws is not found or (found.rigid_joints is not None and found.rigid_joints.dof):
        return found
    return skeleton_space(found.rest) or found


def spaces_of(
    thing: Thing, name: SpaceName = "auto", weights: Any = None, plan: Any = None, possible: bool = False
) -> list[KinematicSpace]:
    """Spaces in which to look for a pose, the simplest first; arguments as for ``space_of``.

    Joints and clips of a file are the only space. Learned poses are sought in the space of the body plan, then (if
    asked for) along joints that are only ``possible``, and then in all that the prior holds.
    """
    asset, learned = asset_of(thing), list[KinematicSpace]()

    def learn(mesh: Mesh) -> KinematicSpace | None:
        learned.extend(learned_spaces(mesh, weights, plan, possible=possible))
        return learned[0] if learned else None

    name = "learned" if plan is not None and name == "auto" else name
    found = space_for(asset, name, learn)
    if not found.dim:
        raise NeurokError(_one_pose(asset))
    return learned or [found]


def _one_pose(asset: Asset) -> str:
    """Why there is nothing to draw or to look in."""
    from neurok.hub import has_weights

    found = ""
    if not has_weights("deformation"):
        found = " No weights are shipped with this copy; name some with --weights."
    elif asset.articulation is None and not asset.clips:
        found = f" Its body plan has nothing that is likely to move (at least {SIMULATED:.0%}); correct it with --plan."
    return f"'{asset.mesh.name}' has no joints and no animation, so it has only the pose it is in.{found}"


def learned_spaces(
    mesh: Mesh,
    weights: Any = None,
    plan: Any = None,
    joint_weights: Any = None,
    piece_weights: Any = None,
    possible: bool = False,
) -> list[KinematicSpace]:
    """The learned spaces of a mesh, the simplest first: that of its body plan, if anything moves, joints that are only
    ``possible`` if asked for (a target shows that something moves), and the wide prior.

    Where something bends, or nothing has a joint, bones found from the surface take the place of the wide prior: they
    follow limbs closer.
    Empty where nothing moves, or where there are no weights.
    """
    look = _look(mesh, weights, plan, joint_weights, piece_weights)
    if look is None:
        return []
    if look.is_of_points:
        return [look.point_space()]
    planned, wide = look.space, look.wide()
    found = [space for space in (planned, wide) if space.dim and (space is planned or wide.screws.any())]
    if possible and look.possible is not None:
        found.insert(1 if planned.dim else 0, look.possible)
    bones = skeleton_space(look.mesh, loose=True) if look.plan.bends or not planned.dim else None
    return found if bones is None else [space for space in found if space is not wide] + [bones]


def learner(weights: Any = None) -> Learner:
    """What finds the poses of a mesh for a scene: those of its body plan, if anything moves and there are weights."""

    def learn(mesh: Mesh, plan: Any = None) -> KinematicSpace | None:
        look = _look(mesh, weights, plan)
        space = None if look is None else look.point_space() if look.is_of_points else look.likely(SIMULATED)
        return space if space is not None and space.dim else None

    return learn


def _look(
    mesh: Mesh, weights: Any, plan: Any, joint_weights: Any = None, piece_weights: Any = None
) -> Inference | None:
    from neurok.bodyplan.plan_file import read_plan
    from neurok.hub import has_weights

    if weights is None and not has_weights("deformation"):
        return None
    given = read_plan(plan, mesh) if isinstance(plan, str | Path) else plan
    return Inference.of(mesh, weights, plan=given, joint_weights=joint_weights, piece_weights=piece_weights)


def space_for(asset: Asset, name: SpaceName = "auto", learner: Learner | None = None) -> KinematicSpace:
    """The poses an object can take, ``rigid`` ones among them.

    Args:
        asset: The object.
        name: ``joints`` of its file, those behind its own ``clip`` (or the span of its frames), ``learned`` ones of its
            body plan, or ``rigid``: only the pose it has, so that it moves as a whole. ``elastic`` begins as that, too:
            what it is made of says later how it bends. ``auto`` takes the first of these there is.
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
        chances = ["rigid"] if all_fixed else list(makers)
        return next(space for key in chances if (space := makers[key]()) is not None)
    found = makers[name]()
    if found is None:
        lack = {"joints": "no joints", "clip": "no animation", "learned": "no weights, or nothing that moves"}[name]
        raise NeurokError(f"'{asset.mesh.name}' has {lack}, so its space cannot be '{name}'; leave it at 'auto'.")
    return found


def _of_joints(asset: Asset) -> ArticulatedSpace | None:
    return ArticulatedSpace(asset.articulation) if asset.articulation is not None and asset.articulation.dof else None


def _of_clip(asset: Asset) -> KinematicSpace | None:
    """The joints behind the animation, or, where no rigid handles carry it, the span of its frames."""
    clip = next((clip for clip in asset.clips if clip.frame_count > 1), None)
    if clip is None:
        return None
    return tracked_space(asset.mesh, asset.clips) or LinearSpace.from_clip(clip, CLIP_MODES)


def _of_one_pose(asset: Asset) -> ArticulatedSpace:
    if asset.articulation is not None and not asset.articulation.dof:
        return ArticulatedSpace(asset.articulation)
    return ArticulatedSpace(Articulation(asset.mesh, (Joint(),) * asset.mesh.part_count, name=asset.mesh.name))


def reason(asset: Asset, space: KinematicSpace, name: SpaceName = "auto", planned: bool = False) -> str:
    """In one sentence which space an object got, and why.

    Args:
        asset: The object.
        space: What was found for it.
        name: What was asked for.
        planned: Whether a body plan was handed over.
    """
    joints = space.rigid_joints
    count = 0 if joints is None else joints.dof
    if space.stiffness is not None:
        return f"{space.kind}: it is soft, so {_counted(space.dim - count, 'bend')} of its material move it."
    if name in ("rigid", "elastic"):
        return f"{name}: asked for."
    if not space.dim:
        fixed = asset.articulation is not None and not asset.articulation.dof
        why = "its file says that all joints are fixed" if fixed else "nothing of its body plan is likely to move"
        return f"rigid: {why}, so it moves as a whole."
    if count and asset.articulation is not None and name != "learned" and not planned:
        return f"joints: {_counted(count, 'joint')} of its file."
    if asset.clips and name != "learned" and not planned:
        ways = {
            "joints": f"{_counted(count, 'joint')} behind its animation",
            "bones": f"{space.dim} turns and slides of the bones behind its animation",
        }
        return (
            f"{space.kind}: {ways.get(space.kind, f'{space.dim} modes of its animation, which no rigid bones carry')}."
        )
    given, asked = "the body plan handed over", "asked for"
    why = given if planned else asked if name == "learned" else "its file has no joints or animation"
    if space.kind == "skeleton":
        return f"skeleton: {_counted(space.dim, 'turn')} of bones found from its surface ({why})."
    bends = space.dim - count
    found = [*([_counted(count, "joint")] if count else []), *([_counted(bends, "bend")] if bends else [])]
    return f"{space.kind}: {' and '.join(found)} of its body plan ({why})."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
