import mujoco
import numpy as np
import pytest
import yourdfpy
from hypothesis import given
from hypothesis import strategies as st
from robots import boxes, checker, every_joint
from scipy.spatial.transform import Rotation

from neurok.core import Articulation, Asset, Inertial, Joint, Material, MaterialField, Mesh, Surface
from neurok.errors import NeurokError
from neurok.generation.fields import quarters
from neurok.io import formats
from neurok.io.urdf_write import roll_pitch_yaw


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The object with every kind of joint, and where its URDF lies."""
    path = tmp_path_factory.mktemp("urdf") / "cupboard.urdf"
    articulation = every_joint()
    formats.save(articulation, path)
    return articulation.in_frame("z", 1.0), path


def test_everything_reads_back(written):
    want, path = written
    asset = formats.load(path)
    have = asset.articulation
    assert have.part_names[:8] == want.part_names
    assert have.part_names[8:] == ("piston_slide",)
    assert not asset.notes
    for part, joint in enumerate(want.joints):
        if joint.kind in ("fixed", "cylindrical"):
            continue
        back = have.joints[part]
        assert (back.kind, back.parent) == (joint.kind, joint.parent)
        assert back.damping == pytest.approx(joint.damping) if joint.damping else back.damping > 0
        np.testing.assert_allclose(back.axis, joint.axis, atol=1e-9)
        np.testing.assert_allclose(back.origin, joint.origin, atol=1e-9)
        np.testing.assert_allclose(back.limits, joint.limits, atol=1e-9)
    for part in range(8):
        mine = np.unique(want.mesh.vertices[want.vertex_parts == part].round(9), axis=0)
        theirs = np.unique(have.mesh.vertices[have.vertex_parts == part].round(9), axis=0)
        np.testing.assert_allclose(theirs, mine, atol=1e-8)


def test_pictures_and_colours_survive(written):
    _, path = written
    mesh = formats.load(path).mesh
    pictures = [s.texture for s in mesh.surfaces if s.texture is not None]
    np.testing.assert_array_equal(pictures[0].pixels(), checker().pixels())
    steel = next(s for s in mesh.surfaces if s.name == "steel")
    np.testing.assert_allclose(steel.base_color, (0.2, 0.2, 0.25, 1.0), atol=1e-6)
    assert mesh.uv is not None


def values(rng, articulation):
    """Joint values within limits."""
    low, high = np.clip(articulation.limits, -3, 3).T
    return rng.uniform(low, high)


def named(articulation: Articulation, q: np.ndarray) -> dict[str, float]:
    out = {}
    for part, (joint, slot) in enumerate(zip(articulation.joints, articulation.slots, strict=True)):
        name = articulation.part_names[part] if joint.name == "joint" else joint.name
        if joint.dof:
            out[name] = q[slot][0]
        if joint.dof == 2:
            out[f"{name}_slide"] = q[slot][1]
    return out


def frame(joint: Joint, motion: np.ndarray) -> np.ndarray:
    """Pose of a part's frame, which stands at its joint when at rest."""
    pose = np.eye(4)
    pose[:3, 3] = joint.origin
    return motion @ pose


def test_mujoco_compiles_it_and_moves_the_links_as_we_do(written):
    want, path = written
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = values(rng, want)
        for name, value in named(want, q).items():
            data.joint(name).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        for part, motion in enumerate(want.transforms(q)):
            if want.joints[part].parent < 0:
                continue  # MuJoCo makes the root link part of the world
            body = data.body(want.part_names[part])
            pose = frame(want.joints[part], motion)
            np.testing.assert_allclose(body.xpos, pose[:3, 3], atol=1e-8)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), pose[:3, :3], atol=1e-8)


def test_yourdfpy_parses_it_and_moves_the_links_as_we_do(written):
    want, path = written
    robot = yourdfpy.URDF.load(str(path))
    assert robot.validate()
    rng = np.random.default_rng(1)
    q = values(rng, want)
    robot.update_cfg(named(want, q))
    for part, motion in enumerate(want.transforms(q)):
        pose = robot.get_transform(want.part_names[part])
        np.testing.assert_allclose(pose, frame(want.joints[part], motion), atol=1e-8)


