"""The particle engine: conditions in, rollouts out."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Articulation, Joint, Material, MaterialField, Mesh, material
from neurok.dynamics import (
    Body,
    Condition,
    Drag,
    Force,
    Ground,
    Impulse,
    Obstacle,
    Pin,
    Start,
    Wind,
    World,
    simulate,
    simulate_together,
    start,
)
from neurok.dynamics.particles import engine as particle_engine
from neurok.dynamics.particles.binding import bind
from neurok.dynamics.particles.engine import ParticleEngine
from neurok.dynamics.particles.engine_config import ParticleEngineConfig, parse_resolution
from neurok.dynamics.particles.loads import relaxing
from neurok.errors import MissingDependencyError, NeurokError
from neurok.geometry import lie
from neurok.geometry.even_triangles import split_long_edges
from neurok.modelling.shapes import box, join, sphere

pytest.importorskip("warp")

SOFT = Material("soft", young=2e4, density=200.0, damping_ratio=0.3)
NOWHERE = World(gravity=np.zeros(3))
COARSE = ParticleEngine(ParticleEngineConfig(cells=5, load_step=4e-3))


def cube(stuff=SOFT, side=0.2, at=(0.0, 0.5, 0.0), condition=None, **fields):
    shape = box((side, side, side))
    mesh = Mesh(*split_long_edges(shape.vertices, shape.faces, 0.3 * side))
    fields = {"free": True, **fields}
    stuff = MaterialField.uniform(stuff, mesh.vertex_count)
    return Body.of(mesh, condition, materials=stuff, placement=lie.translation(np.array(at)), **fields)


def middle(rollout):
    return rollout.positions.mean(axis=1)


def run(body, world, seconds=0.125, **options):
    return simulate(body, world, seconds=seconds, engine=COARSE, **options)


@pytest.mark.slow
def test_a_soft_cube_falls_as_everything_falls():
    found = run(cube(), World())
    time = np.arange(found.frame_count) / 24.0
    assert np.allclose(middle(found)[:, 1], 0.5 - 0.5 * 9.81 * time**2, atol=2e-3)
    assert found.status == "ok"
    assert found.report["engine"] == "particles"


def test_stepping_gives_the_bits_of_simulating():
    whole = run(cube(at=(0, 0.11, 0)), World(ground=Ground(0.0)))
    steps = start(cube(at=(0, 0.11, 0)), World(ground=Ground(0.0)), seconds=0.125, engine=COARSE)
    while steps.step():
        pass
    assert np.array_equal(steps.rollouts()[0].positions, whole.positions)


@pytest.mark.slow
def test_a_soft_cube_comes_to_rest_on_the_ground_and_loses_energy():
    found = run(cube(at=(0, 0.15, 0)), World(ground=Ground(0.0)), seconds=0.75)
    assert found.positions[-1][:, 1].min() > -1e-6
    assert np.abs(middle(found)[-1] - middle(found)[-2]).max() < 2e-3
    total = found.energies["total"]
    assert (np.diff(total) < 0.01 * np.ptp(total)).all()


@pytest.mark.slow
@pytest.mark.parametrize("height", [0.0, 0.013, -0.029])
def test_a_soft_ball_neither_sinks_into_the_ground_nor_hovers(height):
    ball = sphere(0.1, 32, 16)
    mesh = Mesh(ball.vertices + (0.0, 0.1 + height, 0.0), ball.faces)
    stuff = MaterialField.uniform(Material("firm", young=1e5, density=300.0), mesh.vertex_count)
    body = Body.of(mesh, materials=stuff, free=True)
    found = run(body, World(ground=Ground(height)), seconds=0.3)
    assert found.report["max_penetration"] < 0.005 * mesh.size
    assert found.positions[-1][:, 1].min() - height < 0.005 * mesh.size


@pytest.mark.slow
def test_velocity_and_spin_are_those_of_the_start():
    condition = Condition(Start(velocity=(1.0, 0.0, 0.0), spin=(0.0, 0.0, 4.0)))
    found = run(cube(condition=condition), NOWHERE)
    assert np.allclose(middle(found)[-1] - middle(found)[0], [0.125, 0, 0], atol=2e-3)
    turned = lie.rotation_about(np.array([0.0, 0, 1]), middle(found)[0], np.array(0.5))
    expected = lie.apply(turned, found.positions[0]) + [0.125, 0, 0]
    assert np.abs(found.positions[-1] - expected).max() < 0.01


@pytest.mark.slow
def test_a_force_and_an_impulse_give_their_momentum():
    body = cube()
    everywhere = np.arange(body.mesh.vertex_count)
    pushed = cube(condition=Condition(forces=[Force.constant(everywhere, (2.0, 0, 0), 0.0, 0.06)]))
    struck = cube(condition=Condition(impulses=[Impulse(everywhere, (0.0, 0.3, 0.0), 0.05)]))
    for thing, expected in ((pushed, [0.12, 0, 0]), (struck, [0, 0.3, 0])):
        going = start(thing, NOWHERE, seconds=0.125, engine=COARSE)
        while going.step():
            pass
        momentum = going._solver.momentum()[0]
        assert np.allclose(momentum, expected, atol=0.02 * np.linalg.norm(expected))


def test_pinned_vertices_stay_and_the_rest_hangs():
    body = cube()
    top = np.flatnonzero(body.mesh.vertices[:, 1] > 0.09)
    found = run(cube(condition=Condition(pins=[Pin(top)])), World())
    moved = found.positions[-1] - found.positions[0]
    assert np.abs(moved[top]).max() < 0.004
    assert moved[:, 1].min() < -1e-4


def test_a_dragged_face_follows_its_path():
    body = cube()
    right = np.flatnonzero(body.mesh.vertices[:, 0] > 0.09)
    place = np.array([0.1, 0.5, 0.0])
    path = np.stack([place, place + [0.05, 0, 0]])
    found = run(cube(condition=Condition(drags=[Drag(right, path, (0.0, 0.1))])), NOWHERE)
    assert found.positions[-1][right].mean(axis=0) == pytest.approx(path[-1], abs=5e-3)


@pytest.mark.slow
def test_a_drag_lets_go():
    body = cube()
    every = np.arange(body.mesh.vertex_count)
    path = np.array([[0.0, 0.5, 0.0], [0.3, 0.5, 0.0]])
    drag = Drag(every, path, (0.0, 0.3), stiffness=50.0, end=0.04)
    found = run(cube(condition=Condition(drags=[drag])), NOWHERE)
    speed = np.diff(middle(found)[:, 0])
    assert speed[-1] > 0
    assert speed[-1] == pytest.approx(speed[-2], rel=0.05)  # nothing pulls any more


@pytest.mark.slow
def test_wind_pushes_what_it_meets_as_the_reduced_engine_has_it():
    wind = Wind(np.array([8.0, 0.0, 0.0]))
    found = run(cube(), World(gravity=np.zeros(3), wind=wind))
    reduced = simulate(cube(), World(gravity=np.zeros(3), wind=wind), seconds=0.125)
    assert middle(found)[-1][0] == pytest.approx(middle(reduced)[-1][0], rel=0.05)


def test_a_wall_stops_what_flies_against_it():
    wall = box((0.1, 2.0, 2.0), (0.3, 0.5, 0.0))
    world = World(gravity=np.zeros(3), obstacles=[Obstacle(Mesh(wall.vertices, wall.faces))])
    found = run(cube(condition=Condition(Start(velocity=(3.0, 0, 0)))), world, seconds=0.17)
    assert found.positions[-1][:, 0].max() < 0.27
    assert found.report["max_penetration"] < 0.02


@pytest.mark.slow
def test_two_objects_meet_and_part():
    left = cube(at=(-0.15, 0.5, 0.0), condition=Condition(Start(velocity=(2.0, 0, 0))))
    right = cube(at=(0.15, 0.5, 0.0))
    one, two = simulate_together([left, right], NOWHERE, seconds=0.3, engine=COARSE)
    momentum = middle(one)[-1, 0] - middle(one)[-2, 0] + middle(two)[-1, 0] - middle(two)[-2, 0]
    assert momentum * 24 == pytest.approx(2.0, rel=0.05)
    assert middle(two)[-1, 0] - middle(two)[-2, 0] > middle(one)[-1, 0] - middle(one)[-2, 0]


@pytest.mark.slow
def test_a_grab_lifts_and_a_release_lets_fall():
    going = start(cube(), World(), seconds=None, engine=COARSE)
    every = list(range(cube().mesh.vertex_count))
    for _ in range(3):
        going.grab(every, (0.0, 0.6, 0.0))
        going.step()
    high = going.positions[0].mean(axis=0)[1]
    going.release()
    for _ in range(3):
        going.step()
    assert high > 0.52
    assert going.positions[0].mean(axis=0)[1] < high
    with pytest.raises(NeurokError, match="no body 3"):
        going.grab([0], (0, 0, 0), body=3)


@pytest.mark.slow
def test_gravity_can_be_switched_off_on_the_way():
    going = start(cube(), World(), seconds=None, engine=COARSE)
    going.step()
    going.set_gravity((0.0, 0.0, 0.0))
    places = [going.positions[0].mean(axis=0)[1]]
    for _ in range(2):
        going.step()
        places.append(going.positions[0].mean(axis=0)[1])
    assert np.diff(places)[0] == pytest.approx(np.diff(places)[1], rel=0.01)


def test_what_stands_fixed_keeps_its_bottom():
    found = run(cube(free=False), World())
    bottom = found.positions[0][:, 1] < 0.41
    assert np.abs(found.positions[-1] - found.positions[0])[bottom].max() < 2e-3


def test_stiff_parts_that_touch_are_one_rigid_part_unless_a_joint_is_between():
    shapes = [box((0.4, 0.05, 0.4), (0, 0.4, 0)), box((0.05, 0.4, 0.05), (0.15, 0.19, 0))]
    both = join(shapes)
    parts = (np.arange(len(both.vertices)) >= len(shapes[0].vertices)).astype(int)
    mesh = Mesh(both.vertices, both.faces, part_ids=parts, part_names=("seat", "leg"))
    oak = MaterialField.uniform(material("oak"), mesh.vertex_count)
    config = ParticleEngineConfig(cells=10)
    assert bind([Body.of(mesh, materials=oak)], World(), config).occupants[0].rigid_count == 1
    hinged = Articulation(mesh, (Joint(), Joint("revolute", parent=0, axis=(1.0, 0, 0), lower=-1.0, upper=1.0)))
    assert bind([Body.of(hinged, materials=oak)], World(), config).occupants[0].rigid_count == 2


def test_pieces_that_start_apart_touch_as_objects_do():
    near, far = (join([box((0.2, 0.2, 0.2)), box((0.2, 0.2, 0.2), (0, up, 0))]) for up in (0.2, 0.35))
    counts = []
    for shape in (near, far):
        mesh = Mesh(shape.vertices, shape.faces)
        body = Body.of(mesh, materials=MaterialField.uniform(SOFT, mesh.vertex_count))
        counts.append(len(np.unique(bind([body], World(), ParticleEngineConfig(cells=12)).particles.body)))
    assert counts == [1, 2]


def test_damping_within_a_body_leaves_its_momenta_alone():
    scene = bind([cube()], World(), ParticleEngineConfig(cells=5))
    occupant = scene.occupants[0]
    x, rng = scene.particles.positions, np.random.default_rng(0)
    v = rng.normal(size=x.shape)
    forces = relaxing(occupant, x, v, 1e9)
    assert np.allclose(forces.sum(axis=0), 0.0, atol=1e-9)
    assert np.allclose(np.cross(x, forces).sum(axis=0), 0.0, atol=1e-9)
    assert (forces * v).sum() < 0
    rigid = np.array([1.0, 2, 3]) + np.cross([0.5, -1, 2], x)
    assert np.abs(relaxing(occupant, x, rigid, 1e9)).max() < 1e-9


@pytest.mark.parametrize("points", [[[0.1, 0.2, 0.3]], [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.3, 0.0, 0.0]]])
def test_a_particle_and_a_line_of_particles_relax_too(points):
    known = bind([cube()], World(), ParticleEngineConfig(cells=5)).occupants[0]
    x, relax = np.zeros((len(known.masses), 3)), np.zeros(len(known.masses))
    x[: len(points)], relax[: len(points)] = points, 3.0
    v = np.cross([0.0, 0.0, 2.0], x) + [1.0, 0.0, 0.0]
    assert np.abs(relaxing(replace(known, relax=relax), x, v, 1e9)).max() < 1e-9


def test_water_is_drawn_as_grains_behind_the_vertices_of_the_mesh():
    found = run(cube(material("water"), at=(0, 0.11, 0)), World(ground=Ground(0.0)), seconds=1 / 24)
    assert found.grains > 100
    assert found.rest.vertex_count == cube().mesh.vertex_count + 6 * found.grains
    assert len(found.rest.faces) == 8 * found.grains
    centres = found.positions[0][-6 * found.grains :].reshape(found.grains, 6, 3).mean(axis=1)
    assert np.abs(centres - [0, 0.11, 0]).max() < 0.1


def test_an_interruption_within_a_frame_keeps_the_whole_frames():
    told = []

    def stop(fraction):
        told.append(fraction)
        if fraction > 0.5:
            raise KeyboardInterrupt

    found = run(cube(), World(), progress=stop)
    assert found.status == "stopped"
    assert found.frame_count == 2
    assert 0 < told[0] < 1 / 3  # within the first of three frames


def test_without_warp_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"neurok\[particles\]"):
        simulate(cube(), engine="particles")


def test_too_much_memory_or_time_is_refused_before_the_start(monkeypatch):
    with pytest.raises(NeurokError, match="coarser --resolution"):
        simulate(cube(), engine=ParticleEngine(ParticleEngineConfig(cells=5, longest=1e-3)))
    monkeypatch.setattr(particle_engine, "free_memory", lambda: 1e6)
    with pytest.raises(NeurokError, match="GB are free"):
        simulate(cube(), engine=ParticleEngine(ParticleEngineConfig(cells=40)))


def test_the_cost_is_told_before_a_long_run():
    said = []
    engine = ParticleEngine(ParticleEngineConfig(cells=20, long=0.0), say=said.append)
    start(cube(), World(), seconds=2.0, engine=engine)
    assert any("2 s of motion: about" in text and "--resolution coarse: about" in text for text in said)


def test_what_is_too_stiff_for_long_steps_is_told_with_a_clamp():
    said = []
    steel = Material("steel", young=2e11, density=7800.0)
    engine = ParticleEngine(ParticleEngineConfig(cells=5, long=0.0, stiffest=2e11), say=said.append)
    start(cube(steel), World(), seconds=0.1, engine=engine)
    assert any("E = 2e+11 Pa" in text and "--stiffest 1e+07: about" in text for text in said)


def test_a_thin_steel_box_does_not_jump_when_it_stands():
    shape = box((0.2, 0.2, 0.2))
    inner = box((0.196, 0.196, 0.196))
    mesh = Mesh(*_joined(shape, inner))
    body = Body.of(mesh, free=True, materials=MaterialField.uniform(material("steel"), mesh.vertex_count))
    found = run(body, World(ground=Ground()), seconds=0.125)
    assert found.report["rigid_parts"] == 1
    np.testing.assert_allclose(found.positions[-1], found.positions[0], atol=1e-4)
    assert found.energies["total"].max() <= found.energies["total"][0] + 1e-6


def _joined(outer, inner):
    faces = np.concatenate([outer.faces, inner.faces[:, ::-1] + len(outer.vertices)])
    return np.concatenate([outer.vertices, inner.vertices]), faces


def test_resolutions_are_words_or_numbers():
    assert parse_resolution("medium") == 24
    assert parse_resolution("17") == 17
    for wrong in ("finest", "2", "100000"):
        with pytest.raises(NeurokError, match="coarse"):
            parse_resolution(wrong)


def test_energies_of_a_body_are_refused():
    with pytest.raises(NeurokError, match="energies"):
        simulate(cube(energies=[lambda x: x.sum()]), engine="particles")


@pytest.mark.slow
@pytest.mark.parametrize("size", [2e-3, 2e2])
def test_small_and_large_things_fall_alike(size):
    body = cube(side=size, at=(0.0, 0.6 * size, 0.0))
    found = run(body, World(ground=Ground(0.0)), seconds=0.125)
    assert found.status == "ok"
    assert np.isfinite(found.positions).all()
    assert found.report["max_penetration"] < 0.1 * size
