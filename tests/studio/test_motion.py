"""Rigid parts are told from bending ones, and a hand finds coordinates."""

import numpy as np
import pytest

from gates import make_gate
from neurok.io import load
from neurok.kinematics import ArticulatedSpace
from neurok.kinematics.fit import fit_vertices
from neurok.kinematics.space import decode
from neurok.studio.motion import groups_of, part_motions, skinned_clip


def test_the_motion_of_each_part_is_that_of_its_joint():
    gate = make_gate()
    q = np.array([0.8])
    motions, rigid = part_motions(
        gate.mesh.vertices, gate.pose(q).vertices, groups_of(gate.mesh.part_ids, 2), 1e-9 * gate.mesh.size
    )
    np.testing.assert_allclose(motions, gate.transforms(q), atol=1e-12)
    assert rigid.all()


def test_a_part_that_bends_is_told():
    gate = make_gate()
    x = gate.mesh.vertices.copy()
    door = gate.mesh.part_ids == 1
    x[door, 2] += 0.1 * x[door, 0] ** 2
    _, rigid = part_motions(gate.mesh.vertices, x, groups_of(gate.mesh.part_ids, 2), 1e-4)
    assert rigid.tolist() == [True, False]


def test_a_recorded_motion_of_rigid_parts_is_kept_by_handles():
    gate = make_gate()
    frames = np.stack([gate.pose(np.array([a])).vertices for a in (0.0, 0.5, 1.0)]).astype(np.float32)
    clip = skinned_clip(gate.mesh, frames, 24.0, 1e-4)
    np.testing.assert_allclose(clip.skin.positions(gate.mesh.vertices), frames, atol=1e-5)
    frames[1, -1] += 0.3
    assert skinned_clip(gate.mesh, frames, 24.0, 1e-4).skin is None


@pytest.mark.parametrize("angle", [-1.2, 0.4, 2.5])
def test_a_hand_finds_the_angle_of_a_hinge(angle):
    gate = make_gate()
    space, vertex = ArticulatedSpace(gate), gate.mesh.vertex_count - 1
    place = gate.pose(np.array([angle])).vertices[vertex]
    q = np.zeros(1)
    for _ in range(4):  # a few pictures
        q = fit_vertices(space, np.array([vertex]), place[None], q, 12).q
    np.testing.assert_allclose(decode(space, q)[vertex], place, atol=1e-8)


def test_a_hand_never_leaves_the_limits_and_uses_what_is_left():
    space = ArticulatedSpace(load("sample:lamp").articulation)
    vertex = int(space.rest.vertices[:, 1].argmax())
    low, high = space.limits.T
    far = space.rest.vertices[vertex] + np.array([0.0, -10.0, 5.0])
    q = fit_vertices(space, np.array([vertex]), far[None], iterations=12).q
    assert ((q >= low) & (q <= high)).all()
    before = np.linalg.norm(space.rest.vertices[vertex] - far)
    assert np.linalg.norm(decode(space, q)[vertex] - far) < before
