import numpy as np
from scipy import sparse

from neurok.geometry import lie
from neurok.geometry.cells import Cells, Pulls, cells_of, cotangent_links
from neurok.modelling.shapes import box

TURN = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.2, 0.3]), 1.1)


def strip(columns: int = 21, rows: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """A flat strip along x, one unit long."""
    grid = np.array([[a, 0.0, b] for a in np.linspace(0, 1, columns) for b in np.linspace(0, 0.2, rows)])
    corners = [(i * rows + j, i * rows + j + 1) for i in range(columns - 1) for j in range(rows - 1)]
    faces = [t for a, b in corners for t in ((a, b, b + rows), (a, b + rows, a + rows))]
    return grid, np.array(faces)


def strip_cells() -> Cells:
    vertices, faces = strip()
    return cells_of(cotangent_links(vertices, faces), vertices, faces, np.zeros(len(faces), dtype=np.int64))


def vertex_pulls(which: np.ndarray, places: np.ndarray, count: int, strength: float) -> Pulls:
    rows = sparse.csr_matrix((np.ones(len(which)), (np.arange(len(which)), which)), shape=(len(which), count))
    return Pulls(rows, places, np.full(len(which), strength))


def test_cotangents_of_equilateral_triangles_are_those_of_sixty_degrees():
    high = np.sqrt(3) / 2
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, high, 0], [0.5, -high, 0]])
    links = cotangent_links(vertices, np.array([[0, 1, 2], [1, 0, 3]])).toarray()
    half = 0.5 / np.sqrt(3)
    expected = np.array([[0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]) * half
    np.testing.assert_allclose(links, expected, atol=1e-12)


def test_a_face_without_area_gives_finite_cotangents():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    assert np.isfinite(cotangent_links(vertices, np.array([[0, 1, 2], [0, 0, 1]])).toarray()).all()


def test_cells_feel_no_rigid_motion():
    cells = strip_cells()
    moved = lie.apply(TURN, cells.rest)
    np.testing.assert_allclose(cells.rotations(moved), np.broadcast_to(TURN[:3, :3], (105, 3, 3)), atol=1e-9)
    np.testing.assert_allclose(cells.laplacian @ moved, cells.right_side(cells.rotations(moved)), atol=1e-12)


def test_a_moved_copy_pulled_to_where_it_is_stays():
    cells = strip_cells()
    moved = lie.apply(TURN, cells.rest)
    pulls = vertex_pulls(np.arange(105), moved, 105, 0.01)
    np.testing.assert_allclose(cells.relaxed(moved, pulls), moved, atol=1e-9)


def test_what_is_held_stays_and_the_rest_follows_with_its_lengths():
    """One end is held, the other pulled up softly: the strip rises and hardly stretches."""
    cells = strip_cells()
    held = cells.rest[:, 0] < 0.08
    tip = np.flatnonzero(cells.rest[:, 0] > 0.99)
    x = cells.rest
    for _ in range(60):
        x = cells.relaxed(x, vertex_pulls(tip, cells.rest[tip] + [-0.15, 0.5, 0.0], 105, 1e-3), held)
    np.testing.assert_array_equal(x[held], cells.rest[held])
    assert x[tip, 1].min() > 0.3
    lengths = np.linalg.norm(np.diff(x.reshape(21, 5, 3), axis=0), axis=2)
    assert np.abs(lengths / 0.05 - 1.0).max() < 0.05


def test_components_that_share_no_vertex_are_tied():
    first, second = box((0.4, 0.3, 0.3), (-0.3, 0, 0)), box((0.4, 0.3, 0.3), (0.3, 0, 0))
    vertices = np.concatenate([first.vertices, second.vertices])
    faces = np.concatenate([first.faces, second.faces + len(first.vertices)])
    groups = np.repeat([0, 1], [len(first.faces), len(second.faces)])
    cells = cells_of(cotangent_links(vertices, faces), vertices, faces, groups)
    across = (cells.edges < len(first.vertices)).sum(axis=1) == 1
    assert across.any()
    assert sparse.csgraph.connected_components(cells.laplacian, directed=False)[0] == 1


def test_components_are_tied_where_the_caller_says_and_nowhere_else():
    first, second = box((0.4, 0.3, 0.3), (-0.3, 0, 0)), box((0.4, 0.3, 0.3), (0.3, 0, 0))
    count = len(first.vertices)
    vertices = np.concatenate([first.vertices, second.vertices])
    faces = np.concatenate([first.faces, second.faces + count])
    groups = np.repeat([0, 1], [len(first.faces), len(second.faces)])
    ties = np.array([[0, count], [count, 0]])
    cells = cells_of(cotangent_links(vertices, faces), vertices, faces, groups, ties)
    across = (cells.edges < count).sum(axis=1) == 1
    np.testing.assert_array_equal(cells.edges[across], ties)
    assert cells.ties == 2
