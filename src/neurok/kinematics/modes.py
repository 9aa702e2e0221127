"""Vibration modes of an elastic solid: finite elements on a grid around the mesh.

The filled cells of a regular grid are cut into tetrahedra with quadratic shape functions (linear ones are far too
stiff in bending); linear elasticity gives stiffness and mass, and the lowest modes move the mesh along.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.material import Material
from neurok.core.mesh import Mesh
from neurok.errors import NeurokError
from neurok.geometry.voxels import inside_grid, shell_grid
from neurok.kinematics.linear import LinearSpace

# Corners of a cube, and its cut into six tetrahedra around the main diagonal.
_CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
_TETS = np.array([[0, 4, 6, 7], [0, 6, 2, 7], [0, 2, 3, 7], [0, 3, 1, 7], [0, 1, 5, 7], [0, 5, 4, 7]])
_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True, eq=False)
class Modes:
    """The softest ways an object can vibrate."""

    space: LinearSpace
    """Coordinates are amplitudes of the modes, scaled to unit modal mass [kg^½ · unit]."""

    frequencies: Float[np.ndarray, " D"]
    """[Hz]."""

    stiffness: Float[np.ndarray, "D D"]
    """½ qᵀ K q is the elastic energy [J]; for ``neurok.dynamics.energies.Quadratic``."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A grid of quadratic tetrahedra [m]."""

    nodes: Float[np.ndarray, "N 3"]
    tets: Int[np.ndarray, "T 10"]
    """Four corners, then the middles of the edges 01 02 03 12 13 23."""


def vibration_modes(
    mesh: Mesh, material: Material, fixed: Bool[np.ndarray, " V"] | None = None, count: int = 12, cells: int = 12
) -> Modes:
    """The lowest modes of a mesh filled with one material.

    Args:
        mesh: Its enclosed cells are filled; an open mesh becomes a shell one cell thick.
        material: Young's modulus, Poisson's ratio and density.
        fixed: Vertices that do not move; the grid's nodes next to them are held. Without any, the six rigid motions
            are left out of the modes.
        count: Number of modes.
        cells: Grid cells along the longest side.
    """
    solid, low, spacing = _grid_solid(mesh, cells)
    stiffness, mass = elastic_matrices(solid, material)
    held = np.zeros(len(solid.nodes), dtype=bool)
    if fixed is not None and fixed.any():
        from scipy.spatial import cKDTree

        places = mesh.vertices[fixed] * mesh.unit
        held = _near(cKDTree(places).query(solid.nodes)[0], spacing, mesh, fixed, solid.nodes)
    values, fields = _lowest(stiffness, mass, held, count)
    weights = _interpolation(solid, low, spacing, mesh.vertices * mesh.unit)
    basis = np.stack([weights @ field for field in fields]) / mesh.unit
    return Modes(
        LinearSpace(mesh, basis, _inertia(mesh, solid, mass, fields)),
        np.sqrt(np.maximum(values, 0.0)) / (2 * np.pi),
        np.diag(values),
    )


