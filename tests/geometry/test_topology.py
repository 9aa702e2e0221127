import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.geometry.topology import (
    degenerate_faces,
    face_components,
    is_watertight,
    split_by_face_label,
    unique_edges,
    vertex_labels,
)

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def two_cubes(shift):
    return np.concatenate([CUBE_VERTICES, CUBE_VERTICES + shift]), np.concatenate([CUBE_FACES, CUBE_FACES + 8])


def test_splitting_by_label_copies_only_what_is_shared():
    labels = np.repeat([0, 1], 6)
    index, faces, vertex_labels = split_by_face_label(CUBE_FACES, labels)
    np.testing.assert_array_equal(index[faces], CUBE_FACES)
    np.testing.assert_array_equal(vertex_labels[faces], np.repeat(labels[:, None], 3, axis=1))
    used = [set(CUBE_FACES[labels == label].ravel()) for label in (0, 1)]
    assert len(index) == len(used[0]) + len(used[1])


def test_a_cube_of_triangles_has_eighteen_edges_in_order():
    edges = unique_edges(CUBE_FACES)
    assert len(edges) == 8 + 12 - 2  # Euler: V - E + F = 2
    assert (edges[:, 0] < edges[:, 1]).all()


@pytest.mark.parametrize("shift", [[1, 0, 0], [1, 1, 0], [1, 1, 1], [5, 0, 0]], ids=["face", "edge", "corner", "apart"])
def test_closed_solids_that_merely_touch_stay_apart(shift):
    components = face_components(*two_cubes(shift))
    np.testing.assert_array_equal(components, np.repeat([0, 1], 12))


def test_split_vertices_are_joined_across_seams_only_when_asked():
    soup = CUBE_VERTICES[CUBE_FACES.reshape(-1)], np.arange(36).reshape(-1, 3)
    assert face_components(*soup).max() == 0
    np.testing.assert_array_equal(face_components(*soup, weld=False), np.arange(12))


def test_walls_are_never_crossed():
    walls = np.repeat([4, 9], 6)
    components = face_components(CUBE_VERTICES, CUBE_FACES, walls)
    for wall in (4, 9):
        assert not set(components[walls == wall]) & set(components[walls != wall])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 7)] * 3), min_size=1, max_size=12))
def test_components_agree_with_a_slow_search(rows):
    faces = np.array(rows)
    groups = [{i} for i in range(len(faces))]
    merged = True
    while merged:
        merged = False
        for i, group in enumerate(groups):
            for other in groups[i + 1 :]:
                if {int(v) for f in group for v in faces[f]} & {int(v) for f in other for v in faces[f]}:
                    group |= other
                    groups.remove(other)
                    merged = True
                    break
    components = face_components(CUBE_VERTICES, faces, weld=False)
    assert {frozenset(np.flatnonzero(components == c).tolist()) for c in np.unique(components)} == {
        frozenset(group) for group in groups
    }


def test_a_cube_is_watertight_until_a_face_is_turned_or_missing():
    assert is_watertight(CUBE_FACES)
    assert not is_watertight(CUBE_FACES[1:])
    turned = CUBE_FACES.copy()
    turned[0] = turned[0, ::-1]
    assert not is_watertight(turned)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_faces_without_area_are_found_at_any_scale(scale):
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1e-3, 0]]) * scale
    faces = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 3]])
    assert degenerate_faces(vertices, faces).tolist() == [True, True, False]


def test_vertices_take_the_label_of_their_faces_and_loose_ones_are_named():
    faces = np.array([[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(vertex_labels(faces, np.array([7, 9]), 7, unused=-1), [7, 7, 7, 9, 9, 9, -1])
