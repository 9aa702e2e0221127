"""Motions that nobody would believe, made by hand: each fault is found, and what physics allows is not one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import neurok
from neurok.core import MaterialField, Mesh, Rollout, material
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Condition, Ground, Impulse, World
from neurok.geometry.lie import axis_angle_matrix
from neurok.modelling.shapes import box
from neurok.scene.outcome import judged
from neurok.scene.placing import mass_of

DT, COUNT = 1.0 / 24.0, 49
TIMES = DT * np.arange(COUNT)


def bar(of: str = "steel", **fields) -> Body:
    """A bar of one material, 1 m long, of ten cubes beside each other."""
    cube = box((0.1, 0.1, 0.1))
    pieces = [cube.vertices + [0.1 * k - 0.45, 0.5, 0.0] for k in range(10)]
    faces = np.concatenate([cube.faces + k * len(cube.vertices) for k in range(10)])
    mesh = Mesh(np.concatenate(pieces), faces, name="bar")
    return Body(mesh, materials=MaterialField.uniform(material(of), mesh.vertex_count), free=True, name="bar", **fields)


def moved(body: Body, positions: np.ndarray, engine: str = "particles") -> Rollout:
    return Rollout(body.mesh, DT, positions=positions, report={"engine": engine, "max_penetration": 0.0})


def kinds(body: Body, positions: np.ndarray, world: World) -> str:
    (found,) = judged([moved(body, positions)], [body], world)
    assert (found.status == "implausible") == bool(found.report.get("faults"))
    assert bool(found.message) == (found.status != "ok")
    return str(found.report.get("faults", ""))


def still(body: Body) -> np.ndarray:
    return np.tile(body.mesh.vertices, (COUNT, 1, 1))


WORLD = World(ground=Ground(0.0))


def test_what_falls_freely_and_tumbles_is_believed():
    body = bar(condition=Condition(start=replace(Condition().start, spin=(0.0, 0.0, 3.0))))
    middle = body.mesh.vertices.mean(axis=0)
    turns = np.stack([axis_angle_matrix(np.array([0.0, 0.0, 1.0]), 3.0 * t) for t in TIMES])
    fall = 20.0 - 0.5 * 9.81 * TIMES**2
    positions = (
        np.einsum("tij,vj->tvi", turns, body.mesh.vertices - middle) + middle + [0.0, 1.0, 0.0] * fall[:, None, None]
    )
    assert kinds(body, positions, WORLD) == ""


def test_a_blow_explains_a_flight_and_nothing_else_does():
    velocity = np.array([20.0, 0.0, 0.0])
    body = bar()
    positions = still(body) + velocity * TIMES[:, None, None]
    assert kinds(body, positions, WORLD) == "flies off"
    blow = Impulse(np.arange(body.mesh.vertex_count), mass_of(body) * velocity)
    assert kinds(replace(body, condition=Condition(impulses=(blow,))), positions, WORLD) == ""


def test_a_stiff_part_may_not_bend_and_a_soft_one_may():
    for of, found in (("steel", "bends"), ("rubber", "")):
        body = bar(of)
        arch = np.linspace(0.0, 0.3, COUNT)[:, None] * (body.mesh.vertices[:, 0] * 2.0) ** 2
        assert found in kinds(body, still(body) + arch[..., None] * [0.0, 1.0, 0.0], WORLD)
    assert "bends" not in kinds(body, still(body) + arch[..., None] * [0.0, 1.0, 0.0], WORLD)


def test_what_is_drawn_out_beyond_its_elongation_at_break_is_torn():
    body = bar("rubber")
    middle = body.mesh.vertices.mean(axis=0)
    for factor, found in ((1.5, False), (8.0, True)):
        growth = np.linspace(1.0, factor, COUNT)[:, None, None]
        positions = middle + growth * (still(body) - middle)
        assert ("torn" in kinds(body, positions, World())) is found


def test_what_is_turned_inside_out_is_seen():
    body = bar("rubber")
    positions = still(body)
    positions[20:, :, 0] *= -1.0
    assert "inverted" in kinds(body, positions, WORLD)


@pytest.mark.parametrize(("depth", "found"), [(0.01, ""), (0.2, "sunk")])
def test_what_lies_deep_in_the_ground_is_seen(depth, found):
    body = bar()
    low = body.mesh.vertices[:, 1].min()
    positions = still(body) - [0.0, low + depth, 0.0]
    assert kinds(body, positions, WORLD) == found


def test_what_shakes_for_ever_on_a_ground_never_rests():
    body = bar("rubber")
    shake = 0.05 * np.sin(40.0 * TIMES)[:, None] * np.sign(body.mesh.vertices[:, 0])
    swinging = still(body) + shake[..., None] * [0.0, 0.0, 1.0]
    assert "unrest" in kinds(body, swinging, WORLD)
    assert "unrest" not in kinds(body, swinging, World())


def test_a_run_that_an_engine_gave_up_keeps_its_own_status():
    body = bar()
    rollout = replace(moved(body, still(body) - [0.0, 5.0, 0.0]), status="diverged", message="It did.")
    assert judged([rollout], [body], WORLD)[0] is rollout


@pytest.mark.parametrize("act", ["drop", "throw"])
def test_samples_under_an_action_are_believed(act):
    rollout = neurok.simulate("sample:laptop", act=act)
    assert rollout.status == "ok", rollout.message
