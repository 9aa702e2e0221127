"""Scenes from words: places, joints and rest."""

import itertools

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.cli import main
from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.scene.composition import CELL, compose, height_map, merge_assets, moved_asset

TEXT = "a table with a vase on it, a chair in front, a fridge to the left. The fridge opens."


def board() -> Asset:
    """Two boxes side by side, the second on a hinge."""
    corners = np.array(list(itertools.product((0.0, 0.2), (0.0, 0.1), (0.0, 0.3))))
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]])
    faces = np.concatenate([faces, [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
    vertices = np.concatenate([corners, corners + [0.2, 0.0, 0.0]])
    ids = np.repeat([0, 1], 8)
    mesh = Mesh(vertices, np.concatenate([faces, faces + 8]), part_ids=ids, part_names=("left", "right"))
    hinge = Joint("revolute", 0, (0, 1, 0), (0.2, 0, 0), 0.0, 1.0, name="hinge")
    return Asset(mesh, articulation=Articulation(mesh, (Joint(), hinge)))


@given(st.floats(-np.pi, np.pi), st.tuples(*[st.floats(-3, 3)] * 3))
@settings(max_examples=20, deadline=None)
def test_moving_an_object_and_its_joints_commute(turn, offset):
    asset, offset = board(), np.array(offset)
    moved = moved_asset(asset, turn, offset)
    c, s = np.cos(turn), np.sin(turn)
    rotation = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    posed = asset.articulation.pose(np.array([0.7])).vertices @ rotation.T + offset
    np.testing.assert_allclose(moved.articulation.pose(np.array([0.7])).vertices, posed, atol=1e-9)


def test_merged_objects_keep_their_joints_apart():
    merged = merge_assets([board(), moved_asset(board(), 0.0, np.array([1.0, 0, 0]))], ["a", "b"])
    assert merged.mesh.part_names == ("a/left", "a/right", "b/left", "b/right")
    assert [joint.parent for joint in merged.articulation.joints] == [-1, 0, -1, 2]
    posed = merged.articulation.pose(np.array([0.0, 0.5])).vertices
    assert np.allclose(posed[:24], merged.mesh.vertices[:24])
    assert not np.allclose(posed[24:], merged.mesh.vertices[24:])


def test_height_maps_hold_the_highest_point_of_each_cell():
    points = np.array([[0.0, 0.2, 0.0], [0.0, 0.5, 0.0], [3 * CELL + 1e-6, 0.1, 0.0]])
    heights, corner = height_map(points)
    assert heights.tolist() == [[0.5], [-np.inf], [-np.inf], [0.1]]
    assert corner.tolist() == [0.0, 0.0]


@pytest.fixture(scope="module")
def made():
    return compose(TEXT, seed=1)


@pytest.mark.slow
def test_objects_stand_where_the_words_say(made):
    boxes = {one.asked.name: one.box for one in made.objects}
    table = boxes["table"]
    vase = boxes["vase"].mean(axis=0)
    assert (table[0] < vase)[[0, 2]].all()
    assert (vase < table[1])[[0, 2]].all()
    assert abs(boxes["vase"][0, 1] - table[1, 1]) < 0.02
    assert boxes["chair"][0, 2] > table[1, 2]
    assert boxes["fridge"][1, 0] < table[0, 0]


@pytest.mark.slow
def test_no_two_boxes_share_volume_and_everything_rests(made):
    for first, second in itertools.combinations(made.objects, 2):
        shared = np.minimum(first.box[1], second.box[1]) - np.maximum(first.box[0], second.box[0])
        assert shared.min() <= 0.01
    assert not made.notes
    assert max(made.moved.values()) < 0.1


@pytest.mark.slow
def test_a_scene_can_be_written_for_simulators_and_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["generate", "--scene", "a table with a vase on it", "--out", "room.xml", "room.yaml", "room.glb"])
    model = mujoco.MjModel.from_xml_path("room_scene.xml")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 400)
    assert np.abs(data.qpos - model.qpos0).max() < 0.02
    main(["simulate", "--scene", "room.yaml", "--seconds", "0.2", "--out", "again.glb"])
    assert (tmp_path / "again.glb").stat().st_size > 10_000
    assert {path.name for path in tmp_path.glob("room_*.glb")} == {"room_table.glb", "room_vase.glb"}


def test_scenes_take_no_other_description(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["generate", "--scene", "a chair", "--text", "a table", "--out", "x.glb"])
    assert stopped.value.code == 2
    assert "--text" in capsys.readouterr().err
