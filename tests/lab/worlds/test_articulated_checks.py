"""The checks accept a sound object and name what is wrong with a broken one."""

import numpy as np
import pytest

from neurok.modelling import surfaces
from neurok.modelling.builder import Builder
from neurok.modelling.shapes import box, slab
from neurok_lab.worlds.articulated.checks import check_articulated, is_free
from neurok_lab.worlds.articulated.families import flipped, make_family, random_state, reopened

WOOD = surfaces.wood("oak")


def drawer_in_a_box(gap: float = 0.002, reach: float = 0.3, wall_in_front: bool = False):
    """An open box with a block that slides out towards +z."""
    builder = Builder("test")
    body = builder.part("body")
    for low, high in [((-0.3, 0, -0.2), (0.3, 0.02, 0.2)), ((-0.3, 0.3, -0.2), (0.3, 0.32, 0.2))]:
        body.add(slab(low, high), WOOD)
    body.add(slab((-0.3, 0.02, -0.2), (-0.28, 0.3, 0.2)), WOOD)
    if wall_in_front:
        body.add(slab((-0.3, 0, 0.25), (0.3, 0.3, 0.27)), WOOD)
    drawer = builder.part("drawer", body, "prismatic", (0, 0, 1), (0, 0, 0), 0.0, reach)
    drawer.add(slab((-0.27, 0.02 + gap, -0.15), (0.27, 0.25, 0.2)), WOOD)
    return builder.build()


def test_a_sound_object_passes():
    assert check_articulated(drawer_in_a_box()) == []


def test_a_floating_part_is_named():
    assert check_articulated(drawer_in_a_box(gap=0.05)) == ["a part floats"]


def test_a_collision_along_the_way_is_named():
    assert check_articulated(drawer_in_a_box(wall_in_front=True)) == ["parts collide along the motion"]


def test_a_motion_out_of_range_is_named():
    assert check_articulated(drawer_in_a_box(reach=9.0)) == ["the motion is too small or too large"]
    assert check_articulated(drawer_in_a_box(reach=0.0)) == ["a joint cannot move"]


def test_a_degenerate_face_and_a_wrong_size_are_named():
    asset = drawer_in_a_box()
    vertices = asset.mesh.vertices.copy() * 100.0
    vertices[asset.mesh.faces[0]] = vertices[asset.mesh.faces[0, 0]]
    broken = asset.articulation.__class__(asset.mesh.with_vertices(vertices), asset.articulation.joints)
    reasons = check_articulated(asset.__class__(broken.mesh, articulation=broken))
    assert reasons == ["the size is implausible", "a face is degenerate"]


def test_an_object_without_joints_is_named():
    builder = Builder("block")
    builder.part("body").add(box((1, 1, 1)), WOOD)
    assert check_articulated(builder.build()) == ["nothing moves"]


@pytest.mark.parametrize("name", ["safe", "desk_lamp", "cupboard", "camera"])
def test_reopening_changes_the_stored_state_and_nothing_else(name):
    asset = make_family(name, np.random.default_rng(3))
    rng = np.random.default_rng(0)
    old = asset.articulation
    q0 = random_state(old, rng)
    new = reopened(asset, q0).articulation
    np.testing.assert_allclose(new.mesh.vertices, old.pose(q0).vertices, atol=1e-12)
    q1 = random_state(old, rng, share=1.0)
    np.testing.assert_allclose(new.pose(q1 - q0).vertices, old.pose(q1).vertices, atol=1e-9)
    bounded = np.isfinite(old.limits[:, 0])
    np.testing.assert_allclose(new.limits[bounded], (old.limits - q0[:, None])[bounded], atol=1e-12)


def test_flipped_axes_describe_the_same_motion():
    asset = make_family("oven", np.random.default_rng(1))
    old = asset.articulation
    flips = np.arange(len(old.joints)) % 2 == 0
    new = flipped(asset, flips).articulation
    q = random_state(old, np.random.default_rng(2), share=1.0)
    signs = np.concatenate([[-1.0 if flip else 1.0] * joint.dof for joint, flip in zip(old.joints, flips, strict=True)])
    np.testing.assert_allclose(new.pose(signs * q).vertices, old.pose(q).vertices, atol=1e-12)


def test_a_state_in_which_parts_meet_is_not_free():
    articulation = drawer_in_a_box(wall_in_front=True).articulation
    assert is_free(articulation, np.array([0.04]))
    assert not is_free(articulation, np.array([0.15]))
