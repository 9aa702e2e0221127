import mujoco
import numpy as np
import pytest
from robots import boxes, checker, every_joint

from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.io import formats

PENDULUM = """<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="rod" pos="0 0 2" euler="0 0 1.5707963267948966">
      <joint name="pivot" type="hinge" axis="0 1 0" range="-1 2" damping="0.5" ref="0.25"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size="0.1" rgba="1 0 0 1" mass="3"/>
      <body name="bob" pos="1 0 0"><geom type="sphere" size="0.2"/></body>
    </body>
  </worldbody>
</mujoco>"""


def load(tmp_path, text: str, name: str = "model.xml"):
    path = tmp_path / name
    path.write_text(text)
    return formats.load(path)


def world(body: str, head: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{body}</worldbody></mujoco>"


def test_a_pendulum_stands_and_swings_as_the_closed_form_says(tmp_path):
    asset = load(tmp_path, PENDULUM)
    rod = asset.articulation
    assert rod.part_names == ("rod", "bob")
    pivot = rod.joints[0]
    assert (pivot.kind, pivot.parent, pivot.name, pivot.damping) == ("revolute", -1, "pivot", 0.5)
    np.testing.assert_allclose(pivot.axis, [-1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(pivot.origin, [0, 0, 2], atol=1e-9)
    assert (pivot.lower, pivot.upper) == pytest.approx((-1.25, 1.75))  # from the reference value
    bob = asset.mesh.vertices[rod.vertex_parts == 1]
    np.testing.assert_allclose([bob.min(0), bob.max(0)], [[-0.2, 0.8, 1.8], [0.2, 1.2, 2.2]], atol=1e-6)
    down = rod.pose(np.array([np.pi / 2])).vertices[rod.vertex_parts == 1]
    np.testing.assert_allclose(down.mean(0), [0, 0, 1], atol=1e-6)
    assert rod.inertials[0].mass == pytest.approx(3)
    np.testing.assert_allclose(rod.inertials[0].center, [0, 0.5, 2], atol=1e-9)
    assert any("plane" in note for note in asset.notes)


def test_several_joints_of_a_body_become_a_chain_that_moves_alike(tmp_path):
    text = world(
        '<body name="hand" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="yaw" axis="0 0 1" pos="0.1 0 0"/><joint name="pitch" axis="0 1 1" pos="0 0.2 0"/>'
        '<geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/></body>'
    )
    hand = load(tmp_path, text).articulation
    assert hand.part_names == ("hand/x", "hand/yaw", "hand")
    q = np.array([0.3, 0.7, -0.4])
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    want = np.eye(4)
    want[:3, :3], want[:3, 3] = data.body("hand").xmat.reshape(3, 3), data.body("hand").xpos
    rest = np.eye(4)
    rest[2, 3] = 1
    np.testing.assert_allclose(hand.transforms(q)[2] @ rest, want, atol=1e-9)


def test_balls_become_three_hinges_and_free_bodies_are_fixed_with_notes(tmp_path):
    asset = load(
        tmp_path,
        world(
            '<body name="top"><freejoint/><geom size="0.1"/><body name="arm" pos="1 0 0">'
            '<joint type="ball" name="b"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body></body>'
        ),
    )
    assert [j.kind for j in asset.articulation.joints] == ["fixed", "continuous", "continuous", "continuous"]
    assert [j.parent for j in asset.articulation.joints] == [-1, 0, 1, 2]
    assert len(asset.notes) == 2


def test_visible_geoms_hide_collision_shapes_and_colours_come_from_materials(tmp_path):
    head = '<asset><material name="blue" rgba="0 0 1 1"/></asset>'
    body = '<body><geom type="box" size="1 1 1" group="3"/><geom size="0.5" material="blue"/></body>'
    mesh = load(tmp_path, world(body, head)).mesh
    np.testing.assert_allclose(mesh.bounds, [[-0.5] * 3, [0.5] * 3], atol=1e-9)
    assert mesh.surfaces[0].base_color == (0, 0, 1, 1)


def test_a_urdf_may_be_called_xml(tmp_path):
    text = '<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry></visual></link></robot>'
    assert load(tmp_path, text).mesh.part_names == ("a",)


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "model.usda"
    path.write_text(PENDULUM)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"neurok\[usd\]"):
        formats.load(path)


SECRET = '<asset><mesh name="m" file="{}"/></asset>'
MESH = '<body><geom type="mesh" mesh="m"/></body>'


@pytest.mark.parametrize(
    "text",
    [
        world(MESH, SECRET.format("../secret.stl")),
        world(MESH, SECRET.format("/etc/passwd")),
        world(MESH, '<compiler meshdir=".."/>' + SECRET.format("secret.stl")),
        world(MESH, '<compiler assetdir="/etc"/>' + SECRET.format("passwd")),
        world("<geom size='1'/>", '<asset><texture name="t" type="2d" file="../t.png"/></asset>'),
        world("<geom size='1'/>", '<include file="../other.xml"/>'),
        world("<geom size='1'/>", '<include file="inner.xml"/>'),
        world("<geom size='1'/>", '<asset><model name="x" file="sub/inner.xml"/></asset>'),
    ],
)
def test_paths_that_leave_the_folder_are_refused_before_mujoco_sees_them(tmp_path, text):
    formats.save(boxes({"b": ((1, 0, 0), (1, 1, 1))}), tmp_path / "secret.stl")
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "inner.xml").write_text('<mujoco><asset><mesh name="m" file="../secret.stl"/></asset></mujoco>')
    (folder / "sub" / "inner.xml").write_text(
        '<mujoco><asset><mesh name="m" file="../../secret.stl"/></asset></mujoco>'
    )
    with pytest.raises(FormatError, match="outside its folder"):
        load(folder, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html/>", "neither MJCF nor URDF"),
        ("<mujoco><worldbody><bodi/></worldbody></mujoco>", "MuJoCo cannot compile"),
        (world("<body/>"), "no geometry"),
        (world("", '<asset><mesh file="gone.stl"/></asset>'), "MuJoCo cannot compile"),
        (world("", '<asset><texture name="t" builtin="flat" width="99999" height="99999"/></asset>'), "at most"),
        (world("", '<extension><plugin plugin="mujoco.sdf"/></extension>'), "plugin"),
        ('<!DOCTYPE m [<!ENTITY x "y">]><mujoco/>', "document type"),
    ],
)
def test_wrong_models_are_refused_with_a_sentence(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NeurokError, match=words):
        load(tmp_path, text)
    assert [p.name for p in tmp_path.iterdir()] == ["model.xml"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("mjcf") / "cupboard.xml"
    articulation = every_joint()
    formats.save(articulation, path)
    return articulation.in_frame("z", 1.0), path


def test_what_we_write_moves_in_mujoco_as_it_does_here(written):
    want, path = written
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        low, high = np.clip(want.limits, -3, 3).T
        q = rng.uniform(low, high)
        for part, (joint, slot) in enumerate(zip(want.joints, want.slots, strict=True)):
            name = want.part_names[part] if joint.name == "joint" else joint.name
            for suffix, value in zip(("", "_slide"), q[slot], strict=False):
                data.joint(name + suffix).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        for part, motion in enumerate(want.transforms(q)):
            body = data.body(want.part_names[part])
            np.testing.assert_allclose(body.xmat.reshape(3, 3), motion[:3, :3], atol=1e-8)
            origin = want.joints[part].origin
            np.testing.assert_allclose(body.xpos, motion[:3, :3] @ origin + motion[:3, 3], atol=1e-8)


def test_what_we_write_reads_back(written):
    want, path = written
    have = formats.load(path).articulation
    assert sorted(have.part_names) == sorted(want.part_names)
    for part, joint in enumerate(want.joints):
        k = have.part_names.index(want.part_names[part])
        back = have.joints[k]
        assert back.kind == joint.kind
        assert joint.parent < 0 or have.part_names[back.parent] == want.part_names[joint.parent]
        np.testing.assert_allclose(back.limits, joint.limits, atol=1e-9)
        np.testing.assert_allclose(back.origin, joint.origin, atol=1e-9)
        if joint.kind != "fixed":
            np.testing.assert_allclose(back.axis, joint.axis, atol=1e-9)
        mine, theirs = (a.mesh.vertices[a.vertex_parts == i] for a, i in ((want, part), (have, k)))
        if len(mine):
            np.testing.assert_allclose([theirs.min(0), theirs.max(0)], [mine.min(0), mine.max(0)], atol=1e-6)


def test_pictures_keep_their_place_on_the_mesh(written):
    want, path = written
    have = formats.load(path).mesh
    wood = next(i for i, s in enumerate(have.surfaces) if s.texture is not None)
    np.testing.assert_array_equal(have.surfaces[wood].texture.pixels(), checker().pixels())
    np.testing.assert_allclose(have.surfaces[wood].base_color, (0.4, 0.2, 0.1, 1), atol=1e-6)
    seen = have.vertices[have.faces[have.face_surfaces == wood]].reshape(-1, 3)
    uv = have.uv[have.faces[have.face_surfaces == wood]].reshape(-1, 2)
    mesh = want.mesh
    for point, coordinate in zip(seen, uv, strict=True):
        nearest = np.linalg.norm(mesh.vertices - point, axis=1).argmin()
        np.testing.assert_allclose(coordinate, mesh.uv[nearest], atol=1e-6)


def test_a_written_pendulum_swings_with_the_closed_form_period(tmp_path):
    """A thin rod hung at its end: T = 2 pi sqrt(2 L / 3 g) for small swings."""
    from neurok.core import Articulation, Joint

    mesh = boxes({"rod": ((0, 0, -0.5), (0.002, 0.002, 1.0))}, up="z")
    rod = Articulation(mesh, (Joint("continuous", -1, axis=(0, 1, 0), name="pivot"),))
    formats.save(rod, tmp_path / "rod.xml", rubs=False)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "rod.xml"))
    model.opt.timestep = 1e-3
    data = mujoco.MjData(model)
    data.qpos[0] = 0.02
    steps = 0
    while data.qpos[0] > 0:
        mujoco.mj_step(model, data)
        steps += 1
    assert 4e-3 * steps == pytest.approx(2 * np.pi * np.sqrt(2 / (3 * 9.81)), rel=0.01)
