"""Mass, centre and inertia of solids and shells."""

import numpy as np
import pytest

from neurok.core import Articulation, Inertial, Joint, Material, MaterialField, Mesh, material
from neurok.dynamics import Body
from neurok.dynamics.masses import inertial_of, moment_of, part_moments, vertex_masses
from neurok.errors import NeurokError
from neurok.kinematics import ArticulatedSpace
from neurok.modelling import shapes


def test_a_box_has_the_inertia_of_the_textbook(block):
    box = block((0.2, 0.1, 0.4))
    inertial = inertial_of(part_moments(Body.of(ArticulatedSpace(box), density=700.0), box)[0])
    mass = 700.0 * 0.2 * 0.1 * 0.4
    x, y, z = 0.2, 0.1, 0.4
    assert inertial.mass == pytest.approx(mass)
    np.testing.assert_allclose(inertial.center, [0.0, 0.05, 0.0], atol=1e-12)
    expected = mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])
    np.testing.assert_allclose(inertial.inertia, expected, atol=1e-12)


def test_an_open_sheet_weighs_its_area_times_its_thickness():
    sheet = Mesh(np.array([[0, 0, 0], [2, 0, 0], [0, 3, 0.0]]), np.array([[0, 1, 2]]))
    space = ArticulatedSpace(Articulation(sheet, (Joint(),)))
    assert vertex_masses(Body.of(space, density=100.0, thickness=0.01)).sum() == pytest.approx(3.0)


def test_vertex_masses_of_a_closed_piece_sum_to_its_volume_times_density():
    sphere = shapes.sphere(0.5, 48, 32)
    mesh = Mesh(sphere.vertices, sphere.faces)
    field = MaterialField.uniform(Material(density=200.0), mesh.vertex_count)
    total = vertex_masses(Body.of(ArticulatedSpace(Articulation(mesh, (Joint(),))), materials=field)).sum()
    assert total == pytest.approx(200.0 * 4 / 3 * np.pi * 0.125, rel=0.02)


def test_moments_and_inertials_are_two_words_for_the_same_thing():
    inertial = Inertial(2.0, np.array([0.1, 0.2, 0.3]), np.diag([1.0, 1.5, 2.0]))
    back = inertial_of(moment_of(inertial, 0.01), 0.01)
    assert back.mass == pytest.approx(2.0)
    np.testing.assert_allclose(back.center, inertial.center)
    np.testing.assert_allclose(back.inertia, inertial.inertia, rtol=1e-10)


def test_inertials_of_the_file_are_honoured(block):
    box = block()
    given = Inertial(3.0, np.zeros(3), np.eye(3))
    held = Articulation(box.mesh, box.joints, (given,))
    assert part_moments(Body.of(ArticulatedSpace(held)), held)[0][3, 3] == pytest.approx(3.0)


def test_a_joint_that_moves_no_mass_is_refused(chain):
    rod = chain(2)
    lost = Mesh(rod.mesh.vertices, rod.mesh.faces, part_ids=rod.mesh.part_ids, part_names=("a", "b", "handle"))
    joints = (*rod.joints, Joint("revolute", 1))
    from neurok.dynamics import simulate

    with pytest.raises(NeurokError, match="moves no mass"):
        simulate(ArticulatedSpace(Articulation(lost, joints)))


def test_an_open_sheet_is_as_thick_as_its_material_comes():
    sheet = np.array([[0.0, 0, 0], [2, 0, 0], [2, 0, 3], [0, 0, 3]])
    mesh = Mesh(sheet, np.array([[0, 1, 2], [0, 2, 3]]), unit=0.5)
    cotton = MaterialField.uniform(material("cotton"), 4)
    mass = 1.5 * material("cotton").thickness * material("cotton").density
    assert vertex_masses(Body.of(mesh, materials=cotton)).sum() == pytest.approx(mass)
    rigid = Body.of(mesh, materials=cotton)
    assert part_moments(rigid, rigid.poses.articulation)[0, 3, 3] == pytest.approx(mass)
    thick = Body.of(mesh, materials=cotton, thickness=0.02)
    assert vertex_masses(thick).sum() == pytest.approx(1.5 * 0.01 * material("cotton").density)
    oak = Body.of(mesh, materials=MaterialField.uniform(material("oak"), 4))
    assert vertex_masses(oak).sum() == pytest.approx(1.5 * 0.01 * mesh.size * 0.5 * 700.0)
