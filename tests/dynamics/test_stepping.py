"""Runs that are stepped by hand: the same motion, and what may be changed on the way."""

from dataclasses import dataclass

import numpy as np
import pytest

from neurok.core import Asset, Rollout
from neurok.dynamics import (
    Body,
    Condition,
    Engine,
    Force,
    Ground,
    Impulse,
    Run,
    Start,
    Wind,
    World,
    simulate,
    simulate_together,
    start,
)
from neurok.dynamics.reduced import ReducedConfig, ReducedEngine
from neurok.errors import NeurokError
from neurok.kinematics import ArticulatedSpace

NOTHING = World(gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("integrator", ["gauss", "midpoint", "implicit"])
def test_stepping_frame_by_frame_is_simulating_bit_for_bit(chain, integrator):
    condition = Condition(
        Start(q=[0.6, -0.3]),
        forces=[Force.constant([0], (0.5, 0.0, 0.0), 0.1, 0.2)],
        impulses=[Impulse([9], (0.01, 0.0, 0.0), 0.15)],
    )
    body = Body.of(chain(2), condition)
    whole = simulate(body, seconds=0.4, integrator=integrator)
    run = start(body, seconds=0.4, integrator=integrator)
    seen = [run.positions[0]]
    while run.step():
        seen.append(run.positions[0])
        assert run.time == pytest.approx((len(seen) - 1) / 24)
    assert np.array_equal(np.stack(seen), whole.positions)
    (stepped,) = run.rollouts()
    assert np.array_equal(stepped.qdot, whole.qdot)
    assert run.fraction == 1.0
    assert not run.step(), "a run that has ended stays as it is"
    assert run.rollouts()[0].frame_count == whole.frame_count


def test_several_objects_on_the_ground_are_stepped_as_they_are_simulated(block):
    bodies = [Body.of(block(), free=True), Body.of(block(height=0.15), free=True)]
    world = World(ground=Ground(height=0.0))
    whole = simulate_together(bodies, world, seconds=0.2)
    run = start(bodies, world, seconds=0.2)
    while run.step():
        pass
    for mine, theirs in zip(run.rollouts(), whole, strict=True):
        assert np.array_equal(mine.positions, theirs.positions)


def test_an_interruption_within_a_step_keeps_the_frames_before_it(chain):
    seen = []

    def interrupt(x):
        seen.append(x)
        if len(seen) > 60:
            raise KeyboardInterrupt
        return 0.0 * x.sum()

    rollout = simulate(Body.of(chain(1), energies=[interrupt]), seconds=2)
    assert rollout.status == "stopped"
    assert 1 < rollout.frame_count < 49
    plain = simulate(chain(1), seconds=1)
    assert np.abs(rollout.positions - plain.positions[: rollout.frame_count]).max() < 1e-9


def test_a_run_without_an_end_goes_on_and_need_not_remember(chain):
    run = start(chain(1), seconds=None, record=False)
    for _ in range(60):
        assert run.step()
    assert run.time == pytest.approx(2.5)
    assert run.fraction == 0.0
    run.stop()
    assert not run.step()
    (rollout,) = run.rollouts()
    assert rollout.frame_count == 1
    assert rollout.status == "stopped"
    assert np.array_equal(rollout.positions[0], run.positions[0])


def test_gravity_that_is_switched_off_lets_a_thrown_block_fly_straight(block):
    run = start(Body.of(block(), free=True), seconds=1.0)
    for _ in range(6):
        run.step()
    run.set_gravity((0.0, 0.0, 0.0))
    while run.step():
        pass
    (rollout,) = run.rollouts()
    times = np.arange(rollout.frame_count) / 24
    fall = np.where(times < 0.25, -0.5 * 9.81 * times**2, -0.5 * 9.81 * 0.25**2 - 9.81 * 0.25 * (times - 0.25))
    np.testing.assert_allclose(rollout.q[:, 1], fall, atol=1e-9)
    assert np.array_equal(run.world.gravity, np.zeros(3))
    assert rollout.report["energy_drift"] is None
    assert "gravity" in rollout.report["energy_note"]


def test_wind_can_rise_and_fall(block):
    run = start(Body.of(block(), free=True), NOTHING, seconds=1.0)
    run.step()
    assert np.array_equal(run.positions[0], block().mesh.vertices)
    run.set_wind(Wind((5.0, 0.0, 0.0)))
    while run.time < 0.5:
        run.step()
    run.set_wind(None)
    while run.step():
        pass
    (rollout,) = run.rollouts()
    assert rollout.qdot[12, 0] > 0.05
    np.testing.assert_allclose(rollout.qdot[13:, 0], rollout.qdot[13, 0], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["reduced", "mujoco"])
@pytest.mark.parametrize("world", [World(), World(ground=Ground(height=-1.0))])
def test_a_grabbed_corner_follows_the_hand_until_it_is_released(block, world, engine):
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    mesh = block().mesh
    corner = int(np.argmax(mesh.vertices.sum(axis=1)))
    run = start(Body.of(mesh, free=True), world, seconds=None, record=False, engine=engine)
    goal = mesh.vertices[corner] + [0.2, 0.1, 0.0]
    for share in np.linspace(0.0, 1.0, 12):
        run.grab(corner, mesh.vertices[corner] + share * (goal - mesh.vertices[corner]))
        assert run.step()
    for _ in range(24):
        run.step()
    assert np.linalg.norm(run.positions[0][corner] - goal) < 0.05 * mesh.size
    run.release()
    before = run.positions[0][corner, 1]
    for _ in range(6):
        run.step()
    assert run.positions[0][corner, 1] < before - 0.1, "it falls"
    run.release()
    run.grab([0, 1], run.positions[0][:2].mean(axis=0) + [0.0, 0.3, 0.0])
    for _ in range(24):
        run.step()
    assert run.positions[0][:2, 1].mean() > before - 0.5, "it is caught again"


def test_a_grab_of_nothing_is_refused_with_a_sentence(block):
    run = start(Body.of(block(), free=True))
    with pytest.raises(NeurokError, match="no body 1"):
        run.grab(0, (0.0, 0.0, 0.0), body=1)
    with pytest.raises(NeurokError, match="vertices 0 to"):
        run.grab(10_000, (0.0, 0.0, 0.0))
    with pytest.raises(NeurokError, match="three finite numbers"):
        run.grab(0, (0.0, np.nan, 0.0))
    with pytest.raises(NeurokError, match="stiffness"):
        run.grab(0, (0.0, 0.0, 0.0), stiffness=-1.0)
    assert run.step()


def test_a_space_an_articulation_an_asset_and_a_mesh_are_all_bodies(chain):
    arm = chain(2)
    expected = simulate(Body.of(ArticulatedSpace(arm)), seconds=0.2).positions
    for thing in (ArticulatedSpace(arm), arm, Asset(arm.mesh, articulation=arm)):
        assert np.array_equal(simulate(thing, seconds=0.2).positions, expected)
    fallen = simulate(Body.of(arm.mesh, free=True), seconds=0.2)
    np.testing.assert_allclose(fallen.q[-1, :6], [0, -0.5 * 9.81 * (5 / 24) ** 2, 0, 0, 0, 0], atol=1e-9)
    assert simulate(arm.mesh, seconds=0.1).report["dof"] == 0


def test_a_space_of_another_mesh_is_refused(chain, block):
    with pytest.raises(NeurokError, match="space of 'object' moves"):
        Body(block().mesh, space=ArticulatedSpace(chain(3)))


def test_another_config_makes_another_motion(chain):
    rod = Body.of(chain(1), Condition(Start(q=[1.0])), joint_damping=None)
    world = World(ground=Ground(height=-5.0))
    loose = ReducedEngine(config=ReducedConfig(rubbing=0.0))
    damped, free = simulate(rod, world, seconds=0.5), simulate(rod, world, seconds=0.5, engine=loose)
    assert free.energies["total"][-1] > damped.energies["total"][-1] + 1e-3
    with pytest.raises(NeurokError, match="not both"):
        simulate(rod, engine=loose, integrator="gauss")


@dataclass
class Lift:
    """An engine that knows no physics: everything rises at one unit a second."""

    class Rising:
        def __init__(self, bodies, world, settings):
            self.bodies, self.world, self.settings, self.status = bodies, world, settings, "ok"
            self.frames = [[body.mesh.vertices for body in bodies]]

        @property
        def positions(self):
            return tuple(self.frames[-1])

        @property
        def time(self):
            return (len(self.frames) - 1) / self.settings.fps

        @property
        def fraction(self):
            return (len(self.frames) - 1) / self.settings.frame_count

        def step(self):
            if len(self.frames) > self.settings.frame_count:
                return False
            self.frames.append([x + [0.0, 1.0 / self.settings.fps, 0.0] for x in self.positions])
            return True

        def stop(self):
            self.status = "stopped"

        def set_gravity(self, gravity): ...
        def set_wind(self, wind): ...
        def grab(self, vertices, target, body=0, stiffness=None): ...
        def release(self): ...

        def rollouts(self):
            frames = [np.stack(column) for column in zip(*self.frames, strict=True)]
            return tuple(
                Rollout(body.mesh, 1 / self.settings.fps, positions)
                for body, positions in zip(self.bodies, frames, strict=True)
            )

    def start(self, bodies, world, settings):
        return self.Rising(bodies, world, settings)


def test_any_engine_moves_a_body_that_has_no_space(block):
    engine = Lift()
    assert isinstance(engine, Engine)
    mesh = block().mesh
    assert isinstance(start(mesh, engine=engine), Run)
    rollout = simulate(mesh, seconds=1.0, engine=engine)
    np.testing.assert_allclose(rollout.positions[-1], mesh.vertices + [0.0, 1.0, 0.0])
