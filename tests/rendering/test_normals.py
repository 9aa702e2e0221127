"""Normals of drawn corners against closed forms."""

import numpy as np
import pytest
import trimesh

from neurok.core import Mesh
from neurok.core.mesh import Authored
from neurok.geometry.operators import Corners, face_normals, find_corners
from neurok.rendering.gpu_mesh import authored_turns


def corners_of(mesh: Mesh, crease: float = 38.0) -> Corners:
    return find_corners(mesh.vertices, mesh.faces, mesh.part_ids, crease)


def split(vertices, faces, **fields):
    """Every face with vertices of its own, as many exporters write them."""
    return Mesh(vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3), **fields)


def test_a_box_keeps_its_edges_and_a_split_ball_is_smooth():
    box = trimesh.creation.box()
    mesh = Mesh(box.vertices, box.faces)
    corners = corners_of(mesh)
    normals = corners.normals(mesh.vertices, mesh.faces)[corners.faces]
    assert len(corners.source) == 24
    assert np.allclose(normals, face_normals(mesh.vertices, mesh.faces)[:, None], atol=1e-6)

    ball = trimesh.creation.icosphere(3)
    mesh = split(ball.vertices, ball.faces)
    corners = corners_of(mesh)
    normals = corners.normals(mesh.vertices, mesh.faces)
    places = mesh.vertices[corners.source]
    assert np.einsum("ij,ij->i", normals, places).min() > 0.999
    assert corners.patch.max() + 1 == len(ball.vertices)


@pytest.mark.parametrize(("angle", "shared"), [(30.0, True), (45.0, False)])
def test_two_faces_share_normals_up_to_the_crease_angle(angle, shared):
    a = np.radians(angle)
    vertices = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [np.cos(a), 0, np.sin(a)]])
    mesh = Mesh(vertices, np.array([[0, 1, 2], [1, 0, 3]]))
    assert (len(corners_of(mesh, crease=38.0).source) == 4) == shared


def test_flat_shading_gives_every_face_its_own_normal():
    ball = trimesh.creation.icosphere(1)
    mesh = Mesh(ball.vertices, ball.faces)
    corners = corners_of(mesh, crease=0.0)
    normals = corners.normals(mesh.vertices, mesh.faces)[corners.faces]
    assert np.allclose(normals, face_normals(mesh.vertices, mesh.faces)[:, None], atol=1e-6)


def test_touching_parts_are_not_smoothed_into_one():
    vertices = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0.1]])
    faces = np.array([[0, 1, 2], [1, 0, 3]])
    assert corners_of(split(vertices, faces)).patch.max() + 1 == 4
    assert corners_of(split(vertices, faces, part_ids=np.repeat([0, 1], 3))).patch.max() + 1 == 6


def test_opposite_windings_and_degenerate_faces_do_no_harm():
    vertices = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0.1], [5, 5, 5]])
    mesh = Mesh(vertices, np.array([[0, 1, 2], [0, 1, 3], [4, 4, 4]]))
    corners = corners_of(mesh)
    normals = corners.normals(mesh.vertices, mesh.faces)
    assert np.isfinite(normals).all()
    assert normals[corners.faces[0, 0]] @ normals[corners.faces[1, 0]] < 0


def test_normals_follow_a_motion():
    ball = trimesh.creation.icosphere(2)
    mesh = Mesh(ball.vertices, ball.faces)
    turn = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])[:3, :3]
    corners = corners_of(mesh)
    rest = corners.normals(mesh.vertices, mesh.faces)
    assert np.allclose(corners.normals(mesh.vertices @ turn.T, mesh.faces), rest @ turn.T, atol=1e-5)


def test_of_two_faces_back_to_back_each_is_lit_on_its_own_side():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    up = np.tile([0.0, 0.0, 1.0], (3, 1)).astype(np.float32)
    mesh = Mesh(vertices, np.array([[0, 1, 2], [0, 2, 1]]), authored=Authored(vertices, up))
    corners = corners_of(mesh)
    found = authored_turns(mesh, corners)
    assert found is not None
    np.testing.assert_allclose(found.given[corners.faces][:, :, 2], [[1, 1, 1], [-1, -1, -1]])
