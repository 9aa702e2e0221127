"""Dry friction of joints, restitution, rolling: closed forms."""

import numpy as np
import pytest

from neurok.core import Articulation, Joint, Material, MaterialField, Mesh
from neurok.dynamics import Body, Condition, Ground, Start, World, simulate
from neurok.dynamics.reduced.config import DEFAULTS
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.modelling import shapes

RATE = 1.0
"""At which the door is swung [rad/s]."""


def door() -> Articulation:
    """A leaf of one metre, hung on the y axis."""
    leaf = shapes.box((1.0, 2.0, 0.04), (0.5, 1.0, 0.0))
    return Articulation(Mesh(leaf.vertices, leaf.faces), (Joint("continuous", -1, (0, 1, 0)),))


def ball(radius: float = 0.1, height: float = 0.0) -> Mesh:
    """A ball whose lowest point is at a height."""
    shape = shapes.sphere(radius)
    return Mesh(shape.vertices + [0.0, height - shape.vertices[:, 1].min(), 0.0], shape.faces)


def made_of(mesh: Mesh, material: Material) -> MaterialField:
    return MaterialField.uniform(material, mesh.vertex_count)


def test_a_door_with_friction_stops_where_the_closed_form_says():
    articulation = door()
    start = Condition(Start(qdot=[RATE]))
    body = Body.of(articulation, start, joint_friction=0.3, joint_damping=0.0)
    rollout = simulate(body, integrator="implicit", seconds=8, dt=1 / 240)
    mass = 500.0 * 1.0 * 2.0 * 0.04
    inertia = mass * (1.0 / 3.0 + 0.04**2 / 12)
    torque = 0.3 * mass * 9.81 * DEFAULTS.bearing * 2.0
    angle = inertia * RATE**2 / (2.0 * torque)
    assert abs(rollout.q[-1, 0] / angle - 1) < 0.03
    assert np.abs(rollout.qdot[-1]).max() < 1e-6
    assert np.abs(rollout.q[-1] - rollout.q[-10]).max() < 1e-6, "it creeps"


def test_without_friction_and_damping_the_door_goes_on():
    body = Body.of(door(), Condition(Start(qdot=[RATE])))
    rollout = simulate(body, seconds=2)
    assert abs(rollout.qdot[-1, 0] - RATE) < 1e-9
    assert rollout.report["energy_drift"] < 1e-9


def test_joint_friction_holds_a_lid_whose_weight_it_can_carry():
    lid = shapes.box((0.2, 0.02, 0.2), (0.1, 0.0, 0.0))
    articulation = Articulation(Mesh(lid.vertices, lid.faces), (Joint("continuous", -1, (0, 0, 1)),))
    strong = Body.of(articulation, joint_friction=20.0)
    rollout = simulate(strong, integrator="implicit", seconds=1)
    assert np.abs(rollout.q[-1]).max() < 1e-3


def test_a_negative_joint_friction_is_refused():
    with pytest.raises(NeurokError, match="joint_friction"):
        Body.of(door(), joint_friction=-1.0)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.05, 0.15])
def test_a_ball_bounces_to_the_heights_of_its_restitution(damping):
    mesh, drop = ball(), 0.5
    material = Material("test", damping_ratio=damping)
    place = lie.translation(np.array([0.0, drop, 0.0]))
    body = Body.of(mesh, free=True, placement=place, materials=made_of(mesh, material))
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=1.6, fps=120)
    heights = rollout.positions[:, :, 1].min(axis=1)
    peaks = [
        heights[k]
        for k in range(1, len(heights) - 1)
        if heights[k - 1] < heights[k] >= heights[k + 1] and heights[k] > 0.01
    ]
    e = DEFAULTS.contact.hard * material.restitution
    expected = drop * e ** (2 * np.arange(1, len(peaks) + 1))
    assert len(peaks) >= 2
    np.testing.assert_allclose(peaks[:3], expected[:3], rtol=0.05)


def test_what_bounces_still_comes_to_rest():
    mesh = shapes.box((0.2, 0.1, 0.2), (0.0, 0.05, 0.0))
    mesh = Mesh(mesh.vertices, mesh.faces)
    place = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), 0.4)
    place[1, 3] += 0.2
    body = Body.of(mesh, free=True, placement=place, materials=made_of(mesh, Material(damping_ratio=0.1)))
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=3)
    assert np.abs(rollout.positions[-1] - rollout.positions[-6]).max() < 1e-6
    assert (np.diff(rollout.energies["total"]) < 1e-3 * rollout.energies["total"][0]).all()


@pytest.mark.slow
def test_a_rolling_ball_stops_after_the_distance_of_its_rolling_friction():
    mesh, speed, radius = ball(), 0.5, 0.1
    start = Condition(Start(velocity=(speed, 0.0, 0.0), spin=(0.0, 0.0, -speed / radius)))
    body = Body.of(mesh, start, free=True)
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=8, fps=12)
    distance = 0.7 * speed**2 / (DEFAULTS.contact.rolling * 9.81)
    assert abs(rollout.q[-1, 0] / distance - 1) < 0.08, "implicit steps take a little of the spin"
    assert np.abs(rollout.qdot[-1]).max() < 1e-3


def test_friction_is_that_of_the_material_where_one_is_named(block):
    articulation = block()
    field = made_of(articulation.mesh, Material("slippery", friction=0.125, damping_ratio=0.9))
    body = Body.of(articulation, Condition(Start(velocity=(1.0, 0.0, 0.0))), free=True, materials=field)
    rollout = simulate(body, World(ground=Ground(friction=0.5)), seconds=0.6)
    assert abs(rollout.q[-1, 0] / (1.0 / (2 * 0.25 * 9.81)) - 1) < 0.05


def test_a_step_that_fails_is_taken_in_halves(block, monkeypatch):
    from neurok.dynamics.reduced.collocation import Diverged
    from neurok.dynamics.reduced.incremental import IncrementalStepper

    whole = IncrementalStepper._advance

    def picky(self, state, dt):
        if dt > 1 / 400:
            raise Diverged("too long")
        return whole(self, state, dt)

    monkeypatch.setattr(IncrementalStepper, "_advance", picky)
    body = Body.of(block(height=0.1), free=True)
    rollout = simulate(body, World(ground=Ground(height=0.0)), seconds=0.5)
    assert rollout.status == "ok"
    assert abs(rollout.positions[-1, :, 1].min()) < 1e-4


def test_a_run_that_is_lost_does_not_advise_what_has_failed(block, monkeypatch):
    from neurok.dynamics.reduced.collocation import Diverged
    from neurok.dynamics.reduced.incremental import IncrementalStepper

    def hopeless(self, state, dt):
        raise Diverged("a value is no longer finite")

    monkeypatch.setattr(IncrementalStepper, "_advance", hopeless)
    rollout = simulate(Body.of(block(), free=True), World(ground=Ground(height=0.0)), seconds=0.5)
    assert rollout.status == "diverged"
    assert "shorter" not in rollout.message
    assert "'implicit'" not in rollout.message
    assert "were tried" in rollout.message


def test_what_stands_still_has_no_drift_to_report(block):
    report = simulate(Body.of(block()), World(), seconds=0.2).report
    assert report["energy_drift"] is None
    assert "Nothing moved" in report["energy_note"]
