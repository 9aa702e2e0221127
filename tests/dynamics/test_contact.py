"""Things rest, stick, slide and bump as they should."""

import numpy as np
import pytest

from neurok.core import Mesh
from neurok.dynamics import Body, Condition, Ground, Obstacle, Start, World, simulate, simulate_together
from neurok.dynamics.colliders import DistanceField, Hull, obstacle_colliders
from neurok.geometry import lie
from neurok.geometry.convex import convex_hull
from neurok.kinematics import ArticulatedSpace
from neurok.modelling import shapes
from neurok.scene.description import Scene, SceneGround, SceneObject, ScenePush, SceneWorld
from neurok.scene.run import run_scene

FRICTION = 0.5


def incline(degrees: float) -> World:
    """A slope, as gravity turned against level ground."""
    angle = np.radians(degrees)
    gravity = 9.81 * np.array([np.sin(angle), -np.cos(angle), 0.0])
    return World(gravity=gravity, ground=Ground(friction=FRICTION))


@pytest.mark.parametrize("offset", [-1.0, 1.0])
def test_a_block_sticks_below_and_slides_above_the_friction_angle(block, offset):
    degrees = np.degrees(np.arctan(FRICTION)) + offset
    body = Body.of(ArticulatedSpace(block()), free=True)
    rollout = simulate(body, incline(degrees), seconds=0.5)
    assert rollout.status == "ok"
    slid = rollout.q[-1, 0]
    angle = np.radians(degrees)
    expected = 0.5 * 9.81 * (np.sin(angle) - FRICTION * np.cos(angle)) * 0.5**2
    if offset < 0:
        assert abs(slid) < 1e-3 * body.space.rest.size, "more than settling"
        assert np.abs(rollout.positions[-1] - rollout.positions[-4]).max() < 1e-6 * body.space.rest.size, "it creeps"
    else:
        assert abs(slid / expected - 1) < 0.05


def test_a_sliding_block_stops_after_the_distance_of_coulomb(block):
    body = Body.of(ArticulatedSpace(block()), Condition(Start(velocity=(1.0, 0.0, 0.0))), free=True)
    rollout = simulate(body, incline(0.0), seconds=0.5)
    assert abs(rollout.q[-1, 0] / (1.0 / (2 * FRICTION * 9.81)) - 1) < 0.05
    assert np.abs(rollout.qdot[-1]).max() < 1e-3


def test_a_dropped_block_lands_on_the_ground_and_stays(block):
    tilted = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.4)
    tilted[1, 3] += 0.3
    body = Body.of(ArticulatedSpace(block()), free=True, placement=tilted)
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=1.5)
    size = body.space.rest.size
    assert rollout.report["max_penetration"] < 0.01 * size
    assert abs(rollout.positions[-1, :, 1].min()) < 1e-3 * size
    assert np.abs(rollout.positions[-1] - rollout.positions[-12]).max() < 1e-4 * size
    assert rollout.energies["total"][-1] < rollout.energies["total"][0]


def test_a_block_comes_to_rest_on_another_one(block):
    below = Body.of(ArticulatedSpace(block((0.4, 0.1, 0.4))), free=True, name="below")
    above = Body.of(ArticulatedSpace(block((0.2, 0.1, 0.2), height=0.15)), free=True, name="above")
    rollouts = simulate_together([below, above], World(ground=Ground(height=0.0)), seconds=0.5)
    assert all(rollout.status == "ok" for rollout in rollouts)
    assert abs(rollouts[1].positions[-1, :, 1].min() - 0.1) < 1e-3
    assert abs(rollouts[0].positions[-1, :, 1].min()) < 1e-3
    assert np.abs(rollouts[1].qdot[-1]).max() < 1e-2


def test_a_moving_block_pushes_another_and_momentum_is_shared(block):
    left = Body.of(ArticulatedSpace(block()), Condition(Start(velocity=(1.0, 0.0, 0.0))), free=True)
    place = np.eye(4)
    place[0, 3] = 0.25
    right = Body.of(ArticulatedSpace(block()), free=True, placement=place)
    first, second = simulate_together([left, right], World(gravity=(0.0, 0.0, 0.0), friction=0.0), seconds=0.5)
    assert second.qdot[-1, 0] > 0.4
    assert abs(first.qdot[-1, 0] + second.qdot[-1, 0] - 1.0) < 1e-3


