"""What we write, we and others can read: round trips within the stated tolerance, and the Khronos validator."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gltf_by_hand import pack_glb, unpack_glb
from khronos import faults

from neurok.core import (
    Articulation,
    Asset,
    Clip,
    Inertial,
    Joint,
    Material,
    MaterialField,
    Mesh,
    Skin,
    Surface,
    Texture,
)
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.io.files import write_files
from neurok.io.formats import load, save
from neurok.io.gltf_read import read
from neurok.io.gltf_write import TOLERANCE, write

BOX = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)


def two_boxes(**more) -> Mesh:
    vertices = np.concatenate([BOX, BOX * 0.5 + [2.0, 0.25, 0.1]])
    faces = np.concatenate([BOX_FACES, BOX_FACES + 8])
    return Mesh(vertices, faces, part_ids=np.repeat([0, 1], 8), part_names=("body", "door"), name="thing", **more)


def painted_boxes() -> Mesh:
    picture = Texture.from_pixels(np.arange(48, dtype=np.uint8).reshape(4, 4, 3), "paint")
    surfaces = (
        Surface("wood", (1.0, 1.0, 1.0, 1.0), texture=picture),
        Surface("steel", (0.1, 0.2, 0.3, 0.5), 0.9, 0.25, None, False, "BLEND", (0.0, 0.25, 0.5)),
    )
    generator = np.random.default_rng(3)
    return two_boxes(
        uv=generator.random((16, 2)),
        vertex_colors=generator.random((16, 4)),
        surfaces=surfaces,
        face_surfaces=generator.integers(0, 2, 24),
    )


def wobble(frame_count: int = 40, rings: int = 24, around: int = 20) -> Clip:
    """A soft tube that sways, bulges and twists: no part of it is rigid."""
    height, angle = np.meshgrid(np.linspace(0, 2, rings), np.linspace(0, 2 * np.pi, around, False), indexing="ij")
    height, angle = height.reshape(-1), angle.reshape(-1)
    here = np.arange(rings * around).reshape(rings, around)
    a, b, c, d = here[:-1], np.roll(here, -1, 1)[:-1], here[1:], np.roll(here, -1, 1)[1:]
    faces = np.concatenate([np.stack(f, -1).reshape(-1, 3) for f in ((a, c, b), (b, c, d))])
    pose = lambda sway, bulge, twist: np.column_stack(  # noqa: E731
        [
            (0.4 + bulge * np.sin(3 * height)) * np.cos(angle + twist * height) + sway * height**2,
            height,
            (0.4 + bulge * np.sin(3 * height)) * np.sin(angle + twist * height),
        ]
    )
    t = np.linspace(0, 2 * np.pi, frame_count)
    frames = [pose(0.2 * np.sin(s), 0.1 * np.sin(2 * s), 0.5 * np.sin(s)) for s in t]
    return Clip(Mesh(pose(0, 0, 0), faces, name="tube"), np.stack(frames), 30.0, "wobble")


def hinged() -> Articulation:
    mesh = two_boxes()
    mesh = replace(mesh, part_names=(*mesh.part_names, "empty"))
    joints = (
        Joint(name="base"),
        Joint("revolute", 0, (0.3, 1.0, 0.2), (2.0, 0.25, 0.1), -0.2, 1.7, name="hinge", damping=0.125),
        Joint("prismatic", 1, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, math.inf, name="slide"),
    )
    return Articulation(
        mesh, joints, (None, Inertial(1.5, (2.1, 0.3, 0.2), np.diag([1.0, 2.0, 3.0])), None), "cupboard"
    )


def bent_by_bones(bone_count: int) -> Clip:
    """The tube, each vertex carried by as many bones, all turning differently."""
    rest = wobble().rest
    generator = np.random.default_rng(5)
    weights = generator.dirichlet(np.ones(bone_count), rest.vertex_count)
    angles = np.linspace(0, 1, 12)[:, None] * np.linspace(0.3, 1.0, bone_count)
    axes = generator.normal(size=(bone_count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = [lie.rotation_about(axes[h], np.array([0.0, 1.0, 0.0]), angles[:, h]) for h in range(bone_count)]
    skin = Skin(weights, np.stack(turns, axis=1))
    return Clip(rest, skin.positions(rest.vertices), 24.0, "bend", skin)


def round_trip(thing, path, **options) -> Asset:
    save(thing, path, **options)
    return load(path)


def farthest(one: Clip, other: Clip) -> float:
    """Largest distance of a vertex, as a fraction of the object's size."""
    return float(np.linalg.norm(one.positions - other.positions, axis=-1).max() / one.rest.size)


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_look_parts_and_surfaces_survive(tmp_path, suffix):
    mesh = painted_boxes()
    got = round_trip(mesh, tmp_path / f"my thing{suffix}").mesh
    np.testing.assert_allclose(got.vertices, mesh.vertices, atol=1e-7)
    np.testing.assert_allclose(got.uv, mesh.uv, atol=1e-6)
    np.testing.assert_allclose(got.vertex_colors, mesh.vertex_colors, atol=1e-7)
    assert (got.name, got.part_names) == ("thing", ("body", "door"))
    np.testing.assert_array_equal(got.part_ids, mesh.part_ids)
    assert [s.name for s in got.surfaces] == ["wood", "steel"]
    assert got.surfaces == tuple(replace(s) for s in mesh.surfaces)
    assert got.surfaces[0].texture.data == mesh.surfaces[0].texture.data
    faces = {(*map(int, f), int(s)) for f, s in zip(mesh.faces, mesh.face_surfaces, strict=True)}
    assert {(*map(int, f), int(s)) for f, s in zip(got.faces, got.face_surfaces, strict=True)} == faces


