"""Vibration modes of a beam against textbook and scikit-fem."""

import numpy as np
import pytest

from neurok.core import Material, Mesh
from neurok.kinematics import vibration_modes
from neurok.modelling import shapes

STEEL_LIKE = Material(young=1e7, poisson=0.3, density=1000.0)
LENGTH, HEIGHT, WIDTH = 1.0, 0.1, 0.14


def beam() -> Mesh:
    box = shapes.box((LENGTH, HEIGHT, WIDTH), (LENGTH / 2, 0.0, 0.0))
    return Mesh(box.vertices, box.faces)


def reference_frequencies(count: int) -> np.ndarray:
    """The same beam in scikit-fem: quadratic hexahedra."""
    skfem = pytest.importorskip("skfem")
    from scipy.sparse.linalg import eigsh
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    grid = skfem.MeshHex.init_tensor(
        np.linspace(0, LENGTH, 11), np.linspace(-HEIGHT / 2, HEIGHT / 2, 3), np.linspace(-WIDTH / 2, WIDTH / 2, 3)
    )
    basis = skfem.Basis(grid, skfem.ElementVector(skfem.ElementHex2()), intorder=4)
    stiffness = linear_elasticity(*lame_parameters(STEEL_LIKE.young, STEEL_LIKE.poisson)).assemble(basis)

    @skfem.BilinearForm
    def inertia(u, v, w):
        return STEEL_LIKE.density * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])

    mass = inertia.assemble(basis)
    free = basis.complement_dofs(basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all())
    values = eigsh(stiffness[free][:, free].tocsc(), count, mass[free][:, free].tocsc(), sigma=0.0)[0]
    return np.sqrt(np.sort(values)) / (2 * np.pi)


@pytest.mark.slow
def test_a_cantilever_vibrates_as_in_scikit_fem():
    mesh = beam()
    modes = vibration_modes(mesh, STEEL_LIKE, mesh.vertices[:, 0] < 1e-9, 5, 12)
    np.testing.assert_allclose(modes.frequencies, reference_frequencies(5), rtol=0.05)


def test_the_lowest_mode_of_a_cantilever_is_that_of_euler_and_bernoulli():
    mesh = beam()
    modes = vibration_modes(mesh, STEEL_LIKE, mesh.vertices[:, 0] < 1e-9, 2, 16)
    for found, thickness in zip(modes.frequencies, (HEIGHT, WIDTH), strict=True):
        slender = 1.87510407**2 / (2 * np.pi) * np.sqrt(STEEL_LIKE.young * thickness**2 / (12 * STEEL_LIKE.density))
        assert abs(found / slender - 1) < 0.03
    assert np.abs(modes.space.basis[:, mesh.vertices[:, 0] < 1e-9]).max() < 1e-9


def test_the_end_of_a_loaded_cantilever_sinks_as_the_beam_formula_says():
    from neurok.dynamics import Body, Condition, Force, World, simulate
    from neurok.dynamics.energies import Quadratic

    mesh = beam()
    modes = vibration_modes(mesh, STEEL_LIKE, mesh.vertices[:, 0] < 1e-9, 8, 16)
    tip = np.flatnonzero(mesh.vertices[:, 0] > LENGTH - 1e-9)
    load = Condition(forces=[Force.constant(tip, (0.0, -1.0, 0.0))])
    body = Body.of(modes.space, load, energies=[Quadratic(modes.stiffness)], damping=20.0, elastic=False)
    rollout = simulate(body, World(gravity=(0.0, 0.0, 0.0)), seconds=1)
    sunk = (mesh.vertices[tip, 1] - rollout.positions[-1, tip, 1]).mean()
    expected = LENGTH**3 / (3 * STEEL_LIKE.young * WIDTH * HEIGHT**3 / 12)
    assert abs(sunk / expected - 1) < 0.05


def test_a_free_solid_has_no_rigid_modes():
    box = shapes.box((0.5, 0.4, 0.3))
    modes = vibration_modes(Mesh(box.vertices, box.faces), STEEL_LIKE, None, 3, 4)
    assert modes.frequencies.min() > 10.0
