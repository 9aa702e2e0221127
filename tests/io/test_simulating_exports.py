"""Exports that simulate: balls stay in what is hollow, objects collide, doors stop, servos arrive, engines agree."""

import json
from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Articulation, Asset, Joint, Material, MaterialField
from neurok.core.assembly import ASSEMBLY, joint_losses
from neurok.errors import NeurokError
from neurok.io import formats
from neurok.io.physics import Physics, left_out, resized, welded
from neurok.modelling.shapes import slab
from neurok_lab.worlds.articulated import generate
from solids import of_parts, shell

mujoco = pytest.importorskip("mujoco")


def chest():
    """A box with walls, open towards +z, and a lid on a hinge behind it that stands open by a right angle."""
    mesh = of_parts(body=shell((0, 0, 0), (0.6, 0.4, 0.3)), lid=[slab((0, 0.4, 0.3), (0.6, 0.42, 0.7))])
    joints = (Joint(), Joint("revolute", 0, (1, 0, 0), (0.3, 0.41, 0.3), lower=-1.0, upper=1.5, name="hinge"))
    return Asset(replace(mesh, up="z"), articulation=Articulation(replace(mesh, up="z"), joints))


def with_ball(path, place, radius=0.03):
    spec = mujoco.MjSpec.from_file(str(path))
    ball = spec.worldbody.add_body(name="ball", pos=place)
    ball.add_freejoint()
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], density=500.0)
    return spec.compile()


def run(model, seconds, data=None):
    data = mujoco.MjData(model) if data is None else data
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data


@pytest.mark.parametrize("suffix", [".xml", ".urdf"])
def test_a_ball_dropped_into_an_open_box_stays_on_its_bottom(tmp_path, suffix):
    formats.save(chest(), tmp_path / f"chest{suffix}")
    model = with_ball(tmp_path / f"chest{suffix}", [0.2, 0.2, 0.5])
    data = run(model, 1.5)
    place = data.body("ball").xpos
    assert 0.02 < place[0] < 0.58
    assert 0.02 < place[1] < 0.38
    assert place[2] == pytest.approx(0.02 + 0.03, abs=3e-3)


def test_two_exported_boxes_collide(tmp_path):
    asset = chest()
    formats.save(asset, tmp_path / "fixed.xml")
    formats.save(asset, tmp_path / "free.xml", free_base=True)
    spec = mujoco.MjSpec.from_file(str(tmp_path / "fixed.xml"))
    frame = spec.worldbody.add_frame(pos=[0.03, -0.05, 0.32])
    spec.attach(mujoco.MjSpec.from_file(str(tmp_path / "free.xml")), prefix="two_", frame=frame)
    data = run(spec.compile(), 1.0)
    assert data.body("two_body").xpos[2] == pytest.approx(0.3, abs=0.01)


def test_a_pushed_door_stops(tmp_path):
    formats.save(chest(), tmp_path / "chest.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.xml"))
    model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    run(model, 3.0, data)
    assert abs(data.qvel[0]) < 1e-3
    assert 0.05 < data.qpos[0] < 0.4


def test_a_servo_reaches_its_target_under_gravity(tmp_path):
    formats.save(chest(), tmp_path / "chest.xml", servo=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.xml"))
    data = mujoco.MjData(model)
    data.ctrl[0] = 1.2
    run(model, 1.0, data)
    assert data.qpos[0] == pytest.approx(1.2, abs=0.03 * 2.5)
    assert abs(data.qvel[0]) < 0.05


@pytest.mark.slow
def test_exports_and_our_own_engine_answer_alike(tmp_path):
    from neurok.dynamics import Body, Ground, World, start

    asset = chest()
    oak = MaterialField.uniform(Material("oak", density=700.0), asset.mesh.vertex_count)
    asset = Asset(asset.mesh, articulation=asset.articulation, materials=oak)
    formats.save(asset, tmp_path / "chest.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.xml"))
    engine = start(Body.of(asset), World(ground=Ground()), engine="mujoco")._stepper.model
    assert model.dof_damping == pytest.approx(engine.dof_damping, rel=1e-6)
    assert model.dof_frictionloss == pytest.approx(engine.dof_frictionloss, rel=1e-6)
    assert model.body_subtreemass[0] == pytest.approx(engine.body_subtreemass[0], rel=1e-6)


