"""Closed solids out of the loose triangles of which real models are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from neurok.geometry.level_set import level_set
from neurok.geometry.operators import face_areas
from neurok.geometry.sampling import sample_surface
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.forms import fitted
from neurok.modelling.shapes import Shape


@dataclass(frozen=True)
class ClosingConfig:
    """How triangles without an inside become a solid."""

    cells: int = 28
    """Along each side of the box, whatever its proportions."""

    weld: float = 1e-4
    """Corners nearer than about this share of the longest side are one, where those that are equal do not close."""

    gap: float = 1.5
    """Cells: openings narrower than twice this are seams and not mouths, so that what lies behind them is inside."""

    samples: int = 10
    """Points on the surface, for each square of a cell: so many that no outside comes in between."""

    most: int = 150_000
    """Points on the surface, of foliage and the like."""

    skin: float = 0.6
    """Cells by which the solid is thicker than the surface on either side: what is open becomes a wall."""

    coarse: float = 0.25
    """Cells by which the mesh may be off, so that flat places need few triangles."""

    thinnest: float = 2e-3
    """[m] Least side of a box."""


CLOSING = ClosingConfig()


def closed_solid(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    config: ClosingConfig = CLOSING,
    *,
    capped: bool = False,
) -> Shape | None:
    """The solid that some triangles bound: as they are where they close, else what they keep from the outside.

    ``capped`` covers what is open: undersides of cushions and ends of legs, which nobody sees, are often left out. None
    where they have no area.
    """
    near = config.weld * float(np.ptp(vertices[faces].reshape(-1, 3), axis=0).max()) if len(faces) else 0.0
    for weld, covered in ((0.0, False), (near, False), *(((near, True),) if capped else ())):
        exact = _as_it_is(vertices, faces, weld, covered)
        if exact is not None:
            return exact
    return filled(vertices, faces, config)


def covered_holes(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Float[np.ndarray, "W 3"], Int[np.ndarray, "G 3"]]:
    """A mesh with a fan of triangles over each loop of its border; loops that touch each other stay open."""
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    there = {(int(a), int(b)) for a, b in edges}
    border = [(a, b) for a, b in there if (b, a) not in there]
    follow = dict(border)
    if len(follow) < len(border):
        return vertices, faces
    places, fans = [vertices], [faces]
    while follow:
        loop = [next(iter(follow))]
        while (after := follow.pop(loop[-1], None)) is not None and after != loop[0]:
            loop.append(after)
        if after is None or len(loop) < 3:
            continue
        ring, middle = np.array(loop), sum(map(len, places))
        places.append(vertices[ring].mean(axis=0, keepdims=True))
        fans.append(np.column_stack([np.roll(ring, -1), ring, np.full(len(ring), middle)]))
    return np.concatenate(places), np.concatenate(fans)


def _as_it_is(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], weld: float, covered: bool
) -> Shape | None:
    """The union of the components of a mesh that closes once near vertices are merged and faces there twice are not."""
    import manifold3d

    cells = np.round(vertices / weld) if weld > 0 else vertices
    _, first, index = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    places = vertices[first]
    merged = index.reshape(-1)[faces]
    merged = merged[(merged != np.roll(merged, 1, axis=1)).all(axis=1)]
    merged = merged[np.unique(np.sort(merged, axis=1), axis=0, return_index=True)[1]]
    if not len(merged):
        return None
    if covered:
        places, merged = covered_holes(places, merged)
    mesh = manifold3d.Mesh64(np.ascontiguousarray(places), np.ascontiguousarray(merged.astype(np.uint64)))
    solid = manifold3d.Manifold(mesh)
    if solid.status() != manifold3d.Error.NoError or solid.is_empty():
        return None
    pieces = [piece for piece in solid.decompose() if piece.volume() > 0]
    if not pieces or sum(piece.volume() for piece in pieces) < 0.9 * sum(abs(p.volume()) for p in solid.decompose()):
        return None
    whole = manifold3d.Manifold.batch_boolean(pieces, manifold3d.OpType.Add)
    return None if whole.is_empty() else from_manifold(whole)


def filled(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], config: ClosingConfig = CLOSING
) -> Shape | None:
    """All that cannot be reached from outside but through seams, and a skin about the triangles."""
    from scipy.ndimage import distance_transform_edt, label
    from scipy.spatial import cKDTree

    corners = vertices[faces]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size = np.maximum(high - low, config.thinnest)
    boxed = Shape((vertices - (low + high) / 2) / (size / 2), faces)
    reach = 1.0 + 6.0 / config.cells
    axis = np.linspace(-reach, reach, config.cells + 7)
    cell = axis[1] - axis[0]
    count = int(config.samples * face_areas(boxed.vertices, boxed.faces).sum() / cell**2)
    if count == 0:
        return None
    drawn = sample_surface(boxed.vertices, boxed.faces, min(count, config.most), np.random.default_rng(0))
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    away = cKDTree(drawn.interpolate(boxed.vertices)).query(grid.reshape(-1, 3))[0].reshape(grid.shape[:3])
    regions, _ = label(away > config.gap * cell)
    is_far = np.asarray(distance_transform_edt(regions != regions[0, 0, 0])) > config.gap
    is_enclosed = is_far & (away > config.skin * cell)
    field = np.where(is_enclosed, -away, away) - config.skin * cell
    places, triangles = level_set(field, np.full(3, -reach), np.full(3, reach))
    if not len(triangles):
        return None
    simple = to_manifold(Shape(places, triangles)).simplify(config.coarse * cell)
    shape = fitted(from_manifold(simple), size)
    return shape.move(*((low + high) / 2)).outward()
