import json

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.core.surface import Surface, Texture
from neurok.doctor import diagnose
from neurok.doctor.frame import guess_unit

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def box(x, y, z, **rest):
    return Mesh(CUBE_VERTICES * [x, y, z], CUBE_FACES, **rest)


def table(up):
    """A board on four legs, with the given axis up."""
    pieces = [(CUBE_VERTICES * [1.2, 0.05, 0.8] + [0, 0.7, 0])]
    pieces += [CUBE_VERTICES * [0.05, 0.7, 0.05] + [x, 0, z] for x in (0, 1.15) for z in (0, 0.75)]
    faces = np.concatenate([CUBE_FACES + 8 * i for i in range(5)])
    return Mesh(np.concatenate(pieces), faces).in_frame(up)


def test_figures_of_a_box_in_centimetres_match_the_closed_form():
    found = diagnose(box(20.0, 30.0, 50.0, unit=0.01))
    assert found.is_watertight
    assert found.volume == pytest.approx(0.2 * 0.3 * 0.5)
    assert found.area == pytest.approx(2 * (0.2 * 0.3 + 0.3 * 0.5 + 0.2 * 0.5))
    assert found.size == pytest.approx((0.2, 0.3, 0.5))
    assert found.bounds == ((0.0, 0.0, 0.0), (20.0, 30.0, 50.0))
    assert (found.vertices, found.faces, found.components) == (8, 12, 1)
    assert (found.unit.value, found.is_usable) == ("cm", True)


def test_an_open_box_has_one_hole_and_no_volume():
    found = diagnose(Mesh(CUBE_VERTICES, CUBE_FACES[2:]))
    assert not found.is_watertight
    assert found.volume is None
    assert [(p.kind, p.count) for p in found.problems] == [("holes", 1)]


def test_three_fins_on_one_edge_are_not_manifold():
    vertices = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, -1, 0]]
    found = diagnose(Mesh(vertices, [[0, 1, 2], [0, 1, 3], [0, 1, 4]]))
    assert {p.kind: p.count for p in found.problems}["non_manifold_edges"] == 1


def test_touching_pieces_and_parts_count_as_components():
    vertices = np.concatenate([CUBE_VERTICES, CUBE_VERTICES + [1, 0, 0]])
    faces = np.concatenate([CUBE_FACES, CUBE_FACES + 8])
    assert diagnose(Mesh(vertices, faces)).components == 2
    found = diagnose(Mesh(vertices, faces, part_ids=np.repeat([0, 1], 8), part_names=("a", "b")))
    assert (found.components, found.parts) == (2, ("a", "b"))


def test_surfaces_and_textures_are_named():
    picture = Texture.from_pixels(np.zeros((2, 2, 3), np.uint8))
    mesh = box(1, 1, 1, surfaces=(Surface("wood", texture=picture), Surface("metal")), face_surfaces=[0, 1] * 6)
    found = diagnose(mesh)
    assert (found.surfaces, found.textures) == (("wood", "metal"), 1)


@pytest.mark.parametrize(("longest", "unit"), [(0.7, "m"), (3.1, "m"), (75.0, "cm"), (900.0, "mm"), (2500.0, "mm")])
def test_the_unit_of_an_everyday_object_is_guessed_from_its_size(longest, unit):
    guess = guess_unit(longest)
    assert guess.value == unit
    assert 0.3 < guess.confidence <= 1.0
    assert guess.reason


def test_a_unit_box_is_recognised_and_an_impossible_size_admits_it():
    assert guess_unit(1.0).confidence <= 0.5
    assert "unit box" in guess_unit(2.0).reason
    assert guess_unit(1e30).confidence == 0.0


@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_a_table_stands_on_its_legs(up):
    assert diagnose(table(up)).up.value == up


def test_a_table_saved_with_the_wrong_axis_is_seen_but_not_called_certain():
    standing = table("z")
    wrong = Mesh(standing.vertices, standing.faces, up="y")
    found = diagnose(wrong).up
    assert found.value == "z"
    assert found.confidence < 0.95  # its corner is the origin, so zero tells nothing


def test_the_report_is_plain_json():
    text = json.dumps(diagnose(box(1, 2, 3)).as_dict())
    assert json.loads(text)["is_usable"] is True


@pytest.mark.parametrize("name", ["laptop", "cabinet", "lamp", "pillow"])
def test_the_built_in_objects_are_usable_and_upright(name):
    found = diagnose(make_sample(name).mesh)
    assert found.is_usable
    assert found.up.value == "y"
    assert not [p for p in found.problems if p.severity != "info"]
