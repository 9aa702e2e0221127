"""Actions: what each word does, how it scales, and that a saved scene repeats it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from neurok.cli import main
from neurok.core import MaterialField, Mesh
from neurok.core.material_library import material
from neurok.io import save
from neurok.modelling.shapes import box
from neurok.scene.actions import LAWS, WIND_LIMIT, ActionSubject, acted
from neurok.scene.description import Scene, SceneError, SceneGround, SceneObject, SceneWorld
from neurok.scene.files import read_scene, write_scene
from neurok.scene.run import prepare_scene, run_scene

ACTIONS = sorted(LAWS)
WEIGHT = 9.81


def block(sides=(0.3, 0.5, 0.4), scale=1.0, up="y", unit=1.0):
    shape = box(tuple(scale * side for side in sides), (0, 0, 0))
    return Mesh(shape.vertices, shape.faces, name="block").in_frame(up, unit)


def written(folder, mesh, name="block.npz"):
    save(mesh, folder / name)
    return str(folder / name)


def scene_of(path, act, strength=1.0, **changes):
    return Scene((SceneObject(path, act=act, strength=strength, space="rigid"),), **changes)


def subject_of(mesh, mass=2.0, name="block"):
    return ActionSubject.of(name, mesh, mass)


def entries(act, mesh, strength=1.0, name="block"):
    scene = acted(scene_of("block.npz", act, strength), 0, subject_of(mesh, name=name))
    assert scene.objects[0].act is None
    assert scene.world.ground is not None
    return scene.objects[0], scene.world


def test_a_drop_is_from_half_the_size():
    thing, _ = entries("drop", block(), 3.0)
    assert thing.drop == pytest.approx(1.5 * block().size)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_throw_lands_after_its_range(unit):
    mesh = block(unit=unit)
    thing, _ = entries("throw", mesh, 2.0)
    vx, vy, _ = np.array(thing.velocity) * unit
    height = thing.drop * unit
    flight = (vy + math.sqrt(vy**2 + 2 * WEIGHT * height)) / WEIGHT
    assert vx * flight == pytest.approx(2.0 * 1.5 * mesh.size * unit)
    assert np.linalg.norm(thing.spin) * flight == pytest.approx(math.pi)
    assert thing.spin[2] < 0  # the top goes ahead


def test_a_tilt_leans_gravity_past_the_angle_of_friction():
    _, world = entries("tilt", block())
    x, y, _ = world.gravity
    assert math.hypot(x, y) == pytest.approx(WEIGHT)
    assert math.degrees(math.atan2(x, -y)) == pytest.approx(30.0)
    _, steeper = entries("tilt", block(), 2.0)
    assert steeper.gravity[0] / steeper.gravity[1] == pytest.approx(2.0 * x / y)


def test_a_drag_pulls_with_two_weights_at_most_and_lets_go():
    mesh = block()
    drag = entries("drag", mesh)[0].drags[0]
    reach = np.linalg.norm(drag.path[-1])
    assert reach == pytest.approx(0.5 * mesh.size)
    assert drag.stiffness * reach == pytest.approx(2.0 * 2.0 * WEIGHT)
    assert drag.end == drag.times[-1] == pytest.approx(3.0 * math.sqrt(mesh.size / WEIGHT))


def test_a_gust_presses_with_a_share_of_the_weight():
    mesh = block()
    world = entries("wind", mesh)[1]
    side = 0.5 * 0.4  # both faces of a closed box count half
    assert 0.5 * 1.2 * side * world.wind[0] ** 2 == pytest.approx(0.7 * 2.0 * WEIGHT)
    assert world.wind_until > 0
    assert entries("wind", mesh, 1e6)[1].wind[0] == WIND_LIMIT


def test_a_gust_does_not_carry_off_a_board_that_stands_edge_on():
    board = box((0.5, 0.01, 0.5), (0, 0, 0))
    mesh = Mesh(board.vertices, board.faces)
    wind = entries("wind", mesh)[1].wind[0]
    assert 0.5 * 1.2 * 0.25 * wind**2 == pytest.approx(5.0 * 2.0 * WEIGHT)


def test_what_is_made_of_leaves_is_rooted_whatever_its_name():
    mesh = block()
    leaf = MaterialField.uniform(material("leaf"), mesh.vertex_count)
    assert ActionSubject.of("augalas", mesh, 2.0, leaf).is_rooted
    assert not ActionSubject.of("augalas", mesh, 2.0).is_rooted


def test_what_is_rooted_is_held_down_in_the_wind():
    assert not entries("wind", block())[0].pins
    assert entries("wind", block(), name="potted_plant")[0].pins[0].at == "all/bottom"


@pytest.mark.parametrize("act", ACTIONS)
def test_similar_objects_move_alike_and_large_ones_slower(act, tmp_path):
    """Ten times the size: the same motion in sizes, √10 times as slow."""
    runs = []
    for scale in (1.0, 10.0):
        path = written(tmp_path, block(scale=scale), f"block_{scale:g}.npz")
        seconds = 0.6 * math.sqrt(scale)
        scene = scene_of(path, act, seconds=seconds, fps=12 / seconds, dt=seconds / 96)
        thing = replace(scene.objects[0], density=30.0)  # so light that the large one needs no hurricane
        runs.append(run_scene(replace(scene, objects=(thing,))).rollout)
    small, large = runs
    assert small.status == large.status == "ok"
    assert np.ptp(small.positions[:, 0], axis=0).max() > 0.05
    np.testing.assert_allclose(large.positions / 10.0, small.positions, atol=1e-3 * block().size)


@pytest.mark.parametrize("act", ACTIONS)
def test_a_saved_scene_repeats_the_bits(act, tmp_path):
    path = written(tmp_path, block())
    ready = prepare_scene(scene_of(path, act, 1.2, seconds=0.3))
    write_scene(ready.scene, tmp_path / "saved.yaml")
    saved = read_scene(tmp_path / "saved.yaml")
    assert saved.objects[0].act is None
    first = run_scene(scene_of(path, act, 1.2, seconds=0.3)).rollout
    again = run_scene(saved).rollout
    np.testing.assert_array_equal(first.positions, again.positions)


@pytest.mark.parametrize("up", ["x", "z"])
def test_the_up_axis_makes_no_difference(up, tmp_path):
    turned, plain = (
        run_scene(scene_of(written(tmp_path, block(up=axis), f"{axis}.npz"), "throw", seconds=0.4)).rollout.clip()
        for axis in (up, "y")
    )
    np.testing.assert_allclose(turned.in_frame("y").positions, plain.positions, atol=1e-6)


def test_after_release_a_dragged_object_moves_freely(tmp_path):
    """On ground without friction it coasts on."""
    path = written(tmp_path, block())
    scene = scene_of(path, "drag", seconds=2.0, world=SceneWorld(ground=SceneGround(friction=0.0)))
    rollout = run_scene(scene).rollout
    middle = rollout.positions.mean(axis=1)[:, 0]
    rates = np.diff(middle[-12:])
    assert rates.min() > 0
    assert np.ptp(rates) < 0.02 * rates.mean()
    assert middle[-1] - middle[0] > 1.1 * 0.5 * block().size


@pytest.mark.slow
def test_pin_bottom_anchors_a_free_object(tmp_path):
    path = written(tmp_path, block())
    main(["simulate", path, "--act", "tilt", "--strength", "3", "--pin", "bottom", "--seconds", "0.5",
          "--out", str(tmp_path / "held.npz"), "--json"])  # fmt: skip
    from neurok.io import load

    positions = load(tmp_path / "held.npz").clips[0].positions
    assert np.abs(positions - positions[0]).max() < 0.01 * block().size


def refusal(scene):
    with pytest.raises(SceneError) as error:
        prepare_scene(scene)
    return str(error.value)


def test_what_cannot_be_done_is_told_in_a_sentence(tmp_path):
    path = written(tmp_path, block())
    fixed = Scene((SceneObject(path, act="throw", base="fixed"),))
    assert "has a fixed root" in refusal(fixed)
    assert "a wind already" in refusal(scene_of(path, "wind", world=SceneWorld(wind=(1.0, 0.0, 0.0))))
    assert "no gravity" in refusal(scene_of(path, "drop", world=SceneWorld(gravity=(0.0, 0.0, 0.0))))
    assert "where gravity pulls" in refusal(scene_of(path, "tilt", world=SceneWorld(gravity=(0.0, -1.6, 0.0))))
    assert "give one of them" in refusal(Scene((SceneObject(path, act="drop", drop=1.0),)))
    with pytest.raises(SceneError, match="strength must be positive"):
        scene_of(path, "drop", 0.0)
    with pytest.raises(SceneError, match="act names none"):
        scene_of(path, None, 2.0)


@pytest.mark.parametrize(
    "flags",
    [["--act", "drop", "--strength", "0"], ["--strength", "2"], ["--act", "drop", "--unit", "furlong"], ["--up", "w"]],
)
def test_bad_flags_end_in_one_sentence(flags, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "sample:pillow", *flags, "--out", str(tmp_path / "x.glb")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("neurok: ")
    assert said.count("\n") == 1


def test_a_fox_of_thousands_of_tonnes_is_read_in_centimetres(tmp_path, capsys):
    path = written(tmp_path, block(scale=300.0), "fox.glb")
    main(["simulate", path, "--act", "drop", "--seconds", "0.1", "--out", str(tmp_path / "x.npz"),
          str(tmp_path / "x.yaml"), "--json", "--space", "rigid"])  # fmt: skip
    out, err = capsys.readouterr()
    assert "read in cm" in err
    assert 20.0 < json.loads(out)["mass"] < 2000.0  # of a box of 1.6 m3
    assert read_scene(tmp_path / "x.yaml").objects[0].unit == 0.01
