"""Motions whose answer is known on paper."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import ellipk

from neurok.core import Articulation, Joint, Mesh
from neurok.dynamics import Body, Condition, Force, Impulse, Start, World, simulate
from neurok.dynamics.masses import part_moments
from neurok.dynamics.reduced.build import mechanics_of
from neurok.kinematics import ArticulatedSpace
from neurok.kinematics.space import base_coordinates

NOTHING = World(gravity=(0.0, 0.0, 0.0))


def period_of(angle: np.ndarray, dt: float) -> float:
    """Mean time between every second passage through zero."""
    passages = CubicSpline(np.arange(len(angle)) * dt, angle).roots(extrapolate=False)
    return float(np.mean(passages[2:] - passages[:-2]))


@pytest.mark.parametrize(("integrator", "dt"), [("gauss", None), ("midpoint", 1 / 96)])
def test_a_pendulum_has_the_period_of_the_elliptic_integral(chain, integrator, dt):
    rod = chain(1, 1.0)
    body = Body.of(ArticulatedSpace(rod), Condition(Start(q=[np.pi / 3])))
    moment = part_moments(body, rod)[0]
    mass, arm, inertia = moment[3, 3], -moment[1, 3] / moment[3, 3], moment[0, 0] + moment[1, 1]
    expected = 4 * np.sqrt(inertia / (mass * 9.81 * arm)) * ellipk(np.sin(np.pi / 6) ** 2)
    rollout = simulate(body, seconds=2.5, fps=48, dt=dt, integrator=integrator)
    assert rollout.status == "ok"
    assert abs(period_of(rollout.q[:, 0], rollout.dt) / expected - 1) < 1e-3
    assert rollout.report["energy_drift"] < 1e-4


def test_the_energy_of_a_swinging_chain_stays(chain):
    body = Body.of(ArticulatedSpace(chain(4)), Condition(Start(q=[0.6, 0.2, -0.3, 0.4])))
    gauss = simulate(body, seconds=1)
    middle = simulate(body, seconds=0.5, dt=1 / 120, integrator="midpoint")
    assert gauss.report["energy_drift"] < 1e-6
    assert middle.report["energy_drift"] < 1e-3
    np.testing.assert_allclose(gauss.energies["total"], gauss.energies["kinetic"] + gauss.energies["gravity"])


@pytest.mark.slow
def test_gauss_converges_to_the_reference_with_its_order(chain):
    body = Body.of(ArticulatedSpace(chain(3)), Condition(Start(q=[0.9, 0.2, -0.5])))
    truth = simulate(body, seconds=0.5, integrator="runge-kutta").q
    coarse = np.abs(simulate(body, seconds=0.5, dt=1 / 24).q - truth).max()
    fine = np.abs(simulate(body, seconds=0.5, dt=1 / 48).q - truth).max()
    assert fine < 1e-4
    assert coarse / fine > 2**5
    middle = [
        np.abs(simulate(body, seconds=0.5, dt=dt, integrator="midpoint").q - truth).max() for dt in (1 / 96, 1 / 192)
    ]
    assert 3.5 < middle[0] / middle[1] < 4.5


def momenta(body: Body, rollout, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum, and angular momentum about the origin, from vertex masses."""
    mechanics = mechanics_of(body)
    pose = pose_of(mechanics, rollout.q[frame])
    q = np.concatenate([np.zeros(6), rollout.q[frame][6:]])
    motion = mechanics.motion(pose, q[None], np.array(rollout.qdot[frame])[None])
    points = mechanics.points(np.arange(body.space.rest.vertex_count))
    x, v = points.positions(motion)[0], points.velocities(motion)[0]
    return body.masses @ v, body.masses @ np.cross(x, v)


