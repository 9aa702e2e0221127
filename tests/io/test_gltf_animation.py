"""Animations bake to what the formulas of the glTF standard give."""

import numpy as np
import pytest
from gltf_by_hand import TRIANGLE, Handmade, bending_strip

from neurok.geometry.lie import slerp
from neurok.io import load, save
from neurok.io.gltf_read import read
from neurok.io.gltf_scene import Track, frame_times


def moving_triangle(path: str, times, values, interpolation: str, **node) -> Handmade:
    hand = Handmade()
    hand.add("nodes", name="it", mesh=hand.mesh(), **node)
    hand.add("scenes", nodes=[0])
    hand.animate(0, path, times, values, interpolation)
    return hand


def test_linear_translation_is_a_straight_line(tmp_path):
    hand = moving_triangle("translation", [0, 1, 3], [[0, 0, 0], [4, 0, 0], [4, 2, 0]], "LINEAR")
    (clip,) = read(hand.save(tmp_path)).clips
    t = np.arange(clip.frame_count) / clip.fps
    expected = np.column_stack([np.minimum(4 * t, 4), np.maximum(t - 1, 0), 0 * t])
    np.testing.assert_allclose(clip.positions, TRIANGLE + expected[:, None], atol=1e-6)
    assert (clip.name, clip.duration) == ("move", 3.0)


def test_step_holds_each_key_until_the_next(tmp_path):
    hand = moving_triangle("translation", [0, 0.5, 1], [[0, 0, 0], [1, 0, 0], [5, 0, 0]], "STEP")
    (clip,) = read(hand.save(tmp_path)).clips
    t = np.arange(clip.frame_count) / clip.fps
    np.testing.assert_allclose(clip.positions[:, 0, 0], np.where(t < 0.5, 0, np.where(t < 1, 1, 5)), atol=1e-6)


def test_a_cubic_spline_with_the_tangents_of_a_polynomial_is_that_polynomial(tmp_path):
    height = lambda t: t**3 - 2 * t  # noqa: E731
    slope = lambda t: 3 * t**2 - 2  # noqa: E731
    keys = np.array([0.0, 1.0, 2.0])
    row = lambda y: np.column_stack([0 * y, y, 0 * y])  # noqa: E731
    values = np.stack([row(slope(keys)), row(height(keys)), row(slope(keys))], axis=1)
    (clip,) = read(moving_triangle("translation", keys, values, "CUBICSPLINE").save(tmp_path)).clips
    t = np.arange(clip.frame_count) / clip.fps
    np.testing.assert_allclose(clip.positions[:, 0, 1], height(t), atol=1e-5)


def test_linear_rotation_turns_at_constant_speed(tmp_path):
    half = np.sqrt(0.5)
    hand = moving_triangle("rotation", [0, 2], [[0, 0, 0, 1], [0, 0, -half, -half]], "LINEAR")  # same turn, other sign
    (clip,) = read(hand.save(tmp_path)).clips
    angle = np.pi / 2 * np.arange(clip.frame_count) / clip.fps / 2
    np.testing.assert_allclose(clip.positions[:, 1, :2], np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-6)


def test_the_rest_pose_is_the_one_the_nodes_store(tmp_path):
    hand = moving_triangle("translation", [0, 1], [[3, 0, 0], [4, 0, 0]], "LINEAR", translation=[0, 9, 0])
    asset = read(hand.save(tmp_path))
    np.testing.assert_allclose(asset.mesh.vertices, TRIANGLE + [0, 9, 0])
    np.testing.assert_allclose(asset.clips[0].positions[0], TRIANGLE + [3, 0, 0])
    np.testing.assert_allclose(asset.clips[0].skin.positions(asset.mesh.vertices), asset.clips[0].positions, atol=1e-6)


def test_a_turning_parent_carries_its_child(tmp_path):
    hand = Handmade()
    hand.add("nodes", name="door", children=[1])
    hand.add("nodes", name="handle", mesh=hand.mesh(), translation=[2, 0, 0])
    hand.add("scenes", nodes=[0])
    half = np.sqrt(0.5)
    hand.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, half, half]])
    (clip,) = read(hand.save(tmp_path)).clips
    angle = np.pi / 2 * np.arange(clip.frame_count) / clip.fps
    np.testing.assert_allclose(clip.positions[:, 0, 0], 2 * np.cos(angle), atol=1e-6)
    np.testing.assert_allclose(clip.positions[:, 0, 1], 2 * np.sin(angle), atol=1e-6)


def test_two_bones_bend_a_strip_exactly(tmp_path):
    asset = read(bending_strip().save(tmp_path))
    (clip,) = asset.clips
    rest = asset.mesh.vertices
    for angle, got in zip(np.pi / 2 * np.arange(clip.frame_count) / clip.fps, clip.positions, strict=True):
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        turned = (rest - [1, 0, 0]) @ turn.T + [1, 0, 0]
        share = np.array([0, 0, 0.5, 0.5, 1, 1])[:, None]
        np.testing.assert_allclose(got, (1 - share) * rest + share * turned, atol=1e-6)
    np.testing.assert_allclose(clip.skin.positions(rest), clip.positions, atol=1e-6)


