import random

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics, UsdValidation
from robots import boxes, checker, every_joint
from test_urdf import mutate

from neurok.core import Articulation, Asset, Clip, Mesh, Surface
from neurok.errors import FormatError, NeurokError
from neurok.io import formats

SUFFIXES = [".usda", ".usdc", ".usd", ".usdz"]


def problems(path) -> list[str]:
    """What all of USD's own validators have to say."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    stage = Usd.Stage.Open(str(path))
    return [f"{e.GetName()}: {e.GetMessage()}" for e in UsdValidation.ValidationContext(validators).Validate(stage)]


def load(tmp_path, text: str):
    path = tmp_path / "stage.usda"
    path.write_text(text)
    return formats.load(path)


def cupboard() -> Asset:
    articulation = every_joint()
    return Asset(articulation.mesh, (articulation.clip(articulation.sweep(5), fps=12),), articulation)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_everything_reads_back(tmp_path, suffix):
    want = cupboard()
    path = tmp_path / f"cup{suffix}"
    formats.save(want, path)
    have = formats.load(path)
    assert not have.notes
    assert (have.mesh.up, have.mesh.name) == ("y", "cupboard")
    assert have.mesh.unit == pytest.approx(0.01)
    assert have.mesh.part_names == want.mesh.part_names
    np.testing.assert_allclose(have.mesh.vertices[have.mesh.faces], want.mesh.vertices[want.mesh.faces], atol=1e-5)
    np.testing.assert_allclose(have.mesh.uv[have.mesh.faces], want.mesh.uv[want.mesh.faces], atol=1e-6)
    looks = [have.mesh.surfaces[i] for i in have.mesh.face_surfaces[::12]]
    assert [s.name for s in looks] == ["wood", "steel"] * 3 + ["wood"]
    assert looks[0].texture.data == checker().data
    np.testing.assert_allclose(looks[0].base_color, (0.4, 0.2, 0.1, 1), atol=1e-6)
    q = np.random.default_rng(0).uniform(-1, 1, want.articulation.dof)
    np.testing.assert_allclose(have.articulation.transforms(q), want.articulation.transforms(q), atol=1e-4)
    for mine, theirs in zip(want.articulation.joints, have.articulation.joints, strict=True):
        assert (mine.kind, mine.parent, mine.name) == (theirs.kind, theirs.parent, theirs.name)
        np.testing.assert_allclose(theirs.limits, mine.limits, rtol=1e-6)
        assert theirs.damping == pytest.approx(mine.damping) if mine.damping else theirs.damping >= 0
    assert have.clips[0].fps == 12
    np.testing.assert_allclose(have.clips[0].positions, want.clips[0].positions, atol=1e-4)


def test_masses_are_those_of_the_boxes(tmp_path):
    articulation = every_joint()
    formats.save(articulation, tmp_path / "cup.usda", density=100.0)
    shelf = formats.load(tmp_path / "cup.usda").articulation.inertials[7]
    assert shelf.mass == pytest.approx(100 * 0.3 * 0.02 * 0.3)
    np.testing.assert_allclose(shelf.center, (20, 60, 10), atol=1e-4)
    np.testing.assert_allclose(shelf.inertia[1, 1], shelf.mass * (0.3**2 + 0.3**2) / 12, rtol=1e-5)
    np.testing.assert_allclose(shelf.inertia[0, 0], shelf.mass * (0.02**2 + 0.3**2) / 12, rtol=1e-5)


def bent_sheet() -> Clip:
    """A sheet that bends: no rigid motion of its part explains it."""
    x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1)
    quad = (np.arange(4)[:, None] * 5 + np.arange(4)).ravel()
    faces = np.concatenate([np.stack([quad, quad + 5, quad + 6], 1), np.stack([quad, quad + 6, quad + 1], 1)])
    colors = np.column_stack([x.ravel(), y.ravel(), np.ones(25), np.ones(25)])
    right = Surface("right", (0, 1, 0, 0.5), 0.3, 0.2, double_sided=False, alpha_mode="BLEND")
    surfaces = (Surface("left", (1, 0, 0, 1), double_sided=False), right)
    mesh = Mesh(
        vertices,
        faces,
        vertex_colors=colors,
        surfaces=surfaces,
        face_surfaces=np.arange(32) % 2,
        up="z",
        name="9 sheet!",
    )
    frames = np.stack([vertices + np.outer(np.sin(3 * vertices[:, 0]) * t, [0, 0, 0.1]) for t in range(4)])
    return Clip(mesh, frames, fps=30)


def test_a_bending_sheet_keeps_its_positions_colours_and_surfaces(tmp_path):
    clip = bent_sheet()
    formats.save(clip, tmp_path / "sheet.usdc")
    assert problems(tmp_path / "sheet.usdc") == []
    have = formats.load(tmp_path / "sheet.usdc")
    assert have.mesh.name == "9 sheet!"
    np.testing.assert_allclose(have.clips[0].positions, clip.positions, atol=1e-6)
    np.testing.assert_allclose(have.mesh.vertices, clip.rest.vertices, atol=1e-6)
    np.testing.assert_allclose(have.mesh.vertex_colors, clip.rest.vertex_colors, atol=1e-6)
    right = [have.mesh.surfaces[i] for i in have.mesh.face_surfaces][1]
    np.testing.assert_allclose(right.base_color, (0, 1, 0, 0.5))
    assert right.metallic == pytest.approx(0.3)
    assert right.roughness == pytest.approx(0.2)
    assert right.alpha_mode == "BLEND"
    assert not right.double_sided


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("what", ["mesh", "joints", "motion", "x up"])
def test_usd_itself_finds_no_fault(tmp_path, suffix, what):
    asset = cupboard()
    thing = {"mesh": asset.mesh, "joints": asset.articulation, "motion": asset}.get(what)
    if thing is None:
        turned = asset.articulation.in_frame("x", 1.0)
        thing = Asset(turned.mesh, (turned.clip(turned.sweep(3)),), turned)
    path = tmp_path / f"cup{suffix}"
    formats.save(thing, path)
    assert problems(path) == []


def test_the_validators_do_find_faults(tmp_path):
    formats.save(every_joint(), tmp_path / "cup.usda")
    text = (tmp_path / "cup.usda").read_text().replace("defaultPrim =", "documentation =")
    (tmp_path / "bad.usda").write_text(text.replace("metersPerUnit", "framesPerSecond"))
    assert problems(tmp_path / "bad.usda")


def test_physics_joints_follow_the_schema(tmp_path):
    formats.save(every_joint(), tmp_path / "cup.usda")
    stage = Usd.Stage.Open(str(tmp_path / "cup.usda"))
    hinge = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath("/cupboard/joints/door"))
    assert hinge.GetUpperLimitAttr().Get() == pytest.approx(np.degrees(1.9))
    assert [str(p) for p in hinge.GetBody0Rel().GetTargets()] == ["/cupboard/frame"]
    assert stage.GetDefaultPrim().HasAPI(UsdPhysics.ArticulationRootAPI)
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert not stage.GetPrimAtPath("/cupboard/door/mesh").HasAPI(UsdPhysics.CollisionAPI)
    assert stage.GetPrimAtPath("/cupboard/door/collisions/shape_0").HasAPI(UsdPhysics.CollisionAPI)
    assert not stage.GetPrimAtPath("/cupboard/swivel/mesh")


HEAD = '#usda 1.0\n(\n  defaultPrim = "top"\n  metersPerUnit = 0.5\n  upAxis = "Z"\n  timeCodesPerSecond = 10\n{}\n)\n'
QUADS = """def Xform "top" {
  double3 xformOp:translate = (10, 0, 0)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  def Mesh "roof" {
    int[] faceVertexCounts = [4, 4]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
    point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,0,0), (2,1,0)]
    texCoord2f[] primvars:st = [(0,0), (1,0), (1,1), (0,1), (0,0), (1,0), (1,1), (0,1)] (interpolation = "faceVarying")
    color3f[] primvars:displayColor = [(1, 0, 0)]
    float3 xformOp:scale = (1, 2, 1)
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 4: (0, 0, 2) }
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
  }
  def Cube "cube" {
    double size = 4
  }
  def Cylinder "rod" {
    double radius = 0.5
    double height = 6
    uniform token axis = "X"
  }
  def Mesh "hidden" {
    token visibility = "invisible"
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0,0,0), (1,0,0), (1,1,0)]
  }
}"""


def test_a_small_stage_reads_as_written_by_hand(tmp_path):
    asset = load(tmp_path, HEAD.format("") + QUADS)
    mesh = asset.mesh
    assert (mesh.up, mesh.unit, mesh.name) == ("z", 0.5, "top")
    assert mesh.part_names == ("roof", "cube", "rod")
    roof, cube, rod = (mesh.vertices[mesh.part_ids == i] for i in range(3))
    assert len(roof) == 8  # the shared edge has two texture coordinates
    np.testing.assert_allclose([roof.min(0), roof.max(0)], [[10, 0, 0], [12, 2, 0]])
    np.testing.assert_allclose([cube.min(0), cube.max(0)], [[8, -2, -2], [12, 2, 2]])
    np.testing.assert_allclose([rod.min(0), rod.max(0)], [[7, -0.5, -0.5], [13, 0.5, 0.5]])
    corners = mesh.vertices[mesh.faces[:4]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(normals, np.tile([0, 0, 2], (4, 1)))
    first = mesh.faces[mesh.face_parts == 0][0]
    np.testing.assert_allclose(mesh.uv[first], [[0, 0], [1, 0], [1, 1]])
    np.testing.assert_allclose(mesh.vertex_colors[first], np.tile([1, 0, 0, 1], (3, 1)))


def test_animated_frames_become_a_clip_at_whole_time_codes(tmp_path):
    clip = load(tmp_path, HEAD.format("") + QUADS).clips[0]
    assert (clip.frame_count, clip.fps) == (5, 10)
    parts = clip.rest.part_ids
    np.testing.assert_allclose(clip.positions[:, parts == 0, 2].mean(axis=1), [0, 0.5, 1, 1.5, 2])
    np.testing.assert_allclose(clip.positions[4, parts == 1], clip.rest.vertices[parts == 1])


JOINTED = """def Xform "top" {
  def Cube "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    double size = 2
  }
  def Xform "lid" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    double3 xformOp:translate = (0, 0, 3)
    double xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    def Sphere "ball" {
    double radius = 1
  }
    def Cube "block" {
    double size = 1
  }
  }
  def PhysicsRevoluteJoint "hinge" {
    uniform token physics:axis = "X"
    rel physics:body0 = </top/base>
    rel physics:body1 = </top/lid>
    point3f physics:localPos0 = (0, 1, 3)
    point3f physics:localPos1 = (1, 0, 0)
    quatf physics:localRot0 = (0.70710678, 0, 0, 0.70710678)
    quatf physics:localRot1 = (1, 0, 0, 0)
    float physics:lowerLimit = -90
    float physics:upperLimit = 45
  }
}"""


def test_a_hand_written_hinge_stands_where_its_bodies_put_it(tmp_path):
    articulation = load(tmp_path, HEAD.format("") + JOINTED).articulation
    assert articulation.part_names == ("base", "lid")
    hinge = articulation.joints[1]
    assert (hinge.kind, hinge.parent, hinge.name) == ("revolute", 0, "hinge")
    np.testing.assert_allclose(hinge.axis, [0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(hinge.origin, [0, 1, 3], atol=1e-6)
    np.testing.assert_allclose(hinge.limits, [[-np.pi / 2, np.pi / 4]], atol=1e-6)


TEXTURED = """def Xform "top" {
  def Cube "c" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {
    rel material:binding = </top/m>
  }
  def Material "m" {
    token outputs:surface.connect = </top/m/s.outputs:surface>
    def Shader "s" {
      uniform token info:id = "UsdPreviewSurface"
      color3f inputs:diffuseColor.connect = </top/m/t.outputs:rgb>
      token outputs:surface
    }
    def Shader "t" {
      uniform token info:id = "UsdUVTexture"
      asset inputs:file = @{}@
      float3 outputs:rgb
    }
  }
}"""


@pytest.mark.parametrize(
    "text",
    [
        HEAD.format("  subLayers = [@../other.usda@]") + QUADS,
        HEAD.format("") + 'def Xform "top" ( references = @../other.usda@ ) {}',
        HEAD.format("") + 'def Xform "top" ( payload = @/etc/passwd.usda@ ) {}',
        HEAD.format("") + 'def Xform "top" ( references = @./inner.usda@ ) {}',
        HEAD.format("") + TEXTURED.replace("{}", "../t.png", 1),
        HEAD.format("") + TEXTURED.replace("{}", "/etc/passwd", 1),
    ],
)
def test_paths_that_leave_the_folder_are_refused(tmp_path, text):
    (tmp_path / "other.usda").write_text(HEAD.format("") + QUADS)
    (tmp_path / "t.png").write_bytes(checker().data)
    folder = tmp_path / "stage"
    folder.mkdir()
    (folder / "inner.usda").write_text(HEAD.format("") + 'def Xform "top" ( references = @../other.usda@ ) {}')
    with pytest.raises(FormatError, match="outside its folder"):
        load(folder, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("hello", "not a USD"),
        (HEAD.format(""), "no geometry"),
        ("#usda 1.0\n(", "not a USD"),
        (HEAD.format("") + TEXTURED.replace("{}", "gone.png", 1), r"gone\.png.*missing"),
        (HEAD.format("") + QUADS.replace("5, 2]", "5, 99]"), "damaged"),
        (HEAD.format("") + QUADS.replace("(0,1)] (inter", "] (inter"), "."),
        (HEAD.format("").replace("0.5", "-1") + QUADS, "metersPerUnit"),
    ],
)
def test_wrong_stages_are_refused_with_a_sentence(tmp_path, text, words):
    with pytest.raises(NeurokError, match=words):
        load(tmp_path, text)


def test_a_truncated_binary_stage_is_refused(tmp_path):
    formats.save(boxes({"a": ((0, 0, 0), (1, 1, 1))}), tmp_path / "a.usdc")
    data = (tmp_path / "a.usdc").read_bytes()
    for size in (4, 60, len(data) // 2):
        (tmp_path / f"cut{size}.usdc").write_bytes(data[:size])
        with pytest.raises(NeurokError):
            formats.load(tmp_path / f"cut{size}.usdc")


@pytest.mark.slow
def test_a_thousand_damaged_stages_load_or_are_refused(tmp_path):
    rng = random.Random(3)
    texts = [(HEAD.format("") + body).encode() for body in (QUADS, JOINTED)]
    outcomes = {"read": 0, "refused": 0}
    for i in range(1000):
        path = tmp_path / f"{i}.usda"
        path.write_bytes(mutate(texts[i % 2], rng))
        try:
            formats.load(path)
            outcomes["read"] += 1
        except NeurokError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10


def test_a_clip_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(NeurokError, match="no clip 3"):
        formats.save(cupboard(), tmp_path / "a.usda", clip=3)


@pytest.mark.data
def test_real_objects_pass_validation_and_keep_their_joints(real_data, tmp_path):
    files = sorted((real_data / "partnet_mobility" / "train").glob("*.npz"))[
        5::70
    ]  # cutting into convex pieces takes most of it
    for file in files:
        want: Articulation = formats.load(file).articulation
        path = tmp_path / f"{file.stem}.usdc"
        formats.save(want, path)
        assert problems(path) == []
        have = formats.load(path).articulation
        assert [j.kind for j in have.joints] == [j.kind for j in want.joints]
        q = np.random.default_rng(0).uniform(-1, 1, want.dof)
        np.testing.assert_allclose(have.transforms(q), want.transforms(q), atol=1e-5)
        np.testing.assert_allclose(have.mesh.bounds, want.mesh.bounds, atol=1e-6)


@pytest.mark.slow
def test_damaged_binary_stages_neither_hang_nor_crash(tmp_path):
    formats.save(every_joint(), tmp_path / "whole.usdc")
    data = (tmp_path / "whole.usdc").read_bytes()
    rng = random.Random(1)  # the third of these once filled the memory inside USD
    refused = 0
    for i in range(12):
        path = tmp_path / f"{i}.usdc"
        path.write_bytes(mutate(data, rng))
        try:
            formats.load(path)
        except NeurokError:
            refused += 1
    assert refused >= 6


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_usd_at_all_is_called_so_without_names_of_usd_code(suffix, tmp_path):
    path = tmp_path / f"text{suffix}"
    path.write_text("hello world, this is no stage\n" * 20)
    with pytest.raises(FormatError, match="is not a USD file") as caught:
        formats.load(path)
    assert ".cpp" not in str(caught.value)
    assert "__" not in str(caught.value)


def test_a_package_has_no_clock_times(tmp_path):
    import zipfile

    formats.save(cupboard(), tmp_path / "a.usdz")
    with zipfile.ZipFile(tmp_path / "a.usdz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None
    assert formats.load(tmp_path / "a.usdz").mesh.part_count == cupboard().mesh.part_count
