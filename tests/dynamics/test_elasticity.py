"""What bends springs back as its material says; what is rigid feels nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Condition, Ground, Start, World, simulate
from neurok.dynamics.elasticity import ElasticConfig, elastic_energy
from neurok.dynamics.energies import Membrane
from neurok.dynamics.masses import face_thickness
from neurok.dynamics.reduced import ReducedConfig, ReducedEngine
from neurok.dynamics.reduced.build import mechanics_of
from neurok.kinematics import LinearSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.modelling import shapes

NOTHING = World(gravity=(0.0, 0.0, 0.0))
SIDES = (0.6, 0.2, 0.1)


def bar() -> Mesh:
    box = shapes.box(SIDES)
    return Mesh(box.vertices, box.faces)


def made_of(mesh: Mesh, **constants: float) -> MaterialField:
    return MaterialField.uniform(Material(**constants), mesh.vertex_count)


def frequency(body: Body, seconds: float, fps: float) -> float:
    """[Hz], from passages through zero."""
    q = simulate(body, NOTHING, seconds=seconds, fps=fps).q[:, 0]
    passages = CubicSpline(np.arange(len(q)) / fps, q).roots(extrapolate=False)
    return float(1.0 / np.mean(passages[2:] - passages[:-2]))


@pytest.mark.slow
@pytest.mark.parametrize("young", [1e4, 4e4])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_stretched_bar_swings_with_the_frequency_of_its_youngs_modulus(young, unit):
    mesh = replace(bar(), vertices=bar().vertices / unit, unit=unit)
    space = LinearSpace(mesh, (mesh.vertices * [1.0, 0.0, 0.0])[None])
    masses = np.full(mesh.vertex_count, 3.0 / mesh.vertex_count)
    body = Body.of(space, Condition(Start(q=[1e-4])), masses=masses, materials=made_of(mesh, young=young, poisson=0.0))
    x, y, z = SIDES
    thickness = x * y * z / (2 * (x * y + y * z + z * x))
    stiffness = young * thickness * 2 * (x * y + x * z)
    expected = np.sqrt(stiffness / (masses @ (unit * mesh.vertices[:, 0]) ** 2)) / (2 * np.pi)
    assert frequency(body, 8 / expected, 16 * expected) == pytest.approx(expected, rel=1e-4)


def bent_space(seed: int = 0) -> ScrewSpace:
    """A bar whose vertices follow two handles, blended along it, one of which turns: as a network would say it."""
    mesh = shapes.sphere(0.3, 8, 6)
    mesh = Mesh(mesh.vertices * [1.0, 0.4, 0.4], mesh.faces)
    share = np.clip(mesh.vertices[:, :1] / 0.6 + 0.5, 0.0, 1.0)
    screws = np.zeros((2, 6, 1))
    screws[1, 2, 0] = 0.5
    return ScrewSpace(mesh, np.hstack([1.0 - share, share]), np.zeros((2, 3)), screws)


def test_the_frequency_of_a_learned_space_grows_with_the_root_of_youngs_modulus():
    space = bent_space()
    found = []
    for young in (2e4, 8e4):
        materials = made_of(space.rest, young=young, density=200.0)
        found.append(frequency(Body.of(space, Condition(Start(q=[0.02])), materials=materials), 0.4, 96))
    assert found[0] > 1.0, "it does swing"
    assert found[1] / found[0] == pytest.approx(2.0, rel=1e-2)


@pytest.mark.slow
def test_poissons_ratio_stiffens_what_grows_in_area():
    space = bent_space()
    swell = LinearSpace(space.rest, space.rest.vertices[None])
    rates = [
        frequency(
            Body.of(swell, Condition(Start(q=[1e-3])), materials=made_of(space.rest, young=1e3, poisson=poisson)),
            2.0,
            96,
        )
        for poisson in (0.0, 0.4)
    ]
    # Biaxial strain costs E / (1 - ν).
    assert rates[1] / rates[0] == pytest.approx(np.sqrt(1 / 0.6), rel=1e-2)


def test_the_report_tells_the_elastic_energy_and_it_is_kept():
    rollout = simulate(Body.of(bent_space(), Condition(Start(q=[0.5])), density=200.0), NOTHING, seconds=0.5, fps=96)
    elastic = rollout.energies["elastic"]
    assert elastic[0] > 0
    assert elastic.min() < 0.2 * elastic[0]
    assert rollout.report["energy_drift"] < 1e-3
    assert "elastic" not in simulate(Body.of(bent_space(), elastic=False), NOTHING, seconds=0.1).energies


def test_parts_that_only_turn_rigidly_feel_nothing(chain):
    assert elastic_energy(Body.of(chain(3))) is None
    lid = bent_space()
    halves = (lid.rest.vertices[:, :1] > 0).astype(float)
    # Two separate bars, each of which follows one handle.
    mesh = Mesh(
        np.concatenate([lid.rest.vertices, lid.rest.vertices + [1.0, 0.0, 0.0]]),
        np.concatenate([lid.rest.faces, lid.rest.faces + lid.rest.vertex_count]),
    )
    weights = np.repeat(np.eye(2), lid.rest.vertex_count, axis=0)
    hinged = replace(lid, rest=mesh, weights=weights)
    assert elastic_energy(Body.of(hinged)) is None
    assert elastic_energy(Body.of(replace(lid, weights=np.hstack([1 - halves, halves])))) is not None
    body = Body.of(hinged, Condition(Start(qdot=[2.0])))
    free, same = simulate(body, seconds=0.2), simulate(replace(body, elastic=False), seconds=0.2)
    assert np.array_equal(free.positions, same.positions)


def test_a_rigid_motion_of_the_whole_costs_nothing():
    body = Body.of(bent_space(), Condition(Start(velocity=(1.0, 0.0, 0.0), spin=(0.0, 3.0, 1.0))), free=True)
    rollout = simulate(body, NOTHING, seconds=0.5)
    assert rollout.energies["elastic"].max() < 1e-2 * rollout.energies["kinetic"][0]


def test_a_bounded_choice_of_triangles_has_the_energy_of_all():
    ball = shapes.sphere(0.5, 64, 48)
    mesh = Mesh(ball.vertices, ball.faces)
    body = Body.of(LinearSpace(mesh, (mesh.vertices * [1.0, -0.3, 0.2])[None]))
    few = elastic_energy(body, ElasticConfig(triangles=200))
    assert len(few.faces) <= 200 < mesh.face_count
    every = Membrane.of(mesh, body.stuff, face_thickness(body))
    x = mesh.vertices * [1.1, 0.97, 1.02]
    energies = [sheet.evaluate(x[None, sheet.vertices])[0][0] for sheet in (few, every)]
    assert energies[0] / energies[1] == pytest.approx(1.0, rel=0.05)


def test_the_curvature_at_rest_is_that_of_the_energy_and_positive_elsewhere():
    space = bent_space()
    body = Body.of(space)
    sheet, mechanics = elastic_energy(body, ElasticConfig(triangles=10_000)), mechanics_of(body)

    def energy(q: float) -> float:
        return float(sheet.evaluate(mechanics.positions(np.eye(4), np.array([q]))[None, sheet.vertices])[0][0])

    def curvature(q: float) -> float:
        motion = mechanics.motion(np.eye(4), np.array([[q]]), np.zeros((1, 1)))
        points = mechanics.points(sheet.vertices)
        return float(sheet.curvature(points.positions(motion)[0], points.jacobian(motion))[0, 0])

    step = 1e-4
    assert curvature(0.0) == pytest.approx((energy(step) - 2 * energy(0.0) + energy(-step)) / step**2, rel=1e-4)
    assert all(curvature(q) > 0 for q in (-3.0, 1.0, 3.0))


@pytest.mark.slow
def test_a_dropped_soft_thing_bends_less_the_stiffer_it_is():
    space = bent_space()
    bent = []
    for young in (2e4, 2e6):
        body = Body.of(space, free=True, materials=made_of(space.rest, young=young, density=300.0))
        rollout = simulate(body, World(ground=Ground(height=-0.2)), seconds=0.6)
        assert rollout.status == "ok"
        bent.append(np.abs(rollout.q[:, 6]).max())
    assert bent[0] > 3 * bent[1] > 0


def test_a_space_that_knows_its_swing_uses_it_until_a_material_is_named():
    mesh = bar()
    sway = LinearSpace(mesh, (mesh.vertices[:, :1] * [[0.0, 0.1, 0.0]])[None], swing=3.0)
    start = Condition(Start(q=[0.01]))
    assert frequency(Body.of(sway, start), 1.0, 48) == pytest.approx(3.0, rel=1e-3)
    stiff = frequency(Body.of(sway, start, materials=made_of(mesh, young=1e6)), 0.25, 192)
    assert stiff > 6.0


def test_fewer_triangles_can_be_asked_for():
    body = Body.of(bent_space(), Condition(Start(q=[0.3])))
    rough = simulate(
        body, NOTHING, seconds=0.1, engine=ReducedEngine(config=ReducedConfig(elastic=ElasticConfig(triangles=12)))
    )
    assert not np.array_equal(rough.positions, simulate(body, NOTHING, seconds=0.1).positions)
