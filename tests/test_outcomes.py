"""One object, one answer: parts, joints, materials, mass and status agree between all verbs and exports of one file.

Each verb is asked on its own, with the file as its user would name it.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import neurok
from neurok.catalogue.samples import make_sample
from neurok.core import Asset, Mesh
from neurok.modelling.shapes import box
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import prepare_scene
from neurok.studio.scene import StudioScene

mujoco = pytest.importorskip("mujoco")


@dataclass(frozen=True)
class Case:
    """A file, and what everybody must say of it."""

    name: str
    joints: int
    space: str
    parts: tuple[str, ...] | None = None
    """Names of its parts where it names any."""


CABINET = ("body", "door", "door_2", "drawer", "drawer_2", "drawer_3")
CASES = {
    "named.glb": Case("named.glb", 5, "joints", CABINET),
    "raw.ply": Case("raw.ply", 1, "joints"),
    "robot.urdf": Case("robot.urdf", 1, "joints", ("base", "screen")),
    "robot.xml": Case("robot.xml", 1, "joints", ("base", "screen")),
    "robot.usda": Case("robot.usda", 1, "joints"),
    "clip.glb": Case("clip.glb", 1, "joints"),
    "soft.glb": Case("soft.glb", 0, "elastic"),
    "block.obj": Case("block.obj", 0, "joints"),
    "still.npz": Case("still.npz", 0, "joints"),
    "steel.npz": Case("steel.npz", 5, "joints", CABINET),
    "centimetres.glb": Case(
        "centimetres.glb", 5, "joints", ("body", "door", "door_2", "drawer", "drawer_2", "drawer_3")
    ),
    "lamp.npz": Case("lamp.npz", 4, "joints"),
}
FAST = ("named.glb", "soft.glb", "block.obj", "robot.urdf")
CHOSEN = [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in CASES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The files, as other programs would write them."""
    out = tmp_path_factory.mktemp("outcomes")
    cabinet, laptop, lamp, pillow = (make_sample(name) for name in ("cabinet", "laptop", "lamp", "pillow"))
    named = Asset(cabinet.mesh)
    neurok.save(named, out / "named.glb")
    neurok.save(replace(laptop.mesh, part_ids=None, part_names=()), out / "raw.ply")
    for suffix in ("urdf", "xml", "usda"):
        neurok.save(laptop, out / f"robot.{suffix}")
    moving = laptop.articulation.clip(np.linspace(0.0, 0.6, 8)[:, None])
    neurok.save(Asset(laptop.mesh, clips=(moving,)), out / "clip.glb")
    neurok.save(Asset(pillow.mesh), out / "soft.glb")
    shape = box((0.3, 0.2, 0.4))
    neurok.save(Mesh(shape.vertices, shape.faces), out / "block.obj")
    still = replace(laptop.articulation, joints=tuple(replace(j, kind="fixed") for j in laptop.articulation.joints))
    neurok.save(Asset(laptop.mesh, articulation=still), out / "still.npz")
    steel = neurok.MaterialField.uniform(neurok.material("steel"), cabinet.mesh.vertex_count)
    neurok.save(replace(named, materials=steel), out / "steel.npz")
    neurok.save(named.in_frame("y", 0.01), out / "centimetres.glb")
    neurok.save(lamp, out / "lamp.npz")
    return out


def dof(space) -> int:
    return 0 if space.rigid_joints is None else space.rigid_joints.dof


@pytest.mark.parametrize("name", CHOSEN)
def test_every_verb_says_the_same_of_one_file(folder, tmp_path, name):
    case, path = CASES[name], folder / name
    model = neurok.understand(path)
    ready = prepare_scene(Scene((SceneObject(str(path), act="drop"),)))
    body = ready.bodies[0]
    if case.parts is not None:
        assert tuple(model.mesh.part_names) == case.parts
        assert set(case.parts) <= set(body.mesh.part_names)
    assert dof(body.poses) == case.joints
    assert body.poses.kind == case.space
    rollout = neurok.simulate(path, act="drop", seconds=0.25, fps=20)
    assert rollout.status == "ok"
    assert np.isfinite(rollout.positions).all()
    if case.joints:
        drawn = neurok.sample(path, 2)
        assert dof(drawn.space) == case.joints
        place = next(joint for joint in body.poses.rigid_joints.joints if joint.dof)
        end = body.poses.rigid_joints.limits[:, 0].clip(-0.3, 0.3)
        target = model.space().rigid_joints.pose(end)
        found = neurok.pose(path, target=target)
        assert dof(found.space) == case.joints
        assert found.status == "ok", place
        studio = StudioScene(tmp_path, simulate=lambda scene, config: pytest.fail("nothing runs"))
        studio.open(neurok.load(path))
        if studio.needs_study:
            studio.learn(studio.asset, studio.study())
        assert dof(studio.space) == case.joints


@pytest.mark.parametrize("name", CHOSEN)
def test_exports_weigh_what_simulations_weigh(folder, tmp_path, name):
    path = folder / name
    ready = prepare_scene(Scene((SceneObject(str(path), act="drop"),)))
    joints = ready.bodies[0].poses.rigid_joints
    model = neurok.understand(path)
    asset = replace(model.asset, materials=model.field_on(model.mesh), clips=())
    if joints is not None and joints.dof and model.asset.articulation is None:
        asset = neurok.articulate(path)
        assert asset.articulation.dof == joints.dof
    neurok.save(asset, tmp_path / "out.xml")
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
    assert float(compiled.body_mass.sum()) == pytest.approx(ready.mass, rel=0.02)


def test_naming_one_material_leaves_the_rest_as_it_was(folder):
    plain, named = (
        prepare_scene(Scene((SceneObject(str(folder / "named.glb"), drop="auto", materials=given),)))
        for given in ({}, {"door": "steel"})
    )
    assert dof(named.bodies[0].poses) == dof(plain.bodies[0].poses) == 5
    assert named.bodies[0].poses.stiffness is None
    names = {item.region.part: item.material.name for item in named.models[0].materials.items}
    before = {item.region.part: item.material.name for item in plain.models[0].materials.items}
    assert names.pop("door") == "steel"
    before.pop("door")
    assert names == before


def test_python_and_the_command_give_the_same_motion(folder, tmp_path, capsys):
    from neurok.cli import main

    path = folder / "block.obj"
    main(["simulate", str(path), "--act", "drop", "--seconds", "0.25", "--out", str(tmp_path / "motion.npz"), "--json"])
    written = neurok.load_clip(tmp_path / "motion.npz")
    rollout = neurok.simulate(str(path), act="drop", seconds=0.25)
    np.testing.assert_array_equal(written.positions, rollout.positions)


def test_written_joints_are_those_of_the_verb(folder, tmp_path):
    from neurok.cli import main

    main(["articulate", str(folder / "named.glb"), "--out", str(tmp_path / "a.urdf")])
    written, made = neurok.load(tmp_path / "a.urdf").articulation, neurok.articulate(folder / "named.glb").articulation
    assert [joint.kind for joint in written.joints] == [joint.kind for joint in made.joints]
    np.testing.assert_allclose(written.limits, made.limits, atol=1e-6)
