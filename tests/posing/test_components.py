import numpy as np
import pytest

from neurok.core.mesh import Mesh
from neurok.modelling.shapes import box
from neurok.posing.components import Components, contact_ties


def boxes(*places) -> Mesh:
    """Unit cubes with their centres at places."""
    cube = box((1.0, 1.0, 1.0))
    vertices = np.concatenate([cube.vertices - cube.vertices.mean(axis=0) + place for place in places])
    faces = np.concatenate([cube.faces + k * len(cube.vertices) for k in range(len(places))])
    return Mesh(vertices, faces)


@pytest.fixture(scope="module")
def row() -> Components:
    """Three cubes in a row that touch, the last one alone."""
    return Components(boxes([0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0], [8.0, 0, 0]))


def test_components_are_numbered_by_first_appearance(row):
    per = row.mesh.face_count // 4
    np.testing.assert_array_equal(row.face_labels, np.repeat([0, 1, 2, 3], per))
    assert row.count == 4


def test_what_touches_is_in_contact_and_what_is_alone_touches_its_nearest_neighbour(row):
    assert [(c.first, c.second) for c in row.contacts.pairs] == [(0, 1), (1, 2), (2, 3)]


def test_surfaces_that_share_vertices_are_components_that_touch():
    """Two squares of different material with a common edge."""
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])
    from neurok.core import Surface

    mesh = Mesh(vertices, faces, surfaces=(Surface(), Surface()), face_surfaces=np.array([0, 0, 1, 1]))
    components = Components(mesh)
    assert components.count == 2
    assert [(c.first, c.second) for c in components.contacts.pairs] == [(0, 1)]


def test_ties_join_vertices_of_components_in_contact_alone_and_go_both_ways(row):
    ties = contact_ties(row.contacts, row.mesh.vertices, row.vertex_labels)
    pairs = {tuple(pair) for pair in row.vertex_labels[ties].tolist()}
    assert pairs == {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)}
    touching = np.isin(row.vertex_labels[ties], [0, 1]).all(axis=1)
    away = np.linalg.norm(np.diff(row.mesh.vertices[ties[touching]], axis=1)[:, 0], axis=1)
    assert np.median(away) < 1e-9
    assert {tuple(pair) for pair in ties.tolist()} == {tuple(pair[::-1]) for pair in ties.tolist()}


def test_one_component_has_no_contacts():
    alone = Components(boxes([0.0, 0, 0]))
    assert alone.contacts.pairs == ()
    assert contact_ties(alone.contacts, alone.mesh.vertices, alone.vertex_labels).shape == (0, 2)


def test_seams_that_the_pose_keeps_together_are_closed_and_others_stay_open():
    components = Components(boxes([0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]))
    label, rest = components.vertex_labels, components.mesh.vertices
    shift = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.4, 0, 0]])
    found = rest + shift[label]
    pose = rest + np.array([[0.0, 0, 0], [0.0, 0, 0], [0.3, 0, 0]])[label]
    closed = components.closed(found, pose, np.zeros(3, dtype=bool), apart=0.05)
    first_seam = np.isclose(rest[:, 0], 0.5)
    np.testing.assert_allclose(closed[first_seam, 0], 0.55, err_msg="both sides meet in the middle")
    np.testing.assert_array_equal(closed[~first_seam], found[~first_seam], err_msg="the second was open in the pose")
    held = components.closed(found, pose, np.array([True, False, False]), apart=0.05)
    np.testing.assert_array_equal(held[label == 0], found[label == 0])
    np.testing.assert_allclose(held[first_seam & (label == 1), 0], 0.5, err_msg="what bends goes to what is rigid")
