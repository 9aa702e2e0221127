import pickle
from dataclasses import replace

import numpy as np
import pytest

import neurok
from neurok import hub
from neurok import model as model_module
from neurok.bodyplan.plan import BodyPlan
from neurok.bodyplan.plan_file import write_plan
from neurok.catalogue.samples import make_sample
from neurok.core import Asset, Clip
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.io import save
from neurok.kinematics import ArticulatedSpace, LinearSpace
from neurok.kinematics.articulated import SkinnedSpace
from neurok.model import Model, understand
from neurok.verbs import plan


def test_an_object_is_an_asset_a_mesh_a_path_or_a_model(tmp_path):
    lamp = make_sample("lamp")
    save(lamp, tmp_path / "lamp.npz")
    assert understand(lamp).asset is lamp
    assert understand(lamp.mesh).mesh is lamp.mesh
    assert understand(known := understand(lamp)) is known
    for path in (tmp_path / "lamp.npz", str(tmp_path / "lamp.npz"), "sample:lamp"):
        assert understand(path).asset.articulation.dof == lamp.articulation.dof


def test_joints_of_the_file_are_the_only_space():
    laptop = understand(make_sample("laptop"))
    (only,) = laptop.spaces_for()
    assert isinstance(only, ArticulatedSpace)
    assert laptop.space().dim == only.dim == laptop.asset.articulation.dof


@pytest.fixture(scope="module")
def hinged() -> BodyPlan:
    """The laptop with its hinge, by geometry alone."""
    return plan("sample:laptop", method="search", parts="pieces")


def of_mesh(given: BodyPlan | None = None) -> Model:
    return understand(make_sample("laptop").mesh, plan=given)


def test_poses_are_sought_along_joints_alone_unless_the_object_may_deform(hinged):
    model = of_mesh(hinged)
    (planned,) = model.spaces_for("learned", target=True)
    assert isinstance(planned, ArticulatedSpace)
    assert planned.articulation is hinged.articulation
    _, bones = model.spaces_for("learned", target=True, deform=True)
    assert isinstance(bones, SkinnedSpace)
    assert bones.is_loose, "a target may lie in another place"
    assert model.space("learned").articulation is hinged.articulation


def test_where_nothing_has_a_joint_bones_are_tried_only_on_request(hinged):
    still = hinged
    for body in range(len(hinged.bodies)):
        still = still.with_joint(body, None)
    assert of_mesh(still).learned_spaces() == [], "a laptop is hard"
    (only,) = of_mesh(still).learned_spaces(deform=True)
    assert isinstance(only, SkinnedSpace)
    assert not only.is_loose
    assert of_mesh(still).space().dim == 0, "a scene takes what the plan says"


def test_what_bends_is_said_by_its_material_and_moves_on_bones():
    pillow = understand(make_sample("pillow"))
    assert [body.bends for body in pillow.plan.bodies] == [True]
    (bones,) = pillow.learned_spaces(target=True)
    assert isinstance(bones, SkinnedSpace)
    assert pillow.space_to_sample().kind == "skeleton"
    assert pillow.space().dim == 0, "an engine finds its elastic modes"
    steel = understand(make_sample("pillow"), materials={"all": "steel"})
    assert not steel.plan.bends
    assert steel.learned_spaces(target=True) == []


def test_a_plan_of_which_little_bends_has_no_bones(hinged):
    """Said of the smaller body alone, or of all."""
    for body in range(len(hinged.bodies)):
        hinged = hinged.with_joint(body, None)
    areas = np.bincount(hinged.mesh.face_parts, face_areas(hinged.mesh.vertices, hinged.mesh.faces))
    for chosen, expected in ((np.arange(len(areas)) == areas.argmin(), 0), (np.ones(len(areas), dtype=bool), 1)):
        bodies = tuple(replace(body, bends=bool(soft)) for body, soft in zip(hinged.bodies, chosen, strict=True))
        assert len(of_mesh(replace(hinged, bodies=bodies)).learned_spaces()) == expected


def test_where_there_are_no_bones_the_latent_is_the_last_resort(monkeypatch, hinged):
    monkeypatch.setattr(model_module, "skeleton_space", lambda mesh, loose: None)
    assert [space.kind for space in of_mesh(hinged).learned_spaces(deform=True)] == ["joints", "latent"]


def test_a_plan_that_is_given_is_used_whatever_the_file_says(hinged, tmp_path):
    laptop = make_sample("laptop")
    (body,) = [k for k, one in enumerate(hinged.bodies) if one.joint is not None]
    half = hinged.with_joint(body, replace(hinged.bodies[body].joint, lower=0.0, upper=0.125))
    write_plan(half, tmp_path / "plan.json")
    for given in (half, tmp_path / "plan.json", str(tmp_path / "plan.json")):
        for thing in (laptop, laptop.mesh):
            space = understand(thing, plan=given).space()
            np.testing.assert_array_equal(space.limits, [[0.0, 0.125]])


