"""Corrections of a plan do what they say, and nothing else."""

import math

import numpy as np
import pytest

from neurok.bodyplan import editing
from neurok.bodyplan.plan_file import plan_from_dict, plan_to_dict
from neurok.errors import NeurokError
from neurok.io import load


@pytest.fixture(scope="module")
def cabinet():
    return load("sample:cabinet").articulation


@pytest.fixture(scope="module")
def plan(cabinet):
    return editing.plan_of_joints(cabinet)


def index(plan, name):
    return [body.name for body in plan.bodies].index(name)


def test_the_plan_of_joints_poses_the_object_as_its_joints_do(cabinet, plan):
    q = cabinet.ranges.mean(axis=1)
    np.testing.assert_allclose(plan.articulation.pose(q).vertices, cabinet.pose(q).vertices, atol=1e-12)
    np.testing.assert_allclose(plan.articulation.limits, cabinet.limits)


def test_a_merged_body_moves_with_the_other_and_no_face_is_lost(plan):
    new = editing.merged(plan, index(plan, "door"), index(plan, "body"))
    assert len(new.bodies) == len(plan.bodies) - 1
    assert new.articulation.dof == plan.articulation.dof - 1
    assert sorted(p for body in new.bodies for p in body.pieces) == sorted(p for b in plan.bodies for p in b.pieces)
    assert new.mesh.face_count == plan.mesh.face_count


def test_a_base_that_is_merged_into_what_it_carries_hands_over_the_others(plan):
    new = editing.merged(plan, index(plan, "body"), index(plan, "door"))
    door = index(new, "door")
    assert new.bodies[door].parent == -1
    assert new.bodies[door].joint is None
    assert all(body.parent == door for k, body in enumerate(new.bodies) if k != door)


def test_split_undoes_merge_up_to_names(plan):
    merged = editing.merged(plan, index(plan, "drawer"), index(plan, "drawer_2"))
    new = editing.split(merged, index(merged, "drawer_2"))
    assert all(len(body.pieces) == 1 for body in new.bodies if body.name.startswith("drawer_2"))
    with pytest.raises(NeurokError, match="one connected piece"):
        editing.split(new, index(new, "drawer_2"))


def test_fixing_and_freeing_gives_the_same_joint_back(plan):
    door = index(plan, "door")
    fixed = editing.fixed(plan, door)
    assert fixed.articulation.dof == plan.articulation.dof - 1
    again = editing.freed(fixed, door)
    np.testing.assert_allclose(again.bodies[door].joint.axis, plan.bodies[door].joint.axis)
    assert again.bodies[door].joint.source == editing.PERSON


def test_a_body_nobody_knows_a_joint_of_gets_an_upright_hinge(plan):
    merged = editing.split(plan, index(plan, "door"))
    loose = next(k for k, body in enumerate(merged.bodies) if not body.hypotheses and body.parent >= 0)
    joint = editing.freed(merged, loose).bodies[loose].joint
    np.testing.assert_allclose(joint.axis, plan.mesh.up_vector)
    assert joint.kind == "revolute"


def test_kind_axis_and_limits_are_changed_alone(plan):
    door = index(plan, "door")
    slide = editing.with_kind(plan, door, "prismatic").bodies[door].joint
    assert slide.kind == "prismatic"
    assert 0 < slide.upper < plan.mesh.size
    line = editing.with_axis(plan, door, (1, 2, 3), (0, 0, 2)).bodies[door].joint
    np.testing.assert_allclose(line.axis, (0, 0, 1))
    np.testing.assert_allclose(line.origin, (1, 2, 3))
    held = editing.with_limits(plan, door, -0.25, 0.5).bodies[door].joint
    assert (held.lower, held.upper) == (-0.25, 0.5)
    assert editing.with_kind(plan, door, "fixed").bodies[door].joint is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: editing.merged(p, 1, 1), "itself"),
        (lambda p: editing.freed(p, 0), "base"),
        (lambda p: editing.with_limits(p, 1, 1.0, 0.0), "lower <= upper"),
        (lambda p: editing.with_limits(p, 1, 0.0, math.nan), "lower <= upper"),
        (lambda p: editing.with_axis(p, 1, (0, 0, 0), (0, 0, 0)), "direction"),
        (lambda p: editing.with_kind(p, 1, "spherical"), "no kind"),
        (lambda p: editing.with_axis(editing.fixed(p, 1), 1, (0, 0, 0), (0, 0, 1)), "free it first"),
        (lambda p: editing.with_hypothesis(p, 1, 7), "no number 7"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(plan, change, says):
    with pytest.raises(NeurokError, match=says):
        change(plan)


def test_an_edited_plan_survives_its_file(plan, cabinet):
    new = editing.split(editing.with_limits(plan, index(plan, "door"), 0.0, 0.5), index(plan, "drawer"))
    back = plan_from_dict(plan_to_dict(new), cabinet.mesh)
    assert [body.name for body in back.bodies] == [body.name for body in new.bodies]
    np.testing.assert_allclose(back.articulation.limits, new.articulation.limits, atol=1e-6)
    q = new.articulation.ranges.mean(axis=1)
    np.testing.assert_allclose(back.articulation.pose(q).vertices, new.articulation.pose(q).vertices, atol=1e-5)
