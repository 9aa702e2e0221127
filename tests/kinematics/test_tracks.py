"""Joints that are read off animations, and skins that follow bones."""

import numpy as np
import pytest

from neurok.bodyplan.clearance import tour
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Clip, Joint, Mesh, Skin
from neurok.geometry import lie
from neurok.kinematics.articulated import SkinnedSpace
from neurok.kinematics.space import decode
from neurok.kinematics.tracks import tracked_space
from neurok.modelling.shapes import box


@pytest.fixture(scope="module")
def cart() -> Articulation:
    """A box with a wheel that turns without end, a lid and a drawer."""
    blocks = [((0, 0, 0), (1.0, 0.4, 0.6)), ((-0.3, -0.4, 0), (0.3, 0.3, 0.1)), ((0, 0.25, 0), (1.0, 0.05, 0.6))]
    blocks.append(((0.0, 0.0, 0.4), (0.4, 0.2, 0.2)))
    shapes = [_block(np.array(center), np.array(size)) for center, size in blocks]
    vertices = np.concatenate([shape[0] for shape in shapes])
    starts = np.cumsum([0, *(len(shape[0]) for shape in shapes[:-1])])
    faces = np.concatenate([shape[1] + start for shape, start in zip(shapes, starts, strict=True)])
    parts = np.repeat(np.arange(4), [len(shape[0]) for shape in shapes])
    mesh = Mesh(vertices, faces, part_ids=parts, part_names=("body", "wheel", "lid", "drawer"))
    joints = (
        Joint(name="body"),
        Joint("continuous", 0, (0, 0, 1), (-0.3, -0.4, 0.0), name="wheel"),
        Joint("revolute", 0, (1, 0, 0), (0.0, 0.25, -0.3), -1.2, 0.0, name="lid"),
        Joint("prismatic", 0, (0, 0, 1), (0, 0, 0), 0.0, 0.3, name="drawer"),
    )
    return Articulation(mesh, joints)


def _block(center: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shape = box(tuple(size))
    return shape.vertices - shape.bounds.mean(axis=0) + center, shape.faces


def test_nodes_that_turn_and_slide_are_joints_again(cart):
    found = tracked_space(cart.mesh, (cart.clip(tour(cart)),)).articulation
    kinds = dict(zip(found.part_names, found.joints, strict=True))
    assert [kinds[name].kind for name in cart.part_names] == ["fixed", "continuous", "revolute", "prismatic"]
    for name, true in zip(cart.part_names[1:], cart.joints[1:], strict=True):
        assert abs(kinds[name].axis @ true.axis) == pytest.approx(1.0, abs=1e-6)
    lid, drawer = kinds["lid"], kinds["drawer"]
    assert lid.upper - lid.lower == pytest.approx(1.2, abs=0.01)
    assert drawer.upper - drawer.lower == pytest.approx(0.3, abs=1e-3)
    np.testing.assert_allclose(np.cross(lid.axis, lid.origin - cart.joints[2].origin), 0.0, atol=1e-4)


def test_frames_of_an_arm_are_poses_of_its_joints():
    lamp = make_sample("lamp").articulation
    rng = np.random.default_rng(0)
    low, high = lamp.ranges.T
    q = np.concatenate([np.zeros((1, lamp.dof)), low + rng.random((12, lamp.dof)) * (high - low)])
    space = tracked_space(lamp.mesh, (lamp.clip(q),))
    for values in q[1:4]:
        wanted = lamp.pose(values).vertices
        reached = (
            decode(space, space.moments[1 + np.flatnonzero((q[1:] == values).all(axis=1))[0]])
            if (space.articulation is None)
            else _fitted(space, wanted)
        )
        assert np.abs(reached - wanted).max() < 0.01 * lamp.mesh.size


def _fitted(space, wanted):
    from neurok.kinematics.fit import fit_vertices

    return decode(space, fit_vertices(space, np.arange(len(wanted)), wanted).q)


@pytest.fixture(scope="module")
def worm() -> Clip:
    """A bar of three bones whose skin blends them; it bends and twists."""
    mesh = make_sample("pillow").mesh
    low, high = mesh.bounds
    along = (mesh.vertices[:, 0] - low[0]) / (high[0] - low[0])
    weights = np.stack([np.clip(1 - 3 * np.abs(along - at), 0, None) for at in (0.15, 0.5, 0.85)], axis=1)
    weights += 1e-3
    weights /= weights.sum(axis=1, keepdims=True)
    knees = low + (high - low) * np.array([[1 / 3, 0.5, 0.5], [2 / 3, 0.5, 0.5]])
    times = np.linspace(0.0, 1.0, 20)
    frames = []
    for t in times:
        first = lie.rotation_about(np.array([0.0, 0, 1]), knees[0], 0.8 * t)
        second = first @ lie.rotation_about(np.array([0.0, 1, 0]), knees[1], -0.6 * np.sin(3 * t))
        frames.append(np.stack([np.eye(4), first, second]))
    skin = Skin(weights, np.stack(frames))
    return Clip(mesh, skin.positions(mesh.vertices), skin=skin)


def test_a_skin_follows_bones_that_hang_on_each_other(worm):
    space = tracked_space(worm.rest, (worm,))
    assert isinstance(space, SkinnedSpace)
    assert space.dim == 2
    assert not space.is_length.any()
    assert np.abs(decode(space, np.zeros(2)) - worm.rest.vertices).max() < 1e-9
    for frame in (5, 12, 19):
        assert np.abs(decode(space, space.moments[frame]) - worm.positions[frame]).max() < 1e-6


def test_derivatives_of_a_skin_are_those_of_its_positions(worm):
    space = tracked_space(worm.rest, (worm,))
    q, qdot, step = np.array([[0.4, -0.3]]), np.array([[0.7, 0.2]]), 1e-6
    values, slopes = space.shape(q)
    np.testing.assert_allclose(values, space.values(q))
    np.testing.assert_allclose(space.features @ values[0], decode(space, q[0]), atol=1e-12)
    for k in range(2):
        moved = (space.values(q + step * np.eye(2)[k]) - space.values(q - step * np.eye(2)[k])) / (2 * step)
        np.testing.assert_allclose(slopes[:, k], moved, atol=1e-7)
    change = (space.shape(q + step * qdot)[1] - space.shape(q - step * qdot)[1]) / (2 * step)
    np.testing.assert_allclose(space.shape_rate(q, qdot), change, atol=1e-6)


def test_samples_lie_between_states_that_were_seen(worm):
    space = tracked_space(worm.rest, (worm,))
    drawn = space.sample(50, seed=3)
    assert (drawn >= space.moments.min(axis=0) - 1e-9).all()
    assert (drawn <= space.moments.max(axis=0) + 1e-9).all()
    np.testing.assert_array_equal(drawn, space.sample(50, seed=3))
    assert np.ptp(drawn, axis=0).min() > 0


def test_a_clip_without_rigid_handles_has_no_joints():
    mesh = make_sample("pillow").mesh
    assert tracked_space(mesh, (Clip(mesh, np.stack([mesh.vertices, 1.1 * mesh.vertices])),)) is None
    still = Skin(np.ones((mesh.vertex_count, 1)), np.tile(np.eye(4), (3, 1, 1, 1)))
    assert tracked_space(mesh, (Clip(mesh, np.tile(mesh.vertices, (3, 1, 1)), skin=still),)) is None