def test_an_object_of_one_pose_is_refused():
    laptop = understand(make_sample("laptop"))
    for find in (laptop.space_to_sample, laptop.spaces_for):
        with pytest.raises(NeurokError, match="only the pose it is in"):
            find("rigid")


def test_a_space_that_there_is_not_gets_a_sentence(monkeypatch, tmp_path):
    laptop = understand(make_sample("laptop"))
    assert laptop.space("rigid").dim == 0
    with pytest.raises(NeurokError, match="no animation"):
        laptop.space("clip")
    with pytest.raises(NeurokError, match="must be one of auto, joints"):
        laptop.space("springs")
    with pytest.raises(NeurokError, match="no joints in its body plan"):
        understand(make_sample("pillow")).space("learned")
    monkeypatch.setattr(hub, "SHIPPED", tmp_path)
    with pytest.raises(NeurokError, match="no weights"):
        laptop.space("latent")


def test_each_space_says_what_it_is_and_why(hinged):
    laptop = make_sample("laptop")
    assert understand(laptop).why(understand(laptop).space()).startswith("joints: 1 joint of its file")
    planned = of_mesh(hinged)
    assert "the body plan handed over" in planned.why(planned.space())
    assert "no joints or animation" in of_mesh().why(planned.space())
    still = understand(laptop.mesh).space("rigid")
    assert understand(laptop.mesh).why(still).startswith("rigid: nothing of its body plan is likely to move")
    assert understand(laptop.mesh).why(still, "rigid") == "rigid: asked for."
    moved = understand(Asset(laptop.mesh, clips=(laptop.articulation.clip(np.linspace(0.0, 0.5, 6)[:, None]),)))
    assert moved.why(moved.space()) == "joints: 1 joint behind its animation."


def test_a_clip_spans_the_poses_of_an_object_without_joints():
    mesh = make_sample("laptop").mesh
    frames = mesh.vertices + np.linspace(0.0, 1.0, 5)[:, None, None] * [0.0, 0.1, 0.0]
    (only,) = understand(Asset(mesh, clips=(Clip(mesh, frames),))).spaces_for()
    assert isinstance(only, LinearSpace)
    assert only.dim == 1


def test_a_plan_that_was_given_is_the_last_word_on_joints(hinged):
    model = of_mesh(hinged)
    assert len(model.spaces_for("learned", target=True)) == len(model.spaces_for("learned"))


def test_what_is_not_named_is_proposed_and_never_rubber():
    cabinet = replace(make_sample("cabinet"), materials=None, articulation=None)
    named = understand(cabinet, materials={"door": "steel"})
    known = [item for item in named.materials.items if item.is_known]
    assert {item.region.part for item in known} == {"door"}
    assert {item.material.name for item in known} == {"steel"}
    assert not any(item.material.is_soft for item in named.materials.items)
    assert not named.is_soft


def test_a_model_that_is_sent_to_another_process_keeps_what_was_found(hinged):
    model = understand(make_sample("laptop").mesh, method="search")
    before = model.plan
    after = pickle.loads(pickle.dumps(model))
    assert "study" in after.__dict__
    assert [body.name for body in after.plan.bodies] == [body.name for body in before.bodies]
    assert after.plan.articulation.dof == before.articulation.dof


def test_study_and_proposals_are_made_once_whatever_is_asked(monkeypatch):
    asked = {"study": 0, "propose": 0}
    for name in asked:
        real = getattr(model_module, name)

        def counted(*args, name=name, real=real, **options):
            asked[name] += 1
            return real(*args, **options)

        monkeypatch.setattr(model_module, name, counted)
    model = understand(replace(make_sample("cabinet").mesh))
    neurok.plan(model), neurok.articulate(model), neurok.sample(model, 2)
    neurok.simulate(model, act="drop", seconds=0.1, fps=20)
    neurok.pose(model, move={"door": model.mesh.vertices[model.mesh.part_ids == 1].mean(axis=0)})
    assert asked == {"study": 1, "propose": 1}


def test_a_model_is_written_and_drawn_with_what_was_decided(tmp_path):
    model = understand(make_sample("laptop").mesh, method="search")
    neurok.save(model, tmp_path / "laptop.urdf")
    assert neurok.load(tmp_path / "laptop.urdf").articulation.dof == model.plan.articulation.dof
    laptop = understand(make_sample("laptop"))
    assert laptop.exported().articulation is laptop.asset.articulation
