"""Parts from files, labels and connected pieces."""

import numpy as np
import pytest

from neurok.bodyplan.bodies import find_parts
from neurok.bodyplan.config import BodiesConfig, ContactConfig
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


@pytest.mark.parametrize(("count", "parts"), [(3, 4), (30, 1)])
def test_a_few_knobs_are_parts_but_the_keys_of_a_keyboard_are_details(count, parts):
    board = slab((0, 0, 0), (4, 0.5, 3))
    knobs = [
        slab((x, 0.5, z), (x + 0.2, 0.6, z + 0.2)) for x, z in [(0.3 * (k % 10), 0.3 * (k // 10)) for k in range(count)]
    ]
    assert find_parts(without_parts(of_parts(board=[board, *knobs]))).part_count == parts


@pytest.mark.parametrize(("length", "parts"), [(1.0, 2), (2.0, 1)])
def test_a_disc_sunk_into_its_carrier_is_a_part_and_a_strip_is_a_detail(length, parts):
    trimesh = pytest.importorskip("trimesh")
    plate = trimesh.creation.box(bounds=[[-length / 2, 0.0, -0.5], [length / 2, 0.2, 0.5]])
    board = trimesh.creation.box(bounds=[[-2.0, -0.5, -2.0], [2.0, 0.2, 2.0]])
    tray = trimesh.boolean.difference([board, plate], engine="manifold")
    both = trimesh.util.concatenate([tray, plate])
    assert find_parts(Mesh(np.array(both.vertices), np.array(both.faces))).part_count == parts


WALLS = [
    slab((-1.0, 0.0, -1.2), (-0.95, 2.0, 0.0)),
    slab((0.95, 0.0, -1.2), (1.0, 2.0, 0.0)),
    slab((-0.95, 0.0, -1.2), (0.95, 2.0, -1.15)),
    slab((-0.95, 0.0, -1.15), (0.95, 0.05, 0.0)),
    slab((-0.95, 1.95, -1.15), (0.95, 2.0, 0.0)),
]
"""Of a cabinet that is open in front."""


def test_the_box_of_a_drawer_is_one_part_with_its_front():
    drawer = [slab((-0.7, 1.0, 0.0), (0.7, 1.6, 0.05)), slab((-0.6, 1.1, -1.0), (0.6, 1.5, 0.0))]
    parts = find_parts(without_parts(of_parts(body=WALLS, drawer=drawer))).face_parts.reshape(-1, 12)
    assert len(set(parts[5:].reshape(-1))) == 1
    assert parts[5, 0] not in parts[:5]


def test_sides_that_stand_on_a_bottom_are_one_part_with_it_and_what_hangs_under_a_top_is_not():
    sides = [slab((-0.6, 1.1, -1.0), (-0.55, 1.3, 0.0)), slab((0.55, 1.1, -1.0), (0.6, 1.3, 0.0))]
    panel = lambda height: slab((-0.6, height, -1.0), (0.6, height + 0.03, 0.0))  # noqa: E731
    count = lambda *made: len(set(find_parts(without_parts(of_parts(all=[*WALLS, *made]))).face_parts[5 * 12 :]))  # noqa: E731
    assert count(panel(1.07), *sides) == 1
    assert count(panel(1.3), *sides) == 3


def test_one_piece_is_one_part():
    mesh = find_parts(without_parts(of_parts(only=[slab((0, 0, 0), (1, 1, 1))])))
    assert mesh.part_count == 1
    assert (mesh.face_parts == 0).all()


def test_thousands_of_pieces_become_few():
    places = [(i % 30, i // 30, 0.0) for i in range(900)]
    crumbs = [slab(p, (p[0] + 0.5, p[1] + 0.5, 0.5)) for p in places]
    mesh = find_parts(without_parts(of_parts(all=[slab((-1, -1, -1), (31, 31, 0)), *crumbs])))
    assert mesh.part_count == 1


def test_what_is_a_detail_is_said_by_the_configuration():
    left, right = slab((0, 0, 0), (1, 1, 1)), slab((1, 0, 0), (2, 1, 1))
    screw = slab((1.5, 1.0, 0.5), (1.54, 1.03, 0.54))
    bare = without_parts(of_parts(left=[left], right=[right], screw=[screw]))
    assert find_parts(bare).part_count == 2
    assert find_parts(bare, config=BodiesConfig(contacts=ContactConfig(small_part=0.01))).part_count == 3
    assert find_parts(bare, config=BodiesConfig(most_pieces=1)).part_count == 1
