"""From a mesh and trained weights to its kinematic space."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import Mesh, frame_change
from neurok.data.subject import Patches, patches_of
from neurok.errors import NeurokError
from neurok.geometry.operators import flat_share
from neurok.geometry.topology import vertex_labels
from neurok.inference.body_joints import BodyJoint, body_joints
from neurok.inference.gather import Motions
from neurok.inference.touch import LIKELY_TOGETHER, TOGETHER, Contacts, held
from neurok.kinematics.reduce import Reduction, ReductionMode, leading, parted, whole
from neurok.kinematics.screws import NeuralSpace

if TYPE_CHECKING:
    from neurok.deformation.handles import HandleModel

PROBES = 24
"""States of the prior over which derivatives are averaged."""

BOARD = 0.93
"""Components with this share of flat sides are boards and boxes, rigid unless the network is sure that they bend ..."""

SURE = -1.0
"""... by these log-odds."""

LIVELY = 0.1
"""Handles that move more than this, as a share of the one that moves most, do not stand still."""

STILL = 0.01
"""Handles that move less than this per standard deviation, as a share of the one that moves most, do not move."""


def infer_space(
    mesh: Mesh, model: HandleModel, mode: ReductionMode = "gram", dim: int | None = None, touch: bool = True
) -> NeuralSpace:
    """The kinematic space of a mesh.

    Args:
        mesh: Any mesh; no labels are used.
        model: Trained weights.
        mode: ``gram`` (mean of JᵀMJ over the prior), ``paper`` (gradient of the norm of the displacement) or ``none``.
        dim: Number of coordinates; by default enough for 99.99 % of the spectrum, at most 16.
        touch: Condition the prior on the geometry at hand: more of what touches is one body, bends stay with what they
            touch, and by default (``gram``, no ``dim``) each rigid body has one joint, along which it can move.
    """
    if dim is not None and not 1 <= dim <= model.latent_size:
        raise NeurokError(f"dim must lie in 1..{model.latent_size}, got {dim}.")
    prior = _prior(mesh, model, touch)
    full, patches, bodies = prior.space, prior.patches, prior.bodies
    by_default = touch and mode == "gram" and dim is None
    joints = _joints(prior) if by_default and _stands(prior) else None
    if touch:
        full = full.conditioned(held(prior.contacts.partings(full.slopes_at_rest()), full.dim))
    if joints is not None:
        full = full.only(_bends(bodies, patches))
    reduced = full.reduced(full.reduction if mode == "none" else reduction_of(full, patches, mode, dim))
    if touch and mode != "none" and dim is None:
        reduced = reduced.principal(patches)
    if by_default:
        reduced = reduced.jointed(joints or [], bodies, patches)
    return reduced.merged(bodies)


class _Prior(NamedTuple):
    """What the model says of a mesh before geometry is asked."""

    space: NeuralSpace
    patches: Patches
    bodies: Int[np.ndarray, " H"]
    """One number for all handles that move as one."""

    contacts: Contacts


def _prior(mesh: Mesh, model: HandleModel, touch: bool) -> _Prior:
    import torch

    from neurok.deformation.batch import Rest

    patches = patches_of(mesh)
    center, scale, _ = _box_of(mesh)
    precision = next(model.parameters()).dtype
    points = torch.from_numpy(to_box(patches.points, mesh, center, scale)).to(precision)[None]
    areas = torch.from_numpy(patches.areas).to(precision)[None]
    with torch.no_grad():
        context = model.encode_rest(
            Rest(points, points.mean(dim=2), torch.from_numpy(patches.groups)[None], areas, areas > 0)
        )
    take = lambda tensor: tensor[0].double().numpy()  # noqa: E731
    count = patches.handles.count
    turn, ways = frame_change("y", mesh.up), take(context.ways)[:count]
    screws = np.concatenate([turn @ ways[:, :3], turn @ ways[:, 3:] * scale], axis=1)
    centers = patches.points[:count].mean(axis=1)
    bodies = rigid_bodies(mesh, patches, take(context.rigid)[:count])
    weights = vertex_weights(mesh, patches)
    full = NeuralSpace(mesh, weights, centers, screws, take(context.mean), whole(screws.shape[2]))
    full = full.stiffened(patches, bodies)
    contacts = Contacts.of(mesh, patches.handles)
    pairs = contacts.companions(full.slopes_at_rest(), LIKELY_TOGETHER if touch else TOGETHER)
    bodies = joined(bodies, patches, pairs)
    return _Prior(_held_still(full.stiffened(patches, bodies), patches), patches, bodies, contacts)


def _motions(prior: _Prior) -> Motions:
    """The rigid bodies and their motions in the unit box."""
    space, patches, bodies = prior.space, prior.patches, prior.bodies
    mesh, (center, scale, turn) = space.rest, _box_of(space.rest)
    chosen = ~_bends(bodies, patches) & space.screws.any(axis=(1, 2))
    group_bodies = np.full(int(patches.handles.face_groups.max()) + 1, -1)
    group_bodies[patches.groups[: len(bodies)][chosen]] = bodies[chosen]
    turns, shifts = space.screws[:, :3], space.screws[:, 3:]
    shifts = shifts + np.cross(turns, (center - space.centers)[:, :, None], axis=1)
    screws = np.concatenate([turn @ turns, turn @ shifts / scale], axis=1)
    boxed = Mesh(to_box(mesh.vertices, mesh, center, scale), mesh.faces)
    each = {int(bodies[h]): screws[h] for h in np.flatnonzero(chosen)}
    return Motions(boxed, group_bodies[patches.handles.face_groups], each, space.middle)


def _joints(prior: _Prior) -> list[BodyJoint]:
    """Joints of the rigid bodies in the coordinates of the mesh."""
    center, scale, turn = _box_of(prior.space.rest)
    found = body_joints(_motions(prior))
    return [replace(joint, twist=_unboxed(joint.twist, turn, center, scale)) for joint in found]


def _stands(prior: _Prior) -> bool:
    """Whether more of the surface stands still than bends: the eyes of a fish have no joints, they swim with it."""
    paces = np.sqrt(prior.space.energies(prior.patches).sum(axis=1))
    lively = paces > LIVELY * paces.max(initial=0.0)
    areas, bends = prior.patches.areas[: len(paces)], _bends(prior.bodies, prior.patches)
    return float(areas[bends & lively].sum()) <= float(areas[~lively].sum())


def _box_of(mesh: Mesh) -> tuple[Float[np.ndarray, "3"], float, Float[np.ndarray, "3 3"]]:
    """Middle and longest side of a mesh, and the turn that puts +y up."""
    low, high = mesh.bounds
    return (low + high) / 2, max(float((high - low).max()), 1e-300), frame_change(mesh.up, "y")


def _unboxed(
    twist: Float[np.ndarray, "6"], turn: Float[np.ndarray, "3 3"], center: Float[np.ndarray, "3"], scale: float
) -> Float[np.ndarray, "6"]:
    """A twist about the middle of the unit box as one about the origin of the mesh."""
    omega, velocity = turn.T @ twist[:3], turn.T @ twist[3:] * scale
    return np.concatenate([omega, velocity - np.cross(omega, center)])


def _bends(bodies: Int[np.ndarray, " H"], patches: Patches) -> Bool[np.ndarray, " H"]:
    """Handles of components that are not rigid; a component of one handle is."""
    groups = patches.groups[: len(bodies)]
    loose = [group for group in np.unique(groups) if len(np.unique(bodies[groups == group])) > 1]
    return np.isin(groups, loose)


def rigid_bodies(mesh: Mesh, patches: Patches, log_odds: Float[np.ndarray, " H"]) -> Int[np.ndarray, " H"]:
    """One number for all handles of a component that never bends; other handles have one of their own."""
    count = patches.handles.count
    out = np.arange(count)
    for group in np.unique(patches.groups[:count]):
        members = np.flatnonzero(patches.groups[:count] == group)
        if len(members) < 2:
            continue
        odds = patches.areas[members] @ log_odds[members] / max(float(patches.areas[members].sum()), 1e-300)
        faces = mesh.faces[patches.handles.face_groups == group]
        if odds > 0 or (odds > SURE and flat_share(mesh.vertices, faces) > BOARD):
            out[members] = members[0]
    return out


def joined(bodies: Int[np.ndarray, " H"], patches: Patches, companions: list[tuple[int, int]]) -> Int[np.ndarray, " H"]:
    """Rigid components that move as one become one body: the panes of a door, a screen and its lid."""
    out, groups = bodies.copy(), patches.groups[: len(bodies)]
    rigid = {int(g) for g in np.unique(groups) if len(np.unique(bodies[groups == g])) == 1}
    for pair in companions:
        if rigid.issuperset(pair):
            first, second = (out[np.flatnonzero(groups == group)[0]] for group in pair)
            out[out == second] = first
    return out


def reduction_of(space: NeuralSpace, patches: Patches, mode: ReductionMode, dim: int | None) -> Reduction:
    """Active subspace over the prior, by exact derivatives, then turned until each coordinate moves few handles."""
    moments = patch_moments(patches, space.rest.size)
    count = len(moments)
    values, slopes = space.shape(space.spread(PROBES))
    slopes = slopes.reshape(PROBES, space.dim, count, 4, 3)
    weighted = np.einsum("hkl,bdhlc->bdhkc", moments, slopes, optimize=True)
    if mode == "paper":
        moved = (values - space.values(np.zeros((1, space.dim)))).reshape(PROBES, count, 4, 3)
        pull = np.einsum("bdhkc,bhkc->bd", weighted, moved, optimize=True)
        norm = np.sqrt(np.einsum("bhkc,hkl,bhlc->b", moved, moments, moved, optimize=True))
        pull /= np.maximum(norm, 1e-12)[:, None]
        forms = (pull.T @ pull / PROBES)[None]
    else:
        forms = np.einsum("bdhkc,behkc->hde", weighted, slopes, optimize=True) / PROBES
    reduction = leading(forms.sum(axis=0), dim)
    return replace(reduction, basis=parted(reduction.basis, forms)) if mode == "gram" else reduction


def patch_moments(patches: Patches, size: float) -> Float[np.ndarray, "H 4 4"]:
    """Mean of p pᵀ over the points of each patch with p = (x, y, z, 1), by area, for sizes of one."""
    count = patches.handles.count
    points = patches.points[:count]
    lifted = np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=-1)
    share = patches.areas[:count] / (patches.areas[:count].sum() * points.shape[1] * size**2)
    return np.einsum("hpi,hpj,h->hij", lifted, lifted, share, optimize=True)


def vertex_groups(mesh: Mesh, patches: Patches) -> Int[np.ndarray, " V"]:
    """The group of components each vertex belongs to."""
    return vertex_labels(mesh.faces, patches.handles.face_groups, mesh.vertex_count)


def vertex_weights(mesh: Mesh, patches: Patches) -> Float[np.ndarray, "V H"]:
    """How much each vertex follows each handle."""
    handles, count = patches.handles, mesh.vertex_count
    index, weight = handles.weights(mesh.vertices, vertex_groups(mesh, patches))
    out = np.zeros((count, handles.count))
    np.add.at(out, (np.arange(count)[:, None], index), weight)
    return out


def to_box(
    points: Float[np.ndarray, "*N 3"], mesh: Mesh, center: Float[np.ndarray, "3"], scale: float
) -> Float[np.ndarray, "*N 3"]:
    """Points in the unit box, +y up."""
    return ((points - center) / scale) @ frame_change(mesh.up, "y").T


def _held_still(space: NeuralSpace, patches: Patches) -> NeuralSpace:
    """The same space without the tremor of what stands still."""
    pace = np.sqrt(space.energies(patches).sum(axis=1))
    kept = pace > STILL * pace.max(initial=0.0)
    return replace(space, screws=space.screws * kept[:, None, None])