def test_a_skin_whose_default_pose_is_not_the_bind_pose_keeps_its_handles_through_files(tmp_path):
    hand = bending_strip()
    hand.json["nodes"][2]["rotation"] = [0, 0, float(np.sqrt(0.5)), float(np.sqrt(0.5))]
    asset = read(hand.save(tmp_path))
    np.testing.assert_allclose(asset.mesh.vertices[4], [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(asset.clips[0].positions[0, 4], [2, 0, 0], atol=1e-6)
    clip, turned = asset.clips[0], asset.in_frame("z", 0.01).clips[0]
    assert clip.skin is not None
    assert clip.skin.bind is not None
    np.testing.assert_allclose(clip.skin.positions(clip.rest.vertices), clip.positions, atol=1e-6)
    np.testing.assert_allclose(turned.skin.positions(turned.rest.vertices), turned.positions, atol=1e-4)
    for name in ("again.glb", "again.npz"):
        save(asset, tmp_path / name)
        again = load(tmp_path / name)
        np.testing.assert_allclose(again.mesh.vertices, asset.mesh.vertices, atol=1e-6)
        np.testing.assert_allclose(again.clips[0].positions, clip.positions, atol=1e-6)
        assert again.clips[0].skin is not None
        assert again.clips[0].skin.bind is not None
    assert b'"skins"' in (tmp_path / "again.glb").read_bytes()


def test_eight_influences_are_all_used(tmp_path):
    hand = Handmade()
    share = np.full((3, 4), 0.125)
    mesh = hand.mesh(
        JOINTS_0=hand.array(np.tile([0, 1, 2, 3], (3, 1)), np.uint8),
        JOINTS_1=hand.array(np.tile([4, 5, 6, 7], (3, 1)), np.uint8),
        WEIGHTS_0=hand.array(share),
        WEIGHTS_1=hand.array(share),
    )
    hand.add("nodes", mesh=mesh, skin=0)
    for _ in range(8):
        hand.add("nodes")
    hand.add("skins", joints=list(range(1, 9)))
    hand.animate(8, "translation", [0, 1], [[0, 0, 0], [8, 0, 0]])
    (clip,) = read(hand.save(tmp_path)).clips
    np.testing.assert_allclose(clip.positions[-1], TRIANGLE + [1, 0, 0], atol=1e-6)


def test_morph_weights_add_displacements(tmp_path):
    hand = Handmade()
    mesh = hand.mesh()
    up, out = np.array([[0, 1, 0]] * 3), np.array([[0, 0, 0], [0, 0, 2], [0, 0, 0]])
    hand.json["meshes"][mesh]["primitives"][0]["targets"] = [{"POSITION": hand.array(d)} for d in (up, out)]
    hand.json["meshes"][mesh]["weights"] = [0.25, 0.0]
    hand.add("nodes", mesh=mesh, scale=[2, 2, 2])
    hand.animate(0, "weights", [0, 1], [[0, 0], [1, 3]])
    asset = read(hand.save(tmp_path))
    np.testing.assert_allclose(asset.mesh.vertices, 2 * (TRIANGLE + 0.25 * up), atol=1e-6)
    (clip,) = asset.clips
    for t, got in zip(np.arange(clip.frame_count) / clip.fps, clip.positions, strict=True):
        np.testing.assert_allclose(got, 2 * (TRIANGLE + t * up + 3 * t * out), atol=1e-5)


def test_morph_targets_bend_before_the_bones_do(tmp_path):
    hand = bending_strip()
    up = np.zeros((6, 3))
    up[4:] = [1, 0, 0]
    hand.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": hand.array(up)}]
    hand.animate(0, "weights", [0, 1], [[0], [1]])
    (clip,) = read(hand.save(tmp_path)).clips
    np.testing.assert_allclose(clip.positions[-1, 4], [1, 2, 0], atol=1e-6)  # (3, 0, 0) turned about (1, 0, 0)


def test_slerp_meets_its_ends_and_stays_a_rotation():
    start, end = np.array([[1.0, 0, 0, 0]]), np.array([[0.6, 0.8, 0, 0]])
    for u in (0.0, 0.3, 1.0):
        got = slerp(start, end, np.array([[u]]))
        assert np.linalg.norm(got) == pytest.approx(1.0)
        assert np.arccos(got[0, 0]) == pytest.approx(u * np.arccos(0.6), abs=1e-9)


def track(times) -> Track:
    return Track(0, "translation", np.array(times, dtype=np.float64), np.zeros((len(times), 3)), "LINEAR")


@pytest.mark.parametrize(
    ("keys", "fps"),
    [(np.arange(10) / 30, 30.0), (np.arange(5) / 12, 24.0), ([0.0, 0.123, 0.9], 24.0), (np.arange(9) / 480, 24.0)],
)
def test_even_keys_set_the_rate_and_uneven_ones_get_24(keys, fps):
    times, rate, lowered = frame_times([track(np.float32(keys))], 1000)
    assert rate == pytest.approx(fps)
    assert times[0] == 0.0
    assert times[-1] >= keys[-1] - 1e-4
    assert not lowered


def test_a_very_long_animation_is_read_at_a_lower_rate_to_its_end():
    times, rate, lowered = frame_times([track([0.0, 1e5])], 100)
    assert lowered
    assert (len(times), times[-1]) == (100, 1e5)
    assert rate == pytest.approx(99 / 1e5)


def test_clips_that_are_too_many_frames_together_share_what_there_is(tmp_path, monkeypatch):
    hand = moving_triangle("translation", [0, 1], [[0, 0, 0], [1, 0, 0]], "LINEAR")
    hand.json["animations"] = [dict(hand.json["animations"][0], name=f"clip{i}") for i in range(3)]
    monkeypatch.setattr("neurok.io.gltf_read.FRAME_BUDGET", 11 * 30)  # three vertices and a node cost 11 a frame
    asset = read(hand.save(tmp_path))
    assert [clip.frame_count for clip in asset.clips] == [10, 10, 10]
    assert [clip.duration for clip in asset.clips] == pytest.approx([1.0, 1.0, 1.0])
    assert len(asset.notes) == 3
    monkeypatch.setattr("neurok.io.gltf_read.FRAME_BUDGET", 11 * 4)
    assert [clip.frame_count for clip in read(hand.save(tmp_path)).clips] == [2, 2]