def elastic_matrices(solid: Solid, material: Material):  # type: ignore[no-untyped-def]
    """Sparse stiffness (3N × 3N, [N/m]) and scalar mass (N × N, [kg]) of a solid."""
    from scipy.sparse import coo_matrix

    points, weights = _quadrature()
    corners = solid.nodes[solid.tets[:, :4]]
    frames = corners[:, 1:] - corners[:, :1]
    inverse, volume = np.linalg.inv(frames), np.abs(np.linalg.det(frames)) / 6.0
    lam = material.young * material.poisson / ((1 + material.poisson) * (1 - 2 * material.poisson))
    mu = material.young / (2 * (1 + material.poisson))
    count = len(solid.tets)
    block, lump = np.zeros((count, 10, 3, 10, 3)), np.zeros((count, 10, 10))
    for point, weight in zip(points, weights, strict=True):
        shape, slope = _shape_functions(point)
        gradient = np.einsum("tij,nj->tni", inverse, slope)
        part = np.einsum("t,tni,tmj->tnimj", lam * weight * volume, gradient, gradient)
        part += np.einsum("t,tnj,tmi->tnimj", mu * weight * volume, gradient, gradient)
        dot = np.einsum("t,tnk,tmk->tnm", mu * weight * volume, gradient, gradient)
        for i in range(3):
            part[:, :, i, :, i] += dot
        block += part
        lump += (material.density * weight * volume)[:, None, None] * np.outer(shape, shape)
    spread = (3 * solid.tets[:, :, None] + np.arange(3)).reshape(count, 30)
    size = len(solid.nodes)
    rows, columns = np.repeat(spread, 30, axis=1), np.tile(spread, (1, 30))
    stiffness = coo_matrix((block.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), (3 * size, 3 * size)).tocsr()
    rows, columns = np.repeat(solid.tets, 10, axis=1), np.tile(solid.tets, (1, 10))
    mass = coo_matrix((lump.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), (size, size)).tocsr()
    return stiffness, mass


def _shape_functions(point: Float[np.ndarray, "3"]) -> tuple[Float[np.ndarray, "10"], Float[np.ndarray, "10 3"]]:
    """Quadratic shape functions and their derivatives in the unit tetrahedron."""
    bary = np.concatenate([[1.0 - point.sum()], point])
    slope = np.concatenate([-np.ones((1, 3)), np.eye(3)])
    a, b = _EDGES.T
    values = np.concatenate([bary * (2 * bary - 1), 4 * bary[a] * bary[b]])
    slopes = np.concatenate(
        [(4 * bary - 1)[:, None] * slope, 4 * (bary[a, None] * slope[b] + bary[b, None] * slope[a])]
    )
    return values, slopes


