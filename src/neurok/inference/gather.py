"""Which rigid bodies move, and which are one: what the network says of each is heard with what it touches.

A pane that touches nothing but its door goes with the door, whatever the network says of so small a thing; a shelf
that is all set in the frame stays unless it is among the liveliest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.contacts import ContactGraph, contact_graph
from neurok.bodyplan.tree import find_base
from neurok.core.mesh import Mesh
from neurok.kinematics.twists import cross_matrices

SLOW = 0.1
"""Bodies that move less than this, as a share of the liveliest one, stand still ..."""

SET_IN = 0.7
"""... and those that are all set in what stands still, less than this much more; in between in proportion."""

HANGS = 5.0
"""A body hangs on the one that it touches so many times as much as what stands still ..."""

SMALL = 0.5
"""... and goes with it if it has less than this share of its surface."""


@dataclass(frozen=True, eq=False)
class Motions:
    """What the network says of the bodies of a mesh."""

    mesh: Mesh
    """In a frame of its own, so that what is found does not depend on where the object lies."""

    face_bodies: Int[np.ndarray, " F"]
    """The rigid body of each face that may move, -1 for all else."""

    screws: dict[int, Float[np.ndarray, "6 Z"]]
    """Of each body, about the origin, beside what stands still."""

    middle: Float[np.ndarray, " Z"]
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Bodies of before that each body is made of."""

    def parts(self) -> tuple[Int[np.ndarray, " P"], Mesh]:
        """The body of each part, -1 for what stands still, and the mesh with those parts."""
        names, labels = np.unique(self.face_bodies, return_inverse=True)
        return names, label_faces(self.mesh, labels.reshape(-1))


def gathered(motions: Motions) -> Motions:
    """The bodies that truly move, each with what goes with it; something always stands still."""
    names, mesh = motions.parts()
    if len(names) < 2:
        return Motions(motions.mesh, np.full_like(motions.face_bodies, -1), {}, motions.middle)
    contacts = contact_graph(mesh)
    base = 0 if names[0] < 0 and contacts.samples[0] is not None else find_base(contacts, mesh.up_vector)
    still = np.zeros((6, len(motions.middle)))
    screws = [motions.screws.get(int(name), still) for name in names]
    screws = [own - screws[base] for own in screws]
    paces = np.array(
        [
            0.0 if cloud is None else np.einsum("iz,ij,jz->", own, metric(cloud.points), own) ** 0.5
            for own, cloud in zip(screws, contacts.samples, strict=True)
        ]
    )
    heads = _heads(contacts, paces, base)
    kept = [part for part in range(len(names)) if heads[part] == part != base]
    bodies = np.where(heads == base, -1, names[heads])
    index = np.searchsorted(names, motions.face_bodies)
    members = {int(names[k]): tuple(names[heads == k].tolist()) for k in kept}
    return Motions(motions.mesh, bodies[index], {int(names[k]): screws[k] for k in kept}, motions.middle, members)


def _heads(contacts: ContactGraph, paces: Float[np.ndarray, " P"], base: int) -> Int[np.ndarray, " P"]:
    """For each part the one it goes with: itself if it moves on its own, the base if it stands still."""
    count = len(paces)
    areas = np.array([0.0 if cloud is None else cloud.area for cloud in contacts.samples])
    shares = np.zeros((count, count))
    for pair in contacts.pairs:
        shares[pair.first, pair.second], shares[pair.second, pair.first] = pair.shares
    heads = np.arange(count)
    heads[paces <= (SLOW + SET_IN * shares[:, base]) * paces.max()] = base
    heads[base] = base
    for part in np.argsort(areas, kind="stable"):
        if heads[part] != part or part == base:
            continue
        firm = float(shares[part, heads == base].sum())
        others = np.where((heads == np.arange(count)) & (heads != base), shares[part], 0.0)
        others[part] = 0.0
        other = int(others.argmax())
        if others[other] > HANGS * firm:
            if areas[part] < SMALL * areas[other]:
                heads[part] = other
            elif firm == 0 and areas[part] > areas[other]:
                heads[other] = base  # what alone carries something larger is part of the frame
    for _ in range(count):
        heads = heads[heads]
    return heads


def metric(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "6 6"]:
    """The mean square of how far points move, as a form in twists about the origin."""
    slopes = np.concatenate([-cross_matrices(points), np.broadcast_to(np.eye(3), (len(points), 3, 3))], axis=2)
    form = np.einsum("nai,naj->ij", slopes, slopes, optimize=True) / len(points)
    return form + 1e-9 * np.eye(6)
