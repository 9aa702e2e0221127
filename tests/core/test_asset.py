"""Whole objects: found clips and changed frames."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Articulation, Asset, Clip, Inertial, Joint, Material, MaterialField, Mesh, Rollout
from neurok.errors import NeurokError
from neurok.io import load

VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0], [2, 1, 0]], float)
Q = np.array([0.4, 0.3, -0.2, 0.7])


def jointed() -> Asset:
    """Three parts, every kind of joint, and a clip, all on one mesh that is z up and in centimetres."""
    vertices = np.concatenate([VERTICES, VERTICES[3:] + [0, 0, 2]])
    ids = np.repeat([0, 1, 2], 3)
    mesh = Mesh(vertices, np.arange(9).reshape(3, 3), part_ids=ids, part_names=("a", "b", "c"), up="z", unit=0.01)
    joints = (
        Joint("revolute", -1, (1, 2, 0), (0.5, 0, 0), -1, 1),
        Joint("prismatic", 0, (0, 1, 1), (0, 0, 0), -3, 3),
        Joint("cylindrical", 1, (0, 0, 1), (2, 0, 1), -1, 1, -2, 2),
    )
    inertia = Inertial(2.0, np.array([1.0, 2.0, 3.0]), np.diag([1.0, 2.0, 3.0]))
    articulation = Articulation(mesh, joints, (inertia, None, None))
    return Asset(mesh, (articulation.clip(np.stack([0 * Q, Q]), name="open"),), articulation)


def test_posing_and_changing_the_frame_commute():
    before, after = jointed(), jointed().in_frame("y", 1.0)
    scales = np.array([1.0, 0.01, 1.0, 0.01])  # turns stay, slides are lengths
    want = before.articulation.pose(Q).in_frame("y", 1.0).vertices
    np.testing.assert_allclose(after.articulation.pose(Q * scales).vertices, want, atol=1e-12)
    np.testing.assert_allclose(after.articulation.limits, before.articulation.limits * scales[:, None])
    np.testing.assert_allclose(after.clips[0].positions[1], want, atol=1e-12)
    skin = after.clips[0].skin
    np.testing.assert_allclose(skin.positions(after.mesh.vertices)[1], want, atol=1e-12)
    np.testing.assert_allclose(after.articulation.inertials[0].center, [0.02, 0.03, 0.01])
    np.testing.assert_allclose(after.articulation.inertials[0].inertia, np.diag([2.0, 3.0, 1.0]))


@pytest.mark.parametrize("change", [lambda a: a.in_frame("x", 0.5), lambda a: a.relabelled("x", 0.5)])
def test_clips_and_joints_go_on_sharing_the_mesh(change):
    changed = change(jointed())
    assert (changed.mesh.up, changed.mesh.unit) == ("x", 0.5)
    assert changed.clips[0].rest is changed.mesh
    assert changed.articulation.mesh is changed.mesh


def test_the_same_frame_changes_nothing():
    asset = jointed()
    assert asset.in_frame("z", 0.01) is asset


def test_clips_are_found_by_name_and_number_and_a_wrong_one_lists_them():
    mesh = Mesh(VERTICES, [[0, 1, 2]])
    asset = Asset(mesh, (Clip(mesh, VERTICES[None], name="walk"), Clip(mesh, VERTICES[None], name="run")))
    assert [asset.clip(which).name for which in ("run", 1, "1", 0)] == ["run", "run", "run", "walk"]
    with pytest.raises(NeurokError, match=r"no animation 'fly'; it has 0 \(walk\), 1 \(run\)"):
        asset.clip("fly")
    with pytest.raises(NeurokError, match="it has none"):
        Asset(mesh).clip()


def test_what_is_printed_of_a_noun_is_short():
    asset = load("sample:cabinet")
    joints = asset.articulation
    clip = joints.clip(joints.sweep(8))
    field = MaterialField.uniform(Material("m" * 500), asset.mesh.vertex_count)
    rollout = Rollout(asset.mesh, 0.1, positions=clip.positions)
    whole = replace(asset, clips=(clip,), materials=field)
    for noun in (asset, whole, asset.mesh, joints, clip, field, rollout, replace(asset.mesh, name="n" * 5000)):
        assert len(repr(noun)) < 600
        assert type(noun).__name__ in repr(noun)
    assert repr(clip).startswith("<Clip 'motion': 8 frames at 24/s of <Mesh 'cabinet': ")