def test_mass_comes_from_the_file_then_the_materials_then_the_density(tmp_path):
    mesh = boxes({"a": ((0, 0, 0), (1, 1, 1)), "b": ((3, 0, 0), (1, 1, 2))}, up="z")
    joints = (Joint(), Joint("revolute", 0, lower=-1, upper=1))
    path = tmp_path / "r.urdf"

    def masses() -> list[float]:
        return [inertial.mass for inertial in formats.load(path).articulation.inertials]

    formats.save(Articulation(mesh, joints), path, density=100.0)
    assert masses() == pytest.approx([100, 200])
    heavy = MaterialField((Material(density=1000.0), Material(density=50.0)), mesh.part_ids)
    formats.save(Asset(mesh, articulation=Articulation(mesh, joints), materials=heavy), path)
    assert masses() == pytest.approx([1000, 100])
    known = Articulation(mesh, joints, (Inertial(7.0, np.ones(3), np.eye(3)), None))
    formats.save(Asset(mesh, articulation=known, materials=heavy), path)
    assert masses() == pytest.approx([7, 100])
    np.testing.assert_allclose(formats.load(path).articulation.inertials[0].center, 1)
    with pytest.raises(NeurokError, match="density"):
        formats.save(known, path, density=-1.0)


def test_moving_roots_hang_on_a_world_link(tmp_path):
    mesh = boxes({"a": ((0, 0, 0), (1, 1, 1)), "world": ((3, 0, 0), (1, 1, 2))}, up="z")
    joints = (Joint("prismatic", -1, axis=(1, 0, 0)), Joint("revolute", -1, lower=-1, upper=1))
    path = tmp_path / "r.urdf"
    formats.save(Articulation(mesh, joints), path)
    back = formats.load(path).articulation
    assert back.part_names == ("a", "world_2", "world")
    assert [j.kind for j in back.joints] == ["prismatic", "revolute", "fixed"]
    np.testing.assert_array_equal(back.joints[0].limits, [[-np.inf, np.inf]])
    mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_a_flat_sheet_and_repeated_names_still_compile(tmp_path, suffix):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 0, 0], [6, 0, 0], [5, 1, 0], [5, 0, 0]], float)
    mesh = Mesh(vertices, [[0, 1, 2], [3, 4, 5], [3, 3, 6]], part_ids=[0, 0, 0, 1, 1, 1, 1], part_names=("lid", "lid"))
    joints = (Joint(), Joint("revolute", 0, lower=0, upper=0))
    path = tmp_path / f"sheet{suffix}"
    formats.save(Articulation(mesh, joints), path)
    assert formats.load(path).mesh.part_names == ("lid", "lid_2")
    mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_a_static_mesh_is_one_fixed_body(tmp_path, suffix):
    mesh = boxes({"a": ((0, 0, 0), (1, 1, 1))})
    path = tmp_path / f"static{suffix}"
    formats.save(Mesh(mesh.vertices, mesh.faces, name="stone", surfaces=(Surface("grey"),)), path)
    back = formats.load(path)
    assert back.mesh.part_names == ("stone",)
    assert back.articulation.dof == 0
    assert mujoco.MjModel.from_xml_path(str(path)).njnt == 0


@pytest.mark.data
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_real_objects_compile_and_keep_their_joints(real_data, tmp_path, suffix):
    files = sorted((real_data / "partnet_mobility" / "train").glob("*.npz"))[
        ::60
    ]  # cutting into convex pieces takes most of it
    assert len(files) >= 4
    kinds = set()
    for file in files:
        want = formats.load(file).articulation.in_frame("z", 1.0)
        path = tmp_path / file.stem / f"robot{suffix}"
        formats.save(want, path)
        mujoco.MjModel.from_xml_path(str(path))
        if suffix == ".urdf":
            assert yourdfpy.URDF.load(str(path), load_meshes=False).validate()
        have = formats.load(path).articulation
        np.testing.assert_allclose(have.mesh.bounds, want.mesh.bounds, atol=1e-6)
        kept = [j for j in have.joints if j.kind != "fixed"]
        asked = [want.joints[part] for part in want.order if want.joints[part].kind != "fixed"]
        if suffix == ".urdf":
            asked = [j for j in want.joints if j.kind != "fixed"]
        assert [j.kind for j in kept] == [j.kind for j in asked]
        for mine, theirs in zip(asked, kept, strict=True):
            np.testing.assert_allclose(theirs.axis, mine.axis, atol=1e-6)
            np.testing.assert_allclose(theirs.origin, mine.origin, atol=1e-6)
            np.testing.assert_allclose(theirs.limits, mine.around_rest.limits, atol=2e-6)
        kinds |= {j.kind for j in asked}
    assert kinds == {"revolute", "continuous", "prismatic"}


@pytest.mark.parametrize("number", range(24))
def test_angles_of_quarter_turns_give_the_turn_again(number):
    turn = quarters()[number]
    np.testing.assert_allclose(Rotation.from_euler("xyz", roll_pitch_yaw(turn)).as_matrix(), turn, atol=1e-12)


@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_angles_of_any_rotation_give_it_again(vector):
    turn = Rotation.from_rotvec(vector).as_matrix()
    np.testing.assert_allclose(Rotation.from_euler("xyz", roll_pitch_yaw(turn)).as_matrix(), turn, atol=1e-8)
