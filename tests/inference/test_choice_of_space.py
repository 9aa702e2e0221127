import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.bodyplan.plan import BodyPlan, PlannedBody, connected_pieces
from neurok.bodyplan.plan_file import write_plan
from neurok.core import Asset, Clip
from neurok.deformation.handles import HandleConfig, HandleModel
from neurok.errors import NeurokError
from neurok.inference.plan import plan
from neurok.inference.spaces import asset_of, learned_spaces, learner, reason, space_for, space_of, spaces_of
from neurok.io import save
from neurok.kinematics import ArticulatedSpace, LinearSpace
from neurok.kinematics.screws import ScrewSpace
from neurok.kinematics.skinned import SkinnedSpace
from neurok.samples import make_sample


def test_an_object_is_an_asset_a_mesh_or_a_path(tmp_path):
    lamp = make_sample("lamp")
    save(lamp, tmp_path / "lamp.npz")
    assert asset_of(lamp) is lamp
    assert asset_of(lamp.mesh).mesh is lamp.mesh
    for path in (tmp_path / "lamp.npz", str(tmp_path / "lamp.npz"), "sample:lamp"):
        assert asset_of(path).articulation.dof == lamp.articulation.dof


def test_joints_of_the_file_are_the_only_space():
    laptop = make_sample("laptop")
    (only,) = spaces_of(laptop)
    assert isinstance(only, ArticulatedSpace)
    assert space_of(laptop).dim == only.dim == laptop.articulation.dof


@pytest.fixture(scope="module")
def model() -> HandleModel:
    torch.manual_seed(0)
    return HandleModel(HandleConfig(width=16, heads=2, context_depth=1, slot_depth=1, slots=4))


@pytest.fixture(scope="module")
def hinged() -> BodyPlan:
    """The laptop with its hinge, by geometry alone."""
    return plan("sample:laptop", method="search", given_parts=False)


def test_learned_poses_are_sought_along_joints_and_then_in_all_that_the_prior_holds(model, hinged):
    planned, wide = spaces_of(make_sample("laptop").mesh, "learned", model, hinged)
    assert isinstance(planned, ArticulatedSpace)
    assert planned.articulation is hinged.articulation
    assert isinstance(wide, ScrewSpace)
    assert space_of(make_sample("laptop").mesh, "learned", model, hinged).articulation is hinged.articulation


def test_where_nothing_has_a_joint_a_pose_is_sought_with_bones(model, hinged):
    still = hinged
    for body in range(len(hinged.bodies)):
        still = still.with_joint(body, None)
    (only,) = learned_spaces(make_sample("laptop").mesh, model, still)
    assert isinstance(only, SkinnedSpace)
    assert only.is_loose
    assert learner(model)(make_sample("laptop").mesh, still) is None, "a scene takes what the plan says"


def test_what_bends_without_joints_is_sought_in_its_bends_and_then_with_bones(model):
    bending = copy.deepcopy(model)
    torch.nn.init.constant_(bending.rigid_out.bias, -50.0)
    pillow = make_sample("pillow").mesh
    bodies = (PlannedBody("pillow", (0,), -1, bends=True),)
    one = BodyPlan(replace(pillow, part_ids=None, part_names=()), connected_pieces(pillow) * 0, bodies)
    bends, bones = learned_spaces(pillow, bending, one)
    assert isinstance(bends, ScrewSpace)
    assert isinstance(bones, SkinnedSpace)
    assert bends.bends.any()


def test_a_plan_that_is_given_is_used_whatever_the_file_says(model, hinged, tmp_path):
    laptop = make_sample("laptop")
    (body,) = [k for k, one in enumerate(hinged.bodies) if one.joint is not None]
    half = hinged.with_joint(body, replace(hinged.bodies[body].joint, lower=0.0, upper=0.125))
    write_plan(half, tmp_path / "plan.json")
    for given in (half, tmp_path / "plan.json", str(tmp_path / "plan.json")):
        space = space_of(laptop, weights=model, plan=given)
        np.testing.assert_array_equal(space.limits, [[0.0, 0.125]])
        np.testing.assert_array_equal(learner(model)(laptop.mesh, given).limits, [[0.0, 0.125]])


def test_an_object_of_one_pose_is_refused():
    laptop = make_sample("laptop")
    for find in (space_of, spaces_of):
        with pytest.raises(NeurokError, match="only the pose it is in"):
            find(laptop, "rigid")


def test_each_space_says_what_it_is_and_why(model, hinged):
    laptop = make_sample("laptop")
    assert reason(laptop, space_of(laptop)) == "joints: 1 joint of its file."
    raw = Asset(laptop.mesh)
    planned = space_of(raw, weights=model, plan=hinged)
    assert reason(raw, planned, planned=True) == "joints: 1 joint of its body plan (the body plan handed over)."
    assert reason(raw, planned) == "joints: 1 joint of its body plan (its file has no joints or animation)."
    still = space_for(raw, "auto", lambda mesh: None)
    assert reason(raw, still) == "rigid: nothing of its body plan is likely to move, so it moves as a whole."
    assert reason(raw, still, "rigid") == "rigid: asked for."
    moved = Asset(laptop.mesh, clips=(laptop.articulation.clip(np.linspace(0.0, 0.5, 6)[:, None]),))
    assert reason(moved, space_of(moved)) == "joints: 1 joint behind its animation."


def test_a_clip_spans_the_poses_of_an_object_without_joints():
    mesh = make_sample("laptop").mesh
    frames = mesh.vertices + np.linspace(0.0, 1.0, 5)[:, None, None] * [0.0, 0.1, 0.0]
    (only,) = spaces_of(Asset(mesh, clips=(Clip(mesh, frames),)))
    assert isinstance(only, LinearSpace)
    assert only.dim == 1


@pytest.mark.slow
def test_joints_that_are_only_possible_are_tried_for_a_target_alone():
    cabinet = make_sample("cabinet").mesh
    plain, more = (spaces_of(cabinet, "learned", possible=possible) for possible in (False, True))
    assert len(more) == len(plain) + 1
    assert [type(space) for space in (more[0], *more[2:])] == [type(space) for space in plain]
    assert isinstance(more[1], ArticulatedSpace)
    assert more[1].dim > 0


def test_a_plan_that_was_given_is_the_last_word_on_joints(model, hinged):
    mesh = make_sample("laptop").mesh
    given = spaces_of(mesh, "learned", model, hinged, possible=True)
    assert len(given) == len(spaces_of(mesh, "learned", model, hinged))
