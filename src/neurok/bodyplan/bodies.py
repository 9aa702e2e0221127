"""The rigid pieces of an object: as the file names them, as labels say, or found from what is connected and touches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from neurok.bodyplan.config import BODIES, BodiesConfig
from neurok.bodyplan.contacts import ContactGraph, contact_graph
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.geometry.topology import face_components, split_by_face_label


def find_parts(thing: Asset | Mesh, labels: np.ndarray | None = None, config: BodiesConfig = BODIES) -> Mesh:
    """The mesh with ``part_ids`` and ``part_names``.

    ``labels`` gives a number for each face or each vertex. Without them the parts of the file (scene nodes, groups)
    are taken, and if it has only one, connected components, where details join what carries them.
    """
    mesh = thing.mesh if isinstance(thing, Asset) else thing
    if labels is not None:
        return label_faces(mesh, _face_labels(mesh, np.asarray(labels)))
    if mesh.part_ids is not None and len(np.unique(mesh.face_parts)) > 1:
        return mesh
    return label_faces(mesh, merge_components(mesh, config))


def label_faces(mesh: Mesh, labels: Int[np.ndarray, " F"], names: tuple[str, ...] = ()) -> Mesh:
    """The mesh cut into parts by a number for each face; shared vertices are split."""
    kept, labels = np.unique(labels, return_inverse=True)
    source, faces, part_ids = split_by_face_label(mesh.faces, labels.reshape(-1))
    pick = lambda array: None if array is None else array[source]  # noqa: E731
    return replace(
        mesh,
        vertices=mesh.vertices[source],
        faces=faces,
        uv=pick(mesh.uv),
        vertex_colors=pick(mesh.vertex_colors),
        part_ids=part_ids,
        part_names=names or tuple(f"part_{k}" for k in range(len(kept))),
        authored=mesh.authored and mesh.authored.at(source),
    )


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


def merge_components(mesh: Mesh, config: BodiesConfig = BODIES) -> Int[np.ndarray, " F"]:
    """A part for each face: connected components, with small and embedded ones joined to what they touch most."""
    labels = _few(mesh, face_components(mesh.vertices, mesh.faces, mesh.face_surfaces), config.most_pieces)
    if labels.max() == 0:
        return labels
    pieces = label_faces(mesh, labels)
    contacts = contact_graph(pieces, config=config.contacts)
    carrier = _carriers(contacts, mesh.up_vector, config)
    merged = np.array([_top(carrier, piece) for piece in range(len(carrier))])
    return np.unique(merged[labels], return_inverse=True)[1].reshape(-1)


def _few(mesh: Mesh, labels: Int[np.ndarray, " F"], most: int) -> Int[np.ndarray, " F"]:
    """At most so many components: the smallest join the large one whose middle is nearest."""
    from scipy.spatial import cKDTree

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


def _carriers(contacts: ContactGraph, up: Float[np.ndarray, "3"], config: BodiesConfig) -> list[int]:
    """For each piece the one it joins, or itself: small and embedded ones join larger ones, others their panel."""
    sizes = [float(np.linalg.norm(np.ptp(c.bounds, axis=0))) if c is not None else 0.0 for c in contacts.samples]
    knobs = [piece for piece in range(len(sizes)) if _is_knob(contacts, piece, sizes[piece], config)]
    kept = set(knobs) if len(knobs) <= config.most_knobs else set()
    carrier = list(range(len(sizes)))
    for piece in range(len(sizes)):
        pairs = [c for c in contacts.of(piece) if sizes[c.other(piece)] > sizes[piece]]
        if not pairs or piece in kept:
            continue
        most = max(pairs, key=lambda c: c.share_of(piece))
        deep = config.embedded_disc if _is_disc(contacts, piece, config) else config.embedded
        if sizes[piece] < contacts.config.small_part * contacts.size or most.share_of(piece) > deep:
            carrier[piece] = most.other(piece)
    own = [piece for piece in range(len(sizes)) if carrier[piece] == piece and piece not in kept]
    panels = {piece for piece in own if _is_panel(contacts, piece, sizes[piece], config)}
    for piece in own:
        panel = piece if _is_disc(contacts, piece, config) else _panel_of(contacts, piece, panels, sizes, up, config)
        if _top(carrier, panel) != piece:  # two may each be behind the other
            carrier[piece] = panel
    return carrier


def _panel_of(
    contacts: ContactGraph,
    piece: int,
    panels: set[int],
    sizes: list[float],
    up: Float[np.ndarray, "3"],
    config: BodiesConfig,
) -> int:
    """The panel that a piece stands behind or on and belongs to, or the piece itself."""
    best, front = config.behind, piece
    for contact in contacts.of(piece):
        panel, share = contact.other(piece), contact.share_of(piece)
        is_tray = share > config.tray and contact.share_of(panel) > config.tray_panel
        is_larger = sizes[panel] * config.larger > sizes[piece] or is_tray
        if panel not in panels or share <= best or not is_larger:
            continue
        is_behind = lambda other, panel=panel: _is_behind(contacts, other, panel, config.margin)  # noqa: E731
        if is_behind(piece) and not _hangs_under(contacts, piece, panel, up, config):
            beyond = [c.share_of(piece) for c in contacts.of(piece) if not is_behind(c.other(piece))]
            if sum(beyond) <= config.beyond and max(beyond, default=0.0) <= share:
                best, front = share, panel
    return front


def _is_panel(contacts: ContactGraph, piece: int, size: float, config: BodiesConfig) -> bool:
    samples = contacts.samples[piece]
    if samples is None or size >= config.largest_panel * contacts.size:
        return False
    short, middle, _ = np.sort(samples.box.half)
    return bool(short < config.panel_thickness * middle)


def _hangs_under(
    contacts: ContactGraph, piece: int, panel: int, up: Float[np.ndarray, "3"], config: BodiesConfig
) -> bool:
    """Whether a panel lies flat and a piece is below it, as drawers are below the top of a table."""
    samples, above = contacts.samples[piece], contacts.samples[panel]
    if samples is None or above is None:
        return False
    lies = abs(float(above.box.axes[int(np.argmin(above.box.half))] @ up)) > config.lying
    gap = float((samples.points @ up).max() - (above.points @ up).min())
    return lies and gap < config.under * config.margin * contacts.size


def _is_behind(contacts: ContactGraph, piece: int, panel: int, margin: float) -> bool:
    """Whether a piece is hidden when one looks straight at a panel, or is the panel."""
    samples, front = contacts.samples[piece], contacts.samples[panel]
    if samples is None or front is None:
        return True
    wide = np.argsort(front.box.half)[1:]
    away = np.abs((samples.points - front.box.center) @ front.box.axes[wide].T)
    return bool((away <= front.box.half[wide] + margin * contacts.size).all())


def _is_disc(contacts: ContactGraph, piece: int, config: BodiesConfig) -> bool:
    samples = contacts.samples[piece]
    if samples is None:
        return False
    _, middle, long = np.sort(samples.box.half)
    return bool(middle > config.disc_width * long)


def _is_knob(contacts: ContactGraph, piece: int, size: float, config: BodiesConfig) -> bool:
    """Whether a small piece is compact: nearly as wide as long, and no sheet."""
    samples = contacts.samples[piece]
    if samples is None or not config.knob < size / contacts.size < contacts.config.small_part:
        return False
    short, middle, long = np.sort(samples.box.half)
    return bool(middle > config.knob_width * long and short > config.knob_thickness * middle)


def _top(carrier: list[int], piece: int) -> int:
    while carrier[piece] != piece:
        piece = carrier[piece]
    return piece
