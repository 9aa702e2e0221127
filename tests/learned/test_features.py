import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.geometry.lie import axis_angle_matrix
from neurok.learned.part_features import SOURCES, describe_parts, straighten
from neurok.learned.part_views import grips


def cabinet() -> Mesh:
    return make_sample("cabinet").articulation.mesh


def test_the_longest_side_of_the_box_is_one_and_places_return_to_where_they_were():
    mesh = cabinet()
    clouds = describe_parts(mesh)
    assert np.abs(clouds.points).max() <= 0.5 + 1e-9
    assert np.ptp(clouds.to_box(mesh.vertices), axis=0).max() == pytest.approx(1.0)
    assert np.allclose(clouds.from_box(clouds.to_box(mesh.vertices)), mesh.vertices)


@pytest.mark.parametrize("degrees", [-40.0, 13.0, 30.0])
def test_a_turned_object_is_turned_back(degrees):
    mesh = cabinet()
    turn = axis_angle_matrix(mesh.up_vector, np.radians(degrees))
    total = straighten(mesh.with_vertices(mesh.vertices @ turn.T), np.eye(3)) @ turn
    quarters = np.degrees(np.arctan2(total[0, 2], total[0, 0])) / 90.0
    assert quarters == pytest.approx(round(quarters), abs=0.01)


def test_true_axes_are_among_the_directions():
    for name in ("cabinet", "laptop", "lamp"):
        joints = make_sample(name).articulation
        clouds = describe_parts(joints.mesh)
        for row, part in enumerate(clouds.parts):
            joint = joints.joints[part]
            if joint.kind != "fixed":
                known = clouds.directions[row][clouds.sources[row] >= 0]
                assert np.abs(known @ (clouds.turn @ joint.axis)).max() > np.cos(np.radians(2.0))


def test_directions_are_unit_length_and_differ():
    clouds = describe_parts(cabinet())
    for directions, sources in zip(clouds.directions, clouds.sources, strict=True):
        known = directions[sources >= 0]
        assert np.allclose(np.linalg.norm(known, axis=1), 1.0)
        assert (np.abs(known @ known.T) - np.eye(len(known)) < 0.998).all()
        assert sources.max() < len(SOURCES)


def test_gaps_tell_the_distance_of_two_boards():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], dtype=float)
    vertices = np.concatenate([square, square + [0, 0.05, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    clouds = describe_parts(Mesh(vertices, faces, part_ids=np.repeat([0, 1], 4)))
    assert clouds.gaps.min() >= 0.05 - 1e-9
    assert np.median(clouds.gaps) == pytest.approx(0.05, abs=0.01)
    assert np.allclose(np.linalg.norm(clouds.toward, axis=-1), clouds.gaps)
    assert clouds.pairs[0, 1, 0] == pytest.approx(0.05, abs=0.005)


def test_a_handle_is_where_a_board_sticks_out():
    board = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 0.02)], dtype=float)
    knob = np.array([[x, y, z] for x in (0.85, 0.9) for y in (0.9, 1.1) for z in (0.02, 0.1)], dtype=float)
    box = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip
    mesh = Mesh(np.concatenate([board, knob]), np.concatenate([box, box + 8]))
    clouds = describe_parts(mesh)
    found = clouds.from_box(grips(clouds)[0])
    assert found[0] == pytest.approx(0.87, abs=0.08)


def test_parts_without_area_have_no_row_and_a_mesh_of_them_is_refused():
    mesh = cabinet()
    named = Mesh(mesh.vertices, mesh.faces, part_ids=mesh.part_ids, part_names=(*mesh.part_names, "empty"))
    assert len(describe_parts(named).parts) == len(mesh.part_names)
    flat = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    with pytest.raises(NeurokError, match="no part with area"):
        describe_parts(flat)
