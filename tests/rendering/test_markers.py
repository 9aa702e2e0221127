"""Shapes of markers, by geometry alone."""

import numpy as np
import pytest

from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.operators import face_normals
from neurok.rendering import Arrow, Axis, Ball, joint_markers
from neurok.rendering.markers import marker_geometry

MARKERS = [Arrow((0, 0, 0), (0, 2, 0)), Axis((1, 1, 1), (1, 1, 0), length=1.0), Ball((0, 1, 0), radius=0.2)]


@pytest.mark.parametrize("marker", MARKERS)
def test_faces_look_the_way_their_normals_do(marker):
    points, normals, faces = marker_geometry(marker, lambda p: p, 1.0)
    flat = face_normals(points, faces)
    solid = np.linalg.norm(flat, axis=1) > 0
    assert (np.einsum("ij,ij->i", flat, normals[faces].mean(axis=1))[solid] > 0).all()
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_an_arrow_reaches_from_its_origin_to_its_tip():
    points, _, _ = marker_geometry(MARKERS[0], lambda p: p, 1.0)
    assert points[:, 1].min() == pytest.approx(0.0)
    assert points[:, 1].max() == pytest.approx(2.0)
    points, _, _ = marker_geometry(MARKERS[1], lambda p: p, 1.0)
    assert np.allclose((points.min(axis=0) + points.max(axis=0)) / 2, 1.0, atol=0.05)


def test_an_axis_stands_beside_its_part_and_an_arrow_points_to_where_there_is_room():
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 4]], dtype=float)
    mesh = Mesh(np.concatenate([triangle, triangle + 1]), np.arange(6).reshape(2, 3), part_ids=np.repeat([0, 1], 3))
    joints = (
        Joint("revolute", axis=(0, 0, 1), origin=(5, 5, 100)),
        Joint("prismatic", axis=(1, 0, 0), lower=-1.0, upper=0.0),
    )
    hinge, slide = joint_markers(Articulation(mesh, joints))
    assert np.allclose(hinge.origin, (5, 5, 2))
    assert hinge.length > 4
    assert np.allclose(slide.direction, (-1, 0, 0))


def test_joint_axes_move_with_the_part_that_carries_them():
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    vertices = np.concatenate([triangle, triangle + 1, triangle + 2])
    mesh = Mesh(vertices, np.arange(9).reshape(3, 3), part_ids=np.repeat([0, 1, 2], 3))
    joints = (
        Joint(),
        Joint("revolute", parent=0, axis=(0, 0, 1), origin=(0, 0, 0)),
        Joint("prismatic", parent=1, axis=(1, 0, 0)),
    )
    hinge, slide = joint_markers(Articulation(mesh, joints), np.array([np.pi / 2, 0.5]))
    assert isinstance(hinge, Axis)
    assert isinstance(slide, Arrow)
    assert np.allclose(hinge.direction, (0, 0, 1))
    assert np.allclose(slide.direction, (0, 1, 0)), "the hinge has turned the slide"
    middle = vertices[6:].mean(axis=0)
    assert np.allclose(slide.origin, (-middle[1], middle[0] + 0.5, middle[2]))