@pytest.mark.slow
def test_a_block_rests_on_a_convex_and_on_a_hollow_obstacle(block):
    plate = shapes.box((1.0, 0.1, 1.0), (0.0, -0.05, 0.0))
    bowl = shapes.lathe([[0.0, -0.2], [0.5, 0.0], [0.5, 0.3], [0.6, 0.3], [0.6, -0.3], [0.0, -0.3]])
    for shape, level in ((plate, 0.0), (bowl, None)):
        mesh = Mesh(shape.vertices, shape.faces)
        body = Body.of(ArticulatedSpace(block((0.2, 0.1, 0.2), height=0.1)), free=True)
        rollout = simulate(body, World(obstacles=[Obstacle(mesh)]), seconds=0.5)
        assert rollout.status == "ok"
        lowest = rollout.positions[-1, :, 1].min()
        if level is not None:
            assert abs(lowest - level) < 1e-3
        else:
            assert -0.21 < lowest < 0.0, "it lies in the bowl, neither on its rim nor below its floor"


def test_a_fast_block_does_not_pass_a_thin_board(block):
    board = shapes.box((1.0, 0.008, 1.0), (0.0, -0.004, 0.0))
    fast = Condition(Start(velocity=(0.0, -4.0, 0.0)))
    tilted = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.5)
    tilted[1, 3] += 0.2
    body = Body.of(ArticulatedSpace(block()), fast, free=True, placement=tilted)
    rollout = simulate(body, World(obstacles=[Obstacle(Mesh(board.vertices, board.faces))]), seconds=0.3)
    # One step moves it by four times the thickness of the board.
    assert rollout.status == "ok"
    assert rollout.positions[:, :, 1].min() > -0.004, "no corner is beyond the middle of the board"


@pytest.mark.slow
def test_a_tilted_pillow_that_falls_on_a_cabinet_lies_on_its_top():
    cabinet = SceneObject("sample:cabinet", base="fixed")
    pillow = SceneObject("sample:pillow", position=(0.35, 1.1, 0.1), rotation=(30.0, 0.0, 40.0))
    run = run_scene(Scene((cabinet, pillow), SceneWorld(ground=SceneGround()), seconds=0.5))
    top, positions = run.rollouts[0].rest.bounds[1][1], run.rollouts[1].positions
    assert run.rollout.status == "ok"
    assert positions[:, :, 1].min() > top - 0.015, "the board is 2 cm thick"


@pytest.mark.slow
@pytest.mark.xfail(reason="the cabinet with split creases comes to rest leaning: not understood yet")
def test_a_cabinet_pushed_over_comes_to_rest_on_its_handles():
    push = ScenePush("top", (0.0, 0.0, 160.0), 0.0, 0.3)
    scene = Scene((SceneObject("sample:cabinet", pushes=(push,)),), SceneWorld(ground=SceneGround()), seconds=3.2)
    rollout = run_scene(scene).rollout
    assert abs(rollout.q[-1, 3] - np.pi / 2) < 0.1, "it lies on its face"
    assert np.abs(rollout.positions[-1] - rollout.positions[-4]).max() < 1e-5 * rollout.rest.size


def test_a_hull_and_a_distance_field_agree_on_a_box():
    box = shapes.box((1.0, 0.6, 0.8))
    hull = Hull.of(*convex_hull(box.vertices, 1e-3))
    field = DistanceField.of(box.vertices, box.faces, 40)
    points = np.random.default_rng(0).uniform(-0.7, 0.7, size=(300, 3))
    depth, _ = hull.distance(points)
    gap, normal = field.distance(points)
    inside = depth < -0.02
    np.testing.assert_allclose(gap[inside], depth[inside], atol=0.02)
    assert (gap[depth > 0.5] > 0).all()
    assert np.allclose(np.linalg.norm(normal[inside], axis=1), 1.0, atol=1e-6)
    assert len(obstacle_colliders(Mesh(box.vertices, box.faces))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cabinet", "laptop"])
def test_dropped_furniture_ends_at_rest(name):
    from neurok.catalogue.samples import make_sample

    articulation = make_sample(name).articulation
    assert articulation is not None
    up, size = articulation.mesh.up_vector, articulation.mesh.size
    floor = float((articulation.mesh.vertices @ up).min())
    place = lie.rotation_about(np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.15)
    place[:3, 3] += 0.15 * size * up
    body = Body.of(ArticulatedSpace(articulation), free=True, placement=place)
    rollout = simulate(body, World(ground=Ground(height=floor)), seconds=3)
    assert rollout.status == "ok"
    assert floor - float((rollout.positions[-1] @ up).min()) < 0.01 * size
    assert rollout.report["max_penetration"] < 0.01 * size
    assert np.abs(rollout.positions[-1] - rollout.positions[-12]).max() < 1e-3 * size