def test_losses_follow_their_closed_forms():
    asset = chest()
    mass = 500.0 * 0.6 * 0.02 * 0.4
    from neurok.io.physics import bodies

    lid = bodies(asset, Physics())[1]
    inertia = mass * (0.4**2 + 0.02**2) / 12 + mass * 0.2**2  # about the edge
    assert lid.losses.inertia[0] == pytest.approx(inertia, rel=0.01)
    assert lid.losses.damping[0] == pytest.approx(ASSEMBLY.rubbing * inertia, rel=0.01)
    assert lid.losses.friction[0] == pytest.approx(0.3 * 9.81 * mass * 0.05 * 0.6, rel=1e-6)


def test_own_damping_counts_before_ours():
    asset = chest()
    from dataclasses import replace

    from neurok.io.physics import bodies

    own = replace(asset.articulation, joints=(Joint(), replace(asset.articulation.joints[1], damping=7.0)))
    inertials = [body.inertial for body in bodies(asset, Physics())]
    assert joint_losses(own, inertials).damping[0] == 7.0


def test_parent_and_child_never_touch_and_neighbours_do(tmp_path):
    formats.save(chest(), tmp_path / "chest.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.xml"))
    assert model.nexclude == 1
    touching = (model.geom_contype == 1) & (model.geom_conaffinity == 1)
    assert touching.sum() == 6
    assert set(model.geom_type[touching]) == {int(mujoco.mjtGeom.mjGEOM_BOX)}


def test_mass_and_size_are_what_was_asked_for(tmp_path):
    small = resized(chest(), 0.3)
    assert np.ptp(small.mesh.vertices, axis=0).max() * small.mesh.unit == pytest.approx(0.3)
    formats.save(small, tmp_path / "chest.xml", mass=4.0)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.xml"))
    assert model.body_subtreemass[0] == pytest.approx(4.0)
    with pytest.raises(NeurokError, match="mass must be positive"):
        formats.save(small, tmp_path / "bad.xml", mass=0.0)
    with pytest.raises(NeurokError, match="size must be positive"):
        resized(small, float("nan"))
    assert not (tmp_path / "bad.xml").exists()


def test_the_scene_has_a_floor_under_the_object(tmp_path):
    formats.save(chest(), tmp_path / "chest.xml", free_base=True, scene=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest_scene.xml"))
    data = run(model, 1.0)
    assert model.nlight == 1
    assert data.body("body").xpos[2] == pytest.approx(0.0, abs=5e-3)


def test_shapes_that_must_not_touch_are_cut_back_in_urdf(tmp_path):
    """MuJoCo lets what hangs on a fixed base touch it; a drawer that overlaps its box must not be pushed out."""
    mesh = of_parts(body=shell((0, 0, 0), (0.6, 0.4, 0.3)), lid=[slab((0.01, 0.01, 0.295), (0.59, 0.39, 0.32))])
    joints = (Joint(), Joint("revolute", 0, (1, 0, 0), (0.3, 0.4, 0.31), lower=0.0, upper=1.5))
    formats.save(Articulation(mesh, joints), tmp_path / "chest.urdf")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "chest.urdf"))
    model.opt.gravity[:] = 0.0
    data = run(model, 0.3)
    assert data.ncon == 0
    assert abs(data.qpos[0]) < 1e-4


def test_usd_says_the_same_in_its_own_terms(tmp_path):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom, UsdPhysics

    formats.save(chest(), tmp_path / "chest.usda", servo=True)
    stage = Usd.Stage.Open(str(tmp_path / "chest.usda"))
    colliders = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.CollisionAPI)]
    assert len(colliders) == 6
    assert all(UsdGeom.Imageable(prim).ComputePurpose() == "guide" for prim in colliders)
    hinge = next(prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.RevoluteJoint))
    drive = UsdPhysics.DriveAPI(hinge, "angular")
    assert drive.GetStiffnessAttr().Get() > 0
    assert drive.GetDampingAttr().Get() > 0
    assert hinge.GetAttribute("newton:friction").Get() > 0
    assert stage.GetDefaultPrim().HasAPI(UsdPhysics.ArticulationRootAPI)
    lid = stage.GetPrimAtPath(stage.GetDefaultPrim().GetPath().AppendChild("lid"))
    box = UsdGeom.Imageable(lid).ComputeWorldBound(0.0, "guide").ComputeAlignedRange()
    assert list(box.GetMin()) == pytest.approx([0, 0.4, 0.3], abs=1e-5)
    assert list(box.GetMax()) == pytest.approx([0.6, 0.42, 0.7], abs=1e-5)
    formats.save(chest(), tmp_path / "free.usda", free_base=True)
    free = Usd.Stage.Open(str(tmp_path / "free.usda"))
    assert not any(prim.IsA(UsdPhysics.FixedJoint) for prim in free.Traverse())


