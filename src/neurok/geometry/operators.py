"""Areas, normals, masses and their moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.geometry import topology
from neurok.geometry.topology import row_ids


def face_normals(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "F 3"]:
    """Unit normals; zero for faces without area."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    return np.divide(cross, length, out=np.zeros_like(cross), where=length > 0)


def face_areas(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, " F"]:
    """Area of each triangle."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def vertex_areas(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, " V"]:
    """A third of the area of the faces around each vertex; sums to the area of the mesh."""
    shares = np.repeat(face_areas(vertices, faces) / 3.0, 3)
    return np.bincount(faces.reshape(-1), weights=shares, minlength=len(vertices))


def vertex_normals(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "V 3"]:
    """Area-weighted unit normals; (0, 0, 1) where a vertex has no face."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    cross = np.cross(b - a, c - a)
    flat = faces.reshape(-1)
    normals = np.stack(
        [np.bincount(flat, weights=np.repeat(cross[:, i], 3), minlength=len(vertices)) for i in range(3)], axis=1
    )
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    fallback = np.broadcast_to(np.array([0.0, 0.0, 1.0]), normals.shape)
    return np.where(length > 1e-300, normals / np.maximum(length, 1e-300), fallback)


Moments = tuple[float, Float[np.ndarray, "3"], Float[np.ndarray, "3 3"]]
"""Mass, centre of mass, inertia about it."""


def mass_properties(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    density: float | Float[np.ndarray, " F"] = 1000.0,
    thickness: float | Float[np.ndarray, " F"] = 0.01,
) -> Moments:
    """Mass properties of a piece that may mix solids and sheets.

    A closed component is solid, whichever way its faces are wound; an open one, or one that encloses nothing, is a
    sheet of the given ``thickness``, once even where it has a front and a back face. Overlapping solids count twice.

    Args:
        vertices: Positions [m].
        faces: Vertex indices.
        density: One number, or one for each face [kg/m^3].
        thickness: Of open sheets, one number or one for each face [m].

    Returns:
        Mass [kg], centre of mass [m], inertia about it [kg m^2]; all zero where there is no area.
    """
    if len(faces) == 0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    density = np.broadcast_to(np.asarray(density, dtype=np.float64), (len(faces),))
    middle = 0.5 * (vertices[faces].min(axis=(0, 1)) + vertices[faces].max(axis=(0, 1)))
    corners = vertices[faces] - middle
    component = topology.face_components(vertices, faces)
    count = int(component.max()) + 1

    volume = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    enclosed = np.bincount(component, weights=volume, minlength=count)
    area /= _face_copies(vertices, faces)
    sheet = np.bincount(component, weights=area * thickness, minlength=count)
    solid = closed_components(vertices, faces, component) & (np.abs(enclosed) > 1e-9 * sheet)

    is_solid = solid[component]
    solid_mass = np.where(is_solid, density * volume * np.sign(enclosed)[component], 0.0)
    sheet_mass = np.where(is_solid, 0.0, density * area * thickness)
    # A tetrahedron from the middle has its centre at a quarter of the sum of the face's corners, a triangle at a third.
    total = corners.sum(axis=1)
    mass = float(solid_mass.sum() + sheet_mass.sum())
    if mass <= 0.0:
        return 0.0, middle, np.zeros((3, 3))
    center = (solid_mass / 4.0 + sheet_mass / 3.0) @ total / mass
    spread = np.einsum("fki,fkj->fij", corners, corners) + total[:, :, None] * total[:, None, :]
    second = np.einsum("f,fij->ij", solid_mass / 20.0 + sheet_mass / 12.0, spread)
    second -= mass * np.outer(center, center)
    return mass, center + middle, np.trace(second) * np.eye(3) - second


def second_moment(
    mass: float, center: Float[np.ndarray, "3"], inertia: Float[np.ndarray, "3 3"]
) -> Float[np.ndarray, "4 4"]:
    """Σ m p̃ p̃ᵀ with p̃ = (p, 1) of a body with this mass, centre and inertia about it."""
    out = np.zeros((4, 4))
    out[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + mass * np.outer(center, center)
    out[:3, 3] = out[3, :3] = mass * center
    out[3, 3] = mass
    return out


def closed_components(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], component: Int[np.ndarray, " F"]
) -> Bool[np.ndarray, " C"]:
    """Which components have no boundary: every edge is run through as often in one direction as in the other.

    Vertices that coincide count as one. Where four faces meet in one edge, as at the seam of a pillow, the enclosed
    volume is as well defined as elsewhere: the boundary of the surface as a chain is zero.
    """
    place = row_ids(vertices)[faces]
    start, end = place.reshape(-1), np.roll(place, -1, axis=1).reshape(-1)
    owner, least, most = np.repeat(component, 3), np.minimum(start, end), np.maximum(start, end)
    rows = (owner * (len(vertices) + 1) + least) * (len(vertices) + 1) + most
    edges, edge = np.unique(rows, return_inverse=True)
    surplus = np.bincount(edge.reshape(-1), weights=np.sign(end - start), minlength=len(edges))
    closed = np.ones(int(component.max()) + 1, dtype=bool)
    closed[owner[surplus[edge.reshape(-1)] != 0]] = False
    return closed


