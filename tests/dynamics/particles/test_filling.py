"""Objects as particles."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from neurok.core import Material, MaterialField, Mesh, material
from neurok.dynamics import Body
from neurok.dynamics.particles.constitution import SHEET, SHELL, SOLID, stiff_sheets, stiff_solids
from neurok.dynamics.particles.filling import fill
from neurok.dynamics.particles.skinning import embed, radii, soft_skin
from neurok.dynamics.particles.state import SoftSkin
from neurok.errors import NeurokError
from neurok.geometry.distance import closest_point
from neurok.modelling.shapes import box, cylinder, join, lathe, sphere

JELLY = Material("jelly", young=1e4, density=1000.0)


def body_of(shape, stuff=JELLY, **fields):
    mesh = Mesh(shape.vertices, shape.faces)
    return Body.of(mesh, materials=MaterialField.uniform(stuff, mesh.vertex_count), **fields)


def filled(shape, cell, stuff=JELLY, **fields):
    body = body_of(shape, stuff, **fields)
    return fill(body, body.mesh.vertices, cell)


def test_eight_particles_per_cell_and_the_mass_of_the_solid():
    found = filled(box((0.4, 0.4, 0.4)), 0.05)
    assert found.count == pytest.approx(8 * 8**3, rel=0.15)
    assert (found.volumes * found.densities).sum() == pytest.approx(64.0, rel=1e-3)
    assert (found.fill == SOLID).all()
    assert np.abs(found.points).max() < 0.2


def test_a_hole_and_a_turned_face_do_not_empty_a_ball():
    ball = sphere(0.2, 32, 16)
    whole = filled(ball, 0.04).count
    faces = ball.faces.copy()
    faces[7] = faces[7][::-1]
    holed = Mesh(ball.vertices, np.delete(faces, 300, axis=0))
    body = Body.of(holed, materials=MaterialField.uniform(JELLY, holed.vertex_count))
    assert fill(body, holed.vertices, 0.04).count == pytest.approx(whole, rel=0.05)


def test_a_surface_that_cuts_itself_is_filled_once():
    two = join([box((0.3, 0.3, 0.3)), box((0.3, 0.3, 0.3), (0.15, 0.0, 0.0))])
    found = filled(two, 0.05)
    assert len(np.unique(np.round(found.points / 0.0125).astype(int), axis=0)) == found.count
    assert found.points[:, 0].max() > 0.25
    assert found.points[:, 0].min() < -0.12


def test_a_hollow_inside_stays_empty():
    inner = sphere(0.12, 32, 16)
    shell = join([sphere(0.25, 32, 16), type(inner)(inner.vertices, inner.faces[:, ::-1])])
    assert np.linalg.norm(filled(shell, 0.03).points, axis=1).min() > 0.115


def test_an_open_surface_is_a_sheet_of_even_triangles():
    square = Mesh(np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1.0]]), np.array([[0, 2, 1], [0, 3, 2]]))
    stuff = material("cotton")
    body = Body.of(square, materials=MaterialField.uniform(stuff, 4))
    found = fill(body, square.vertices, 0.05)
    assert (found.fill == SHEET).all()
    assert (found.volumes * found.densities).sum() == pytest.approx(stuff.density * stuff.thickness, rel=0.02)


def test_a_mug_is_not_filled_with_porcelain():
    cup = lathe([(0.0, 0.0), (0.05, 0.0), (0.05, 0.1)], 32)
    faces = cup.faces[(cup.vertices[cup.faces][:, :, 1] < 0.0999).any(axis=1)]  # without its lid
    mesh = Mesh(cup.vertices, faces)
    body = Body.of(mesh, materials=MaterialField.uniform(material("porcelain"), mesh.vertex_count))
    found = fill(body, mesh.vertices, 0.01)
    assert (found.fill == SHELL).all()
    inside = (np.linalg.norm(found.points[:, [0, 2]], axis=1) < 0.04) & (found.points[:, 1] > 0.02)
    assert not inside.any()


def test_a_thin_board_of_something_soft_is_a_sheet_and_of_wood_a_shell():
    board = box((0.5, 0.01, 0.5))
    soft, stiff = (filled(board, 0.03, material(name)) for name in ("polyurethane foam", "oak"))
    assert (soft.fill == SHEET).all()
    assert (stiff.fill == SHELL).all()
    for found, name in ((soft, "polyurethane foam"), (stiff, "oak")):
        assert (found.volumes * found.densities).sum() == pytest.approx(0.0025 * material(name).density, rel=0.1)


def test_materials_come_from_the_nearest_surface_of_the_own_piece():
    seat, leg = box((0.4, 0.2, 0.4), (0, 0.3, 0)), box((0.1, 0.2, 0.1), (0, 0.1, 0))
    both = join([seat, leg])
    mesh = Mesh(both.vertices, both.faces)
    ids = (np.arange(mesh.vertex_count) >= len(seat.vertices)).astype(int)
    body = Body.of(mesh, materials=MaterialField((JELLY, material("oak")), ids))
    found = fill(body, mesh.vertices, 0.03)
    assert np.array_equal(ids[found.vertex] == 0, found.points[:, 1] > 0.2)


def test_sizes_from_a_millimetre_to_a_kilometre_are_filled_alike():
    counts = []
    for size in (1e-3, 1.0, 1e3):
        shape = cylinder(0.2 * size, 0.5 * size)
        counts.append(filled(shape, 0.5 * size / 20).count)
    assert max(counts) - min(counts) <= 0.02 * max(counts)


def test_a_flat_mesh_without_area_is_refused():
    mesh = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    with pytest.raises(NeurokError, match="no face with an area"):
        fill(Body.of(mesh), mesh.vertices, 0.1)


def test_what_is_stiff_depends_on_size_and_thickness():
    stuff = MaterialField.uniform(material("rubber"), 1)
    assert not stiff_solids(stuff, 0.3)[0]
    assert stiff_solids(MaterialField.uniform(material("oak"), 1), 0.3)[0]
    leather = MaterialField.uniform(material("leather"), 1)
    assert not stiff_sheets(leather, np.array([0.0015]), np.array([0.4]))[0]
    assert stiff_sheets(leather, np.array([0.0015]), np.array([0.03]))[0]


def test_a_leaf_keeps_its_tip():
    along = np.linspace(0.0, 0.6, 13)
    half = 0.03 * np.sin(np.pi * along / 0.6)
    left, right = (np.column_stack([along, 0 * along, sign * half]) for sign in (-1.0, 1.0))
    i = np.arange(12)
    faces = np.concatenate([np.column_stack([i, i + 13, i + 1]), np.column_stack([i + 1, i + 13, i + 14])])
    leaf = Mesh(np.concatenate([left, right]), faces)
    body = Body.of(leaf, materials=MaterialField.uniform(material("leaf"), leaf.vertex_count))
    found = fill(body, leaf.vertices, 0.08)
    assert (found.fill == SHEET).all()
    reach = np.linalg.norm(found.points[:, None] - [[0.0, 0.0, 0.0], [0.6, 0.0, 0.0]], axis=2).min(axis=0)
    assert reach.max() < 0.3 * 0.7 * 0.08


def test_a_flat_thing_of_sand_is_refused_in_one_sentence():
    square = Mesh(
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]), np.array([[0, 2, 1], [0, 3, 2]]), name="flat"
    )
    body = Body.of(square, materials=MaterialField.uniform(material("sand"), 4))
    with pytest.raises(NeurokError, match=r"'object' is of sand, but its mesh encloses no volume"):
        fill(body, square.vertices, 0.1)


def reached(shape, cell):
    body = body_of(shape)
    found = fill(body, body.mesh.vertices, cell)
    surface = embed(found, body.mesh.vertices, np.full(found.count, -1))
    return found, radii(found, surface, np.zeros(found.count, dtype=bool))


@pytest.mark.parametrize("shift", [0.0, 0.004, 0.011, 0.019])
def test_particles_reach_to_the_sides_of_a_box_wherever_the_lattice_lies(shift):
    solid = box((0.4, 0.3, 0.35), (shift, 2 * shift, -shift))
    found, radius = reached(solid, 0.05)
    low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
    assert np.allclose((found.points - radius[:, None]).min(axis=0), low, atol=1e-9)
    assert np.allclose((found.points + radius[:, None]).max(axis=0), high, atol=1e-9)


def test_particles_reach_to_a_ball_and_not_out_of_it():
    found, radius = reached(sphere(0.2, 96, 48), 0.04)
    out = np.linalg.norm(found.points, axis=1) + radius
    assert out.max() < 0.2 + 1e-9
    outermost = np.linalg.norm(found.points, axis=1) > 0.2 - 0.02
    assert out[outermost].min() > 0.2 * np.cos(np.pi / 48) - 1e-3


def test_a_sheet_lies_on_what_is_drawn_but_for_corners_that_its_triangles_cut():
    square = Mesh(np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1.0]]), np.array([[0, 2, 1], [0, 3, 2]]))
    body = Body.of(square, materials=MaterialField.uniform(material("cotton"), 4))
    found = fill(body, square.vertices, 0.05)
    surface = embed(found, square.vertices, np.full(found.count, -1))
    radius = radii(found, surface, np.zeros(found.count, dtype=bool))
    away = closest_point(square.vertices, found.points, found.triangles).distances
    assert radius.max() == pytest.approx(0.5 * away.max())
    assert (radius > 0).sum() <= 3 * 4


def test_a_particle_reaches_down_to_the_lowest_point_that_follows_it():
    one = SoftSkin(csr_matrix([[1.0, 0.0], [1.2, -0.2]]), np.array([0, 0]))
    both = SoftSkin.join([one, one], [2, 2])
    heights, radius = np.array([1.0, 3.0, 9.0, 9.5]), np.full(4, 0.1)
    found = both.reaches(heights, radius, near=2.0, most=5.0)
    assert np.allclose(found, [0.4, 0.1, 0.1, 0.1])  # 1.2 * 1 - 0.2 * 3 = 0.6; the second object is far away
    assert both.reaches(heights, radius, near=2.0, most=0.3)[0] == pytest.approx(0.3)


def test_points_of_a_soft_skin_are_vertices_where_they_are_drawn():
    body = body_of(sphere(0.2, 24, 12))
    found = fill(body, body.mesh.vertices, 0.05)
    surface = embed(found, body.mesh.vertices, np.full(found.count, -1))
    skin = soft_skin(found, surface, np.ones(found.count, dtype=bool), body.mesh.faces)
    places = skin.weights @ found.points
    assert np.allclose(np.linalg.norm(places, axis=1), 0.2, atol=1e-6)
    assert len(places) == len(np.unique(np.round(body.mesh.vertices, 9), axis=0))
