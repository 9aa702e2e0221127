"""Starts, pins, drags, wind and limits; and what is refused."""

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Joint, Mesh
from neurok.dynamics import (
    Body,
    Condition,
    Drag,
    Force,
    Ground,
    Impulse,
    Pin,
    Start,
    VertexValues,
    Wind,
    World,
    simulate,
)
from neurok.errors import NeurokError
from neurok.kinematics import ArticulatedSpace

NOTHING = World(gravity=(0.0, 0.0, 0.0))


def test_wished_positions_and_velocities_of_vertices_are_met(chain):
    arm = chain(3)
    space = ArticulatedSpace(arm)
    tip = np.array([space.rest.vertex_count - 1])
    goal = arm.pose(np.array([0.4, -0.2, 0.3])).vertices[tip]
    start = Start(positions=VertexValues(tip, goal), velocities=VertexValues(tip, np.array([[0.5, 0.1, 0.0]])))
    rollout = simulate(Body.of(space, Condition(start)), NOTHING, seconds=0.1, fps=1000)
    np.testing.assert_allclose(rollout.positions[0, tip], goal, atol=1e-8)
    speed = (rollout.positions[1, tip] - rollout.positions[0, tip]) / rollout.dt
    np.testing.assert_allclose(speed, [[0.5, 0.1, 0.0]], atol=5e-3)


def test_a_free_object_starts_where_its_vertices_are_wished(block):
    space = ArticulatedSpace(block())
    chosen = np.arange(space.rest.vertex_count)
    moved = space.rest.vertices @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + [0.3, 0.2, 0.1]
    rollout = simulate(Body.of(space, Condition(Start(positions=VertexValues(chosen, moved))), free=True), seconds=0.1)
    np.testing.assert_allclose(rollout.positions[0], moved, atol=1e-7)


@pytest.mark.slow
def test_a_pinned_object_hangs_within_a_thousandth_of_its_size(block):
    space = ArticulatedSpace(block())
    corner = np.array([int(np.argmax(space.rest.vertices.sum(axis=1)))])
    rollout = simulate(Body.of(space, Condition(pins=[Pin(corner)]), free=True), seconds=2)
    assert rollout.status == "ok"
    drift = np.linalg.norm(rollout.positions[:, corner] - space.rest.vertices[corner], axis=-1).max()
    assert drift < 1e-3 * space.rest.size
    assert np.abs(rollout.positions[-1] - rollout.positions[0]).max() > 0.1 * space.rest.size, "it swings"


def test_a_dragged_vertex_follows_its_path(chain):
    space = ArticulatedSpace(chain(2))
    tip = np.flatnonzero(space.rest.vertices[:, 1] < -0.399)
    begin = space.rest.vertices[tip].mean(axis=0)
    path = begin + np.array([[0.0, 0.0, 0.0], [0.1, 0.1, 0.0]])
    rollout = simulate(Body.of(space, Condition(drags=[Drag(tip, path, [0.0, 1.0])])), seconds=1.5)
    assert rollout.status == "ok"
    reached = rollout.positions[-1, tip].mean(axis=0)
    assert np.linalg.norm(reached - path[-1]) < 0.02 * space.rest.size


@pytest.mark.parametrize("integrator", ["gauss", "implicit"])
def test_what_is_let_go_coasts_on(block, integrator):
    space = ArticulatedSpace(block())
    everything = np.arange(space.rest.vertex_count)
    middle = space.rest.vertices.mean(axis=0)
    drag = Drag(everything, np.stack([middle, middle + [0.4, 0.0, 0.0]]), [0.0, 0.5], end=0.25)
    body = Body.of(space, Condition(drags=[drag]), free=True)
    rollout = simulate(body, NOTHING, seconds=1.0, fps=32, integrator=integrator)
    way = rollout.positions.mean(axis=1)[:, 0]
    rates = np.diff(way)[9:] * 32
    np.testing.assert_allclose(rates, rates[0], rtol=1e-6)
    assert rates[0] == pytest.approx(0.8, rel=0.05), "the speed of the path"