def test_other_axes_and_units_come_out_y_up_in_metres(tmp_path):
    mesh = two_boxes(up="z", unit=0.01)
    got = round_trip(mesh, tmp_path / "a.glb").mesh
    assert (got.up, got.unit) == ("y", 1.0)
    np.testing.assert_allclose(got.vertices, mesh.in_frame("y", 1.0).vertices, atol=1e-8)


def test_rigid_parts_become_moving_nodes(tmp_path):
    articulation = hinged()
    clip = articulation.clip(articulation.sweep(20), 12.0, "open")
    got = round_trip(clip, tmp_path / "a.glb")
    content, _ = unpack_glb((tmp_path / "a.glb").read_bytes())
    assert "skins" not in content
    assert not any("targets" in p for m in content["meshes"] for p in m["primitives"])
    assert {c["target"]["node"] for c in content["animations"][0]["channels"]} == {1}  # the body stays
    assert (got.clips[0].name, got.clips[0].fps, got.clips[0].frame_count) == ("open", 12.0, 20)
    assert farthest(clip, got.clips[0]) < 1e-6
    assert got.clips[0].skin is not None


@pytest.mark.parametrize(("bone_count", "sets"), [(3, 1), (8, 2)])
def test_handle_driven_motion_becomes_bones(tmp_path, bone_count, sets):
    clip = bent_by_bones(bone_count)
    got = round_trip(clip, tmp_path / "a.glb")
    content, _ = unpack_glb((tmp_path / "a.glb").read_bytes())
    attributes = content["meshes"][0]["primitives"][0]["attributes"]
    assert sum(name.startswith("JOINTS") for name in attributes) == sets
    assert farthest(clip, got.clips[0]) < 1e-6
    np.testing.assert_allclose(got.clips[0].skin.weights, clip.skin.weights, atol=1e-6)


def test_more_handles_than_a_vertex_may_have_fall_back_to_morph_targets(tmp_path):
    clip = bent_by_bones(20)
    got = round_trip(clip, tmp_path / "a.glb")
    content, _ = unpack_glb((tmp_path / "a.glb").read_bytes())
    assert "skins" not in content
    assert farthest(clip, got.clips[0]) <= TOLERANCE


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-5])
def test_soft_motion_stays_within_the_stated_tolerance_with_few_targets(tmp_path, tolerance):
    clip = wobble()
    got = round_trip(clip, tmp_path / "a.glb", tolerance=tolerance)
    content, _ = unpack_glb((tmp_path / "a.glb").read_bytes())
    assert farthest(clip, got.clips[0]) <= tolerance
    assert 0 < len(content["meshes"][0]["primitives"][0]["targets"]) < clip.frame_count / 2
    np.testing.assert_allclose(got.mesh.vertices, clip.rest.vertices, atol=1e-6)


def test_a_soft_part_beside_a_rigid_one_takes_targets_only_where_needed(tmp_path):
    mesh = two_boxes()
    t = np.linspace(0, 1, 9)[:, None, None]
    positions = np.tile(mesh.vertices, (9, 1, 1))
    positions[:, :8] *= 1.0 + 0.5 * t
    positions[:, 8:] += t
    clip = Clip(mesh, positions, 24.0, "both")
    got = round_trip(clip, tmp_path / "a.glb")
    content, _ = unpack_glb((tmp_path / "a.glb").read_bytes())
    assert ["targets" in m["primitives"][0] for m in content["meshes"]] == [True, False]
    assert farthest(clip, got.clips[0]) <= TOLERANCE


def test_several_clips_become_several_animations(tmp_path):
    clip = wobble()
    still = Clip(clip.rest, np.tile(clip.rest.vertices, (5, 1, 1)), 10.0, "still")
    short = Clip(clip.rest, clip.positions[3:4], 24.0, "one frame")
    got = round_trip(Asset(clip.rest, (clip, still, short)), tmp_path / "a.glb")
    assert [(c.name, c.fps, c.frame_count) for c in got.clips] == [
        ("wobble", 30.0, 40),
        ("still", 10.0, 5),
        ("one frame", 24.0, 1),
    ]
    assert max(farthest(a, b) for a, b in zip((clip, still, short), got.clips, strict=True)) <= TOLERANCE
    assert not faults([tmp_path / "a.glb"], worst=1)


