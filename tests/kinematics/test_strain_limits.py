"""Sheets, thin parts and the limits of all coordinates together: what keeps the mesh of a soft object whole."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Material, MaterialField, Mesh
from neurok.geometry.topology import unique_edges
from neurok.kinematics.elastic import ElasticSpaceConfig, elastic_space, joined_parts
from neurok.kinematics.elastic_modes import elastic_modes
from neurok.kinematics.lattice import Lattice, LatticeConfig, thin_strength
from neurok.kinematics.space import decode
from neurok.kinematics.strain_limits import LARGEST_STRAIN, TORN_SHARE
from neurok.modelling import shapes

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0, damping_ratio=0.05)
COARSE = LatticeConfig(cells=120, most_cells=400)


def joined(*parts) -> Mesh:
    whole = shapes.join(parts)
    return Mesh(whole.vertices, whole.faces)


def stretches(mesh: Mesh, x: np.ndarray) -> np.ndarray:
    edges = unique_edges(mesh.faces)
    lengths = lambda at: np.linalg.norm(at[edges[:, 1]] - at[edges[:, 0]], axis=1)  # noqa: E731
    return lengths(x) / lengths(mesh.vertices)


@pytest.fixture(scope="module")
def arch():
    """Half a shell of six handles: vertices between two of them are torn first."""
    ball = shapes.sphere(0.5, 24, 12)
    mesh = Mesh(ball.vertices, ball.faces[np.asarray(ball.vertices)[ball.faces][:, :, 2].max(axis=1) < 0.1])
    stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
    config = ElasticSpaceConfig(handles=6, lattice=COARSE)
    return elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01), config=config)


def border(space, count: int = 12) -> np.ndarray:
    """Random poses of equal energy where the first vector is as long as it may be."""
    q = np.random.default_rng(1).normal(size=(count, space.dim)) / np.sqrt(space.stiffness.diagonal())
    return q / space.strain_limits.lengths(q).max(axis=1, keepdims=True)


def test_no_coordinate_alone_tears_the_mesh(arch):
    space = arch
    for q in np.concatenate([np.diag(space.reach), np.diag(-space.reach)]):
        assert np.quantile(stretches(space.rest, decode(space, q)), 1.0 - TORN_SHARE) <= 1.02 + LARGEST_STRAIN


def test_all_coordinates_together_do_not_tear_it_either(arch):
    space = arch
    worst = [np.quantile(stretches(space.rest, decode(space, q)), 1.0 - TORN_SHARE) for q in border(space)]
    assert max(worst) <= 1.1 + LARGEST_STRAIN
    corner = np.quantile(stretches(space.rest, decode(space, space.reach)), 1.0 - TORN_SHARE)
    assert corner > max(worst)


def test_limits_do_not_depend_on_the_unit_of_the_mesh():
    box = shapes.box((1.0, 0.1, 0.14))
    reaches, forces = [], []
    for unit in (1.0, 0.01):
        mesh = Mesh(box.vertices / unit, box.faces, unit=unit)
        config = ElasticSpaceConfig(modes=4, handles=8, lattice=COARSE)
        space = elastic_space(mesh, MaterialField.uniform(RUBBER, 8), np.full(12, 0.01 / unit), config=config)
        reaches.append(space.reach)
        forces.append(np.sort(space.strain_limits.steepness))
    np.testing.assert_allclose(*reaches, rtol=1e-4)
    np.testing.assert_allclose(*forces, rtol=1e-4)


def test_limits_of_parts_stand_side_by_side(arch):
    space = arch
    mesh = joined(shapes.Shape(space.rest.vertices, space.rest.faces), shapes.box((0.1, 0.1, 0.1), (2.0, 0.0, 0.0)))
    mine = np.arange(mesh.vertex_count) < space.rest.vertex_count
    whole = joined_parts(mesh, [(space, mine)])
    q = border(space)
    np.testing.assert_allclose(whole.strain_limits.lengths(q), space.strain_limits.lengths(q))
    wider = space.strain_limits.beside(2, 1)
    moved = np.pad(q, ((0, 0), (2, 1)), constant_values=7.0)
    np.testing.assert_allclose(wider.lengths(moved), space.strain_limits.lengths(q))


@pytest.mark.parametrize(("width", "thickness", "count"), [(1.0, 0.1, 1), (1.0, 0.05, 3), (0.2, 0.2, 1), (0.4, 0.1, 2)])
def test_thin_parts_of_a_cell_bend_each_for_itself(width, thickness, count):
    share, around = count * width * thickness, 2.0 * count * (width + thickness)
    expected = count * width * thickness**3
    if count == 1:
        assert thin_strength(np.array([share]), np.array([around]), True)[0] == pytest.approx(expected)
    assert thin_strength(np.array([share]), np.array([count * width]), False)[0] == pytest.approx(expected)


def test_a_closed_leaf_that_is_thinner_than_a_cell_swings_as_a_sheet():
    length, thick = 0.6, 0.006
    leaf = shapes.box((length, thick, 0.2), (0.2 + length / 2, 0.125, 0.0))
    mesh = joined(shapes.box((0.2, 0.4, 0.2), (0.1, 0.1, 0.0)), leaf)
    held = np.flatnonzero(mesh.vertices[:, 0] < 0.2 - 1e-9)
    lattice = LatticeConfig(cells=250, most_cells=500)
    config = ElasticSpaceConfig(modes=4, lattice=lattice)
    stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
    space = elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01), held, config=config)
    known = 1.87510407**2 / (2 * np.pi * length**2) * np.sqrt(RUBBER.young * thick**2 / (12 * RUBBER.density))
    assert space.frequencies[0] == pytest.approx(known, rel=0.3)


def test_a_quilt_stays_on_the_mattress_in_one_piece():
    bed = shapes.box((1.0, 0.3, 1.0), (0.0, -0.15, 0.0))
    x, z = (axis.reshape(-1) for axis in np.meshgrid(np.linspace(-0.5, 0.5, 21), np.linspace(-0.5, 0.5, 21)))
    y = 0.03 + 0.09 * np.exp(-20.0 * (x**2 + z**2))  # a fold that rises above the cells next to the mattress
    corner = (np.arange(20)[:, None] * 21 + np.arange(20)).reshape(-1)
    faces = np.concatenate([corner[:, None] + [0, 1, 22], corner[:, None] + [0, 22, 21]])
    mesh = joined(bed, shapes.Shape(np.stack([x, y, z], axis=1), faces))
    cloth = np.arange(mesh.vertex_count) >= len(bed.vertices)
    foam = Material("foam", young=4e4, poisson=0.3, density=50.0)
    cotton = Material("cotton", young=5e6, poisson=0.3, density=400.0)
    stuff = MaterialField((foam, cotton), cloth.astype(np.int64))
    config = ElasticSpaceConfig(modes=8, lattice=LatticeConfig(cells=300, most_cells=700))
    space = elastic_space(mesh, stuff, np.full(mesh.face_count, 4e-4), config=config)
    for q in 0.7 * border(space, 6):
        assert stretches(mesh, decode(space, q)).max() < 2.0


def test_modes_of_foam_on_wood_are_modes_and_no_rigid_motions():
    foam, wood = shapes.box((1.0, 0.2, 1.0), (0.0, 0.1, 0.0)), shapes.box((1.0, 0.2, 1.0), (0.0, -0.1, 0.0))
    mesh = joined(foam, wood)
    soft, stiff = replace(RUBBER, young=1e3), replace(RUBBER, young=1e10)
    stuff = MaterialField((soft, stiff), (np.arange(16) >= 8).astype(np.int64))
    lattice = Lattice.of(mesh, stuff, np.full(mesh.face_count, 0.01), config=COARSE)
    modes = elastic_modes(lattice, np.zeros(len(lattice.nodes), dtype=bool), 6)
    mass = np.repeat(lattice.node_masses, 3)
    fields = modes.fields.reshape(6, -1)
    np.testing.assert_allclose(fields * mass @ fields.T, np.eye(6), atol=1e-6)
    pushed = fields @ lattice.stiffness
    np.testing.assert_allclose((fields * pushed).sum(axis=1), modes.values, rtol=1e-4)
    missed = np.linalg.norm(pushed - modes.values[:, None] * mass * fields, axis=1)
    assert (missed < 1e-2 * np.linalg.norm(modes.values[:, None] * mass * fields, axis=1)).all()
    momenta = (modes.fields * lattice.node_masses[:, None]).sum(axis=1)
    np.testing.assert_allclose(momenta, 0.0, atol=1e-6 * np.sqrt(mass.sum()))


def test_a_coarse_beam_reaches_no_farther_than_a_quarter_turn():
    made = shapes.box((1.0, 0.01, 0.01))
    mesh = Mesh(made.vertices, made.faces)
    held = np.flatnonzero(mesh.vertices[:, 0] < -0.49)
    space = elastic_space(mesh, MaterialField.uniform(RUBBER, 8), np.full(12, 0.01), held)
    for q in np.diag(space.reach):
        assert np.linalg.norm(space.positions(q) - mesh.vertices, axis=1).max() < 1.6 * mesh.size
