import random

import numpy as np
import pytest
from robots import SIDES, boxes

from neurok.errors import FormatError, NeurokError
from neurok.geometry.operators import mass_properties
from neurok.io import formats, urdf
from neurok.io.xml import parse

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
  <link name="arm">
    <visual>
      <origin xyz="0.5 0 0"/>
      <geometry><box size="1 0.2 0.2"/></geometry><material name="red"/>
    </visual>
    <inertial><origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="1" iyy="2" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/><dynamics damping="0.25"/>
  </joint>
</robot>"""


def load(tmp_path, text: str | bytes):
    path = tmp_path / "robot.urdf"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return formats.load(path)


def link(shape: str) -> str:
    return f'<link name="a"><visual><geometry>{shape}</geometry></visual></link>'


def robot(body: str) -> str:
    ball = link('<sphere radius="1"/>')
    return f'<robot name="r">{ball}{body}</robot>'


def joint(name: str, parent: str, child: str, kind: str = "fixed", extra: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{extra}</joint>'


def test_a_two_link_arm_stands_where_the_closed_form_says(tmp_path):
    asset = load(tmp_path, ARM)
    arm = asset.articulation
    assert asset.mesh.up == "z"
    assert arm.part_names == ("base", "arm")
    shoulder = arm.joints[1]
    assert (shoulder.kind, shoulder.parent, shoulder.name, shoulder.damping) == ("revolute", 0, "shoulder", 0.25)
    np.testing.assert_allclose(shoulder.axis, [-1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(shoulder.origin, [0, 0, 2])
    assert (shoulder.lower, shoulder.upper) == (-1, 2)
    rest = asset.mesh.vertices[arm.vertex_parts == 1]
    np.testing.assert_allclose([rest.min(0), rest.max(0)], [[-0.1, 0, 1.9], [0.1, 1, 2.1]], atol=1e-12)
    raised = arm.pose(np.array([-np.pi / 2])).vertices[arm.vertex_parts == 1]
    np.testing.assert_allclose([raised.min(0), raised.max(0)], [[-0.1, -0.1, 2], [0.1, 0.1, 3]], atol=1e-12)


def test_inertials_arrive_in_the_frame_of_the_object(tmp_path):
    base, arm = load(tmp_path, ARM).articulation.inertials
    assert base is None
    np.testing.assert_allclose(arm.center, [0, 0.5, 2], atol=1e-12)
    np.testing.assert_allclose(arm.inertia, np.diag([1, 2, 3]), atol=1e-12)  # two quarter turns are a half turn


def test_named_colours_reach_the_faces(tmp_path):
    mesh = load(tmp_path, ARM).mesh
    colors = np.array([surface.base_color for surface in mesh.surfaces])[mesh.face_surfaces]
    np.testing.assert_allclose(colors[mesh.face_parts == 1], np.tile([1, 0, 0, 1], (12, 1)))


@pytest.mark.parametrize(
    ("shape", "volume", "half"),
    [
        ('<box size="1 2 4"/>', 8, (0.5, 1, 2)),
        ('<sphere radius="2"/>', 4 / 3 * np.pi * 8, (2, 2, 2)),
        ('<cylinder radius="1" length="3"/>', 3 * np.pi, (1, 1, 1.5)),
        ('<capsule radius="1" length="3"/>', (3 + 4 / 3) * np.pi, (1, 1, 2.5)),
    ],
)
def test_shapes_are_closed_and_have_their_size(tmp_path, shape, volume, half):
    text = f'<robot name="r"><link name="a"><visual><geometry>{shape}</geometry></visual></link></robot>'
    mesh = load(tmp_path, text).mesh
    mass, _, _ = mass_properties(mesh.vertices, mesh.faces, 1.0)
    assert mass == pytest.approx(volume, rel=0.03)
    np.testing.assert_allclose(mesh.bounds, [-np.array(half), half], atol=1e-9)


def test_meshes_are_found_in_packages_scaled_and_turned_over_when_mirrored(tmp_path):
    (tmp_path / "meshes").mkdir()
    formats.save(boxes({"b": ((1, 0, 0), (1, 1, 1))}), tmp_path / "meshes" / "box.stl")
    mesh = load(
        tmp_path,
        '<robot name="r"><link name="a"><visual><geometry>'
        '<mesh filename="package://pkg/meshes/box.stl" scale="-2 1 1"/></geometry></visual></link></robot>',
    ).mesh
    assert mesh.face_count == len(SIDES)
    np.testing.assert_allclose(mesh.bounds, [[-3, -0.5, -0.5], [-1, 0.5, 0.5]])
    corners = mesh.vertices[mesh.faces]
    assert np.linalg.det(corners - [-2, 0, 0]).sum() / 6 == pytest.approx(2)


def test_what_cannot_be_kept_is_noted(tmp_path):
    asset = load(
        tmp_path,
        robot(
            '<link name="b"/><link name="c"/>'
            + joint("f", "a", "b", "floating")
            + joint("m", "a", "c", "continuous", '<mimic joint="f"/>')
        ),
    )
    assert [j.kind for j in asset.articulation.joints] == ["fixed", "fixed", "continuous"]
    assert len(asset.notes) == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<link name="a"/>', "two <link> elements named 'a'"),
        ('<link name="b"/>', "one root link"),
        (joint("j", "a", "nowhere"), "not a link"),
        ('<link name="b"/>' + joint("j", "a", "b") + joint("k", "a", "b"), "two joints"),
        ('<link name="b"/><link name="c"/>' + joint("j", "b", "c") + joint("k", "c", "b"), "cycle"),
        ('<link name="b"/>' + joint("j", "a", "b") + joint("k", "b", "a"), "cycle"),
        ('<link name="b"/>' + joint("j", "a", "b", "wobbly"), "type 'wobbly'"),
        ('<link name="b"/>' + joint("j", "a", "b", "revolute", '<axis xyz="0 0 0"/>'), "length zero"),
        ('<link name="b"/>' + joint("j", "a", "b", "fixed", '<origin xyz="nan 0 0"/>'), "finite"),
        ('<link name="b"><inertial><mass value="-1"/></inertial></link>' + joint("j", "a", "b"), "negative mass"),
        ('<link name="b"><visual><geometry><cone/></geometry></visual></link>' + joint("j", "a", "b"), "<cone>"),
        (
            '<link name="b"><visual><geometry><box size="0 1 1"/></geometry></visual></link>' + joint("j", "a", "b"),
            "posit",
        ),
    ],
)
def test_wrong_robots_are_refused_with_a_sentence(tmp_path, body, words):
    with pytest.raises(FormatError, match=words):
        load(tmp_path, robot(body))


@pytest.mark.parametrize(
    "reference",
    ["../secret.stl", "/etc/passwd", "package://../../secret.stl", "file:///etc/passwd", "a/../../secret.stl",
     "http://example.org/x.stl", "%2e%2e/secret.stl"],
)  # fmt: skip
def test_paths_that_leave_the_folder_are_refused(tmp_path, reference):
    formats.save(boxes({"b": ((1, 0, 0), (1, 1, 1))}), tmp_path / "secret.stl")
    folder = tmp_path / "robot"
    folder.mkdir()
    mesh = link(f'<mesh filename="{reference}"/>')
    with pytest.raises(FormatError, match="outside its folder"):
        load(folder, f'<robot name="r">{mesh}</robot>')


def test_a_missing_mesh_is_named(tmp_path):
    mesh = link('<mesh filename="gone.stl"/>')
    with pytest.raises(FormatError, match=r"gone\.stl.*missing"):
        load(tmp_path, f'<robot name="r">{mesh}</robot>')


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/></robot>',
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"/>',
        '<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot name="r"/>',
        "",
        "not xml",
        "<robot>",
        '<scene name="r"/>',
        "<robot/>",
        '<robot name="r"><link name="a"/></robot>',
    ],
)
def test_hostile_and_empty_files_are_refused(tmp_path, text):
    with pytest.raises(NeurokError):
        load(tmp_path, text)


def test_deeply_nested_xml_is_refused():
    with pytest.raises(FormatError, match="deep"):
        parse(b"<a>" * 250 + b"</a>" * 250, "it")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, removed, doubled or replaced by words that parsers stumble over."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) or 1)
        span = rng.randint(1, 40)
        match rng.randrange(5):
            case 0:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del out[at : at + span]
            case 2:
                out[at:at] = out[at : at + span]
            case 3:
                other = rng.randrange(len(out) or 1)
                out[at : at + span] = out[other : other + span]
            case 4:
                out[at:at] = rng.choice([b"1e999", b"nan", b"-", b"<", b"/>", b'"', b"0", b"../", b"&#0;", b"\xff"])
    return bytes(out)


@pytest.mark.slow
def test_two_thousand_damaged_robots_load_or_are_refused(tmp_path):
    path = tmp_path / "robot.urdf"
    rng = random.Random(7)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(2000):
        path.write_bytes(mutate(ARM.encode(), rng) or b"x")
        try:
            urdf.read(path)
            outcomes["read"] += 1
        except NeurokError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 50
