import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from neurok.geometry.convex import convex_hull, convex_pieces
from neurok.geometry.lie import axis_angle_matrix
from neurok.geometry.operators import mass_properties


def box(extents, center=(0, 0, 0)):
    mesh = trimesh.creation.box(extents)
    return np.asarray(mesh.vertices) + center, np.asarray(mesh.faces, dtype=np.int64)


def test_a_solid_box_matches_the_closed_form_wherever_it_stands():
    a, b, c = 0.5, 1.0, 2.0
    vertices, faces = box((a, b, c), center=(30, -4, 5))
    mass, center, inertia = mass_properties(vertices, faces, density=700.0)
    assert mass == pytest.approx(700 * a * b * c)
    np.testing.assert_allclose(center, [30, -4, 5])
    np.testing.assert_allclose(inertia, np.diag([b**2 + c**2, a**2 + c**2, a**2 + b**2]) * mass / 12, atol=1e-9)


def test_a_box_wound_inside_out_or_with_split_vertices_weighs_the_same():
    vertices, faces = box((1, 2, 3))
    expected = mass_properties(vertices, faces)
    for v, f in ((vertices, faces[:, ::-1]), (vertices[faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))):
        for have, want in zip(mass_properties(v, f), expected, strict=True):
            np.testing.assert_allclose(have, want, atol=1e-9)


def test_a_regular_tetrahedron_matches_the_closed_form():
    vertices = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    mass, center, inertia = mass_properties(vertices, faces, density=3.0)
    side = np.sqrt(8.0)
    assert mass == pytest.approx(3.0 * side**3 / (6 * np.sqrt(2)))
    np.testing.assert_allclose(center, 0, atol=1e-12)
    np.testing.assert_allclose(inertia, np.eye(3) * mass * side**2 / 20, atol=1e-12)


def test_a_fine_sphere_comes_close_to_two_fifths_of_m_r_squared():
    sphere = trimesh.creation.icosphere(subdivisions=4, radius=2.0)
    mass, _, inertia = mass_properties(np.asarray(sphere.vertices), np.asarray(sphere.faces, dtype=np.int64), 10.0)
    assert mass == pytest.approx(10 * 4 / 3 * np.pi * 8, rel=5e-3)
    np.testing.assert_allclose(np.diag(inertia), 0.4 * mass * 4, rtol=5e-3)


def test_an_open_sheet_has_the_inertia_of_a_thin_plate():
    vertices = np.array([[0, 0, 1], [2, 0, 1], [2, 3, 1], [0, 3, 1]], float)
    mass, center, inertia = mass_properties(vertices, np.array([[0, 1, 2], [0, 2, 3]]), 100.0, thickness=0.01)
    assert mass == pytest.approx(100 * 6 * 0.01)
    np.testing.assert_allclose(center, [1, 1.5, 1])
    np.testing.assert_allclose(inertia, np.diag([9, 4, 13]) * mass / 12, atol=1e-12)


def test_a_sheet_with_a_back_of_its_own_weighs_no_more():
    vertices = np.array([[0, 0, 1], [2, 0, 1], [2, 3, 1], [0, 3, 1]], float)
    front = np.array([[0, 1, 2], [0, 2, 3]])
    single = mass_properties(vertices, front, 100.0)
    double = mass_properties(np.concatenate([vertices] * 2), np.concatenate([front, front[:, ::-1] + 4]), 100.0)
    for have, want in zip(double, single, strict=True):
        np.testing.assert_allclose(have, want, atol=1e-12)


def test_two_boxes_add_up_by_the_parallel_axis_theorem_and_each_face_has_its_density():
    v1, f1 = box((1, 1, 1), (-2, 0, 0))
    v2, f2 = box((1, 1, 1), (2, 0, 0))
    density = np.repeat([100.0, 300.0], [len(f1), len(f2)])
    mass, center, inertia = mass_properties(np.concatenate([v1, v2]), np.concatenate([f1, f2 + len(v1)]), density)
    assert mass == pytest.approx(400)
    np.testing.assert_allclose(center, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(inertia[1, 1], 400 / 6 + 100 * 9 + 300 * 1)


@given(st.tuples(*[st.floats(-1, 1)] * 3), st.floats(-3, 3))
def test_turning_a_body_turns_its_inertia(axis, angle):
    axis = np.array(axis) + [0, 0, 1.5]
    turn = axis_angle_matrix(axis / np.linalg.norm(axis), angle)
    vertices, faces = box((1, 2, 3), center=(0.3, 0.2, 0.1))
    mass, center, inertia = mass_properties(vertices, faces)
    turned_mass, turned_center, turned = mass_properties(vertices @ turn.T, faces)
    assert turned_mass == pytest.approx(mass)
    np.testing.assert_allclose(turned_center, turn @ center, atol=1e-9)
    np.testing.assert_allclose(turned, turn @ inertia @ turn.T, atol=1e-6)


def test_hulls_are_closed_outward_and_hold_every_vertex():
    sphere = trimesh.creation.icosphere(subdivisions=4)
    flat = (np.array([[5, 0, 0], [6, 0, 0], [6, 1, 0.0]]), np.array([[0, 1, 2]]))
    vertices = np.concatenate([sphere.vertices, flat[0]])
    faces = np.concatenate([sphere.faces, flat[1] + len(sphere.vertices)]).astype(np.int64)
    pieces = convex_pieces(vertices, faces)
    assert len(pieces) == 2
    for v, f in pieces:
        hull = trimesh.Trimesh(v, f, process=False)
        assert hull.is_watertight
        assert hull.volume > 0
        assert len(v) <= 160
    assert trimesh.Trimesh(*pieces[0]).volume == pytest.approx(sphere.volume, rel=0.1)


def test_small_pieces_join_a_neighbour_and_points_have_no_hull():
    big, faces = box((1, 1, 1))
    screws = [box((0.01, 0.01, 0.01), (0.4, 0.4, 0.5 + 0.01 * k)) for k in range(5)]
    vertices = np.concatenate([big, *(v for v, _ in screws)])
    faces = np.concatenate([faces, *(f + 8 * (k + 1) for k, (_, f) in enumerate(screws))])
    assert len(convex_pieces(vertices, faces)) == 1
    assert convex_hull(np.zeros((4, 3)), 0.1) is None
    assert convex_pieces(np.zeros((3, 3)), np.array([[0, 1, 2]])) == []
