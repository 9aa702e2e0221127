"""Motions through states of a space, and files of them on bones."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from test_skeleton import tube

from neurok.catalogue.samples import make_sample
from neurok.core import Asset, BoneTree
from neurok.errors import ShapeError
from neurok.io import load, save
from neurok.kinematics import ArticulatedSpace, LinearSpace
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.space import clip_of, decode, through_states

sys.path.append(str(Path(__file__).parents[1] / "io"))


@pytest.fixture(scope="module")
def bones():
    return skeleton_space(tube())


def document(path) -> dict:
    data = path.read_bytes()
    return json.loads(data[20 : 20 + struct.unpack("<I", data[12:16])[0]])


def test_a_motion_stops_at_every_state_and_ends_at_rest(bones):
    states = bones.sample(3, seed=1)
    q = through_states(states, frames=10)
    np.testing.assert_allclose(q[[10, 20, 30]], states)
    assert not q[[0, -1]].any()
    assert len(q) == 41
    assert np.abs(q[11] - q[10]).max() < 0.3 * np.abs(q[16] - q[15]).max(), "slow at the states"


@pytest.mark.parametrize("kind", ["joints", "bones", "modes"])
def test_frames_are_poses_of_the_space(kind, bones):
    spaces = {"joints": lambda: ArticulatedSpace(make_sample("lamp").articulation), "bones": lambda: bones}
    spaces["modes"] = lambda: LinearSpace(tube(), np.random.default_rng(0).normal(size=(2, tube().vertex_count, 3)))
    space = spaces[kind]()
    q = space.sample(2, seed=3)
    clip = clip_of(space, q)
    for row, frame in zip(q, clip.positions, strict=True):
        np.testing.assert_allclose(frame, decode(space, row), atol=1e-9)
    if clip.skin is not None:
        np.testing.assert_allclose(clip.skin.positions(space.rest.vertices), clip.positions, atol=1e-6)
    assert (clip.skin is None) == (kind == "modes")


def test_bones_of_a_surface_become_a_skin_that_every_viewer_plays(bones, tmp_path):
    from khronos import faults

    clip = clip_of(bones, through_states(bones.sample(2), frames=6))
    path = tmp_path / "arm.glb"
    save(Asset(bones.rest, clips=(clip,)), path)
    assert not faults([path], worst=1)
    said = document(path)
    (skin,) = said["skins"]
    assert len(skin["joints"]) == len(bones.bones)
    attributes = said["meshes"][0]["primitives"][0]["attributes"]
    assert "JOINTS_0" in attributes
    assert "JOINTS_1" not in attributes, "four bones a vertex"
    (animation,) = said["animations"]
    assert {channel["target"]["path"] for channel in animation["channels"]} == {"rotation"}, "limbs keep their length"
    nested = {child for node in skin["joints"] for child in said["nodes"][node].get("children", [])}
    assert len(nested) == len(bones.bones) - 1, "every bone but the first hangs on another"
    again = load(path)
    np.testing.assert_allclose(again.clips[0].positions, clip.positions, atol=1e-4 * bones.rest.size)
    assert again.clips[0].skin.weights.shape[1] == len(bones.bones)


def test_turning_an_object_turns_where_its_bones_hang(bones):
    clip = clip_of(bones, bones.sample(2))
    turned = clip.in_frame("z", 0.1)
    change = np.linalg.lstsq(clip.rest.vertices, turned.rest.vertices, rcond=None)[0]
    np.testing.assert_allclose(turned.skin.tree.pivots, clip.skin.tree.pivots @ change, atol=1e-9)
    assert np.abs(np.linalg.det(change) - 1000.0) < 1e-6


@pytest.mark.parametrize("parents", [[-1, 2, 1], [0, 0, 0], [1, 0, -1]])
def test_bones_that_hang_on_each_other_are_refused(parents):
    with pytest.raises(ShapeError, match="connected to a root"):
        BoneTree(np.array(parents), np.zeros((3, 3)), ("a", "b", "c"))