def _quadrature() -> tuple[Float[np.ndarray, "Q 3"], Float[np.ndarray, " Q"]]:
    """Conical product of Gauss rules: exact for the mass of quadratic elements; weights sum to one."""
    x, w = np.polynomial.legendre.leggauss(4)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    u, v, s = (g.reshape(-1) for g in np.meshgrid(x, x, x, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).reshape(-1)
    points = np.stack([u, v * (1 - u), s * (1 - u) * (1 - v)], axis=1)
    return points, 6.0 * weight * (1 - u) ** 2 * (1 - v)


def _grid_solid(mesh: Mesh, cells: int) -> tuple[Solid, Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """The filled cells of a grid that fits the box of the mesh, as quadratic tetrahedra; its corner and cell size."""
    vertices = mesh.vertices * mesh.unit
    low, high = mesh.bounds * mesh.unit
    extent = high - low
    counts = np.maximum(1, np.round(extent / (extent.max() / cells))).astype(np.int64)
    spacing = np.maximum(extent, 1e-9 * extent.max()) / counts
    scaled = (vertices - low) / spacing
    shape = tuple(int(n) for n in counts)
    filled = inside_grid(scaled, mesh.faces, np.zeros(3), 1.0, shape)
    filled |= shell_grid(scaled, mesh.faces, np.zeros(3), 1.0, shape)
    if not filled.any():
        raise NeurokError(f"The mesh '{mesh.name}' fills no cell of the grid; use more cells.")
    cube = np.argwhere(filled)
    keys = (cube[:, None] + _CORNERS) @ np.array([(counts[1] + 1) * (counts[2] + 1), counts[2] + 1, 1])
    used, index = np.unique(keys, return_inverse=True)
    place = np.stack(np.unravel_index(used, tuple(counts + 1)), axis=1)
    tets = index.reshape(-1, 8)[:, _TETS].reshape(-1, 4)
    return _quadratic(low + place * spacing, tets), low, spacing


def _quadratic(nodes: Float[np.ndarray, "N 3"], tets: Int[np.ndarray, "T 4"]) -> Solid:
    """Adds the middles of the edges."""
    pairs = np.sort(tets[:, _EDGES], axis=-1)
    edges, index = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    middles = nodes[edges].mean(axis=1)
    return Solid(np.concatenate([nodes, middles]), np.concatenate([tets, len(nodes) + index.reshape(-1, 6)], axis=1))


def _near(
    distance: np.ndarray, spacing: np.ndarray, mesh: Mesh, fixed: np.ndarray, nodes: np.ndarray
) -> Bool[np.ndarray, " N"]:
    """Nodes closest to the fixed vertices: those in their box, or within half a cell of one of them."""
    places = mesh.vertices[fixed] * mesh.unit
    low, high = places.min(axis=0) - 1e-6 * spacing, places.max(axis=0) + 1e-6 * spacing
    inside = ((nodes >= low) & (nodes <= high)).all(axis=1)
    return inside | (distance <= 0.5 * float(spacing.min()))


def _lowest(stiffness, mass, held, count):  # type: ignore[no-untyped-def]
    """Eigenvalues [1/s²] and mass-normalised fields of the lowest modes that are not rigid motions."""
    from scipy.sparse import identity as eye
    from scipy.sparse import kron
    from scipy.sparse.linalg import eigsh

    free = np.repeat(~held, 3)
    full = kron(mass, eye(3), format="csr")
    k, m = stiffness[free][:, free], full[free][:, free]
    rigid = 0 if held.any() else 6
    scale = stiffness.diagonal().mean() / full.diagonal().mean()
    wanted = min(count + rigid, k.shape[0] - 2)
    start = np.ones(k.shape[0])
    shift = -1e-6 * scale
    values, vectors = eigsh(k.tocsc(), wanted, m.tocsc(), sigma=shift, v0=start)
    order = np.argsort(values)[rigid:]
    fields = np.zeros((len(order), len(free)))
    fields[:, free] = vectors[:, order].T
    signs = np.sign(fields[np.arange(len(order)), np.abs(fields).argmax(axis=1)])
    return values[order], (fields * signs[:, None]).reshape(len(order), -1, 3)


def _interpolation(solid: Solid, low: np.ndarray, spacing: np.ndarray, points: Float[np.ndarray, "V 3"]):  # type: ignore[no-untyped-def]
    """Sparse matrix from nodal values to points of the solid."""
    from scipy.sparse import csr_matrix
    from scipy.spatial import cKDTree

    centers = solid.nodes[solid.tets[:, :4]].mean(axis=1)
    corners = solid.nodes[solid.tets[:, :4]]
    candidates = cKDTree(centers / spacing).query(points / spacing, k=min(12, len(centers)))[1].reshape(len(points), -1)
    inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])
    local = np.einsum("vci,vcij->vcj", points[:, None] - corners[candidates, 0], inverse[candidates])
    bary = np.concatenate([1.0 - local.sum(axis=-1, keepdims=True), local], axis=-1)
    best = bary.min(axis=-1).argmax(axis=1)
    rows = np.arange(len(points))
    bary = np.clip(bary[rows, best], 0.0, 1.0)
    bary /= bary.sum(axis=1, keepdims=True)
    a, b = _EDGES.T
    values = np.concatenate([bary * (2 * bary - 1), 4 * bary[:, a] * bary[:, b]], axis=1)
    nodes = solid.tets[candidates[rows, best]]
    return csr_matrix((values.reshape(-1), (np.repeat(rows, 10), nodes.reshape(-1))), (len(points), len(solid.nodes)))


def _inertia(mesh: Mesh, solid: Solid, mass, fields) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
    """CᵀMC and CᵀM1 of the whole solid, in mesh units."""
    nodes = solid.nodes / mesh.unit
    moves = np.moveaxis(fields, 0, 1).reshape(len(nodes), -1) / mesh.unit
    features = np.concatenate([nodes, np.ones((len(nodes), 1)), moves], axis=1)
    weighed = mass @ features
    return features.T @ weighed, weighed.sum(axis=0)