def test_joints_are_restored_exactly(tmp_path):
    articulation = hinged()
    asset = Asset(articulation.mesh, articulation=articulation, provenance={"source": "here", "license": "CC0"})
    got = round_trip(asset, tmp_path / "a.glb")
    assert not got.notes
    assert got.provenance == asset.provenance
    assert got.mesh.part_names == ("body", "door", "empty")
    assert got.articulation.name == "cupboard"
    for a, b in zip(articulation.joints, got.articulation.joints, strict=True):
        np.testing.assert_array_equal(a.axis, b.axis)
        np.testing.assert_array_equal(a.origin, b.origin)
        np.testing.assert_array_equal(a.limits, b.limits)
        assert (a.kind, a.parent, a.name, a.damping) == (b.kind, b.parent, b.name, b.damping)
    assert [i is None for i in got.articulation.inertials] == [True, False, True]
    np.testing.assert_array_equal(got.articulation.inertials[1].inertia, articulation.inertials[1].inertia)
    (clip,) = got.clips  # the joints are played although no clip was given
    assert farthest(articulation.clip(articulation.sweep()), clip) < 1e-6


def test_materials_are_restored_exactly(tmp_path):
    mesh = two_boxes()
    oak, sand = Material("oak", 1.1e10, 0.35, 700.0), Material("sand", kind="sand", friction_angle=0.5)
    field = MaterialField((oak, sand), np.arange(16) % 2)
    got = round_trip(Asset(mesh, materials=field), tmp_path / "a.glb")
    assert got.materials.materials == (oak, sand)
    np.testing.assert_array_equal(got.materials.ids, field.ids)
    assert not faults([tmp_path / "a.glb"])
    content, binary = unpack_glb((tmp_path / "a.glb").read_bytes())
    content["scenes"][0]["extras"]["neurok"]["materials"][0]["young"] = -1
    (tmp_path / "b.glb").write_bytes(pack_glb(content, binary))
    damaged = load(tmp_path / "b.glb")
    assert damaged.materials is None
    assert "ignored" in damaged.notes[0]


def test_joints_turn_with_the_frame(tmp_path):
    articulation = hinged()
    tall = Articulation(replace(articulation.mesh, up="z", unit=0.1), articulation.joints, articulation.inertials)
    got = round_trip(tall, tmp_path / "a.glb").articulation
    q = np.array([0.7, 0.4])
    expected = tall.pose(q).in_frame("y", 1.0)
    np.testing.assert_allclose(got.pose(q * [1.0, 0.1]).vertices, expected.vertices, atol=1e-7)
    np.testing.assert_allclose(got.inertials[1].center, [0.03, 0.02, 0.21], atol=1e-9)  # x, y, z become z, x, y


@pytest.mark.parametrize(
    "damage",
    [
        lambda extras: extras.update(version=99),
        lambda extras: extras.update(articulation={"joints": [1, 2]}),
        lambda extras: extras["articulation"]["joints"].pop(),
        lambda extras: extras["articulation"]["joints"][1].update(parent=1),
        lambda extras: extras["articulation"]["joints"][1].update(axis=[0, 0, 0]),
    ],
)
def test_damaged_joints_are_ignored_with_a_note(tmp_path, damage):
    save(hinged(), tmp_path / "a.glb")
    content, binary = unpack_glb((tmp_path / "a.glb").read_bytes())
    damage(content["scenes"][0]["extras"]["neurok"])
    (tmp_path / "b.glb").write_bytes(pack_glb(content, binary))
    got = load(tmp_path / "b.glb")
    assert got.articulation is None
    assert "ignored" in got.notes[0]


def test_the_same_object_gives_the_same_bytes(tmp_path):
    assets = [Asset(c.rest, (c,)) for c in (wobble(), wobble(), bent_by_bones(3), bent_by_bones(3))]
    files = [write(asset, tmp_path / "a.glb")["a.glb"] for asset in assets]
    assert files[0] == files[1]
    assert files[2] == files[3]
    assert files[0] != files[2]


def test_clips_of_another_mesh_are_refused(tmp_path):
    with pytest.raises(NeurokError, match="same mesh"):
        write(Asset(two_boxes(), (wobble(),)), tmp_path / "a.glb")


def test_the_khronos_validator_finds_nothing_wrong(tmp_path):
    things = {
        "plain.glb": Mesh(BOX, BOX_FACES),
        "painted.glb": painted_boxes(),
        "painted.gltf": painted_boxes(),
        "joints.glb": hinged(),
        "joints.gltf": hinged(),
        "bones.glb": bent_by_bones(3),
        "bones8.glb": bent_by_bones(8),
        "soft.glb": wobble(),
        "soft.gltf": wobble(),
        "turned.glb": Articulation(replace(hinged().mesh, up="z", unit=0.001), hinged().joints),
    }
    for name, thing in things.items():
        save(thing, tmp_path / name)
    assert faults([tmp_path / name for name in things], worst=1) == {}


def test_the_validator_would_notice_a_fault(tmp_path):
    files = write(Asset(Mesh(BOX, BOX_FACES)), tmp_path / "a.glb")
    files["a.glb"] = files["a.glb"].replace(b'"count":8', b'"count":9')
    write_files(tmp_path / "a.glb", files)
    assert faults([tmp_path / "a.glb"])
    with pytest.raises(NeurokError):
        read(tmp_path / "a.glb")
