"""What a scene says is what happens."""

from dataclasses import replace

import numpy as np
import pytest

from gates import make_block, make_gate
from neurok.core import Clip, Inertial, Mesh
from neurok.errors import NeurokError
from neurok.io import load, save
from neurok.scene.description import (
    Scene,
    SceneDrag,
    SceneError,
    SceneGround,
    SceneImpulse,
    SceneMaterial,
    SceneMove,
    SceneObject,
    SceneObstacle,
    ScenePin,
    ScenePush,
    SceneVelocity,
    SceneWorld,
)
from neurok.scene.run import prepare_scene, run_ready, run_scene

NO_GRAVITY = SceneWorld(gravity=(0.0, 0.0, 0.0))
DOOR_MASS, DOOR_INERTIA = 600.0 * 0.04, 600.0 * 0.04 * ((1.0 + 0.04**2) / 12 + 0.55**2)
"""[kg], [kg m^2] about the hinge."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    save(make_gate(), folder / "gate.npz")
    save(make_gate("z", 0.01), folder / "gate_cm.npz")
    save(make_block(), folder / "block.npz")
    save(make_block((2.0, 0.1, 2.0)), folder / "table.npz")
    return folder


def gate(folder, **changes):
    """Of 600 kg/m^3 unless its materials are named."""
    return SceneObject(str(folder / "gate.npz"), **{"density": 600.0} | changes)


def test_a_push_turns_the_door_as_newton_says(folder):
    push = ScenePush("door/right", (0.0, 0.0, -2.0), 0.0, 0.25)
    rollout = run_scene(Scene((gate(folder, pushes=(push,)),), NO_GRAVITY, seconds=0.25)).rollout
    # 2 N at an arm of 1.05 m; the angle stays small enough for the arm to hold.
    assert rollout.q[-1, 0] == pytest.approx(0.5 * 2.0 * 1.05 / DOOR_INERTIA * 0.25**2, rel=1e-3)
    assert rollout.status == "ok"


def test_an_impulse_gives_the_momentum_it_says(folder):
    blow = SceneImpulse("door/right", (0.0, 0.0, -1.0), 0.0)
    rollout = run_scene(Scene((gate(folder, impulses=(blow,)),), NO_GRAVITY, seconds=0.1)).rollout
    assert rollout.qdot[-1, 0] == pytest.approx(1.05 / DOOR_INERTIA, rel=1e-6)


def test_a_velocity_is_met_at_the_start(folder):
    start = SceneVelocity("door/right", (0.0, 0.0, -1.05))
    rollout = run_scene(Scene((gate(folder, velocities=(start,)),), NO_GRAVITY, seconds=0.1)).rollout
    assert rollout.qdot[0, 0] == pytest.approx(1.0, rel=1e-2)


def test_a_move_is_met_at_the_start(folder):
    start = SceneMove("door/right", (0.0, 0.0, -0.1))
    rollout = run_scene(Scene((gate(folder, moves=(start,)),), NO_GRAVITY, seconds=0.1)).rollout
    assert rollout.q[0, 0] == pytest.approx(np.arcsin(0.1 / 1.05), rel=1e-2)


def test_a_dragged_place_follows_the_displacements_of_its_path(folder):
    angle = 0.5
    path = ((1.05 * (np.cos(angle) - 1.0), 0.0, -1.05 * np.sin(angle)),)
    scene = Scene((gate(folder, drags=(SceneDrag("door/right", path, (0.5,)),)),), NO_GRAVITY, seconds=1.0)
    run = run_scene(scene)
    assert run.rollout.q[-1, 0] == pytest.approx(angle, abs=0.01)
    assert run.rollout.q[0, 0] == 0.0


def test_a_pin_holds_against_a_push(folder):
    thing = gate(
        folder, pins=(ScenePin("door/right"),), pushes=(ScenePush("door/center", (0.0, 0.0, -50.0), 0.0, 9.0),)
    )
    assert np.abs(run_scene(Scene((thing,), seconds=0.5)).rollout.q).max() < 1e-2


def test_wind_opens_the_door_and_no_wind_does_not(folder):
    blown = run_scene(Scene((gate(folder),), SceneWorld(wind=(0.0, 0.0, -8.0)), seconds=0.5)).rollout
    # Pressure 0.5 * 1.2 * 8^2 on 1 m^2 at the arm of the door's middle.
    assert blown.q[-1, 0] == pytest.approx(0.5 * (38.4 * 0.55 / DOOR_INERTIA) * 0.25, rel=0.15)
    assert np.abs(run_scene(Scene((gate(folder),), seconds=0.5)).rollout.q).max() < 1e-9


def test_a_drop_starts_at_its_height_and_ends_on_the_ground(folder):
    block = SceneObject(str(folder / "block.npz"), drop=0.3)
    rollout = run_scene(Scene((block,), seconds=1.0)).rollout
    lowest = rollout.positions[:, :, 1].min(axis=1)
    assert lowest[0] == pytest.approx(-0.1 + 0.3)
    assert lowest[-1] == pytest.approx(-0.1, abs=0.002)
    fall = int(np.sqrt(2 * 0.3 / 9.81) * 24)
    times = np.arange(fall) / 24
    np.testing.assert_allclose(lowest[:fall], 0.2 - 0.5 * 9.81 * times**2, atol=0.02)


def test_a_drop_by_itself_is_from_half_the_size(folder):
    ready = prepare_scene(Scene((SceneObject(str(folder / "block.npz"), drop="auto"),)))
    assert ready.bodies[0].placement[1, 3] == pytest.approx(0.5 * 0.2 * np.sqrt(3))
    assert ready.bodies[0].free


def test_a_turned_object_touches_the_ground_with_its_lowest_corner(folder):
    block = SceneObject(str(folder / "block.npz"), rotation=(0.0, 0.0, 45.0))
    ready = prepare_scene(Scene((block,), SceneWorld(ground=SceneGround())))
    assert ready.world.ground.height == pytest.approx(-0.1 * np.sqrt(2))


def test_a_rotation_is_about_the_middle_and_a_position_moves(folder):
    thing = gate(folder, position=(1.0, 2.0, 3.0), rotation=(0.0, 180.0, 0.0))
    rollout = run_scene(Scene((thing,), NO_GRAVITY, seconds=0.1)).rollout
    center = rollout.rest.bounds.mean(axis=0)
    expected = (rollout.rest.vertices - center) * [-1, 1, -1] + center + [1, 2, 3]
    np.testing.assert_allclose(rollout.positions[0], expected, atol=1e-12)


def test_units_and_axes_of_further_objects_follow_the_first(folder):
    block = SceneObject(str(folder / "block.npz"), base="free", density=600.0)
    other = SceneObject(str(folder / "gate_cm.npz"), density=600.0)
    ready = prepare_scene(Scene((block, other), NO_GRAVITY))
    np.testing.assert_allclose(ready.bodies[1].space.rest.vertices, make_gate().mesh.vertices, atol=1e-12)
    assert ready.mass == pytest.approx(600.0 * (0.2**3 + 0.01 + 0.04))


def test_a_motion_is_the_same_in_any_unit_and_axes(folder):
    push = ScenePush("door/right", (0.0, 0.0, -2.0))
    metres = run_scene(Scene((gate(folder, pushes=(push,)),), NO_GRAVITY, seconds=0.5)).rollout
    turned = ScenePush("door/right", (-2.0, 0.0, 0.0))
    scene = Scene((SceneObject(str(folder / "gate_cm.npz"), density=600.0, pushes=(turned,)),), NO_GRAVITY, seconds=0.5)
    np.testing.assert_allclose(run_scene(scene).rollout.q, metres.q, atol=1e-9)


@pytest.mark.slow
def test_two_objects_come_out_as_one_clip_and_meet(folder):
    low = SceneObject(str(folder / "block.npz"), name="low")
    high = SceneObject(str(folder / "block.npz"), name="high", position=(0.0, 0.4, 0.0))
    run = run_scene(Scene((low, high), SceneWorld(ground=SceneGround()), seconds=1.0))
    clip = run.clip()
    assert clip.rest.part_names == ("low", "high")
    bottom = clip.positions[-1, clip.rest.part_ids == 1, 1].min()
    assert bottom == pytest.approx(0.1, abs=0.005)
    assert run.asset().articulation is None


def test_an_obstacle_stops_what_falls_and_stands_in_the_clip(folder):
    table = SceneObstacle(str(folder / "table.npz"), position=(0.0, -0.5, 0.0))
    block = SceneObject(str(folder / "block.npz"), base="free")
    run = run_scene(Scene((block,), SceneWorld(obstacles=(table,)), seconds=1.0))
    clip = run.clip()
    assert clip.rest.part_names == ("block", "table")
    assert clip.positions[-1, clip.rest.part_ids == 0, 1].min() == pytest.approx(-0.45, abs=0.005)
    still = clip.positions[:, clip.rest.part_ids == 1]
    np.testing.assert_array_equal(still, np.broadcast_to(still[0], still.shape))


def test_materials_by_part_change_the_mass(folder):
    plain = prepare_scene(Scene((gate(folder),))).mass
    heavy = prepare_scene(Scene((gate(folder, materials={"door": SceneMaterial(density=1000.0)}),))).mass
    assert plain == pytest.approx(600 * 0.05)
    assert heavy == pytest.approx(600 * 0.01 + 1000 * 0.04)


def test_a_named_material_weighs_what_its_density_says_and_parts_count_over_all(folder):
    named = prepare_scene(Scene((gate(folder, hollow=False, materials={"door": "steel", "all": "oak"}),))).mass
    assert named == pytest.approx(700 * 0.01 + 7850 * 0.04)


def test_a_material_counts_over_the_mass_in_the_file(folder):
    asset = load(folder / "gate.npz")
    known = Inertial(1.0, np.zeros(3), np.eye(3))
    heavy = replace(asset.articulation, inertials=(known,) * len(asset.articulation.joints))
    save(replace(asset, articulation=heavy), folder / "weighed.npz")
    thing = SceneObject(str(folder / "weighed.npz"))
    assert prepare_scene(Scene((thing,))).mass == pytest.approx(2.0)
    steel = replace(thing, hollow=False, materials={"door": "steel"})
    assert prepare_scene(Scene((steel,))).mass == pytest.approx(1.0 + 7850 * 0.04)


@pytest.mark.slow
def test_all_that_a_material_says_reaches_the_body_and_the_written_asset(folder):
    clay = SceneMaterial(1800.0, 2e6, 0.4, "plasticine", 5e4)
    scene = Scene((gate(folder, materials={"door": clay}),), NO_GRAVITY, seconds=0.1)
    ready = prepare_scene(scene)
    door = ready.bodies[0].mesh.part_ids == ready.bodies[0].mesh.part_names.index("door")
    for field in (ready.bodies[0].materials, run_ready(ready).asset().materials):
        assert set(field.kind[door]) == {"plasticine"}
        assert set(field.yield_stress[door]) == {5e4}
        assert not (field.yield_stress[~door] == 5e4).any()
    block = SceneObject(str(folder / "block.npz"), materials={"all": SceneMaterial(friction_angle=0.4, kind="sand")})
    pair = run_scene(Scene((gate(folder), block), NO_GRAVITY, seconds=0.1)).asset().materials
    assert set(pair.kind) == {"elastic", "sand"}
    assert np.nanmax(pair.friction_angle) == 0.4


@pytest.mark.slow
@pytest.mark.parametrize(("change", "ratio"), [({"young": 4e4}, 2.0), ({"poisson": 0.45}, None)])
def test_young_and_poisson_of_a_scene_change_the_motion(folder, change, ratio):
    mesh = make_block()
    swell = np.sin(np.linspace(0, 2 * np.pi, 12))[:, None, None] * 0.1 * mesh.vertices
    save(Clip(mesh, mesh.vertices + swell), folder / "swell.npz")

    def first_passage(**constants):
        material = SceneMaterial(**{"young": 1e4, "poisson": 0.0, **constants})
        thing = SceneObject(str(folder / "swell.npz"), space="clip", materials={"all": material}, q=(0.01,))
        q = run_scene(Scene((thing,), NO_GRAVITY, seconds=0.15, fps=480.0)).rollout.q[:, 0]
        k = int(np.argmax(q < 0))
        return k - 1 + q[k - 1] / (q[k - 1] - q[k])

    faster = first_passage() / first_passage(**change)
    assert faster == pytest.approx(ratio, rel=0.02) if ratio else faster > 1.1


def test_a_jolt_follows_the_seed_and_has_the_speed_it_says(folder):
    def first(seed):
        scene = Scene((gate(folder, jolt=0.7),), NO_GRAVITY, seconds=0.1, seed=seed)
        return run_scene(scene).rollout.qdot[0, 0]

    assert first(1) == first(1)
    assert len({round(first(seed), 9) for seed in range(5)}) == 2  # one hinge can only turn one way or the other
    assert abs(first(1)) * np.hypot(1.05, 0.02) == pytest.approx(0.7, rel=1e-6)


def test_an_animation_without_joints_swings_in_its_own_frames(folder):
    mesh = make_block()
    sway = np.where(mesh.vertices[:, 1:2] > 0, [[0.05, 0.0, 0.0]], 0.0)
    phases = np.sin(np.linspace(0, 2 * np.pi, 12))
    save(Clip(mesh, mesh.vertices + phases[:, None, None] * sway), folder / "sway.npz")
    thing = SceneObject(str(folder / "sway.npz"), space="clip", moves=(SceneMove("top", (0.05, 0.0, 0.0)),))
    rollout = run_scene(Scene((thing,), NO_GRAVITY, seconds=1.0, fps=48.0)).rollout
    assert rollout.q.shape[1] == 1
    np.testing.assert_allclose(rollout.q[:, 0], rollout.q[0, 0] * np.cos(4 * np.pi * np.arange(49) / 48), atol=1e-6)


def test_the_written_asset_keeps_the_joints_of_a_single_object(folder):
    asset = run_scene(Scene((gate(folder),), NO_GRAVITY, seconds=0.2)).asset()
    assert asset.articulation.dof == 1
    assert asset.clips[0].frame_count == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pins": (ScenePin("all"),)}, "All vertices of 'gate' are pinned"),
        (
            {"pins": (ScenePin("door"),), "drags": (SceneDrag("door/right", ((0.0, 0.0, 1.0),)),)},
            "pinned and dragged",
        ),
        ({"q": (1.0, 2.0)}, "1 joint values, but q holds 2"),
        ({"velocity": (1.0, 0.0, 0.0)}, "has a fixed root"),
        ({"pushes": (ScenePush("dor", (1.0, 0.0, 0.0)),)}, "parts post, door.*Did you mean 'door'"),
        ({"materials": {"lid": SceneMaterial()}}, "no place on"),
    ],
)
def test_impossible_conditions_say_why(folder, changes, words):
    with pytest.raises(NeurokError, match=words):
        prepare_scene(Scene((gate(folder, **changes),)))


def test_all_unknown_places_are_named_at_once(folder):
    thing = gate(folder, pins=(ScenePin("roof"),), pushes=(ScenePush("floor", (1.0, 0.0, 0.0)),))
    with pytest.raises(SceneError, match=r"roof.*floor"):
        prepare_scene(Scene((thing,)))


def test_a_fixed_thing_without_joints_says_what_to_do(folder):
    with pytest.raises(NeurokError, match=r"Nothing can move.*--drop"):
        prepare_scene(Scene((SceneObject(str(folder / "block.npz")),)))


def test_more_frames_than_memory_are_refused_at_once():
    with pytest.raises(NeurokError, match="GB"):
        prepare_scene(Scene((SceneObject("sample:laptop"),), seconds=1e4, fps=100.0))


def test_a_flat_sheet_of_no_area_has_no_mass(folder):
    line = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], dtype=float)
    save(Mesh(line, np.array([[0, 1, 2]])), folder / "line.npz")
    with pytest.raises(NeurokError, match="no mass"):
        prepare_scene(Scene((SceneObject(str(folder / "line.npz"), base="free"),)))