def _face_copies(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Int[np.ndarray, " F"]:
    """How many faces lie where each face lies, itself included."""
    place = row_ids(vertices)[faces]
    _, group, counts = np.unique(np.sort(place, axis=1), axis=0, return_inverse=True, return_counts=True)
    return counts[group.reshape(-1)]


CREASE_DEGREES = 38.0


@dataclass(frozen=True, eq=False)
class Corners:
    """The vertices to draw: one for each place and smooth patch around it. Found once at rest, used in every frame."""

    source: Int[np.ndarray, " C"]
    """The mesh vertex of each drawn vertex."""

    faces: Int[np.ndarray, "F 3"]
    """Indices of drawn vertices."""

    patch: Int[np.ndarray, " C"]
    """Drawn vertices with the same number share a normal although they may differ in texture or colour."""

    @cached_property
    def _gather(self):  # type: ignore[no-untyped-def]
        """Sparse sum of the faces around each patch."""
        from scipy.sparse import csr_matrix

        rows = self.patch[self.faces].reshape(-1)
        columns = np.repeat(np.arange(len(self.faces)), 3)
        shape = (int(self.patch.max()) + 1, len(self.faces))
        return csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)

    def normals(self, positions: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Float[np.ndarray, "C 3"]:
        """Area-weighted unit normals of the drawn vertices, single precision; zero where all faces are degenerate."""
        corners = positions.astype(np.float32)[faces]
        first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        cross = np.empty_like(first)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            cross[:, i] = first[:, j] * second[:, k] - first[:, k] * second[:, j]
        total = self._gather @ cross
        length = np.sqrt(np.einsum("ij,ij->i", total, total))[:, None]
        return np.divide(total, length, out=np.zeros_like(total), where=length > 0)[self.patch]


def find_corners(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    part_ids: Int[np.ndarray, " V"] | None = None,
    crease: float = CREASE_DEGREES,
) -> Corners:
    """Group the corners of a mesh; ``crease`` is the largest angle [degrees] between faces that shade smoothly.

    Vertices split for texture seams are welded by place (within 1e-6 of the size) as long as they belong to the
    same part; a crease of 0 gives every face its own flat normal.
    """
    if crease <= 0.0:
        corner = np.arange(3 * len(faces))
        return Corners(faces.reshape(-1), corner.reshape(-1, 3), corner)
    patch = _patches(vertices, faces, part_ids, crease)
    keys = faces.reshape(-1) * (int(patch.max()) + 1) + patch
    unique, inverse = np.unique(keys, return_inverse=True)
    return Corners(unique // (int(patch.max()) + 1), inverse.reshape(-1, 3), unique % (int(patch.max()) + 1))


def _patches(
    vertices: np.ndarray, faces: np.ndarray, part_ids: np.ndarray | None, crease: float
) -> Int[np.ndarray, " K"]:
    """Smooth patch of each corner (three per face in order)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    normals = face_normals(vertices, faces)
    half = topology.HalfEdges.of(_places(vertices, part_ids)[faces])
    edge, mate = half.couples
    opposite = half.start[edge] == half.end[mate]  # neighbours are wound the same way
    edge, mate = edge[opposite], mate[opposite]
    face, other = edge // 3, mate // 3
    smooth = np.einsum("ij,ij->i", normals[face], normals[other]) > np.cos(np.radians(crease))
    edge, mate = edge[smooth], mate[smooth]
    # The half-edge of the neighbour runs the other way: its end lies where ours starts.
    links_a = np.concatenate([edge, _next(edge)])
    links_b = np.concatenate([_next(mate), mate])
    size = 3 * len(faces)
    graph = coo_matrix((np.ones(len(links_a), dtype=np.int8), (links_a, links_b)), shape=(size, size))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _places(vertices: np.ndarray, part_ids: np.ndarray | None) -> Int[np.ndarray, " V"]:
    """A number per vertex, equal for vertices of one part that lie at the same place."""
    low = vertices.min(axis=0)
    step = max(float(np.linalg.norm(vertices.max(axis=0) - low)), 1e-300) * 1e-6
    columns = np.round((vertices - low) / step).astype(np.int64)
    return row_ids(columns if part_ids is None else np.column_stack([columns, part_ids]))


def _next(corner: Int[np.ndarray, " M"]) -> Int[np.ndarray, " M"]:
    """The corner that follows in the same face."""
    return corner - corner % 3 + (corner + 1) % 3