def test_a_gust_ends(block):
    space = ArticulatedSpace(block())
    gust = World(gravity=(0.0, 0.0, 0.0), wind=Wind((5.0, 0.0, 0.0), until=0.25))
    steady = World(gravity=(0.0, 0.0, 0.0), wind=Wind((5.0, 0.0, 0.0)))
    ways = [
        simulate(Body.of(space, free=True), world, seconds=1.0, fps=32, dt=1 / 128).positions.mean(axis=1)[:, 0]
        for world in (gust, steady)
    ]
    np.testing.assert_allclose(ways[0][:8], ways[1][:8], atol=1e-12)
    rates = np.diff(ways[0])[9:]
    np.testing.assert_allclose(rates, rates[0], rtol=1e-9)
    assert rates[0] > 0
    with pytest.raises(NeurokError, match="until must be a positive"):
        Wind((1.0, 0.0, 0.0), until=0.0)


def test_wind_pushes_a_plate_with_the_pressure_of_moving_air():
    plate = Mesh(np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1.0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    joint = Joint("prismatic", -1, (1, 0, 0))
    space = ArticulatedSpace(Articulation(plate, (joint,)))
    body = Body.of(space, masses=np.full(4, 0.25))
    rollout = simulate(body, World(gravity=(0.0, 0.0, 0.0), wind=Wind((3.0, 0.0, 0.0))), seconds=2)
    # m v' = ½ ρ A (w − v)² has the solution w − v = w / (1 + ½ ρ A w t / m).
    time = np.arange(rollout.frame_count) * rollout.dt
    np.testing.assert_allclose(rollout.qdot[:, 0], 3.0 - 3.0 / (1.0 + 0.6 * 3.0 * time), atol=1e-6)


def test_limits_hold_a_falling_door(chain):
    rod = chain(1, 1.0)
    hinge = Joint("revolute", -1, (0, 0, 1), (0, 0, 0), lower=-0.5, upper=0.2)
    space = ArticulatedSpace(Articulation(rod.mesh, (hinge,)))
    rollout = simulate(Body.of(space, Condition(Start(qdot=[3.0]))), seconds=3)
    assert rollout.status == "ok"
    assert rollout.q.min() > -0.55
    assert rollout.q.max() < 0.25
    assert rollout.report["energy_drift"] < 1e-2
    free = simulate(Body.of(space, Condition(Start(qdot=[3.0])), limit_stiffness=0.0), seconds=1)
    assert free.q.max() > 0.4


def test_an_object_without_joints_that_stands_fixed_stays_as_it_is(block):
    rollout = simulate(ArticulatedSpace(block()), seconds=0.5)
    assert rollout.status == "ok"
    assert rollout.report["dof"] == 0
    assert np.array_equal(rollout.positions[0], rollout.positions[-1])


def test_a_step_that_is_far_too_long_ends_with_a_status_and_finite_frames(chain):
    whip = Body.of(ArticulatedSpace(chain(3)), Condition(Start(q=[1.5, 1.0, -2.0], qdot=[300.0, -200.0, 400.0])))
    rollout = simulate(whip, seconds=3, fps=1, dt=1.0, integrator="midpoint")
    assert rollout.status == "diverged"
    assert "dt=0.25" in rollout.message
    assert np.isfinite(rollout.positions).all()
    assert rollout.frame_count >= 1


def test_a_lost_object_is_reported_and_never_written(chain):
    push = Condition(forces=[Force.constant([0], (1e12, 0.0, 0.0))])
    rollout = simulate(Body.of(ArticulatedSpace(chain(2, root="fixed")), push, free=True), NOTHING, seconds=2)
    assert rollout.status == "diverged"
    assert np.isfinite(rollout.positions).all()
    assert "Try a shorter time step" in rollout.message


def test_an_interrupted_run_keeps_its_frames(chain):
    def stop(fraction: float) -> None:
        if fraction > 0.3:
            raise KeyboardInterrupt

    rollout = simulate(ArticulatedSpace(chain(1)), seconds=1, progress=stop)
    assert rollout.status == "stopped"
    assert 2 <= rollout.frame_count < 24


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Force([0], [[np.nan, 0, 0]], [0.0]), "finite"),
        (lambda: Force([], [[0.0, 0, 0]], [0.0]), "at least one vertex"),
        (lambda: Drag([0], [[0, 0, 0], [1, 0, 0]], [1.0, 0.0]), "increase"),
        (lambda: Impulse([0], (0.0, 0.0, 1.0), -1.0), "0 or more"),
        (lambda: Pin([0], stiffness=-1.0), "positive"),
        (lambda: Ground(friction=-0.1), "friction"),
        (lambda: Ground(normal=(0.0, 0.0, 0.0)), "direction"),
        (lambda: World(gravity=(np.inf, 0.0, 0.0)), "finite"),
    ],
)
def test_impossible_conditions_are_refused_with_a_sentence(make, word):
    with pytest.raises(NeurokError, match=word):
        make()


