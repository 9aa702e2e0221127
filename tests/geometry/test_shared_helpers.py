import numpy as np

from neurok.geometry.rigid import axis_angle_matrix, nearest_rotation
from neurok.geometry.topology import vertex_labels


def test_the_nearest_rotation_of_a_stretched_turn_is_the_turn_and_never_a_mirror():
    turn = axis_angle_matrix(np.array([0.0, 0.6, 0.8]), 1.1)
    found = nearest_rotation(np.stack([turn @ np.diag([3.0, 2.0, 1.0]), turn @ np.diag([3.0, 2.0, -1.0])]))
    np.testing.assert_allclose(found[0], turn, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(found), 1.0)


def test_vertices_take_the_label_of_their_faces_and_loose_ones_are_named():
    faces = np.array([[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(vertex_labels(faces, np.array([7, 9]), 7, unused=-1), [7, 7, 7, 9, 9, 9, -1])
