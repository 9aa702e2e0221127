"""The rigid pieces of an object: as the file names them, as labels say, or found from what is connected and touches."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int
from scipy.spatial import cKDTree

from neurok.bodyplan.contacts import contact_graph
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.geometry.topology import face_components, split_by_face_label

MOST_PIECES = 250
"""Beyond that many components the smallest join the nearest large one: bounds the time of broken files."""

DETAIL = 0.03
"""Smaller components are details of what they touch [share of the object] ..."""

EMBEDDED = 0.5
"""... and so are those with more of their surface on a larger one [share of their surface]. Chosen among five pairs by
what the search finds in 43 objects."""


def find_parts(thing: Asset | Mesh, labels: np.ndarray | None = None) -> Mesh:
    """The mesh with ``part_ids`` and ``part_names``.

    ``labels`` gives a number for each face or each vertex. Without them the parts of the file (scene nodes, groups)
    are taken, and if it has only one, connected components, where details join what carries them.
    """
    mesh = thing.mesh if isinstance(thing, Asset) else thing
    if labels is not None:
        return label_faces(mesh, _face_labels(mesh, np.asarray(labels)))
    if mesh.part_ids is not None and len(np.unique(mesh.face_parts)) > 1:
        return mesh
    return label_faces(mesh, merge_components(mesh))


def label_faces(mesh: Mesh, labels: Int[np.ndarray, " F"], names: tuple[str, ...] = ()) -> Mesh:
    """The mesh cut into parts by a number for each face; shared vertices are split."""
    kept, labels = np.unique(labels, return_inverse=True)
    source, faces, part_ids = split_by_face_label(mesh.faces, labels.reshape(-1))
    names = names or tuple(f"part_{k}" for k in range(len(kept)))
    return mesh.reindexed(source, faces, part_ids=part_ids, part_names=names)


def _face_labels(mesh: Mesh, labels: np.ndarray) -> Int[np.ndarray, " F"]:
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise NeurokError(f"Labels must be one row of whole numbers, got shape {labels.shape} of {labels.dtype}.")
    if len(labels) == mesh.face_count:
        return labels.astype(np.int64)
    if len(labels) == mesh.vertex_count:
        corners = labels[mesh.faces]
        # The number that two corners share wins; with three different ones, the first.
        return np.where(corners[:, 1] == corners[:, 2], corners[:, 1], corners[:, 0]).astype(np.int64)
    raise NeurokError(
        f"There are {len(labels)} labels, but the mesh has {mesh.face_count} faces and {mesh.vertex_count} vertices; "
        "give one label for each face or each vertex."
    )


def merge_components(mesh: Mesh) -> Int[np.ndarray, " F"]:
    """A part for each face: connected components; details and what is embedded join the larger one they touch most.

    What is left to rules where no network groups the pieces.
    """
    labels = _few(mesh, face_components(mesh.vertices, mesh.faces, mesh.face_surfaces), MOST_PIECES)
    if labels.max() == 0:
        return labels
    contacts = contact_graph(label_faces(mesh, labels))
    sizes = [0.0 if one is None else float(np.linalg.norm(np.ptp(one.bounds, axis=0))) for one in contacts.samples]
    carrier = np.arange(len(sizes))
    for piece in np.argsort(sizes, kind="stable")[::-1]:  # what carries others has its own carrier by then
        pairs = [pair for pair in contacts.of(int(piece)) if sizes[pair.other(int(piece))] > sizes[piece]]
        most = max(pairs, key=lambda pair: pair.share_of(int(piece)), default=None)
        if most is None:
            continue
        if sizes[piece] < DETAIL * contacts.size or most.share_of(int(piece)) > EMBEDDED:
            carrier[piece] = carrier[most.other(int(piece))]
    return np.unique(carrier[labels], return_inverse=True)[1].reshape(-1)


def _few(mesh: Mesh, labels: Int[np.ndarray, " F"], most: int) -> Int[np.ndarray, " F"]:
    """At most so many components: the smallest join the large one whose middle is nearest."""
    count = int(labels.max()) + 1
    if count <= most:
        return labels
    centers = mesh.vertices[mesh.faces].mean(axis=1)
    weight = np.bincount(labels)
    middle = np.stack([np.bincount(labels, centers[:, d]) / weight for d in range(3)], axis=1)
    size = np.zeros(count)
    np.maximum.at(size, labels, np.linalg.norm(centers - middle[labels], axis=1))
    kept = np.argsort(-size, kind="stable")[:most]
    target = kept[cKDTree(middle[kept]).query(middle)[1]]
    target[kept] = kept
    return np.unique(target[labels], return_inverse=True)[1].reshape(-1)
