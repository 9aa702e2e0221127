import numpy as np
import pytest

from neurok.core import Mesh
from neurok.core.mesh import frame_change
from neurok.errors import MeshError, ShapeError

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_arrays_are_frozen():
    mesh = Mesh(TRIANGLE, [[0, 1, 2]])
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1


@pytest.mark.parametrize(
    ("vertices", "faces", "word"),
    [
        (TRIANGLE, np.zeros((0, 3)), "empty"),
        ([[np.nan, 0, 0], *TRIANGLE[1:]], [[0, 1, 2]], "NaN"),
        (TRIANGLE, [[0, 1, 3]], "outside"),
        (TRIANGLE, [[0, 1, -1]], "outside"),
    ],
)
def test_a_broken_mesh_is_refused_and_handed_to_the_doctor(vertices, faces, word):
    with pytest.raises(MeshError, match=word) as caught:
        Mesh(vertices, faces)
    assert caught.value.draft.vertices.shape == (3, 3)


def test_wrong_shapes_and_spanning_faces_are_refused():
    with pytest.raises(ShapeError, match="vertices must have shape"):
        Mesh([[0, 0]], [[0, 0, 0]])
    with pytest.raises(ShapeError, match="two parts"):
        Mesh(TRIANGLE, [[0, 1, 2]], part_ids=[0, 0, 1])
    with pytest.raises(ShapeError, match="uv must have shape"):
        Mesh(TRIANGLE, [[0, 1, 2]], uv=[[0, 0]])


@pytest.mark.parametrize("start", ["x", "y", "z"])
@pytest.mark.parametrize("end", ["x", "y", "z"])
def test_changing_the_frame_is_a_rotation_that_moves_up_to_up(start, end):
    turn = frame_change(start, end)
    assert np.linalg.det(turn) == pytest.approx(1.0)
    mesh = Mesh(TRIANGLE, [[0, 1, 2]], up=start, unit=0.01)
    np.testing.assert_array_equal(turn @ mesh.up_vector, mesh.in_frame(end).up_vector)
    assert mesh.in_frame(end, 1.0).size == pytest.approx(0.01 * mesh.size)
    np.testing.assert_allclose(mesh.in_frame(end, 1.0).in_frame(start, 0.01).vertices, mesh.vertices)
