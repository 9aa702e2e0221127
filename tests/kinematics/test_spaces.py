"""Spaces of poses: rest at zero, right decoders, and the way back."""

import numpy as np
import pytest
import torch

from decoders import Decoder
from neurok.core import Articulation, Clip, Joint, Mesh
from neurok.errors import NeurokError
from neurok.kinematics import ArticulatedSpace, FreeBase, LinearSpace, decode, fit_vertices
from neurok.kinematics.space import KinematicSpace
from neurok.modelling import shapes


@pytest.fixture
def arm() -> Articulation:
    boxes = [shapes.box((0.1, 0.4, 0.1), (0.0, 0.2 + 0.4 * i, 0.0)) for i in range(4)]
    vertices = np.concatenate([box.vertices for box in boxes])
    count = len(boxes[0].vertices)
    faces = np.concatenate([box.faces + i * count for i, box in enumerate(boxes)])
    mesh = Mesh(vertices, faces, part_ids=np.repeat(np.arange(4), count))
    joints = (
        Joint(),
        Joint("revolute", 0, (0, 0, 1), (0, 0.4, 0), -1.0, 1.0),
        Joint("cylindrical", 1, (0, 1, 0), (0, 0.8, 0)),
        Joint("prismatic", 2, (1, 0, 0)),
    )
    return Articulation(mesh, joints)


def test_an_articulated_space_decodes_as_forward_kinematics(arm):
    space = ArticulatedSpace(arm)
    q = np.array([0.4, -0.7, 0.2, 0.3])
    np.testing.assert_allclose(decode(space, q), arm.pose(q).vertices, atol=1e-12)
    np.testing.assert_allclose(decode(space, np.zeros(4)), arm.mesh.vertices, atol=1e-15)
    assert isinstance(space, KinematicSpace)
    np.testing.assert_array_equal(space.limits, arm.limits)
    np.testing.assert_array_equal(space.is_length, [False, False, True, True])


def test_a_linear_space_of_a_clip_reproduces_it(arm):
    values = np.zeros((7, 4))
    values[:, 3] = np.linspace(0.0, 0.5, 7)
    values[:, 2] = np.linspace(0.0, 0.3, 7) ** 2
    clip = arm.clip(values)
    space = LinearSpace.from_clip(clip, 5)
    assert space.dim == 2, "two slides span two fields"
    found = fit_vertices(space, np.arange(space.rest.vertex_count), clip.positions[4])
    assert found.status == "ok"
    assert found.residual < 1e-9
    np.testing.assert_allclose(space.features @ space.unity, 1.0)
    with pytest.raises(NeurokError, match="does not move"):
        LinearSpace.from_clip(Clip(arm.mesh, arm.mesh.vertices[None]), 2)


def test_features_times_shape_are_the_decoded_positions(arm):
    linear = LinearSpace(arm.mesh, 0.1 * arm.mesh.vertices[None])
    spaces = [
        linear,
        Decoder(linear),
        FreeBase(linear, np.array([0.1, 0.2, -0.3])),
        FreeBase(Decoder(linear), np.ones(3)),
    ]
    for space in spaces:
        q = np.random.default_rng(0).normal(size=(1, space.dim))
        y, slopes = space.shape(q)
        features = np.eye(arm.mesh.vertex_count) if space.features is None else space.features
        np.testing.assert_allclose(features @ y[0], decode(space, q[0]), atol=1e-12)
        for k, step in enumerate(1e-6 * np.eye(space.dim)):
            change = (space.values(q + step)[0] - space.values(q - step)[0]) / 2e-6
            np.testing.assert_allclose(slopes[0, k], change, atol=1e-8)
        np.testing.assert_allclose(features @ space.unity, 1.0)


def test_a_free_base_turns_about_its_centre_and_then_shifts(arm):
    center = np.array([0.1, 0.3, -0.2])
    space = FreeBase(ArticulatedSpace(arm), center)
    q = np.zeros(space.dim)
    np.testing.assert_allclose(decode(space, q), arm.mesh.vertices, atol=1e-15)
    q[:6] = [1.0, 2.0, 3.0, 0.0, 0.0, np.pi / 2]
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    expected = (arm.mesh.vertices - center) @ turn.T + center + [1.0, 2.0, 3.0]
    np.testing.assert_allclose(decode(space, q), expected, atol=1e-12)
    assert np.isinf(space.limits[:6]).all()


def test_fitting_vertices_finds_the_joint_values(arm):
    space = ArticulatedSpace(arm)
    q = np.array([0.4, -0.7, 0.2, 0.3])
    chosen = np.arange(0, arm.mesh.vertex_count, 3)
    found = fit_vertices(space, chosen, arm.pose(q).vertices[chosen])
    assert found.status == "ok"
    np.testing.assert_allclose(found.q, q, atol=1e-7)
    q[0] = 2.0
    found = fit_vertices(space, chosen, arm.pose(q).vertices[chosen])
    assert found.q[0] == arm.limits[0, 1], "it stays at its limit while the others go on"
    moved = np.stack([arm.pose(found.q + step).vertices[chosen] for step in 1e-4 * np.eye(4)[1:]])
    assert all(
        np.linalg.norm(x - arm.pose(q).vertices[chosen])
        >= np.linalg.norm(arm.pose(found.q).vertices[chosen] - arm.pose(q).vertices[chosen])
        for x in moved
    )
    with pytest.raises(NeurokError, match="indices"):
        fit_vertices(space, np.array([10_000]), np.zeros((1, 3)))


def test_the_features_of_joints_move_as_the_decoder_and_its_derivatives_say(arm):
    space, rng = ArticulatedSpace(arm), np.random.default_rng(0)
    q, qdot = rng.normal(size=(2, 3, 4))
    y, slopes = space.shape(q)
    rates = space.shape_rate(q, qdot)
    np.testing.assert_allclose(space.features @ space.unity, 1.0)
    for k in range(3):
        at, going = torch.from_numpy(q[k]), torch.from_numpy(qdot[k])
        jacobian, change = torch.func.jvp(torch.func.jacfwd(Decoder(space).decode), (at,), (going,))
        np.testing.assert_allclose(space.features @ y[k], decode(space, q[k]), atol=1e-12)
        np.testing.assert_allclose(np.moveaxis(space.features @ slopes[k], 0, -1), jacobian, atol=1e-12)
        np.testing.assert_allclose(np.moveaxis(space.features @ rates[k], 0, -1), change, atol=1e-12)
    step = 1e-6
    finite = (space.shape(q + step * qdot)[1] - space.shape(q - step * qdot)[1]) / (2 * step)
    np.testing.assert_allclose(rates, finite, atol=1e-8)


def test_an_object_without_joints_has_the_features_of_its_only_pose():
    box = shapes.box((1.0, 1.0, 1.0))
    space = ArticulatedSpace(Articulation(Mesh(box.vertices, box.faces), (Joint(),)))
    y, slopes = space.shape(np.zeros((2, 0)))
    np.testing.assert_array_equal(space.features @ y[1], box.vertices)
    assert slopes.shape == space.shape_rate(np.zeros((2, 0)), np.zeros((2, 0))).shape == (2, 0, 4, 3)
    np.testing.assert_array_equal(decode(space, np.zeros(0)), box.vertices)
