"""MuJoCo behind the same bodies, conditions and runs: it agrees with the reduced engine wherever both apply."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Articulation, Joint, Material, MaterialField, Mesh
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
from neurok.dynamics.reduced.config import DEFAULTS
from neurok.dynamics.rigid import MujocoConfig, MujocoEngine
from neurok.errors import MissingDependencyError, NeurokError
from neurok.geometry import lie
from neurok.kinematics import LinearSpace
from neurok.modelling import shapes
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import run_scene

pytest.importorskip("mujoco")

ENGINES = ["reduced", "mujoco"]
STEPS = [("reduced", None), ("mujoco", 5e-4)]
NOTHING = World(gravity=(0.0, 0.0, 0.0))
GRAVITY, FRICTION = 9.81, 0.5


def box(size, center=(0.0, 0.0, 0.0)) -> Mesh:
    made = shapes.box(size, center)
    return Mesh(made.vertices, made.faces)


# Free motion.


@pytest.mark.slow
def test_a_double_pendulum_swings_as_in_the_reduced_engine(chain):
    body = Body.of(chain(2), Condition(Start(q=[0.6, -0.3])))
    truth = simulate(body, seconds=2)
    coarse, fine = (simulate(body, seconds=2, engine="mujoco", dt=dt) for dt in (1e-3, 5e-4))
    # MuJoCo's steps are of the first order: what is left as they become short is extrapolated.
    assert np.abs(2 * fine.q - coarse.q - truth.q).max() < 1e-3
    assert fine.energies["total"][0] == pytest.approx(truth.energies["total"][0])


def test_halving_the_step_halves_the_error_of_a_pendulum(chain):
    body = Body.of(chain(1), Condition(Start(q=[0.6])))
    truth = simulate(body, seconds=1)
    errors = [np.abs(simulate(body, seconds=1, engine="mujoco", dt=dt).q - truth.q).max() for dt in (2e-3, 1e-3)]
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_free_tree_of_all_kinds_of_joints_moves_as_in_the_reduced_engine(random_tree, seed):
    tree, rng = random_tree(seed, 5), np.random.default_rng(seed)
    joints = tuple(replace(joint, damping=0.05) for joint in tree.joints)
    body = Body.of(
        Articulation(tree.mesh, joints),
        Condition(Start(q=0.3 * rng.normal(size=tree.dof), qdot=rng.normal(size=tree.dof), spin=(0.3, 1.0, -0.5))),
        masses=rng.uniform(0.1, 1.0, tree.mesh.vertex_count),
        free=True,
        placement=lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.2, 0.3]), 0.7),
        damping=0.3,
    )
    ours, theirs = (simulate(body, seconds=0.5, engine=name, dt=dt) for name, dt in STEPS)
    assert np.abs(ours.positions - theirs.positions).max() < 5e-3 * body.mesh.size
    assert np.abs(ours.qdot[-1] - theirs.qdot[-1]).max() < 5e-2


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_every_condition_acts_as_in_the_reduced_engine_in_any_unit(unit, chain):
    arm = chain(2)
    mesh = replace(arm.mesh, vertices=arm.mesh.vertices / unit, unit=unit)
    joints = tuple(replace(joint, origin=joint.origin / unit) for joint in arm.joints)
    condition = Condition(
        Start(q=[0.4, -0.2]),
        forces=[Force.constant([8, 9], (0.05, 0.0, 0.0), 1 / 24, 5 / 24)],
        impulses=[Impulse([9], (0.004, 0.0, 0.0), 1 / 8)],
    )
    body = Body.of(Articulation(mesh, joints), condition)
    world = World(wind=Wind((2.0, 0.0, 0.5)))
    ours, theirs = (simulate(body, world, seconds=0.5, engine=name, dt=dt) for name, dt in STEPS)
    assert np.abs(ours.q[-1]).max() > 0.1
    assert np.abs(ours.q - theirs.q).max() < 5e-3


@pytest.mark.slow
def test_a_pin_and_a_drag_lead_a_free_thing_as_in_the_reduced_engine(chain):
    arm = chain(2)
    low = np.flatnonzero(arm.mesh.vertices[:, 1] < -0.39)
    turns = np.linspace(0.0, 0.8, 9)
    path = np.stack([0.2 * np.sin(turns), -0.2 - 0.2 * np.cos(turns), np.zeros(9)], axis=1)
    held = Condition(pins=[Pin([0, 1, 2, 3])], drags=[Drag(low, path, turns / 0.8)])
    body = Body.of(Articulation(arm.mesh, (Joint(), arm.joints[1])), held, free=True, joint_damping=4.0)
    ours, theirs = (simulate(body, seconds=1.0, engine=name) for name in ENGINES)
    assert theirs.status == "ok"
    for rollout in (ours, theirs):
        assert np.abs(rollout.positions[:, :4] - arm.mesh.vertices[:4]).max() < 0.02 * arm.mesh.size
        assert rollout.q[-1, 6] == pytest.approx(0.8, abs=0.05)
    assert np.abs(ours.positions[-1] - theirs.positions[-1]).max() < 0.02 * arm.mesh.size


def test_a_pin_of_any_stiffness_sags_by_weight_over_stiffness(block):
    mesh = block().mesh
    for stiffness in (200.0, 1e6):
        body = Body.of(mesh, Condition(pins=[Pin(np.arange(mesh.vertex_count), stiffness)]), free=True, damping=3.0)
        rollout = simulate(body, seconds=3.0, engine="mujoco")
        mass = 500.0 * 0.2 * 0.1 * 0.2
        assert rollout.q[-1, 1] == pytest.approx(-mass * GRAVITY / stiffness, rel=0.02)


def test_a_limit_stops_a_door_and_one_that_is_switched_off_does_not(chain):
    arm = chain(1)
    joints = (replace(arm.joints[0], lower=-0.3, upper=0.3),)
    world = World(gravity=(GRAVITY, 0.0, 0.0), ground=Ground(height=-5.0))
    limited = simulate(Body.of(Articulation(arm.mesh, joints)), world, seconds=2.0, engine="mujoco")
    assert limited.q.max() < 0.33
    assert limited.q[-1, 0] == pytest.approx(0.3, abs=5e-3)
    free = simulate(Body.of(Articulation(arm.mesh, joints), limit_stiffness=0.0), world, seconds=2.0, engine="mujoco")
    assert free.q.max() > 1.0


# Contact.


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sliding_block_stops_after_the_distance_of_coulomb_in_both_engines(block, engine):
    body = Body.of(block(), Condition(Start(velocity=(1.0, 0.0, 0.0))), free=True)
    rollout = simulate(body, World(ground=Ground(friction=FRICTION)), seconds=0.5, engine=engine)
    assert rollout.q[-1, 0] == pytest.approx(1.0 / (2 * FRICTION * GRAVITY), rel=0.05)
    assert np.abs(rollout.qdot[-1]).max() < 1e-3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dropped_box_comes_to_rest_on_the_ground_in_both_engines(block, engine):
    tilted = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.4)
    tilted[1, 3] += 0.3
    body = Body.of(block(), free=True, placement=tilted)
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=2.0, engine=engine)
    low, high = rollout.positions[-1, :, 1].min(), rollout.positions[-1, :, 1].max()
    assert abs(low) < 1e-3 * body.mesh.size
    assert high == pytest.approx(0.1, abs=1e-3), "it lies flat"
    assert np.abs(rollout.positions[-1] - rollout.positions[-6]).max() < 1e-4 * body.mesh.size
    assert rollout.report["max_penetration"] < 5e-3 * body.mesh.size


def test_a_block_neither_creeps_below_nor_sticks_above_the_friction_angle(block):
    for offset in (-1.0, 1.0):
        angle = np.arctan(FRICTION) + np.radians(offset)
        gravity = GRAVITY * np.array([np.sin(angle), -np.cos(angle), 0.0])
        world = World(gravity=gravity, ground=Ground(friction=FRICTION))
        slid = simulate(Body.of(block(), free=True), world, seconds=0.5, engine="mujoco").q[-1, 0]
        expected = 0.5 * GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle)) * 0.5**2
        assert slid == pytest.approx(max(expected, 0.0), rel=0.05, abs=1e-4)


@pytest.mark.parametrize("name", ["laptop", "lamp"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.slow
def test_a_dropped_sample_comes_to_rest_and_sinks_into_nothing(name, engine):
    thing = SceneObject(f"sample:{name}", drop="auto", rotation=(20.0, 0.0, 10.0))
    run = run_scene(Scene((thing,), engine=engine, seconds=6.0))
    rollout, ground = run.rollout, run.ready.world.ground
    assert rollout.status == "ok"
    assert rollout.report["engine"] == engine
    assert np.abs(rollout.positions[-1] - rollout.positions[-4]).max() < 2e-3 * rollout.rest.size
    assert rollout.positions[..., 1].min() - ground.height > -5e-3 * rollout.rest.size
    assert rollout.report["max_penetration"] < 5e-3 * rollout.rest.size * rollout.rest.unit


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_thin_board_is_never_passed(speed):
    board = Obstacle(box((1.0, 0.002, 1.0)))
    thrown = Body.of(
        box((0.2, 0.002, 0.2)),
        Condition(Start(velocity=(0.0, -speed, 0.0))),
        free=True,
        placement=lie.translation(np.array([0.0, 0.1, 0.0]))
        @ lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.5),
    )
    rollout = simulate(thrown, World(obstacles=[board]), seconds=1.0, engine="mujoco")
    assert rollout.positions[..., 1].min() > -5e-3 * 0.2
    assert abs(rollout.positions[-1, :, 1].min() - 0.001) < 1e-3


def test_a_ball_of_a_material_bounces_to_its_restitution():
    ball = shapes.sphere(0.1)
    mesh = Mesh(ball.vertices, ball.faces)
    springy = Material("springy", damping_ratio=0.2)
    body = Body.of(
        mesh,
        free=True,
        placement=lie.translation(np.array([0.0, 0.5 - mesh.vertices[:, 1].min(), 0.0])),
        materials=MaterialField.uniform(springy, mesh.vertex_count),
    )
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=1.0, fps=240.0, engine="mujoco")
    low = rollout.positions[..., 1].min(axis=1)
    landed = int(np.argmax(low < 0.01))
    assert low[landed:].max() == pytest.approx(0.5 * (DEFAULTS.contact.hard * springy.restitution) ** 2, rel=0.1)
    dead = simulate(replace(body, materials=None), World(ground=Ground(height=0.0)), seconds=1.0, engine="mujoco")
    assert dead.positions[16:, :, 1].min(axis=1).max() < 1e-3


def test_friction_of_a_material_is_combined_with_that_of_the_ground(block):
    mesh = block().mesh
    slippery = MaterialField.uniform(Material("ice", friction=0.05), mesh.vertex_count)
    body = Body.of(mesh, Condition(Start(velocity=(0.5, 0.0, 0.0))), free=True, materials=slippery)
    rollout = simulate(body, World(ground=Ground(friction=FRICTION)), seconds=1.0, engine="mujoco")
    both = np.sqrt(0.05 * FRICTION)
    assert rollout.q[-1, 0] == pytest.approx(0.25 / (2 * both * GRAVITY), rel=0.05)


def test_a_concave_obstacle_is_not_filled(block):
    walls = [box((0.6, 0.02, 0.6)), *(box((0.02, 0.4, 0.6), (x, 0.2, 0.0)) for x in (-0.29, 0.29))]
    shifts = np.cumsum([0, *(wall.vertex_count for wall in walls[:-1])])
    trough = Mesh(
        np.concatenate([wall.vertices for wall in walls]),
        np.concatenate([wall.faces + shift for wall, shift in zip(walls, shifts, strict=True)]),
    )
    bowl = _bowl()
    for obstacle, floor in ((trough, 0.01), (bowl, None)):
        body = Body.of(box((0.1, 0.1, 0.1)), free=True, placement=lie.translation(np.array([0.0, 0.5, 0.0])))
        rollout = simulate(body, World(obstacles=[Obstacle(obstacle)]), seconds=1.5, engine="mujoco")
        low = rollout.positions[-1, :, 1].min()
        assert -0.01 < low < 0.1
        if floor is not None:
            assert low == pytest.approx(floor, abs=1e-3)


def _bowl() -> Mesh:
    """An open half sphere of radius 0.3 around (0, 0.3, 0), its inside upwards."""
    rings, sides = 8, 24
    polar = np.linspace(0.02, np.pi / 2, rings)
    turn = 2 * np.pi * np.arange(sides) / sides
    points = [
        [0.3 * np.sin(p) * np.cos(t), 0.3 - 0.3 * np.cos(p), 0.3 * np.sin(p) * np.sin(t)] for p in polar for t in turn
    ]
    faces = []
    for i in range(rings - 1):
        for j in range(sides):
            a, b = i * sides + j, i * sides + (j + 1) % sides
            faces += [[a, b, a + sides], [b, b + sides, a + sides]]
    mesh = Mesh(np.array(points), np.array(faces))
    corners = mesh.vertices[mesh.faces[0]]
    upward = np.cross(corners[1] - corners[0], corners[2] - corners[0])[1] > 0
    return mesh if upward else Mesh(mesh.vertices, mesh.faces[:, ::-1])


def test_parts_of_one_object_touch_each_other_unless_they_overlap_at_rest():
    base, arm, stop = (
        box((0.4, 0.02, 0.1)),
        box((0.02, 0.2, 0.05), (0.0, 0.13, 0.0)),
        box((0.02, 0.2, 0.05), (0.1, 0.13, 0.0)),
    )
    meshes = [base, arm, stop]
    shifts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes[:-1])])
    mesh = Mesh(
        np.concatenate([each.vertices for each in meshes]),
        np.concatenate([each.faces + shift for each, shift in zip(meshes, shifts, strict=True)]),
        part_ids=np.repeat([0, 1, 2], [each.vertex_count for each in meshes]),
    )
    joints = (
        Joint(),
        Joint("revolute", 0, (0, 0, -1), (0.0, 0.02, 0.0)),
        Joint("revolute", 0, (0, 0, 1), (0.1, 0.02, 0)),
    )
    body = Body.of(Articulation(mesh, joints), Condition(Start(qdot=[2.0, 0.0])), joint_damping=0.0)
    rollout = simulate(body, World(gravity=(0.0, 0.0, 0.0), ground=Ground(height=-1.0)), seconds=1.0, engine="mujoco")
    assert rollout.q[-1, 1] < -0.1, "the second arm was pushed"
    apart = rollout.positions[:, mesh.part_ids == 2, 0].max(axis=1) - rollout.positions[:, mesh.part_ids == 1, 0].min(
        axis=1
    )
    assert apart.min() > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_comes_to_rest_on_another_one_in_both_engines(block, engine):
    below = Body.of(block((0.4, 0.1, 0.4)), free=True, name="below")
    above = Body.of(block((0.2, 0.1, 0.2), height=0.15), free=True, name="above")
    rollouts = simulate_together([below, above], World(ground=Ground(height=0.0)), seconds=0.7, engine=engine)
    assert abs(rollouts[1].positions[-1, :, 1].min() - 0.1) < 1e-3
    assert abs(rollouts[0].positions[-1, :, 1].min()) < 1e-3


def _pail(radius=0.15, height=0.15, wall=0.01, count=24) -> Mesh:
    """A round pail in one closed surface, open upwards."""
    turn = np.arange(count) * 2 * np.pi / count
    circle = np.column_stack([np.sin(turn), np.zeros(count), np.cos(turn)])
    outline = [(radius, 0.0), (radius, height), (radius - wall, height), (radius - wall, wall)]
    rings = [r * circle + [0.0, y, 0.0] for r, y in outline]
    k, after = np.arange(count), np.roll(np.arange(count), -1)
    faces = [np.column_stack([after, k, np.full(count, 4 * count)])]
    for a in (0, count, 2 * count):
        b = a + count
        faces += [np.column_stack([a + k, a + after, b + after]), np.column_stack([a + k, b + after, b + k])]
    faces.append(np.column_stack([3 * count + k, 3 * count + after, np.full(count, 4 * count + 1)]))
    return Mesh(np.concatenate([*rings, [[0, 0, 0], [0, wall, 0]]]), np.concatenate(faces))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["ball", "box"])
def test_what_falls_into_a_pail_of_one_piece_stays_in_it(what):
    made = shapes.sphere(0.04) if what == "ball" else shapes.box((0.06, 0.06, 0.06))
    falling = Body.of(Mesh(made.vertices + [0.03, 0.3, 0.01], made.faces), free=True)
    pail = Body.of(_pail(), free=True)
    world = World(ground=Ground(height=0.0))
    rests, fallen = simulate_together([pail, falling], world, seconds=0.8, engine="mujoco")
    last = fallen.positions[-1]
    assert 0.01 - 2e-3 < last[:, 1].min() < 0.01 + 0.01 * pail.mesh.size + 2e-3  # on the floor, within the stated error
    assert np.linalg.norm(last[:, [0, 2]], axis=1).max() < 0.14 + 1e-3
    assert rests.positions[-1, :, 1].max() == pytest.approx(0.15, abs=1e-2)


# Runs.


def test_the_same_scene_gives_the_same_bits_at_once_and_frame_by_frame(block, chain):
    bodies = [
        Body.of(block(), Condition(Start(velocity=(0.3, 0.0, 0.1), spin=(1.0, 2.0, 0.0))), free=True),
        Body.of(block(height=0.2), Condition(impulses=[Impulse([0], (0.5, 0.0, 0.0), 0.1)]), free=True),
    ]
    world = World(ground=Ground(height=-0.2))
    first, second = (simulate_together(bodies, world, seconds=0.5, engine="mujoco") for _ in range(2))
    run = start(bodies, world, seconds=0.5, engine="mujoco")
    while run.step():
        pass
    for a, b, c in zip(first, second, run.rollouts(), strict=True):
        assert np.array_equal(a.positions, b.positions)
        assert np.array_equal(a.positions, c.positions)
        assert np.array_equal(a.qdot, c.qdot)


def test_gravity_and_wind_can_change_between_steps(block):
    run = start(Body.of(block(), free=True), seconds=1.0, engine="mujoco", dt=1e-3)
    for _ in range(6):
        run.step()
    run.set_gravity((0.0, 0.0, 0.0))
    for _ in range(6):
        run.step()
    run.set_wind(Wind((5.0, 0.0, 0.0)))
    while run.step():
        pass
    (rollout,) = run.rollouts()
    np.testing.assert_allclose(rollout.qdot[6:12, 1], -GRAVITY * 0.25, rtol=1e-6)
    assert rollout.qdot[12, 0] == pytest.approx(0.0, abs=1e-9)
    assert rollout.qdot[-1, 0] > 0.05
    assert "gravity" in rollout.report["energy_note"]


def test_a_lost_run_keeps_its_good_frames_and_says_so(chain):
    body = Body.of(chain(1), Condition(impulses=[Impulse([0], (1e14, 0.0, 0.0), 0.2)]))
    rollout = simulate(body, seconds=1.0, engine="mujoco")
    assert rollout.status == "diverged"
    assert 1 < rollout.frame_count < 24
    assert "good frames" in rollout.message
    assert "reduced" in rollout.message


# Which engine.


def test_auto_takes_mujoco_for_rigid_things_that_can_touch_something(block, chain):
    ground = World(ground=Ground())
    expected = {
        "mujoco": [([block()], ground), ([chain(2), block()], NOTHING)],
        "reduced": [([block()], NOTHING), ([chain(2)], World())],
    }
    for name, cases in expected.items():
        for things, world in cases:
            report = simulate_together(things, world, seconds=0.1, engine="auto")[0].report
            assert report["engine"] == name
            assert report["engine_reason"]
    assert simulate(block(), ground, seconds=0.1, engine="auto", integrator="implicit").report["engine"] == "reduced"


def test_what_bends_is_refused_by_mujoco_and_taken_by_the_reduced_engine(block):
    mesh = block().mesh
    space = LinearSpace(mesh, np.ones((1, mesh.vertex_count, 3)))
    ground = World(ground=Ground(height=-1.0))
    with pytest.raises(NeurokError, match=r"'object' bends; use the engine 'reduced'"):
        simulate(space, ground, engine="mujoco")
    report = simulate(space, ground, seconds=0.1, engine="auto").report
    assert report["engine"] == "reduced"
    assert "bends" in report["engine_reason"]


def test_without_mujoco_auto_falls_back_and_an_explicit_wish_names_the_extra(block, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ground = World(ground=Ground())
    report = simulate(block(), ground, seconds=0.1, engine="auto").report
    assert report["engine"] == "reduced"
    assert "not installed" in report["engine_reason"]
    with pytest.raises(MissingDependencyError, match=r"neurok\[sim\]"):
        simulate(block(), ground, engine="mujoco")


def test_wrong_wishes_are_refused_with_a_sentence(block):
    body = Body.of(block())
    with pytest.raises(NeurokError, match="must be one of auto, reduced, mujoco, particles"):
        Scene((SceneObject("sample:laptop"),), engine="bullet")
    with pytest.raises(NeurokError, match="belongs to the engine 'reduced'"):
        simulate(body, engine="mujoco", integrator="gauss")
    with pytest.raises(NeurokError, match="energies of its own"):
        simulate(Body.of(block(), energies=[lambda x: 0.0 * x.sum()]), engine="mujoco")


def test_another_config_makes_another_step(block):
    engine = MujocoEngine(MujocoConfig(longest_step=1e-3))
    assert simulate(Body.of(block(), free=True), seconds=0.1, engine=engine).report["dt"] <= 1e-3
