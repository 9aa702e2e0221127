"""Parts from files, labels and connected pieces."""

import numpy as np
import pytest

from neurok.bodyplan.bodies import find_parts
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.modelling.shapes import slab
from solids import door_on_a_box, of_parts


def without_parts(mesh):
    return Mesh(mesh.vertices, mesh.faces)


def test_parts_of_the_file_stay_as_they_are():
    mesh = door_on_a_box()
    assert find_parts(mesh) is mesh


def test_labels_of_faces_and_of_vertices_give_the_same_parts():
    mesh = door_on_a_box()
    bare = without_parts(mesh)
    by_face = find_parts(bare, mesh.face_parts * 7)
    by_vertex = find_parts(bare, mesh.part_ids)
    assert by_face.part_count == by_vertex.part_count == 2
    assert np.array_equal(by_face.face_parts, mesh.face_parts)
    assert np.array_equal(by_vertex.face_parts, mesh.face_parts)


@pytest.mark.parametrize("labels", [np.zeros(3, dtype=int), np.zeros(5), np.zeros((4, 4), dtype=int)])
def test_labels_that_fit_nothing_are_told(labels):
    with pytest.raises(NeurokError, match=r"[Ll]abels"):
        find_parts(without_parts(door_on_a_box()), labels)


def test_pieces_that_touch_stay_apart_and_small_ones_join_what_carries_them():
    left, right = slab((0, 0, 0), (1, 1, 1)), slab((1, 0, 0), (2, 1, 1))
    screw = slab((1.5, 1.0, 0.5), (1.54, 1.03, 0.54))
    mesh = find_parts(without_parts(of_parts(left=[left], right=[right], screw=[screw])))
    assert mesh.part_count == 2
    parts = mesh.face_parts
    assert (parts[24:] == parts[12]).all()
    assert parts[0] != parts[12]


def test_one_piece_is_one_part():
    mesh = find_parts(without_parts(of_parts(only=[slab((0, 0, 0), (1, 1, 1))])))
    assert mesh.part_count == 1
    assert (mesh.face_parts == 0).all()


def test_thousands_of_pieces_become_few():
    places = [(i % 30, i // 30, 0.0) for i in range(900)]
    crumbs = [slab(p, (p[0] + 0.5, p[1] + 0.5, 0.5)) for p in places]
    mesh = find_parts(without_parts(of_parts(all=[slab((-1, -1, -1), (31, 31, 0)), *crumbs])))
    assert mesh.part_count == 1


def test_what_lies_with_most_of_its_surface_on_another_belongs_to_it():
    board, sheet = slab((0, 0, 0), (4, 0.5, 3)), slab((0.5, 0.5, 0.5), (3, 0.52, 2))
    block = slab((0.5, 0.5, 0.5), (3, 2.0, 2))
    counts = [find_parts(without_parts(of_parts(board=[board, other]))).part_count for other in (sheet, block)]
    assert counts == [1, 2]
