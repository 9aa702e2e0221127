"""Which poses an object can take, judged by what its file says and by what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.errors import NeurokError
from neurok.geometry.topology import face_components
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace

CLIP_MODES = 8
"""Coordinates of an object whose own animation spans its poses."""

SpaceName = Literal["auto", "joints", "clip", "learned", "rigid"]

Learner = Callable[[Mesh], KinematicSpace | None]
"""Finds the poses of a mesh without any label; ``None`` when it has nothing to go by."""


def space_for(asset: Asset, name: SpaceName = "auto", learner: Learner | None = None) -> KinematicSpace:
    """The poses an object can take.

    Args:
        asset: The object.
        name: ``joints`` of its file, the span of the frames of its own ``clip``, ``learned`` from other objects, or
            ``rigid``: only the pose it has, so that it moves as a whole. ``auto`` takes the first of these there is,
            but asks for learned poses only where a mesh has several components: a single solid has no parts to move.
        learner: What finds learned poses; weights are not the business of dynamics.
    """
    all_fixed = asset.articulation is not None and asset.articulation.dof == 0
    makers: dict[str, Callable[[], KinematicSpace | None]] = {
        "joints": lambda: _of_joints(asset),
        "clip": lambda: _of_clip(asset),
        "learned": lambda: None if learner is None else learner(asset.mesh),
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