def test_impossible_bodies_and_runs_are_refused_with_a_sentence(chain, block):
    space = ArticulatedSpace(chain(2))
    count = space.rest.vertex_count
    with pytest.raises(NeurokError, match="density"):
        Body.of(space, density=-1.0)
    with pytest.raises(NeurokError, match="zero"):
        Body.of(space, masses=np.zeros(count))
    with pytest.raises(NeurokError, match="dt must be"):
        simulate(space, dt=0.0)
    with pytest.raises(NeurokError, match="vertices 0 to"):
        simulate(Body.of(space, Condition(pins=[Pin([count])])))
    both = Condition(pins=[Pin([0])], drags=[Drag([0], [[0.0, 0, 0]], [0.0])])
    with pytest.raises(NeurokError, match="pinned and dragged"):
        simulate(Body.of(space, both))
    with pytest.raises(NeurokError, match="has a fixed root"):
        simulate(Body.of(space, Condition(Start(velocity=(1.0, 0.0, 0.0)))))
    with pytest.raises(NeurokError, match="cannot be free"):
        simulate(Body.of(space, free=True))
    with pytest.raises(NeurokError, match="coordinates"):
        simulate(Body.of(space, Condition(Start(q=[0.0]))))
    with pytest.raises(NeurokError, match="implicit"):
        simulate(ArticulatedSpace(block()), World(ground=Ground()), integrator="gauss")


def test_limits_that_count_angles_from_elsewhere_hold_as_well(chain):
    rod = chain(1, 1.0)
    hinge = Joint("revolute", -1, (0, 0, 1), (0, 0, 0), lower=-0.5 - 2 * np.pi, upper=0.2 - 2 * np.pi)
    space = ArticulatedSpace(Articulation(rod.mesh, (hinge,)))
    rollout = simulate(Body.of(space, Condition(Start(qdot=[3.0]))), seconds=1)
    assert rollout.q.min() > -0.55
    assert rollout.q.max() < 0.25
    beside = Joint("revolute", -1, (0, 0, 1), (0, 0, 0), lower=0.3, upper=0.8)
    space = ArticulatedSpace(Articulation(rod.mesh, (beside,)))
    rollout = simulate(Body.of(space, Condition(Start(qdot=[3.0]))), seconds=1)
    assert np.abs(rollout.qdot).max() < 4.0, "starting beyond the limits must not shoot it away"


@pytest.mark.slow
def test_a_light_part_that_bounces_at_the_end_of_a_chain_keeps_the_energy():
    lamp = make_sample("lamp").articulation
    rollout = simulate(ArticulatedSpace(lamp), seconds=1.5)
    limits = np.array([[joint.lower, joint.upper] for joint in lamp.joints if joint.dof])
    assert (rollout.q > limits[:, 1]).any(), "it does bounce"
    assert rollout.report["energy_drift"] < 1e-2
    assert rollout.report["energy_note"] == ""


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"damping": 0.5}, "damping"),
        ({"condition": Condition(forces=[Force.constant([0], (1.0, 0.0, 0.0))])}, "pushes"),
        ({"condition": Condition(pins=[Pin([0])])}, "pins"),
    ],
)
def test_where_something_changes_the_energy_there_is_no_drift_but_a_reason(chain, change, cause):
    report = simulate(Body.of(ArticulatedSpace(chain(2)), **change), seconds=0.1).report
    assert report["energy_drift"] is None
    assert cause in report["energy_note"]


def test_contact_changes_the_energy_only_once_something_touches(block):
    far, close = (
        simulate(Body.of(ArticulatedSpace(block()), free=True), World(ground=Ground(height=h)), seconds=0.1).report
        for h in (-5.0, 0.0)
    )
    assert far["energy_drift"] < 0.2, "the implicit integrator loses a little"
    assert close["energy_drift"] is None
    assert "contact" in close["energy_note"]
