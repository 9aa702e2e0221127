"""The built-in objects: complete, moving as they should, and named in the error when asked for a wrong one."""

import numpy as np
import pytest

from neurok.catalogue.samples import SAMPLES, make_sample
from neurok.errors import NeurokError
from neurok.geometry.topology import degenerate_faces, face_components, is_watertight
from neurok.io.formats import load


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_stands_on_the_ground_in_sane_metres(name):
    mesh = make_sample(name).mesh
    assert abs(mesh.bounds[0, 1]) < 0.005
    assert 0.2 < mesh.size < 2.0
    assert not degenerate_faces(mesh.vertices, mesh.faces).any()
    assert mesh.surfaces
    assert mesh.up == "y"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_the_same_every_time(name):
    first, second = make_sample(name).mesh, make_sample(name).mesh
    np.testing.assert_array_equal(first.vertices, second.vertices)
    np.testing.assert_array_equal(first.faces, second.faces)


def test_the_name_works_wherever_a_path_does():
    assert load("sample:lamp").articulation is not None


def test_an_unknown_sample_lists_the_known_ones():
    with pytest.raises(NeurokError, match="laptop, cabinet, lamp, pillow"):
        make_sample("spaceship")


def test_the_laptop_closes_onto_its_base():
    laptop = make_sample("laptop").articulation
    closed = laptop.pose(np.array([laptop.limits[0, 1]]))
    assert closed.bounds[1, 1] < 0.025
    screen = closed.vertices[laptop.vertex_parts == 1]
    assert screen[:, 1].min() > 0.008


def test_the_cabinet_has_two_doors_and_three_drawers():
    cabinet = make_sample("cabinet").articulation
    assert [j.kind for j in cabinet.joints] == ["fixed", "revolute", "revolute", "prismatic", "prismatic", "prismatic"]
    for q in np.diag(cabinet.limits[np.arange(5), np.abs(cabinet.limits).argmax(axis=1)]):
        assert cabinet.pose(q).bounds[1, 2] > cabinet.mesh.bounds[1, 2] + 0.1


def test_the_lamp_is_a_chain_of_four_joints():
    lamp = make_sample("lamp").articulation
    assert [j.parent for j in lamp.joints] == [-1, 0, 1, 2, 3]
    assert lamp.dof == 4


def test_the_pillow_is_one_closed_surface_without_joints():
    pillow = make_sample("pillow")
    assert pillow.articulation is None
    assert is_watertight(pillow.mesh.faces)
    assert face_components(pillow.mesh.vertices, pillow.mesh.faces).max() == 0
