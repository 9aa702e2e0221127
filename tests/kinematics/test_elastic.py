"""The reduced elastic space against beams, plates, scikit-fem and its own invariances."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Material, MaterialField, Mesh
from neurok.errors import NeurokError
from neurok.kinematics.elastic import ElasticSpaceConfig, elastic_space, joined_parts
from neurok.kinematics.elastic_modes import elastic_modes
from neurok.kinematics.lattice import CORNERS, Lattice, LatticeConfig, brick_stiffness
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.space import decode
from neurok.modelling import shapes

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0, damping_ratio=0.05)
LENGTH, WIDTH = 1.0, 0.14
COARSE = LatticeConfig(cells=120, most_cells=400)


def beam(height: float = 0.1, unit: float = 1.0) -> Mesh:
    box = shapes.box((LENGTH / unit, height / unit, WIDTH / unit), (LENGTH / 2 / unit, 0.0, 0.0))
    return Mesh(box.vertices, box.faces, unit=unit)


def clamped(mesh: Mesh, material: Material = RUBBER, **config):
    stuff = MaterialField.uniform(material, mesh.vertex_count)
    left = np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
    return elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01), left, config=ElasticSpaceConfig(**config))


def tip_compliance(space) -> np.ndarray:
    """Displacement of the tip [m] per force on it [N], along each axis."""
    mesh = space.rest
    tip = mesh.vertices[:, 0] > (LENGTH / mesh.unit) * (1 - 1e-9)
    slopes = np.stack([space.features[tip].mean(axis=0) @ slope for slope in space.slopes_at_rest()]) * mesh.unit
    return np.diagonal(slopes.T @ np.linalg.solve(space.stiffness, slopes))


@pytest.mark.parametrize("sides", [(1.0, 1.0, 1.0), (0.3, 0.1, 0.2)])
def test_a_brick_feels_uniform_strain_as_hooke_says_and_rigid_motion_not_at_all(sides):
    sides, young, poisson = np.array(sides), 7.0, 0.3
    matrix = young * brick_stiffness(sides, poisson)
    corners = CORNERS * sides
    assert np.linalg.eigvalsh(matrix)[:6] == pytest.approx(np.zeros(6), abs=1e-9)
    spin = np.cross(np.array([0.3, -0.2, 0.5]), corners)
    np.testing.assert_allclose(matrix @ spin.reshape(-1), 0.0, atol=1e-9)
    strain = np.array([[0.1, 0.02, 0.0], [0.02, -0.05, 0.03], [0.0, 0.03, 0.04]])
    lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
    expected = sides.prod() * (mu * (strain**2).sum() + 0.5 * lam * np.trace(strain) ** 2)
    moved = (corners @ strain).reshape(-1)
    assert 0.5 * moved @ matrix @ moved == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("height", "poisson"), [(0.1, 0.3), (0.05, 0.3), (0.2, 0.45), (0.03, 0.0)])
def test_a_cantilever_bends_and_swings_as_timoshenko_says(height, poisson):
    material = replace(RUBBER, poisson=poisson)
    space = clamped(beam(height), material)
    area, inertia = height * WIDTH, WIDTH * height**3 / 12
    shear = 10 * (1 + poisson) / (12 + 11 * poisson) * material.young / 2 / (1 + poisson)
    expected = LENGTH**3 / (3 * material.young * inertia) + LENGTH / (shear * area)
    assert tip_compliance(space)[1] == pytest.approx(expected, rel=0.05)
    thin = min(height, WIDTH)
    slender = 1.87510407**2 / (2 * np.pi) * np.sqrt(material.young * thin**2 / (12 * material.density))
    assert space.frequencies[0] == pytest.approx(slender, rel=0.05)


def test_the_unit_of_the_mesh_does_not_matter():
    metres, centimetres = clamped(beam(), lattice=COARSE), clamped(beam(unit=0.01), lattice=COARSE)
    np.testing.assert_allclose(metres.frequencies, centimetres.frequencies, rtol=1e-6)
    np.testing.assert_allclose(tip_compliance(metres), tip_compliance(centimetres), rtol=1e-5)


def test_the_frequencies_are_those_of_scikit_fem():
    skfem = pytest.importorskip("skfem")
    from scipy.sparse.linalg import eigsh
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    ends = (np.linspace(0, LENGTH, 11), np.linspace(-0.05, 0.05, 3), np.linspace(-WIDTH / 2, WIDTH / 2, 3))
    basis = skfem.Basis(skfem.MeshHex.init_tensor(*ends), skfem.ElementVector(skfem.ElementHex2()), intorder=4)
    stiffness = linear_elasticity(*lame_parameters(RUBBER.young, RUBBER.poisson)).assemble(basis)

    @skfem.BilinearForm
    def inertia(u, v, w):
        return RUBBER.density * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])

    mass = inertia.assemble(basis)
    free = basis.complement_dofs(basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all())
    values = eigsh(stiffness[free][:, free].tocsc(), 6, mass[free][:, free].tocsc(), sigma=0.0)[0]
    found = clamped(beam()).frequencies[:6]
    np.testing.assert_allclose(found, np.sqrt(np.sort(values)) / (2 * np.pi), rtol=0.03)


@pytest.mark.slow
def test_a_stiff_half_does_not_bend():
    mesh = beam()
    fine = Mesh(*_cut(mesh.vertices, mesh.faces, 4))
    stuff = MaterialField.uniform(RUBBER, fine.vertex_count)
    stuff = stuff.with_part(np.flatnonzero(fine.vertices[:, 0] < 0.5), replace(RUBBER, young=1e9))
    left = np.flatnonzero(fine.vertices[:, 0] < 1e-9)
    space = elastic_space(fine, stuff, np.full(fine.face_count, 0.01), left)
    shorter = 1.87510407**2 / (2 * np.pi * 0.25) * np.sqrt(RUBBER.young * 0.01 / (12 * RUBBER.density))
    assert space.frequencies[0] == pytest.approx(shorter, rel=0.15)
    moved = np.linalg.norm(decode(space, np.eye(space.dim)[0]) - fine.vertices, axis=1)
    assert moved[fine.vertices[:, 0] < 0.45].max() < 0.1 * moved.max()


def _cut(vertices, faces, times):
    """Every triangle cut into four, some times over."""
    for _ in range(times):
        corners = vertices[faces]
        middles = 0.5 * (corners + np.roll(corners, -1, axis=1))
        a, b, c = corners.swapaxes(0, 1)
        ab, bc, ca = middles.swapaxes(0, 1)
        soup = np.concatenate([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]], axis=1).swapaxes(0, 1)
        vertices, faces = np.unique(soup.reshape(-1, 3).round(9), axis=0, return_inverse=True)
        faces = faces.reshape(-1, 3)
    return vertices, faces


def test_rest_is_rest_and_mass_and_inertia_are_those_of_the_solid():
    mesh = beam()
    stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
    space = elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01))
    np.testing.assert_allclose(decode(space, np.zeros(space.dim)), mesh.vertices, atol=1e-12)
    gram, first = space.inertia
    mass = RUBBER.density * LENGTH * 0.1 * WIDTH
    assert first @ space.unity == pytest.approx(mass, rel=1e-6)
    along = np.tile([1.0, 0.0, 0.0, 0.0], len(space.centers))
    assert along @ gram @ along - (first @ along) ** 2 / mass == pytest.approx(mass / 12, rel=0.01)


def test_twice_as_stiff_is_faster_by_the_root_of_two():
    soft = clamped(beam(), lattice=COARSE)
    stiff = clamped(beam(), replace(RUBBER, young=2e6), lattice=COARSE)
    np.testing.assert_allclose(stiff.frequencies, np.sqrt(2.0) * soft.frequencies, rtol=1e-5)


def test_a_sheet_is_as_floppy_as_its_thickness_says():
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    sheet = Mesh([[0, 0, -0.07], [1, 0, -0.07], [1, 0, 0.07], [0, 0, 0.07]], faces)
    stuff = MaterialField.uniform(RUBBER, 4)
    for thickness in (0.004, 0.008):
        space = elastic_space(sheet, stuff, np.full(2, thickness), np.array([0, 3]))
        expected = 1.87510407**2 / (2 * np.pi) * np.sqrt(RUBBER.young * thickness**2 / (12 * RUBBER.density))
        assert space.frequencies[0] == pytest.approx(expected, rel=0.1)


def test_a_cup_stays_empty_and_a_cushion_with_an_open_seam_is_filled():
    ball = shapes.sphere(0.5, 24, 16)
    stuff = MaterialField.uniform(RUBBER, len(ball.vertices))
    seam = np.abs(ball.vertices[ball.faces].mean(axis=1)[:, 1]) > 0.03
    mouth = ball.vertices[ball.faces].mean(axis=1)[:, 1] < 0.1
    config, thin = LatticeConfig(cells=300, most_cells=900), 0.005
    masses = []
    for faces in (ball.faces, ball.faces[seam], ball.faces[mouth]):
        masses.append(
            Lattice.of(Mesh(ball.vertices, faces), stuff, np.full(len(faces), thin), config=config).masses.sum()
        )
    assert masses[1] > 0.8 * masses[0]
    assert masses[2] < 0.2 * masses[0]


def test_pieces_that_do_not_touch_hang_together():
    box = shapes.box((0.2, 0.2, 0.2))
    apart = np.concatenate([box.vertices, box.vertices + [0.5, 0.3, 0.0]])
    mesh = Mesh(apart, np.concatenate([box.faces, box.faces + len(box.vertices)]))
    stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
    space = elastic_space(mesh, stuff, np.full(mesh.face_count, 0.01), config=ElasticSpaceConfig(lattice=COARSE))
    assert space.frequencies[0] > 0.01


@pytest.mark.slow
def test_motions_of_its_own_join_the_modes():
    mesh = Mesh(*_cut(beam().vertices, beam().faces, 3))
    space = clamped(mesh, modes=2, lattice=COARSE)
    assert space.dim == 2
    wanted = clamped(mesh, modes=5, lattice=COARSE)
    stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
    left = np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
    third = ScrewSpace(mesh, wanted.weights, wanted.centers, wanted.screws[:, :, 2:3])
    more = elastic_space(
        mesh, stuff, np.full(mesh.face_count, 0.01), left, third, config=ElasticSpaceConfig(modes=2, lattice=COARSE)
    )
    assert more.dim == 3
    np.testing.assert_allclose(more.frequencies[:2], space.frequencies, rtol=1e-3)


@pytest.mark.slow
def test_a_part_bends_while_all_else_stands_still():
    part = clamped(beam(), modes=4)
    other = shapes.box((0.2, 0.2, 0.2), (-0.3, 0.0, 0.0))
    mesh = Mesh(
        np.concatenate([part.rest.vertices, other.vertices]),
        np.concatenate([part.rest.faces, other.faces + part.rest.vertex_count]),
    )
    mine = np.arange(mesh.vertex_count) < part.rest.vertex_count
    whole = joined_parts(mesh, [(part, mine)])
    q = 0.5 * np.minimum(part.reach, 1.0) * np.array([1.0, -1.0, 0.5, 0.2])
    found = decode(whole, q)
    np.testing.assert_allclose(found[mine], decode(part, q), atol=1e-9)
    np.testing.assert_allclose(found[~mine], mesh.vertices[~mine], atol=1e-12)
    np.testing.assert_allclose(whole.stiffness, part.stiffness)


def test_everything_held_is_refused():
    mesh = beam()
    lattice = Lattice.of(mesh, MaterialField.uniform(RUBBER, mesh.vertex_count), np.full(mesh.face_count, 0.01))
    with pytest.raises(NeurokError, match="pin fewer"):
        elastic_modes(lattice, np.ones(len(lattice.nodes), dtype=bool), 4)


def joined(*meshes: Mesh) -> Mesh:
    offsets = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, offsets, strict=False)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def test_a_cushion_in_the_hollow_of_an_open_frame_is_as_heavy_as_alone():
    cushion = shapes.box((0.8, 0.4, 0.8), (0.0, 0.2, 0.0))
    tub = shapes.box((0.9, 0.5, 0.9), (0.0, 0.25, 0.0))
    tub = Mesh(tub.vertices, tub.faces[:, ::-1][(tub.vertices[tub.faces][:, :, 1] < 0.49).any(axis=1)])
    masses = []
    for mesh in (Mesh(cushion.vertices, cushion.faces), joined(Mesh(cushion.vertices, cushion.faces), tub)):
        stuff = MaterialField.uniform(RUBBER, mesh.vertex_count)
        masses.append(Lattice.of(mesh, stuff, np.full(mesh.face_count, 1e-6), config=COARSE).masses.sum())
    assert masses[1] == pytest.approx(masses[0], rel=0.2)


def test_a_thin_board_under_foam_keeps_it_from_sagging():
    foam, board = (shapes.box((1.0, h, 1.0), (0.0, y, 0.0)) for h, y in ((0.2, 0.1), (0.02, -0.011)))
    mesh = joined(Mesh(foam.vertices, foam.faces), Mesh(board.vertices, board.faces))
    soft, stiff = replace(RUBBER, young=1e5), replace(RUBBER, young=1e10)
    is_board = np.arange(mesh.vertex_count) >= len(foam.vertices)
    thickness = np.where(is_board[mesh.faces[:, 0]], 0.01, 0.07)
    alone = MaterialField.uniform(soft, mesh.vertex_count)
    firm = MaterialField((soft, stiff), is_board.astype(np.int64))
    config = ElasticSpaceConfig(lattice=COARSE)
    slow, fast = (elastic_space(mesh, stuff, thickness, config=config).frequencies[0] for stuff in (alone, firm))
    assert fast > 2.0 * slow