def test_what_a_format_cannot_hold_is_said():
    asset = chest()
    assert any("servos" in note for note in left_out(asset, ".urdf", Physics(servo=True)))
    assert not any("servos" in note for note in left_out(asset, ".xml", Physics(servo=True)))
    assert left_out(asset, ".glb", Physics()) == []


def test_welded_joints_do_not_move():
    assert welded(chest().articulation, {1}).dof == 0


def test_the_command_welds_what_is_not_sure_and_says_so(tmp_path, capsys):
    from neurok.cli.articulate import Articulate

    formats.save(chest().mesh, tmp_path / "chest.glb")
    found = Articulate(str(tmp_path / "chest.glb"), (tmp_path / "a.urdf",), method="search", weld_below=1.0).run()
    assert all(joint["type"] == "fixed" for joint in found["joints"])
    assert formats.load(tmp_path / "a.urdf").articulation.dof == 0
    assert "--weld-below 0" in capsys.readouterr().out
    json.dumps(found)


@pytest.mark.slow
def test_a_ball_stays_in_a_generated_bucket(tmp_path):
    from neurok_lab.worlds.articulated import make_family

    asset = make_family("bucket", np.random.default_rng(3))
    formats.save(asset, tmp_path / "bucket.xml")
    mesh = asset.mesh.in_frame("z", 1.0)
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    start = [middle[0] + 0.1 * mesh.size, middle[1] + 0.05 * mesh.size, mesh.vertices[:, 2].max() + 0.1]
    data = run(with_ball(tmp_path / "bucket.xml", start, 0.03 * mesh.size), 2.0)
    place = data.body("ball").xpos
    assert (mesh.vertices.min(axis=0) < place).all()
    assert (place < middle + [0.5 * mesh.size, 0.5 * mesh.size, 0]).all()


def test_limits_that_count_whole_turns_hold_the_rest_in_every_export(tmp_path):
    asset = chest()
    parts = asset.articulation
    joints = (parts.joints[0], replace(parts.joints[1], lower=-1.0 - 4 * np.pi, upper=1.5 - 4 * np.pi))
    counted = replace(asset, articulation=replace(parts, joints=joints))
    for suffix in (".urdf", ".xml"):
        formats.save(counted, tmp_path / f"chest{suffix}")
        model = mujoco.MjModel.from_xml_path(str(tmp_path / f"chest{suffix}"))
        np.testing.assert_allclose(model.jnt_range[0], [-1.0, 1.5], atol=1e-6)
    formats.save(counted, tmp_path / "chest.usda")
    assert formats.load(tmp_path / "chest.usda").articulation.joints[1].lower == pytest.approx(-1.0, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3])
def test_round_shapes_do_not_touch_what_hangs_on_them_at_rest(tmp_path, number):
    formats.save(generate("bucket", 20, number)[0], tmp_path / "bucket.urdf")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "bucket.urdf"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


@pytest.mark.parametrize("name", ["chest", "laptop", "cabinet"])
@pytest.mark.parametrize("pull", [(0, -9.81, 0), (0, 9.81, 0), (9.81, 0, 0)])
def test_urdf_and_mjcf_of_one_object_come_to_rest_alike(tmp_path, name, pull):
    from neurok.catalogue.samples import make_sample

    asset, ends = chest() if name == "chest" else make_sample(name), []
    for suffix in (".xml", ".urdf"):
        formats.save(asset, tmp_path / f"{name}{suffix}")
        model = mujoco.MjModel.from_xml_path(str(tmp_path / f"{name}{suffix}"))
        model.opt.gravity[:] = pull
        data = run(model, 2.0)
        ends.append({model.joint(k).name: float(data.qpos[model.jnt_qposadr[k]]) for k in range(model.njnt)})
    assert ends[1] == pytest.approx(ends[0], abs=0.02)


def test_what_is_cut_back_in_urdf_stays_large_enough_to_be_hit(tmp_path):
    formats.save(chest(), tmp_path / "chest.urdf")
    spec = mujoco.MjSpec.from_file(str(tmp_path / "chest.urdf"))
    lid = [geom for geom in spec.compile().geom_bodyid if geom == 2]
    assert len(lid) == 1