def pose_of(mechanics, q: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_rotvec(np.array(q[3:6])).as_matrix()
    out = np.eye(4)
    out[:3, :3] = turn
    out[:3, 3] = mechanics.center + q[:3] - turn @ mechanics.center
    return out


def tumbling(random_tree) -> Body:
    tree = random_tree(8, 4)
    space = ArticulatedSpace(tree)
    rng = np.random.default_rng(0)
    start = Start(qdot=rng.normal(size=space.dim), velocity=(0.3, 1.0, -0.2), spin=(2.0, -1.0, 3.0))
    return Body.of(space, Condition(start), free=True, masses=rng.uniform(0.1, 1.0, space.rest.vertex_count))


def test_a_tumbling_object_keeps_its_momenta(random_tree):
    body = tumbling(random_tree)
    rollout = simulate(body, NOTHING, seconds=2)
    assert rollout.status == "ok"
    first, last = momenta(body, rollout, 0), momenta(body, rollout, -1)
    for before, after in zip(first, last, strict=True):
        assert np.linalg.norm(after - before) < 1e-8 * np.linalg.norm(before)
    assert rollout.report["energy_drift"] < 1e-7
    turned = np.abs(rollout.q[:, 3:6]).max()
    assert turned > 2.0, "the base must have turned far for this to mean anything"


def test_the_centre_of_mass_of_a_thrown_object_flies_on_a_parabola(random_tree):
    body = tumbling(random_tree)
    rollout = simulate(body, seconds=2)
    center = np.einsum("v,tvi->ti", body.masses, rollout.positions) / body.masses.sum()
    time = np.arange(rollout.frame_count)[:, None] * rollout.dt
    speed = momenta(body, rollout, 0)[0] / body.masses.sum()
    expected = center[0] + time * speed + 0.5 * time**2 * np.array([0.0, -9.81, 0.0])
    np.testing.assert_allclose(center, expected, atol=1e-9)


def test_stored_base_coordinates_decode_to_the_stored_positions(random_tree):
    from neurok.kinematics import FreeBase, decode

    body = tumbling(random_tree)
    rollout = simulate(body, seconds=0.5)
    space = FreeBase(body.space, mechanics_of(body).center)
    decoded = decode(space, rollout.q[-1])
    np.testing.assert_allclose(decoded, rollout.positions[-1], atol=1e-10)
    pose = pose_of(mechanics_of(body), rollout.q[-1])
    np.testing.assert_allclose(base_coordinates(pose, mechanics_of(body).center), rollout.q[-1][:6], atol=1e-9)


def sled(block, damping: float = 0.0) -> Articulation:
    base = block()
    mesh = Mesh(base.mesh.vertices, base.mesh.faces, part_ids=np.zeros(base.mesh.vertex_count, dtype=int))
    return Articulation(mesh, (Joint("prismatic", -1, (1, 0, 0), damping=damping),))


def test_a_force_and_an_impulse_move_a_sled_as_newton_says(block):
    space = ArticulatedSpace(sled(block))
    masses = np.full(space.rest.vertex_count, 2.0 / space.rest.vertex_count)
    everything = np.arange(space.rest.vertex_count)
    push = Condition(forces=[Force.constant(everything, (3.0, 0.0, 0.0))])
    rollout = simulate(Body.of(space, push, masses=masses), NOTHING, seconds=1)
    time = np.arange(rollout.frame_count) * rollout.dt
    np.testing.assert_allclose(rollout.q[:, 0], 0.5 * 1.5 * time**2, atol=1e-10)
    kick = Condition(impulses=[Impulse(everything, (4.0, 0.0, 0.0), 0.5)])
    rollout = simulate(Body.of(space, kick, masses=masses), NOTHING, seconds=1)
    np.testing.assert_allclose(rollout.q[:, 0], np.maximum(0.0, 2.0 * (time - 0.5)), atol=1e-10)


def test_joint_damping_slows_a_sled_exponentially(block):
    space = ArticulatedSpace(sled(block, damping=3.0))
    masses = np.full(space.rest.vertex_count, 2.0 / space.rest.vertex_count)
    rollout = simulate(Body.of(space, Condition(Start(qdot=[1.0])), masses=masses), NOTHING, seconds=1)
    time = np.arange(rollout.frame_count) * rollout.dt
    np.testing.assert_allclose(rollout.qdot[:, 0], np.exp(-1.5 * time), atol=1e-9)


def test_units_do_not_change_the_motion(chain):
    metres = chain(2)
    big = Mesh(metres.mesh.vertices * 100, metres.mesh.faces, part_ids=metres.mesh.part_ids, unit=0.01)
    joints = tuple(Joint(j.kind, j.parent, j.axis, j.origin * 100, damping=1e-3) for j in metres.joints)
    start = Condition(Start(q=[0.8, -0.3]))
    in_cm = simulate(Body.of(ArticulatedSpace(Articulation(big, joints)), start), seconds=1)
    damped = tuple(Joint(j.kind, j.parent, j.axis, j.origin, damping=1e-3) for j in metres.joints)
    in_m = simulate(Body.of(ArticulatedSpace(Articulation(metres.mesh, damped)), start), seconds=1)
    np.testing.assert_allclose(in_cm.q, in_m.q, atol=1e-7)
    np.testing.assert_allclose(in_cm.energies["total"], in_m.energies["total"], atol=1e-9)


def test_two_runs_are_equal_to_the_last_bit(chain):
    body = Body.of(ArticulatedSpace(chain(3)), Condition(Start(q=[0.6, 0.2, -0.3])))
    first, second = simulate(body, seconds=0.5), simulate(body, seconds=0.5)
    assert np.array_equal(first.positions, second.positions)
